r"""Sums over runs that are exact, and what follows from them.

The core adds x and x² of every run,

.. math:: S_1 = \sum_i x_i, \qquad S_2 = \sum_i x_i^2,

into integers so wide (from 2⁻³²⁰ to 2³⁸⁴) that nothing is rounded while adding, so that the sums
do not depend on threads, chunks or machines and may be made in any order. Here they become

.. math:: \bar x = S_1/n, \qquad s^2 = \frac{n S_2 - S_1^2}{n(n-1)}, \qquad
          \mathrm{sem} = s/\sqrt n,

in rational arithmetic, rounded once at the end: the cancellation in :math:`n S_2 - S_1^2` costs
no digit. Quantiles come from histograms and are therefore known up to the width of a bin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, standard deviation and standard error of the mean, by time and component."""

    mean: Floats
    std: Floats
    sem: Floats


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts by time and component over equal bins of [lo, hi].

    Attributes
    ----------
    counts : int64[time, width, bins + 2]
        The first bin counts what lies below `lo`, the last what lies above `hi`.
    lo, hi : float
        The range; `hi` itself belongs to the last bin inside.
    """

    counts: Integers
    lo: float
    hi: float

    @property
    def edges(self) -> Floats:
        """Edges of all bins, −∞ and ∞ included.

        Examples
        --------
        >>> Histogram(np.zeros((1, 1, 4), np.int64), 0.0, 1.0).edges
        array([-inf,  0. ,  0.5,  1. ,  inf])
        """
        inner = np.linspace(self.lo, self.hi, self.counts.shape[-1] - 1)
        return np.concatenate(([-np.inf], inner, [np.inf]))

    def quantiles(self, probabilities: Sequence[float]) -> Floats:
        """Interpolate quantiles, linearly inside a bin.

        A quantile that falls outside of the range is −∞ or ∞: all that is known of it is the
        side on which it lies.

        Parameters
        ----------
        probabilities : sequence of float
            Each in [0, 1].

        Returns
        -------
        float64[quantile, time, width]
            NaN where nothing was counted.

        Examples
        --------
        >>> counts = np.array([[[0, 1, 2, 1, 0]]])
        >>> Histogram(counts, 0.0, 3.0).quantiles([0.25, 0.5]).ravel()
        array([1. , 1.5])
        """
        cumulative = np.cumsum(self.counts, axis=-1)
        total = cumulative[..., -1]
        edges = self.edges
        result = np.empty((len(probabilities), *total.shape))
        for i, probability in enumerate(probabilities):
            target = probability * total
            # The first non-empty bin that reaches the target; at probability 0 the first
            # non-empty one.
            reached = (cumulative >= target[..., None]) & (self.counts > 0)
            cell = np.argmax(reached, axis=-1)
            count = np.take_along_axis(self.counts, cell[..., None], -1)[..., 0]
            before = np.take_along_axis(cumulative, cell[..., None], -1)[..., 0] - count
            left, right = edges[cell], edges[cell + 1]
            with np.errstate(invalid="ignore"):
                inside = left + (right - left) * ((target - before) / np.maximum(count, 1))
            value = np.where(np.isinf(left), -np.inf, np.where(np.isinf(right), np.inf, inside))
            result[i] = np.where(total > 0, value, np.nan)
        return result


@dataclass(slots=True)
class Reduction:
    """Everything accumulated over runs; the arrays are filled in place by the core.

    Attributes
    ----------
    runs : int
        How many runs were accumulated.
    moments : dict of int64[time, width, 2, limb]
        Exact Σx and Σx² by quantity.
    histograms : dict of Histogram
        By quantity.
    failures : int64[time] or None
        Runs whose value was less than `below`.
    below : float or None
        The level that failures are counted against.
    """

    runs: int
    moments: dict[str, Integers]
    histograms: dict[str, Histogram]
    failures: Integers | None = None
    below: float | None = None


def canonical(limbs: Integers) -> Integers:
    """Write accumulators with digits in [0, 2^32), except for the highest, which has the sign.

    How far carries have moved depends on the order of the additions; the number does not. After
    this, equal sums are equal arrays. Up to 2^31 of them can be added without overflow.

    Parameters
    ----------
    limbs : int64[..., limb]
        Signed digits, lowest first.

    Returns
    -------
    int64[..., limb]

    Examples
    --------
    >>> canonical(np.array([[-1, 1], [2**32 - 1, 0]])).tolist()
    [[4294967295, 0], [4294967295, 0]]
    """
    digits = limbs.copy()
    carry = np.zeros(limbs.shape[:-1], np.int64)
    for i in range(limbs.shape[-1] - 1):
        # Splitting first: adding a carry to a digit that uses all of its bits could overflow.
        low = (digits[..., i] & np.int64(0xFFFF_FFFF)) + carry
        carry = (digits[..., i] >> np.int64(_WORD_BITS)) + (low >> np.int64(_WORD_BITS))
        digits[..., i] = low & np.int64(0xFFFF_FFFF)
    digits[..., -1] += carry
    return digits


def exact_sums(limbs: Integers) -> npt.NDArray[Any]:
    """Read accumulators: Σ_i limb[i]·2^(32 i), in units of their lowest digit.

    Parameters
    ----------
    limbs : int64[..., limb]
        Signed digits, lowest first; each may use all of its 64 bits.

    Returns
    -------
    object[...]
        Python integers.

    Examples
    --------
    >>> exact_sums(np.array([[-1, 1], [5, 0]])).tolist()
    [4294967295, 5]
    """
    count = limbs.shape[-1]
    low = limbs & np.int64(0xFFFF_FFFF)
    high = limbs >> np.int64(_WORD_BITS)
    # Splitting first keeps the digits below 2^33, so that no carry can overflow.
    digits = np.zeros((*limbs.shape[:-1], count + 2), np.int64)
    digits[..., :count] += low
    digits[..., 1 : count + 1] += high
    for i in range(count + 1):
        digits[..., i + 1] += digits[..., i] >> np.int64(_WORD_BITS)
        digits[..., i] &= np.int64(0xFFFF_FFFF)
    # The top digit carries the sign and is small: its low 32 bits are its two's complement.
    words = digits.astype(np.uint64).astype("<u4")
    result = np.empty(limbs.shape[:-1], object)
    for index in np.ndindex(*result.shape):
        result[index] = int.from_bytes(words[index].tobytes(), "little", signed=True)
    return result


def moments(limbs: Integers, runs: int, base: int) -> Moments:
    """Turn exact sums into mean, standard deviation and standard error.

    Parameters
    ----------
    limbs : int64[..., 2, limb]
        Σx and Σx².
    runs : int
        Number of terms of each sum.
    base : int
        Exponent of the lowest digit, at most 0.

    Returns
    -------
    Moments
        The mean is the exact one rounded once. Without runs it is NaN; the deviation and the
        error need two runs.

    Examples
    --------
    The numbers 1, 2 and 6:

    >>> m = moments(np.array([[9, 0], [41, 0]]), runs=3, base=0)
    >>> float(m.mean), float(m.std) ** 2
    (3.0, 7.000000000000001)
    """
    sums = exact_sums(limbs)
    shape = sums.shape[:-1]
    mean = np.full(shape, np.nan)
    std = np.full(shape, np.nan)
    if runs > 0:
        for index in np.ndindex(*shape):
            first, second = sums[index]
            mean[index] = first / (runs << -base)
            if runs > 1:
                spread = (runs * second << -base) - first * first
                std[index] = _sqrt_ratio(spread, (runs * (runs - 1)) << (-2 * base))
    sem = std / math.sqrt(runs) if runs > 1 else np.full(shape, np.nan)
    return Moments(mean, std, np.asarray(sem))


def _sqrt_ratio(numerator: int, denominator: int) -> float:
    """Compute √(numerator/denominator) without under- or overflow in between."""
    if numerator <= 0:
        return 0.0
    shift = denominator.bit_length() - numerator.bit_length()
    shift += shift & 1
    if shift >= 0:
        ratio = (numerator << shift) / denominator
    else:
        ratio = numerator / (denominator << -shift)
    return math.ldexp(math.sqrt(ratio), -(shift // 2))
