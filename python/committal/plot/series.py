"""Curves with bands, each with its own name and colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from committal.plot.panels import label_axes

Floats = npt.NDArray[np.float64]

#: What a dotted line is, for legends.
NONE_SEEN = "none of the runs: upper end of the interval"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A curve and the band around it.

    Attributes
    ----------
    label : str
        For the legend.
    colour : str
        Of the curve and its band.
    times, middle : array
        The curve.
    low, high : array, optional
        The band.
    style : str, optional
        Of the line.
    """

    label: str
    colour: str
    times: Floats
    middle: Floats
    low: Floats | None = None
    high: Floats | None = None
    style: str = "-"


def series(
    ax: Axes,
    curves: Iterable[Series],
    *,
    xlabel: str = "update",
    ylabel: str = "",
    log: bool = False,
    legend: bool = False,
) -> Axes:
    """Draw curves with their bands.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where.
    curves : iterable of Series
        What, the first one at the bottom.
    xlabel, ylabel : str, optional
        Of the axes.
    log : bool, optional
        Whether the vertical axis is logarithmic. A zero has no place on it: where the curve is
        zero the upper end of its band is drawn instead, dotted and with a mark that points
        down.
    legend : bool, optional
        Name the curves.

    Returns
    -------
    matplotlib.axes.Axes
        The same, with one line per curve.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("c")
    >>> t = np.arange(5.0)
    >>> len(series(ax, [Series("b", "black", t, t, t - 1, t + 1)]).get_lines())
    1
    """
    last = 0.0
    for curve in curves:
        times, middle = curve.times, curve.middle
        if log:
            # Where nothing was counted there is a gap, and no line across it.
            middle = np.where(middle > 0.0, middle, np.nan)
        if curve.low is not None and curve.high is not None:
            # A band that reaches down to zero would take the whole axis with it.
            low = np.maximum(curve.low, 0.2 * middle) if log else curve.low
            ax.fill_between(times, low, curve.high, color=curve.colour, alpha=0.22, linewidth=0)
        ax.plot(times, middle, curve.style, color=curve.colour, label=curve.label)
        if log and curve.high is not None:
            _bound(ax, curve)
        last = max(last, float(curve.times[-1]))
    if log:
        ax.set_yscale("log")
    ax.set_xlim(0.0, last or 1.0)
    label_axes(ax, xlabel, ylabel)
    if legend:
        ax.legend(frameon=False, handlelength=1.4, borderaxespad=0.2, labelspacing=0.3)
    return ax


def _bound(ax: Axes, curve: Series) -> None:
    """Draw the upper bound where nothing was counted, in pieces between which something was."""
    assert curve.high is not None
    zero = (curve.middle == 0.0) & (curve.high > 0.0)
    for piece in np.split(np.arange(zero.size), np.flatnonzero(np.diff(zero)) + 1):
        if zero[piece[0]]:
            ax.plot(
                curve.times[piece], curve.high[piece], ":", color=curve.colour, linewidth=0.9,
                marker="v", markersize=3.5, markevery=[-1], label=NONE_SEEN,
            )  # fmt: skip
