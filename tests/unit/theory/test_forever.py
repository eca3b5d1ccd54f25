"""The same action for ever: products against brute force, tails against interval arithmetic."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

import committal as cm
from committal import theory
from committal.support.simplex import log_softmax
from committal.theory.forced import forced_states

THREE = cm.Bandit([1.0, 0.7, 0.0])


def two(baseline: object, alpha: object = 0.1, **parts: object) -> cm.Experiment:
    return cm.Experiment(
        cm.Bandit([1, 0]),
        cm.Sigmoid(-1.0),
        cm.Natural(alpha),
        baseline,
        steps=1,
        **parts,  # type: ignore[arg-type]
    )


def three(baseline: object, alpha: float = 0.5) -> cm.Experiment:
    return cm.Experiment(THREE, cm.Softmax(), cm.Natural(alpha), baseline, steps=1)  # type: ignore[arg-type]


def brute_two(theta: float, alpha: float, b: float) -> float:
    """prod (1 - sigma(theta_t)) in fifty digits, with the update written out."""
    with mpmath.workdps(50):
        x, product = mpmath.mpf(theta), mpmath.mpf(1)
        while x > -90:
            p = 1 / (1 + mpmath.exp(-x))
            product *= 1 - p
            x += mpmath.mpf(alpha) * mpmath.mpf(b) / (1 - p)
        return float(product)


@pytest.mark.parametrize(
    ("theta", "alpha", "b"),
    [(-1.0, 0.05, -1.0), (-1.0, 0.1, -1.0), (-1.0, 0.15, -1.0), (2.0, 0.5, -0.3), (-9.0, 1.0, -1)],
)
def test_two_arms_against_brute_force(theta: float, alpha: float, b: float) -> None:
    e = two(b, alpha).replace(policy=cm.Sigmoid(theta))
    found = theory.same_action_forever(e, 1)
    truth = brute_two(theta, alpha, b)
    assert found.low <= truth <= found.high
    assert found.high - found.low < 1e-9


@pytest.mark.parametrize(
    "baseline",
    [
        cm.MinVariance(),
        cm.MinVariance() - 0.5,
        cm.MinVariance("natural"),
        cm.MinVariance("natural", lam=1.0),
        cm.MinVariance("natural", lam=-0.4),
        cm.Value() - 0.1,
        0.5 * cm.Value() + 0.2 * cm.Maximum() - 0.3,
        cm.Constant(-1.0),
    ],
    ids=repr,
)
def test_three_arms_against_brute_force(baseline: cm.config.Baseline) -> None:
    e = three(baseline)
    found = theory.same_action_forever(e, 1)
    product = 1.0
    for forced in itertools.islice(forced_states(e, 1, np.zeros(3)), 1200):
        product *= math.exp(float(log_softmax(forced.theta)[1]))
    assert found.low <= product * (1 + 1e-11)
    assert product * (1 - 1e-11) <= found.high
    assert found.low > 0.0
    assert found.high / found.low - 1.0 < 1e-9


def test_many_arms() -> None:
    arms = 40
    e = cm.Experiment(
        cm.Bandit(np.linspace(0, 1, arms)), cm.Softmax(), cm.Natural(1.0), -1.0, steps=1
    )
    found = theory.same_action_forever(e, 10)
    # One draw makes the arm certain.
    assert found.low <= 1.0 / arms <= found.high * (1 + 1e-9)
    assert found.low > 0.9 / arms


@pytest.mark.parametrize(
    "experiment",
    [
        two(0.0),
        two(0.5),
        two(cm.MinVariance() - 1.0),
        two(cm.Value()),
        two(-1.0, behaviour=cm.UniformMixture(0.01)),
        two(-1.0, behaviour=cm.UniformMixture(cm.Decay(0.5, 1.0))),
        two(-1.0, behaviour=cm.Fixed([0.5, 0.5])),
        two(-1.0, alpha=cm.Decay(0.5, 1.0)),
        two(-1.0, alpha=cm.Decay(0.5, 2.0)),
        two(-1.0).replace(update=cm.Vanilla(0.5)),
    ],
    ids=lambda e: f"{e.update} {e.baseline} {e.behaviour}",
)
def test_products_that_vanish(experiment: cm.Experiment) -> None:
    found = theory.same_action_forever(experiment, 1)
    assert found.low == found.high == 0.0
    # Each factor is below 1 and the finite products do fall.
    early, late = (float(theory.same_action_forever(experiment, 1, steps=n)) for n in (50, 2000))
    assert late <= max(0.9 * early, 1e-300)


@pytest.mark.parametrize(
    ("experiment", "width"),
    [
        (two(-1.0, alpha=cm.Decay(0.5, 0.5)), 1e-9),
        (two(-1.0, behaviour=cm.UniformMixture(cm.Decay(0.5, 2.0))), 1e-8),
        (two(-1.0, behaviour=cm.EpsilonGreedy(cm.Decay(0.5, 2.0))), 1e-8),
    ],
    ids=["step sizes", "mixture", "greedy"],
)
def test_schedules(experiment: cm.Experiment, width: float) -> None:
    found = theory.same_action_forever(experiment, 1)
    assert found.high - found.low < width
    # A finite product is larger, and the tail that it lacks is small.
    for steps, missing in ((100, 0.05), (3000, 1e-3)):
        finite = theory.same_action_forever(experiment, 1, steps=steps)
        assert found.low <= finite.high
        assert finite.low - found.high < missing


@pytest.mark.parametrize("samples", [1, 3])
def test_a_product_of_euler(samples: int) -> None:
    """Greedy on arm 2 from the start: prod (1 - (1/2)^2 / n^2) = sin(pi / 2) / (pi / 2)."""
    greedy = cm.EpsilonGreedy(cm.Decay(0.5, 2.0))
    found = theory.same_action_forever(
        two(-1.0, behaviour=greedy, estimator=cm.OneSample(samples)), 1
    )
    exact = (2.0 / math.pi) ** samples
    assert found.low < exact < found.high
    assert found.high - found.low < 1e-7


def test_samples_must_all_be_the_arm() -> None:
    one, four = two(-1.0), two(-1.0, estimator=cm.OneSample(4))
    assert float(theory.same_action_forever(four, 1)) == pytest.approx(
        float(theory.same_action_forever(one, 1)) ** 4, rel=1e-9
    )


def test_a_path_that_leaves_is_bounded_from_above() -> None:
    # Drawing arm 2 lowers it at first, though near its corner it would be raised.
    e = two(2.0 * cm.Value() - 0.5, alpha=0.5).replace(policy=cm.Sigmoid(3.0))
    found = theory.same_action_forever(e, 1)
    assert found.low <= found.high < 1e-3


@pytest.mark.parametrize("epsilon", [1e-1, 1e-3, 1e-6])
def test_enclosures_hold_all_policies(epsilon: float) -> None:
    generator = np.random.default_rng(0)
    r = np.array([1.0, 0.7, 0.0, 0.4])
    for baseline in (
        cm.MinVariance(),
        cm.MinVariance("natural"),
        cm.MinVariance("natural", lam=2.0),
        cm.MinVariance("natural", lam=-0.7),
        cm.Value(),
        2.0 * cm.MinVariance() - 3.0 * cm.Value() + 1.0,
        -1.0 * cm.MinVariance("natural") + cm.Gap(),
    ):
        for _ in range(10):
            shares = np.insert(generator.dirichlet(np.ones(3)), 1, 0.0)
            low, high, proved = baseline.enclose(1, shares, epsilon, r)
            assert proved
            inside = epsilon * np.concatenate([[1.0], generator.uniform(1e-9, 1.0, 20)])
            pi = inside[:, None] * shares
            pi[:, 1] = 1.0 - inside
            b = baseline.at(pi, r)
            assert low - 1e-12 <= b.min()
            assert b.max() <= high + 1e-12
            limit = float(baseline.at_vertex(1, shares, r))
            assert low - 1e-9 <= limit <= high + 1e-9


def test_limits_at_a_corner_are_limits() -> None:
    r, shares = np.array([1.0, 0.7, 0.0]), np.array([0.2, 0.0, 0.8])
    near = 1e-9 * shares
    near[1] = 1.0 - 1e-9
    for baseline in (
        cm.MinVariance() + 0.3,
        cm.MinVariance("natural"),
        cm.MinVariance("natural", lam=3.0),
        cm.Value() - 1,
        cm.Gap(),
        cm.Maximum(),
    ):
        assert float(baseline.at_vertex(1, shares, r)) == pytest.approx(
            float(baseline.at(near, r)), abs=1e-6
        )


def test_refusals() -> None:
    with pytest.raises(cm.ConfigError, match="arm"):
        theory.same_action_forever(two(-1.0), 2)
    with pytest.raises(cm.ConfigError, match="one start"):
        theory.same_action_forever(two(-1.0), 1, theta=[0.0, 1.0])
    noisy = cm.Bandit([0.9, 0.1], noise="bernoulli")
    with pytest.raises(cm.CombinationError, match="deterministic reward"):
        theory.same_action_forever(two(-1.0).replace(problem=noisy), 1)
    with pytest.raises(cm.CombinationError, match="for ever"):
        theory.same_action_forever(two(-1.0, alpha=cm.Values([0.1] * 10)), 1)
    table = two(-1.0, cm.Values([0.1] * 10))
    assert float(theory.same_action_forever(table, 1, steps=10)) == pytest.approx(
        float(theory.same_action_forever(two(-1.0), 1, steps=10))
    )
    with pytest.raises(cm.ConfigError, match="at most 10"):
        theory.same_action_forever(table, 1, steps=11)
    with pytest.raises(cm.CombinationError, match="entropy"):
        theory.same_action_forever(two(-1.0).replace(update=cm.Natural(0.1, entropy=0.1)), 1)
    with pytest.raises(cm.CombinationError, match="Expected"):
        theory.same_action_forever(two(-1.0, estimator=cm.Expected()), 1)
    with pytest.raises(cm.ConfigError, match="steps"):
        theory.same_action_forever(two(-1.0), 1, steps=-1)


# -- committal rates -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("update", "baseline", "arm", "limit"),
    [
        (cm.Natural(0.5), -1.0, 1, math.inf),
        (cm.Natural(0.5), 0.5, 1, 0.0),
        (cm.Natural(0.5), cm.Value(), 0, 1.0),
        (cm.Natural(0.1), cm.MinVariance() - 1.0, 1, 1.0),
        (cm.Vanilla(0.5), -1.0, 1, 1.0),
        (cm.Vanilla(0.5), 0.5, 1, 0.0),
    ],
)
def test_committal_rates(
    update: cm.config.Update, baseline: object, arm: int, limit: float
) -> None:
    e = two(baseline).replace(update=update)
    rate = theory.committal_rate(e, arm, steps=8192)
    assert rate.limit == limit
    if math.isinf(limit):
        # Exponential: log(1 - pi) falls by a constant per update.
        slope = np.diff(rate.log_rest) / np.diff(rate.time)
        assert slope[-1] == pytest.approx(slope[-2], rel=1e-3)
        assert slope[-1] < -0.1
    else:
        assert rate.exponent[-1] == pytest.approx(limit, abs=0.02)


def test_rates_of_many_vanilla_arms_are_not_guessed() -> None:
    e = three(-1.0).replace(update=cm.Vanilla(0.5))
    assert math.isnan(theory.committal_rate(e, 1, steps=16).limit)
    assert theory.committal_rate(e, 1, steps=4096).exponent[-1] == pytest.approx(1.0, abs=0.02)
    with pytest.raises(cm.ConfigError, match="steps"):
        theory.committal_rate(e, 1, steps=1)
