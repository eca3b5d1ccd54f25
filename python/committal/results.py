"""Labelled results: the arrays that the core filled, as an :class:`xarray.Dataset`.

Every dataset rebuilds the experiment that made it (:func:`experiment_of`) and carries the key
of its random stream. Attributes are strings and integers only, so that a dataset survives
netCDF and Zarr.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal import _core
from committal._version import __version__
from committal.config import Bandit, Experiment
from committal.errors import ConfigError, ConfigTypeError
from committal.plan import Plan
from committal.quantities import Quantity, quantity
from committal.reduction import Reduction, moments

if TYPE_CHECKING:
    import xarray as xr

# A variable before xarray sees it: dims, values, attributes.
Variable = tuple[tuple[str, ...], npt.NDArray[Any], dict[str, Any]]


def provenance(experiment: Experiment, *, key: int, entropy: str) -> dict[str, str | int]:
    """Make the attributes from which a result can be repeated.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    key : int
        Key of the random stream.
    entropy : str
        Where the key came from.

    Returns
    -------
    dict
        What does not change the numbers (threads, instruction set, date) is left out: equal
        results are equal, attributes included.
    """
    return {
        "experiment": experiment.to_json(),
        "experiment_hash": experiment.hash,
        "key": f"{key:#018x}",
        "entropy": entropy,
        "committal_version": __version__,
        "stream_version": _core.STREAM_VERSION,
    }


def experiment_of(data: xr.Dataset) -> Experiment:
    """Rebuild the experiment that made a dataset.

    Parameters
    ----------
    data : xarray.Dataset
        A result of :func:`committal.run`, possibly after a detour through a file.

    Returns
    -------
    Experiment

    Raises
    ------
    ConfigError
        If the dataset does not carry its experiment.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=3)
    >>> cm.experiment_of(cm.run(exp, runs=2, rng=0)) == exp
    True
    """
    attributes = getattr(data, "attrs", None)
    if attributes is None:
        raise ConfigTypeError("data", data, "a dataset made by committal.run")
    if "experiment" not in attributes:
        raise ConfigError("data.attrs", sorted(attributes), "an attribute 'experiment'")
    return Experiment.from_json(attributes["experiment"])


def per_run(
    experiment: Experiment,
    plan: Plan,
    outputs: Mapping[str, npt.NDArray[Any]],
    *,
    first_run: int,
    attributes: Mapping[str, str | int],
) -> xr.Dataset:
    """Label what was recorded of every run.

    Parameters
    ----------
    experiment, plan
        What was run.
    outputs : dict of array[run, time(, width)]
        As the core filled them; not copied.
    first_run : int
        Number of the first run.
    attributes : dict
        See :func:`provenance`.

    Returns
    -------
    xarray.Dataset
        Dimensions `run`, `time`, and where they apply `arm` and `sample` (the latter only with
        more than one sample per update).
    """
    runs = next(iter(outputs.values())).shape[0]
    variables: dict[str, Variable] = {}
    for name, values in outputs.items():
        described = quantity(name, plan)
        trailing = _trailing(described, plan)
        variables[name] = (
            ("run", "time", *trailing),
            values if trailing or values.ndim == 2 else values[..., 0],
            {"long_name": described.long_name, "units": described.units},
        )
    run = np.arange(first_run, first_run + runs, dtype=np.int64)
    run_coordinate: Variable = (("run",), run, {"long_name": "number of the run"})
    return _dataset(experiment, plan, variables, {"run": run_coordinate}, attributes)


def reduced(
    experiment: Experiment,
    plan: Plan,
    reduction: Reduction,
    *,
    first_run: int,
    attributes: Mapping[str, str | int],
) -> xr.Dataset:
    """Label what was reduced over runs.

    Parameters
    ----------
    experiment, plan
        What was run.
    reduction : Reduction
        What the core accumulated.
    first_run : int
        Number of the first run.
    attributes : dict
        See :func:`provenance`.

    Returns
    -------
    xarray.Dataset
        For each recorded quantity `x`: `x_mean`, `x_std`, `x_sem`; where asked for,
        `x_quantile`, `x_histogram` and `failures`; and `count`, the number of runs.
    """
    record = experiment.record
    assert record.reduce is not None
    count: Variable = (
        (),
        np.asarray(reduction.runs, np.int64),
        {"long_name": "number of runs"},
    )
    variables: dict[str, Variable] = {"count": count}
    coordinates: dict[str, Variable] = {}

    for name, limbs in reduction.moments.items():
        described = quantity(name, plan)
        trailing = _trailing(described, plan)
        found = moments(limbs, reduction.runs, _core.ACCUMULATOR_BASE)
        for suffix, what, values in (
            ("mean", "mean of", found.mean),
            ("std", "standard deviation of", found.std),
            ("sem", "standard error of the mean of", found.sem),
        ):
            variables[f"{name}_{suffix}"] = (
                ("time", *trailing),
                values if trailing else values[..., 0],
                {"long_name": f"{what} {described.long_name}", "units": described.units},
            )

    quantiles = record.reduce.quantiles
    for name, histogram in reduction.histograms.items():
        described = quantity(name, plan)
        trailing = _trailing(described, plan)
        labels = {"units": described.units, "lo": histogram.lo, "hi": histogram.hi}
        if quantiles:
            values = histogram.quantiles(quantiles)
            variables[f"{name}_quantile"] = (
                ("quantile", "time", *trailing),
                values if trailing else values[..., 0],
                {"long_name": f"quantile of {described.long_name}", **labels},
            )
            coordinates["quantile"] = (("quantile",), np.asarray(quantiles), {})
        counts = histogram.counts
        variables[f"{name}_histogram"] = (
            ("time", *trailing, "bin"),
            counts if trailing else counts[:, 0],
            {"long_name": f"number of runs by {described.long_name}", **labels},
        )
        edges = histogram.edges
        # One range per quantity: the edges cannot be the index of the shared dimension.
        coordinates[f"{name}_bin_left"] = (("bin",), edges[:-1], {"units": described.units})
        coordinates[f"{name}_bin_right"] = (("bin",), edges[1:], {"units": described.units})

    if reduction.failures is not None:
        assert reduction.below is not None
        variables["failures"] = (
            ("time",),
            reduction.failures,
            {
                "long_name": "number of runs with a value below the level",
                "below": reduction.below,
                "runs": reduction.runs,
            },
        )
    return _dataset(
        experiment,
        plan,
        variables,
        coordinates,
        {**attributes, "runs": reduction.runs, "first_run": first_run},
    )


def _trailing(described: Quantity, plan: Plan) -> tuple[str, ...]:
    if described.axis == "arm" or (described.axis == "sample" and plan.samples > 1):
        return (described.axis,)
    return ()


def _dataset(
    experiment: Experiment,
    plan: Plan,
    variables: Mapping[str, Variable],
    coordinates: Mapping[str, Variable],
    attributes: Mapping[str, str | int],
) -> xr.Dataset:
    import xarray as xr  # takes longer to import than everything else together

    time: Variable = (
        ("time",),
        np.asarray(plan.times, np.int64).copy(),
        {"long_name": "updates done", "units": "1"},
    )
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    named: dict[str, Variable] = {**coordinates, "time": time}
    if "arm" in used:
        assert isinstance(experiment.problem, Bandit)  # nothing else can be lowered to this plan
        # Objects become strings of any length on disk; NumPy's own have no Zarr specification.
        names = np.asarray(experiment.problem.names, object)
        named["arm"] = (("arm",), names, {"long_name": "arm"})
    if "sample" in used:
        sample = np.arange(plan.samples, dtype=np.int64)
        named["sample"] = (("sample",), sample, {"long_name": "sample of the update"})
    return xr.Dataset(variables, named, dict(attributes))
