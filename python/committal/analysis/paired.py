r"""Differences between configurations that saw the same random numbers.

Run i of one configuration and run i of another drew the same uniform numbers, so the difference of
their outcomes varies less than the outcomes do:

.. math:: \bar d \pm t_{n-1}\, s_d / \sqrt n, \qquad d_i = x_i - x'_i.

Rates of failure differ by :math:`(b - c)/n`, with b runs that failed only here and c that failed
only there. Their interval is Newcombe's, which combines the two Wilson intervals and the
correlation of the pairs, and does not collapse when no pair differs.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from committal.analysis.curves import moments
from committal.analysis.select import at_time, checked, interval, per_run, result
from committal.config.precision import FAILURE
from committal.errors import ConfigError, ConfigTypeError
from committal.inference.intervals import mean_interval, proportion_interval
from committal.support import check

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["compare"]


def compare(
    data: xr.Dataset,
    axis: str,
    quantity: str = "value",
    *,
    reference: Any = None,
    below: float | None = None,
    time: int | None = None,
    level: float = 0.95,
) -> xr.Dataset:
    """Estimate differences along an axis, run by run.

    Parameters
    ----------
    data : xarray.Dataset
        A result of a study that recorded every run.
    axis : str
        The axis whose points are compared.
    quantity : str, optional
        A recorded quantity with one number per time, or ``"failure"``.
    reference : optional
        The label that is subtracted; the first one by default.
    below : float, optional
        With ``"failure"``: a run failed if its value is less than this.
    time : int, optional
        After how many updates; the last recorded time of each configuration by default.
    level : float, optional
        Coverage of each interval.

    Returns
    -------
    xarray.Dataset
        `estimate`, `low`, `high`, `count` (the number of pairs), `correlation` between the two
        members of a pair, by configuration; the axis has all labels but the reference.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), -1.0, steps=200
    ... )
    >>> data = cm.Study(exp, {"update.step_size": [0.05, 0.15]}, runs=1000, rng=0).run()
    >>> found = cm.compare(data, "step_size", "failure", below=0.5)
    >>> bool((found.low > 0).all())
    True
    """
    level = check.level(level)
    checked(data)
    check.text("axis", axis, "the name of an axis")
    check.text("quantity", quantity, "'failure' or the name of a recorded quantity")
    if axis not in data.dims or axis in ("run", "time"):
        axes = [d for d in data.dims if d not in ("run", "time", "arm", "sample", "bin")]
        raise ConfigError("axis", axis, f"one of the axes {', '.join(map(repr, axes))}")
    labels = data[axis].values
    reference = labels[0] if reference is None else reference
    reference = reference.item() if isinstance(reference, np.generic) else reference
    if not isinstance(reference, str | bool | numbers.Real):
        raise ConfigTypeError("reference", reference, f"one of the labels {labels.tolist()}")
    place = np.array([i for i, label in enumerate(labels.tolist()) if label == reference])
    if place.size != 1:
        raise ConfigError("reference", reference, f"one of the labels {labels.tolist()}")
    name = "value" if quantity == FAILURE else quantity
    if name not in data.data_vars:
        raise ConfigError(
            "quantity", quantity, "'failure' or a quantity that was recorded of every run"
        )
    x = at_time(data, per_run(data, name, ": pairs are pairs of runs"), time)
    if axis not in x.dims:
        raise ConfigError("axis", axis, f"an axis that {name} has: {', '.join(map(str, x.dims))}")
    others = [dim for dim in x.dims if dim not in (axis, "run")]
    x = x.transpose("run", *others, axis)
    values = np.asarray(x.values, np.float64)
    kept = np.arange(labels.size) != place[0]
    here, there = values[..., kept], values[..., place]
    if quantity == FAILURE:
        if below is None:
            raise ConfigError("below", below, "a number: a run failed if its value is less than it")
        found = _rates(here, there, check.number("below", below), level)
    else:
        found = _means(here, there, level)
    dims = (*others, axis)
    like = x.isel({"run": 0}, drop=True).isel({axis: np.flatnonzero(kept)})
    *ends, count, correlation = found
    variables = {
        **interval(dims, ends, "difference"),
        "count": (dims, count, {"long_name": "number of pairs"}),
        "correlation": (dims, correlation, {"long_name": "correlation of the pairs"}),
    }
    attributes: dict[str, Any] = {"quantity": quantity, "axis": axis, "level": level}
    attributes["reference"] = reference
    return result(variables, attributes, like)


def _means(here: Any, there: Any, level: float) -> tuple[Any, ...]:
    difference = here - there
    mean, sem, count = moments(difference)
    low, high = mean_interval(mean, sem, count, level)
    pairs = ~np.isnan(difference)
    return mean, low, high, count, _correlation(here, there, pairs)


def _rates(here: Any, there: Any, below: float, level: float) -> tuple[Any, ...]:
    pairs = ~np.isnan(here) & ~np.isnan(there)
    one, other = pairs & (here < below), pairs & (there < below)
    n = pairs.sum(axis=0)
    both, only_here = (one & other).sum(axis=0), (one & ~other).sum(axis=0)
    only_there = (other & ~one).sum(axis=0)
    neither = n - both - only_here - only_there
    first, second = both + only_here, both + only_there
    low1, high1 = proportion_interval(first, n, level)
    low2, high2 = proportion_interval(second, n, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        p1, p2 = first / n, second / n
        product = both * neither - only_here * only_there
        # The continuity correction keeps a positive correlation from being trusted too much.
        corrected = np.where(product > 0, np.maximum(product - n / 2, 0), product)
        # As floats: the product of four counts overflows integers.
        scale = np.sqrt(first * 1.0 * (n - first) * second * (n - second))
        phi = np.where(scale > 0, corrected / scale, 0.0)
        below_ = (p1 - low1) ** 2 - 2 * phi * (p1 - low1) * (high2 - p2) + (high2 - p2) ** 2
        above_ = (high1 - p1) ** 2 - 2 * phi * (high1 - p1) * (p2 - low2) + (p2 - low2) ** 2
        estimate = p1 - p2
        low = estimate - np.sqrt(np.maximum(below_, 0))
        high = estimate + np.sqrt(np.maximum(above_, 0))
    return estimate, low, high, n, _correlation(one * 1.0, other * 1.0, pairs)


def _correlation(x: Any, y: Any, pairs: Any) -> Any:
    n = np.maximum(pairs.sum(axis=0), 1)

    def centred(values: Any) -> Any:
        values = np.where(pairs, values, 0.0)
        return np.where(pairs, values - values.sum(axis=0) / n, 0.0)

    a, b = centred(x), centred(np.broadcast_to(y, x.shape))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a * b).sum(axis=0) / np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
