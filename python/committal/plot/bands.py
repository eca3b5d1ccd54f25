"""Mean curves of every configuration, with bands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from committal.analysis import mean_curves
from committal.errors import ConfigError
from committal.plot import arguments
from committal.plot.panels import given_or_new, label_axes
from committal.plot.sheet import patch
from committal.plot.words import literal

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["bands"]

Array = npt.NDArray[Any]

# Colours that remain different to colour-blind readers; black is left for references.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")

_DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_MOST_CURVES = 40
_MOST_INSIDE = 6


class Curve(NamedTuple):
    """One configuration: its name, its style, and its numbers where there are any."""

    label: str
    style: dict[str, Any]
    times: Array
    middle: Array
    low: Array
    high: Array


def bands(
    data: xr.Dataset,
    name: str = "value",
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    method: str = "normal",
    log_time: bool = False,
    legend: bool = True,
) -> Axes:
    """Draw the mean of a quantity against time, one curve with its band per configuration.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the quantity at several times, or what
        :func:`committal.analysis.mean_curves` made of it.
    name : str, optional
        The quantity.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    level, method : optional
        Of the bands, see :func:`committal.analysis.mean_curves`.
    log_time : bool, optional
        Draw time on a logarithmic axis.
    legend : bool, optional
        Name the configurations and the bands.

    Returns
    -------
    matplotlib.axes.Axes
        With one line per configuration, in the order of the dataset.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=50,
    ...     record=cm.Record("value", every=5),
    ... )
    >>> study = cm.Study(exp, {"baseline": [0.0, cm.Value()]}, runs=50, rng=0)
    >>> ax = cm.plot.bands(study.run())
    """
    arguments.dataset("data", data, "committal.run or Study.run")
    curves = data if "estimate" in data else mean_curves(data, name, level=level, method=method)
    if curves.sizes.get("time", 0) < 2:
        raise ConfigError("data.time", curves["time"].values.tolist(), "at least two times")
    ax = given_or_new(ax, "curves")
    for curve in each_curve(curves):
        times, colour = curve.times, curve.style["color"]
        ax.fill_between(times, curve.low, curve.high, color=colour, alpha=0.25, linewidth=0)
        ax.plot(times, curve.middle, linewidth=1.5, label=curve.label, **curve.style)
    ylabel = str(curves["estimate"].attrs.get("long_name", name))
    finish(ax, curves, ylabel, log_time=log_time, legend=legend)
    return ax


def each_curve(curves: xr.Dataset) -> Iterator[Curve]:
    """Yield the curve of every configuration.

    The last axis is told by colours, the others by dashes, as long as there are enough of them.
    """
    estimate = curves["estimate"]
    axes = [dim for dim in estimate.dims if dim != "time"]
    shape = [estimate.sizes[dim] for dim in axes]
    count = int(np.prod(shape))
    if count > _MOST_CURVES:
        raise ConfigError(
            "data", dict(estimate.sizes), f"at most {_MOST_CURVES} curves: select with data.sel"
        )
    last = shape[-1] if shape else 1
    crowded = last > len(PALETTE) or count // last > len(_DASHES)
    shades = count if crowded else last
    # Numbers are drawn in the order of their colours.
    ordered = shades > 2 and (crowded or curves[axes[-1]].dtype.kind in "if")
    for number, index in enumerate(np.ndindex(*shape)):
        shade, dash = (number, 0) if crowded else (number % last, number // last)
        colour: Any = PALETTE[shade % len(PALETTE)]
        if ordered:
            colour = colormaps["viridis"](0.9 * shade / (shades - 1))
        chosen = dict(zip(axes, index, strict=True))
        style = {"color": colour, "linestyle": _DASHES[dash]}
        one = curves.isel(chosen)
        there = ~np.isnan(one["estimate"].values)
        numbers = (one[part].values[there] for part in ("time", "estimate", "low", "high"))
        yield Curve(_label(curves, chosen), style, *numbers)


def _label(curves: xr.Dataset, chosen: dict[Any, int]) -> str:
    parts = []
    for dim, i in chosen.items():
        value = curves[dim].values[i]
        if isinstance(value, str):
            parts.append(value)
        else:
            parts.append(f"{str(dim).replace('_', ' ')} = {value:.4g}")
    return literal(", ".join(parts))


def finish(ax: Axes, curves: xr.Dataset, ylabel: str, *, log_time: bool, legend: bool) -> None:
    """Name the axes, the curves if there are several, and the bands."""
    times = curves["time"].values
    if log_time:
        # Zero has no logarithm; symlog would invent a scale below one.
        ax.set_xscale("log")
        ax.set_xlim(max(times[0], 1), times[-1])
    else:
        ax.set_xlim(times[0], times[-1])
    label_axes(ax, "update", ylabel)
    if legend:
        level = curves.attrs.get("level")
        words = "interval" if level is None else f"{100 * level:g} % interval"
        if curves.attrs.get("method") == "bootstrap":
            words += " (bootstrap)"
        key(ax, patch(words))


def key(ax: Axes, *more: Artist) -> None:
    """Name the curves: among them where they are few, beside them where they are many."""
    named = ax.get_legend_handles_labels()[0]
    handles = [*(named if len(named) > 1 else ()), *more]
    count = len(handles)
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    place = beside if count - len(more) > _MOST_INSIDE else {}
    ax.legend(handles=handles, frameon=False, fontsize="small", ncols=1 + count // 21, **place)
