r"""Interpolation along lattice lines, written for generators.

A natural update moves one parameter, so from a node of a lattice it leads along a line of the
lattice. With s the length of the step in units of the spacing, the value there is
:math:`\sum_m w_m(s) h_m` over the p nodes around it, with Lagrange's weights

.. math:: w_m(s) = \prod_{q \ne m} \frac{s - q}{m - q}.

Offsets m and q are counted from the node where the step starts. A step much shorter than the
spacing has :math:`w_m = O(s)` for :math:`m \ne 0`, each with full relative accuracy, so
:math:`h(s) - h(0)` is right even for :math:`s = 10^{-12}`: no step is too small for the grid.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committal.support.simplex import Floats

Integers: TypeAlias = npt.NDArray[np.int64]


def lagrange(
    s: Floats, low: npt.ArrayLike, high: npt.ArrayLike, order: int
) -> tuple[Integers, Floats]:
    """Offsets (n, order) of the nodes around s, all in [low, high], and their weights.

    Parameters
    ----------
    s : ndarray, shape (n,)
        Where to interpolate, in units of the spacing, from node 0.
    low, high : array_like of int
        The first and last offset there is; high - low >= order - 1.
    order : int
        The number of nodes; the interpolation is exact for polynomials of lower degree.

    Examples
    --------
    >>> offsets, weights = lagrange(np.array([0.25]), -9, 9, 2)
    >>> offsets, weights
    (array([[0, 1]]), array([[0.75, 0.25]]))
    """
    first = np.floor(s).astype(np.int64) - (order // 2 - 1)
    first = np.clip(first, low, np.asarray(high) - (order - 1))
    offsets = first[:, None] + np.arange(order)
    distance = s[:, None] - offsets
    weights = np.empty_like(distance)
    for m in range(order):
        # The same integers for every row, so the denominator is one number.
        rest = [q for q in range(order) if q != m]
        weights[:, m] = distance[:, rest].prod(axis=1) / np.prod([float(m - q) for q in rest])
    return offsets, weights


def remaining(change: float, before: float) -> float:
    r"""Estimate :math:`\sum_{n \ge 1} \rho^n \cdot` change, what further halvings would change.

    Parameters
    ----------
    change, before : float
        How much the last halving of the spacing changed the answer, and the one before it
        (infinite if there was none). Their ratio is :math:`\rho`, kept in [0.3, 0.8]: answers
        that are not smooth gain less than the order of the interpolation promises.

    Examples
    --------
    >>> remaining(1e-4, 2e-4), remaining(1e-4, float("inf"))
    (0.0001, 0.0001)
    """
    if not 0.0 < before < np.inf:
        return change
    ratio = min(max(change / before, 0.3), 0.8)
    return change * ratio / (1.0 - ratio)
