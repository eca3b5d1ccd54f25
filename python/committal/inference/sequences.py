r"""Intervals that stay valid when one looks again and again and stops when they are narrow.

An ordinary 95 % interval is right 95 % of the time at a number of runs fixed beforehand. Who adds
runs until it is narrow enough, looking at it in between, is wrong more often. A *confidence
sequence* is a sequence of intervals :math:`C_1, C_2, \dots` with

.. math:: P(\theta \in C_n \text{ for all } n) \ge 1 - \alpha,

so that whichever of them one stops at, for whatever reason, it covers.

**Rates.** For k failures in n runs and a rate p,

.. math:: M_n(p) = \frac{B(k + 1/2,\ n - k + 1/2) / B(1/2, 1/2)}{p^k (1 - p)^{n-k}}

is the likelihood ratio of a mixture of all rates, with Jeffreys' weights, against p. If p is the
true rate it is a non-negative martingale with mean 1, and by Ville's inequality it ever reaches
1/α with probability at most α. :math:`C_n = \{p : M_n(p) < 1/\alpha\}` is an interval.

**Means of bounded quantities**, scaled to [0, 1]. For predictions :math:`\hat x_i` made before
:math:`x_i` is seen and every λ in [0, 1),

.. math:: \exp\Bigl(\lambda \sum_i (x_i - \mu)
          - \psi(\lambda) \sum_i (x_i - \hat x_i)^2\Bigr),
          \qquad \psi(\lambda) = -\log(1 - \lambda) - \lambda,

is a supermartingale that starts at 1, and so is its average over several λ. A mean is excluded
when the average, or the one of 1 − x, reaches 2/α: the interval is :math:`\bar x \pm s/n` where s
solves :math:`\sum_j w_j \exp(\lambda_j s - \psi(\lambda_j) V) = 2/\alpha` and V is the sum of
squares above. It adapts to the variance. Predictions are constant within a batch of runs, the mean
of all earlier batches, so that sums over batches are all that is needed; the first batch only
predicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from committal.support import arrays, check

__all__ = ["mean_sequence", "rate_sequence"]

Floats = npt.NDArray[np.float64]

_LARGEST_LAMBDA = 0.9
#: The smallest λ where no target width says which ones matter.
_SMALLEST_LAMBDA = 2.0**-20


def rate_sequence(
    failures: npt.ArrayLike, runs: npt.ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the p with M_n(p) < 1/α: the interval of a rate in the confidence sequence.

    Parameters and results are those of :func:`~committal.analysis.proportion_interval`, but `level`
    is the coverage of the whole sequence.

    Examples
    --------
    >>> low, high = rate_sequence([0, 50], [100, 100])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.338], [0.057, 0.662])
    """
    from scipy.special import betaln  # slow to import, and seldom needed

    level = check.level(level)
    k, n = arrays.failures(failures, runs)
    threshold = -math.log(1 - level)
    mixture = betaln(k + 0.5, n - k + 0.5) - math.log(math.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(n > 0, k / n, 0.5)

    def excluded(p: Floats) -> npt.NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore"):
            # 0·log 0 = 0: a rate of 0 is compatible with no failures.
            ones = np.where(k > 0, k * np.log(p), 0.0)
            zeros = np.where(n > k, (n - k) * np.log1p(-p), 0.0)
        return np.asarray(mixture - ones - zeros >= threshold)

    low = _edge(np.zeros(k.shape), estimate, excluded)
    high = _edge(np.ones(k.shape), estimate, excluded)
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def _edge(
    outside: Floats, inside: Floats, excluded: Callable[[Floats], npt.NDArray[np.bool_]]
) -> Floats:
    """Halve the distance between an excluded and an included point; end on the safe side."""
    out, into = outside.copy(), inside.copy()
    for _ in range(100):
        middle = (out + into) / 2
        outer = excluded(middle)
        out, into = np.where(outer, middle, out), np.where(outer, into, middle)
    return out


def mean_sequence(
    counts: Sequence[int],
    sums: Sequence[float],
    squares: Sequence[float],
    bounds: tuple[float, float],
    level: float = 0.95,
    *,
    half_width: float | None = None,
) -> tuple[float, float, float]:
    """Return the interval of a bounded mean in the confidence sequence.

    Parameters
    ----------
    counts, sums, squares : sequence
        Number, Σx and Σx² of every batch, in order.
    bounds : tuple of float
        What x cannot leave.
    level : float, optional
        Coverage of the whole sequence.
    half_width : float, optional
        The half width that one will stop at, fixed in advance: it makes the sequence narrowest
        there. Any value is valid.

    Returns
    -------
    estimate, low, high : float
        The estimate is the mean of all batches but the first; the mean of all if there is one.

    Examples
    --------
    >>> batches = [100] * 20, [50.0] * 20, [26.0] * 20
    >>> estimate, low, high = mean_sequence(*batches, (0.0, 1.0))
    >>> estimate, low < 0.5 < high
    (0.5, True)
    """
    level = check.level(level)
    lo, hi = bounds
    width = hi - lo
    n = np.asarray(counts, np.float64)
    if len(n) == 0 or n.sum() == 0:
        return math.nan, lo, hi
    first = np.asarray(sums, np.float64)
    # To [0, 1]: y = (x − lo)/(hi − lo).
    y = (first - lo * n) / width
    y2 = (np.asarray(squares, np.float64) - 2 * lo * first + lo * lo * n) / width**2
    if len(n) == 1:
        return float(lo + width * y[0] / n[0]), lo, hi
    predictions = np.clip(np.cumsum(y)[:-1] / np.cumsum(n)[:-1], 0.0, 1.0)
    y, y2, n = y[1:], y2[1:], n[1:]
    runs = float(n.sum())
    if runs == 0:
        return math.nan, lo, hi
    V = max(float(np.sum(y2 - 2 * predictions * y + predictions**2 * n)), 0.0)
    mean = float(y.sum()) / runs
    reach = (
        _reach(V, _lambdas(None if half_width is None else half_width / width), 1 - level) / runs
    )
    low, high = max(mean - reach, 0.0), min(mean + reach, 1.0)
    return lo + width * mean, lo + width * low, lo + width * high


def _lambdas(half_width: float | None) -> Floats:
    """Choose the λ to average over: those that matter between variance 0 and variance 1/4."""
    smallest = _SMALLEST_LAMBDA if half_width is None else min(4 * half_width, _LARGEST_LAMBDA / 2)
    count = math.ceil(math.log2(_LARGEST_LAMBDA / smallest)) + 1
    return np.geomspace(smallest, _LARGEST_LAMBDA, count)


def _reach(V: float, lambdas: Floats, alpha: float) -> float:
    """Solve mean_j exp(λ_j s − ψ(λ_j) V) = 2/α for s."""
    target = math.log(2 / alpha) + math.log(len(lambdas))
    psi = -np.log1p(-lambdas) - lambdas

    def log_average(s: float) -> float:
        exponents = lambdas * s - psi * V
        top = float(exponents.max())
        return top + math.log(float(np.exp(exponents - top).sum()))

    low, high = 0.0, float(((target + psi * V) / lambdas).min())  # one λ alone needs this much
    for _ in range(100):
        middle = (low + high) / 2
        if log_average(middle) < target:
            low = middle
        else:
            high = middle
    return high
