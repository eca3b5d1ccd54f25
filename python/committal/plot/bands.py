"""Mean curves of every configuration, with bands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from committal.analysis import mean_curves
from committal.errors import ConfigError, ConfigTypeError
from committal.plot.panels import new_axes

if TYPE_CHECKING:
    import xarray as xr

# Colours that remain different to colour-blind readers; black is left for references.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")

_DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
_MOST_CURVES = 40


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
        Name the configurations.

    Returns
    -------
    matplotlib.axes.Axes

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
    if not hasattr(data, "data_vars"):
        raise ConfigTypeError("data", data, "a dataset made by committal.run or Study.run")
    curves = data if "estimate" in data else mean_curves(data, name, level=level, method=method)
    if curves.sizes.get("time", 0) < 2:
        raise ConfigError("data.time", curves["time"].values.tolist(), "at least two times")
    if ax is None:
        ax = new_axes("curves")
    for label, style, curve in each_curve(curves):
        there = ~np.isnan(curve["estimate"].values)
        times = curve["time"].values[there]
        low, high = curve["low"].values[there], curve["high"].values[there]
        ax.fill_between(times, low, high, color=style["color"], alpha=0.25, linewidth=0)
        ax.plot(times, curve["estimate"].values[there], linewidth=1.5, label=label, **style)
    attributes = curves["estimate"].attrs
    finish(ax, log_time, curves["time"].values)
    ax.set_ylabel(str(attributes.get("long_name", name)))
    if legend and len(ax.get_lines()) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax


def each_curve(curves: xr.Dataset) -> Iterator[tuple[str, dict[str, Any], xr.Dataset]]:
    """Yield the label, the style and the curve of every configuration.

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
        yield _label(curves, chosen), style, curves.isel(chosen)


def _label(curves: xr.Dataset, chosen: dict[Any, int]) -> str:
    parts = []
    for dim, i in chosen.items():
        value = curves[dim].values[i]
        if isinstance(value, str):
            parts.append(value)
        else:
            parts.append(f"{str(dim).replace('_', ' ')} = {value:.4g}")
    return ", ".join(parts)


def finish(ax: Axes, log_time: bool, times: Any) -> None:
    """Label the axis of time."""
    if log_time:
        # Zero has no logarithm; symlog would invent a scale below one.
        ax.set_xscale("log")
        ax.set_xlim(max(times[0], 1), times[-1])
    else:
        ax.set_xlim(times[0], times[-1])
    ax.set_xlabel("update")
    ax.spines[["top", "right"]].set_visible(False)
