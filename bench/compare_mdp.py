"""Time committal's gridworld engine against plain Numba and QuantEcon, side by side.

Two questions: how long a whole natural-gradient update of four rooms takes (exact evaluation,
one episode, the update) against the same loop in Numba with a dense exact solve, parallel over
runs; and how long the exact evaluation of one policy takes, in a batch, against QuantEcon's
dense solver. Contestants take turns and the best time of each counts.

    python bench/compare_mdp.py [--repeats 5] [--json out.json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt
import quantecon as qe
from compare import take_turns

import committal as cm

Floats = npt.NDArray[np.float64]


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


def updates(repeats: int) -> dict[str, float]:
    """Microseconds per whole update of four rooms, two threads."""
    mdp = cm.maps.four_rooms()
    episodes = 200
    runs = {"committal": 1600, "numba": 64}
    experiment = cm.Experiment(
        problem=mdp,
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(),
        baseline=cm.MinVariance(),
        steps=episodes,
        record=cm.Record("return"),
    )
    # Every move has one outcome. In terminal states, where nobody moves, it is never looked at.
    next_state, reward, terminal = mdp.P.argmax(axis=-1), mdp.R, mdp.is_terminal
    start = int(np.argmax(mdp.start_distribution))

    def ours() -> Floats:
        return cm.run(experiment, runs=runs["committal"], rng=0, threads=2)["return"].values

    def theirs() -> Floats:
        return numba_four_rooms(
            next_state, reward, terminal, start, mdp.gamma, 0.1, episodes, mdp.limit, runs["numba"]
        )

    ours()
    theirs()
    best, _ = take_turns({"committal": ours, "numba": theirs}, repeats)
    return {name: best[name] / (runs[name] * episodes) * 1e6 for name in best}


def evaluations(repeats: int) -> dict[str, float]:
    """Microseconds per exact evaluation of a deterministic policy of the 10x10 map."""
    mdp = cm.maps.four_rooms()
    count = 4096
    rng = np.random.default_rng(0)
    chosen = rng.integers(mdp.n_actions, size=(count, mdp.n_states))
    policies = np.eye(mdp.n_actions)[chosen]
    # There terminal states are absorbing ones that pay nothing.
    transition, ended = mdp.P, list(mdp.terminal)
    transition[ended] = np.eye(mdp.n_states)[ended][:, None]
    ddp = qe.markov.DiscreteDP(mdp.R, transition, mdp.gamma)
    few = 64

    def ours() -> Floats:
        return cm.evaluate(mdp, policies).V

    def theirs() -> Floats:
        return np.stack([ddp.evaluate_policy(chosen[i]) for i in range(few)])

    np.testing.assert_allclose(ours()[:few], theirs(), atol=1e-10)
    best, _ = take_turns({"committal": ours, "quantecon": theirs}, repeats)
    return {
        "committal": best["committal"] / count * 1e6,
        "quantecon": best["quantecon"] / few * 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    tables = {
        "four rooms, whole natural update, two threads": updates(options.repeats),
        "exact evaluation of one policy of the 10x10 map": evaluations(options.repeats),
    }
    for title, times in tables.items():
        ours = times["committal"]
        peers = {name: value for name, value in times.items() if name != "committal"}
        for name, value in peers.items():
            print(
                f"{title}: committal {ours:.2f} µs, {name} {value:.1f} µs, ratio {value / ours:.0f}"
            )
    if options.json:
        options.json.write_text(json.dumps(tables, indent=2))


if __name__ == "__main__":
    main()
