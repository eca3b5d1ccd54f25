"""Learning curves against time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from committal.analysis import failure_rate
from committal.errors import ConfigError, ConfigTypeError
from committal.plot.panels import new_axes

if TYPE_CHECKING:
    import xarray as xr

# The paper's blue and red, in shades that remain different to colour-blind readers.
REACHED = "#0072B2"
FAILED = "#D55E00"


def learning_curves(
    data: xr.Dataset,
    below: float | None = None,
    ax: Axes | None = None,
    *,
    max_runs: int | None = 40,
) -> Axes:
    """Draw the value against the number of updates, with the rate of failures in the title.

    Of results per run: one thin line per run, blue where the run ends at `below` or above and
    red where it does not, and the mean in black. Of reduced results: the mean in black with a
    band of one standard error, and the range between the outermost quantiles where there are
    any.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the value at several times.
    below : float, optional
        A run failed if its last value is less than this. 0.9 by default, or what reduced data
        were reduced with.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    max_runs : int, optional
        Draw no more than this many runs, the first ones; None draws all. The mean and the rate
        are always those of all runs.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), cm.Constant(-1.0),
    ...     steps=200, record=cm.Record("value", every=1),
    ... )
    >>> ax = cm.plot.learning_curves(cm.run(exp, runs=100, rng=0), below=0.5)
    """
    if not hasattr(data, "data_vars"):
        raise ConfigTypeError("data", data, "a dataset made by committal.run")
    per_run = "value" in data and "run" in data["value"].dims
    if not per_run and "value_mean" not in data:
        raise ConfigError(
            "data", sorted(map(str, data.data_vars)), "the value, Record('value', every=...)"
        )
    times = data["time"].values
    if len(times) < 2:
        raise ConfigError(
            "data.time", times.tolist(), "at least two recorded times, Record('value', every=...)"
        )
    if per_run and below is None:
        below = 0.9
    if ax is None:
        ax = new_axes("curves")

    if per_run:
        assert below is not None
        _draw_runs(ax, data, below, max_runs)
    else:
        _draw_bands(ax, data)
    if per_run or "failures" in data:
        rate = failure_rate(data, below)
        if rate.runs:
            places = 0 if rate.runs <= 100 else 2
            ax.set_title(f"failed: {100 * rate.estimate:.{places}f} %")
    ax.set_xlim(times[0], times[-1])
    ax.set_xlabel("update")
    ax.set_ylabel(r"expected reward $J(\theta)$")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_runs(ax: Axes, data: xr.Dataset, below: float, max_runs: int | None) -> None:
    times = data["time"].values
    values = data["value"].transpose("run", "time").values
    shown = values if max_runs is None else values[:max_runs]
    reached = shown[:, -1] >= below
    # Failures last: they are few where they matter and must not drown in blue.
    for chosen, colour in ((reached, REACHED), (~reached, FAILED)):
        lines = [np.column_stack([times, curve]) for curve in shown[chosen]]
        ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=0.7, alpha=0.55, zorder=2)
        )
    if len(values):
        ax.plot(times, values.mean(axis=0), color="black", linewidth=1.8, zorder=3)
    ax.autoscale_view()


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
    ax.legend(frameon=False, fontsize="small")
