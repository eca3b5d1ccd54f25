"""Dots that lie on each other, with their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

#: Marks the texts with numbers among the others.
COUNT = "count"

#: How far from the middle of a heap a dot is hidden by its number, in reaches.
_CIRCLE = 1.5


def heaps(points: npt.ArrayLike, reach: float) -> list[tuple[Floats, list[int]]]:
    """Gather points that are nearer to each other than `reach` into heaps: middle and members.

    Every heap grows around its first point. A heap gets a circle with its number, somewhat larger
    than the reach: what would lie under the circle belongs to the heap.

    Examples
    --------
    >>> [members for _, members in heaps([[0, 0], [1, 0], [0.01, 0]], 0.1)]
    [[0, 2], [1]]
    >>> [members for _, members in heaps([[0, 0], [0.01, 0], [0.12, 0], [0.3, 0], [0.42, 0]], 0.1)]
    [[0, 1, 2], [3], [4]]
    """
    at = np.asarray(points, np.float64)
    left = np.arange(len(at))
    found: list[tuple[Floats, list[int]]] = []
    while len(left):
        near = np.hypot(*(at[left] - at[left[0]]).T) < reach
        found.append((at[left[near]].mean(axis=0), left[near].tolist()))
        left = left[~near]
    found.sort(key=lambda heap: -len(heap[1]))
    kept: list[tuple[Floats, list[int]]] = []
    for middle, members in found:
        for centre, others in kept:
            if len(others) > 1 and np.hypot(*(middle - centre)) < _CIRCLE * reach:
                others += members
                break
        else:
            kept.append((middle, members))
    return kept


def count_heaps(ax: Axes, points: npt.ArrayLike, reach: float, colour: Any) -> list[int]:
    """Draw every heap of dots as a circle with their number, and return the points in none.

    Only those need a dot of their own: one that looks out from under a circle would be counted
    twice.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("c")
    >>> count_heaps(ax, [[0, 0], [1, 0], [0.01, 0]], 0.1, "white")
    [1]
    >>> [text.get_text() for text in ax.texts]
    ['2']
    """
    alone: list[int] = []
    for (x, y), members in heaps(points, reach):
        if len(members) == 1:
            alone += members
        else:
            ax.annotate(
                str(len(members)), (x, y), xycoords="data", ha="center", va="center",
                fontsize="xx-small", zorder=6, annotation_clip=False, gid=COUNT,
                bbox={"boxstyle": "circle,pad=0.2", "fc": colour, "ec": "black", "lw": 0.6},
            )  # fmt: skip
    return alone
