"""One line per run, blue where it ends well and red where it does not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from committal.errors import ConfigError
from committal.plot.curves import FAILED, REACHED


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

    Returns
    -------
    matplotlib.axes.Axes

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
    shown = slice(max_runs)
    for chosen, colour in ((~red[shown], REACHED), (red[shown], FAILED)):
        lines = [np.column_stack([t, curve]) for curve in x[shown][chosen]]
        ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=0.6, alpha=0.55, zorder=2)
        )
    if mean and len(x):
        ax.plot(t, x.mean(axis=0), color="black", linewidth=1.5, zorder=3)
    ax.autoscale_view()
    ax.set_xlim(t[0], t[-1])
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
