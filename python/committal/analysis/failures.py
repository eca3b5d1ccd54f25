"""How often every configuration of a study fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from committal.analysis.select import at_time, checked, has, interval, per_run, result, run_count
from committal.config import Bandit, Experiment
from committal.errors import CommittalError, ConfigError
from committal.inference.intervals import proportion_interval
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["failure_rates"]

#: A policy is sure of an arm that it takes at least this often.
SURE = 0.99


def failure_rates(
    data: xr.Dataset,
    below: float | None = None,
    *,
    time: int | None = None,
    level: float = 0.95,
    method: str | None = None,
) -> xr.Dataset:
    """Estimate how often the value ends up below a level, for every configuration.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the value of every run, or one that was reduced with
        ``Reduce(below=...)``.
    below : float, optional
        A run failed if its value is less than this. Reduced data know it already.
    time : int, optional
        After how many updates; the last recorded time of each configuration by default.
    level : float, optional
        Coverage of the intervals.
    method : {"wilson", "clopper-pearson", "sequential"}, optional
        The interval; Wilson's by default, and for studies that stopped at a precision the
        sequential one, because theirs is the only one that is valid after stopping.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high`, `failures` and `count`, by configuration. If the policy of every
        run of a bandit was recorded, also `unfinished`: how many of the failures are sure of no arm
        (none has probability 0.99) and may still find the best one.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), -1.0, steps=200
    ... )
    >>> study = cm.Study(exp, {"update.step_size": [0.05, 0.15]}, runs=1000, rng=0)
    >>> rates = cm.analysis.failure_rates(study.run(), below=0.5)
    >>> bool(rates.high[0] < rates.low[1])
    True
    """
    level = check.level(level)
    checked(data)
    if below is not None:
        below = check.number("below", below)
    if method is None:
        method = "sequential" if "until" in data.attrs else "wilson"
    failures, count, below = failure_counts(data, below, time)
    low, high = proportion_interval(failures, count, level, method)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = np.where(count > 0, failures / count, np.nan)
    dims = failures.dims
    variables = {
        **interval(dims, (estimate, low, high), "failure rate"),
        "failures": (dims, failures.values, {"long_name": "number of failures"}),
        "count": (dims, count.values, {"long_name": "number of runs"}),
    }
    late = _unfinished(data, below, time)
    if late is not None:
        words = {"long_name": "number of failures that are sure of no arm"}
        variables["unfinished"] = (dims, late.transpose(*dims).values, words)
    attributes = {"quantity": "failure", "below": below, "level": level, "method": method}
    return result(variables, attributes, failures)


def _unfinished(data: xr.Dataset, below: float, time: int | None) -> xr.DataArray | None:
    """How many runs below the level are sure of no arm; None where nobody knows."""
    known = {"run", "time"}
    for name, dims in (("value", known), ("policy", known | {"arm"})):
        if name not in data or not dims <= set(data[name].dims):
            return None
    # Numbers of runs that were not made are NaN, and below nothing.
    wrong = at_time(data, data["value"], time) < below
    sure = at_time(data, data["policy"], time) >= SURE
    best = _best(data)
    if best is not None:
        sure = sure & ~best  # who is sure of it is on the way
    return (wrong & ~sure.any("arm")).sum("run")


def failure_counts(
    data: xr.Dataset, below: float | None, time: int | None
) -> tuple[xr.DataArray, xr.DataArray, float]:
    """Return the failures, the runs, and what a failure is."""
    import xarray as xr

    if has(data, "failures", "count") and "below" in data["failures"].attrs:
        recorded = float(data["failures"].attrs["below"])
        if below is not None and below != recorded:
            raise ConfigError(
                "below", below, f"{recorded}, the level at which these data were reduced"
            )
        failures = at_time(data, data["failures"], time)
        # −1 stands for a time that a configuration does not have.
        count = data["count"].where(failures >= 0, 0)
        failures = failures.where(failures >= 0, 0)
        failures, count = xr.broadcast(failures, count)
        return failures, count, recorded
    values = per_run(data, "value", ", or Record('value', reduce=Reduce(below=...))", least=0)
    if below is None:
        raise ConfigError("below", below, "a number: a run failed if its value is less than it")
    final = at_time(data, values, time)
    count = run_count(data, final)
    if time is not None and "final_time" in data.coords:
        count = count.where(data["final_time"] >= time, 0)
    succeeded = (final >= below).sum("run")
    # So that a value that is not a number, of a run that was made, counts as a failure.
    count = count.broadcast_like(succeeded)
    return count - succeeded, count, below


def _best(data: xr.Dataset) -> xr.DataArray | None:
    """Which arms are best; None where nobody knows, or where it depends on the configuration."""
    import xarray as xr

    try:
        if "study" in data.attrs:
            study = json.loads(data.attrs["study"])
            if "problem" in json.dumps(study["axes"]):
                return None
            problem = Experiment.from_dict(study["base"]).problem
        else:
            problem = Experiment.from_json(data.attrs["experiment"]).problem
    except (CommittalError, KeyError, ValueError, TypeError):
        return None  # a dataset that lost its attributes
    if not isinstance(problem, Bandit):
        return None
    means = np.asarray(problem.means, np.float64)
    return xr.DataArray(means == means.max(), dims="arm")
