r"""How long it takes to reach a level, with runs that never do.

With T the first recorded time at which a run is at or above the level, the survival curve is

.. math:: S(t) = P(T > t).

Runs that have not reached the level at the end are censored there. All runs of a configuration are
watched equally long, so that Kaplan and Meier's estimate is the fraction of runs that have not yet
arrived, a proportion, and its interval is Wilson's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committal.analysis.select import interval, per_run, result, several_times
from committal.inference.intervals import proportion_interval
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["survival", "time_to"]


def survival(
    data: xr.Dataset, above: float, name: str = "value", *, level: float = 0.95
) -> xr.Dataset:
    """Estimate the fraction of runs that have not yet reached a level, at every time.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the quantity of every run at several times.
    above : float
        A run has arrived when its value is at least this, even if it leaves again.
    name : str, optional
        The quantity.
    level : float, optional
        Coverage of the interval at each time.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high`, `arrivals` at each time and `count`, by configuration and time.
        NaN beyond the end of a configuration.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), cm.Value(), steps=50,
    ...     record=cm.Record("value", every=10),
    ... )
    >>> curve = cm.analysis.survival(cm.run(exp, runs=100, rng=0), above=0.9)
    >>> float(curve.estimate[0]), bool((curve.estimate.diff("time") <= 0).all())
    (1.0, True)
    """
    level = check.level(level)
    above = check.number("above", above)
    x = per_run(data, name)
    several_times(data)
    x = x.transpose(..., "run", "time")
    values = x.values
    watched = ~np.isnan(values)
    arrived = np.logical_or.accumulate(values >= above, axis=-1)
    count = watched.sum(axis=-2)
    there = (arrived & watched).sum(axis=-2)
    before = np.concatenate([np.zeros_like(there[..., :1]), there[..., :-1]], axis=-1)
    low, high = proportion_interval(count - there, count, level)
    some = count > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate, low, high = (
            np.where(some, x, np.nan) for x in ((count - there) / count, low, high)
        )
    dims = tuple(dim for dim in x.dims if dim != "run")
    variables = {
        **interval(dims, (estimate, low, high), "fraction of runs not yet there"),
        "arrivals": (dims, np.where(some, there - before, 0), {"long_name": "arrivals"}),
        "count": (dims, count, {"long_name": "number of runs"}),
    }
    attributes = {"quantity": name, "above": above, "level": level}
    return result(variables, attributes, x.isel(run=0, drop=True))


def time_to(
    data: xr.Dataset,
    above: float,
    name: str = "value",
    *,
    probability: float = 0.5,
    level: float = 0.95,
) -> xr.Dataset:
    """Estimate after how many updates a fraction of the runs has reached a level.

    Parameters
    ----------
    data, above, name, level
        As for :func:`survival`.
    probability : float, optional
        The fraction; 0.5 is the median.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low` and `high` by configuration, in updates, as exactly as times were
        recorded. Infinite where so many runs did not arrive while they were watched.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), cm.Value(), steps=50,
    ...     record=cm.Record("value", every=1),
    ... )
    >>> found = cm.analysis.time_to(cm.run(exp, runs=100, rng=0), above=0.9)
    >>> bool(found.low <= found.estimate) and bool(found.estimate <= found.high)
    True
    """
    probability = check.number("probability", probability, check.UNIT_INSIDE)
    curve = survival(data, above, name, level=level)
    times = curve["time"].values
    ends = []
    # The lower band of the survival curve crosses first: it gives the lower end of the time.
    for key in ("estimate", "low", "high"):
        band = curve[key].transpose(..., "time").values
        with np.errstate(invalid="ignore"):
            crossed = band <= 1 - probability
        first = np.argmax(crossed, axis=-1)
        ends.append(np.where(crossed.any(axis=-1), times[first], np.inf))
    like = curve["estimate"].transpose(..., "time").isel(time=0, drop=True)
    variables = interval(like.dims, ends, "time to the level", units="updates")
    attributes = {**curve.attrs, "probability": probability}
    return result(variables, attributes, like)
