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
    for label, colour, curve in each_curve(curves):
        there = ~np.isnan(curve["estimate"].values)
        times = curve["time"].values[there]
        low, high = curve["low"].values[there], curve["high"].values[there]
        ax.fill_between(times, low, high, color=colour, alpha=0.25, linewidth=0)
        ax.plot(times, curve["estimate"].values[there], color=colour, linewidth=1.5, label=label)
    attributes = curves["estimate"].attrs
    finish(ax, log_time, curves["time"].values)
    ax.set_ylabel(str(attributes.get("long_name", name)))
    if legend and len(ax.get_lines()) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax


def each_curve(curves: xr.Dataset) -> Iterator[tuple[str, Any, xr.Dataset]]:
    """Yield the label, the colour and the curve of every configuration."""
    estimate = curves["estimate"]
    axes = [dim for dim in estimate.dims if dim != "time"]
    shape = [estimate.sizes[dim] for dim in axes]
    count = int(np.prod(shape))
    if count > _MOST_CURVES:
        raise ConfigError(
            "data",
            dict(estimate.sizes),
            f"at most {_MOST_CURVES} curves: select some with data.sel",
        )
    # A single axis of numbers is drawn in the order of its colours.
    ordered = len(axes) == 1 and count > 2 and curves[axes[0]].dtype.kind in "if"
    for number, index in enumerate(np.ndindex(*shape)):
        chosen = dict(zip(axes, index, strict=True))
        if ordered or count > len(PALETTE):
            colour: Any = colormaps["viridis"](0.9 * number / max(count - 1, 1))
        else:
            colour = PALETTE[number]
        yield _label(curves, chosen), colour, curves.isel(chosen)


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
