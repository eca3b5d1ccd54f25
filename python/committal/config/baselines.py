"""The baselines b_t that have a name.

A new one is a class here and a struct of the same name in the kernels; CONTRIBUTING has the
recipe.
"""

from __future__ import annotations

import numpy as np

from committal.config.base import config
from committal.config.linear import Baseline, Enclosed
from committal.errors import ConfigError
from committal.support import check
from committal.support.simplex import (
    SMALLEST_PROBABILITY,
    Floats,
    between_best,
    others,
    weighted_mean,
)

__all__ = ["Gap", "MinVariance", "RunningMean", "Value"]

METRICS = ("gradient", "natural")


class WeightedMean(Baseline):
    """b = sum_a w_a r_a / sum_a w_a with weights w(pi) >= 0."""

    __slots__ = ()

    def weights(self, pi: Floats) -> Floats:
        """w(pi) along the last axis."""
        raise NotImplementedError

    def at(self, pi: Floats, r: Floats) -> Floats:
        """The weighted mean; the value of the policy where no arm has any weight."""
        return weighted_mean(self.weights(pi), pi, r)

    def range(self, r: Floats, rewards: tuple[float, float] | None = None) -> tuple[float, float]:
        """A mean of the rewards lies between them."""
        del rewards
        return float(r.min()), float(r.max())


@config
class Value(WeightedMean):
    """b = V = sum_a pi(a) r_a, the value of the policy.

    Examples
    --------
    >>> Value() + 0.5
    Value() + 0.5
    """

    def __init__(self) -> None:
        self._set()

    def weights(self, pi: Floats) -> Floats:
        """pi."""
        return pi

    def enclose(self, arm: int, shares: Floats, epsilon: float, r: Floats) -> Enclosed:
        """b is linear in 1 - pi_k: the ends are at 0 and at epsilon."""
        ends = (float(r[arm]), float((1.0 - epsilon) * r[arm] + epsilon * (shares @ r)))
        return Enclosed(min(ends), max(ends))


@config
class MinVariance(WeightedMean):
    """b = sum_a w_a r_a / sum_a w_a, the baseline of least variance.

    The weights depend on the norm in which variance is measured:

    - gradient: w_a = pi_a ||e_a - pi||^2, for the vanilla direction;
    - natural, ``lam=None``: w_a = 1 / pi_a, for the natural direction of least norm;
    - natural, `lam` given: w_a = pi_a [(K - 1) lam^2 + (lam + 1 / pi_a)^2], for the natural
      direction e_a / pi_a + lam (1, ..., 1).

    Parameters
    ----------
    metric
        ``"gradient"`` or ``"natural"``.
    lam
        The shift of the natural direction, only with ``metric="natural"``; None for least norm.

    Notes
    -----
    In the natural metric it is the second moment that is minimised: there the mean of the
    estimate moves along (1, ..., 1) with b, which a softmax cannot see.

    Examples
    --------
    >>> MinVariance() + 0.5
    MinVariance() + 0.5
    >>> MinVariance("natural", lam=1)
    MinVariance(metric='natural', lam=1.0)
    """

    metric: str
    lam: float | None

    def __init__(self, metric: str = "gradient", lam: check.Number | None = None) -> None:
        metric = check.choice("MinVariance.metric", metric, METRICS)
        if lam is not None:
            if metric != "natural":
                raise ConfigError("MinVariance.lam", lam, "None unless metric='natural'")
            lam = check.number("MinVariance.lam", lam)
        self._set(metric=metric, lam=lam)

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """One for each form of the weights."""
        return ("min_variance_gradient", "min_variance_natural", "min_variance_fixed_lambda")

    def core_term(self) -> tuple[str, float]:
        """The form of the weights, and lambda."""
        if self.lam is not None:
            return "min_variance_fixed_lambda", self.lam
        return f"min_variance_{self.metric}", 0.0

    def weights(self, pi: Floats) -> Floats:
        """The weights of its metric, from positive terms only, so that nothing cancels.

        Examples
        --------
        >>> MinVariance().weights(np.array([0.5, 0.5]))
        array([0.25, 0.25])
        """
        if self.metric == "gradient":
            return np.asarray(pi * (others(pi) ** 2 + others(pi**2)))
        p: Floats = np.maximum(pi, SMALLEST_PROBABILITY)
        if self.lam is None:
            return np.reciprocal(p)
        return np.asarray(p * ((pi.shape[-1] - 1) * self.lam**2 + (self.lam + 1.0 / p) ** 2))

    def enclose(self, arm: int, shares: Floats, epsilon: float, r: Floats) -> Enclosed:
        """The range over all weights between their bounds."""
        return Enclosed(*_mean_between(*self._weights_between(arm, shares, epsilon), r))

    def _weights_between(self, arm: int, q: Floats, epsilon: float) -> tuple[Floats, Floats]:
        """Bounds of the weights divided by epsilon (gradient) or multiplied by it (natural)."""
        rest = np.arange(len(q)) != arm
        squares = float((q**2).sum())
        if self.metric == "gradient":
            low = q * ((1.0 - epsilon * q) ** 2 + (1.0 - epsilon) ** 2)
            high = q * (2.0 + epsilon**2 * (squares - q**2))
            low[arm], high[arm] = 0.0, epsilon * (1.0 + squares)
            return low, high
        lam = 0.0 if self.lam is None else self.lam
        inverse = np.where(rest, 1.0 / np.where(q > 0.0, q, 1.0), 0.0)
        if (rest & (q <= 0.0)).any():
            # An arm that has underflowed outweighs all others, or shares the weight with its like.
            inverse = np.where(rest, np.where(q > 0.0, 0.0, 1.0), 0.0)
        shift = 2.0 * lam * epsilon
        low = inverse + min(shift, 0.0)
        high = inverse + max(shift, 0.0) + len(q) * lam**2 * epsilon**2 * q
        own = 1.0 / (1.0 - epsilon) + len(q) * lam**2 + 2.0 * abs(lam)
        low[arm], high[arm] = 0.0, epsilon * own
        return np.maximum(low, 0.0), high


def _mean_between(low: Floats, high: Floats, r: Floats) -> tuple[float, float]:
    """The range of sum w r / sum w over weights between bounds.

    At the maximum the arms of large reward have their largest weight and the others their
    smallest, so it is enough to try all ways of cutting the order of the rewards in two.
    """
    order = np.argsort(r)
    means = []
    for cut in range(len(r) + 1):
        up = np.zeros(len(r), dtype=bool)
        up[order[cut:]] = True
        for w in (np.where(up, high, low), np.where(up, low, high)):
            if w.sum() > 0.0:
                means.append(float(w @ r / w.sum()))
    return min(means), max(means)


@config
class Gap(Baseline):
    """b = r_second + fraction (r_best - r_second): strictly between the two best means.

    Parameters
    ----------
    fraction
        A number in (0, 1); 1/2 is midway. The best arm must be unique.

    Examples
    --------
    >>> Gap()
    Gap()
    >>> Gap(0.9)
    Gap(0.9)
    """

    fraction: float

    _positional = 1

    def __init__(self, fraction: check.Number = 0.5) -> None:
        self._set(fraction=check.number("Gap.fraction", fraction, check.UNIT_INSIDE))

    not_in_mdps = "Gap is for bandits; use MinVariance().relative(c)"

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """None: it goes into the offset."""
        return ()

    def core_term(self) -> None:
        """Nothing: it goes into the offset."""

    def number(self, r: Floats) -> float:
        """The number between the two best mean rewards."""
        return between_best(r, self.fraction)


@config
class RunningMean(Baseline):
    """b = (R_1 + ... + R_n) / n, the mean of the rewards so far, or b += rate (R - b).

    Parameters
    ----------
    rate
        None for the mean of all rewards so far; a number in (0, 1] for the exponential moving
        average.
    initial
        b before the first reward. The plain mean then forgets it, the moving average starts
        from it.

    Examples
    --------
    >>> RunningMean(rate=0.1)
    RunningMean(rate=0.1)
    """

    rate: float | None
    initial: float

    def __init__(self, rate: check.Number | None = None, initial: check.Number = 0.0) -> None:
        if rate is not None:
            rate = check.number("RunningMean.rate", rate, check.UNIT_POSITIVE)
        self._set(rate=rate, initial=check.number("RunningMean.initial", initial))

    depends_on_theta_only = False
    needs_values = False

    def core_term(self) -> tuple[str, float]:
        """The rate, 0 for the plain mean."""
        return "running_mean", self.rate or 0.0

    def range(self, r: Floats, rewards: tuple[float, float] | None = None) -> tuple[float, float]:
        """Between the rewards that may have been seen, and the start."""
        low, high = (float(r.min()), float(r.max())) if rewards is None else rewards
        return min(low, self.initial), max(high, self.initial)
