"""Colours over the simplex: a number for every policy of three arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from committal.errors import ConfigError
from committal.plot.corners import CORNERS, name_corners
from committal.plot.panels import triangle


def simplex_map(
    ax: Axes,
    policies: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    limit: float | None = None,
    cmap: str = "RdBu",
    corners: tuple[str, str, str] = ("arm 1", "arm 2", "arm 3"),
    contour: float | None = 0.0,
    words: str = "",
) -> Any:
    """Colour the simplex by numbers of either sign, on a scale that is symmetric around 0.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With mpltern's projection ``"ternary"``.
    policies : array_like, shape (n, 3)
        Where, such as :func:`committal.exact.simplex_grid` makes them.
    values : array_like, shape (n,)
        What; infinite numbers are drawn at the ends of the scale, NaN is refused.
    limit : float, optional
        The scale goes from -limit to limit; the largest finite number by default.
    cmap : str, optional
        The default has negative numbers red and positive ones blue.
    corners : tuple of str, optional
        Names of the arms.
    contour : float, optional
        Where to draw a thin black line; None for nowhere.
    words : str, optional
        What the line is, for a key.

    Returns
    -------
    matplotlib.collections.Collection
        The colours, for a colour bar.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("s")
    >>> colours = simplex_map(ax, np.eye(3), [-1.0, 0.5, 2.0])
    >>> colours.norm.vmin, colours.norm.vmax
    (-2.0, 2.0)
    """
    ternary = triangle(ax)
    pi, z = np.asarray(policies, np.float64), np.asarray(values, np.float64)
    if pi.ndim != 2 or pi.shape != (z.size, 3):
        raise ConfigError("policies", pi.shape, f"shape ({z.size}, 3)")
    if np.isnan(z).any():
        raise ConfigError("values", f"{int(np.isnan(z).sum())} NaN", "numbers")
    if limit is None:
        limit = float(np.abs(z[np.isfinite(z)]).max(initial=0.0)) or 1.0
    z = np.clip(z, -limit, limit)
    for axis in (ternary.taxis, ternary.laxis, ternary.raxis):
        axis.set_ticks([])
    top, left, right = pi[:, CORNERS].T
    colours = ternary.tripcolor(
        top, left, right, z, cmap=cmap, norm=Normalize(-limit, limit), shading="gouraud",
        rasterized=True,
    )  # fmt: skip
    if contour is not None and z.min() < contour < z.max():
        ternary.tricontour(top, left, right, z, levels=[contour], colors="black", linewidths=0.7)
        if words:
            ax.add_line(Line2D([], [], color="black", linewidth=0.7, label=words))
    name_corners(ax, corners)
    return colours
