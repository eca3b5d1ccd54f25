r"""The variance of the gradient estimate, and what the baseline does to it.

One sample draws arm a with probability :math:`\mu_a`, and its estimate is
:math:`g = (R - b) G_a`, where the vector :math:`G_a` does not depend on b. With
:math:`v_a = \mathrm{Var}[R \mid a]`,

.. math:: E[g] = \sum_a \mu_a (r_a - b) G_a, \qquad
          E\|g\|^2 = \sum_a \mu_a \|G_a\|^2 (v_a + (r_a - b)^2),

so the second moment and the variance are quadratic in b. Softmax and simplex do not see the
direction e = (1, ..., 1); for natural and direct updates g is taken without its component along
it, as the recorded ``variance`` is. N samples divide covariances by N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.config import Experiment, MinVariance
from committal.config.baselines import METRICS
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics, formulas
from committal.exact.law import outcomes
from committal.exact.lumped import can_lump, lumped
from committal.support import arrays, check
from committal.support.simplex import Floats, others

__all__ = [
    "BaselineQuadratic",
    "Moments",
    "ValueIdentity",
    "baseline_quadratic",
    "gradient_moments",
    "gradient_variance",
    "log_variance_ratio",
    "minimum_variance_baseline",
    "two_arm_variance",
    "value_identity",
]


class Moments(NamedTuple):
    """Mean (..., D), covariance (..., D, D) and second moment (..., D, D) of an estimate."""

    mean: Floats
    covariance: Floats
    second_moment: Floats


@dynamics.no_overflow
def gradient_moments(
    experiment: Experiment,
    *,
    theta: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    t: int = 0,
    visible: bool = True,
) -> Moments:
    r"""E[g], Cov[g] and :math:`E[g g^T]` of the gradient estimate, without the step size.

    Parameters
    ----------
    experiment : Experiment
        With any law of the rewards: only their means and variances matter.
    theta, policy : array_like, optional
        Where: parameters or probabilities; by default the start of the experiment.
    t : int, optional
        The number of updates already done, for schedules.
    visible : bool, optional
        Leave out the component along e that the policy does not see.

    Returns
    -------
    Moments

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), 0.5, steps=1)
    >>> gradient_moments(e).mean
    array([ 0.25, -0.25])
    """
    visible = check.boolean("visible", visible)
    if isinstance(experiment, Experiment) and formulas.has_formulas(experiment):
        return _by_enumeration(experiment, theta, policy, t, visible)
    parts = _parts(experiment, theta, policy, t, visible)
    samples = dynamics.samples_of(experiment)
    advantage = parts.r - parts.b[..., None]
    given_arm = advantage[..., None] * parts.per_arm
    mean = np.einsum("...a,...ad->...d", parts.mu, given_arm)
    # Roots of the weights go inside of the squares: (1/mu)^2 alone may overflow.
    root = np.sqrt(parts.mu)[..., None]
    noise = root * np.sqrt(parts.reward_variance)[:, None] * parts.per_arm
    spread = root * (given_arm - mean[..., None, :])
    covariance = np.einsum("...ai,...aj->...ij", noise, noise)
    covariance = (covariance + np.einsum("...ai,...aj->...ij", spread, spread)) / max(samples, 1)
    second = covariance + mean[..., :, None] * mean[..., None, :]
    return Moments(mean, covariance, second)


@dynamics.no_overflow
def gradient_variance(
    experiment: Experiment,
    *,
    theta: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    t: int = 0,
) -> Floats:
    r"""tr Cov[g] of the gradient estimate, with shape (...): the recorded ``variance``.

    Parameters
    ----------
    experiment, theta, policy, t
        As for :func:`gradient_moments`.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
    >>> gradient_variance(e, theta=[0.0, 2.0]).round(6)
    array([ 9.      , 11.930397])
    """
    if isinstance(experiment, Experiment) and formulas.has_formulas(experiment):
        moments = _by_enumeration(experiment, theta, policy, t, visible=True)
        return np.asarray(np.einsum("...ii->...", moments.covariance))
    parts = _parts(experiment, theta, policy, t, visible=True)
    samples = dynamics.samples_of(experiment)
    given_arm = (parts.r - parts.b[..., None])[..., None] * parts.per_arm
    mean = np.einsum("...a,...ad->...d", parts.mu, given_arm)
    root = np.sqrt(parts.mu)[..., None]
    noise = root * np.sqrt(parts.reward_variance)[:, None] * parts.per_arm
    spread = root * (given_arm - mean[..., None, :])
    with np.errstate(over="ignore"):  # a variance beyond the largest double is infinite
        trace = np.einsum("...ai,...ai->...", noise, noise)
        trace = trace + np.einsum("...ai,...ai->...", spread, spread)
    return np.asarray(trace / max(samples, 1))


def _by_enumeration(
    experiment: Experiment,
    theta: npt.ArrayLike | None,
    policy: npt.ArrayLike | None,
    t: int,
    visible: bool,
) -> Moments:
    """The moments of a direction that has formulas in it; the rewards have finitely many values."""
    states = dynamics.states_of(experiment, theta, policy)
    formulas.refuse_states(experiment)
    t = dynamics.updates_done(t)
    if can_lump(experiment):
        probability, g, inner = lumped(experiment, states, t)
    else:
        probability, g = outcomes(experiment, states, t)
        inner = np.zeros((1, 1, 1))
    if visible and experiment.policy.ignores_shifts:
        g = g - g.mean(axis=-1, keepdims=True)
        inner = inner - inner.mean(axis=-1, keepdims=True)
        inner = inner - inner.mean(axis=-2, keepdims=True)
    mean = np.einsum("...m,...md->...d", probability, g)
    spread = np.sqrt(probability)[..., None] * (g - mean[..., None, :])
    covariance = np.einsum("...mi,...mj->...ij", spread, spread)
    covariance = covariance + np.einsum("...m,...mij->...ij", probability, inner)
    return Moments(mean, covariance, covariance + mean[..., :, None] * mean[..., None, :])


@dynamics.no_overflow
def log_variance_ratio(
    first: Experiment,
    second: Experiment,
    *,
    policy: npt.ArrayLike,
    t: int = 0,
) -> Floats:
    r""":math:`\log(\mathrm{Var}[g_1] / \mathrm{Var}[g_2])` of two experiments, with shape (...).

    Positive where the first estimate is the noisier one. Where both variances are 0 it is NaN,
    where only one is it is infinite.

    Parameters
    ----------
    first, second : Experiment
        Two experiments of bandits with the same number of arms.
    policy : array_like, shape (..., K)
        Probabilities.
    t : int, optional
        The number of updates already done, for schedules.

    Examples
    --------
    The minimum-variance baseline never loses:

    >>> import committal as cm
    >>> none = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=1)
    >>> least = none.replace(baseline=cm.MinVariance())
    >>> bool((log_variance_ratio(none, least, policy=cm.exact.simplex_grid(40)) >= 0).all())
    True
    """
    for argument, experiment in (("first", first), ("second", second)):
        dynamics.bandit_of(experiment, argument, formulas=True)
    one = gradient_variance(first, policy=policy, t=t)
    two = gradient_variance(second, policy=policy, t=t)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(one) - np.log(two))


@dataclass(frozen=True, eq=False)
class BaselineQuadratic:
    r"""variance(b) = curvature (b - minimiser)^2 + minimum, for each of many policies.

    Attributes
    ----------
    curvature, minimiser, minimum : ndarray, shape (...)
        a, :math:`b^*` and the least variance.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), steps=1)
    >>> q = baseline_quadratic(e)
    >>> float(q.curvature), float(q.minimiser), float(q.minimum), float(q(-1.0))
    (4.0, 0.5, 0.0, 9.0)
    """

    curvature: Floats
    minimiser: Floats
    minimum: Floats

    def __call__(self, b: npt.ArrayLike) -> Floats:
        """Return the variance at b."""
        at = arrays.tensor("b", b)
        arrays.same_shape(minimiser=self.minimiser, b=at)
        distance = at - self.minimiser
        return np.asarray(self.curvature * distance**2 + self.minimum)


@dynamics.no_overflow
def baseline_quadratic(
    experiment: Experiment,
    *,
    theta: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    t: int = 0,
) -> BaselineQuadratic:
    r"""tr Cov[g] as a function of b: :math:`a (b - b^*)^2 + c`.

    With :math:`m(b) = m_0 - b m_1` the mean, :math:`m_1 = \sum \mu_a G_a`,

    .. math:: a = \sum_a \mu_a \|G_a\|^2 - \|m_1\|^2, \qquad
              a b^* = \sum_a \mu_a \|G_a\|^2 r_a - m_0 \cdot m_1 .

    For unbiased estimates :math:`m_1 = 0` (in the directions the policy sees), and then the second
    moment has the same minimiser.

    Parameters
    ----------
    experiment, theta, policy, t
        As for :func:`gradient_moments`; the baseline of the experiment is not used.

    Returns
    -------
    BaselineQuadratic

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Vanilla(0.1), steps=1)
    >>> round(float(baseline_quadratic(e).minimiser), 4)
    0.5667
    """
    parts = _parts(experiment, theta, policy, t, visible=True, baseline=False)
    samples = max(dynamics.samples_of(experiment), 1)
    weight = parts.mu * (parts.per_arm**2).sum(axis=-1)
    m0 = np.einsum("...a,...ad->...d", parts.mu * parts.r, parts.per_arm)
    m1 = np.einsum("...a,...ad->...d", parts.mu, parts.per_arm)
    curvature = weight.sum(axis=-1) - (m1**2).sum(axis=-1)
    slope = weight @ parts.r - (m0 * m1).sum(axis=-1)
    flat = curvature <= 0.0
    pi_value = (parts.pi @ parts.r) if parts.pi.ndim else parts.r
    minimiser = np.where(flat, pi_value, slope / np.where(flat, 1.0, curvature))
    # At the minimiser by the centred sum: subtracting from the second moment would cancel.
    given_arm = (parts.r - minimiser[..., None])[..., None] * parts.per_arm
    mean = np.einsum("...a,...ad->...d", parts.mu, given_arm)
    spread = np.sqrt(parts.mu)[..., None] * (given_arm - mean[..., None, :])
    minimum = (spread**2).sum(axis=(-1, -2)) + weight @ parts.reward_variance
    return BaselineQuadratic(
        np.asarray(curvature / samples), np.asarray(minimiser), np.asarray(minimum / samples)
    )


@dynamics.no_overflow
def minimum_variance_baseline(
    means: npt.ArrayLike,
    policy: npt.ArrayLike,
    *,
    metric: str = "gradient",
    lam: float | None = None,
) -> Floats:
    r""":math:`b^* = \sum_a w_a r_a / \sum_a w_a`, the baseline of least variance.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean rewards.
    policy : array_like, shape (..., K)
        Probabilities.
    metric : {"gradient", "natural"}, optional
        The norm in which variance is measured: weights :math:`\pi_a \|e_a - \pi\|^2` or
        :math:`1/\pi_a`.
    lam : float, optional
        With ``metric="natural"``, the shift :math:`\lambda` of the direction
        :math:`e_a / \pi_a + \lambda e`; then the weights are
        :math:`\pi_a [(K-1) \lambda^2 + (\lambda + 1 / \pi_a)^2]` and it is the second moment that
        is least. None is the direction of least norm.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> uniform = [1 / 3, 1 / 3, 1 / 3]
    >>> float(minimum_variance_baseline([1.0, 0.7, 0.0], uniform).round(4))
    0.5667
    >>> near_arm_2 = [0.01, 0.98, 0.01]
    >>> float(minimum_variance_baseline([1, 0.7, 0], near_arm_2, metric="natural").round(4))
    0.501
    """
    check.choice("metric", metric, METRICS)
    if lam is not None and metric != "natural":
        raise ConfigError("lam", lam, "None unless metric='natural'")
    r = check.array("means", means, least=1, noun="arm")
    return MinVariance(metric, lam).at(dynamics.policies("policy", policy, len(r)), r)


class ValueIdentity(NamedTuple):
    r"""V, :math:`b^*` and :math:`\mathrm{Cov}(r, \|\nabla\log\pi\|^2)/E\|\nabla\log\pi\|^2`."""

    value: Floats
    minimum_variance: Floats
    covariance_term: Floats


@dynamics.no_overflow
def value_identity(means: npt.ArrayLike, policy: npt.ArrayLike) -> ValueIdentity:
    r""":math:`V = b^* - \mathrm{Cov}(r, \|\nabla\log\pi\|^2) / E\|\nabla\log\pi\|^2`, term by term.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean rewards.
    policy : array_like, shape (..., K)
        Probabilities.

    Returns
    -------
    ValueIdentity
        The three terms, each computed from its own definition.

    Examples
    --------
    >>> terms = value_identity([1.0, 0.7, 0.0], [0.9, 0.05, 0.05])
    >>> float((terms.minimum_variance - terms.covariance_term - terms.value).round(12))
    0.0
    >>> bool(terms.value > terms.minimum_variance)  # near a good policy the value is larger
    True
    """
    best = minimum_variance_baseline(means, policy)
    r = check.array("means", means, least=1, noun="arm")
    pi = dynamics.policies("policy", policy, len(r))
    norm = others(pi) ** 2 + others(pi**2)
    value, mean_norm = pi @ r, (pi * norm).sum(axis=-1)
    covariance = (pi * (r - value[..., None]) * (norm - mean_norm[..., None])).sum(axis=-1)
    certain = mean_norm <= 0.0
    term = np.where(certain, 0.0, covariance / np.where(certain, 1.0, mean_norm))
    return ValueIdentity(np.asarray(value), best, np.asarray(term))


@dynamics.no_overflow
def two_arm_variance(
    p: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    means: tuple[float, float] = (1.0, 0.0),
    natural: bool = True,
) -> Floats:
    r"""The closed form :math:`((r_1 - b)(1 - p) + (r_2 - b) p)^2 / (p (1 - p))` of two arms.

    With rewards 1 and 0 it is :math:`(1 - p - b)^2 / (p (1 - p))`. The vanilla estimate has
    :math:`p (1 - p)` as a factor instead of a divisor.

    Parameters
    ----------
    p : array_like
        The probability of the first arm, in (0, 1).
    b : array_like
        The baseline.
    means : tuple of float, optional
        The mean rewards.
    natural : bool, optional
        Natural or vanilla sigmoid.

    Examples
    --------
    >>> two_arm_variance([0.5, 0.01], -1.0).round(3)
    array([  9.  , 400.01])
    >>> float(two_arm_variance(0.25, 0.75))  # b = 1 - p
    0.0
    """
    p, b = arrays.tensor("p", p, check.UNIT_INSIDE), arrays.tensor("b", b)
    arrays.same_shape(p=p, b=b)
    first, second = check.vector("means", means, length=2, noun="arm")
    check.boolean("natural", natural)
    distance = (first - b) * (1.0 - p) + (second - b) * p
    fisher = p * (1.0 - p)
    return np.asarray(distance**2 / fisher if natural else distance**2 * fisher)


class _Parts(NamedTuple):
    pi: Floats
    mu: Floats
    b: Floats
    r: Floats
    reward_variance: Floats
    per_arm: Floats


def _parts(
    experiment: Experiment,
    theta: npt.ArrayLike | None,
    policy: npt.ArrayLike | None,
    t: int,
    visible: bool,
    baseline: bool = True,
) -> _Parts:
    problem = dynamics.bandit_of(experiment)
    t = dynamics.updates_done(t)
    if dynamics.samples_of(experiment) == 0:
        raise CombinationError(
            "experiment.estimator", experiment.estimator, "OneSample: Expected has no variance"
        )
    states = dynamics.states_of(experiment, theta, policy)
    pi = experiment.policy.probabilities_at(states)
    r = np.array(problem.means)
    mu = experiment.behaviour.at(pi, t)
    weight = dynamics.importance_weights(mu, dynamics.implicit_of(experiment, t))
    per_arm = weight[..., None] * experiment.update.rows(experiment.policy, pi)
    if visible and experiment.policy.ignores_shifts:
        per_arm = per_arm - per_arm.mean(axis=-1, keepdims=True)
    if baseline:
        dynamics.refuse_memory("experiment.baseline", experiment.baseline)
        b = experiment.baseline.at(pi, r)
    else:
        b = np.zeros(pi.shape[:-1])
    return _Parts(pi, mu, b, r, np.array(problem.reward_variances), per_arm)
