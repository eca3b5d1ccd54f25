r"""Quantiles over runs, with intervals that assume nothing about their distribution.

The number of runs below the q-quantile is binomial, whatever the distribution is. With the order
statistics :math:`x_{(1)} \le \dots \le x_{(n)}`, the interval :math:`[x_{(l)}, x_{(u)}]` where
:math:`P(l \le \mathrm{Bin}(n, q) < u) \ge 1 - \alpha` covers the quantile at least that often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.analysis.select import at_time, checked, has, interval, per_run, result
from committal.inference.exact_sums import Histogram
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["quantiles"]

Floats = npt.NDArray[np.float64]


def quantiles(
    data: xr.Dataset,
    name: str = "value",
    probabilities: Sequence[float] = (0.1, 0.5, 0.9),
    *,
    time: int | None = None,
    level: float = 0.95,
) -> xr.Dataset:
    """Estimate quantiles over runs at one time.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the quantity of every run, or reduced it with ``Reduce(bins=...)``;
        then everything is known up to the width of a bin.
    name : str, optional
        The quantity.
    probabilities : sequence of float, optional
        Each in (0, 1).
    time, level
        As for :func:`failure_rates`. Too few runs give infinite ends.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high` by configuration and `quantile`, and by arm where the quantity
        is.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=20)
    >>> found = cm.analysis.quantiles(cm.run(exp, runs=500, rng=0))
    >>> bool((found.low <= found.estimate).all() and (found.estimate <= found.high).all())
    True
    """
    level = check.level(level)
    q = check.vector("probabilities", probabilities, check.UNIT_INSIDE, least=1)
    checked(data)
    check.text("name", name, "the name of a recorded quantity")
    histogram = f"{name}_histogram"
    if has(data, histogram, f"{name}_bin_left", f"{name}_bin_right"):
        counts = at_time(data, data[histogram], time).transpose(..., "bin")
        like = counts.isel(bin=0, drop=True)
        edges = [data[f"{name}_bin_{side}"].transpose(..., "bin") for side in ("left", "right")]
        lefts, rights = (edge.broadcast_like(counts).transpose(*counts.dims) for edge in edges)
        found = _each(
            like.shape,
            len(q),
            lambda i: _of_histogram(counts.values[i], lefts.values[i], rights.values[i], q, level),
        )
    else:
        x = at_time(data, per_run(data, name, ", or Reduce(bins=...)"), time)
        x = x.transpose(..., "run")
        like = x.isel(run=0, drop=True)
        values = np.asarray(x.values, np.float64)
        found = _each(like.shape, len(q), lambda i: _of_runs(values[i], q, level))
    dims = ("quantile", *like.dims)
    units = like.attrs.get("units", "1")
    variables = interval(dims, found, f"quantile of {name}", units=units)
    made = result(variables, {"quantity": name, "level": level}, like)
    return made.assign_coords(quantile=list(q))


def _each(shape: tuple[int, ...], count: int, of: object) -> Floats:
    """Collect (estimate, low, high) of each configuration: float64[3, quantile, ...]."""
    assert callable(of)
    found = np.empty((3, count, *shape))
    for index in np.ndindex(*shape):
        found[(slice(None), slice(None), *index)] = of(index)
    return found


def _of_runs(values: Floats, q: tuple[float, ...], level: float) -> Floats:
    x = np.sort(values[~np.isnan(values)])
    if not x.size:
        return np.full((3, len(q)), np.nan)
    padded = np.concatenate(([-np.inf], x, [np.inf]))
    ends = [order_statistics(x.size, p, level) for p in q]
    return np.array(
        [np.quantile(x, q), [padded[low] for low, _ in ends], [padded[high] for _, high in ends]]
    )


def _of_histogram(
    counts: npt.NDArray[np.int64], left: Floats, right: Floats, q: tuple[float, ...], level: float
) -> Floats:
    total = int(counts.sum())
    if not total:
        return np.full((3, len(q)), np.nan)
    histogram = Histogram(counts[None, None].astype(np.int64), float(left[1]), float(right[-2]))
    cumulative = np.cumsum(counts)

    def cell(rank: int) -> int:
        return int(np.searchsorted(cumulative, rank))

    ends = [order_statistics(total, p, level) for p in q]
    return np.array(
        [
            histogram.quantiles(q)[:, 0, 0],
            [left[cell(low)] if low else -np.inf for low, _ in ends],
            [right[cell(high)] if high <= total else np.inf for _, high in ends],
        ]
    )


def order_statistics(count: int, probability: float, level: float) -> tuple[int, int]:
    """Return the ranks l and u between which the quantile lies.

    Ranks are from 1 to `count`; 0 and `count` + 1 mean that there is no such end.

    Examples
    --------
    >>> order_statistics(100, 0.5, 0.95)
    (40, 61)
    >>> order_statistics(3, 0.5, 0.95)
    (0, 4)
    """
    tail = (1 - level) / 2
    spread = math.sqrt(count * probability * (1 - probability))
    first = max(0, math.floor(count * probability - 12 * spread - 12))
    last = min(count, math.ceil(count * probability + 12 * spread + 12))
    k = np.arange(first, last + 1)
    log_pmf = (
        math.lgamma(count + 1)
        - np.array([math.lgamma(i + 1) + math.lgamma(count - i + 1) for i in k.tolist()])
        + k * math.log(probability)
        + (count - k) * math.log1p(-probability)
    )
    cdf = np.minimum(np.cumsum(np.exp(log_pmf)), 1.0)
    # The largest l with P(Bin < l) ≤ α/2, the smallest u with P(Bin ≥ u) ≤ α/2.
    lower = first + int(np.searchsorted(cdf, tail, side="right"))
    upper = first + int(np.searchsorted(cdf, 1 - tail, side="left")) + 1
    return min(lower, count), min(upper, count + 1)
