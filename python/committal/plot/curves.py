"""Learning curves against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from committal.analysis import failure_rate
from committal.errors import ConfigError
from committal.plot import arguments
from committal.plot.fates import REACHED, draw_runs
from committal.plot.levels import BELOW_WORDS, ends_below, halfway, share
from committal.plot.panels import given_or_new, label_axes
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["learning_curves"]


def learning_curves(
    data: xr.Dataset,
    below: float | None = None,
    ax: Axes | None = None,
    *,
    max_runs: int | None = 40,
    legend: bool = True,
) -> Axes:
    """Draw the value against the number of updates, with the rate of failures in the title.

    Of results per run: one thin line per run, blue where the run ends at `below` or above and
    red where it does not, and the mean in black. Where policies were recorded, runs that end below
    and are not sure of any arm are purple: they have not finished. Of reduced results: the mean in
    black with a band of one standard error, and the range between the outermost quantiles where
    there are any. The level stands in the title and is a dotted line.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the value at several times.
    below : float, optional
        A run failed if its last value is less than this. By default what reduced data were
        reduced with, and otherwise halfway between the best and the second-best arm of the
        bandit. Where neither is known, as in an MDP, no run is called failed.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    max_runs : int, optional
        Draw no more than this many runs, the first ones; None draws all. The mean and the rate
        are always those of all runs.
    legend : bool, optional
        Say what the colours are.

    Returns
    -------
    matplotlib.axes.Axes
        Titled with the rate, where it is known.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), cm.Constant(-1.0),
    ...     steps=200, record=cm.Record("value", every=1),
    ... )
    >>> ax = cm.plot.learning_curves(cm.run(exp, runs=100, rng=0), below=0.5)
    """
    arguments.dataset("data", data)
    per_run = "value" in data and "run" in data["value"].dims
    if not per_run and "value_mean" not in data:
        raise arguments.lacks("data", data, "the value, Record('value', every=...)")
    times = data["time"].values
    arguments.several_times("data", times, "value")
    ax = given_or_new(ax, "curves")
    if per_run:
        if set(data["value"].dims) != {"run", "time"}:
            raise ConfigError(
                "data", dict(data["value"].sizes), "one configuration, such as data.sel(...)"
            )
        below = halfway(data) if below is None else check.number("below", below)
        values = data["value"].transpose("run", "time").values
        failed, moving = np.zeros(len(values), np.bool_), None
        words: tuple[str, ...] | None = None
        if below is not None:
            failed, moving = ends_below(data, below)
            ending = (f"ends below {below:g}",) if moving is None else BELOW_WORDS
            words = (f"ends at {below:g} or above", *ending)
        draw_runs(
            ax, times, values, failed,
            max_runs=max_runs, widths=(0.7, 1.8), moving=moving, words=words,
        )  # fmt: skip
    else:
        _draw_bands(ax, data)
    if "failures" in data or (per_run and below is not None):
        rate = failure_rate(data, below)
        ax.axhline(
            rate.below, color="grey", linewidth=0.5, linestyle=":", zorder=1,
            label=f"$J = {rate.below:g}$",
        )  # fmt: skip
        if rate.runs:
            ax.set_title(f"failed ($J < {rate.below:g}$): {share(rate)}")
    if legend and ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small")
    ax.set_xlim(times[0], times[-1])
    label_axes(ax, "update", r"expected reward $J(\theta)$")
    return ax


def _draw_bands(ax: Axes, data: xr.Dataset) -> None:
    times = data["time"].values
    mean, sem = data["value_mean"].values, data["value_sem"].values
    if "value_quantile" in data and data.sizes["quantile"] > 1:
        quantiles = data["value_quantile"].sortby("quantile")
        low, high = quantiles.values[0], quantiles.values[-1]
        p, q = quantiles["quantile"].values[[0, -1]]
        ax.fill_between(
            times, low, high, color=REACHED, alpha=0.18, linewidth=0,
            label=f"{100 * p:g} % to {100 * q:g} % of runs",
        )  # fmt: skip
    ax.fill_between(
        times, mean - sem, mean + sem, color="black", alpha=0.3, linewidth=0,
        label="± 1 standard error",
    )  # fmt: skip
    ax.plot(times, mean, color="black", linewidth=1.8, label="mean")
