r"""The formulas of one update, for many policies at once.

Everything here is an array formula over leading axes ``(...)``: a policy is an array
``(..., K)``, a baseline ``(...)``, and the direction of an update, per unit of advantage and per
arm drawn, ``(..., K, D)`` with D the number of parameters (K, or 1 for the sigmoid).

The formulas are written from the mathematics and share no code with the simulators, so that the
exact answers made from them are a check of both.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config import (
    Bandit,
    Baseline,
    Behaviour,
    Constant,
    Decay,
    Direct,
    EpsilonGreedy,
    Experiment,
    Fixed,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    Natural,
    OneSample,
    OnPolicy,
    Policy,
    RunningMean,
    Schedule,
    Sigmoid,
    Softmax,
    UniformMixture,
    Update,
    Value,
)
from committal.errors import CombinationError, ConfigError, ConfigTypeError

Floats: TypeAlias = npt.NDArray[np.float64]

#: 1/pi is not taken of anything smaller, so that weights and their sums stay finite.
SMALLEST_PROBABILITY = 1e-150

_TINY = float(np.finfo(np.float64).tiny)


def bandit_of(experiment: Experiment) -> Bandit:
    """Return the bandit of an experiment, or say that one is needed.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> bandit_of(e).arms
    2
    """
    if not isinstance(experiment, Experiment):
        raise ConfigTypeError("experiment", experiment, "an Experiment")
    if not isinstance(experiment.problem, Bandit):
        raise ConfigTypeError("experiment.problem", experiment.problem, "a Bandit")
    return experiment.problem


def atoms_of(baseline: Baseline) -> tuple[Baseline, ...]:
    """Return the atoms of a baseline: those of its normal form.

    Examples
    --------
    >>> import committal as cm
    >>> atoms_of(0.5 * cm.Value() - 1)
    (Value(),)
    """
    if isinstance(baseline, Linear):
        return tuple(atom for _, atom in baseline.terms)
    return (baseline,)


def refuse_memory(argument: str, baseline: Baseline) -> None:
    """Refuse baselines that depend on anything but theta."""
    if any(isinstance(atom, RunningMean) for atom in atoms_of(baseline)):
        raise CombinationError(
            argument, baseline, "a baseline that depends on theta only, without RunningMean"
        )


def scheduled(x: float | Schedule, t: int) -> float:
    """Return x_t.

    Examples
    --------
    >>> import committal as cm
    >>> scheduled(0.1, 7), scheduled(cm.Decay(1.0, 0.5), 3)
    (0.1, 0.5)
    """
    if isinstance(x, Decay):
        return float(x.scale / (t + x.offset) ** x.power)  # without a table of all earlier values
    return float(x.values(t + 1)[t]) if isinstance(x, Schedule) else x


# -- policies --------------------------------------------------------------------------------------


def others(x: Floats) -> Floats:
    """Sum over j != i of x_j along the last axis, without subtracting x_i from a total.

    Examples
    --------
    >>> others(np.array([1.0, 1e-30, 0.0]))
    array([1.e-30, 1.e+00, 1.e+00])
    """
    total = np.zeros_like(x)
    total[..., 1:] += np.cumsum(x[..., :-1], axis=-1)
    total[..., :-1] += np.cumsum(x[..., :0:-1], axis=-1)[..., ::-1]
    return total


def softmax(theta: Floats) -> Floats:
    """pi_i = exp(theta_i) / sum_j exp(theta_j) along the last axis.

    Examples
    --------
    >>> softmax(np.array([700.0, 700.0]))
    array([0.5, 0.5])
    """
    e: Floats = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def log_softmax(theta: Floats) -> Floats:
    """log pi_i = theta_i - log sum_j exp(theta_j) along the last axis.

    Examples
    --------
    >>> log_softmax(np.array([0.0, -2000.0]))
    array([    0., -2000.])
    """
    shifted = theta - theta.max(axis=-1, keepdims=True)
    e: Floats = np.exp(shifted)
    # log1p of the sum of all but one largest entry keeps a nearly certain arm accurate.
    largest = np.argmax(shifted, axis=-1)[..., None]
    rest = np.take_along_axis(others(e), largest, axis=-1)
    result: Floats = shifted - np.log1p(rest)
    return result


def probabilities(policy: Policy, theta: Floats) -> Floats:
    """pi_theta for each arm, from parameters (..., D).

    Examples
    --------
    >>> import committal as cm
    >>> probabilities(cm.Sigmoid(), np.array([[0.0], [800.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    if isinstance(policy, Direct):
        return theta
    if isinstance(policy, Sigmoid):
        return softmax(np.concatenate([theta, np.zeros_like(theta)], axis=-1))
    return softmax(theta)


def parameters(policy: Policy, pi: Floats) -> Floats:
    """One theta (..., D) whose policy is pi.

    Examples
    --------
    >>> import committal as cm
    >>> parameters(cm.Sigmoid(), np.array([0.5, 0.5]))
    array([0.])
    """
    if isinstance(policy, Direct):
        return pi
    with np.errstate(divide="ignore"):
        log_pi = np.log(pi)
    if isinstance(policy, Sigmoid):
        return log_pi[..., :1] - log_pi[..., 1:]
    return log_pi


def start_of(experiment: Experiment) -> Floats:
    """theta_0, with shape (D,).

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), steps=1)
    >>> start_of(e)
    array([-1.])
    """
    policy, arms = experiment.policy, bandit_of(experiment).arms
    if isinstance(policy, Sigmoid):
        return np.array([policy.theta0])
    if isinstance(policy, Direct):
        given = policy.probabilities
        return np.full(arms, 1.0 / arms) if given is None else np.array(given)
    assert isinstance(policy, Softmax)
    return np.zeros(arms) if policy.theta0 is None else np.array(policy.theta0)


def states_of(
    experiment: Experiment,
    theta: npt.ArrayLike | None,
    policy: npt.ArrayLike | None,
    *,
    argument: str = "theta",
) -> Floats:
    """Return parameters (..., D) from parameters, from probabilities, or the start.

    `argument` is what the caller calls `theta`, for errors. A sigmoid has one parameter, so its
    `theta` has no axis of arms.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), steps=1)
    >>> states_of(e, [0.0, 1.0], None).shape, states_of(e, None, [[0.5, 0.5]]).shape
    ((2, 1), (1, 1))
    """
    arms = bandit_of(experiment).arms
    if theta is not None and policy is not None:
        raise ConfigError("policy", policy, "None where theta is given")
    if policy is not None:
        pi = finite_array("policy", policy)
        if pi.ndim < 1 or pi.shape[-1] != arms:
            raise ConfigError("policy", policy, f"probabilities with {arms} arms in the last axis")
        if (pi < 0.0).any() or (np.abs(pi.sum(axis=-1) - 1.0) > 1e-9).any():
            raise ConfigError("policy", policy, "probabilities that sum to 1 over the last axis")
        if not isinstance(experiment.policy, Direct) and (pi == 0.0).any():
            raise ConfigError("policy", policy, "probabilities > 0: a softmax reaches no others")
        return parameters(experiment.policy, pi)
    if theta is None:
        return start_of(experiment)
    x = finite_array(argument, theta)
    if isinstance(experiment.policy, Sigmoid):
        return x[..., None]
    if x.ndim < 1 or x.shape[-1] != arms:
        raise ConfigError(argument, theta, f"numbers with {arms} arms in the last axis")
    return x


def finite_array(argument: str, value: npt.ArrayLike) -> Floats:
    """Return an array of finite numbers.

    Examples
    --------
    >>> finite_array("theta", [1, 2])
    array([1., 2.])
    """
    try:
        x = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigTypeError(argument, value, "an array of finite numbers") from None
    if not np.isfinite(x).all():
        raise ConfigError(argument, value, "an array of finite numbers")
    return x


# -- baselines and behaviours ----------------------------------------------------------------------


def minimum_variance_weights(pi: Floats, metric: str, lam: float | None = None) -> Floats:
    r"""The weights w of :math:`b^* = \sum_i w_i r_i / \sum_i w_i`.

    gradient: :math:`\pi_i \|e_i - \pi\|^2`; natural: :math:`1 / \pi_i`, and with a fixed
    :math:`\lambda` :math:`\pi_i [(K-1) \lambda^2 + (\lambda + 1 / \pi_i)^2]`.

    Examples
    --------
    >>> minimum_variance_weights(np.array([0.5, 0.5]), "gradient")
    array([0.25, 0.25])
    """
    if metric == "gradient":
        # (1 - pi_i)^2 + sum of the others' squares: positive terms only, nothing cancels.
        return np.asarray(pi * (others(pi) ** 2 + others(pi**2)))
    p: Floats = np.maximum(pi, SMALLEST_PROBABILITY)
    if lam is None:
        return np.reciprocal(p)
    return np.asarray(p * ((pi.shape[-1] - 1) * lam**2 + (lam + 1.0 / p) ** 2))


def weighted_mean(w: Floats, pi: Floats, r: Floats) -> Floats:
    """sum w r / sum w along the last axis; the value where no arm has any weight.

    Examples
    --------
    >>> weighted_mean(np.zeros(2), np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    array(0.5)
    """
    total = w.sum(axis=-1)
    certain = total <= 0.0
    mean = (w @ r) / np.where(certain, 1.0, total)
    return np.asarray(np.where(certain, pi @ r, mean))


def baseline_at(baseline: Baseline, pi: Floats, r: Floats) -> Floats:
    """b(pi), with shape (...), of a baseline that depends on theta only.

    Examples
    --------
    >>> import committal as cm
    >>> pi, r = np.full((2, 3), 1 / 3), np.array([1.0, 0.7, 0.0])
    >>> baseline_at(cm.MinVariance() + 0.5, pi, r).round(6)
    array([1.066667, 1.066667])
    """
    match baseline:
        case Constant():
            return np.full(pi.shape[:-1], baseline.c)
        case Value():
            return np.asarray(pi @ r)
        case MinVariance():
            w = minimum_variance_weights(pi, baseline.metric, baseline.lam)
            return weighted_mean(w, pi, r)
        case Maximum():
            return np.full(pi.shape[:-1], r.max())
        case Gap():
            return np.full(pi.shape[:-1], between_best(r, baseline.fraction))
        case Linear():
            total = np.full(pi.shape[:-1], baseline.offset)
            for coefficient, atom in baseline.terms:
                total = total + coefficient * baseline_at(atom, pi, r)
            return total
    raise CombinationError("baseline", baseline, "a baseline that depends on theta only")


def between_best(r: Floats, fraction: float) -> float:
    """The number at a fraction of the way from the second best mean reward to the best.

    Examples
    --------
    >>> between_best(np.array([1.0, 0.5, 0.0]), 0.5)
    0.75
    """
    second, best = np.sort(r)[-2:]
    return float(second + fraction * (best - second))


def behaviour_at(behaviour: Behaviour, pi: Floats, t: int) -> Floats:
    """mu_t(pi), with the shape of pi.

    Examples
    --------
    >>> import committal as cm
    >>> behaviour_at(cm.EpsilonGreedy(0.5), np.array([0.1, 0.9]), 0)
    array([0.25, 0.75])
    """
    arms = pi.shape[-1]
    match behaviour:
        case OnPolicy():
            return pi
        case UniformMixture():
            gamma = scheduled(behaviour.gamma, t)
            return np.asarray((1.0 - gamma) * pi + gamma / arms)
        case EpsilonGreedy():
            epsilon = scheduled(behaviour.epsilon, t)
            greedy = np.arange(arms) == pi.argmax(axis=-1)[..., None]
            return np.asarray((1.0 - epsilon) * greedy + epsilon / arms)
        case Fixed():
            return np.broadcast_to(np.array(behaviour.probabilities), pi.shape)
    raise CombinationError("behaviour", behaviour, "OnPolicy, UniformMixture, EpsilonGreedy, Fixed")


# -- directions ------------------------------------------------------------------------------------


def directions(policy: Policy, update: Update, pi: Floats, weight: Floats) -> Floats:
    r"""The direction of an update per unit of advantage, (..., K, D), when arm a is drawn.

    With w the importance weight: natural :math:`w_a e_a`; vanilla
    :math:`w_a \pi_a (e_a - \pi)`; direct :math:`w_a e_a`; sigmoid the same with +1 and -1 for the
    two arms in place of :math:`e_a`, and :math:`\pi_1 \pi_2` in place of
    :math:`\pi_a (e_a - \pi)`.

    Examples
    --------
    >>> import committal as cm
    >>> pi = np.array([0.5, 0.5])
    >>> directions(cm.Softmax(), cm.Natural(0.1), pi, 1 / pi)
    array([[2., 0.],
           [0., 2.]])
    """
    arms = pi.shape[-1]
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        sign = np.array([1.0, -1.0])
        scale = np.ones_like(pi) if natural else (pi[..., :1] * pi[..., 1:])
        return np.asarray(sign * weight * scale)[..., None]
    eye = np.eye(arms)
    if natural or isinstance(policy, Direct):
        return weight[..., None] * eye
    score = np.where(eye == 1.0, others(pi)[..., None], -pi[..., None, :])
    return np.asarray((pi * weight)[..., None] * score)


def importance_weights(mu: Floats, implicit: float) -> Floats:
    """1 / (mu + implicit); 0 for an arm that is never drawn.

    Examples
    --------
    >>> importance_weights(np.array([0.5, 0.0]), 0.0)
    array([2., 0.])
    """
    drawn = mu > _TINY
    return np.where(drawn, 1.0 / (np.where(drawn, mu, 1.0) + implicit), 0.0)


def unseen_component(policy: Policy, update: Update) -> bool:
    """Say whether the policy does not see the part of a direction along e = (1, ..., 1).

    Examples
    --------
    >>> import committal as cm
    >>> unseen_component(cm.Softmax(), cm.Natural(0.1))
    True
    >>> unseen_component(cm.Sigmoid(), cm.Natural(0.1))
    False
    """
    return isinstance(policy, Direct) or (
        isinstance(policy, Softmax) and isinstance(update, Natural)
    )


def entropy_direction(policy: Policy, update: Update, theta: Floats) -> Floats:
    """The gradient of H in the geometry of the update: -log pi, or -pi (log pi + H).

    Examples
    --------
    >>> import committal as cm
    >>> entropy_direction(cm.Sigmoid(), cm.Natural(1.0), np.array([2.0]))
    array([-2.])
    """
    pi = probabilities(policy, theta)
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        return -theta if natural else -theta * pi[..., :1] * pi[..., 1:]
    log_pi = log_softmax(theta)
    if natural:
        return -log_pi
    entropy = -(pi * log_pi).sum(axis=-1, keepdims=True)
    return np.asarray(-pi * (log_pi + entropy))


def expected_direction(policy: Policy, update: Update, pi: Floats, r: Floats) -> Floats:
    """E[g] without baseline, on-policy: pi (r - V), r, or r; the sigmoid's is a difference.

    Examples
    --------
    >>> import committal as cm
    >>> expected_direction(cm.Softmax(), cm.Vanilla(1.0), np.array([0.5, 0.5]), np.array([1.0, 0]))
    array([ 0.25, -0.25])
    """
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        scale = np.ones_like(pi[..., :1]) if natural else pi[..., :1] * pi[..., 1:]
        return np.asarray((r[0] - r[1]) * scale)
    if natural or isinstance(policy, Direct):
        return np.broadcast_to(r, pi.shape)
    return pi * (r - (pi @ r)[..., None])


def entropy_weight(update: Update, t: int) -> float:
    """tau_t, 0 for updates without entropy regularisation.

    Examples
    --------
    >>> import committal as cm
    >>> entropy_weight(cm.Natural(0.1, entropy=0.5), 0), entropy_weight(cm.Projected(0.1), 0)
    (0.5, 0.0)
    """
    return scheduled(getattr(update, "entropy", 0.0), t)


def project_onto_simplex(x: Floats) -> Floats:
    """The nearest point of the simplex along the last axis: max(x - s, 0), summing to 1.

    Examples
    --------
    >>> project_onto_simplex(np.array([[0.5, 0.25, 2.0], [0.2, 0.3, 0.5]]))
    array([[0. , 0. , 1. ],
           [0.2, 0.3, 0.5]])
    """
    # From the largest entry, so that a far-away x keeps its small differences.
    point = x - x.max(axis=-1, keepdims=True)
    descending = -np.sort(-point, axis=-1)
    shifts = (np.cumsum(descending, axis=-1) - 1.0) / np.arange(1, x.shape[-1] + 1)
    support = (descending > shifts).sum(axis=-1, keepdims=True) - 1
    projected: Floats = np.maximum(point - np.take_along_axis(shifts, support, axis=-1), 0.0)
    return projected


def samples_of(experiment: Experiment) -> int:
    """N, the draws averaged in one update; 0 for the expected estimator.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> samples_of(e)
    1
    """
    estimator = experiment.estimator
    return estimator.samples if isinstance(estimator, OneSample) else 0


def implicit_of(experiment: Experiment, t: int) -> float:
    """The implicit exploration of EXP3-IX at update t.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> implicit_of(e, 0)
    0.0
    """
    estimator = experiment.estimator
    return scheduled(estimator.implicit, t) if isinstance(estimator, OneSample) else 0.0


def reward_atoms(problem: Bandit, a: int) -> tuple[tuple[float, float], ...]:
    """The (value, probability) pairs of the reward of arm a.

    Examples
    --------
    >>> import committal as cm
    >>> reward_atoms(cm.Bandit([0.25, 0.75], noise="bernoulli"), 0)
    ((1.0, 0.25), (0.0, 0.75))
    """
    r = problem.means[a]
    if problem.noise is None:
        return ((r, 1.0),)
    if problem.noise == "bernoulli":
        return ((1.0, r), (0.0, 1.0 - r))
    if problem.table is not None:
        return problem.table[a]
    raise CombinationError(
        "experiment.problem.noise",
        problem.noise,
        "rewards with finitely many values: None, 'bernoulli' or 'table'",
    )
