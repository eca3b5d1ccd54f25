r"""What happens if one arm is drawn again and again: the exact recursion.

With arm k drawn at every update and a deterministic reward there is no randomness left:
:math:`\theta_{t+1} = \theta_t + \alpha_t (r_k - b(\theta_t)) G_k(\theta_t)`. Along this path
everything about "the same action for ever" is a sum or a limit:

* the probability of the path, :math:`\prod_t \mu_t(k)` (`forever`);
* the *committal rate*, the exponent of :math:`1 - \pi_t(k)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.config import Direct, Experiment, Schedule, Sigmoid, Values
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics, vertices
from committal.support import check, limits
from committal.support.simplex import Floats, project_onto_simplex, softmax

__all__ = ["CommittalRate", "committal_rate"]

_CHUNK = 4096
_LOG_OF_NOTHING = math.log(1e-300)


class Forced(NamedTuple):
    """The state before update t: theta, log(1 - pi_k), log(1 - mu_k), and mu_k."""

    theta: Floats
    log_rest: float
    log_miss: float
    mu: float


def check_forced(experiment: Experiment, arm: object) -> int:
    """Refuse what is not a deterministic path when one arm is forced.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), -1.0, steps=1)
    >>> check_forced(e, 1)
    1
    """
    problem = dynamics.bandit_of(experiment)
    k = check.integer("arm", arm, 0, problem.arms - 1)
    if problem.arms < 2:
        raise CombinationError("experiment.problem", problem, "at least two arms")
    if problem.reward_variances[k] > 0.0:
        raise CombinationError(
            "experiment.problem",
            problem,
            f"a deterministic reward for {problem.names[k]!r}: otherwise its path is random",
        )
    if dynamics.samples_of(experiment) == 0:
        raise CombinationError(
            "experiment.estimator", experiment.estimator, "OneSample: Expected draws nothing"
        )
    dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    return k


def forced_states(experiment: Experiment, arm: int, theta: Floats) -> Iterator[Forced]:
    """The states of the path on which every draw is `arm`, from parameters (D,), without end.

    A schedule given as a table ends the path.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(0), cm.Natural(0.1), -1.0, steps=1)
    >>> path = forced_states(e, 1, np.zeros(1))
    >>> [round(float(next(path).theta[0]), 4) for _ in range(3)]
    [0.0, -0.2, -0.3819]
    """
    policy, update = experiment.policy, experiment.update
    r = np.array(dynamics.bandit_of(experiment).means)
    rest = np.arange(len(r)) != arm
    t = 0
    while True:
        alphas, taus = (_chunk(x, t) for x in (update.step_size, getattr(update, "entropy", 0.0)))
        if min(len(alphas), len(taus)) == 0:
            return
        for alpha, tau in zip(alphas, taus, strict=False):
            # A direct policy may have zeros, whose logarithms are to stay finite.
            log_pi = np.nan_to_num(policy.log_probabilities_at(theta), neginf=_LOG_OF_NOTHING)
            pi = np.exp(log_pi)
            # Of the others' logarithms, so that it is right where pi_k rounds to 1.
            top = float(log_pi[rest].max())
            log_rest = top + math.log(float(np.exp(log_pi[rest] - top).sum()))
            mu = experiment.behaviour.at(pi, t)
            off_policy = mu is not pi
            miss = float(mu[rest].sum()) if off_policy else math.exp(log_rest)
            log_miss = (math.log(miss) if miss > 0.0 else -math.inf) if off_policy else log_rest
            yield Forced(theta, log_rest, log_miss, float(mu[arm]))
            b = experiment.baseline.at(pi, r)
            weight = dynamics.importance_weights(mu, dynamics.implicit_of(experiment, t))
            g = (r[arm] - float(b)) * weight[arm] * update.rows(policy, pi)[arm]
            if tau > 0.0:
                g = g + tau * dynamics.entropy_direction(experiment, theta)
            theta = theta + alpha * g
            if isinstance(policy, Direct):
                theta = project_onto_simplex(theta)
            t += 1


def _chunk(x: float | Schedule, first: int) -> Floats:
    if isinstance(x, Values):
        return np.array(x.table[first : first + _CHUNK])
    if isinstance(x, Schedule):
        return x.values(first + _CHUNK)[first:]
    return np.full(_CHUNK, x)


@dataclass(frozen=True, eq=False)
class CommittalRate:
    r"""How fast :math:`1 - \pi_t(k)` vanishes if arm k is drawn for ever.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Updates done.
    log_rest : ndarray, shape (n,)
        :math:`\log(1 - \pi_t(k))`.
    exponent : ndarray, shape (n - 1,)
        The local exponent :math:`-\Delta \log(1 - \pi_t) / \Delta \log t` between recorded times.
    limit : float
        Its limit as t grows: infinite if :math:`1 - \pi_t` decays exponentially, 0 if it does not
        vanish; NaN where it is not known in closed form.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.5), cm.Value(), steps=1)
    >>> rate = committal_rate(e, 0, steps=4096)
    >>> round(float(rate.exponent[-1]), 2), rate.limit
    (1.0, 1.0)
    """

    time: npt.NDArray[np.int64]
    log_rest: Floats
    exponent: Floats
    limit: float


@dynamics.no_overflow
def committal_rate(
    experiment: Experiment, arm: int, *, steps: int = 10_000, theta: npt.ArrayLike | None = None
) -> CommittalRate:
    r"""The exponent of :math:`1 - \pi_t(k) \sim t^{-\kappa}` when arm k is drawn for ever.

    Natural updates with :math:`r_k > b` at the vertex decay exponentially
    (:math:`\kappa = \infty`); with :math:`r_k - b = O(1 - \pi_k)`, as for the value baseline,
    :math:`\kappa = 1`; vanilla updates have :math:`\kappa = 1` for :math:`r_k > b`.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit whose arm `arm` pays a deterministic reward, with a baseline that depends on
        theta only.
    arm : int
        The arm that is drawn, counted from 0.
    steps : int, optional
        How long.
    theta : array_like, optional
        Parameters to start from, the start of the experiment by default.

    Returns
    -------
    CommittalRate
        At times 1, 2, 4, 8, ...

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.5), -1.0, steps=1)
    >>> committal_rate(e, 1, steps=64).limit
    inf
    """
    arm = check_forced(experiment, arm)
    steps = check.integer("steps", steps, 2, limits.DRAWS)
    state = dynamics.states_of(experiment, theta, None)
    if state.ndim != 1:
        raise ConfigError("theta", theta, "one start")
    wanted = 2 ** np.arange(int(math.log2(steps)) + 1)
    kept: list[float] = []
    for t, forced in enumerate(forced_states(experiment, arm, state)):
        if t == wanted[len(kept)]:
            kept.append(forced.log_rest)
            if len(kept) == len(wanted):
                break
    if len(kept) < len(wanted):
        raise ConfigError("steps", steps, "at most as many as the schedule of the update has")
    log_rest = np.array(kept)
    exponent = -np.diff(log_rest) / math.log(2.0)
    return CommittalRate(wanted, log_rest, exponent, _limit(experiment, arm, state))


def shares_of(experiment: Experiment, arm: int, theta: Floats) -> Floats:
    """The other arms' shares of 1 - pi_k, (K,): what natural updates of arm k leave as it is.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> shares_of(e, 1, np.array([0.0, 9.0, 0.0]))
    array([0.5, 0. , 0.5])
    """
    logits = np.array([theta[0], 0.0]) if isinstance(experiment.policy, Sigmoid) else theta
    rest = np.arange(len(logits)) != arm
    shares = np.zeros(len(logits))
    shares[rest] = softmax(logits[rest])
    return shares


def _limit(experiment: Experiment, arm: int, theta: Floats) -> float:
    update = experiment.update
    fixed = not isinstance(update.step_size, Schedule) and getattr(update, "entropy", 0.0) == 0.0
    if not fixed or isinstance(experiment.policy, Direct) or not update.approach:
        return math.nan
    r = np.array(dynamics.bandit_of(experiment).means)
    if update.approach == "harmonic":
        # The shares change on the way; two arms have only one direction of approach.
        if len(r) > 2:
            return math.nan
        s = float(vertices.pull(experiment.baseline, arm, np.eye(2)[1 - arm], r))
        return 1.0 if s > 0.0 else (0.0 if s < 0.0 else math.nan)
    shares = shares_of(experiment, arm, theta)
    s = float(vertices.pull(experiment.baseline, arm, shares, r))
    if s != 0.0:
        return math.inf if s > 0.0 else 0.0
    # r_k - b is of first order in 1 - pi_k: its sign decides whether the arm is approached.
    near = 1e-6 * shares
    near[arm] = 1.0 - 1e-6
    slope = r[arm] - float(experiment.baseline.at(near, r))
    return 1.0 if slope > 1e-12 else 0.0
