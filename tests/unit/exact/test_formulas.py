"""Exact answers for formulas: by enumeration, against the oracle; the others refuse by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.errors import CombinationError, FormulaError

BANDIT = cm.Bandit([0.9, 0.7, 0.1], noise="bernoulli")
THETA = np.array([0.3, -0.2, 0.7])
BASE = cm.Experiment(
    BANDIT, cm.Softmax(THETA.tolist()), cm.Vanilla(0.3), cm.Value() - 0.2,
    cm.UniformMixture(0.3), cm.OneSample(samples=2), steps=10,
)  # fmt: skip

CASES: dict[str, cm.Experiment] = {
    "weight": BASE.replace(**{"estimator.weight": cm.weight("where(A > 0, 1, minimum(rho, 1))")}),
    "natural": BASE.replace(
        update=cm.Natural(0.1), estimator=cm.OneSample(weight=cm.weight("minimum(rho, t + 1)"))
    ),
    "update": BASE.replace(update=cm.update("maximum(A, 0) * rho * score")(0.3)),
    "pushed": BASE.replace(update=cm.update("mean(R) * (pi - mean(natural, over='samples'))")(1)),
    "group": BASE.replace(baseline=cm.baseline("others(R, 'mean')") + 0.1),
    "time": BASE.replace(baseline=cm.baseline("sum(mu * r) + 0.1 * t + max(theta)") - 0.1),
    "link": BASE.replace(policy=cm.link("theta**2 + 1")(THETA.tolist())),
    "clipped": BASE.replace(optimiser=cm.ClipNorm(0.1)),
    "normalised": BASE.replace(optimiser=cm.Normalised(), update=cm.Natural(0.1)),
}


@pytest.mark.parametrize("case", CASES)
def test_one_step_is_that_of_the_oracle(case: str) -> None:
    e = CASES[case]
    law = cm.exact.one_step_law(e, t=3)
    want = reference.one_step_law(e, THETA, t=3)
    mean = sum(o.probability * (o.theta - THETA) for o in want)
    np.testing.assert_allclose(law.mean(), mean, atol=1e-13)
    square = sum(o.probability * np.outer(o.theta - THETA, o.theta - THETA) for o in want)
    np.testing.assert_allclose(law.second_moment(), square, atol=1e-13)
    assert float(law.probability.sum()) == pytest.approx(1.0)
    after = e.policy.probabilities_at(THETA + law.update)
    np.testing.assert_allclose(law.policy_change, after - law.policy, atol=1e-12)
    moved = cm.exact.gradient_moments(e, t=3, visible=False)
    alpha = e.update.step_size
    np.testing.assert_allclose(moved.mean, mean / alpha, atol=1e-12)
    np.testing.assert_allclose(moved.second_moment, square / alpha**2, atol=1e-11)


def test_many_policies_at_once() -> None:
    e = CASES["weight"]
    thetas = np.random.default_rng(0).normal(size=(4, 5, 3))
    every = cm.exact.one_step_law(e, theta=thetas)
    one = cm.exact.one_step_law(e, theta=thetas[2, 3])
    np.testing.assert_allclose(every.update[2, 3], one.update, rtol=1e-13)
    np.testing.assert_allclose(every.mean()[2, 3], one.mean(), rtol=1e-12)
    assert cm.exact.gradient_variance(e, theta=thetas).shape == (4, 5)


def test_the_plain_parts_written_as_formulas() -> None:
    plain = cm.exact.gradient_variance(BASE)
    for same in (
        BASE.replace(**{"estimator.weight": cm.weight("rho")}),
        BASE.replace(update=cm.update("A * rho * score")(0.3)),
        BASE.replace(policy=cm.link("exp(theta)")(THETA.tolist())),
        BASE.replace(optimiser=cm.optimiser("g")),
        BASE.replace(baseline=cm.baseline("sum(pi * r) + 0 * t") - 0.2),
    ):
        assert float(cm.exact.gradient_variance(same)) == pytest.approx(float(plain), rel=1e-12)


def test_baselines_of_the_policy_work_everywhere() -> None:
    native, formula = cm.Value() - 0.5, cm.baseline("sum(pi * r)") - 0.5
    two = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax([-1, 0]), cm.Natural(0.1), native, steps=5)
    three = two.replace(problem=cm.Bandit([1, 0.7, 0]), policy=cm.Softmax([0, 1, 2]))
    for e, tolerance in ((two, 1e-3), (three, 2e-2)):
        ours, theirs = (
            cm.exact.committal_probability(e.replace(baseline=b), tolerance=tolerance)
            for b in (formula, native)
        )
        assert ours == pytest.approx(theirs, rel=1e-9)
        a, b = (cm.exact.one_step_law(e.replace(baseline=x)) for x in (formula, native))
        np.testing.assert_allclose(a.update, b.update, rtol=1e-13)
    own = two.replace(baseline=cm.baseline("sum(pi**2 * r) / sum(pi**2)") - 0.5)
    stuck = cm.exact.committal_probability(own, tolerance=1e-3)
    assert 0.0 < float(stuck) < 1.0
    assert cm.theory.baseline_range(own.baseline, np.array([1.0, 0.0])) == (-0.5, 0.5)
    forever = cm.theory.same_action_forever(own, arm=1)
    assert 0.0 < forever.low <= forever.high < 1.0
    assert not forever.proved


REFUSED: dict[str, tuple[Callable[[cm.Experiment], Any], Any]] = {
    "committal": (cm.exact.committal_probability, CASES["weight"]),
    "path": (
        cm.exact.expected_path,
        BASE.replace(baseline=cm.baseline("v", state={"v": (0, "mean(R)")})),
    ),
    "flow": (lambda e: cm.exact.gradient_flow(e, [0, 1]), CASES["link"]),
    "horizon": (lambda e: cm.exact.law_after(e, 3), CASES["update"]),
    "quadratic": (cm.exact.baseline_quadratic, CASES["update"]),
    "forever": (lambda e: cm.theory.same_action_forever(e, arm=1), CASES["clipped"]),
    "rate": (lambda e: cm.theory.committal_rate(e, 1), CASES["normalised"]),
    "gap": (lambda e: cm.theory.gap_bound(e, 10), CASES["weight"]),
    "state": (cm.exact.one_step_law, BASE.replace(optimiser=cm.Adam())),
    "memory": (
        cm.exact.one_step_law,
        BASE.replace(
            baseline=cm.baseline("v", state={"v": (0, "mean(R)")}), optimiser=cm.ClipNorm(1)
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_others_refuse_by_name(case: str) -> None:
    call, e = REFUSED[case]
    with pytest.raises(CombinationError, match=r"experiment\.|baseline"):
        call(e)


def test_what_enumeration_does_not_know_is_refused() -> None:
    batch = cm.baseline("sum(pi * r) + 0 * mean(R)")
    base = cm.Experiment(cm.Bandit([1, 0.5, 0]), cm.Softmax(), cm.Vanilla(1), batch, steps=1)
    implicit = base.replace(estimator=cm.OneSample(implicit=0.2))
    with pytest.raises(CombinationError, match=r"estimator\.implicit = 0\.2"):
        cm.exact.one_step_law(implicit)
    entropy = base.replace(update=cm.Vanilla(1, entropy=0.5), optimiser=cm.Normalised())
    with pytest.raises(CombinationError, match=r"update\.entropy = 0\.5"):
        cm.exact.one_step_law(entropy)
    direct = base.replace(policy=cm.Direct(), update=cm.Projected(0.1))
    with pytest.raises(CombinationError, match="does not look at the samples"):
        cm.exact.expected_path(direct.replace(baseline=cm.baseline("mean(R)")))
    with pytest.raises(FormulaError, match="finite for every outcome"):
        cm.exact.one_step_law(base.replace(baseline=cm.baseline("1 / (t + 0 * mean(R))")))
    two = {"problem": cm.Bandit([1, 0]), "policy": cm.Sigmoid()}
    with pytest.raises(CombinationError, match="no baseline changes its direction"):
        base.replace(estimator=cm.Expected(), baseline=cm.baseline("max(r)"), **two)
    with pytest.raises(CombinationError, match="without rho"):
        implicit.replace(update=cm.update("A * rho * score")(0.1), baseline=0.0)


@pytest.mark.parametrize("update", [cm.Projected(0.1), cm.Vanilla(0.1)])
def test_a_batch_baseline_of_a_direct_policy(update: Any) -> None:
    native = cm.Experiment(
        cm.Bandit([1, 0.5, 0]), cm.Direct([0.3, 0.3, 0.4]), update, cm.Value(), steps=1
    )
    batch = native.replace(baseline=cm.baseline("sum(pi * r) + 0 * mean(R)"))
    one, other = cm.exact.one_step_law(native), cm.exact.one_step_law(batch)
    np.testing.assert_allclose(other.update, one.update, atol=1e-14)
