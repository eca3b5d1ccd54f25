r"""Exponents: how fast policies commit, how fast regret grows.

The *committal rate* κ of a run is the rate at which the policy gives up all arms but one: with a
the arm that is most probable at the end,

.. math:: 1 - \pi_t(a) \sim t^{-\kappa}, \qquad
          \kappa = -\frac{\mathrm{d} \log(1 - \pi_t(a))}{\mathrm{d} \log t},

or :math:`e^{-\kappa t}` against time itself. If it is larger than one on a suboptimal arm, the
chance of ever leaving that arm again is less than one.

The *regret exponent* is the slope of the logarithm of the mean regret against that of time: 1 for
an agent that keeps losing, 0 for one that has stopped losing.

Slopes are least squares over the recorded times. κ is averaged over runs, with Student's interval.
The regret exponent :math:`\sum_j c_j \log \bar x_j` is a smooth function of means, whose error
follows from the spread over runs of :math:`\sum_j c_j x_{ij} / \bar x_j`: the correlation between
times, which is strong, is accounted for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal.analysis.curves import moments
from committal.analysis.select import interval, per_run, result, several_times
from committal.errors import ConfigError
from committal.inference.intervals import mean_interval
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["committal_rate", "regret_exponent"]

Floats = npt.NDArray[np.float64]


def committal_rate(
    data: xr.Dataset,
    *,
    window: tuple[float, float] | None = None,
    against: str = "log time",
    level: float = 0.95,
) -> xr.Dataset:
    """Estimate the committal rate κ, the log-slope of 1 − π_t.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the policy of every run at several times.
    window : tuple of float, optional
        First and last time to use; the last nine tenths of the time by default.
    against : {"log time", "time"}, optional
        Whether 1 − π falls like a power of time or exponentially.
    level : float, optional
        Coverage of the intervals.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high` and `count` by configuration; and the same by arm with the
        prefix `arm_`, of the runs that ended on that arm.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=200,
    ...     record=cm.Record("policy", log=20),
    ... )
    >>> rate = cm.analysis.committal_rate(cm.run(exp, runs=100, rng=0))
    >>> bool(rate.low > 1)
    True
    """
    level = check.level(level)
    check.choice("against", against, ("log time", "time"))
    x = per_run(data, "policy")
    if "arm" not in x.dims:
        raise ConfigError("data.policy", x.dims, "one policy per run and time: a bandit's")
    times, use = _used(data, window)
    x = x.transpose("run", ..., "time", "arm")
    policies = x.values
    chosen = _last_there(policies)
    arm = np.where(np.isnan(chosen[..., 0]), 0, np.argmax(chosen, axis=-1))
    # The sum of the others: 1 − π would lose all digits as π approaches 1.
    others = np.arange(policies.shape[-1]) != arm[..., None]
    rest = np.where(others[..., None, :], policies, 0.0).sum(axis=-1)[..., use]
    clock = np.log(times) if against == "log time" else times
    kappa = -_slopes(clock, rest)

    dims = x.dims[1:-2]
    variables = _variables("", dims, *moments(kappa), level)
    of_arm = np.where(arm[..., None] == np.arange(policies.shape[-1]), kappa[..., None], np.nan)
    variables |= _variables("arm_", (*dims, "arm"), *moments(of_arm), level)
    attributes = {"quantity": "committal rate", "against": against, "level": level}
    return result(variables, attributes, x.isel(run=0, time=0, drop=True))


def regret_exponent(
    data: xr.Dataset, *, window: tuple[float, float] | None = None, level: float = 0.95
) -> xr.Dataset:
    """Estimate the exponent with which the mean regret grows.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the regret of every run at several times.
    window, level
        As for :func:`committal_rate`.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high` and `count` by configuration.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.15), -1.0, steps=2000,
    ...     record=cm.Record("regret", log=20),
    ... )
    >>> slope = cm.analysis.regret_exponent(cm.run(exp, runs=200, rng=0))
    >>> 0.9 < float(slope.estimate) < 1.1
    True
    """
    level = check.level(level)
    x = per_run(data, "regret")
    times, use = _used(data, window)
    x = x.transpose("run", ..., "time")
    regrets = x.values[..., use]
    mean, _, _ = moments(regrets)
    clock = np.log(times)
    with np.errstate(divide="ignore", invalid="ignore"):
        there = mean > 0
        weights = _weights(clock, there)
        slope = np.where(there, weights * np.log(mean), 0.0).sum(axis=-1)
        influence = np.where(there, weights * (regrets / mean - 1), 0.0).sum(axis=-1)
    # A run that was not made has no regret at all times, not a regret of zero.
    missing = np.isnan(regrets).all(axis=-1)
    influence = np.where(missing, np.nan, influence)
    enough = there.sum(axis=-1) > 1
    slope = np.where(enough, slope, np.nan)
    _, sem, count = moments(influence)
    variables = _variables("", x.dims[1:-1], slope, sem, count, level)
    attributes = {"quantity": "regret exponent", "level": level}
    return result(variables, attributes, x.isel(run=0, time=0, drop=True))


def _used(
    data: xr.Dataset, window: tuple[float, float] | None
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the times of a window, and which of the recorded times they are."""
    several_times(data)
    times = data["time"].values.astype(np.float64)
    start, stop = times[-1] / 10, times[-1]
    if window is not None:
        start, stop = check.vector("window", window, check.Interval(0.0, math.inf), length=2)
        if not start < stop:
            raise ConfigError("window", window, "(first, last) with 0 <= first < last")
    use = (times >= start) & (times <= stop) & (times > 0)
    if use.sum() < 2:
        raise ConfigError("window", window, "a window with at least two recorded times > 0")
    return times[use], use


def _last_there(policies: Floats) -> Floats:
    """Return the last policy that was recorded of every run: [run, ..., arm]."""
    there = ~np.isnan(policies[..., 0])
    last = policies.shape[-2] - 1 - np.argmax(there[..., ::-1], axis=-1)
    return np.take_along_axis(policies, last[..., None, None], axis=-2)[..., 0, :]


def _slopes(clock: Floats, values: Floats) -> Floats:
    """Fit log(values) along the last axis, leaving out zeros and NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        there = values > 0  # a policy that underflowed says nothing about its slope
        logs = np.where(there, np.log(np.where(there, values, 1.0)), 0.0)
        slope = (_weights(clock, there) * logs).sum(axis=-1)
    return np.where(there.sum(axis=-1) > 1, slope, np.nan)


def _weights(clock: Floats, there: npt.NDArray[np.bool_]) -> Floats:
    """Return the weights c_j of least squares: slope = Σ c_j y_j, zero where nothing is there."""
    some = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    centred = np.where(there, clock - (there * clock).sum(axis=-1, keepdims=True) / some, 0.0)
    return np.asarray(centred / (centred**2).sum(axis=-1, keepdims=True))


def _variables(
    prefix: str, dims: tuple[Any, ...], mean: Any, sem: Any, count: Any, level: float
) -> dict[str, Any]:
    low, high = mean_interval(mean, sem, count, level)
    found = interval(dims, (mean, low, high), "slope")
    found["count"] = (dims, count, {"long_name": "number of runs"})
    return {prefix + name: variable for name, variable in found.items()}
