"""Figures to draw into."""

from __future__ import annotations

from typing import Any, Literal

import mpltern  # noqa: F401  (registers the ternary projection)
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from committal.errors import ConfigError

__all__ = ["panels"]

Kind = Literal["simplex", "curves", "grid"]

# Inches per panel: four of them fill the width of a printed page and stay readable there.
_SIZES: dict[str, tuple[float, float]] = {
    "simplex": (2.6, 2.6),
    "curves": (2.6, 2.2),
    "grid": (2.6, 2.4),
}


def panels(count: int, kind: Kind = "curves") -> tuple[Figure, list[Axes]]:
    """Make a row of equal panels, to be filled by the functions of this package.

    The figure does not belong to pyplot: it is kept alive by its owner only, and there is
    nothing to close.

    Parameters
    ----------
    count : int
        How many panels, at least 1.
    kind : {"curves", "simplex", "grid"}, optional
        What will be drawn into them.

    Returns
    -------
    matplotlib.figure.Figure, list of matplotlib.axes.Axes

    Examples
    --------
    >>> figure, axes = panels(4, "simplex")
    >>> len(axes)
    4
    """
    if count < 1:
        raise ConfigError("count", count, "at least 1")
    if kind not in _SIZES:
        raise ConfigError("kind", kind, "'curves', 'simplex' or 'grid'")
    width, height = _SIZES[kind]
    figure = Figure(figsize=(width * count, height), layout="constrained")
    projection = "ternary" if kind == "simplex" else None
    axes = [figure.add_subplot(1, count, i + 1, projection=projection) for i in range(count)]
    if kind == "curves":
        for ax in axes[1:]:
            ax.sharey(axes[0])
    return figure, axes


def given_or_new(ax: Axes | None, kind: Kind) -> Axes:
    """Return the axes that were given, or one pair in a new pyplot figure.

    Notebooks show the figures of pyplot by themselves.
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # only here: drawing into given axes needs no pyplot

    width, height = _SIZES[kind]
    figure = plt.figure(figsize=(1.6 * width, 1.6 * height), layout="constrained")
    return figure.add_subplot(projection="ternary" if kind == "simplex" else None)


def triangle(ax: Axes) -> Any:
    """Return axes of mpltern's projection, which have no type hints; refuse others."""
    if getattr(ax, "name", "") != "ternary":
        raise ConfigError("ax", ax, "axes made with projection='ternary' (import mpltern)")
    return ax


def label_axes(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Name the axes of curves and leave the box around them open."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
