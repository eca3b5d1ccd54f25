"""Survival curves: the fraction of runs that have not yet reached a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from committal import analysis
from committal.errors import ConfigError, ConfigTypeError
from committal.plot.bands import each_curve, finish
from committal.plot.panels import new_axes

if TYPE_CHECKING:
    import xarray as xr


def survival(
    data: xr.Dataset,
    above: float | None = None,
    ax: Axes | None = None,
    *,
    name: str = "value",
    level: float = 0.95,
    log_time: bool = False,
    legend: bool = True,
) -> Axes:
    """Draw the fraction of runs that have not yet reached a level, one curve per configuration.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the quantity of every run at several times, or what
        :func:`committal.analysis.survival` made of it.
    above : float, optional
        The level to reach.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    name : str, optional
        The quantity.
    level : float, optional
        Coverage of the bands.
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
    >>> ax = cm.plot.survival(study.run(), above=0.9)
    """
    if not hasattr(data, "data_vars"):
        raise ConfigTypeError("data", data, "a dataset made by committal.run or Study.run")
    if "arrivals" in data:
        curves = data
    elif above is None:
        raise ConfigError("above", above, "a number: the level to reach")
    else:
        curves = analysis.survival(data, above, name, level=level)
    if ax is None:
        ax = new_axes("curves")
    for label, style, curve in each_curve(curves):
        there = ~np.isnan(curve["estimate"].values)
        times = curve["time"].values[there]
        low, high = curve["low"].values[there], curve["high"].values[there]
        # What happens between two recorded times is not known: steps do not pretend to.
        ax.fill_between(
            times, low, high, step="post", color=style["color"], alpha=0.25, linewidth=0
        )
        estimate = curve["estimate"].values[there]
        ax.step(times, estimate, where="post", linewidth=1.5, label=label, **style)
    finish(ax, log_time, curves["time"].values)
    ax.set_ylim(0, 1.02)
    ax.set_ylabel(f"runs not yet at {curves.attrs['quantity']} ≥ {curves.attrs['above']:g}")
    if legend and len(ax.get_lines()) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax
