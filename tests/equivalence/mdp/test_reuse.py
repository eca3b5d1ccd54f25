"""Episodes that are used again: epochs, snapshots, clipped ratios, and centres with weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference


def random_mdp(seed: int) -> cm.TabularMDP:
    """Four states of three actions that lead anywhere, and an end."""
    rng = np.random.default_rng(seed)
    P, R = rng.dirichlet(np.full(5, 0.6), size=(5, 3)), rng.normal(size=(5, 3, 5))
    return cm.TabularMDP(P, R, 0.9, [0.5, 0.5, 0, 0, 0], [4], 12)


RANDOM = random_mdp(14)
BASE = cm.Experiment(
    RANDOM, cm.Softmax(), cm.Vanilla(0.4), estimator=cm.Group(samples=4, scale="std"), steps=5,
    record=cm.Record("return", "theta", "length", "goal", "visits", "action_entropy", every=1),
)  # fmt: skip
MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9, slip=0.2, limit=15)
CLIP = cm.Clip(0.1, 0.15)


def group(**options: Any) -> cm.Experiment:
    return BASE.replace(estimator=cm.Group(**{"samples": 4, "scale": "std", **options}))


def old(every: int, **options: Any) -> cm.Experiment:
    return group(**options).replace(behaviour=cm.Snapshot(every), steps=7)


TASKS = cm.contexts([cm.Bandit([1, 0.5, 0]), cm.Bandit([0, 0.2, 0.6], noise="bernoulli")])
SEEN = cm.weight("where(A > 0, minimum(rho, 2), mu[a] + 0.1 * t)")

CASES: dict[str, cm.Experiment] = {
    "epochs": group(epochs=3),
    "clipped": group(epochs=3, weight=CLIP),
    "clipped in a maze": group(epochs=3, weight=CLIP).replace(problem=MAZE),
    "natural": group(epochs=2, weight=CLIP).replace(update=cm.Natural(0.05)),
    "a formula of everything": group(epochs=3, weight=SEEN),
    "update": group(epochs=2).replace(update=cm.update("rho * A * score - 0.1 * mu")(1)),
    "update of theta": group(epochs=2).replace(update=cm.update("rho * A * score - theta / 9")(1)),
    "adam": group(epochs=3, weight=CLIP).replace(optimiser=cm.Adam(), update=cm.Vanilla(0.1)),
    "kl": group(epochs=2, weight=CLIP).replace(regulariser=cm.KL("start", 0.2, form="k3")),
    "entropy": group(epochs=2).replace(regulariser=cm.Entropy(0.1)),
    "escort": group(epochs=3, weight=CLIP).replace(policy=cm.Escort([1.0, 2.0, 1.5], power=2)),
    "running mean": group(epochs=2, scale=None, centre=None).replace(baseline=cm.RunningMean()),
    "critic": group(epochs=2, scale=None, centre=None).replace(baseline=cm.Critic(0.3, 1)),
    "formula": group(epochs=2, scale=None, centre=None).replace(
        baseline=cm.baseline("max(pi) + mu[0] + 0.1 * t")
    ),
    "one episode": group(epochs=3, samples=1, scale=None, centre=None, weight=CLIP),
    "tasks": group(epochs=2, starts="each", scale="batch_std", weight=CLIP).replace(problem=TASKS),
    "snapshot": old(3),
    "snapshot, clipped": old(3, weight=CLIP),
    "snapshot in a maze": old(2, weight=CLIP).replace(problem=MAZE),
    "snapshot, natural": old(2).replace(update=cm.Natural(0.05)),
    "snapshot and epochs": old(2, epochs=3, weight=CLIP),
    "snapshot for ever": old(100, weight=cm.Tapered()),
    "snapshot, update": old(2).replace(update=cm.update("minimum(rho, 2) * A * score")(0.5)),
    "snapshot, adam": old(3).replace(optimiser=cm.Adam(), update=cm.Vanilla(0.2)),
    "snapshot, critic": old(3, scale=None, centre=None).replace(baseline=cm.Critic(0.3, 1)),
    "snapshot, reinforce": old(3).replace(estimator=cm.Reinforce(weight=CLIP), baseline=0.2),
    "weighted": group(centre="weighted"),
    "weighted, no scale": group(centre="weighted", scale=None).replace(baseline=cm.RunningMean()),
    "weighted of the others": group(centre="weighted_leave_one_out", scale=None),
    "weighted in a maze": group(centre="weighted_leave_one_out").replace(problem=MAZE),
    "weighted tasks": group(centre="weighted", starts="each", scale="batch_std").replace(
        problem=TASKS
    ),
    "weighted, of everything": old(2, centre="weighted", epochs=2, weight=CLIP),
}  # fmt: skip


def run(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


def pairs(e: cm.Experiment) -> Any:
    return itertools.pairwise(reference.run_mdp(e, key=5, run=0))


def ratio_clipped(rho: float, A: float) -> float:
    return 0.0 if (A > 0 and rho > 1.15) or (A < 0 and rho < 0.9) else rho


@pytest.mark.parametrize(("every", "epochs"), [(1, 3), (3, 1), (2, 2)])
def test_the_oracle_by_hand(every: int, epochs: int) -> None:
    """PPO: A stays, the ratio of every action is that of the policy by now to the one that drew."""
    e = old(every, centre="leave_one_out", scale=None, epochs=epochs, weight=CLIP)
    mdp, clipped, drawn = RANDOM, 0, np.zeros(0)
    for now, then in pairs(e):
        drawn = now.pi if now.t % every == 0 else drawn
        R = np.array([reference.returned(mdp, one) for one in now.episodes])
        theta = now.theta
        for _ in range(epochs):
            pi, g = reference.policy_table(mdp, theta), np.zeros_like(theta)
            for j, episode in enumerate(now.episodes):
                A = R[j] - np.delete(R, j).mean()
                for s, a in zip(episode.states, episode.actions, strict=True):
                    w = ratio_clipped(pi[s, a] / drawn[s, a], A)
                    clipped += w == 0.0
                    g[s] += w * A * (np.eye(3)[a] - pi[s]) / 4
            theta = theta + 0.4 * g
        np.testing.assert_allclose(then.theta, theta, rtol=1e-12, atol=1e-12)
    assert clipped > 20


def test_weighted_centres_by_hand() -> None:
    """v of an episode is the squared length of its score, a table of states and actions."""
    for now, then in pairs(group(centre="weighted_leave_one_out", scale=None)):
        R = np.array([reference.returned(RANDOM, one) for one in now.episodes])
        scores = np.zeros((4, *now.theta.shape))
        for score, one in zip(scores, now.episodes, strict=True):
            for s, a in zip(one.states, one.actions, strict=True):
                score[s] += np.eye(3)[a] - now.pi[s]
        v = (scores**2).sum(axis=(1, 2))
        b = np.array([np.delete(v, j) @ np.delete(R, j) / np.delete(v, j).sum() for j in range(4)])
        g = np.mean((R - b)[:, None, None] * scores, axis=0)
        np.testing.assert_allclose(then.theta, now.theta + 0.4 * g, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str, check_by_oracle: Any) -> None:
    check_by_oracle(CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str, check_bits: Any) -> None:
    check_bits(CASES[case])


@pytest.mark.parametrize("update", [cm.Vanilla(0.4), cm.Natural(0.1)])
@pytest.mark.parametrize("problem", [RANDOM, MAZE])
@pytest.mark.parametrize("options", [{}, {"samples": 1, "centre": None, "scale": None}])
def test_what_is_on_the_policy(
    update: cm.config.Update, problem: cm.TabularMDP, options: dict[str, Any]
) -> None:
    """One epoch with clipping is none, and a snapshot of every update is the policy: every bit."""
    plain = group(**options).replace(update=update, problem=problem)
    want = run(plain)
    clipped = run(plain.replace(**{"estimator.weight": CLIP}))
    snapshot = run(plain.replace(behaviour=cm.Snapshot(1)))
    both = run(plain.replace(**{"behaviour": cm.Snapshot(1), "estimator.weight": CLIP}))
    for other in (clipped, snapshot, both):
        assert want.equals(other)
    assert not want.equals(run(plain.replace(behaviour=cm.Snapshot(2))))
    epochs = plain.replace(**{"estimator.epochs": 2, "estimator.weight": cm.Tapered()})
    assert run(epochs).equals(run(epochs.replace(behaviour=cm.Snapshot(1))))


def test_a_bandit_is_an_mdp_of_one_state() -> None:
    """The same draws, so the same runs."""
    once = cm.TabularMDP(
        [(0, a, 1, 1.0, r) for a, r in enumerate([1.0, 0.7, 0.0])], gamma=0.5, start=0, terminal=[1]
    ).replace(limit=1)
    rules: list[dict[str, Any]] = [
        {"estimator": cm.Group(5, scale="std", epochs=3, weight=CLIP)},
        {"estimator": cm.Group(5, "leave_one_out", epochs=2), "optimiser": cm.ClipNorm(0.3)},
        {"estimator": cm.Group(5, "median", weight=CLIP), "behaviour": cm.Snapshot(3)},
        {"estimator": cm.Group(4, epochs=2), "behaviour": cm.Snapshot(4)},
        {"estimator": cm.Group(5, "weighted")},
        {"estimator": cm.Group(5, "weighted_leave_one_out", scale="std")},
        {"estimator": cm.Group(5, epochs=3), "regulariser": cm.KL("uniform", 0.1, form="k3")},
    ]
    for update, rule in itertools.product((cm.Natural(0.1), cm.Vanilla(0.5)), rules):
        bandit = cm.Experiment(
            cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 1, 2]), update, steps=20,
            record=cm.Record("theta", every=1), **rule,
        )  # fmt: skip
        want = run(bandit)["theta"].values
        got = run(bandit.replace(problem=once))["theta"].values[:, :, 0]
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-11, err_msg=str(rule))


def test_scores_that_cancel_have_no_weight() -> None:
    """Both actions once in the same state: an episode without a score, and a group of only such."""
    loop = cm.TabularMDP(
        [(0, 0, 0, 1.0, 1.0), (0, 1, 0, 1.0, 0.0), (1, 0, 2, 1.0, 0.0), (1, 1, 2, 1.0, 0.0)],
        gamma=0.5, start=0, terminal=[2], limit=2,
    )  # fmt: skip
    for centre in ("weighted", "weighted_leave_one_out"):
        e = group(centre=centre, samples=2, scale=None).replace(problem=loop, steps=1)
        data = run(e, runs=64)
        key = int(data.attrs["key"], 16)
        kinds = set()
        for one in range(64):
            first = next(iter(reference.run_mdp(e, key=key, run=one)))
            kinds.add(tuple(sorted(sum(x.actions) for x in first.episodes)))
            want = reference.simulate(e, key=key, run=one)["theta"]
            np.testing.assert_allclose(data["theta"].values[one], want, atol=1e-14)
        assert {(1, 1), (0, 1), (1, 2)} <= kinds


def test_mu_is_recorded_as_it_draws() -> None:
    mu = cm.quantity("sum(mu * pi) - sum(pi * pi)", name="apart")
    data = run(group(epochs=3).replace(record=cm.Record(mu, every=1)))
    np.testing.assert_allclose(data["apart"], 0.0, atol=1e-15)
