r"""Means over runs against time, with bands.

.. math:: \bar x_t \pm t_{n-1} \, s_t / \sqrt n

or, by the bootstrap, the quantiles of the mean over runs drawn again with replacement. Either band
covers at each time; the curve as a whole leaves it more often, for all times share their runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.analysis.select import checked, has, interval, per_run, result
from committal.errors import ConfigError
from committal.inference.intervals import mean_interval
from committal.support import check, limits

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["mean_curves"]

Floats = npt.NDArray[np.float64]

_NUMBERS_AT_ONCE = 2**24


def mean_curves(
    data: xr.Dataset,
    name: str = "value",
    *,
    level: float = 0.95,
    method: str = "normal",
    resamples: int = 1000,
    rng: int | np.random.Generator = 0,
) -> xr.Dataset:
    """Average a quantity over runs, at every time.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the quantity, per run or reduced.
    name : str, optional
        The quantity.
    level : float, optional
        Coverage of the band at each time.
    method : {"normal", "bootstrap"}, optional
        The first needs nothing but means and standard errors; the second needs every run.
    resamples : int, optional
        Of the bootstrap.
    rng : int or numpy.random.Generator, optional
        Of the bootstrap.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high`, `sem` and `count` by configuration and time, and by arm where
        the quantity is.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=20,
    ...     record=cm.Record("value", every=10),
    ... )
    >>> curves = cm.analysis.mean_curves(cm.run(exp, runs=100, rng=0))
    >>> bool((curves.low <= curves.estimate).all()), dict(curves.sizes)
    (True, {'time': 3})
    """
    level = check.level(level)
    check.choice("method", method, ("normal", "bootstrap"))
    resamples = check.integer("resamples", resamples, 1)
    generator = check.generator("rng", rng)
    checked(data)
    check.text("name", name, "the name of a recorded quantity")
    if method == "normal" and has(data, f"{name}_mean", f"{name}_sem", "count"):
        mean, sem = data[f"{name}_mean"], data[f"{name}_sem"]
        count = data["count"].broadcast_like(mean).transpose(*mean.dims)
        low, high = mean_interval(mean, sem, count, level)
        return _curves(mean, mean.values, sem.values, count.values, low, high, name, level, method)
    x = per_run(data, name, f", or {name}_mean" if method == "normal" else "")
    if x.dtype.kind != "f":
        raise ConfigError("name", name, "a quantity that has a mean")
    x = x.transpose("run", ...)
    values = x.values
    mean_, sem_, count_ = moments(values)
    if method == "normal":
        low, high = mean_interval(mean_, sem_, count_, level)
    else:
        low, high = _bootstrap(values, level, resamples, generator)
    return _curves(x.isel(run=0, drop=True), mean_, sem_, count_, low, high, name, level, method)


def moments(values: Floats) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Return mean, standard error and count over the first axis, leaving out NaN.

    Examples
    --------
    >>> mean, sem, count = moments(np.array([1.0, 3.0, np.nan]))
    >>> float(mean), float(sem), int(count)
    (2.0, 1.0, 2)
    """
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    some = np.maximum(count, 1)
    mean = np.where(there, values, 0.0).sum(axis=0) / some
    square = (np.where(there, values - mean, 0.0) ** 2).sum(axis=0)
    sem = np.sqrt(square / np.maximum(count - 1, 1) / some)
    nan = np.nan
    return np.where(count > 0, mean, nan), np.where(count > 1, sem, nan), count


def _bootstrap(
    values: Floats, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    runs = values.shape[0]
    flat = values.reshape(runs, -1)
    there = ~np.isnan(flat)
    filled = np.where(there, flat, 0.0)
    most = limits.LISTED // max(flat.shape[1], 1)
    if resamples > most:
        raise ConfigError("resamples", resamples, f"at most {most} for so many times")
    means = np.empty((resamples, flat.shape[1]))
    step = max(1, _NUMBERS_AT_ONCE // max(runs, 1))
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        # How often each run is drawn; the same draws for all times keep curves whole.
        weights = rng.multinomial(runs, np.full(runs, 1 / runs), size=some).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start : start + some] = (weights @ filled) / (weights @ there.astype(np.float64))
    tails = (1 - level) / 2, (1 + level) / 2
    empty = ~there.any(axis=0)
    means[:, empty] = 0.0
    low, high = np.nanquantile(means, tails, axis=0)
    low[empty] = high[empty] = np.nan
    return low.reshape(values.shape[1:]), high.reshape(values.shape[1:])


def _curves(
    like: xr.DataArray,
    mean: Floats,
    sem: Floats,
    count: npt.NDArray[np.int64],
    low: Floats,
    high: Floats,
    name: str,
    level: float,
    method: str,
) -> xr.Dataset:
    dims = like.dims
    units = like.attrs.get("units", "1")
    label = str(like.attrs.get("long_name", name)).removeprefix("mean of ")
    variables = {
        **interval(dims, (mean, low, high), f"mean of {label}", units=units),
        "sem": (dims, sem, {"long_name": "standard error of the mean", "units": units}),
        "count": (dims, count, {"long_name": "number of runs"}),
    }
    return result(variables, {"quantity": name, "level": level, "method": method}, like)
