r"""Where the true gradient leads: expected paths, and their limit of small steps.

The *expected path* replaces each update by its expectation,
:math:`\theta_{t+1} = \theta_t + \alpha_t E[g(\theta_t)]`. Of a plain rule that is the true
gradient, and no baseline matters; of groups, weights, formulas and optimisers see
:mod:`committal.exact.rule_paths`. The *gradient flow* is the limit of the plain one for small
steps,

.. math:: \frac{d\theta}{ds} = E[g(\theta)], \qquad s = \sum_t \alpha_t,

in the geometry of the update:

* natural softmax: :math:`\dot\theta = r`, so :math:`\theta(s) = \theta_0 + s r`; with a temperature
  :math:`\tau`, :math:`\theta(s) = r/\tau + (\theta_0 - r/\tau) e^{-\tau s}` up to a shift along
  (1, ..., 1);
* vanilla softmax: :math:`\dot\theta = \pi \odot (r - V)`, integrated numerically;
* MDPs: vanilla :math:`d(s)\,\pi(a|s)\,(Q - V)` or natural :math:`Q - V`, both integrated
  numerically;
* direct: the projection of r onto the directions that stay in the simplex. It is constant between
  the times when an arm reaches 0, so the path is piecewise linear and exact.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committal.config import (
    Direct,
    Experiment,
    Natural,
    Projected,
    Schedule,
    TabularMDP,
    Vanilla,
)
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics, mdp_paths
from committal.exact.formulas import refuse_batches, refuse_formulas
from committal.exact.rule_paths import expected_parameters, has_own_expectation
from committal.support import arrays, check, limits
from committal.support.simplex import Floats, project_onto_simplex

__all__ = ["Path", "expected_path", "gradient_flow"]


@dataclass(frozen=True, eq=False)
class Path:
    """A deterministic path.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Updates done, or the time s of the flow.
    theta, policy : ndarray, shape (n, D) and (n, K), or (n, S, A) for an MDP
        Parameters and probabilities.
    value : ndarray, shape (n,)
        J(theta).
    """

    time: Floats
    theta: Floats
    policy: Floats
    value: Floats


@dynamics.no_overflow
def expected_path(experiment: Experiment, times: npt.ArrayLike | None = None) -> Path:
    r""":math:`\theta_{t+1} = \theta_t + \alpha_t E[g(\theta_t)]`: what a rule does on average.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit or an MDP. Of a plain rule baseline, behaviour and estimator do not change the
        path: it is that of the true gradient. In bandits groups, weights and updates that are
        formulas have their true expectation, over all that may be drawn; an optimiser takes that
        for its gradient. Where formulas look at samples, rewards have finitely many values.
    times : array_like of int, optional
        Increasing numbers of updates; 0, ..., steps by default.

    Returns
    -------
    Path

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=20)
    >>> expected_path(e, [0, 10, 20]).theta[:, 0].round(12) + 0.0
    array([-1.,  0.,  1.])

    Arm 0 pays 6 once in ten times, arm 1 always pays 0.5. Groups of two whose advantages are
    divided by their standard deviation learn the worse arm:

    >>> e = cm.Experiment(
    ...     cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]]), cm.Softmax(), cm.Vanilla(1),
    ...     estimator=cm.Group(samples=2, scale="std"), steps=100,
    ... )
    >>> expected_path(e, [0, 10, 100]).policy[:, 0].round(3)
    array([0.5  , 0.076, 0.006])
    """
    check.instance("experiment", experiment, Experiment, "an Experiment")
    if times is None:
        _refuse_many("experiment.steps", experiment.steps)
    wanted = np.arange(experiment.steps + 1) if times is None else _times(times)
    _refuse_many("times", int(wanted[-1]))
    if not np.array_equal(wanted, np.rint(wanted)):
        raise ConfigError("times", times, "increasing whole numbers >= 0")
    wanted = wanted.astype(np.int64)
    if isinstance(experiment.problem, TabularMDP):
        mdp_paths.refuse_rules(experiment)
        refuse_formulas("experiment", experiment)
        refuse_batches("experiment", experiment)
        return _expected_mdp_path(experiment, experiment.problem, wanted)
    if has_own_expectation(experiment) and not isinstance(experiment.policy, Direct):
        dynamics.bandit_of(experiment, formulas=True)  # one epoch
        theta = expected_parameters(experiment, wanted)
        return _path(experiment, wanted.astype(np.float64), theta)
    refuse_formulas("experiment", experiment)
    refuse_batches("experiment", experiment)
    update, last = experiment.update, int(wanted[-1])
    alpha, tau = _table(update.step_size, last), _table(getattr(update, "entropy", 0.0), last)
    theta = dynamics.start_of(experiment)
    kept: list[Floats] = []
    for t in range(last + 1):
        if t == wanted[len(kept)]:
            kept.append(theta)
        if t == last:
            break
        pi = experiment.policy.probabilities_at(theta)
        g = dynamics.expected_direction(experiment, pi)
        if tau[t] > 0.0:
            g = g + tau[t] * dynamics.entropy_direction(experiment, theta)
        theta = theta + alpha[t] * g
        if isinstance(experiment.policy, Direct):
            theta = project_onto_simplex(theta)
    return _path(experiment, wanted.astype(np.float64), np.array(kept))


@dynamics.no_overflow
def gradient_flow(experiment: Experiment, times: npt.ArrayLike) -> Path:
    r""":math:`d\theta/ds = E[g(\theta)]`: the limit of the expected path for small steps.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit or an MDP. Only problem, policy and the kind of update matter, and a constant
        temperature.
    times : array_like
        Increasing times s >= 0; t updates of step size alpha correspond to s = alpha t.

    Returns
    -------
    Path

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025), steps=1)
    >>> gradient_flow(e, [0, 10]).value.round(3)
    array([0.089, 0.847])
    """
    check.instance("experiment", experiment, Experiment, "an Experiment")
    if isinstance(experiment.problem, TabularMDP):
        mdp_paths.refuse_rules(experiment, biased=True)
    refuse_formulas("experiment", experiment)
    if isinstance(experiment.problem, TabularMDP):
        return _mdp_flow(experiment, experiment.problem, _times(times))
    problem, policy, update = (
        dynamics.bandit_of(experiment),
        experiment.policy,
        experiment.update,
    )
    s, start, r = _times(times), dynamics.start_of(experiment), np.array(problem.means)
    tau = getattr(update, "entropy", 0.0)
    if isinstance(tau, Schedule):
        raise CombinationError("experiment.update.entropy", tau, "a constant: a flow has no steps")
    if isinstance(policy, Direct):
        if not isinstance(update, Vanilla | Projected):
            raise CombinationError(
                "experiment.update", update, "Vanilla or Projected: of others no flow is known"
            )
        return _path(experiment, s, _projected_flow(start, r, s))
    if isinstance(update, Natural):
        target = r if len(start) == len(r) else r[:1] - r[1:]
        if tau == 0.0:
            return _path(experiment, s, start + s[:, None] * target)
        decay = np.exp(-tau * s)[:, None]
        return _path(experiment, s, target / tau + (start - target / tau) * decay)

    def velocity(theta: Floats) -> Floats:
        pi = policy.probabilities_at(theta)
        g = dynamics.expected_direction(experiment, pi)
        if tau > 0.0:
            g = g + tau * dynamics.entropy_direction(experiment, theta)
        return g

    if s[-1] == 0.0:
        return _path(experiment, s, np.broadcast_to(start, (len(s), len(start))))
    return _path(experiment, s, _integrated(velocity, s, start, rtol=1e-11, atol=1e-12))


def _expected_mdp_path(
    experiment: Experiment, mdp: TabularMDP, wanted: npt.NDArray[np.int64]
) -> Path:
    last = int(wanted[-1])
    alpha = _table(experiment.update.step_size, last)
    theta = mdp_paths.start_of(experiment, mdp)
    kept = [theta] if wanted[0] == 0 else []
    for t in range(last):
        theta = theta + alpha[t] * mdp_paths.direction(experiment, mdp, theta)
        if t + 1 == wanted[len(kept)]:
            kept.append(theta)
    return _mdp_path(mdp, wanted.astype(np.float64), np.array(kept))


def _mdp_flow(experiment: Experiment, mdp: TabularMDP, s: Floats) -> Path:
    start = mdp_paths.start_of(experiment, mdp)
    if s[-1] == 0.0:
        return _mdp_path(mdp, s, np.broadcast_to(start, (len(s), len(start))))
    velocity = functools.partial(mdp_paths.direction, experiment, mdp)
    return _mdp_path(mdp, s, _integrated(velocity, s, start, rtol=1e-9, atol=1e-11))


def _integrated(
    velocity: Callable[[Floats], Floats], s: Floats, start: Floats, *, rtol: float, atol: float
) -> Floats:
    """Integrate from 0 to the times s; refuse what takes too long or does not end."""
    from scipy.integrate import solve_ivp

    left = limits.EVALUATIONS

    def counted(_: float, theta: Floats) -> Floats:
        nonlocal left
        left -= 1
        if left < 0:
            raise ConfigError(
                "times", s, f"a flow of at most {limits.EVALUATIONS} evaluations: a shorter time"
            )
        return velocity(theta)

    solved = solve_ivp(
        counted, (0.0, float(s[-1])), start, "DOP853", t_eval=s, rtol=rtol, atol=atol
    )
    if not solved.success:
        raise ConfigError("times", s, f"times that the flow reaches ({solved.message})")
    return np.ascontiguousarray(solved.y.T)


def _mdp_path(mdp: TabularMDP, time: Floats, theta: Floats) -> Path:
    policy = mdp_paths.policy_of(mdp, theta)
    return Path(time, theta.reshape(policy.shape), policy, mdp_paths.value_of(mdp, policy))


def _projected_flow(start: Floats, r: Floats, times: Floats) -> Floats:
    """The piecewise linear flow on the simplex."""
    pi, now, kept = start.copy(), 0.0, []
    for s in times:
        while True:
            velocity = _tangent(pi, r)
            falling = velocity < 0.0
            left = pi[falling] / -velocity[falling]
            hit = now + (float(left.min()) if left.size else np.inf)
            if hit >= s:
                kept.append(np.maximum(pi + (s - now) * velocity, 0.0))
                break
            first = np.flatnonzero(falling)[left == left.min()]
            pi = np.maximum(pi + (hit - now) * velocity, 0.0)
            pi[first] = 0.0
            now = hit
    return np.array(kept)


def _tangent(pi: Floats, r: Floats) -> Floats:
    """The direction nearest to r that sums to 0 and lowers no arm of probability 0."""
    free = np.ones(len(r), dtype=bool)
    while True:
        velocity = np.where(free, r - r[free].mean(), 0.0)
        out = free & (pi == 0.0) & (velocity < 0.0)
        if not out.any():
            return velocity
        free &= ~out


def _table(x: float | Schedule, steps: int) -> Floats:
    return x.values(steps) if isinstance(x, Schedule) else np.full(steps, x)


def _times(times: npt.ArrayLike) -> Floats:
    s = arrays.tensor("times", times, check.NON_NEGATIVE)
    if s.ndim != 1 or s.size == 0 or (np.diff(s) <= 0.0).any():
        raise ConfigError("times", times, "increasing numbers >= 0 in one dimension")
    return s


def _refuse_many(argument: str, steps: int) -> None:
    if steps > limits.UPDATES:
        raise ConfigError(argument, steps, f"at most {limits.UPDATES} updates, one after the other")


def _path(experiment: Experiment, time: Floats, theta: Floats) -> Path:
    policy = experiment.policy.probabilities_at(theta)
    r = np.array(dynamics.bandit_of(experiment, formulas=True).means)
    return Path(time, theta, policy, policy @ r)
