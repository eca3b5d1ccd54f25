r"""Drift and jumps of log-odds near a corner, and how likely they are to fall on their way back.

In a clock that counts draws of a rare arm its log-odds have a drift d and jumps J at rate
:math:`\nu`; see :mod:`committal.exact.corners`. The law of the jumps is listed, or that of rewards
that are normal or uniform, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from committal.support.simplex import Floats

__all__ = ["Clock", "clock_of"]

#: exp of more is not computed.
_LARGE = 700.0


class Clock(NamedTuple):
    """What moves the log-odds, per unit of the clock, and the law of its jumps."""

    drift: float
    rate: float
    mean: float  # of a jump
    spread: float
    least: float  # how far a jump may lead into the corner
    excess: Callable[[float], float]  # E exp(-s J) - 1

    def exponent(self) -> float:
        """The root s > 0 of f(s) = -s d + rate E[exp(-s J) - 1]; infinite if there is none.

        f is convex, 0 at 0, and falls there: it has one more root if it ever rises, that is, if
        something leads into the corner.

        Examples
        --------
        >>> up = clock_of("gaussian", 0.0, np.array([1.0, 3.0]), np.array([0.5, 0.5]))
        >>> round(up.exponent(), 9)  # 2 mean / variance
        4.0
        """
        if self.drift >= 0.0 and self.least >= 0.0:
            return math.inf

        def f(s: float) -> float:
            return -s * self.drift + self.rate * self.excess(s)

        size = max(abs(self.drift), abs(self.mean), self.spread)
        high = 1.0 / size
        while f(high) <= 0.0:
            high *= 2.0
            if high * size > 1e12:
                return math.inf
        low = 0.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if f(middle) > 0.0 else (middle, high)
        return 0.5 * (low + high)


def clock_of(noise: str | None, drift: float, jump: Floats, rate: Floats) -> Clock:
    """The clock of listed jumps, or of those that are only points of a smooth noise.

    Examples
    --------
    >>> clock_of(None, -1.0, np.array([2.0]), np.array([1.0])).mean
    2.0
    """
    total = float(rate.sum())
    share = rate / total if total > 0.0 else rate
    mean = float(share @ jump)
    spread = math.sqrt(float(share @ (jump - mean) ** 2))
    if noise is None or spread == 0.0:

        def listed(s: float) -> float:
            return float(share @ np.expm1(np.minimum(-s * jump, _LARGE)))

        return Clock(drift, total, mean, spread, float(jump.min(initial=0.0)), listed)
    if noise == "gaussian":

        def normal(s: float) -> float:
            return math.expm1(min(s * (0.5 * s * spread**2 - mean), _LARGE))

        return Clock(drift, total, mean, spread, -math.inf, normal)
    half = math.sqrt(3.0) * spread

    def uniform(s: float) -> float:
        x = s * half  # log(sinh x / x)
        flat = x - math.log(2.0 * x) + math.log1p(-math.exp(-2.0 * x)) if x > 1e-4 else x * x / 6.0
        return math.expm1(min(flat - s * mean, _LARGE))

    return Clock(drift, total, mean, spread, mean - half, uniform)
