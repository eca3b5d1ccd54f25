"""A behaviour that lags behind: the core against the oracle, and against hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.errors import CombinationError

BASE = cm.Experiment(
    cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli"),
    cm.Softmax([0, 1, 0.5]),
    cm.Vanilla(0.5),
    cm.Value(),
    cm.Snapshot(4),
    steps=14,
    record=cm.Record("theta", "policy", "action", "reward", every=1),
)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"behaviour": cm.Snapshot(1)},
        {"behaviour": cm.Snapshot(100)},
        {"update": cm.Natural(0.02)},
        {"estimator": cm.OneSample(3)},
        {"estimator": cm.OneSample(3, weight=cm.Tapered())},
        {"estimator": cm.Group(4, scale="std", weight=cm.Clip(0.2))},
        {"optimiser": cm.Momentum(0.5)},
        {"policy": cm.Escort([0.5, 1, 0.7], 3)},
        {"policy": cm.Direct(), "update": cm.Projected(0.02)},
        {"problem": cm.Bandit([0.9, 0.1], "bernoulli"), "policy": cm.Sigmoid()},
        {"problem": cm.Bandit(np.linspace(0.9, 0, 10), "bernoulli"), "policy": cm.Softmax()},
        {
            "problem": cm.Bandit(np.linspace(0.9, 0, 80), "bernoulli"),
            "policy": cm.Softmax(),
            "update": cm.Natural(0.01),
        },
    ],
    ids=lambda changes: repr(changes)[:50],
)
def test_the_engine_follows_the_oracle(changes: dict[str, Any]) -> None:
    exp = BASE.replace(**changes)
    data = cm.run(exp, runs=5, rng=1)
    key = int(data.attrs["key"], 16)
    for run in range(5):
        want = reference.simulate(exp, key=key, run=run)
        drawn = want["action"]
        np.testing.assert_array_equal(data["action"][run].to_numpy().reshape(drawn.shape), drawn)
        theta = data["theta"][run].to_numpy().reshape(want["theta"].shape)
        np.testing.assert_allclose(theta, want["theta"], rtol=1e-9, atol=1e-10)


def test_the_ratio_is_to_the_policy_that_drew() -> None:
    data = cm.run(BASE, runs=20, rng=3)
    theta, pi, action, reward = (
        data[name].to_numpy() for name in ("theta", "policy", "action", "reward")
    )
    r = np.array([0.9, 0.6, 0.1])
    for run in range(20):
        for t in range(BASE.steps):
            a, mu, now = int(action[run, t]), pi[run, t - t % 4], pi[run, t]
            A = reward[run, t] - now @ r
            g = now[a] / mu[a] * A * (np.eye(3)[a] - now)
            np.testing.assert_allclose(theta[run, t + 1], theta[run, t] + 0.5 * g, atol=1e-11)


def test_the_same_bits_however_it_is_run() -> None:
    # More runs than one block has lanes: the next block begins anew.
    x = cm.run(BASE, runs=300, rng=1, threads=1)["theta"].to_numpy()
    y = cm.run(BASE, runs=300, rng=1, threads=2, isa="generic")["theta"].to_numpy()
    assert x.tobytes() == y.tobytes()


def test_refusals() -> None:
    maze = cm.Experiment(
        cm.gridworld("SA", goals={"A": 1}),
        cm.Softmax(),
        cm.Natural(0.1),
        estimator=cm.ExactQ(),
        steps=3,
    )
    with pytest.raises(CombinationError, match="with an MDP"):
        maze.replace(behaviour=cm.Snapshot(2))
    with pytest.raises(CombinationError, match="not a function of the policy"):
        cm.exact.one_step_law(BASE)
    with pytest.raises(CombinationError):
        cm.theory.off_policy_bound(BASE.replace(update=cm.Natural(0.1)), 10)
