"""Survival curves: the fraction of runs that have not yet reached a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from committal import analysis
from committal.errors import ConfigError
from committal.plot import arguments
from committal.plot.bands import each_curve, finish
from committal.plot.panels import given_or_new

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["survival"]


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
    log_time, legend : bool, optional
        See :func:`committal.plot.bands`.

    Returns
    -------
    matplotlib.axes.Axes
        With one line of steps per configuration.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(), cm.Natural(0.1), steps=40,
    ...     record=cm.Record("value", every=4),
    ... )
    >>> data = cm.Study(exp, {"update.step_size": [0.1, 0.2]}, runs=50, rng=0).run()
    >>> ax = cm.plot.survival(data, above=0.9)
    """
    arguments.dataset("data", data, "committal.run or Study.run")
    if "arrivals" in data:
        curves = data
    elif above is None:
        raise ConfigError("above", above, "a number: the level to reach")
    else:
        curves = analysis.survival(data, above, name, level=level)
    ax = given_or_new(ax, "curves")
    for curve in each_curve(curves):
        # What happens between two recorded times is not known: steps do not pretend to.
        ax.fill_between(
            curve.times, curve.low, curve.high, step="post", color=curve.style["color"],
            alpha=0.25, linewidth=0,
        )  # fmt: skip
        ax.step(
            curve.times, curve.middle, where="post", linewidth=1.5, label=curve.label, **curve.style
        )
    ylabel = f"runs not yet at {curves.attrs['quantity']} ≥ {curves.attrs['above']:g}"
    ax.set_ylim(0, 1.02)
    finish(ax, curves, ylabel, log_time=log_time, legend=legend)
    return ax
