"""Sheets: a row of panels at the size at which it is printed, and its files.

A page of two columns is seven inches wide. Letters are chosen for that width, so that a picture
need not be shrunk before it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import mpltern  # noqa: F401  (registers the ternary projection)
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import blended_transform_factory

from committal.errors import ConfigError
from committal.plot.clock import clock, ticks
from committal.plot.raster import packed
from committal.support.files import write_whole

__all__ = [
    "PAGE_WIDTH",
    "Axes",
    "Figure",
    "blended",
    "colour_bar",
    "key",
    "mark",
    "patch",
    "row",
    "save",
    "save_as",
    "style",
    "time_bar",
]

PAGE_WIDTH = 7.0

_DPI = 220
_MOST_PATHS = 200
_STYLE: Any = {
    "font.size": 7.5,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
}


def style() -> AbstractContextManager[None]:
    """Use the letters and lines of a printed page while drawing, and no longer.

    Examples
    --------
    >>> with style():
    ...     figure, axes = row("cc")
    """
    return mpl.rc_context(_STYLE)


def row(
    kinds: str,
    *,
    height: float = 1.75,
    width: float = PAGE_WIDTH,
    ratios: Sequence[float] | None = None,
    share_y: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Make a row of panels.

    Parameters
    ----------
    kinds : str
        One letter per panel: c for curves, s for a simplex, g for a map.
    height, width : float, optional
        Of the whole row, in inches.
    ratios : sequence of float, optional
        Relative widths of the panels.
    share_y : bool, optional
        Whether panels of curves share the vertical axis.

    Returns
    -------
    matplotlib.figure.Figure, list of matplotlib.axes.Axes

    Examples
    --------
    >>> figure, axes = row("gccc", ratios=[1, 1.2, 1.2, 1.2])
    >>> len(axes)
    4
    """
    if not kinds or set(kinds) - set("csg"):
        raise ConfigError("kinds", kinds, "one letter of 'c', 's' and 'g' per panel")
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.add_gridspec(1, len(kinds), width_ratios=ratios)
    axes: list[Axes] = []
    first: Axes | None = None
    for i, kind in enumerate(kinds):
        projection = "ternary" if kind == "s" else None
        ax = figure.add_subplot(grid[0, i], projection=projection)
        if kind == "c" and share_y:
            if first is None:
                first = ax
            else:
                ax.sharey(first)
                ax.tick_params(labelleft=False)
        axes.append(ax)
    return figure, axes


def colour_bar(
    figure: Figure,
    axes: Sequence[Axes],
    colours: ScalarMappable,
    label: str,
    *,
    at: Sequence[float] | None = None,
    extend: str = "neither",
) -> None:
    """Explain the colours of several panels at the right of the row.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The row.
    axes : sequence of matplotlib.axes.Axes
        The panels that share the colours.
    colours : matplotlib.cm.ScalarMappable
        The colours.
    label : str
        What they mean.
    at : sequence of float, optional
        Where to write numbers.
    extend : {"neither", "both", "min", "max"}, optional
        Where colours also stand for numbers beyond the end: an arrow says so.
    """
    bar = figure.colorbar(
        colours, ax=list(axes), label=label, shrink=0.8, pad=0.02, aspect=18, ticks=at,
        extend=extend, format=None if at is None else "%g",
    )  # fmt: skip
    bar.outline.set_linewidth(0.5)


def time_bar(figure: Figure, axes: Sequence[Axes], power: float, *, cmap: str = "viridis") -> None:
    """Explain that colours are time, in each panel from the first update to the last.

    `power` is that of :func:`committal.plot.clock.clock`.

    Examples
    --------
    >>> figure, axes = row("ss")
    >>> time_bar(figure, axes, 1 / 3)
    >>> len(figure.axes)
    3
    """
    colours = ScalarMappable(clock(0.0, 1.0, power), cmap)
    colour_bar(figure, axes, colours, "time / length of the run", at=ticks(power))


def key(figure: Figure, *axes: Axes, ncols: int | None = None, above: bool = False) -> None:
    """Say once, below or above the row, what colours, lines and marks of its panels are.

    Every label of any of the panels is there once.

    Examples
    --------
    >>> figure, (one, other) = row("cc")
    >>> _ = one.plot([0, 1], label="x"), other.plot([0, 1], label="x"), other.plot([1], label="y")
    >>> key(figure, one, other)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['x', 'y']
    """
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(str(label), handle)
    if not found:
        return
    figure.legend(
        list(found.values()),
        list(found),
        loc="outside upper center" if above else "outside lower center",
        ncols=ncols or len(found),
        frameon=False,
    )


def mark(label: str, **look: Any) -> Any:
    """Return a line that stands in a legend only, in grey: it explains a mark of any colour.

    Examples
    --------
    >>> mark("exact", marker="D").get_label()
    'exact'
    """
    return Line2D([], [], color="grey", label=label, **look)


def patch(label: str) -> Any:
    """Return a band that stands in a legend only, in grey: it explains bands of any colour.

    Examples
    --------
    >>> patch("95 % interval").get_label()
    '95 % interval'
    """
    return Patch(color="grey", alpha=0.25, linewidth=0, label=label)


def blended(ax: Axes) -> Any:
    """Return the transform whose x is a share of the axis and whose y are the axis' numbers."""
    return blended_transform_factory(ax.transAxes, ax.transData)


def save(figure: Figure, file: Path) -> list[Path]:
    """Write a figure as PNG and as PDF.

    Neither holds a date: the same picture has the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    file : path
        Without its ending.

    Returns
    -------
    list of path
        What was written, the PNG first.

    Raises
    ------
    OSError
        If they cannot be written.
    """
    png, pdf = file.with_name(file.name + ".png"), file.with_name(file.name + ".pdf")
    for ax in figure.axes:
        for collection in ax.collections:
            # Thousands of short lines of many colours make a slow vector picture.
            if len(collection.get_paths()) > _MOST_PATHS:
                collection.set_rasterized(True)
    write_whole(png, packed(_encoded(figure, "png"), dpi=_DPI))
    figure.set_layout_engine("none")  # the places have been found; finding them takes a while
    write_whole(pdf, _encoded(figure, "pdf"))
    return [png, pdf]


def save_as(figure: Figure, file: Path) -> None:
    """Write a figure in the format that its name says; it is there whole, or not at all.

    Raises
    ------
    ConfigError
        If the name has another ending, or the file cannot be written.

    Examples
    --------
    >>> save_as(Figure(), Path("picture.jpeg2"))
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: out = 'picture.jpeg2' is not allowed; expected a name ending in \
.png, .pdf or .svg
    """
    kind = file.suffix.removeprefix(".").lower()
    if kind not in _DATES:
        raise ConfigError("out", str(file), "a name ending in .png, .pdf or .svg")
    try:
        write_whole(file, _encoded(figure, kind))
    except OSError as error:
        why = f"a file that can be written ({error.strerror})"
        raise ConfigError("out", str(file), why) from None


#: What would make two equal pictures differ.
_DATES = {"png": "Software", "pdf": "CreationDate", "svg": "Date"}


def _encoded(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format=kind, dpi=_DPI, metadata={_DATES[kind]: None})
    return buffer.getvalue()
