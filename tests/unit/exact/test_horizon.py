"""The law after a few updates."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal import exact, reference

BASE = cm.Experiment(
    cm.Bandit([0.9, 0.5, 0.2], noise="bernoulli"),
    cm.Softmax([0.3, 0.0, -0.2]),
    cm.Natural(cm.Decay(0.2, 0.5)),
    cm.MinVariance() - 0.5,
    cm.UniformMixture(cm.Decay(0.3, 1.0)),
    steps=4,
)


def brute(experiment: cm.Experiment, steps: int) -> list[tuple[float, np.ndarray]]:
    """All histories, one by one, through the oracle."""
    law = [(1.0, reference.initial_theta(experiment))]
    for t in range(steps):
        law = [
            (p * outcome.probability, outcome.theta)
            for p, theta in law
            for outcome in reference.one_step_law(experiment, theta, t)
        ]
    return law


@pytest.mark.parametrize(
    "experiment",
    [
        BASE,
        BASE.replace(update=cm.Vanilla(0.5), baseline=cm.Value()),
        cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Direct(), cm.Projected(0.2), 0.5, steps=4),
        cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=4),
    ],
    ids=["natural", "vanilla", "direct", "sigmoid"],
)
def test_against_all_histories(experiment: cm.Experiment) -> None:
    law, histories = exact.law_after(experiment), brute(experiment, 4)
    assert law.discarded == 0.0
    assert law.probability.sum() == pytest.approx(1.0, abs=1e-13)
    p = np.array([q for q, _ in histories])
    theta = np.array([x for _, x in histories])
    for power in (1, 2, 3):
        np.testing.assert_allclose(
            law.expectation(law.theta**power), p @ theta**power, rtol=1e-10, atol=1e-12
        )
    policy = np.array([reference.policy_probabilities(experiment.policy, x) for x in theta])
    np.testing.assert_allclose(law.expectation(law.policy**2), p @ policy**2, rtol=1e-10)


def test_equal_places_are_merged() -> None:
    e = cm.Experiment(
        cm.Bandit([0.5, 0.5], noise="bernoulli"), cm.Sigmoid(), cm.Vanilla(0.1), steps=8
    )
    merged, apart = exact.law_after(e), exact.law_after(e, 5, merge=0.0)
    assert len(merged.probability) < 3**8 // 4
    assert len(exact.law_after(e, 5).probability) <= len(apart.probability)


def test_what_is_dropped_is_reported() -> None:
    full, part = exact.law_after(BASE), exact.law_after(BASE, most_atoms=60)
    assert len(part.probability) == 60
    assert part.discarded == pytest.approx(1.0 - part.probability.sum(), abs=1e-12)
    assert part.discarded > 0.0
    # No expectation of something in [0, 1] is wrong by more than that.
    mean, short = full.expectation(full.policy), part.expectation(part.policy)
    assert (np.abs(mean - short) <= part.discarded + 1e-12).all()


def test_no_updates() -> None:
    law = exact.law_after(BASE, 0)
    np.testing.assert_array_equal(law.theta, [[0.3, 0.0, -0.2]])


def test_refusals() -> None:
    with pytest.raises(cm.ConfigError, match="steps"):
        exact.law_after(BASE, -1)
    with pytest.raises(cm.ConfigError, match="most_atoms"):
        exact.law_after(BASE, most_atoms=0)
    with pytest.raises(cm.ConfigError, match="merge"):
        exact.law_after(BASE, merge=0.5)
    with pytest.raises(cm.CombinationError, match="RunningMean"):
        exact.law_after(BASE.replace(baseline=cm.RunningMean()))
