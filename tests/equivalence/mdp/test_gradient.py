"""E[estimate] is the gradient of J, by enumeration of all episodes of tiny MDPs.

Once in the oracle, once through the engine: runs of one episode are grouped by what happened in
them, and their updates are weighted by the exact probabilities instead of by how often they came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.config import Baseline, Behaviour, Estimator

# Two possible first states, two later ones, two ends: over after two steps at the latest.
LAYERS = cm.TabularMDP(
    P=[
        (0, 0, 2, 0.7, 1.0), (0, 0, 3, 0.3, -0.5), (0, 1, 4, 1.0, 0.25),
        (1, 0, 3, 1.0, 0.0), (1, 1, 2, 0.5, 2.0), (1, 1, 5, 0.5, -1.0),
        (2, 0, 4, 1.0, 1.0), (2, 1, 5, 1.0, 0.5),
        (3, 0, 4, 0.4, 0.0), (3, 0, 5, 0.6, 3.0), (3, 1, 5, 1.0, -2.0),
    ],
    gamma=0.8, start=[0.6, 0.4, 0, 0, 0, 0], terminal=[4, 5], limit=10,
)  # fmt: skip

# Loops, so that episodes are cut at the limit.
LOOPS = cm.TabularMDP(
    P=[
        (0, 0, 0, 0.5, 0.1), (0, 0, 1, 0.5, -0.2), (0, 1, 1, 1.0, 0.3),
        (1, 0, 0, 1.0, 0.5), (1, 1, 2, 0.6, 1.0), (1, 1, 1, 0.4, -0.4),
    ],
    gamma=0.9, start=0, terminal=[2], limit=4,
)  # fmt: skip

BEHAVIOURS: list[Behaviour] = [
    cm.OnPolicy(),
    cm.UniformMixture(0.5),
    cm.EpsilonGreedy(0.6),
    cm.Fixed([0.35, 0.65]),
]
Q_BASELINES: list[Baseline] = [
    cm.Constant(0.7),
    cm.Value() - 0.5,
    cm.MinVariance() + 1.0,
    cm.MinVariance("natural"),
    cm.MinVariance().relative(3.0),
]
RETURN_BASELINES: list[Baseline] = [
    cm.Constant(0.0),
    cm.Constant(-1.0),
    cm.RunningMean(initial=2.0) + 0.5,
]
ESTIMATES: list[tuple[Estimator, Baseline]] = [
    *((cm.ExactQ(discounted=True), b) for b in Q_BASELINES),
    *((cm.Reinforce(), b) for b in RETURN_BASELINES),
]
by_estimate = pytest.mark.parametrize(("estimator", "baseline"), ESTIMATES, ids=str)
by_behaviour = pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=str)


def start_of(mdp: cm.TabularMDP) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(mdp.n_states, mdp.n_actions))


def experiment(mdp: cm.TabularMDP, **parts: Any) -> cm.Experiment:
    update = parts.pop("update", cm.Vanilla(step_size=1.0))
    return cm.Experiment(mdp, cm.Softmax(start_of(mdp)), update, steps=1, **parts)


def gradient(mdp: cm.TabularMDP, *, cut: bool) -> np.ndarray:
    """d J / d theta by central differences; J of episodes that are cut, or of the whole MDP."""

    def objective(theta: np.ndarray) -> float:
        pi = reference.policy_table(mdp, theta)
        if cut:
            return reference.value_within(mdp, pi)
        return float(mdp.start_distribution @ reference.solve(mdp, pi)[0])

    theta, h = start_of(mdp), 1e-5
    found = np.zeros_like(theta)
    for index in np.ndindex(*theta.shape):
        step = np.zeros_like(theta)
        step[index] = h
        found[index] = (objective(theta + step) - objective(theta - step)) / (2.0 * h)
    return found


def expected_estimate(e: cm.Experiment) -> np.ndarray:
    mdp, theta = e.problem, reference.initial_theta(e)
    assert isinstance(mdp, cm.TabularMDP)
    pi = reference.policy_table(mdp, theta)
    Q = reference.solve(mdp, pi)[1]
    memory = reference.initial_memory(e.baseline)
    law = list(reference.enumerate_episodes(e, pi))
    assert sum(p for p, _ in law) == pytest.approx(1.0, rel=1e-14)
    return np.asarray(
        sum(p * reference.episode_direction(e, pi, Q, done, 0, memory) for p, done in law)
    )


def engine_estimate(e: cm.Experiment, runs: int = 600) -> np.ndarray:
    """sum over all episodes of probability times the engine's update for it."""
    mdp = e.problem
    assert isinstance(mdp, cm.TabularMDP)
    data = cm.run(e.replace(record=cm.Record("theta", at=[0, 1])), runs=runs, rng=11)
    key = int(data.attrs["key"], 16)
    theta = data["theta"].to_numpy()
    pi = reference.policy_table(mdp, reference.initial_theta(e))
    updates: dict[reference.Episode, np.ndarray] = {}
    for run in range(runs):
        done = reference.draw_episode(e, pi, 0, key=key, run=run)
        update = theta[run, 1] - theta[run, 0]
        np.testing.assert_array_equal(update, updates.setdefault(done, update))
    law = list(reference.enumerate_episodes(e, pi))
    assert {done for _, done in law} == set(updates)  # every possible episode came
    return np.asarray(sum(p * updates[done] for p, done in law))


@pytest.mark.parametrize("estimate", [expected_estimate, engine_estimate])
@by_estimate
@by_behaviour
def test_estimates_are_unbiased(
    estimate: Callable[[cm.Experiment], np.ndarray],
    estimator: Estimator,
    baseline: Baseline,
    behaviour: Behaviour,
) -> None:
    e = experiment(LAYERS, baseline=baseline, behaviour=behaviour, estimator=estimator)
    np.testing.assert_allclose(estimate(e), gradient(LAYERS, cut=False), rtol=0, atol=1e-6)


@by_behaviour
@pytest.mark.parametrize("baseline", RETURN_BASELINES, ids=str)
def test_reinforce_follows_the_return_of_episodes_that_are_cut(
    baseline: Baseline, behaviour: Behaviour
) -> None:
    e = experiment(LOOPS, baseline=baseline, behaviour=behaviour, estimator=cm.Reinforce())
    np.testing.assert_allclose(expected_estimate(e), gradient(LOOPS, cut=True), rtol=0, atol=1e-6)


@by_estimate
@by_behaviour
def test_natural_estimates_are_unbiased_up_to_a_shift_per_state(
    estimator: Estimator, baseline: Baseline, behaviour: Behaviour
) -> None:
    e = experiment(
        LAYERS,
        update=cm.Natural(step_size=1.0),
        baseline=baseline,
        behaviour=behaviour,
        estimator=estimator,
    )
    pi = reference.policy_table(LAYERS, start_of(LAYERS))
    want = reference.state_distribution(LAYERS, pi)[:, None] * reference.solve(LAYERS, pi)[1]
    got = expected_estimate(e)
    np.testing.assert_allclose(
        got - got.mean(-1, keepdims=True), want - want.mean(-1, keepdims=True), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("mdp", [LAYERS, LOOPS], ids=["layers", "loops"])
def test_the_expected_update_is_the_gradient(mdp: cm.TabularMDP) -> None:
    e = experiment(mdp, estimator=cm.Expected(), record=cm.Record("theta", at=[0, 1]))
    theta = cm.run(e, runs=1, rng=0)["theta"].to_numpy()[0]
    np.testing.assert_allclose(theta[1] - theta[0], gradient(mdp, cut=False), rtol=0, atol=1e-6)


def test_the_engine_cuts_episodes_as_the_oracle_does() -> None:
    e = experiment(LOOPS, baseline=0.3, behaviour=cm.Fixed([0.4, 0.6]), estimator=cm.Reinforce())
    np.testing.assert_allclose(
        engine_estimate(e, 3000), gradient(LOOPS, cut=True), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"estimator": cm.ExactQ(), "baseline": 0.5},  # no gamma^i: the paper's own estimator
        {"estimator": cm.ExactQ(discounted=True), "baseline": 0.5, "behaviour": "ignored"},
    ],
    ids=["undiscounted", "without importance weights"],
)
def test_a_biased_estimate_is_seen(wrong: dict[str, Any]) -> None:
    parts = dict(wrong)
    if parts.pop("behaviour", None):
        # Drawn from mu, weighted as if drawn from pi.
        behaving = experiment(LAYERS, behaviour=cm.Fixed([0.35, 0.65]), **parts)
        trusting = experiment(LAYERS, **parts)
        pi = reference.policy_table(LAYERS, start_of(LAYERS))
        Q = reference.solve(LAYERS, pi)[1]
        found: Any = sum(
            p * reference.episode_direction(trusting, pi, Q, done)
            for p, done in reference.enumerate_episodes(behaving, pi)
        )
    else:
        found = expected_estimate(experiment(LAYERS, **parts))
    assert np.abs(found - gradient(LAYERS, cut=False)).max() > 1e-2
