"""What the functions of this package ask of their arguments, in the same words everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from committal.errors import ConfigError, ConfigTypeError

if TYPE_CHECKING:
    import xarray as xr


def dataset(argument: str, data: object, maker: str = "committal.run") -> None:
    """Refuse what is not a dataset.

    Examples
    --------
    >>> dataset("data", 3)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: data = 3 is not allowed; expected a dataset made by \
committal.run
    """
    if not hasattr(data, "data_vars") or isinstance(data, type):
        raise ConfigTypeError(argument, data, f"a dataset made by {maker}")


def lacks(argument: str, data: xr.Dataset, needed: str) -> ConfigError:
    """Return the error that says what a dataset holds and what it should.

    Examples
    --------
    >>> import xarray as xr
    >>> print(lacks("data", xr.Dataset({"value": 1.0}), "the visits, Record('visits')"))
    data = ['value'] is not allowed; expected the visits, Record('visits')
    """
    return ConfigError(argument, sorted(map(str, data.data_vars)), needed)


def of_every_run(argument: str, data: xr.Dataset, name: str, words: str) -> xr.DataArray:
    """Return a recorded quantity, or say how to record it.

    Examples
    --------
    >>> import xarray as xr
    >>> of_every_run("data", xr.Dataset({"value": 1.0}), "policy", "the policy")
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: data = ['value'] is not allowed; expected the policy of every \
run, Record('policy', every=...)
    """
    dataset(argument, data)
    if name not in data or "run" not in data[name].dims:
        raise lacks(argument, data, f"{words} of every run, Record({name!r}, every=...)")
    return data[name]


def several_times(argument: str, times: npt.NDArray[Any], name: str) -> None:
    """Refuse a quantity that was recorded once: one point makes no curve.

    Examples
    --------
    >>> import numpy as np
    >>> several_times("data", np.array([100]), "value")
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: data.time = [100] is not allowed; expected at least two recorded \
times, Record('value', every=...)
    """
    if len(times) < 2:
        raise ConfigError(
            f"{argument}.time",
            times.tolist(),
            f"at least two recorded times, Record({name!r}, every=...)",
        )
