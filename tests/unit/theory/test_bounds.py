"""Bounds, regimes and conditions on schedules."""

from __future__ import annotations

import math

import numpy as np
import pytest

import committal as cm
from committal import theory
from committal.config import Schedule

THREE = cm.Bandit([1.0, 0.7, 0.0])


def two(baseline: object, **parts: object) -> cm.Experiment:
    parts.setdefault("update", cm.Natural(0.1))
    return cm.Experiment(
        cm.Bandit([1, 0]),
        cm.Sigmoid(-1.0),
        baseline=baseline,
        steps=1,
        **parts,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("theta", [-20.0, -10.0, -3.0, -1.0, -0.1, 0.0])
@pytest.mark.parametrize("c", [0.05, 0.3, 1.0, 3.0])
def test_bounds_of_proposition_1_are_below_the_product(theta: float, c: float) -> None:
    e = two(-1.0, update=cm.Natural(c)).replace(policy=cm.Sigmoid(theta))
    product = theory.same_action_forever(e, 1)
    for form in ("sharp", "corrected"):
        assert theory.proposition_1_bound(theta, c, -1.0, form=form) <= product.high
    sharp = theory.proposition_1_bound(theta, c, -1.0)
    assert theory.proposition_1_bound(theta, c, -1.0, form="corrected") <= sharp + 1e-15


def test_the_printed_bound_is_not_one() -> None:
    """It holds at the paper's settings, and fails for starts far on the wrong side."""
    for alpha in (0.05, 0.1, 0.15):
        product = theory.same_action_forever(two(-1.0, update=cm.Natural(alpha)), 1)
        assert theory.proposition_1_bound(-1.0, alpha, -1.0, form="printed") < product.low
    far = two(-1.0, update=cm.Natural(1.0)).replace(policy=cm.Sigmoid(-10.0))
    product = theory.same_action_forever(far, 1)
    assert theory.proposition_1_bound(-10.0, 1.0, -1.0, form="printed") > product.high


def test_arguments_of_proposition_1() -> None:
    assert theory.proposition_1_bound(1.0, 0.1, -1.0) > 0.0
    for arguments, match in (
        ({"theta0": 1.0, "form": "corrected"}, "theta0"),
        ({"theta0": math.nan}, "theta0"),
        ({"step_size": 0.0}, "step_size"),
        ({"b": 0.0}, "b = 0"),
        ({"form": "best"}, "form"),
    ):
        given = {"theta0": -1.0, "step_size": 0.1, "b": -1.0} | arguments
        with pytest.raises(cm.ConfigError, match=match):
            theory.proposition_1_bound(**given)  # type: ignore[arg-type]


def test_gap_bound() -> None:
    e = cm.Experiment(THREE, cm.Softmax(), cm.Natural(0.1), cm.Gap(0.2), steps=1)
    assert theory.gap_bound(e, 0) == 0.0
    assert theory.gap_bound(e, 100) == pytest.approx(1.0 - math.exp(-100 / 72))
    assert theory.gap_bound(e.replace(baseline=0.8), 100) == theory.gap_bound(e, 100)
    for wrong in (cm.Constant(0.5), cm.Value(), cm.Constant(1.0)):
        with pytest.raises(cm.CombinationError, match="between the two best"):
            theory.gap_bound(e.replace(baseline=wrong), 1)
    with pytest.raises(cm.CombinationError, match="Natural"):
        theory.gap_bound(e.replace(update=cm.Vanilla(0.1)), 1)
    with pytest.raises(cm.CombinationError, match="OnPolicy"):
        theory.gap_bound(e.replace(behaviour=cm.UniformMixture(0.1)), 1)
    with pytest.raises(cm.ConfigError, match="t = -1"):
        theory.gap_bound(e, -1)


def test_off_policy_bound_against_simulation() -> None:
    e = two(-1.0, behaviour=cm.UniformMixture(1.0))
    previous = -1.0
    for t in (200, 500, 1000):
        bound = theory.off_policy_bound(e, t)
        data = cm.run(e.replace(steps=t, record=cm.Record("theta")), runs=2000, rng=0)
        grown = float((data.theta.values.ravel() > -1.0 + 0.1 * t / 2).mean())
        assert previous < bound <= grown + 1e-12
        previous = bound
    assert bound > 0.5


def test_off_policy_bound_follows_the_condition() -> None:
    slow = two(-1.0, behaviour=cm.UniformMixture(cm.Decay(1.0, 0.25)))
    fast = two(-1.0, behaviour=cm.UniformMixture(cm.Decay(1.0, 0.6)))
    assert theory.off_policy_bound(slow, 1_000_000) > 0.99
    assert theory.off_policy_bound(fast, 1_000_000) < theory.off_policy_bound(fast, 1000) + 0.1
    # Any bounded baseline, with noise too.
    noisy = cm.Bandit([0.9, 0.1], noise="bernoulli")
    running = slow.replace(problem=noisy, baseline=cm.RunningMean(initial=-2.0))
    assert 0.5 < theory.off_policy_bound(running, 1_000_000) < 1.0


@pytest.mark.parametrize(
    ("baseline", "largest"),
    [
        (cm.Constant(-1.0), 2.0),  # 1 - (-1)
        (cm.Constant(3.0), 3.0),  # 0 - 3
        (cm.Value(), 1.0),  # b in [0, 1], R in {0, 1}
        (cm.Value() + 0.5, 1.5),
        (cm.RunningMean(initial=-2.0), 3.0),
        (cm.RunningMean(initial=4.0), 4.0),
    ],
)
def test_off_policy_bound_is_the_formula(baseline: cm.Constant, largest: float) -> None:
    """|R - b| <= B, 0.4 per arm, steps of 0.1: by hand, where b moves between two ends."""
    bound = theory.off_policy_bound(two(baseline, behaviour=cm.UniformMixture(0.8)), 4000)
    exponent = (0.5 * 4000 * 0.1) ** 2 / (2.0 * 4000 * 0.1**2 * (largest / 0.4 + 1.0) ** 2)
    assert bound == pytest.approx(1.0 - math.exp(-exponent), rel=1e-12)


def test_off_policy_refusals() -> None:
    e = two(-1.0, behaviour=cm.EpsilonGreedy(0.5))
    assert theory.off_policy_bound(e, 10_000) > 0.9
    assert theory.off_policy_bound(e.replace(behaviour=cm.Fixed([0.4, 0.6])), 10_000) > 0.9
    for change, match in (
        ({"behaviour": cm.OnPolicy()}, "every arm"),
        ({"update": cm.Vanilla(0.1)}, "Natural"),
        ({"estimator": cm.OneSample(implicit=0.1)}, "implicit"),
        ({"problem": cm.Bandit([1, 1])}, "single best"),
        ({"problem": cm.Bandit([1, 0], noise="gaussian", sigma=1)}, "bounded"),
    ):
        with pytest.raises(cm.CombinationError, match=match):
            theory.off_policy_bound(e.replace(**change), 10)


def test_ranges_of_baselines_hold() -> None:
    r = np.array([1.0, 0.7, 0.0])
    policies = np.random.default_rng(0).dirichlet(np.full(3, 0.2), 500)
    for baseline in (
        cm.MinVariance("natural") - 0.5,
        2.0 * cm.Value() - cm.MinVariance(),
        cm.Gap() + cm.Maximum(),
        cm.Constant(3.0),
    ):
        low, high = theory.baseline_range(baseline, r)
        b = baseline.at(policies, r)
        assert low - 1e-12 <= b.min()
        assert b.max() <= high + 1e-12


@pytest.mark.parametrize(
    ("c", "first", "second", "outcome"),
    [
        (-1.5, "attracts", "attracts", "may end on the wrong arm"),
        (-1.0, "attracts", "releases", "ends on the best arm"),
        (-0.99, "attracts", "repels", "ends on the best arm"),
        (0.99, "attracts", "repels", "ends on the best arm"),
        (1.0, "holds", "repels", "ends on the best arm"),
        (1.01, "repels", "repels", "ends on no arm"),
    ],
)
def test_regimes_of_proposition_2(c: float, first: str, second: str, outcome: str) -> None:
    assert theory.two_arm_regime(two(cm.MinVariance() + c)) == theory.Regime(first, second, outcome)


def test_other_regimes() -> None:
    assert theory.two_arm_regime(two(2.0 * cm.Value() - 0.5)).outcome == (
        "ends on the wrong arm or on none"
    )
    swapped = two(-1.0).replace(problem=cm.Bandit([0, 1]))
    assert theory.two_arm_regime(swapped).outcome == "may end on the wrong arm"
    for change, match in (
        ({"problem": cm.Bandit([1, 1])}, "different"),
        ({"update": cm.Vanilla(0.1)}, "Natural"),
        ({"baseline": cm.RunningMean()}, "RunningMean"),
    ):
        with pytest.raises(cm.CombinationError, match=match):
            theory.two_arm_regime(two(-1.0).replace(**change))


def test_the_open_case_lets_go_slowly() -> None:
    """c = -1: 1/p grows by alpha per draw of the wrong arm, so it is missed like t^(-1/alpha)."""
    e = two(cm.MinVariance() - 1.0).replace(policy=cm.Sigmoid(-8.0))
    x0 = math.exp(8.0)
    for t in (100, 1000, 5000):
        missed = float(theory.same_action_forever(e, 1, steps=t))
        assert missed == pytest.approx((1.0 + 0.1 * t / x0) ** -10.0, rel=0.01)


@pytest.mark.parametrize(
    ("x", "monro", "exploring"),
    [
        (0.1, False, True),
        (cm.Decay(1.0, 0.4), False, True),
        (cm.Decay(1.0, 0.6), True, False),
        (cm.Decay(1.0, 1.5), False, False),
        (cm.Values([0.5] * 200), None, None),
    ],
    ids=repr,
)
def test_schedules(x: float | Schedule, monro: bool | None, exploring: bool | None) -> None:
    check = theory.check_schedule(x, 100)
    assert (check.robbins_monro, check.keeps_exploring) == (monro, exploring)
    values = x.values(100) if isinstance(x, Schedule) else np.full(100, x)
    assert check.total == pytest.approx(values.sum())
    assert check.squares == pytest.approx((values**2).sum())
    assert check.exploration == pytest.approx(100 * values[-1] ** 2)
    with pytest.raises(cm.ConfigError, match="steps"):
        theory.check_schedule(x, 0)
