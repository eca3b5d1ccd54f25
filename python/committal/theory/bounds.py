r"""Bounds that can be computed: the propositions of the paper, as numbers.

All are statements about probabilities under natural policy gradient. Where the printed statement
needs a correction, both are here and the difference is explained; the derivations are in the
documentation (theory.md).
"""

from __future__ import annotations

import math

import numpy as np

from committal.config import (
    Baseline,
    Experiment,
    Natural,
    OneSample,
    OnPolicy,
    Schedule,
    Softmax,
)
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics
from committal.support import check, limits
from committal.support.simplex import Floats, softmax

__all__ = ["baseline_range", "gap_bound", "off_policy_bound", "proposition_1_bound"]


@dynamics.no_overflow
def proposition_1_bound(theta0: float, step_size: float, b: float, *, form: str = "sharp") -> float:
    r"""A lower bound of P(suboptimal action for ever), rewards 1 and 0, constant :math:`b < 0`.

    With :math:`c = -\alpha b` each draw of the second arm lowers :math:`\theta` by at least c, so
    the probability is at least :math:`\prod_{t \ge 0} 1 / (1 + e^{\theta_0 - ct})`, and

    * ``"sharp"``: :math:`\ge \exp(-e^{\theta_0} / (1 - e^{-c}))` for every :math:`\theta_0`, by
      :math:`1 + x \le e^x`;
    * ``"corrected"``: :math:`\ge (1 - e^{\theta_0})^{1 + 1/c}` for :math:`\theta_0 \le 0`, the
      argument of the paper with its integral taken from 0;
    * ``"printed"``: :math:`(1 - e^{\theta_0}) (1 - e^{\theta_0 - c})^{1/c}`, as the paper states.
      Its integral is taken from 1, where it is *smaller* than the sum it should bound, so this is
      not a bound in general: at :math:`\theta_0 = -10, c = 1` it exceeds the probability. For the
      settings of the paper's figure it does hold.

    Parameters
    ----------
    theta0 : float
        The start; at most 0 except for ``"sharp"``.
    step_size : float
        alpha > 0.
    b : float
        The baseline, < 0.
    form : {"sharp", "corrected", "printed"}, optional
        Which of the three.

    Examples
    --------
    >>> [round(proposition_1_bound(-1, 0.1, -1, form=f), 4) for f in ("corrected", "printed")]
    [0.0064, 0.011]
    >>> round(proposition_1_bound(-1, 0.1, -1), 4)
    0.0209
    """
    check.choice("form", form, ("sharp", "corrected", "printed"))
    theta0 = check.number("theta0", theta0)
    step_size = check.number("step_size", step_size, check.POSITIVE)
    b = check.number("b", b, check.NEGATIVE)
    c = -step_size * b
    if form == "sharp":
        return math.exp(math.exp(theta0) / math.expm1(-c)) if theta0 < 700.0 else 0.0
    if theta0 > 0.0:
        raise ConfigError("theta0", theta0, "a number <= 0, or form='sharp'")
    if theta0 == 0.0:
        return 0.0
    first = math.log(-math.expm1(theta0))
    rest = first if form == "corrected" else math.log(-math.expm1(theta0 - c))
    return math.exp(first + rest / c)


@dynamics.no_overflow
def gap_bound(experiment: Experiment, t: int) -> float:
    r""":math:`P(\theta^1_t > \theta^1_0 + \alpha \Delta_1 t/2) \ge 1 - e^{-\pi_0(1)^2 t/8}`.

    With a baseline strictly between the two best rewards every draw raises the best arm's
    probability, so it never falls below :math:`\pi_0(1)`, the increments of
    :math:`\alpha \Delta_1 t - \theta^1_t` are bounded by :math:`\alpha \Delta_1 / \pi_0(1)`, and
    Azuma's inequality applies. :math:`\Delta_1 = r_1 - b`.

    Parameters
    ----------
    experiment : Experiment
        Natural softmax, on-policy, deterministic rewards, a constant baseline inside of the gap.
    t : int
        The number of updates.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.1), cm.Gap(), steps=1)
    >>> round(gap_bound(e, 200), 4)
    0.9378
    """
    problem = dynamics.bandit_of(experiment)
    r = np.array(problem.means)
    low, high = baseline_range(experiment.baseline, r)
    inside = low == high and np.sort(r)[-2] < low < r.max() if problem.arms > 1 else False
    if not inside:
        raise CombinationError(
            "experiment.baseline", experiment.baseline, "a constant between the two best rewards"
        )
    if not isinstance(experiment.update, Natural) or not isinstance(experiment.policy, Softmax):
        raise CombinationError("experiment.update", experiment.update, "Natural with Softmax")
    if not isinstance(experiment.behaviour, OnPolicy) or any(problem.reward_variances):
        raise CombinationError(
            "experiment.behaviour", experiment.behaviour, "OnPolicy with deterministic rewards"
        )
    pi = softmax(dynamics.start_of(experiment))
    return -math.expm1(-(float(pi[problem.best]) ** 2) * dynamics.updates_done(t) / 8.0)


@dynamics.no_overflow
def off_policy_bound(experiment: Experiment, t: int) -> float:
    r"""A lower bound of P(every :math:`\theta^1_t - \theta^i_t` has grown by half its mean).

    With importance sampling, :math:`\theta^1_t - \theta^i_t` grows by
    :math:`\alpha_s (r_1 - r_i)` on average whatever the baseline, and its increments are at most
    :math:`\alpha_s (B / \varepsilon_s + r_1 - r_i)`, where :math:`|R - b| \le B` and every arm is
    drawn with probability at least :math:`\varepsilon_s`. By Azuma's inequality

    .. math:: P\Big(\exists i: \theta^1_t - \theta^i_t \le \theta^1_0 - \theta^i_0
              + \tfrac12 (r_1 - r_i) \textstyle\sum_s \alpha_s\Big)
              \le \sum_{i \ne 1} \exp\Big(-\frac{(\frac12 (r_1 - r_i) \sum_s \alpha_s)^2}
              {2 \sum_s \alpha_s^2 (B / \varepsilon_s + r_1 - r_i)^2}\Big),

    which vanishes if :math:`t \varepsilon_t^2 \to \infty`. This is the argument of the paper's
    Proposition 3, applied to differences, so that b may depend on theta.

    Parameters
    ----------
    experiment : Experiment
        Natural updates, an unbiased estimate, bounded rewards, a single best arm, and a behaviour
        that keeps every arm.
    t : int
        The number of updates.

    Returns
    -------
    float
        0 where the bound says nothing.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=1
    ... ).replace(behaviour=cm.UniformMixture(0.5))
    >>> off_policy_bound(e, 0), round(off_policy_bound(e, 3000), 3)
    (0.0, 0.99)
    """
    problem, update, estimator = (
        dynamics.bandit_of(experiment),
        experiment.update,
        experiment.estimator,
    )
    if not isinstance(update, Natural) or update.entropy != 0.0:
        raise CombinationError("experiment.update", update, "Natural without entropy")
    if not isinstance(estimator, OneSample) or estimator.implicit != 0.0:
        raise CombinationError("experiment.estimator", estimator, "OneSample with implicit = 0")
    r = np.array(problem.means)
    if problem.arms < 2 or (r == r.max()).sum() > 1:
        raise CombinationError("experiment.problem", problem, "a single best arm")
    t = check.integer("t", t, 0, limits.UPDATES)
    epsilon = _least_probability(experiment, t)
    alpha = _values(update.step_size, t)
    rewards = _reward_range(experiment)
    low, high = baseline_range(experiment.baseline, r, rewards)
    largest = max(abs(rewards[1] - low), abs(rewards[0] - high))
    gaps = r.max() - np.delete(r, problem.best)
    half = 0.5 * gaps * alpha.sum()
    squares = np.array([(alpha**2 * (largest / epsilon + gap) ** 2).sum() for gap in gaps])
    failed = np.exp(-(half**2) / (2.0 * squares)).sum() if t else 1.0
    return max(0.0, 1.0 - float(failed))


@dynamics.no_overflow
def baseline_range(
    baseline: Baseline, r: Floats, rewards: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Bounds of b over all policies (and, for a running mean, over all rewards seen).

    Examples
    --------
    >>> import committal as cm
    >>> baseline_range(cm.MinVariance() - 0.5, np.array([1.0, 0.7, 0.0]))
    (-0.5, 0.5)
    """
    check.instance("baseline", baseline, Baseline, "a Baseline")
    r = check.array("r", r, least=1, noun="arm")
    if rewards is not None:
        low, high = check.vector("rewards", rewards, length=2)
        if low > high:
            raise ConfigError("rewards", rewards, "(low, high) with low <= high")
        rewards = low, high
    return baseline.range(r, rewards)


def _least_probability(experiment: Experiment, t: int) -> Floats:
    behaviour, arms = experiment.behaviour, dynamics.bandit_of(experiment).arms
    epsilon = behaviour.least(arms, _values(behaviour.exploration, t))
    if not (epsilon > 0.0).all():
        raise CombinationError(
            "experiment.behaviour", behaviour, "one that draws every arm with probability > 0"
        )
    return epsilon


def _reward_range(experiment: Experiment) -> tuple[float, float]:
    problem = dynamics.bandit_of(experiment)
    r = np.array(problem.means)
    if problem.half_width is not None:
        half = np.array(problem.half_width)
        return float((r - half).min()), float((r + half).max())
    if problem.sigma is not None:
        raise CombinationError("experiment.problem.noise", "gaussian", "bounded rewards")
    values = [v for a in range(problem.arms) for v, q in dynamics.reward_atoms(problem, a) if q]
    return min(values), max(values)


def _values(x: float | Schedule, t: int) -> Floats:
    return x.values(t) if isinstance(x, Schedule) else np.full(t, x)
