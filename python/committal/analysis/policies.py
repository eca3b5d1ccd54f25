"""Where policies end: how many runs give an arm which probability."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.analysis.select import at_time, checked, has, interval, per_run, result
from committal.errors import ConfigError
from committal.inference.intervals import proportion_interval
from committal.support import check, limits

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["policy_histogram"]


def policy_histogram(
    data: xr.Dataset, bins: int = 20, *, time: int | None = None, level: float = 0.95
) -> xr.Dataset:
    """Count runs by the probability of each arm.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the policy of every run, or reduced it with ``Reduce(bins=...)``.
    bins : int, optional
        Number of equal cells of [0, 1]; reduced data have their own.
    time : int, optional
        After how many updates; the last recorded time of each configuration by default.
    level : float, optional
        Coverage of the intervals.

    Returns
    -------
    xarray.Dataset
        `estimate`, the fraction of runs in each cell, with `low`, `high` and `histogram`, the
        number of runs, by configuration, arm and `bin`; `count`, the number of all runs.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=100)
    >>> found = cm.analysis.policy_histogram(cm.run(exp, runs=100, rng=0), bins=4)
    >>> int(found.histogram.sel(arm="arm 1").sum())
    100
    """
    level = check.level(level)
    bins = check.integer("bins", bins, 1, limits.BINS)
    checked(data)
    if has(data, "policy_histogram", "policy_bin_left", "policy_bin_right"):
        counts = at_time(data, data["policy_histogram"], time).transpose(..., "bin")
        # The outer cells, below 0 and above 1, are empty.
        histogram = counts.isel(bin=slice(1, -1))
        left = data["policy_bin_left"].isel(bin=slice(1, -1))
        right = data["policy_bin_right"].isel(bin=slice(1, -1))
        numbers = histogram.values
        like = histogram.isel(bin=0, drop=True)
        edges = np.append(left.values[..., :1], right.values)
    else:
        x = at_time(data, per_run(data, "policy", ", or Reduce(bins=...)"), time)
        x = x.transpose("run", ...)
        like = x.isel(run=0, drop=True)
        edges = np.linspace(0.0, 1.0, bins + 1)
        # Probabilities may exceed one by rounding; they are still one.
        cell = np.clip((np.minimum(x.values, 1.0) * bins), 0, bins - 1)
        there = ~np.isnan(cell)
        cell = np.where(there, cell, 0).astype(np.int64)
        numbers = _counted(cell, there, bins)
    total = numbers.sum(axis=-1, keepdims=True)
    low, high = proportion_interval(numbers, np.broadcast_to(total, numbers.shape), level)
    with np.errstate(invalid="ignore"):
        estimate = numbers / np.where(total > 0, total, np.nan)
    dims = (*like.dims, "bin")
    variables = {
        **interval(dims, (estimate, low, high), "fraction of runs"),
        "histogram": (dims, numbers, {"long_name": "number of runs"}),
        "count": (like.dims, total[..., 0], {"long_name": "number of all runs"}),
    }
    made = result(variables, {"quantity": "policy", "level": level}, like)
    return made.assign_coords(bin_left=("bin", edges[:-1]), bin_right=("bin", edges[1:]))


def _counted(
    cell: npt.NDArray[np.int64], there: npt.NDArray[np.bool_], bins: int
) -> npt.NDArray[np.int64]:
    """Count the runs, along the first axis, in each cell: int64[..., bins]."""
    shape = cell.shape[1:]
    places = math.prod(shape)
    if places * bins > limits.LISTED:
        raise ConfigError("bins", bins, f"at most {limits.LISTED // places} for so many arms")
    which = np.arange(places).reshape(shape) * bins + cell
    return np.bincount(which[there], minlength=places * bins).reshape(*shape, bins)
