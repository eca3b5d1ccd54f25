"""Updates: the direction of a sample, of its expectation and of the entropy; the next theta."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from committal.config.bandit import Bandit
from committal.config.estimators import OneSample
from committal.config.experiment import Experiment
from committal.config.formula_update import FormulaUpdate
from committal.config.links import FormulaPolicy
from committal.config.policies import Direct, Policy, Sigmoid
from committal.config.spelled import spelled_out
from committal.config.updates import Natural, Projected, Update, Vanilla
from committal.reference.arrays import Floats
from committal.reference.baselines import Memory
from committal.reference.behaviours import behaviour_probabilities
from committal.reference.formulas import (
    Given,
    directions,
    drawn,
    formula_value,
    known,
    next_states,
    score,
    with_states,
)
from committal.reference.policies import entropy, log_policy, others, policy_probabilities
from committal.reference.problems import problem_of
from committal.reference.schedules import scheduled
from committal.support.simplex import rounding

__all__ = [
    "direction",
    "entropy_direction",
    "expected_direction",
    "moved",
    "next_theta",
    "optimised",
    "project_onto_simplex",
    "update_direction",
    "updated",
]


def _is_new(update: Update) -> bool:
    """Say whether an update is not the paper's: then it says itself what its directions are."""
    return not isinstance(update, Natural | Vanilla | Projected)


def update_direction(
    policy: Policy,
    update: Update,
    pi: Floats,
    mu: Floats,
    a: int,
    advantage: float,
    implicit: float = 0.0,
) -> Floats:
    """The direction of one sample: A w times pi(a) grad log pi(a) in the geometry of the update.

    w = 1 / (mu(a) + implicit). For natural updates pi(a) F^+ grad log pi(a) is e_a (softmax, up
    to a shift along e) or +1, -1 (sigmoid).

    Returns
    -------
    ndarray
        Of the shape of theta, without the step size.

    Examples
    --------
    >>> import committal as cm
    >>> pi = np.array([0.5, 0.5])
    >>> update_direction(cm.Softmax(), cm.Natural(step_size=1.0), pi, pi, a=0, advantage=1.0)
    array([2., 0.])
    >>> update_direction(cm.Softmax(), cm.Vanilla(step_size=1.0), pi, pi, a=0, advantage=1.0)
    array([ 0.5, -0.5])
    """
    w = 1.0 / (float(mu[a]) + implicit)
    if _is_new(update):
        return np.asarray(advantage * w * update.rows(policy, pi)[a])
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        sign = 1.0 if a == 0 else -1.0
        return np.array([sign * advantage * w * (1.0 if natural else pi[0] * pi[1])])
    if natural or isinstance(policy, Direct):
        direction = np.zeros(len(pi))
        direction[a] = advantage * w
        return direction
    score = -pi
    score[a] = others(pi)[a]
    return advantage * (float(pi[a]) * w) * score


def expected_direction(
    policy: Policy, update: Update, pi: Floats, r: Floats, theta: Floats | None = None
) -> Floats:
    """E[g] on-policy without baseline: the exact gradient in the geometry of the update.

    Examples
    --------
    >>> import committal as cm
    >>> pi, r = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    >>> expected_direction(cm.Softmax(), cm.Vanilla(step_size=1.0), pi, r)
    array([ 0.25, -0.25])
    """
    if _is_new(update):
        return np.asarray(r @ update.rows(policy, pi))
    if isinstance(policy, FormulaPolicy):
        assert theta is not None
        slopes = policy.slopes_at(theta) / policy.weights_at(theta).sum()
        return np.asarray(slopes * (r - pi @ r))
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        return np.array([(r[0] - r[1]) * (1.0 if natural else pi[0] * pi[1])])
    if natural or isinstance(policy, Direct):
        return r
    return pi * (r - pi @ r)


def entropy_direction(policy: Policy, update: Update, theta: Floats) -> Floats:
    """The gradient of H in the geometry of the update.

    vanilla: -pi (log pi + H), sigmoid -pi_1 pi_2 theta; natural: -log pi, sigmoid -theta.

    Examples
    --------
    >>> import committal as cm
    >>> entropy_direction(cm.Sigmoid(), cm.Natural(step_size=1.0), np.array([2.0]))
    array([-2.])
    """
    pi, log_pi = policy_probabilities(policy, theta), log_policy(policy, theta)
    if _is_new(update):
        return np.asarray(-log_pi @ update.rows(policy, pi))
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        return -theta * (1.0 if natural else pi[0] * pi[1])
    return -log_pi if natural else -pi * (log_pi + entropy(pi, log_pi))


def project_onto_simplex(x: npt.ArrayLike) -> Floats:
    """The point of the simplex nearest to x: max(x - s, 0), with s such that it sums to 1.

    With x sorted downwards and n the largest number such that
    x_(n) > (x_(1) + ... + x_(n) - 1) / n, the shift s is the right-hand side. Entries that only
    the rounding of s has lifted off 0 are 0, and s is that of the others.

    Examples
    --------
    >>> project_onto_simplex([0.5, 0.25, 2.0])
    array([0., 0., 1.])
    """
    point: Floats = np.asarray(x, dtype=np.float64)
    # Measured from the largest entry, so that a far-away x keeps its small differences.
    point = point - point.max()
    descending = np.sort(point)[::-1]
    shifts = (np.cumsum(descending) - 1.0) / np.arange(1, len(point) + 1)
    shift = shifts[np.flatnonzero(descending > shifts)[-1]]
    kept = point - shift > rounding(len(point))
    shift = (point[kept].sum() - 1.0) / kept.sum()
    projected: Floats = np.where(kept, np.maximum(point - shift, 0.0), 0.0)
    return projected


def next_theta(
    experiment: Experiment,
    theta: Floats,
    t: int,
    b: npt.ArrayLike,
    actions: npt.ArrayLike = (),
    rewards: npt.ArrayLike = (),
    memory: Memory | None = None,
) -> Floats:
    """theta_{t+1} = theta_t + alpha_t g: one update from given draws.

    Parameters
    ----------
    experiment : Experiment
    theta : ndarray
    t : int
        Number of updates already done.
    b : float, or ndarray of shape (N,)
        The baseline at theta, or that of every sample.
    actions, rewards : array_like, shape (N,)
        The samples of this update; not used by the expected estimator.
    memory : Memory, optional
        Of an optimiser; its beginning by default.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.5), steps=1)
    >>> next_theta(e, np.zeros(2), t=0, b=0.0, actions=[0], rewards=[1.0])
    array([1., 0.])
    """
    return updated(experiment, theta, t, b, actions, rewards, memory or Memory())[0]


def updated(
    experiment: Experiment,
    theta: Floats,
    t: int,
    b: npt.ArrayLike,
    actions: npt.ArrayLike,
    rewards: npt.ArrayLike,
    memory: Memory,
    mu: Floats | None = None,
) -> tuple[Floats, Memory]:
    """theta after an update, in as many epochs as it has, and what the optimiser remembers."""
    experiment = spelled_out(experiment)
    epochs = getattr(experiment.estimator, "epochs", 1)
    if epochs == 1:
        g = direction(experiment, theta, t, b, actions, rewards, mu)
        step, memory = optimised(experiment, g, theta, t, memory)
        return moved(experiment, theta, t, step), memory
    r = np.array(problem_of(experiment, Bandit).means)
    pi = policy_probabilities(experiment.policy, theta)
    if mu is None:
        mu = behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
    for e in range(epochs):
        # A and mu stay as they were; rho and the directions are those of the policy by now.
        time = epochs * t + e
        pi = policy_probabilities(experiment.policy, theta)
        given = drawn(known(theta, pi, mu, r, time), pi, mu, actions, rewards)
        each = np.broadcast_to(np.asarray(b, dtype=np.float64), np.shape(rewards))
        g = formula_direction(experiment, given, theta, pi, each)
        step, memory = optimised(experiment, g, theta, time, memory)
        theta = moved(experiment, theta, t, step)
    return theta, memory


def direction(
    experiment: Experiment,
    theta: Floats,
    t: int,
    b: npt.ArrayLike,
    actions: npt.ArrayLike = (),
    rewards: npt.ArrayLike = (),
    mu: Floats | None = None,
) -> Floats:
    """g_t, from given draws: the mean over the samples, and the entropy term.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.5), steps=1)
    >>> direction(e, np.zeros(2), t=0, b=0.0, actions=[0], rewards=[1.0])
    array([2., 0.])
    """
    experiment = spelled_out(experiment)
    policy, update, steps = experiment.policy, experiment.update, experiment.steps
    estimator = experiment.estimator
    pi = policy_probabilities(policy, theta)
    r = np.array(problem_of(experiment, Bandit).means)
    if isinstance(estimator, OneSample):
        if mu is None:
            mu = behaviour_probabilities(experiment.behaviour, pi, t, steps)
        each = np.broadcast_to(np.asarray(b, dtype=np.float64), np.shape(rewards))
        implicit = scheduled(estimator.implicit, t, steps)
        if has_formula(experiment):
            given = drawn(known(theta, pi, mu, r, t), pi, mu, actions, rewards, implicit)
            g = formula_direction(experiment, given, theta, pi, each)
        else:
            samples = zip(np.asarray(actions), np.asarray(rewards), each, strict=True)
            g = np.mean(
                [
                    update_direction(policy, update, pi, mu, int(a), R - b_a, implicit)
                    for a, R, b_a in samples
                ],
                axis=0,
            )
    else:
        g = expected_direction(policy, update, pi, r, theta)
    tau = scheduled(getattr(update, "entropy", 0.0), t, steps)
    if tau > 0.0:
        g = g + tau * entropy_direction(policy, update, theta)
    return g


def has_formula(experiment: Experiment) -> bool:
    """Whether the direction of a sample is a formula, or has one in it."""
    return (
        getattr(experiment.estimator, "weight", None) is not None
        or isinstance(experiment.update, FormulaUpdate)
        or isinstance(experiment.policy, FormulaPolicy)
    )


def formula_direction(
    experiment: Experiment, given: Given, theta: Floats, pi: Floats, b: Floats
) -> Floats:
    """The mean over the samples of w A psi, or of a formula of one's own.

    Parameters
    ----------
    experiment : Experiment
    given : dict
        What is known of the batch.
    theta, pi : ndarray, shape (K,)
        Of the arms, or of the actions in a state.
    b : ndarray, shape (N,)
        The baseline of every sample.
    """
    update, weight = experiment.update, getattr(experiment.estimator, "weight", None)
    values = {"A": given["R"] - b, **given, "b": b}  # A of a group is given
    a = given["a"].astype(np.int64)
    if isinstance(update, FormulaUpdate):
        values |= directions(experiment, theta, pi, a)
        value = formula_value("update", update.tree, values)
        return np.asarray(value.mean(axis=0) if value.ndim == 2 else value)
    w = given["rho"]
    if weight is not None:
        w = np.broadcast_to(formula_value("estimator.weight", weight.tree, values), len(a))
    psi = [_psi(experiment, theta, pi, int(arm)) for arm in a]
    return np.asarray(np.mean((w * values["A"])[:, None] * psi, axis=0))


def _psi(experiment: Experiment, theta: Floats, pi: Floats, a: int) -> Floats:
    """The direction of an arm: its score, or e_a / pi_a."""
    natural = isinstance(experiment.update, Natural)
    if isinstance(experiment.policy, Sigmoid):
        sign = 1.0 if a == 0 else -1.0
        return np.array([sign / pi[a] if natural else sign * pi[1 - a]])
    return np.eye(len(pi))[a] / pi[a] if natural else score(experiment.policy, theta, pi, a)


def optimised(
    experiment: Experiment, g: Floats, theta: Floats, t: int, memory: Memory
) -> tuple[Floats, Memory]:
    """The step that an optimiser makes of g, and what it remembers.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(1), steps=1, optimiser=cm.Momentum(0.5)
    ... )
    >>> step, memory = optimised(e, np.array([1.0, 0.0]), np.zeros(2), 0, Memory())
    >>> optimised(e, np.array([0.0, 1.0]), np.zeros(2), 1, memory)[0]
    array([0.5, 1. ])
    """
    formula = experiment.optimiser.tree
    if formula is None:
        return g, memory
    # Of an MDP, the parameters of the states that are acted in.
    moving = np.ones(g.shape, dtype=bool)
    terminal = getattr(experiment.problem, "is_terminal", None)
    if terminal is not None:
        moving[np.asarray(terminal)] = False
    K = float(moving.sum())
    row = {"g": g[moving], "theta": theta[moving], "t": float(t), "K": K}
    values = with_states(formula, row, memory.states.get("optimiser"))
    step = np.zeros(g.shape)
    step[moving] = formula_value("optimiser", formula, values)
    after = next_states("optimiser", formula, values)
    return step, replace(memory, states={**memory.states, "optimiser": after})


def moved(experiment: Experiment, theta: Floats, t: int, step: Floats) -> Floats:
    """theta + alpha_t s, projected if it is the probabilities."""
    theta = theta + scheduled(experiment.update.step_size, t, experiment.steps) * step
    return project_onto_simplex(theta) if isinstance(experiment.policy, Direct) else theta
