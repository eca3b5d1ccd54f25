"""Names at the corners of a triangle that take no width from it."""

from __future__ import annotations

from matplotlib.axes import Axes

from committal.plot.panels import triangle

# (top, left, right) of the triangle, by arm: the first arm on the right, the second on top and
# the third on the left, as the paper draws them.
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
        The same, with three annotations.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("s")
    >>> [text.get_text() for text in name_corners(ax, ("one", "two", "three")).texts]
    ['two', 'three', 'one']
    """
    ternary = triangle(ax)
    for remove in (ternary.set_tlabel, ternary.set_llabel, ternary.set_rlabel):
        remove("")
    corners = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    sides = (("center", "bottom", _POINTS), ("left", "top", -_POINTS), ("right", "top", -_POINTS))
    for i, corner, (align, vertical, up) in zip(CORNERS, corners, sides, strict=True):
        x, y = ternary.transProjection.transform([corner])[0]
        ternary.annotate(
            names[i], (x, y), (0.0, up), xycoords="data", textcoords="offset points",
            ha=align, va=vertical, annotation_clip=False,
        )  # fmt: skip
    return ax
