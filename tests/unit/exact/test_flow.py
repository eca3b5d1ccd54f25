"""The expected direction of a rule and its stationary points: known numbers, laws, simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import CombinationError

REFERENCE = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
REF = " + ".join(f"{x!r} * onehot({i})" for i, x in enumerate(REFERENCE.tolist()))
BASE = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Vanilla(1), steps=1)
PLAIN = "mean(A * score, over='samples')"
FLIP = cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]])
STD = cm.weight("where(max(R) > min(R), rho / std(R), 0)")


def off_policy(value: float, weight: str) -> cm.Experiment:
    return BASE.replace(
        behaviour=cm.Fixed([1 / 3] * 3),
        baseline=value,
        estimator=cm.OneSample(weight=cm.weight(weight)),
    )


ASYMRE, TOPR = "1", "where(A >= 0, 1, minimum(rho, 1))"

# The one stable policy, to what an independent implementation printed.
STABLE: dict[str, tuple[Any, tuple[float, ...]]] = {
    "entropy": (BASE.replace(update=cm.Vanilla(1, entropy=0.2)),
                (0.81309532, 0.18142609, 0.0054785932)),
    "natural entropy": (BASE.replace(update=cm.Natural(1, entropy=0.2)),
                        (0.81309532, 0.18142609, 0.0054785932)),
    "KL": (BASE.replace(update=cm.update(
        f"{PLAIN} - 0.2 * pi * (log(pi / ({REF})) - sum(pi * log(pi / ({REF}))))")(1)),
        (0.6037489, 0.36619222, 0.030058888)),
    "k2": (BASE.replace(update=cm.update(f"(A - 0.2 * log(pi[a] / ({REF})[a])) * score")(1)),
           (0.6037489, 0.36619222, 0.030058888)),
    "k3": (BASE.replace(update=cm.update(f"(A - 0.2 * (1 - ({REF})[a] / pi[a])) * score")(1)),
           (0.7196078, 0.15059189, 0.12980031)),
    "barrier": (BASE.replace(update=cm.update(f"{PLAIN} + 0.1 * (1 / 3 - pi)")(1)),
                (0.86937777, 0.098519761, 0.032102473)),
    "asymre -.5": (off_policy(-0.5, ASYMRE), (0.46875, 0.375, 0.15625)),
    "asymre .3": (off_policy(0.3, ASYMRE), (0.6875, 0.3125, 0.0)),
    "asymre .4": (off_policy(0.4, ASYMRE), (0.8, 0.2, 0.0)),
    "asymre .5": (off_policy(0.5, ASYMRE), (1.0, 0.0, 0.0)),
    "topr -.5": (off_policy(-0.5, TOPR), (0.46875, 0.375, 0.15625)),
    "topr .3": (off_policy(0.3, TOPR), (7 / 11, 4 / 11, 0.0)),
    "topr .56": (off_policy(0.56, TOPR), (0.75862069, 0.24137931, 0.0)),
    "topr .8": (off_policy(0.8, TOPR), (1.0, 0.0, 0.0)),
    "vanilla": (BASE, (1.0, 0.0, 0.0)),
    "natural value": (BASE.replace(update=cm.Natural(1), baseline=cm.Value()), (1.0, 0.0, 0.0)),
    "grpo": (cm.Experiment(FLIP, cm.Softmax(), cm.Vanilla(1), cm.baseline("mean(R)"),
                           estimator=cm.OneSample(8, weight=STD), steps=1), (0.0, 1.0)),
    "rloo": (cm.Experiment(FLIP, cm.Softmax(), cm.Vanilla(1), cm.baseline("others(R, 'mean')"),
                           estimator=cm.OneSample(8), steps=1), (1.0, 0.0)),
}  # fmt: skip


@pytest.mark.parametrize("case", STABLE)
def test_the_stable_point(case: str) -> None:
    e, want = STABLE[case]
    stable = [point for point in cm.exact.stationary(e) if point.stable]
    assert len(stable) == 1
    np.testing.assert_allclose(stable[0].policy, want, atol=6e-9)
    assert stable[0].arms == tuple(np.flatnonzero(np.array(want) > 0.0))


def test_with_too_high_a_value_two_vertices_are_stable() -> None:
    points = cm.exact.stationary(off_policy(0.8, ASYMRE))
    assert [p.policy.tolist() for p in points if p.stable] == [[1, 0, 0], [0, 1, 0]]
    edge = next(p for p in points if p.arms == (0, 1))
    assert edge.kind == "saddle"
    np.testing.assert_allclose(edge.policy, [2 / 7, 5 / 7, 0], atol=1e-10)
    assert points[-1].kind == "unstable"


def delightful(policy: Any) -> cm.Experiment:
    gate = cm.weight("1 / (1 + exp(A * log(pi[a])))")
    bandit = cm.Bandit.from_table([[(0.6, 1)], [(1, 0.5), (0, 0.5)]])
    estimator = cm.OneSample(weight=gate)
    return cm.Experiment(bandit, policy, cm.Vanilla(1), cm.Value(), estimator=estimator, steps=1)


def test_a_gate_on_surprise_has_a_point_inside() -> None:
    inside = cm.exact.stationary(delightful(cm.Softmax()))[0]
    assert inside.stable
    assert float(inside.policy[0]) == pytest.approx(0.55351741, abs=1e-8)
    drift = {0.05: 0.0050832496, 0.4: 0.0090588116, 0.5: 0.0035660137, 0.9: -0.014806644}
    p = np.array(list(drift))
    h = cm.exact.flow(delightful(cm.Softmax()), policy=np.stack([p, 1 - p], axis=-1))
    np.testing.assert_allclose(h[:, 0] - h[:, 1], list(drift.values()), atol=1e-9)
    other = cm.exact.stationary(delightful(cm.Sigmoid()))[0]
    np.testing.assert_allclose(other.policy, inside.policy, atol=1e-10)
    # The difference of two logits moves twice as fast as one.
    assert float(other.rates[0]) == pytest.approx(float(inside.rates[0]) / 2, rel=1e-5)


def test_the_rate_of_an_arm_that_comes_back_slowly() -> None:
    """Per unit of its probability, when the other arms have found their balance with it."""
    e = delightful(cm.Softmax())
    e = e.replace(problem=cm.Bandit.from_table([[(0.6, 1)], [(1, 0.5), (0, 0.5)], [(0.55, 1)]]))
    edge = next(p for p in cm.exact.stationary(e) if p.arms == (0, 1))
    assert edge.stable
    theta = np.log(np.array([*edge.policy[:2], 1e-5]))
    for _ in range(200):
        theta = theta + 10 * cm.exact.flow(e, theta=theta)
    h, pi = cm.exact.flow(e, theta=theta), np.exp(theta) / np.exp(theta).sum()
    assert float(edge.rates[1]) == pytest.approx((h[2] - pi @ h) / pi[2], rel=0.01)


@pytest.mark.parametrize("e", [BASE, BASE.replace(update=cm.Natural(0.3, entropy=0.1)),
                               off_policy(0.3, TOPR), BASE.replace(estimator=cm.Expected()),
                               BASE.replace(baseline=cm.MinVariance() - 0.3,
                                            behaviour=cm.UniformMixture(0.2))])  # fmt: skip
def test_the_flow_is_the_mean_of_the_law(e: cm.Experiment) -> None:
    theta = np.random.default_rng(0).normal(size=(4, 5, 3)) * 2
    law = cm.exact.one_step_law(e, theta=theta)
    alpha = e.update.step_size
    np.testing.assert_allclose(cm.exact.flow(e, theta=theta), law.mean() / alpha, atol=1e-13)


def test_any_noise_has_a_flow() -> None:
    e = BASE.replace(problem=cm.Bandit([1, 0.7, 0], noise="gaussian", sigma=0.5))
    np.testing.assert_allclose(cm.exact.flow(e), cm.exact.flow(BASE), atol=1e-15)
    assert [p.kind for p in cm.exact.stationary(e)] == ["stable", "saddle", "unstable"]


def test_runs_go_where_the_flow_goes() -> None:
    e = STABLE["topr .3"][0].replace(
        update=cm.Vanilla(0.05), steps=4000, record=cm.Record("policy", at=[4000])
    )
    runs = cm.run(e, runs=200, rng=0)
    mean = runs["policy"].values[:, 0, :].mean(axis=0)
    np.testing.assert_allclose(mean, STABLE["topr .3"][1], atol=0.02)


def test_faces_of_four_arms() -> None:
    e = cm.Experiment(
        cm.Bandit([1, 0.9, 0.5, 0]), cm.Softmax(), cm.Natural(1, entropy=0.5), steps=1
    )
    points = cm.exact.stationary(e)
    want = np.exp(np.array([1, 0.9, 0.5, 0]) / 0.5)
    np.testing.assert_allclose(points[0].policy, want / want.sum(), atol=1e-9)
    assert points[0].stable
    assert len(points) == 15  # one inside of every face
    assert sum(p.stable for p in points) == 1


def test_ten_arms() -> None:
    rng = np.random.default_rng(0)
    r, ref = np.sort(rng.uniform(size=10))[::-1], rng.dirichlet(np.full(10, 2.0))
    mu = rng.dirichlet(np.full(10, 3.0))
    e = cm.Experiment(cm.Bandit(r), cm.Softmax(), cm.Vanilla(1), steps=1)
    old = e.replace(behaviour=cm.Fixed(mu), baseline=0.3)
    reverse = cm.theory.regularised_policy(r, 0.2, reference=ref, divergence="reverse")
    cases = (
        (e.replace(update=cm.Natural(1)), np.eye(10)[0]),
        (e.replace(regulariser=cm.KL(ref, 0.2, form="k3")), reverse),
        (
            old.replace(estimator=cm.OneSample(weight=cm.Tapered())),
            cm.theory.off_policy_limit(r, mu, 0.3, rule="tapered"),
        ),
    )
    for case, want in cases:
        stable = [p.policy for p in cm.exact.stationary(case) if p.stable]
        assert len(stable) == 1
        np.testing.assert_allclose(stable[0], want, atol=1e-10)


def test_what_is_refused() -> None:
    with pytest.raises(CombinationError, match="between 0 and 1 nothing moves"):
        cm.exact.stationary(BASE.replace(problem=cm.Bandit([1, 1, 0])))
    with pytest.raises(CombinationError, match="two to 100 arms"):
        cm.exact.stationary(BASE.replace(problem=cm.Bandit(range(101))))
    direct = BASE.replace(policy=cm.Direct(), update=cm.Projected(0.1))
    for call in (cm.exact.stationary, cm.exact.flow):
        with pytest.raises(CombinationError, match=r"experiment\.policy = Direct\(\)"):
            call(direct)
    with pytest.raises(CombinationError, match="optimiser"):
        cm.exact.flow(BASE.replace(optimiser=cm.Adam()))
    with pytest.raises(CombinationError, match="RunningMean"):
        cm.exact.flow(BASE.replace(baseline=cm.RunningMean()))
