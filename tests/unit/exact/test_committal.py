"""Committal probabilities: the equation they solve, known numbers, symmetries, error estimates."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest

import committal as cm
from committal import exact
from committal.exact import one_step_law
from committal.exact.absorption import Rates, absorption_probabilities
from committal.exact.committal import _solve
from committal.exact.interpolation import lagrange

TWO = cm.Bandit([1.0, 0.0])
THREE = cm.Bandit([1.0, 0.7, 0.0])


def two(baseline: object, alpha: float = 0.1, theta0: float = -1.0) -> cm.Experiment:
    return cm.Experiment(TWO, cm.Sigmoid(theta0), cm.Natural(alpha), baseline, steps=200)  # type: ignore[arg-type]


def three(baseline: object, alpha: float = 0.025) -> cm.Experiment:
    return cm.Experiment(THREE, cm.Softmax(), cm.Natural(alpha), baseline, steps=1)  # type: ignore[arg-type]


def residual(experiment: cm.Experiment, starts: np.ndarray) -> np.ndarray:
    """|h(theta) - E[h(theta_1)]| at any points, from the law of one update."""
    found = exact.committal_map(experiment)
    law = one_step_law(experiment, theta=starts)
    after = law.theta[:, None, :] + law.update
    after = after[..., 0] if isinstance(experiment.policy, cm.Sigmoid) else after
    expected = np.einsum("nm,nmk->nk", law.probability, found.probabilities(after))
    return np.asarray(np.abs(found.probabilities(starts) - expected).max(axis=-1))


# -- two arms --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "known"), [(0.05, 0.0620), (0.1, 0.1277), (0.15, 0.2186)])
def test_known_numbers_of_two_arms(alpha: float, known: float) -> None:
    probability, error = exact.committal_probability(two(-1.0, alpha), return_error=True)
    assert probability == pytest.approx(known, abs=1e-4)
    assert isinstance(probability, float)
    assert 0.0 < error < 1e-6


@pytest.mark.parametrize(
    "experiment",
    [
        two(-1.0),
        two(cm.MinVariance() - 1.5),
        two(cm.MinVariance() - 1.01),
        two(0.5 * cm.Value() - 0.2),
        two(-1.0, alpha=1.0),
        two(-0.5).replace(problem=cm.Bandit([0.9, 0.2], noise="bernoulli")),
        two(-1.0).replace(estimator=cm.OneSample(3)),
        two(-1.0).replace(estimator=cm.OneSample(implicit=0.05)),
    ],
    ids=lambda e: f"{e.baseline} {e.estimator} {e.problem.noise} {e.update.step_size}",
)
def test_the_equation_holds_between_the_nodes(experiment: cm.Experiment) -> None:
    starts = np.random.default_rng(0).uniform(-12.0, 12.0, 300)
    assert residual(experiment, starts).max() < 1e-6


def test_the_error_estimate_is_honest() -> None:
    starts = np.linspace(-8.0, 8.0, 201)
    for baseline in (-1.0, cm.MinVariance() - 1.5):
        e = two(baseline)
        fine = exact.committal_probability(e, starts=starts, tolerance=1e-9)
        for tolerance in (1e-3, 1e-5):
            rough, error = exact.committal_probability(
                e, starts=starts, tolerance=tolerance, return_error=True
            )
            assert (np.abs(rough - fine) <= 2.0 * error).all()
            assert error.max() <= tolerance


def test_far_starts_are_decided() -> None:
    found = exact.committal_map(two(-1.0))
    np.testing.assert_allclose(
        found.probabilities([-1e6, -300.0, 300.0, 1e6]), [[0, 1], [0, 1], [1, 0], [1, 0]]
    )


@pytest.mark.parametrize(
    ("c", "best", "wrong"),
    [(-1.0, 1, 0), (-0.9, 1, 0), (0.0, 1, 0), (0.9, 1, 0), (1.0, 1, 0), (1.5, 0, 0)],
)
def test_baselines_that_cannot_get_stuck(c: float, best: int, wrong: int) -> None:
    found = exact.committal_map(two(cm.MinVariance() + c)).probabilities([-4.0, 0.0, 4.0, 50.0])
    np.testing.assert_allclose(found, [[best, wrong]] * 4, atol=1e-9)


def test_runs_that_end_nowhere() -> None:
    # Near p = 3/4 this baseline is above both rewards or between them: runs that get there stay
    # for ever without ending. Of 20,000 simulated runs from -3, 33.4 +- 0.3 % end on arm 2.
    e = two(2.0 * cm.Value() - 0.5)
    found = exact.committal_map(e).probabilities([-3.0, 0.0, 50.0])
    np.testing.assert_allclose(found, [[0.0, 0.33572], [0.0, 0.0], [0.0, 0.0]], atol=1e-4)
    assert residual(e, np.linspace(-8.0, 8.0, 100)).max() < 1e-6


def test_softmax_and_sigmoid_are_one() -> None:
    soft = cm.Experiment(TWO, cm.Softmax([2.0, 3.0]), cm.Natural(0.1), -1.0, steps=1)
    assert exact.committal_probability(soft) == exact.committal_probability(two(-1.0))
    starts = [[0.0, 1.0], [5.0, 5.0]]
    np.testing.assert_array_equal(
        exact.committal_probability(soft, starts=starts),
        exact.committal_probability(two(-1.0), starts=[-1.0, 0.0]),
    )


def test_swapping_the_arms_swaps_the_ends() -> None:
    swapped = two(-1.0).replace(problem=cm.Bandit([0.0, 1.0]), policy=cm.Sigmoid(1.0))
    assert exact.committal_probability(swapped) == pytest.approx(
        exact.committal_probability(two(-1.0)), abs=1e-7
    )
    np.testing.assert_allclose(
        exact.committal_map(swapped).probabilities([0.5, 2.0]),
        exact.committal_map(two(-1.0)).probabilities([-0.5, -2.0])[:, ::-1],
        atol=1e-7,
    )


def test_shapes() -> None:
    e = two(-1.0)
    starts = np.zeros((2, 3, 4))
    assert exact.committal_probability(e, starts=starts).shape == (2, 3, 4)
    found = exact.committal_map(e)
    assert found.probabilities(starts).shape == (2, 3, 4, 2)
    assert found.error(starts).shape == (2, 3, 4)
    assert exact.committal_probability(e, arm=0) == pytest.approx(
        1.0 - exact.committal_probability(e)
    )


def test_exploration_that_lasts_ends_on_the_best_arm() -> None:
    for behaviour in (cm.UniformMixture(0.1), cm.EpsilonGreedy(0.1), cm.Fixed([0.3, 0.7])):
        assert exact.committal_probability(two(-1.0).replace(behaviour=behaviour)) == 0.0
    same = two(-1.0).replace(behaviour=cm.UniformMixture(0.0))
    assert exact.committal_probability(same) == pytest.approx(0.1277, abs=1e-4)


# -- three arms ------------------------------------------------------------------------------------


def test_known_numbers_of_three_arms() -> None:
    e = three(cm.MinVariance() - 0.5)
    _solve.cache_clear()  # the time of a first call is wanted
    start = time.process_time()
    found = exact.committal_map(e)
    seconds = time.process_time() - start
    starts = [[0, 3, 5], [0, 3, 3], [0, 0, 0]]
    # Held against a million simulated runs in tests/statistical.
    np.testing.assert_allclose(
        found.probabilities(starts)[:, 1], [0.47731, 0.29010, 0.04817], atol=1e-4
    )
    assert (found.error(starts) < 2e-4).all()
    np.testing.assert_allclose(found.probabilities(starts).sum(axis=-1), 1.0, atol=1e-6)
    assert seconds < 15.0
    start = time.process_time()
    exact.committal_map(e.replace(policy=cm.Softmax([0, 3, 5])))
    assert time.process_time() - start < 0.1  # the same dynamics are solved once


@pytest.mark.parametrize("baseline", [cm.MinVariance() - 0.5, cm.Constant(-1.0)], ids=repr)
def test_the_equation_holds_off_the_lattice(baseline: cm.config.Baseline) -> None:
    starts = np.random.default_rng(0).uniform(-4.0, 4.0, (400, 3))
    assert residual(three(baseline), starts).max() < 1e-4


def test_a_lost_arm_leaves_two() -> None:
    """Far below the others the third arm is never drawn: the solver of the line must agree."""
    pair = cm.Experiment(cm.Bandit([1.0, 0.7]), cm.Sigmoid(), cm.Natural(0.1), 0.2, steps=1)
    theta = np.linspace(-6.0, 4.0, 21)
    on_the_line = exact.committal_map(pair).probabilities(theta)
    for third in (-16.0, -60.0):
        starts = np.stack([theta, np.zeros(21), np.full(21, third)], axis=-1)
        plane = exact.committal_map(three(0.2, alpha=0.1), tolerance=1e-3)
        np.testing.assert_allclose(plane.probabilities(starts)[:, :2], on_the_line, atol=1e-3)


def test_permuted_arms_permute_the_map() -> None:
    e = three(cm.MinVariance() - 0.5, alpha=0.1)
    order = [2, 0, 1]
    moved = e.replace(problem=cm.Bandit([THREE.means[i] for i in order]))
    starts = np.random.default_rng(1).uniform(-3.0, 3.0, (20, 3))
    found, other = (exact.committal_map(x, tolerance=1e-2) for x in (e, moved))
    np.testing.assert_allclose(
        other.probabilities(starts[:, order]), found.probabilities(starts)[:, order], atol=5e-3
    )
    np.testing.assert_allclose(
        found.probabilities(starts + 7.0), found.probabilities(starts), atol=1e-12
    )


def test_the_error_estimate_of_the_map_is_honest() -> None:
    starts = np.random.default_rng(2).uniform(-3.0, 3.0, (500, 3))
    e = three(cm.MinVariance() - 0.5)
    fine, rough = exact.committal_map(e), exact.committal_map(e, tolerance=1e-2)
    off = np.abs(fine.probabilities(starts) - rough.probabilities(starts)).max(axis=-1)
    assert (off <= rough.error(starts) + fine.error(starts)).mean() > 0.99
    assert rough.error(starts).max() < 1e-2


def test_baselines_without_a_wrong_end() -> None:
    starts = [[0, 3, 5], [0, 20, 5], [0, -4, 90.0]]
    for baseline in (cm.Gap(), cm.Value(), cm.Constant(0.7)):
        ends = exact.committal_map(three(baseline)).probabilities(starts)
        np.testing.assert_allclose(ends, [[1, 0, 0]] * 3, atol=1e-9)
    none = exact.committal_map(three(cm.MinVariance() + 2.0)).probabilities(starts)
    assert (none == 0.0).all()


def test_the_map_on_the_simplex() -> None:
    found = exact.committal_map(three(cm.MinVariance() - 0.5))
    policies, ends = found.on_simplex(30)
    assert policies.shape == ends.shape == (465, 3)
    assert (ends >= 0.0).all()
    np.testing.assert_allclose(ends, found.probabilities(np.log(policies)), atol=1e-12)
    np.testing.assert_allclose(ends.sum(axis=1), 1.0, atol=1e-6)


# -- parts -----------------------------------------------------------------------------------------


def test_interpolation_is_exact_for_polynomials_and_short_steps() -> None:
    s = np.array([-3.7, -0.2, 0.0, 1e-12, 0.4, 5.9])
    offsets, weights = lagrange(s, -20, 20, 6)
    for degree in range(6):
        np.testing.assert_allclose(
            (weights * offsets.astype(float) ** degree).sum(axis=1), s**degree, atol=1e-9
        )
    # The slope of a step of 1e-12 has all its digits.
    away = offsets[3] != 0
    slope = (weights[3][away] * offsets[3][away]).sum() / 1e-12
    assert slope == pytest.approx(1.0, rel=1e-12)
    inside, _ = lagrange(np.array([0.1]), 0, 9, 6)
    assert inside.min() >= 0


def test_nodes_that_end_nowhere_get_zero() -> None:
    # 0 <-> 1 is closed; 2 goes there or ends, with equal rates.
    rates = Rates(
        np.array([0, 1, 2]),
        np.array([1, 0, 1]),
        np.ones(3),
        np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]),
    )
    values, residual = absorption_probabilities(rates, rates)
    np.testing.assert_allclose(values, [[0, 0], [0, 0], [0.5, 0]])
    assert residual < 1e-15


def test_large_systems_are_those_of_small_ones() -> None:
    # A biased walk on a line long enough for the iterative solver, against its closed form.
    n, p = 8000, 0.5005
    node = np.arange(n)
    source = np.concatenate([node[:-1], node[1:]])
    target = np.concatenate([node[1:], node[:-1]])
    rate = np.concatenate([np.full(n - 1, p), np.full(n - 1, 1 - p)])
    ends = np.zeros((n, 2))
    ends[0, 0], ends[-1, 1] = 1 - p, p
    values, _ = absorption_probabilities(*[Rates(source, target, rate, ends)] * 2)
    odds = math.log((1 - p) / p)
    exact_values = np.expm1(odds * (node + 1.0)) / np.expm1(odds * (n + 1.0))
    np.testing.assert_allclose(values[:, 1], exact_values, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": cm.Bandit([1.0, 0.0, 0.0, 0.0])}, "two or three arms"),
        ({"update": cm.Vanilla(0.1)}, "Natural"),
        ({"update": cm.Natural(cm.Decay(0.1, 0.5))}, "a constant"),
        ({"update": cm.Natural(0.1, entropy=0.1)}, "entropy"),
        ({"estimator": cm.Expected()}, "OneSample"),
        ({"estimator": cm.OneSample(2)}, "1 for three arms"),
        ({"estimator": cm.OneSample(implicit=cm.Decay(0.1, 0.5))}, "a constant"),
        ({"baseline": cm.RunningMean()}, "RunningMean"),
        ({"problem": cm.Bandit([1, 0.7, 0], noise="gaussian", sigma=1)}, "finitely many"),
        ({"behaviour": cm.UniformMixture(cm.Decay(0.1, 0.5))}, "a constant rate"),
        (
            {"behaviour": cm.UniformMixture(0.1), "estimator": cm.OneSample(implicit=0.1)},
            "OnPolicy",
        ),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_the_equation_does_not_describe_is_refused(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(cm.CombinationError, match=message):
        exact.committal_map(three(cm.MinVariance()).replace(**change))


def test_borderline_ends_with_noise_are_refused() -> None:
    noisy = cm.Bandit([0.9, 0.2], noise="bernoulli")
    with pytest.raises(cm.CombinationError, match="random walk"):
        exact.committal_probability(two(cm.Value()).replace(problem=noisy))


def test_wrong_arguments() -> None:
    with pytest.raises(cm.ConfigError, match="tolerance"):
        exact.committal_map(two(-1.0), tolerance=0.0)
    with pytest.raises(cm.ConfigError, match="most_nodes"):
        exact.committal_map(two(-1.0), most_nodes=0)
    with pytest.raises(cm.ConfigError, match="arm"):
        exact.committal_probability(two(-1.0), arm=2)
    with pytest.raises(cm.ConfigError, match=r"starts = .*3 arms in the last axis"):
        exact.committal_probability(three(-1.0), starts=[0.0, 1.0])


def test_a_wrong_sign_of_the_baseline_is_noticed(
    monkeypatch: pytest.MonkeyPatch, negate_baselines: Callable[[pytest.MonkeyPatch], None]
) -> None:
    negate_baselines(monkeypatch)
    _solve.cache_clear()
    try:
        with pytest.raises(AssertionError):
            test_known_numbers_of_two_arms(0.1, 0.1277)
        wrong = exact.committal_map(three(cm.Constant(0.2), 0.5), tolerance=0.1)
        right = exact.committal_map(three(cm.Constant(-0.2), 0.5), tolerance=0.1)
        assert np.abs(wrong.probabilities([0, 3, 3]) - right.probabilities([0, 3, 3])).max() > 0.02
    finally:
        _solve.cache_clear()
