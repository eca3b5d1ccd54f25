"""Colours of time: where most of the way is made, there are most of the colours."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.colors import PowerNorm

_LEAST, _MOST = 0.12, 1.0

_SHARES = (1.0, 0.3, 0.1, 0.01, 0.001, 0.0)
_APART = 0.09


def clock(first: float, last: float, power: float) -> PowerNorm:
    """Return a scale of colours on which a time stands at a power of its share.

    Examples
    --------
    >>> scale = clock(0, 1000, 1 / 3)
    >>> [round(float(scale(t)), 2) for t in (0, 10, 125, 1000)]
    [0.0, 0.22, 0.5, 1.0]
    """
    return PowerNorm(power, first, last)


def ticks(power: float) -> list[float]:
    """Return shares of the time for the ticks of a bar, far enough from each other.

    Examples
    --------
    >>> ticks(1.0), ticks(0.2)
    ([0.0, 0.1, 0.3, 1.0], [0.0, 0.001, 0.01, 0.1, 0.3, 1.0])
    """
    found: list[float] = []
    for share in _SHARES:
        apart = all(abs(share**power - other**power) >= _APART for other in found)
        if apart and (share == 0.0 or share**power >= _APART):
            found.append(share)
    return found[::-1]


def pace(times: npt.ArrayLike, *paths: npt.ArrayLike) -> float:
    """Return the power by which half of the way is made in half of the colours.

    Parameters
    ----------
    times : array_like, shape (T,)
        When.
    *paths : array_like, shape (runs, T, n)
        Where the runs of one or several panels were.

    Examples
    --------
    >>> pace([0, 1, 2], [[[0.0], [1.0], [2.0]]])  # as fast at all times
    1.0
    >>> pace([0, 1, 1000], [[[0.0], [1.0], [1.0]]]) < 0.2  # all of it at once
    True
    """
    t = np.asarray(times, np.float64)
    steps = np.zeros(t.size - 1)
    for path in paths:
        steps += np.linalg.norm(np.diff(np.asarray(path, np.float64), axis=1), axis=2).sum(axis=0)
    whole, way = t[-1] - t[0], np.cumsum(steps)
    if whole <= 0.0 or not way.size or way[-1] <= 0.0:
        return _MOST
    half = float(t[1:][np.searchsorted(way, way[-1] / 2.0)] - t[0]) / whole
    return min(max(math.log(0.5) / math.log(half), _LEAST), _MOST) if half < 1.0 else _MOST
