"""One line per run: blue where it ends well, red where it does not, purple in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from committal.errors import ConfigError
from committal.plot.panels import label_axes

# The paper's blue and red, in shades that remain different to colour-blind readers.
REACHED = "#0072B2"
FAILED = "#D55E00"
#: Of runs that have neither arrived nor settled.
MOVING = "#CC79A7"


def fates(
    ax: Axes,
    times: npt.ArrayLike,
    curves: npt.ArrayLike,
    failed: npt.ArrayLike,
    *,
    xlabel: str = "update",
    ylabel: str = "",
    mean: bool = True,
    max_runs: int | None = None,
    moving: npt.ArrayLike | None = None,
    words: tuple[str, ...] | None = None,
) -> Axes:
    """Draw curves in the colours of their outcome, failures on top, and their mean in black.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where.
    times : array_like, shape (T,)
        The horizontal axis.
    curves : array_like, shape (runs, T)
        One curve per run.
    failed : array_like of bool, shape (runs,)
        Which runs are red.
    xlabel, ylabel : str, optional
        Of the axes.
    mean : bool, optional
        Whether to draw the mean of all runs.
    max_runs : int, optional
        Draw no more than this many runs, the first ones.
    moving : array_like of bool, shape (runs,), optional
        Which of the red runs have not finished: they are purple instead.
    words : tuple of str, optional
        What blue, red and purple are, for a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The same, with two collections of lines, blue ones and red ones, or with three.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("c")
    >>> blue, red = fates(ax, [0, 1], [[0, 1], [0, 0.5]], [False, True]).collections
    >>> len(blue.get_paths()), len(red.get_paths())
    (1, 1)
    """
    t = np.asarray(times, np.float64)
    x, red = np.asarray(curves, np.float64), np.asarray(failed, np.bool_)
    if x.ndim != 2 or x.shape != (red.size, t.size):
        raise ConfigError("curves", x.shape, f"shape ({red.size}, {t.size}): runs and times")
    purple = None if moving is None else np.asarray(moving, np.bool_)
    draw_runs(
        ax, t, x, red, max_runs=max_runs, widths=(0.6, 1.5), mean=mean, moving=purple, words=words
    )
    ax.set_xlim(t[0], t[-1])
    label_axes(ax, xlabel, ylabel)
    return ax


def draw_runs(
    ax: Axes,
    times: npt.NDArray[Any],
    curves: npt.NDArray[np.float64],
    failed: npt.NDArray[np.bool_],
    *,
    max_runs: int | None,
    widths: tuple[float, float],
    mean: bool = True,
    moving: npt.NDArray[np.bool_] | None = None,
    words: tuple[str, ...] | None = None,
) -> None:
    """Draw the first runs in two colours, and the mean of all; widths are those of both.

    `words` are what the colours mean, for a legend; a colour that is not drawn gets no line in it.
    """
    shown, (thin, thick) = slice(max_runs), widths
    # Failures last: they are few where they matter and must not drown in blue.
    groups = [(~failed, REACHED), (failed, FAILED)]
    if moving is not None:
        groups = [(~failed, REACHED), (failed & ~moving, FAILED), (failed & moving, MOVING)]
    for i, (which, colour) in enumerate(groups):
        chosen = which[shown]
        lines = [np.column_stack([times, curve]) for curve in curves[shown][chosen]]
        label = words[i] if words is not None and lines else None
        ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=thin, alpha=0.55, zorder=2, label=label)
        )
    if mean and len(curves):
        label = "mean" if words is not None else None
        ax.plot(times, curves.mean(axis=0), color="black", linewidth=thick, zorder=3, label=label)
    ax.autoscale_view()
