"""Corners: closed forms, known numbers, and simulation on both sides of every threshold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import committal as cm
from committal.errors import CombinationError

DET = cm.Experiment(cm.Bandit([1, 0.5]), cm.Softmax(), cm.Vanilla(4), steps=1)
BERNOULLI = DET.replace(problem=cm.Bandit([0.6, 0.5], noise="bernoulli"))
FLIP = cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]])
STD = cm.weight("where(max(R) > min(R), rho / std(R), 0)")


def group(samples: int, baseline: str, weight: Any = None, rate: float = 0.1) -> cm.Experiment:
    return cm.Experiment(
        FLIP, cm.Softmax(), cm.Vanilla(rate), cm.baseline(baseline),
        estimator=cm.OneSample(samples, weight=weight), steps=1,
    )  # fmt: skip


# -- numbers ---------------------------------------------------------------------------------------


def test_the_critical_step_sizes() -> None:
    assert cm.exact.critical_step_size(DET) == pytest.approx(0.79681213, abs=1e-8)
    assert cm.exact.critical_step_size(BERNOULLI) == pytest.approx(0.188219, abs=1e-7)
    assert cm.exact.critical_step_size(DET.replace(policy=cm.Sigmoid())) == pytest.approx(
        2 * 0.79681213, abs=1e-8
    )
    stuck = cm.exact.corner(DET, 1)
    assert (stuck.kind, stuck.arm) == ("releases", 1)
    assert stuck.root == pytest.approx(1.5936243, abs=1e-7)
    assert stuck.exponent == pytest.approx(0.19920303, abs=1e-8)
    best = cm.exact.corner(DET, 0)
    assert (best.kind, best.exponent, best.root) == ("attracts", 0.0, 0.0)


@given(st.floats(0.05, 0.9), st.floats(0.05, 1.0), st.floats(0.01, 50), st.floats(-1, 0.04))
@settings(deadline=None, max_examples=60)
def test_the_root_of_two_deterministic_arms(
    worse: float, gap: float, rate: float, b: float
) -> None:
    e = DET.replace(problem=cm.Bandit([worse + gap, worse]), update=cm.Vanilla(rate), baseline=b)
    u = cm.exact.corner(e, 1).root
    assert u is not None
    assert (worse - b) * u == pytest.approx(-math.expm1(-u * (worse + gap - b)), rel=1e-9)
    assert cm.exact.critical_step_size(e) == pytest.approx(u / 2, rel=1e-12)


@pytest.mark.parametrize("samples", [2, 5])
def test_averages_of_samples_allow_for_larger_steps(samples: int) -> None:
    """N samples: jumps of one N-th, N times as often."""
    for one in (DET, BERNOULLI):
        many = one.replace(estimator=cm.OneSample(samples))
        want = samples * cm.exact.critical_step_size(one)
        assert cm.exact.critical_step_size(many) == pytest.approx(want, rel=1e-9)


def test_the_root_of_normal_and_uniform_rewards() -> None:
    for noise, spread, moment in (
        ("gaussian", {"sigma": 0.7}, lambda u: math.exp(-u + (0.7 * u) ** 2 / 2)),
        ("uniform", {"half_width": 2.0}, lambda u: math.exp(-u) * math.sinh(2 * u) / (2 * u)),
    ):
        e = DET.replace(problem=cm.Bandit([1, 0.5], noise=noise, **spread))
        u = cm.exact.corner(e, 1).root
        assert u is not None
        assert 0.5 * u == pytest.approx(1 - moment(u), rel=1e-10)


def test_a_value_baseline_removes_it_if_there_is_no_noise() -> None:
    assert cm.exact.critical_step_size(DET.replace(baseline=cm.Value())) == math.inf
    # With noise a bad reward of the better arm leads back into the corner:
    # .6 y^-1 + .4 y = 1 for y = exp(u / 2) = 3/2.
    noisy = cm.exact.critical_step_size(BERNOULLI.replace(baseline=cm.Value()))
    assert noisy == pytest.approx(math.log(1.5), rel=1e-12)
    assert noisy > cm.exact.critical_step_size(BERNOULLI)


@pytest.mark.parametrize("r", [0.5, 0.2, 0.9])
@pytest.mark.parametrize("rate", [0.01, 4.0])
def test_clipping_absorbs_below_root_two_times_the_worse_reward(r: float, rate: float) -> None:
    e = DET.replace(problem=cm.Bandit([1, r]), update=cm.Vanilla(rate))
    at = math.sqrt(2) * r
    for factor, kind in ((0.3, "attracts"), (1 - 1e-6, "attracts"), (1 + 1e-6, "releases")):
        clipped = e.replace(optimiser=cm.ClipNorm(at * factor))
        assert cm.exact.corner(clipped, 1).kind == kind
        free = clipped.replace(baseline=cm.Value())
        assert cm.exact.corner(free, 1).kind == "releases"
        assert cm.exact.critical_step_size(free) == math.inf
    attracted = e.replace(optimiser=cm.ClipNorm(at / 2))
    assert cm.exact.critical_step_size(attracted) == 0.0
    # Clipping that never acts changes nothing.
    loose = e.replace(optimiser=cm.ClipNorm(10))
    want = cm.exact.corner(e, 1).exponent
    assert cm.exact.corner(loose, 1).exponent == pytest.approx(want, rel=1e-9)


KINDS: dict[str, tuple[cm.Experiment, tuple[str, ...]]] = {
    "vanilla": (DET, ("attracts", "releases")),
    "vanilla, high b": (DET.replace(baseline=0.75), ("attracts", "repels")),
    "natural, low b": (DET.replace(update=cm.Natural(0.1)), ("attracts", "attracts")),
    "natural, middle b": (
        DET.replace(update=cm.Natural(0.1), baseline=0.75), ("attracts", "repels")),
    "natural, high b": (DET.replace(update=cm.Natural(0.1), baseline=2), ("repels", "repels")),
    "natural, V": (
        DET.replace(update=cm.Natural(0.1), baseline=cm.Value()), ("attracts", "releases")),
    "natural, V, noise": (
        BERNOULLI.replace(update=cm.Natural(0.1), baseline=cm.Value()), ("releases", "releases")),
    "natural, open case": (
        DET.replace(problem=cm.Bandit([1, 0]), update=cm.Natural(0.1),
                    baseline=cm.MinVariance() - 1), ("attracts", "releases")),
    "normalised": (DET.replace(optimiser=cm.Normalised()), ("attracts", "attracts")),
    "entropy": (DET.replace(update=cm.Vanilla(1, entropy=0.1)), ("repels", "repels")),
    "natural entropy": (DET.replace(update=cm.Natural(1, entropy=0.1)), ("repels", "repels")),
    "grpo": (group(8, "mean(R)", STD), ("releases", "attracts")),
    "large grpo": (group(64, "mean(R)", STD), ("attracts", "attracts")),
    "rloo": (group(8, "others(R, 'mean')"), ("attracts", "releases")),
    "natural rloo": (
        group(2, "others(R, 'mean')").replace(
            problem=cm.Bandit([1, 0.5]), update=cm.Natural(0.1)), ("attracts", "releases")),
    "three arms": (
        DET.replace(problem=cm.Bandit([1, 0.7, 0])), ("attracts", "releases", "releases")),
    "uniform behaviour": (
        DET.replace(problem=cm.Bandit([1, 0.7, 0]), behaviour=cm.Fixed([1 / 3] * 3), baseline=0.8,
                    estimator=cm.OneSample(weight=cm.weight("1"))),
        ("attracts", "attracts", "repels")),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS)
def test_what_corners_do(case: str) -> None:
    e, kinds = KINDS[case]
    assert tuple(cm.exact.corner(e, a).kind for a in range(len(kinds))) == kinds


def test_natural_corners_are_those_of_the_regimes() -> None:
    """Where runs may end, by `theory.two_arm_regime`, for baselines on both sides."""
    names = {"holds": "attracts"}
    for c in (-1.5, -1.0, -0.5, 0.5, 1.0, 1.5):
        e = cm.Experiment(
            cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), cm.MinVariance() + c, steps=1
        )
        regime = cm.theory.two_arm_regime(e)
        for arm, kind in ((0, regime.first), (1, regime.second)):
            assert cm.exact.corner(e, arm).kind == names.get(kind, kind), (c, arm)


def test_more_arms_have_edges() -> None:
    e = DET.replace(problem=cm.Bandit([1, 0.7, 0]))
    middle = cm.exact.corner(e, 1)
    assert [(x.arm, x.kind) for x in middle.edges] == [(0, "releases"), (2, "attracts")]
    pair = cm.exact.corner(DET.replace(problem=cm.Bandit([1, 0.7])), 1)
    assert middle.edges[0].exponent == pytest.approx(pair.exponent, rel=1e-12)
    assert middle.root == pytest.approx(pair.root, rel=1e-12)
    natural = e.replace(update=cm.Natural(0.1), baseline=cm.Value())
    assert cm.exact.corner(natural, 1).exponent is None


def test_exponents_of_more_arms() -> None:
    """The roots of all better arms, over K eta."""
    e = DET.replace(problem=cm.Bandit([0.5, 1, 0.9, 0.5, 0]), update=cm.Vanilla(3))
    roots = [cm.exact.corner(DET.replace(problem=cm.Bandit([r, 0.5])), 1).root for r in (1.0, 0.9)]
    want = sum(x for x in roots if x is not None) / (5 * 3)
    assert cm.exact.corner(e, 0).exponent == pytest.approx(want, rel=1e-9)
    ten = DET.replace(problem=cm.Bandit([0.6] + 9 * [0.5], noise="bernoulli"))
    assert cm.exact.critical_step_size(ten) == pytest.approx(0.376438 / 10, abs=1e-7)
    assert cm.exact.corner(e, 1).exponent == 0.0
    assert cm.exact.corner(e, 4).exponent == math.inf  # it pays nothing: nothing leads in


def test_what_is_refused() -> None:
    for change, match in (
        ({"update": cm.Vanilla(cm.Decay(1.0, 0.5))}, "step_size"),
        ({"optimiser": cm.Adam()}, "optimiser"),
        ({"baseline": cm.RunningMean()}, "RunningMean"),
        ({"estimator": cm.Expected()}, "OneSample"),
        ({"policy": cm.Direct(), "update": cm.Projected(0.1)}, "policy"),
        (
            {
                "problem": cm.Bandit([1, 0.5], noise="gaussian", sigma=1),
                "optimiser": cm.ClipNorm(1),
            },
            "noise",
        ),
    ):
        with pytest.raises(CombinationError, match=match):
            cm.exact.corner(DET.replace(**change), 1)
    with pytest.raises(CombinationError, match="different means"):
        cm.exact.critical_step_size(DET.replace(problem=cm.Bandit([1, 1, 1])))
    with pytest.raises(CombinationError, match="exponent at arm 1"):
        cm.exact.critical_step_size(KINDS["natural, V, noise"][0])


# -- simulation ------------------------------------------------------------------------------------


def wrong(e: cm.Experiment, times: list[int], runs: int) -> tuple[Any, Any]:
    record = cm.Record("policy", "regret", at=times)
    data = cm.run(e.replace(steps=times[-1], record=record), runs=runs, rng=7)
    best = e.problem.best
    return (data["policy"].values[..., best] < 0.5).mean(axis=0), data["regret"].values.mean(axis=0)


@pytest.mark.parametrize("rate", [4.0, 2.0])
def test_runs_leave_the_wrong_arm_by_the_power(rate: float) -> None:
    e = DET.replace(update=cm.Vanilla(rate))
    kappa = cm.exact.corner(e, 1).exponent
    assert kappa is not None
    share, regret = wrong(e, [200, 20_000], 8000)
    slope = math.log(share[1] / share[0]) / math.log(100)
    # 8000 runs: the share at the end has a standard error of 0.03 (0.1) relative to itself.
    assert slope == pytest.approx(-kappa, abs=0.08)
    assert math.log(regret[1] / regret[0]) / math.log(100) == pytest.approx(1 - kappa, abs=0.08)


@pytest.mark.parametrize(
    ("means", "rate", "arm"),
    [([1, 0.5, 0], 4.0, 1), ([1, 0.8, 0.5], 1.5, 1), ([1, 0.9, 0.5], 8, 2)],
)
def test_more_arms_hold_runs_longer(means: list[float], rate: float, arm: int) -> None:
    e = DET.replace(problem=cm.Bandit(means), update=cm.Vanilla(rate), steps=20_000)
    kappa = cm.exact.corner(e, arm).exponent
    assert kappa is not None
    record = cm.Record("policy", at=[200, 20_000])
    there = cm.run(e.replace(record=record), runs=6000, rng=7)["policy"].values[..., arm] > 0.5
    share = there.mean(axis=0)
    # Two arms alone would give 0.199, 0.155 and 0.191.
    assert math.log10(share[1] / share[0]) / 2 == pytest.approx(-kappa, abs=0.025)


def test_below_the_critical_step_size_regret_is_logarithmic() -> None:
    eta = cm.exact.critical_step_size(DET)
    _, below = wrong(DET.replace(update=cm.Vanilla(eta / 3)), [1000, 10_000], 2000)
    # (log T) / (2 eta) more for every factor of e.
    assert (below[1] - below[0]) / math.log(10) == pytest.approx(3 / (2 * eta), rel=0.1)
    three = DET.replace(problem=cm.Bandit([1, 0.5, 0]), update=cm.Vanilla(0.2))
    _, below = wrong(three, [1000, 10_000], 2000)
    assert (below[1] - below[0]) / math.log(10) == pytest.approx(2 / 3 / 0.2, rel=0.1)
    _, above = wrong(DET.replace(update=cm.Vanilla(3 * eta)), [1000, 10_000], 4000)
    assert math.log10(above[1] / above[0]) == pytest.approx(2 / 3, abs=0.1)


def test_with_noise_a_value_baseline_has_a_transition_too() -> None:
    e = BERNOULLI.replace(baseline=cm.Value(), update=cm.Vanilla(2))
    share, _ = wrong(e, [100, 10_000], 8000)
    kappa = cm.exact.corner(e, 1).exponent
    assert kappa == pytest.approx(math.log(1.5) / 2)
    assert math.log10(share[1] / share[0]) / 2 == pytest.approx(-kappa, abs=0.07)
    assert share[1] > 0.08
    small, _ = wrong(e.replace(update=cm.Vanilla(0.1)), [10_000], 2000)
    assert small[0] < 0.005


@pytest.mark.parametrize(("limit", "stays"), [(0.5, True), (1.0, False)])
def test_clipped_runs_stay_or_leave(limit: float, stays: bool) -> None:
    e = DET.replace(update=cm.Vanilla(0.5), optimiser=cm.ClipNorm(limit))
    assert cm.exact.corner(e, 1).kind == ("attracts" if stays else "releases")
    share, _ = wrong(e, [1000, 10_000], 4000)
    if stays:
        assert share[0] == pytest.approx(0.155, abs=0.03)
        assert share[1] > 0.97 * share[0]
    else:
        assert share[1] < 0.003
    free, _ = wrong(e.replace(baseline=cm.Value()), [1000], 2000)
    assert free[0] == 0.0


def test_groups_end_where_their_corners_say() -> None:
    for rule, end in ((group(8, "mean(R)", STD), 1.0), (group(8, "others(R, 'mean')"), 0.0)):
        share, _ = wrong(rule, [2000], 300)
        assert share[0] == end


@pytest.mark.slow
def test_the_exponents_on_both_sides_of_the_clip() -> None:
    for limit in (0.6, 0.8):
        e = DET.replace(update=cm.Vanilla(0.5), optimiser=cm.ClipNorm(limit))
        kappa = cm.exact.corner(e, 1).exponent
        share, _ = wrong(e, [10_000, 100_000], 40_000)
        assert math.log10(share[1] / share[0]) == pytest.approx(-kappa, abs=0.1)


@pytest.mark.slow
def test_exponents_of_noisy_rewards() -> None:
    for e in (BERNOULLI.replace(update=cm.Vanilla(0.4)), group(8, "others(R, 'mean')", rate=1.0)):
        kappa = cm.exact.corner(e, 1).exponent
        share, _ = wrong(e, [2000, 50_000], 10_000)
        slope = math.log(share[1] / share[0]) / math.log(25)
        assert slope == pytest.approx(-kappa, abs=0.08), e
    assert np.isfinite(slope)


def test_many_arms_are_refused_and_not_waited_for() -> None:
    # The pairs of 200 arms take minutes.
    many = DET.replace(problem=cm.Bandit(np.linspace(1, 0, 200)))
    with pytest.raises(cm.ConfigError, match=r"experiment\.problem\.arms = 200 .*at most 100 arms"):
        cm.exact.critical_step_size(many)
    assert cm.exact.corner(many, 1).exponent is not None
