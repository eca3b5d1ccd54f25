"""Bandits: one run, moment by moment, and the exact law of one update."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.config.bandit import Bandit
from committal.config.estimators import OneSample
from committal.config.experiment import Experiment
from committal.config.formula_update import FormulaUpdate
from committal.config.links import FormulaPolicy
from committal.config.snapshot import Snapshot
from committal.config.spelled import spelled_out
from committal.errors import NonFiniteError
from committal.reference.arrays import Floats, Ints
from committal.reference.baselines import (
    Memory,
    baseline_value,
    baselines_of_samples,
    initial_memory,
    remember,
)
from committal.reference.behaviours import behaviour_probabilities
from committal.reference.formulas import Given, drawn, known
from committal.reference.policies import initial_theta, policy_probabilities, require_slopes
from committal.reference.problems import problem_of
from committal.reference.rewards import draw_reward, reward_table
from committal.reference.streams import ACTION, REWARD, draw_action, uniforms
from committal.reference.updates import next_theta, updated

__all__ = ["BanditMoment", "Outcome", "one_step_law", "run_bandit"]


class BanditMoment(NamedTuple):
    """A run at time t: theta_t, what it was updated from so far, and what is drawn from it."""

    experiment: Experiment
    t: int
    theta: Floats
    #: The probabilities of the arms and the baseline at theta.
    pi: Floats
    b: float
    #: What the baseline remembers, and the regret, of the rewards before.
    memory: Memory
    regret: float
    #: The N samples; the last ones of a run are never used.
    actions: Ints
    rewards: Floats
    #: What formulas may look at.
    given: Given

    @property
    def value(self) -> float:
        """V = sum_i pi_i r_i."""
        return float(self.pi @ np.array(problem_of(self.experiment, Bandit).means))


def run_bandit(
    experiment: Experiment,
    *,
    key: int,
    run: int,
    actions: npt.ArrayLike | None = None,
    rewards: npt.ArrayLike | None = None,
    start: tuple[int, Floats] | None = None,
) -> Iterator[BanditMoment]:
    """The moments t = 0, 1, ..., steps of one run.

    Parameters
    ----------
    experiment : Experiment
    key, run : int
        Name the stream: the same numbers as the compiled engine draws.
    actions, rewards : array_like, shape (steps, N) or (steps + 1, N), optional
        Replay these instead of drawing (teacher forcing): given actions, or given both.
    start : (int, ndarray), optional
        Begin at this time with this theta; what was remembered before is not known.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.5), steps=1)
    >>> for now in run_bandit(e, key=0, run=0, actions=[[0]], rewards=[[1.0]]):
    ...     print(now.t, now.theta, now.regret)
    0 [0. 0.] 0.0
    1 [1. 0.] 0.5
    """
    experiment = spelled_out(experiment)
    try:
        first = (0, initial_theta(experiment)) if start is None else start
        yield from _moments(experiment, key, run, actions, rewards, *first)
    except NonFiniteError as error:
        raise error.at(run, error.update) from None


def _moments(
    experiment: Experiment,
    key: int,
    run: int,
    actions: npt.ArrayLike | None,
    rewards: npt.ArrayLike | None,
    first: int,
    theta: Floats,
) -> Iterator[BanditMoment]:
    problem, steps = problem_of(experiment, Bandit), experiment.steps
    estimator = experiment.estimator
    samples = estimator.samples if isinstance(estimator, OneSample) else 0
    r = np.array(problem.means)

    times = steps + 1 - first
    begin, draws = first * samples, times * samples
    u = uniforms(key, run, ACTION, begin, draws).reshape(times, samples)
    v = uniforms(key, run, REWARD, begin, draws).reshape(times, samples)
    given_actions = () if actions is None else np.asarray(actions).reshape(-1, samples)
    given_rewards = () if rewards is None else np.asarray(rewards).reshape(-1, samples)

    memory = initial_memory(experiment.baseline)
    regret = 0.0

    for t in range(first, steps + 1):
        pi = _policy(experiment, theta, t)
        lags = isinstance(experiment.behaviour, Snapshot)
        if not isinstance(experiment.behaviour, Snapshot):
            mu = behaviour_probabilities(experiment.behaviour, pi, t, steps)
        elif t == first or experiment.behaviour.is_taken(t, steps):
            mu = pi

        if t < len(given_actions):
            a_t = given_actions[t]
        else:
            a_t = np.array(
                [draw_action(mu, u[t - first, j]) for j in range(samples)], dtype=np.int64
            )
        if t < len(given_rewards):
            r_t = given_rewards[t]
        else:
            r_t = np.array([draw_reward(problem, a_t[j], v[t - first, j]) for j in range(samples)])

        given = known(theta, pi, mu, r, t)
        if samples:
            given = drawn(given, pi, mu, a_t, r_t)
            each = baselines_of_samples(experiment.baseline, pi, r, memory, given)
            given |= {"b": each, "A": r_t - each}
            b = float(each[0] if (each == each[0]).all() else each.mean())
        else:
            b = baseline_value(experiment.baseline, pi, r, memory, given)
            each = np.array([b])
        now = BanditMoment(experiment, t, theta, pi, b, memory, regret, a_t, r_t, given)
        yield now

        if t < steps:
            memory = remember(experiment.baseline, memory, r_t, given)
            b_t = each if samples else b
            theta, memory = updated(
                experiment, theta, t, b_t, a_t, r_t, memory, mu if lags else None
            )
            regret += float(r.max()) - now.value


def _policy(experiment: Experiment, theta: Floats, t: int) -> Floats:
    policy = experiment.policy
    try:
        pi = policy_probabilities(policy, theta)
        if isinstance(policy, FormulaPolicy) and t < experiment.steps and _scored(experiment):
            require_slopes(policy, theta)
    except NonFiniteError as error:  # of a link; the time is known here
        raise error.at(0, t) from None
    return pi


def _scored(experiment: Experiment) -> bool:
    """Whether the update of a link looks at its derivative."""
    update = experiment.update
    return not isinstance(update, FormulaUpdate) or "score" in update.names


class Outcome(NamedTuple):
    """One atom of the law of an update: with `probability`, these N samples and this theta."""

    probability: float
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    theta: Floats


def one_step_law(
    experiment: Experiment, theta: Floats, t: int = 0, memory: Memory | None = None
) -> list[Outcome]:
    """The exact law of theta_{t+1} given theta_t: all actions times all reward atoms.

    Parameters
    ----------
    experiment : Experiment
        With deterministic, Bernoulli or table rewards. N samples give the N-fold product.
    theta : ndarray
    t : int
        Number of updates already done.
    memory : Memory, optional
        For a :class:`RunningMean` that has seen rewards.

    Returns
    -------
    list of Outcome
        Atoms of positive probability; probabilities sum to 1.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([0.75, 0.25], noise="bernoulli"),
    ...     cm.Softmax(),
    ...     cm.Natural(step_size=0.5),
    ...     steps=1,
    ... )
    >>> for outcome in one_step_law(e, np.zeros(2)):
    ...     print(outcome.probability, outcome.actions, outcome.rewards, outcome.theta)
    0.375 (0,) (1.0,) [1. 0.]
    0.125 (0,) (0.0,) [0. 0.]
    0.125 (1,) (1.0,) [0. 1.]
    0.375 (1,) (0.0,) [0. 0.]
    """
    experiment = spelled_out(experiment)
    problem, estimator = problem_of(experiment, Bandit), experiment.estimator
    pi = policy_probabilities(experiment.policy, theta)
    mu = behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
    r = np.array(problem.means)
    given = known(theta, pi, mu, r, t)
    if not isinstance(estimator, OneSample):
        return [Outcome(1.0, (), (), next_theta(experiment, theta, t, 0.0, memory=memory))]
    atoms = [
        (float(mu[a]) * probability, a, reward)
        for a in range(problem.arms)
        for reward, probability in reward_table(problem, a)
        if mu[a] * probability > 0.0
    ]
    law = []
    for draw in itertools.product(atoms, repeat=estimator.samples):
        probabilities, actions, rewards = zip(*draw, strict=True)
        batch = drawn(given, pi, mu, actions, rewards)
        b = baselines_of_samples(experiment.baseline, pi, r, memory, batch)
        theta_next = next_theta(experiment, theta, t, b, actions, rewards, memory)
        law.append(Outcome(float(np.prod(probabilities)), actions, rewards, theta_next))
    return law
