"""MDPs: one episode drawn from its streams, and all of them with their probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from committal.config.experiment import Experiment
from committal.config.mdp import TabularMDP
from committal.reference.arrays import Floats
from committal.reference.behaviours import behaviour_probabilities
from committal.reference.problems import problem_of
from committal.reference.streams import (
    ACTION,
    START,
    TRANSITION,
    draw_action,
    draw_outcome,
    uniforms,
)

__all__ = ["Episode", "draw_episode", "enumerate_episodes", "outcomes", "returned"]


class Episode(NamedTuple):
    """What happened: the states acted in, the actions, the rewards and the last state."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    last: int


def outcomes(mdp: TabularMDP, s: int, a: int) -> list[tuple[int, float, float]]:
    """The (s', p, r) of a pair, in the order in which they are drawn.

    Examples
    --------
    >>> import committal as cm
    >>> outcomes(cm.gridworld("SA", goals={"A": 1}, gamma=0.5), 0, 1)
    [(1, 1.0, 0.5)]
    """
    pair = s * mdp.n_actions + a
    own = slice(int(mdp.row_offsets[pair]), int(mdp.row_offsets[pair + 1]))
    columns = (mdp.next_state[own], mdp.probability[own], mdp.reward[own])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def draw_episode(
    experiment: Experiment,
    pi: Floats,
    t: int,
    *,
    key: int,
    run: int,
    number: int | None = None,
    start: int | None = None,
    mu: Floats | None = None,
) -> Episode:
    """An episode of a run, drawn from mu_t: number t of all, from a drawn start, unless it is said.

    `mu`, where it is given, has a row for every state.

    Examples
    --------
    >>> import committal as cm
    >>> import numpy as np
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.ExactQ(), steps=1,
    ... )
    >>> draw_episode(e, np.full((2, 4), 0.25), 0, key=0, run=0).last
    1
    """
    mdp = problem_of(experiment, TabularMDP)
    number = t if number is None else number
    u = uniforms(key, run, ACTION, number * mdp.limit, mdp.limit)
    v = uniforms(key, run, TRANSITION, number * mdp.limit, mdp.limit)
    s = draw_action(mdp.start_distribution, float(uniforms(key, run, START, number, 1)[0]))
    s = s if start is None else start
    states, actions, rewards = [], [], []
    for i in range(mdp.limit):
        a = draw_action(_mu(experiment, pi[s], t) if mu is None else mu[s], u[i])
        after, p, r = zip(*outcomes(mdp, s, a), strict=True)
        drawn = draw_outcome(p, v[i])
        states.append(s)
        actions.append(a)
        rewards.append(float(r[drawn]))
        s = int(after[drawn])
        if s in mdp.terminal:
            break
    return Episode(tuple(states), tuple(actions), tuple(rewards), s)


def enumerate_episodes(
    experiment: Experiment, pi: Floats, t: int = 0
) -> Iterator[tuple[float, Episode]]:
    """All episodes of positive probability, with their probabilities under mu_t.

    Examples
    --------
    >>> import committal as cm
    >>> import numpy as np
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, limit=3), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.ExactQ(), steps=1,
    ... )
    >>> law = list(enumerate_episodes(e, np.full((2, 4), 0.25)))
    >>> len(law), sum(probability for probability, _ in law)
    (40, 1.0)
    """
    mdp = problem_of(experiment, TabularMDP)

    def continued(probability: float, done: Episode) -> Iterator[tuple[float, Episode]]:
        s = done.last
        if s in mdp.terminal or len(done.states) == mdp.limit:
            yield probability, done
            return
        for a, mu_a in enumerate(_mu(experiment, pi[s], t).tolist()):
            for after, p, r in outcomes(mdp, s, a) if mu_a > 0.0 else ():
                longer = Episode((*done.states, s), (*done.actions, a), (*done.rewards, r), after)
                yield from continued(probability * mu_a * p, longer)

    for s, rho in enumerate(mdp.start_distribution.tolist()):
        if rho > 0.0:
            yield from continued(rho, Episode((), (), (), s))


def returned(mdp: TabularMDP, episode: Episode) -> float:
    """G = sum_i gamma^i r_i.

    Examples
    --------
    >>> import committal as cm
    >>> returned(cm.gridworld("SA", goals={"A": 1}, gamma=0.5), Episode((0, 0), (0, 1), (0, 1), 1))
    0.5
    """
    return float(sum(mdp.gamma**i * r for i, r in enumerate(episode.rewards)))


def _mu(experiment: Experiment, pi_s: Floats, t: int) -> Floats:
    return behaviour_probabilities(experiment.behaviour, pi_s, t, experiment.steps)
