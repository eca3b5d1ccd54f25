"""The value of a formula over batches that are given by counts.

A batch has S kinds of samples, the k-th of them c_k times: arrays over samples, (..., M, N), become
arrays over kinds, (..., M, S), and what goes over samples weighs by the counts. A kind with count 0
is no sample: whatever its numbers are, nothing looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from committal.exact.counts import Counts
from committal.formula.evaluate import evaluate
from committal.formula.formula import Formula
from committal.formula.vocabulary import ROWS
from committal.support.simplex import Floats

__all__ = ["Lump", "over_counts"]


class Lump(NamedTuple):
    """Kinds that count together: those with the same reward.

    Attributes
    ----------
    first : ndarray, shape (V,)
        A kind for each of those that are counted.
    of : ndarray, shape (S,)
        What every kind is counted as.
    """

    first: Counts
    of: Counts


def over_counts(
    formula: Formula, values: Mapping[str, Any], counts: Counts, lump: Lump | None = None
) -> Floats:
    """The value of a formula for M batches.

    Parameters
    ----------
    formula : Formula
    values : dict
        As for `Formula.at`, with kinds in the place of samples: (..., M, S) where there is an axis
        of samples; M and the axes before it may have length 1.
    counts : ndarray, shape (M, S)
        How often each kind occurs.
    lump : Lump, optional
        Which kinds the counts are of, (M, V), if they are fewer: then operations over samples look
        at nothing in which kinds that count together differ.

    Examples
    --------
    >>> import committal as cm
    >>> rewards, counts = np.array([[1.0, 0.0]]), np.array([[1, 3], [4, 0]])
    >>> over_counts(cm.baseline("mean(R)").tree, {"R": rewards}, counts)
    array([0.25, 1.  ])
    >>> over_counts(cm.baseline("others(R, 'mean')").tree, {"R": rewards}, counts)[0]
    array([0.        , 0.33333333])
    """
    weights = counts[..., None]

    def over_samples(op: str, x: Floats) -> Floats:
        if lump is None:
            return _along(op, x, weights)
        value = _along(op, x if x.shape[-2] == 1 else x[..., lump.first, :], weights)
        return value if ROWS[op].kind == "reduction" else value[..., lump.of, :]

    return evaluate(formula.result, formula.values(values), over_samples)


def _along(op: str, x: Floats, c: Counts) -> Floats:
    """A reduction over samples (axis -2 of x), or what keeps that axis."""
    if op in _BY_COUNTS:
        return np.asarray(_BY_COUNTS[op](x, c))
    # Written out, sample after sample; the first of each kind speaks for it.
    row, n = ROWS[op], int(c[0].sum())
    m, kinds = c.shape[0], c.shape[1]
    slot = np.repeat(np.tile(np.arange(kinds), m), c.ravel()).reshape(m, n)
    full = np.broadcast_to(x, np.broadcast_shapes(x.shape, c.shape))
    index = np.broadcast_to(slot[..., None], (*full.shape[:-2], n, 1))
    value = np.asarray(row.numpy(np.take_along_axis(full, index, axis=-2), -2))
    if row.kind == "reduction":
        return value
    first = np.minimum(np.cumsum(c, axis=-2) - c, n - 1)
    return np.take_along_axis(value, np.broadcast_to(first, (*value.shape[:-2], kinds, 1)), axis=-2)


def _sum(x: Floats, c: Counts) -> Floats:
    return np.asarray(np.where(c > 0, c * x, 0.0).sum(axis=-2, keepdims=True))


def _mean(x: Floats, c: Counts) -> Floats:
    return np.asarray(_sum(x, c) / c.sum(axis=-2, keepdims=True))


def _std(x: Floats, c: Counts) -> Floats:
    return np.asarray(np.sqrt(_mean((x - _mean(x, c)) ** 2, c)))


def _others_sum(x: Floats, c: Counts) -> Floats:
    """What comes before, its own but one, and what comes after: nothing is subtracted of a sum."""
    terms = np.where(c > 0, c * x, 0.0)
    total = np.where(c > 0, (c - 1) * np.where(c > 0, x, 0.0), 0.0)
    total[..., 1:, :] += np.cumsum(terms, axis=-2)[..., :-1, :]
    total[..., :-1, :] += np.cumsum(terms[..., ::-1, :], axis=-2)[..., -2::-1, :]
    return total


def _others_mean(x: Floats, c: Counts) -> Floats:
    return np.asarray(_others_sum(x, c) / (c.sum(axis=-2, keepdims=True) - 1.0))


_BY_COUNTS: dict[str, Callable[[Floats, Counts], Floats]] = {
    "sum": _sum,
    "mean": _mean,
    "std": _std,
    "min": lambda x, c: np.where(c > 0, x, np.inf).min(axis=-2, keepdims=True),
    "max": lambda x, c: np.where(c > 0, x, -np.inf).max(axis=-2, keepdims=True),
    "others_sum": _others_sum,
    "others_mean": _others_mean,
}
