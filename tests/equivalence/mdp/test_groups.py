"""Groups of episodes: by hand, by the oracle, next to what they equal, every way of running."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core, reference

MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9, slip=0.2, limit=15)
BASE = cm.Experiment(
    MAZE, cm.Softmax(), cm.Vanilla(0.2), estimator=cm.Group(samples=4), steps=12,
    record=cm.Record("return", "theta", "length", "goal", "visits", "action_entropy", every=1),
)  # fmt: skip
LOTTERY = cm.TabularMDP(
    [(0, 0, 1, 0.5, 0.0), (0, 0, 1, 0.3, 2.0), (0, 0, 0, 0.2, -1.0),
     (0, 1, 1, 1.0, 0.3), (1, 0, 0, 1.0, 0.1), (1, 1, 2, 1.0, 1.0)],
    gamma=0.8, start=[0.5, 0.5, 0.0], terminal=[2], limit=12,
)  # fmt: skip
PLAIN = cm.Group(samples=3, centre=None)


def group(**options: Any) -> cm.Experiment:
    return BASE.replace(estimator=cm.Group(**{"samples": 4, **options}))


CASES: dict[str, cm.Experiment] = {
    "mean": BASE,
    "leave one out": group(centre="leave_one_out"),
    "median": group(centre="median", samples=5),
    "median of an even number": group(centre="median", samples=6),
    "std": group(scale="std"),
    "std, one less": group(scale="std", ddof=1, eps=1e-3, centre="leave_one_out"),
    "std alone": group(scale="std", centre=None).replace(baseline=cm.RunningMean(0.1, initial=1)),
    "two": group(samples=2, scale="std"),
    "no group": group(samples=1, centre=None),
    "natural": group(scale="std").replace(update=cm.Natural(0.02)),
    "four rooms": group(scale="std").replace(
        problem=cm.maps.four_rooms().replace(limit=40), steps=4
    ),
    "many starts": group(scale="std").replace(problem=LOTTERY),
    "constant": BASE.replace(estimator=PLAIN, baseline=0.3),
    "running mean": BASE.replace(estimator=PLAIN, baseline=cm.RunningMean()),
    "critic": BASE.replace(estimator=PLAIN, baseline=cm.Critic(0.2) - 0.1),
    "formula": BASE.replace(estimator=PLAIN, baseline=cm.baseline("max(pi) + 0.1 * theta[0]")),
    "weight": group(scale="std", weight=cm.weight("where(A > 0, 1, R + b + 0.5 * pi[a])")).replace(
        baseline=0.25
    ),
    "update": group(scale="std").replace(update=cm.update("A * score - 0.1 * theta * R")(0.2)),
    "adam": group(scale="std").replace(optimiser=cm.Adam(), update=cm.Vanilla(0.05)),
    "clipped": group(centre="leave_one_out").replace(optimiser=cm.ClipNorm(0.5)),
    "entropy": group(scale="std").replace(regulariser=cm.Entropy(0.1)),
    "kl": group().replace(regulariser=cm.KL([0.4, 0.3, 0.2, 0.1], 0.1, form="k3")),
}


COINS = [cm.Bandit(p, noise="bernoulli") for p in ([0.9, 0.5, 0.1], [0.3, 0.2, 0.1])]
LADDER = cm.Bandit.from_table([[(0, 0.5), (2, 0.5)], [(0.3, 1.0)], [(-1, 0.25), (1, 0.75)]])
TASKS = BASE.replace(problem=cm.contexts([*COINS, cm.Bandit([1, 2, 3]), LADDER]))


def tasks(**options: Any) -> cm.Experiment:
    return TASKS.replace(estimator=cm.Group(**{"samples": 3, "starts": "each", **options}))


CASES |= {
    "tasks": tasks(),
    "tasks, std": tasks(scale="std"),
    "tasks, std of the batch": tasks(scale="batch_std", centre="leave_one_out", eps=1e-3, ddof=1),
    "tasks, scale alone": tasks(scale="batch_std", centre=None).replace(baseline=cm.RunningMean()),
    "tasks, nothing": tasks(centre=None).replace(baseline=cm.Critic(0.1)),
    "tasks, clipped": tasks(scale="batch_std").replace(optimiser=cm.ClipNorm(0.1)),
    "tasks that are drawn": tasks(starts="drawn", scale="batch_std"),
    "starts of a maze": tasks(scale="batch_std").replace(problem=LOTTERY, update=cm.Natural(0.05)),
}


def run(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


def test_the_oracle_by_hand() -> None:
    """GRPO: the mean over the episodes of A, which is the same in all steps, times the scores."""
    e = CASES["std, one less"]
    moments = list(reference.run_mdp(e, key=5, run=0))
    for now, then in itertools.pairwise(moments):
        assert len(set(now.episodes)) > 1
        R = np.array([sum(0.9**i * r for i, r in enumerate(x.rewards)) for x in now.episodes])
        g = np.zeros_like(now.theta)
        for j, episode in enumerate(now.episodes):
            A = (R[j] - np.delete(R, j).mean()) / (R.std(ddof=1) + 1e-3)
            for s, a in zip(episode.states, episode.actions, strict=True):
                g[s] += A * (np.eye(4)[a] - now.pi[s]) / 4
        np.testing.assert_allclose(then.theta, now.theta + 0.2 * g, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str) -> None:
    e = CASES[case]
    data = run(e, runs=2)
    key = int(data.attrs["key"], 16)
    for one in range(2):
        want = reference.simulate(e, key=key, run=one)
        for name in ("length", "goal", "visits"):
            np.testing.assert_array_equal(data[name][one], want[name], err_msg=name)
        for name in ("theta", "return", "action_entropy"):
            got = data[name].values[one]
            np.testing.assert_allclose(got, want[name], rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str) -> None:
    first = run(CASES[case])
    isas = [{"isa": isa} for isa in _core.available()["isas"]]
    for options in (*isas, {"threads": 3}, {"chunk": 7}):
        assert first.equals(run(CASES[case], **options)), options


def test_a_group_of_one_is_reinforce() -> None:
    for baseline in (0.25, cm.RunningMean(0.1), cm.Critic(0.1)):
        one = run(CASES["no group"].replace(baseline=baseline))
        other = run(BASE.replace(estimator=cm.Reinforce(), baseline=baseline))
        np.testing.assert_allclose(one["theta"], other["theta"], rtol=1e-12, atol=1e-12)


def test_a_bandit_is_an_mdp_of_one_state() -> None:
    """The same draws, so the same runs, whatever the centre and the scale."""
    once = cm.TabularMDP(
        [(0, a, 1, 1.0, r) for a, r in enumerate([1.0, 0.7, 0.0])], gamma=0.5, start=0, terminal=[1]
    ).replace(limit=1)
    for centre in ("mean", "leave_one_out", "median", None):
        for scale in (None, "std"):
            bandit = cm.Experiment(
                cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 1, 2]), cm.Natural(0.1), steps=30,
                baseline=cm.Critic(0.1, 1), record=cm.Record("theta", every=1),
                estimator=cm.Group(samples=5, centre=centre, scale=scale),
            )  # fmt: skip
            # A centre takes no critic of states, for an episode has many.
            mdp = bandit.replace(problem=once, baseline=cm.RunningMean(0.1, 1))
            want, got = run(bandit)["theta"].values, run(mdp)["theta"].values[:, :, 0]
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def test_two_binary_returns_divided_by_their_deviation_are_leave_one_out() -> None:
    """Bit for bit."""
    coins = cm.TabularMDP(
        [(0, a, 1, p, r) for a, q in enumerate((0.9, 0.4)) for p, r in ((q, 1.0), (1 - q, 0.0))],
        start=0, terminal=[1],
    )  # fmt: skip
    record = {"problem": coins, "record": cm.Record("theta", "return", every=3)}
    rloo = run(group(samples=2, centre="leave_one_out").replace(**record))
    grpo = run(group(samples=2, scale="std").replace(**record))
    assert set(np.unique(rloo["return"])) == {0.0, 1.0}
    assert rloo.equals(grpo)


def test_tasks_are_bandits_of_their_own() -> None:
    """A task learns what a bandit does with the same advantages, at its share of the step size."""
    e = tasks(scale="std")
    for now, then in zip(
        *([*reference.run_mdp(e, key=3, run=0)][i:] for i in (0, 1)), strict=False
    ):
        assert [x.states[0] for x in now.episodes] == [s for s in range(4) for _ in range(3)]
        for s in range(4):
            own = now.episodes[3 * s : 3 * s + 3]
            R = np.array([x.rewards[0] for x in own])
            a = np.array([x.actions[0] for x in own])
            A = reference.group_advantages(cm.Group(samples=3, scale="std"), R, a, now.pi[s])
            g = np.mean([w * (np.eye(3)[i] - now.pi[s]) for w, i in zip(A, a, strict=True)], axis=0)
            np.testing.assert_allclose(then.theta[s], now.theta[s] + 0.2 * g / 4, atol=1e-13)


def test_the_batch_has_one_deviation() -> None:
    e = tasks(scale="batch_std")
    for now, then in zip(
        *([*reference.run_mdp(e, key=3, run=0)][i:] for i in (0, 1)), strict=False
    ):
        R = np.array([x.rewards[0] for x in now.episodes]).reshape(4, 3)
        A = (R - R.mean(axis=1, keepdims=True)) / R.std()
        g = np.zeros_like(now.theta)
        for episode, w in zip(now.episodes, A.ravel(), strict=True):
            (s,), (a,) = episode.states, episode.actions
            g[s] += w * (np.eye(3)[a] - now.pi[s]) / 12
        np.testing.assert_allclose(then.theta, now.theta + 0.2 * g, atol=1e-13)


def test_equal_returns_move_nothing() -> None:
    """Whatever the rounding: every episode returns 0.1 + 0.09 + 0.081."""
    line = cm.TabularMDP(
        [(s, a, s + 1, 1.0, 0.1) for s in range(3) for a in range(2)],
        gamma=0.9, start=0, terminal=[3],
    )  # fmt: skip
    for options in ({}, {"centre": "leave_one_out"}, {"scale": "std"}, {"centre": "median"}):
        data = run(group(samples=3, **options).replace(problem=line))
        assert (data["theta"] == 0.0).all()


def test_leave_one_out_is_unbiased_and_the_mean_is_shorter() -> None:
    """E[g] over all pairs of episodes: the gradient of REINFORCE, and half of it."""
    maze = cm.gridworld("S.A", goals={"A": 1.0}, gamma=0.8, limit=2)
    e = BASE.replace(problem=maze, policy=cm.Softmax([0.3, -0.2, 0.1, 0.0]))
    theta = np.broadcast_to([0.3, -0.2, 0.1, 0.0], (3, 4))
    pi = reference.policy_table(maze, theta)
    law = list(reference.enumerate_episodes(e, pi))

    def mean(estimator: Any, several: int) -> Any:
        rule = e.replace(estimator=estimator)
        g = np.zeros((3, 4))
        for p, one in law:
            for q, two in law if several == 2 else [(1.0, one)]:
                episodes = (one, two)[:several]
                g += p * q * reference.direction_after_episodes(rule, theta, 0, episodes)
        return g

    want = mean(cm.Reinforce(), 1)
    assert np.abs(want).max() > 0.01
    for centre, factor in (("leave_one_out", 1.0), ("mean", 0.5)):
        found = mean(cm.Group(samples=2, centre=centre), 2)
        np.testing.assert_allclose(found, factor * want, rtol=1e-12, atol=1e-14)


def test_what_needs_too_much_memory_is_named() -> None:
    with pytest.raises(cm.ConfigError, match=r"samples = 1073741824 .* fits into memory"):
        run(group(samples=2**30, centre=None), runs=1)


def test_episodes_of_an_update_are_counted_with_their_starts() -> None:
    with pytest.raises(cm.CombinationError, match="episodes of an update"):
        tasks(samples=2**31 - 1)
