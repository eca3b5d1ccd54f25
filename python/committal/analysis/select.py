"""What every analysis needs of a dataset: its axes, its runs, and one time of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from committal.config.quantities import MDP_RECORDABLE, RECORDABLE
from committal.errors import ConfigError
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr


def checked(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset with times, or refuse what is not one."""
    check.dataset("data", data)
    if not data.sizes.get("time", 0):
        raise ConfigError(
            "data", dict(data.sizes), "a dataset made by committal.run or Study.run, with its times"
        )
    return data


def has(data: xr.Dataset, *names: str) -> bool:
    """Say whether a dataset has quantities reduced over runs, with their times.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> has(cm.run(exp, runs=2, rng=0), "value_mean", "value_sem", "count")
    False
    """
    first = names[0]
    return all(name in data for name in names) and (
        "time" in data[first].dims and "run" not in data[first].dims
    )


def per_run(data: xr.Dataset, name: str, instead: str = "", *, least: int = 1) -> xr.DataArray:
    """Return a quantity that was recorded of every run.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    name : str
        The quantity.
    instead : str, optional
        What else is allowed, for the error.
    least : int, optional
        How many runs are needed.
    """
    checked(data)
    check.text("name", name, "the name of a recorded quantity")
    if name not in {*data.data_vars, *RECORDABLE, *MDP_RECORDABLE}:
        raise ConfigError("name", name, check.one_of(name, map(str, data.data_vars)))
    if name not in data.data_vars or not {"run", "time"} <= set(data[name].dims):
        recorded = f"Record({name!r}, ...) without reduce"
        raise ConfigError("data", sorted(map(str, data.data_vars)), recorded + instead)
    found = data[name]
    if found.dtype.kind not in "iuf":
        raise ConfigError("name", name, "a quantity of numbers")
    if found.sizes["run"] < least:
        raise ConfigError("data", dict(data.sizes), f"at least {least} run")
    return found


def at_time(data: xr.Dataset, array: xr.DataArray, time: int | None) -> xr.DataArray:
    """Take one time of an array; the last one of every configuration if none is given."""
    times = data["time"].values
    if time is None:
        if "final_time" in data.coords:
            return array.sel(time=data["final_time"]).drop_vars("time")
        return array.isel(time=-1, drop=True)
    time = check.integer("time", time, 0)
    found = np.flatnonzero(times == time)
    if found.size != 1:
        known = ", ".join(map(str, times[:10])) + (", …" if len(times) > 10 else "")
        raise ConfigError("time", time, f"one of the recorded times {known}")
    return array.isel(time=int(found[0]), drop=True)


def several_times(data: xr.Dataset, least: int = 2) -> None:
    """Refuse data that recorded too few times."""
    if data.sizes.get("time", 0) < least:
        raise ConfigError(
            "data.time",
            data["time"].values.tolist() if "time" in data else None,
            f"at least {least} recorded times, Record(..., every=...) or Record(..., log=...)",
        )


def run_count(data: xr.Dataset, array: xr.DataArray) -> xr.DataArray:
    """Count the runs: as the dataset says, or else all of them."""
    import xarray as xr

    if "count" in data:
        return data["count"]
    return xr.DataArray(array.sizes["run"])


def interval(
    dims: tuple[Any, ...], ends: Iterable[Any], what: str, **attributes: Any
) -> dict[str, Any]:
    """Make the variables that every answer has: `estimate`, `low` and `high`.

    Parameters
    ----------
    dims : tuple
        Of all three.
    ends : iterable of array
        The three.
    what : str
        What is estimated.
    **attributes
        Of all three, such as the units.

    Examples
    --------
    >>> list(interval((), (0.5, 0.4, 0.6), "failure rate"))
    ['estimate', 'low', 'high']
    """
    texts = (what, "lower end", "upper end")
    return {
        name: (dims, values, {"long_name": text, **attributes})
        for name, values, text in zip(("estimate", "low", "high"), ends, texts, strict=True)
    }


def result(
    variables: dict[str, Any], attributes: dict[str, Any], source: xr.DataArray | xr.Dataset
) -> xr.Dataset:
    """Make the dataset of an analysis; it keeps the coordinates that fit."""
    import xarray as xr

    made = xr.Dataset(variables, attrs=attributes)
    for name, coordinate in source.coords.items():
        if name not in made.coords and set(coordinate.dims) <= set(made.dims):
            made = made.assign_coords({name: coordinate})
    return made
