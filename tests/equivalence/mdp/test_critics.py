"""Baselines that learn in every state of an MDP: by hand, by the oracle, every way of running."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import committal as cm
from committal import _core, reference
from committal.errors import NonFiniteError

Floats = npt.NDArray[np.float64]

MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9, slip=0.2, limit=15)
BASE = cm.Experiment(
    MAZE, cm.Softmax(), cm.Vanilla(0.2), cm.Critic(0.3, 0.5), estimator=cm.ExactQ(), steps=20,
    record=cm.Record("return", "theta", "length", every=1),
)  # fmt: skip
ROOMS = BASE.replace(problem=cm.maps.four_rooms().replace(limit=100), steps=12)
# One pair may lead to one state with several rewards.
LOTTERY = cm.TabularMDP(
    [(0, 0, 1, 0.5, 0.0), (0, 0, 1, 0.3, 2.0), (0, 0, 0, 0.2, -1.0),
     (0, 1, 1, 1.0, 0.3), (1, 0, 0, 1.0, 0.1), (1, 1, 2, 1.0, 1.0)],
    gamma=0.8, start=[0.5, 0.5, 0.0], terminal=[2], limit=12,
)  # fmt: skip
#: Q(s, a), learned from what the policy will do: expected SARSA.
SARSA = cm.baseline(
    "sum(pi * q)",
    state={"q": (0.25, "q + rate * sum(onehot(a) * (R - q[a]), over='samples')")},
    rate=0.4,
)

CASES: dict[str, cm.Experiment] = {
    "exact": BASE,
    "reinforce": BASE.replace(estimator=cm.Reinforce()),
    "four rooms": ROOMS,
    "four rooms, returns": ROOMS.replace(estimator=cm.Reinforce(), update=cm.Natural(0.01)),
    "means": BASE.replace(baseline=cm.Critic(None, 3)),
    "less": BASE.replace(baseline=0.5 * cm.Critic(0.3, 0.5) - 0.25),
    "and the value": BASE.replace(baseline=0.5 * cm.Critic(0.3) + 0.5 * cm.Value()),
    "and a formula": BASE.replace(baseline=cm.Critic(0.3) + 0.5 * cm.baseline("max(r) - sum(pi)")),
    "and a mean": BASE.replace(
        baseline=0.5 * cm.Critic(0.3) + 0.5 * cm.RunningMean(0.1), estimator=cm.Reinforce()
    ),
    "q": BASE.replace(baseline=SARSA),
    "q, off the policy": BASE.replace(baseline=SARSA, behaviour=cm.UniformMixture(0.4)),
    "lottery": BASE.replace(problem=LOTTERY),
    "lottery, off the policy": BASE.replace(
        problem=LOTTERY, behaviour=cm.UniformMixture(0.4), estimator=cm.Reinforce()
    ),
    "everything": BASE.replace(
        baseline=cm.baseline(
            "v + 0.1 * max(theta) - mu[0] / (t + 1)",
            state={"v": (1.0, "0.9 * v + 0.1 * max(R) - 0.001 * t / (K + N) + 0.1 * mean(pi[a])")},
        ),
        behaviour=cm.UniformMixture(0.4),
    ),
    "weight": BASE.replace(estimator=cm.ExactQ(weight=cm.weight("where(A > 0, 1, 0.5 * R)"))),
    "update": BASE.replace(update=cm.update("A * score + 0.1 * (r - R) * pi - 0.01 * theta")(0.2)),
    "adam": BASE.replace(optimiser=cm.Adam(), update=cm.Vanilla(0.05)),
}


def run(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


def td_by_hand(e: cm.Experiment, key: int, run: int, beta: float, initial: float) -> list[Floats]:
    """V of every state after every episode: the rule itself, in four lines."""
    mdp, V, found = e.problem, np.full(e.problem.n_states, initial), []
    assert isinstance(mdp, cm.TabularMDP)
    V[list(mdp.terminal)] = 0.0
    for now in reference.run_mdp(e, key=key, run=run):
        found.append(V.copy())
        after = (*now.episode.states[1:], now.episode.last)
        for s, r, then in zip(now.episode.states, now.episode.rewards, after, strict=True):
            V[s] += beta * (r + mdp.gamma * V[then] - V[s])
    return found


@pytest.mark.parametrize("case", ["exact", "lottery", "four rooms"])
def test_the_oracle_by_hand(case: str) -> None:
    """theta moves by Q - V as V was before the episode."""
    e, mdp = CASES[case], CASES[case].problem
    assert isinstance(mdp, cm.TabularMDP)
    moments = list(reference.run_mdp(e, key=5, run=0))
    for now, then, V in zip(moments, moments[1:], td_by_hand(e, 5, 0, 0.3, 0.5), strict=False):
        Q, g = reference.solve(mdp, now.pi)[1], np.zeros_like(now.theta)
        for s, a in zip(now.episode.states, now.episode.actions, strict=True):
            g[s] += (Q[s, a] - V[s]) * (np.eye(mdp.n_actions)[a] - now.pi[s])
        np.testing.assert_allclose(then.theta, now.theta + 0.2 * g, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str) -> None:
    e = CASES[case]
    data = run(e, runs=2)
    key = int(data.attrs["key"], 16)
    for one in range(2):
        want = reference.simulate(e, key=key, run=one)
        np.testing.assert_array_equal(data["length"][one], want["length"])
        for name in ("theta", "return"):
            np.testing.assert_allclose(
                data[name].values[one], want[name], rtol=1e-11, atol=1e-12, err_msg=name
            )


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str) -> None:
    first = run(CASES[case])
    isas = [{"isa": isa} for isa in _core.available()["isas"]]
    for options in (*isas, {"threads": 3}, {"chunk": 7}):
        assert first.equals(run(CASES[case], **options)), options


def test_a_bandit_is_an_mdp_of_one_state() -> None:
    """There the critic is the running mean of the rewards, and so are its runs."""
    bandit = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.1), cm.Critic(0.1, 1),
        steps=50, record=cm.Record("theta", every=1),
    )  # fmt: skip
    once = cm.TabularMDP(
        [(0, a, 1, 1.0, r) for a, r in enumerate([1.0, 0.7, 0.0])], gamma=0.5, start=0, terminal=[1]
    )
    want = run(bandit)["theta"].values
    for estimator in (cm.ExactQ(), cm.Reinforce()):
        data = run(bandit.replace(problem=once.replace(limit=1), estimator=estimator))
        np.testing.assert_allclose(data["theta"].values[:, :, 0], want, rtol=1e-12, atol=1e-12)


def test_a_critic_that_begins_right_and_does_not_learn_is_a_constant() -> None:
    stays = cm.baseline("v", state={"v": (0.25, "v")})
    for estimator in (cm.ExactQ(), cm.Reinforce()):
        one = run(BASE.replace(baseline=stays, estimator=estimator))
        other = run(BASE.replace(baseline=0.25, estimator=estimator))
        np.testing.assert_allclose(one["theta"], other["theta"], rtol=1e-11, atol=1e-12)


def test_the_place_is_named() -> None:
    pole = cm.baseline("v", state={"v": (0.0, "v + mean(R) / (t - 3)")})
    with pytest.raises(NonFiniteError, match=r"update 3: .*baseline.* / \(t - 3\)"):
        run(BASE.replace(baseline=pole))


@pytest.mark.parametrize("steps", [4, 20])
def test_what_is_learned_is_looked_at_even_if_nobody_reads_it(steps: int) -> None:
    """The last update of a run, and a number that the formula itself hides."""
    pole = cm.baseline("v", state={"v": (0.0, "v + mean(R) / (t - 3)")})
    with pytest.raises(NonFiniteError, match=r"update 3: .*state v"):
        run(BASE.replace(baseline=pole, steps=steps))
    hidden = cm.baseline("minimum(v, 2)", state={"v": (0.0, "v + exp(400 * t)")})
    with pytest.raises(NonFiniteError, match=r"update 2: .*state v"):
        run(BASE.replace(baseline=hidden, steps=steps))
