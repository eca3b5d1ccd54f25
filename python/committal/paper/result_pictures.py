"""What pictures of results share: shares of runs against the logarithm of time, and their key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from committal.analysis import mean_curves, proportion_interval
from committal.plot import sheet
from committal.plot.series import NONE_SEEN, Series, series
from committal.plot.sheet import Axes, Figure, mark, patch

if TYPE_CHECKING:
    from committal.paper.result import Measured

BAND = "95 % interval"
#: Shades that colour-blind readers tell apart, from warm to cold.
COLOURS = ("#D55E00", "#E69F00", "#009E73", "#56B4E9", "#0072B2", "#000000", "#CC79A7")


def failing(one: Measured) -> Series:
    """Return the share of runs below the level, with its band, without the start."""
    data = one.data.isel(time=slice(1, None))
    failures = data["failures"].values
    low, high = proportion_interval(failures, one.runs)
    return _series(one, data["time"].values, failures / one.runs, low, high)


def averaged(one: Measured, name: str) -> Series:
    """Return the mean of a quantity, of policies that of the best arm, without the start."""
    curve = mean_curves(one.data, name).isel(time=slice(1, None))
    if name == "policy":
        curve = curve.isel(arm=one.setting.best)
    middle, low, high = (curve[part].values for part in ("estimate", "low", "high"))
    return _series(one, curve["time"].values, middle, low, high)


def _series(one: Measured, times: Any, middle: Any, low: Any, high: Any) -> Series:
    name = one.setting.latex or one.setting.label
    x, y, lower, upper = (np.asarray(each, np.float64) for each in (times, middle, low, high))
    return Series(name, one.setting.colour, x, y, lower, upper)


def against_log_time(
    ax: Axes,
    curves: Sequence[Series],
    *,
    ylabel: str,
    log: bool = False,
    title: str = "",
    legend: str = "best",
) -> Axes:
    """Draw curves with bands over a logarithmic axis of time; `legend` is its place, if any."""
    series(ax, curves, ylabel=ylabel, log=log)
    if legend:
        name_lines(ax, legend)
    ax.set_xscale("log")
    ax.set_xlim(1.0, max(float(curve.times[-1]) for curve in curves))
    ax.set_title(title)
    return ax


def name_lines(ax: Axes, place: Any = "best", **more: Any) -> None:
    """Name what is in a panel, inside of it; bounds have their name below the row."""
    pairs = zip(*ax.get_legend_handles_labels(), strict=True)
    own = [(handle, label) for handle, label in pairs if label != NONE_SEEN]
    if own:
        handles, labels = zip(*own, strict=True)
        ax.legend(handles, labels, loc=place, frameon=False, handlelength=1.6, **more)


def explain(
    figure: Figure,
    *axes: Axes,
    band: str = BAND,
    also: Sequence[Any] = (),
    columns: int | None = None,
) -> None:
    """Say below the row what bands are, dotted lines where there are some, and what else is given.

    An empty `band` leaves that out.
    """
    handles = [*([patch(band)] if band else []), *also]
    if any(NONE_SEEN in ax.get_legend_handles_labels()[1] for ax in axes):
        handles.append(mark(NONE_SEEN, linestyle=":", marker="v", markersize=3.5, linewidth=0.9))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=columns or len(handles), frameon=False
    )


def failing_panel(data: Sequence[Measured]) -> Figure:
    """Draw one panel: the share of runs that fail in every setting."""
    figure, (ax,) = sheet.row("c", height=2.7, width=4.8)
    levels = sorted({one.setting.below for one in data})
    below = f" with $J < {levels[0]:g}$" if len(levels) == 1 else " that fail"
    curves = [
        replace(failing(one), colour=COLOURS[i % len(COLOURS)])
        if one.setting.colour == "black"
        else failing(one)
        for i, one in enumerate(data)
    ]
    against_log_time(ax, curves, ylabel="share of runs" + below)
    ax.set_ylim(-0.02, 1.02)
    explain(figure, ax)
    return figure
