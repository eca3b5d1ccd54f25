"""MDPs: one run, moment by moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from committal.config.estimators import Estimator, ExactQ
from committal.config.experiment import Experiment
from committal.config.groups import Group
from committal.config.mdp import TabularMDP
from committal.config.snapshot import Snapshot
from committal.config.spelled import spelled_out
from committal.errors import NonFiniteError
from committal.reference.arrays import Floats, Ints
from committal.reference.baselines import initial_memory, remember
from committal.reference.mdp_critics import learn
from committal.reference.mdp_episodes import Episode, draw_episode, returned
from committal.reference.mdp_evaluation import policy_table, solve, sweep
from committal.reference.mdp_updates import after_epochs
from committal.reference.policies import initial_theta
from committal.reference.problems import problem_of

__all__ = ["MdpMoment", "run_mdp"]


class MdpMoment(NamedTuple):
    """A run at time t: theta_t, and the episode that is drawn from it."""

    experiment: Experiment
    t: int
    theta: Floats
    pi: Floats
    episode: Episode
    #: How often each state was acted in, this episode included.
    visits: Ints
    #: All episodes of a group; the one above is its first.
    episodes: tuple[Episode, ...]

    @property
    def problem(self) -> TabularMDP:
        return problem_of(self.experiment, TabularMDP)


def run_mdp(
    experiment: Experiment, *, key: int, run: int, start: tuple[int, Floats] | None = None
) -> Iterator[MdpMoment]:
    """The moments t = 0, 1, ..., steps of one run.

    Parameters
    ----------
    experiment : Experiment
    key, run : int
        Name the stream: the same numbers as the compiled engine draws.
    start : (int, ndarray), optional
        Begin at this time with this theta; visits and what was remembered before are not known.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}), cm.Softmax(), cm.Vanilla(0.5), cm.MinVariance(),
    ...     estimator=cm.ExactQ(), steps=20,
    ... )
    >>> {now.episode.last for now in run_mdp(e, key=1, run=0)}
    {1}
    """
    try:
        experiment = spelled_out(experiment)
        first = (0, initial_theta(experiment)) if start is None else start
        yield from _moments(experiment, key, run, *first)
    except NonFiniteError as error:
        raise error.at(run, error.update) from None


def _starts(mdp: TabularMDP, estimator: Estimator) -> list[int | None]:
    """Where the episodes of an update begin; None: that is drawn."""
    if not isinstance(estimator, Group):
        return [None]
    if estimator.starts == "drawn":
        return [None] * estimator.samples
    where = np.flatnonzero(mdp.start_distribution).tolist()
    return [s for s in where for _ in range(estimator.samples)]


def _moments(
    experiment: Experiment, key: int, run: int, first: int, theta: Floats
) -> Iterator[MdpMoment]:
    mdp, steps, estimator = (
        problem_of(experiment, TabularMDP),
        experiment.steps,
        experiment.estimator,
    )
    memory = initial_memory(experiment.baseline)
    starts = _starts(mdp, estimator)
    visits = np.zeros(mdp.n_states, np.int64)
    V = np.zeros(mdp.n_states)
    mu: Floats | None = None  # where it is not a function of the policy

    for t in range(first, steps + 1):
        pi = policy_table(mdp, theta, experiment.policy)
        if isinstance(estimator, ExactQ) and estimator.solver == "iterative":
            V, Q = sweep(mdp, pi, V, estimator.tolerance)  # from where the last sweeps ended
        else:
            V, Q = solve(mdp, pi)
        behaviour, number = experiment.behaviour, t * len(starts)
        if isinstance(behaviour, Snapshot) and (t == first or behaviour.is_taken(t, steps)):
            mu = pi
        episodes = tuple(
            draw_episode(experiment, pi, t, key=key, run=run, number=number + j, start=s, mu=mu)
            for j, s in enumerate(starts)
        )
        for episode in episodes:
            np.add.at(visits, list(episode.states), 1)

        yield MdpMoment(experiment, t, theta, pi, episodes[0], visits.copy(), episodes)

        if t < steps:
            before = memory
            returns = np.array([returned(mdp, episode) for episode in episodes])
            memory = remember(experiment.baseline, memory, returns)
            for episode in episodes:
                memory = learn(experiment, memory, theta, t, episode, mu)
            theta, memory = after_epochs(
                experiment, theta, t, episodes, Q=Q, memory=before, after=memory, mu=mu
            )
