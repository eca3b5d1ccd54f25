r"""The few special functions that intervals need: the beta and Student's distribution.

.. math:: I_x(a, b) = \frac{1}{B(a, b)} \int_0^x u^{a-1} (1-u)^{b-1}\, du

is computed from its continued fraction, for whole arrays at a time. Everything here takes arrays
that broadcast and returns arrays; nothing depends on a statistics library.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_TINY = 1e-300
_PRECISION = 3e-15
_MOST_TERMS = 100_000
_lgamma = np.frompyfunc(math.lgamma, 1, 1)


def log_beta(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """log B(a, b) = log Γ(a) + log Γ(b) − log Γ(a + b).

    Examples
    --------
    >>> float(np.exp(log_beta(2.0, 3.0)).round(12)) == round(1 / 12, 12)
    True
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    found: Any = _lgamma(a) + _lgamma(b) - _lgamma(a + b)
    return np.asarray(found, np.float64)


def beta_cdf(x: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """I_x(a, b), the probability that a Beta(a, b) variable is at most x.

    Parameters
    ----------
    x
        In [0, 1].
    a, b
        Numbers > 0.

    Examples
    --------
    The probability of at least 2 heads in 3 throws:

    >>> round(float(beta_cdf(0.5, 2, 2)), 12)
    0.5
    """
    x, a, b = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (x, a, b)))
    with np.errstate(divide="ignore", over="ignore"):
        front = np.exp(a * np.log(x) + b * np.log1p(-x) - log_beta(a, b))
    # The fraction converges fast on one side of the mean; the other side is its mirror image.
    left = x < (a + 1) / (a + b + 2)
    p, q, y = np.where(left, a, b), np.where(left, b, a), np.where(left, x, 1 - x)
    part = front * _fraction(y, p, q) / p
    inside = np.where(left, part, 1 - part)
    return np.asarray(np.where(x <= 0, 0.0, np.where(x >= 1, 1.0, inside)))


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """Evaluate the continued fraction of I_x(a, b) by Lentz's method."""
    shape = x.shape
    result = np.empty(x.size)
    x, a, b = x.reshape(-1), a.reshape(-1), b.reshape(-1)
    left = np.arange(x.size)  # those that have not converged
    c = np.ones_like(x)
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        total = total * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        step = d * c
        total = total * step
        going = np.abs(step - 1) > _PRECISION
        if not going.all():
            result[left[~going]] = total[~going]
            left = left[going]
            if not left.size:
                break
            x, a, b, c, d, total = (v[going] for v in (x, a, b, c, d, total))
    else:
        result[left] = total
    return result.reshape(shape)


def _away_from_zero(x: Floats) -> Floats:
    return np.where(np.abs(x) < _TINY, _TINY, x)


def beta_quantile(probability: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """The x with I_x(a, b) = probability.

    Examples
    --------
    The median of the larger one of two uniform numbers is the root of one half:

    >>> round(float(beta_quantile(0.5, 2, 1)) ** 2, 12)
    0.5
    """
    target, a, b = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (probability, a, b)))
    low, high = np.zeros(target.shape), np.ones(target.shape)
    x = a / (a + b)
    log_b = log_beta(a, b)
    for _ in range(200):  # never reached: halving alone needs 60
        error = beta_cdf(x, a, b) - target
        low, high = np.where(error < 0, x, low), np.where(error < 0, high, x)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - log_b)
            newton = x - error / density
        # Newton's step where it stays in the bracket, otherwise halving: it cannot be lost.
        following = np.where((low < newton) & (newton < high), newton, (low + high) / 2)
        done = np.abs(following - x) <= 1e-12 * following
        x = following
        if np.all(done):
            break
    return np.asarray(np.where(target <= 0, 0.0, np.where(target >= 1, 1.0, x)))


def normal_quantile(level: float) -> float:
    """The z with P(|Z| < z) = level for a standard normal Z.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantile(level: float, degrees: npt.ArrayLike) -> Floats:
    """The t with P(|T| < t) = level for Student's T, by degrees of freedom.

    Parameters
    ----------
    level
        In (0, 1).
    degrees
        Degrees of freedom; infinite where there are none, since nothing is known then.

    Examples
    --------
    >>> student_quantile(0.95, [1, 10, 10**9]).round(4).tolist()
    [12.7062, 2.2281, 1.96]
    """
    nu = np.asarray(degrees, np.float64)
    z = normal_quantile(level)
    known = np.clip(nu, 1, 1e4)
    y = beta_quantile(level, 0.5, known / 2)
    exact = np.sqrt(known * y / (1 - y))
    # Beyond ten thousand degrees the first term of the expansion in 1/ν gives eight digits.
    far = z + (z**3 + z) / (4 * np.maximum(nu, 1))
    return np.asarray(np.where(nu < 1, np.inf, np.where(nu > 1e4, far, exact)))
