"""Labelled results: the arrays that the core filled, as an :class:`xarray.Dataset`.

Every dataset rebuilds the experiment that made it (:func:`experiment_of`) and carries the key
of its random stream. Attributes are strings and integers only, so that a dataset survives
netCDF and Zarr.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal import _core
from committal.config import Bandit, Experiment, Gridworld, Problem, TabularMDP
from committal.config.grid import experiment_at
from committal.errors import ConfigError, ConfigTypeError
from committal.inference.exact_sums import Histogram, Reduction, moments
from committal.lowering.parts import AnyPlan
from committal.support import check, notebook
from committal.support.provenance import origin

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
        **origin(key, entropy),
    }


def experiment_of(data: xr.Dataset) -> Experiment:
    """Rebuild the experiment that made a dataset.

    Parameters
    ----------
    data : xarray.Dataset
        A result of :func:`committal.run`, possibly after a detour through a file; or one
        configuration of a study, as ``data.sel(...)`` selects it.

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
    if not isinstance(attributes, Mapping) or not hasattr(data, "coords"):
        raise ConfigTypeError("data", data, "a dataset made by committal.run")
    if "study" in attributes:
        chosen = {name: point.item() for name, point in data.coords.items() if point.ndim == 0}
        try:
            study = json.loads(check.text("data.attrs['study']", attributes["study"]))
        except (ValueError, RecursionError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                "data.attrs['study']", attributes["study"], "the JSON text of a study"
            ) from None
        return experiment_at(study, chosen)
    if "experiment" not in attributes:
        raise ConfigError("data.attrs", sorted(attributes), "an attribute 'experiment'")
    return Experiment.from_json(check.text("data.attrs['experiment']", attributes["experiment"]))


def per_run_variables(
    plan: AnyPlan, outputs: Mapping[str, npt.NDArray[Any]], *, first_run: int
) -> tuple[dict[str, Variable], dict[str, Variable]]:
    """Describe what was recorded of every run.

    Parameters
    ----------
    plan : BanditPlan or MdpPlan
        What was run.
    outputs : dict of array[run, time(, width)]
        As the core filled them; not copied.
    first_run : int
        Number of the first run.

    Returns
    -------
    variables, coordinates
        Dimensions `run`, `time`, and where they apply `arm` and `sample` (the latter only with
        more than one sample per update), or `state`, `action` and `terminal`.
    """
    runs = next(iter(outputs.values())).shape[0]
    variables: dict[str, Variable] = {}
    for name, values in outputs.items():
        described = plan.quantity(name)
        trailing = described.labelled_axes(plan.sizes)
        variables[name] = (
            ("run", "time", *trailing),
            values.reshape(*values.shape[:2], *(plan.sizes[axis] for axis in trailing)),
            {"long_name": described.long_name, "units": described.units},
        )
    run = np.arange(first_run, first_run + runs, dtype=np.int64)
    run_coordinate: Variable = (("run",), run, {"long_name": "number of the run"})
    return variables, {"run": run_coordinate}


def reduced_variables(
    experiment: Experiment, plan: AnyPlan, reduction: Reduction
) -> tuple[dict[str, Variable], dict[str, Variable]]:
    """Describe what was reduced over runs.

    Parameters
    ----------
    experiment, plan
        What was run.
    reduction : Reduction
        What the core accumulated.

    Returns
    -------
    variables, coordinates
        For each recorded quantity `x`: `x_mean`, `x_std`, `x_sem`; where asked for,
        `x_quantile`, `x_histogram` and `failures`; and `count`, the number of runs. A goal,
        which has no mean, becomes `goal_fraction` by `outcome`.
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
        described = plan.quantity(name)
        trailing = described.labelled_axes(plan.sizes)
        shape = tuple(plan.sizes[axis] for axis in trailing)
        found = moments(limbs, reduction.runs, _core.ACCUMULATOR_BASE)
        for suffix, what, values in (
            ("mean", "mean of", found.mean),
            ("std", "standard deviation of", found.std),
            ("sem", "standard error of the mean of", found.sem),
        ):
            variables[f"{name}_{suffix}"] = (
                ("time", *trailing),
                values.reshape(len(values), *shape),
                {"long_name": f"{what} {described.long_name}", "units": described.units},
            )

    quantiles = record.reduce.quantiles
    for name, histogram in reduction.histograms.items():
        described = plan.quantity(name)
        if described.reduces == "outcomes":
            variables[f"{name}_fraction"] = _fractions(histogram, reduction.runs)
            continue
        trailing = described.labelled_axes(plan.sizes)
        shape = tuple(plan.sizes[axis] for axis in trailing)
        labels = {"units": described.units, "lo": histogram.lo, "hi": histogram.hi}
        if quantiles:
            values = histogram.quantiles(quantiles)
            variables[f"{name}_quantile"] = (
                ("quantile", "time", *trailing),
                values.reshape(*values.shape[:2], *shape),
                {"long_name": f"quantile of {described.long_name}", **labels},
            )
            coordinates["quantile"] = (("quantile",), np.asarray(quantiles), {})
        counts = histogram.counts
        variables[f"{name}_histogram"] = (
            ("time", *trailing, "bin"),
            counts.reshape(len(counts), *shape, counts.shape[-1]),
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
    return variables, coordinates


def _fractions(histogram: Histogram, runs: int) -> Variable:
    """Describe how many episodes ended in which terminal state, or in none."""
    # What lies outside of the histogram is empty; its first bin is the outcome -1, none.
    counts = np.roll(histogram.counts[:, 0, 1:-1], -1, axis=-1)
    fractions = counts / runs if runs else np.full(counts.shape, np.nan)
    return (
        ("time", "outcome"),
        fractions,
        {"long_name": "fraction of episodes that ended there", "units": "1"},
    )


def labelled(
    experiment: Experiment,
    plan: AnyPlan,
    variables: Mapping[str, Variable],
    coordinates: Mapping[str, Variable],
    attributes: Mapping[str, str | int],
) -> xr.Dataset:
    """Make a dataset of variables, with the coordinates that all results have."""
    import xarray as xr  # takes longer to import than everything else together

    fold_attributes()
    named = {**coordinates, **shared_coordinates(experiment, plan, variables)}
    return xr.Dataset(variables, named, dict(attributes))


def fold_attributes() -> None:
    """Let notebooks show results with their attributes folded.

    They are the JSON of a whole experiment. Datasets of others are shown as before, and so are
    all of them where somebody has chosen: ``xarray.set_options(display_expand_attrs=...)``.
    """
    if notebook.shell() is not None:
        import xarray as xr

        notebook.show_as(xr.Dataset, _folded)


def _folded(data: xr.Dataset) -> str:
    import xarray as xr

    options: Any = xr  # these two have no type hints
    chosen = options.get_options()["display_expand_attrs"]
    ours = "experiment" in data.attrs or "study" in data.attrs
    with options.set_options(
        display_expand_attrs=False if ours and chosen == "default" else chosen
    ):
        return data._repr_html_()


def shared_coordinates(
    experiment: Experiment, plan: AnyPlan, variables: Mapping[str, Variable]
) -> dict[str, Variable]:
    """Describe the dimensions of variables that every result labels in the same way."""
    time: Variable = (
        ("time",),
        np.asarray(plan.times, np.int64).copy(),
        {"long_name": "updates done", "units": "1"},
    )
    used = {dim for dims, _, _ in variables.values() for dim in dims}
    named: dict[str, Variable] = {"time": time}
    if isinstance(experiment.problem, TabularMDP):
        known = _mdp_coordinates(experiment.problem)
    else:
        known = _bandit_coordinates(experiment.problem, plan)
    return named | {
        name: variable for name, variable in known.items() if used.issuperset(variable[0])
    }


def _strings(names: Sequence[str]) -> npt.NDArray[Any]:
    # Objects become strings of any length on disk; NumPy's own have no Zarr specification.
    return np.asarray(names, object)


def _bandit_coordinates(problem: Problem, plan: AnyPlan) -> dict[str, Variable]:
    assert isinstance(problem, Bandit)  # nothing else can be lowered to a plan of arms
    sample = np.arange(plan.sizes["sample"], dtype=np.int64)
    return {
        "arm": (("arm",), _strings(problem.names), {"long_name": "arm"}),
        "sample": (("sample",), sample, {"long_name": "sample of the update"}),
    }


def _mdp_coordinates(mdp: TabularMDP) -> dict[str, Variable]:
    state: npt.NDArray[Any] = np.arange(mdp.n_states, dtype=np.int64)
    numbered = mdp.states == tuple(map(str, state.tolist()))
    coordinates: dict[str, Variable] = {}
    if isinstance(mdp, Gridworld):
        row, column = np.asarray(mdp.cells, np.int64).T
        coordinates["row"] = (("state",), row, {"long_name": "row of the map"})
        coordinates["column"] = (("state",), column, {"long_name": "column of the map"})
    elif not numbered:
        state = _strings(mdp.states)
    return coordinates | {
        "state": (("state",), state, {"long_name": "state"}),
        "action": (("action",), _strings(mdp.actions), {"long_name": "action"}),
        "terminal": (("terminal",), _strings(mdp.goals), {"long_name": "terminal state"}),
        "outcome": (("outcome",), _strings((*mdp.goals, "none")), {"long_name": "outcome"}),
    }
