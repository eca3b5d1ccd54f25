"""Names at the corners of a triangle that take no width from it."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from committal.errors import ConfigError

# (top, left, right) of the triangle, by arm, as learning curves on the simplex are drawn.
CORNERS = (1, 2, 0)

_POINTS = 3.0


def name_corners(ax: Axes, names: tuple[str, str, str]) -> Axes:
    """Write the names above and below the triangle instead of beside it.

    Panels of a row are narrow: names beside the lower corners would leave little room for the
    triangle.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With mpltern's projection ``"ternary"``.
    names : tuple of str
        By arm.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("s")
    >>> [text.get_text() for text in name_corners(ax, ("one", "two", "three")).texts]
    ['two', 'three', 'one']
    """
    if getattr(ax, "name", "") != "ternary":
        raise ConfigError("ax", ax, "axes made with projection='ternary' (import mpltern)")
    triangle: Any = ax  # mpltern has no type hints
    for remove in (triangle.set_tlabel, triangle.set_llabel, triangle.set_rlabel):
        remove("")
    corners = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    sides = (("center", "bottom", _POINTS), ("left", "top", -_POINTS), ("right", "top", -_POINTS))
    for i, corner, (align, vertical, up) in zip(CORNERS, corners, sides, strict=True):
        x, y = triangle.transProjection.transform([corner])[0]
        triangle.annotate(
            names[i], (x, y), (0.0, up), xycoords="data", textcoords="offset points",
            ha=align, va=vertical, annotation_clip=False,
        )  # fmt: skip
    return ax
