"""Gridworlds with exact values: plain Numba with a dense solve, QuantEcon, and committal."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
from timing import Contestant

import committal as cm

Floats = npt.NDArray[np.float64]

EPISODES = 100


@numba.njit(parallel=True)
def numba_four_rooms(next_state, reward, terminal, start, gamma, alpha, episodes, limit, runs):
    """What a user would write: dense solve, one episode, natural update with b*."""
    states, actions = next_state.shape
    returns = np.zeros(runs)
    for run in numba.prange(runs):
        theta = np.zeros((states, actions))
        pi = np.full((states, actions), 1.0 / actions)
        path = np.empty((limit, 2), np.int64)
        for _ in range(episodes):
            matrix = np.eye(states)
            right = np.zeros(states)
            for s in range(states):
                if terminal[s]:
                    continue
                for a in range(actions):
                    right[s] += pi[s, a] * reward[s, a]
                    if not terminal[next_state[s, a]]:
                        matrix[s, next_state[s, a]] -= gamma * pi[s, a]
            values = np.linalg.solve(matrix, right)
            s = start
            length = 0
            total = 0.0
            while length < limit and not terminal[s]:
                u = np.random.random()  # noqa: NPY002 (what Numba offers)
                a = 0
                cumulative = pi[s, 0]
                while u >= cumulative and a < actions - 1:
                    a += 1
                    cumulative += pi[s, a]
                path[length, 0] = s
                path[length, 1] = a
                total += gamma**length * reward[s, a]
                s = next_state[s, a]
                length += 1
            for i in range(length):
                s, a = path[i]
                squares = 0.0
                for k in range(actions):
                    squares += pi[s, k] ** 2
                above = 0.0
                below = 0.0
                chosen = 0.0
                for k in range(actions):
                    q = reward[s, k] + gamma * values[next_state[s, k]]
                    weight = pi[s, k] * (1.0 - 2.0 * pi[s, k] + squares)
                    above += weight * q
                    below += weight
                    if k == a:
                        chosen = q
                theta[s, a] += alpha * (chosen - above / below) / pi[s, a]
            for i in range(length):
                s = path[i, 0]
                highest = theta[s].max()
                weights = np.exp(theta[s] - highest)
                pi[s] = weights / weights.sum()
            returns[run] = total
    return returns


def four_rooms(isas: list[str], threads: int, scale: float) -> dict[str, Contestant]:
    """Who makes whole natural updates of four rooms: exact values, one episode, the step."""
    mdp = cm.maps.four_rooms()
    experiment = cm.Experiment(
        problem=mdp,
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(),
        baseline=cm.MinVariance(),
        steps=EPISODES,
        record=cm.Record("return"),
    )
    # Every move has one outcome. In terminal states, where nobody moves, it is never looked at.
    next_state, reward, terminal = mdp.P.argmax(axis=-1), mdp.R, mdp.is_terminal
    start = int(np.argmax(mdp.start_distribution))
    few = max(int(64 * scale), 16)

    def theirs() -> Floats:
        answer: Floats = numba_four_rooms(
            next_state, reward, terminal, start, mdp.gamma, 0.1, EPISODES, mdp.limit, few
        )
        return answer

    def ours(isa: str) -> Contestant:
        runs = max(int((160 if isa == "generic" else 1600) * scale) // 32, 1) * 32

        def work() -> Floats:
            data = cm.run(experiment, runs=runs, rng=0, threads=threads, isa=isa)
            return np.asarray(data["return"].values[:, -1])

        return Contestant(work, runs * EPISODES, threads)

    return {f"committal {isa}": ours(isa) for isa in isas} | {
        "Numba": Contestant(theirs, few * EPISODES, threads)
    }


def evaluation(isas: list[str], threads: int, scale: float) -> dict[str, Contestant]:
    """Who evaluates deterministic policies of the 10x10 map exactly."""
    import quantecon as qe

    mdp = cm.maps.four_rooms()
    count, few = 4096, max(int(64 * scale), 16)
    rng = np.random.default_rng(0)
    chosen = rng.integers(mdp.n_actions, size=(count, mdp.n_states))
    policies = np.eye(mdp.n_actions)[chosen]
    # There terminal states are absorbing ones that pay nothing.
    transition, ended = mdp.P, list(mdp.terminal)
    transition[ended] = np.eye(mdp.n_states)[ended][:, None]
    ddp = qe.markov.DiscreteDP(mdp.R, transition, mdp.gamma)

    def theirs() -> Floats:
        return np.stack([ddp.evaluate_policy(chosen[i]) for i in range(few)])

    # Compared here, number by number: the policies are the same. So contestants answer nothing.
    def solve() -> None:
        theirs()

    def ours(isa: str) -> Contestant:
        def work() -> None:
            cm.evaluate(mdp, policies, threads=threads, isa=isa)

        return Contestant(work, count, threads)

    for isa in isas:
        found = cm.evaluate(mdp, policies[:few], threads=threads, isa=isa).V
        np.testing.assert_allclose(found, theirs(), atol=1e-10)
    return {f"committal {isa}": ours(isa) for isa in isas} | {"QuantEcon": Contestant(solve, few)}
