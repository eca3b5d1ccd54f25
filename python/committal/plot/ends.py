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


def heaps(points: npt.ArrayLike, reach: float) -> list[tuple[Floats, int]]:
    """Gather points that are nearer to each other than `reach` into heaps: middle and number.

    Every heap grows around its first point. A heap gets a circle with its number, somewhat larger
    than the reach: what would lie under the circle belongs to the heap.

    Examples
    --------
    >>> [number for _, number in heaps([[0, 0], [1, 0], [0.01, 0]], 0.1)]
    [2, 1]
    >>> [number for _, number in heaps([[0, 0], [0.01, 0], [0.12, 0], [0.3, 0], [0.42, 0]], 0.1)]
    [3, 1, 1]
    """
    left = np.asarray(points, np.float64)
    found: list[tuple[Floats, int]] = []
    while len(left):
        near = np.hypot(*(left - left[0]).T) < reach
        found.append((left[near].mean(axis=0), int(near.sum())))
        left = left[~near]
    found.sort(key=lambda heap: -heap[1])
    kept: list[tuple[Floats, int]] = []
    for middle, number in found:
        for i, (centre, many) in enumerate(kept):
            if many > 1 and np.hypot(*(middle - centre)) < _CIRCLE * reach:
                kept[i] = (centre, many + number)
                break
        else:
            kept.append((middle, number))
    return kept


def count_heaps(ax: Axes, points: npt.ArrayLike, reach: float, colour: Any) -> None:
    """Write on every heap of dots how many there are; one dot needs no number.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("c")
    >>> count_heaps(ax, [[0, 0], [1, 0], [0.01, 0]], 0.1, "white")
    >>> [text.get_text() for text in ax.texts]
    ['2']
    """
    for (x, y), number in heaps(points, reach):
        if number > 1:
            ax.annotate(
                str(number), (x, y), xycoords="data", ha="center", va="center",
                fontsize="xx-small", zorder=6, annotation_clip=False, gid=COUNT,
                bbox={"boxstyle": "circle,pad=0.2", "fc": colour, "ec": "black", "lw": 0.6},
            )  # fmt: skip
