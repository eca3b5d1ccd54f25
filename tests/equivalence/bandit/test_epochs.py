"""Several epochs of one batch: the unrolled program against the oracle, and against hand."""

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
    steps=8,
    estimator=cm.Group(4, scale="std", epochs=3, weight=cm.Clip(0.1, 0.15)),
    record=cm.Record("theta", "action", "reward", every=1),
)


def assert_like_the_oracle(exp: cm.Experiment, runs: int = 6) -> None:
    data = cm.run(exp, runs=runs, rng=2)
    theta, action, reward = (data[name].to_numpy() for name in ("theta", "action", "reward"))
    for run in range(runs):
        want = reference.simulate(exp, key=0, run=0, actions=action[run], rewards=reward[run])
        np.testing.assert_allclose(theta[run], want["theta"], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"update": cm.Natural(0.05)},
        {"estimator": cm.Group(4, centre="leave_one_out", epochs=2)},
        {"estimator": cm.Group(3, centre=None, epochs=4), "baseline": cm.Value()},
        {"estimator": cm.OneSample(1, epochs=5, weight=cm.Delightful(1)), "baseline": cm.Value()},
        {"estimator": cm.OneSample(2, implicit=0.1, epochs=3)},
        {"optimiser": cm.Adam(eps=1e-3)},
        {"optimiser": cm.Momentum(0.5), "update": cm.Natural(0.02)},
        {"optimiser": cm.ClipNorm(0.1)},
        {"policy": cm.Escort([0.5, 1, 0.7], 3)},
        {"regulariser": cm.KL("start", 0.3, form="k3")},
        {"regulariser": cm.Entropy(0.3)},
        {"update": cm.Natural(0.05, entropy=0.3)},
        {"behaviour": cm.UniformMixture(0.3)},
        {"behaviour": cm.Snapshot(3)},
        {"behaviour": cm.Snapshot(2), "update": cm.Natural(0.05), "optimiser": cm.Momentum(0.5)},
        {"update": cm.update("A * rho * score / (1 + t)")(0.5), "estimator": cm.Group(4, epochs=3)},
        {"baseline": cm.Critic(0.1), "estimator": cm.Group(4, centre=None, epochs=3)},
        {"problem": cm.Bandit(np.linspace(0.9, 0, 10), "bernoulli"), "policy": cm.Softmax()},
    ],
    ids=lambda changes: repr(changes)[:60],
)
def test_epochs_are_those_of_the_oracle(changes: dict[str, Any]) -> None:
    assert_like_the_oracle(BASE.replace(**changes))


def test_epochs_by_hand() -> None:
    data = cm.run(BASE, runs=1, rng=5)
    theta, action, reward = (data[name].to_numpy()[0] for name in ("theta", "action", "reward"))
    for t in range(BASE.steps):
        a, R, x = action[t], reward[t], theta[t].copy()
        A = (R - R.mean()) / (R.std() or 1.0)
        old = np.exp(x) / np.exp(x).sum()
        for _ in range(3):
            pi = np.exp(x) / np.exp(x).sum()
            rho = (pi / old)[a]
            outside = np.where(A > 0, rho > 1.15, rho < 0.9)
            w = np.where(outside, 0.0, rho)
            x = x + 0.5 * ((w * A)[:, None] * (np.eye(3)[a] - pi)).mean(axis=0)
        np.testing.assert_allclose(theta[t + 1], x, rtol=1e-11, atol=1e-12)


def test_one_epoch_is_none_at_all() -> None:
    one = BASE.replace(estimator=cm.Group(4, scale="std", epochs=1))
    clipped = BASE.replace(estimator=cm.Group(4, scale="std", epochs=1, weight=cm.Clip(0.1)))
    x, y = (cm.run(exp, runs=50, rng=1)["theta"].to_numpy() for exp in (one, clipped))
    assert x.tobytes() == y.tobytes()
    many = cm.run(one.replace(**{"estimator.epochs": 2}), runs=50, rng=1)["theta"].to_numpy()
    assert not np.allclose(x, many)


def test_the_same_bits_in_any_chunks() -> None:
    x = cm.run(BASE, runs=40, rng=1, threads=1)["theta"].to_numpy()
    y = cm.run(BASE, runs=40, rng=1, threads=2, isa="generic")["theta"].to_numpy()
    assert x.tobytes() == y.tobytes()


def test_refusals() -> None:
    for changes, words in (
        ({"update": cm.Vanilla(cm.Decay(1, 0.5))}, "update.step_size"),
        ({"behaviour": cm.Fixed([0.2, 0.3, 0.5])}, "OnPolicy or Snapshot with more than one epoch"),
        ({"policy": cm.Direct(), "estimator": cm.OneSample(2, epochs=2)}, "use Softmax"),
        ({"update": cm.Vanilla(0.1, entropy=cm.Decay(1, 0.5))}, "update.entropy"),
        ({"estimator": cm.OneSample(2, implicit=cm.Decay(1, 0.5), epochs=2)}, "implicit"),
    ):
        with pytest.raises(CombinationError, match=words):
            BASE.replace(**changes)
    with pytest.raises(CombinationError, match=r"estimator\.epochs = 3"):
        cm.exact.one_step_law(BASE)
