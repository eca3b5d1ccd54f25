"""Baselines and behaviours against their definitions, on the boundary and beyond."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.config import Baseline

PI = np.array([0.5, 0.3, 0.15, 0.05])
R = np.array([1.0, 0.7, 0.2, 0.0])


def score_norms(pi: np.ndarray) -> np.ndarray:
    """||grad log pi(i)||^2 for a softmax, by its definition."""
    return np.array([np.sum((np.eye(len(pi))[i] - pi) ** 2) for i in range(len(pi))])


def test_each_baseline_is_its_definition() -> None:
    b = reference.baseline_value
    value = PI @ R
    assert b(cm.Constant(-1.5), PI, R) == -1.5
    assert b(cm.Value(), PI, R) == pytest.approx(value, rel=1e-15)
    w = PI * score_norms(PI)
    assert b(cm.MinVariance(), PI, R) == pytest.approx(w @ R / w.sum(), rel=1e-14)
    w = 1.0 / PI
    natural = cm.MinVariance(metric="natural")
    assert b(natural, PI, R) == pytest.approx(w @ R / w.sum(), rel=1e-14)
    for lam in (0.0, 0.3, -4.0):
        # The second moment of (R - b)(lambda e + e_a / pi_a) is minimal.
        updates = lam + np.diag(1.0 / PI)
        w = PI * np.sum(updates**2, axis=1)
        fixed = cm.MinVariance(metric="natural", lam=lam)
        assert b(fixed, PI, R) == pytest.approx(w @ R / w.sum(), rel=1e-13)
    assert b(cm.Maximum(), PI, R) == 1.0
    assert b(cm.Gap(), PI, R) == pytest.approx(0.85, rel=1e-15)
    assert b(cm.Gap(0.25), PI, R) == pytest.approx(0.775, rel=1e-15)


def test_value_baseline_is_b_star_minus_the_covariance_term() -> None:
    norms = score_norms(PI)
    covariance = PI @ (R * norms) - (PI @ R) * (PI @ norms)
    b_star = reference.baseline_value(cm.MinVariance(), PI, R)
    value = float(PI @ R)
    assert value == pytest.approx(b_star - covariance / (PI @ norms), rel=1e-14)


def test_the_algebra_of_baselines() -> None:
    b = reference.baseline_value
    star, value = b(cm.MinVariance(), PI, R), b(cm.Value(), PI, R)
    assert b(cm.MinVariance() + 0.5, PI, R) == pytest.approx(star + 0.5, rel=1e-15)
    assert b(0.9 * cm.Value() - 0.1, PI, R) == pytest.approx(0.9 * value - 0.1, rel=1e-14)
    mixed = cm.MinVariance() - 2 * cm.Value()
    assert b(mixed, PI, R) == pytest.approx(star - 2 * value, rel=1e-14)
    relative = cm.MinVariance().relative(0.25)
    assert b(relative, PI, R) == pytest.approx(star + 0.25 * (1.0 - star), rel=1e-14)


@pytest.mark.parametrize("pi", [[1.0], [1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1e-200, 0.0]])
@pytest.mark.parametrize(
    "baseline",
    [
        cm.MinVariance(),
        cm.MinVariance(metric="natural"),
        cm.MinVariance(metric="natural", lam=0.5),
        cm.MinVariance(metric="natural", lam=-1.0),
    ],
)
def test_minimum_variance_baselines_are_finite_on_the_boundary(
    pi: list[float], baseline: Baseline
) -> None:
    means = np.array([0.3, 0.7, 0.1])[: len(pi)]
    b = reference.baseline_value(baseline, np.array(pi), means)
    assert means.min() <= b <= means.max()


def test_gradient_baseline_of_a_certain_policy_is_its_value() -> None:
    means = np.array([0.3, 0.7, 0.1])
    certain = np.array([0.0, 1.0, 0.0])
    assert reference.baseline_value(cm.MinVariance(), certain, means) == 0.7
    # Before the others underflow it is the mean of the others, weighted by their probabilities.
    nearly = np.array([1e-30, 1.0, 3e-30])
    b = reference.baseline_value(cm.MinVariance(), nearly, means)
    assert b == pytest.approx((0.3 + 3 * 0.1) / 4, rel=1e-12)


def test_running_means() -> None:
    rewards = np.array([2.0, 4.0, 9.0])
    start = reference.initial_memory(cm.RunningMean(initial=-7.0) + 1.0)
    average = reference.remember(cm.RunningMean(initial=-7.0) + 1.0, start, rewards)
    assert (average.mean, average.count) == (5.0, 3)
    b = reference.baseline_value(cm.RunningMean(initial=-7.0) + 1.0, PI, R, average)
    assert b == 6.0
    moving = cm.RunningMean(rate=0.5, initial=0.0)
    assert reference.remember(moving, reference.initial_memory(moving), rewards).mean == 5.75
    assert reference.remember(cm.Value(), reference.Memory(), rewards) == reference.Memory()


def test_each_behaviour_is_its_definition() -> None:
    mu = reference.behaviour_probabilities
    np.testing.assert_array_equal(mu(cm.OnPolicy(), PI), PI)
    np.testing.assert_allclose(mu(cm.UniformMixture(0.2), PI), 0.8 * PI + 0.05, rtol=1e-15)
    np.testing.assert_allclose(mu(cm.EpsilonGreedy(0.2), PI), [0.85, 0.05, 0.05, 0.05], rtol=1e-15)
    tie = np.array([0.2, 0.4, 0.4])
    np.testing.assert_allclose(mu(cm.EpsilonGreedy(0.3), tie), [0.1, 0.8, 0.1], rtol=1e-15)
    np.testing.assert_array_equal(mu(cm.Fixed([0.1, 0.2, 0.3, 0.4]), PI), [0.1, 0.2, 0.3, 0.4])


def test_schedules_hold_one_value_per_update_and_keep_the_last() -> None:
    decay = cm.Decay(0.5, 0.5)
    assert reference.scheduled(0.3, 5, 10) == 0.3
    assert reference.scheduled(decay, 3, 10) == 0.25
    assert reference.scheduled(decay, 10, 10) == reference.scheduled(decay, 9, 10)
    assert reference.scheduled(decay, 0, 0) == 0.5
    assert reference.scheduled(cm.Values([0.4, 0.2]), 1, 2) == 0.2
