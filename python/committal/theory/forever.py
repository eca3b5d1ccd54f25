r"""The probability of the same action for ever: infinite products with rigorous tails.

On the path on which arm k is drawn at every update (`forced`) the probability is
:math:`\prod_t \mu_t(k)`. Natural updates move only :math:`\theta_k`, so the shares q of the other
arms stay fixed and only :math:`\varepsilon_t = 1 - \pi_t(k)` changes. After n factors,

.. math:: -\sum_{t \ge n} \log \pi_t(k) = \sum_{t \ge n} \log(1 + o_t)
          \le \frac{o_n}{1 - e^{-\delta}}, \qquad o = \frac{\varepsilon}{1 - \varepsilon},

if every later step moves :math:`\theta_k` by at least :math:`\delta`. As each step is
:math:`\alpha (r_k - b) / \pi_k \ge \alpha (r_k - b)`, it is enough to enclose b for all
:math:`\varepsilon \in [0, \varepsilon_n]`, which is done in interval arithmetic. A lower bound of
the sum comes from the largest later step in the same way.

The product is 0 exactly where :math:`r_k \le b` in the limit (then
:math:`\sum_t \varepsilon_t = \infty`), and for exploration whose sum diverges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committal.config import (
    Decay,
    Direct,
    Experiment,
    OnPolicy,
    Schedule,
)
from committal.config.schedules import at_time
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics, vertices
from committal.support import check, limits
from committal.support.simplex import Floats
from committal.theory.forced import Forced, check_forced, forced_states, shares_of

__all__ = ["Enclosure", "same_action_forever"]

#: Tails of schedules shrink slowly: after the first number of factors 1e-6 is good enough.
_MANY_STEPS, _MOST_STEPS = 8_000, 50_000
_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number known to lie in [low, high].

    Attributes
    ----------
    low, high : float
        The ends.
    steps : int
        How many factors of the product were multiplied.
    proved : bool
        Whether the ends are proved. A baseline that brings no bounds of its own is looked at on a
        fine grid instead, which is no proof.

    Examples
    --------
    >>> x = Enclosure(0.25, 0.5, 7)
    >>> float(x), 0.3 in x
    (0.375, True)
    """

    low: float
    high: float
    steps: int
    proved: bool = True

    def __float__(self) -> float:
        return 0.5 * (self.low + self.high)

    def __contains__(self, x: float) -> bool:
        return self.low <= x <= self.high


@dynamics.no_overflow
def same_action_forever(
    experiment: Experiment,
    arm: int,
    *,
    theta: npt.ArrayLike | None = None,
    steps: int | None = None,
) -> Enclosure:
    r"""P(every draw is arm k) = :math:`\prod_t \mu_t(k)^N`, enclosed rigorously.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit of any number of arms; arm `arm` pays a deterministic reward and the baseline
        depends on theta only. Step sizes and exploration may be schedules.
    arm : int
        The arm, counted from 0.
    theta : array_like, optional
        Parameters to start from, the start of the experiment by default.
    steps : int, optional
        Only the first so many updates; for ever by default.

    Returns
    -------
    Enclosure
        Its relative width is about 1e-12 where the tail is geometric, 1e-6 for schedules. Where no
        bound of the tail is found the lower end is 0 and the upper one the product of the first
        50,000 factors.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=200)
    >>> p = same_action_forever(e, arm=1)
    >>> round(float(p), 6), p.high - p.low < 1e-9
    (0.048295, True)

    A baseline above the reward lets go of the arm:

    >>> float(same_action_forever(e.replace(baseline=0.5), arm=1))
    0.0
    """
    arm = check_forced(experiment, arm)
    state = dynamics.states_of(experiment, theta, None)
    if state.ndim != 1:
        raise ConfigError("theta", theta, "one start")
    if steps is not None:
        return _finite(experiment, arm, state, check.integer("steps", steps, 0, limits.DRAWS))
    return _infinite(experiment, arm, state)


def _finite(experiment: Experiment, arm: int, theta: Floats, steps: int) -> Enclosure:
    total = 0.0
    path = forced_states(experiment, arm, theta)
    for n in range(steps):
        forced = next(path, None)
        if forced is None:
            raise ConfigError("steps", steps, f"at most {n}, the length of the schedule")
        total += _log_factor(forced)
    return _enclosure(experiment, total, 0.0, 0.0, steps)


def _infinite(experiment: Experiment, arm: int, theta: Floats) -> Enclosure:
    update, policy = experiment.update, experiment.policy
    for x in (update.step_size, experiment.behaviour.exploration):
        if isinstance(x, Schedule) and not isinstance(x, Decay):
            raise CombinationError(
                "experiment", x, "constants or Decay, or steps=: a table says nothing for ever"
            )
    if isinstance(policy, Direct) or getattr(update, "entropy", 0.0) != 0.0:
        raise CombinationError(
            "experiment.update",
            update,
            "softmax or sigmoid without entropy regularisation, or steps=",
        )
    if not update.approach:
        raise CombinationError(
            "experiment.update",
            update,
            "an update that says how it approaches a vertex (Natural, Vanilla), or steps=: of "
            "others no bound of the tail is known",
        )
    if _explores_for_ever(experiment) or update.approach == "harmonic":
        # 1/epsilon grows by a bounded amount per step, so the sum of epsilon diverges.
        return Enclosure(0.0, 0.0, 0)
    r = np.array(dynamics.bandit_of(experiment).means)
    shares = shares_of(experiment, arm, theta)
    proved = experiment.baseline.enclose(arm, shares, 0.25, r).proved
    if float(vertices.pull(experiment.baseline, arm, shares, r)) <= 0.0:
        return Enclosure(0.0, 0.0, 0, proved)

    total, check_at = 0.0, 16
    for n, forced in enumerate(forced_states(experiment, arm, theta)):
        if n in (check_at, _MOST_STEPS):
            check_at = check_at + max(16, check_at // 8)
            tail = _tail(experiment, arm, shares, forced.log_rest, n, r)
            if tail is not None and math.isfinite(tail[1]):
                width = tail[1] - tail[0]
                if width < 1e-12 or (width < 1e-6 and n > _MANY_STEPS) or n >= _MOST_STEPS:
                    return _enclosure(experiment, total, *tail, n, proved)
            if tail is not None and math.isinf(tail[1]):
                return Enclosure(0.0, 0.0, n, proved)
            if n >= _MOST_STEPS or total < -700.0:
                return _enclosure(experiment, total, 0.0, math.inf, n, proved)
        total += _log_factor(forced)
    raise AssertionError("the path of a forced arm has no end")


def _log_factor(forced: Forced) -> float:
    """log mu_k, from 1 - mu_k where that is the smaller one."""
    if forced.mu < 0.5:
        return math.log(forced.mu) if forced.mu > 0.0 else -math.inf
    return math.log1p(-math.exp(forced.log_miss))


def _enclosure(
    experiment: Experiment,
    total: float,
    tail_low: float,
    tail_high: float,
    steps: int,
    proved: bool = True,
) -> Enclosure:
    """exp(N (total - tail)) with the rounding of so many additions and updates added."""
    if total < -700.0:
        return Enclosure(0.0, math.exp(-700.0), steps)  # below all that can be told apart
    samples = dynamics.samples_of(experiment)
    rounding = _ROUNDING * (steps + 1) * (1.0 - total)
    low = math.exp(max(samples * (total - tail_high - rounding), -800.0))
    high = math.exp(samples * (total - tail_low + rounding))
    return Enclosure(0.0 if math.isinf(tail_high) else low, min(high, 1.0), steps, proved)


def _explores_for_ever(experiment: Experiment) -> bool:
    """Say whether the sum of the probabilities of missing the arm diverges for sure."""
    behaviour = experiment.behaviour
    if behaviour.fixed:
        return True
    if not behaviour.mixes:
        raise CombinationError(
            "experiment.behaviour",
            behaviour,
            "a mixture of the policy, or of its greedy arm, with the uniform law, or steps=: of "
            "others no bound of the tail is known",
        )
    rate = behaviour.exploration
    return not (rate == 0.0 or (isinstance(rate, Decay) and rate.power > 1.0))


def _tail(
    experiment: Experiment, arm: int, shares: Floats, log_rest: float, n: int, r: Floats
) -> tuple[float, float] | None:
    """Bounds of -sum over t >= n of log mu_t(k); None if there is none yet."""
    epsilon = math.exp(log_rest)
    if epsilon >= 0.5:
        return None
    b = experiment.baseline.enclose(arm, shares, epsilon, r)
    s_low, s_high = float(r[arm]) - b.high, float(r[arm]) - b.low
    if s_low <= 0.0:
        return None
    implicit = dynamics.implicit_of(experiment, n)
    odds = epsilon / (1.0 - epsilon)
    slow = _sum_of_decays(experiment.update.step_size, s_low / (1.0 + implicit), n)
    if slow is None:
        return _diverging(experiment.update.step_size, s_high / (1.0 - epsilon), n)
    low, high = 0.0, odds * slow
    if isinstance(experiment.behaviour, OnPolicy):
        if not isinstance(experiment.update.step_size, Schedule):
            fast = experiment.update.step_size * s_high / (1.0 - epsilon + implicit)
            # log(1 + o) >= o - o^2 / 2
            low = odds / -math.expm1(-fast) - odds**2 / (-2.0 * math.expm1(-2.0 * fast))
        return max(low, 0.0), high
    rate = experiment.behaviour.exploration
    arms = len(r)
    first = at_time(rate, n) * (1.0 - 1.0 / arms)
    more_low, more_high = _sum_of_rates(rate, n)
    more_low, more_high = (x * (1.0 - 1.0 / arms) for x in (more_low, more_high))
    if experiment.behaviour.mixes == "greedy":
        # Arm k is the greedy one from here on, so only exploration misses it.
        return more_low, more_high / (1.0 - first)
    return more_low, (high + more_high) / (1.0 - first - epsilon)


def _sum_of_decays(alpha: float | Schedule, s: float, n: int) -> float | None:
    r"""A bound of :math:`\sum_{m \ge n} \exp(-s \sum_{t=n}^{m-1} \alpha_t)`; None if not finite."""
    if not isinstance(alpha, Decay):
        assert isinstance(alpha, float)
        return -1.0 / math.expm1(-alpha * s)
    c, p = n + alpha.offset, alpha.power
    if p == 0.0:
        return -1.0 / math.expm1(-alpha.scale * s)
    # Sums of the decreasing alpha are at least integrals, and so is what they are in.
    if p < 1.0:
        a = 1.0 / (1.0 - p)
        y = s * alpha.scale * a * c ** (1.0 - p)
        # Gamma(a, y) <= y^a e^-y / (y - a + 1)
        return 1.0 + c * a / (y - a + 1.0) if y > a - 1.0 else None
    if p == 1.0 and s * alpha.scale > 1.0:
        return 1.0 + c / (s * alpha.scale - 1.0)
    return None


def _diverging(alpha: float | Schedule, s: float, n: int) -> tuple[float, float] | None:
    """Infinite bounds where steps shrink so fast that the product is certainly 0."""
    del n
    if isinstance(alpha, Decay) and (
        alpha.power > 1.0 or (alpha.power == 1.0 and s * alpha.scale <= 1.0)
    ):
        return math.inf, math.inf
    return None


def _sum_of_rates(rate: float | Schedule, n: int) -> tuple[float, float]:
    """Bounds of the sum of an exploration rate over t >= n, by integrals."""
    if not isinstance(rate, Decay):
        return 0.0, 0.0
    c, p = n + rate.offset, rate.power
    integral = rate.scale * c ** (1.0 - p) / (p - 1.0)
    return integral, integral + rate.scale * c**-p
