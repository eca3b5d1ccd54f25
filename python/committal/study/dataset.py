"""One dataset for all configurations of a grid, read piece by piece when it is looked at.

Every variable gets one dimension per axis in front of its own. Runs that are not there (yet) are
NaN, or −1 where the numbers are integers, and `count` says how many there are.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from committal.config.grid import Grid
from committal.simulation import dataset as results
from committal.study.forms import Forms
from committal.study.reading import Contents, PerRun, Reduced

if TYPE_CHECKING:
    import xarray as xr

#: What the outcome of a study that stopped at a precision says about each configuration.
_OUTCOME = {
    "estimate": "estimate when it stopped",
    "low": "lower end of the interval when it stopped",
    "high": "upper end of the interval when it stopped",
    "reached": "whether the precision was reached",
}


def stack(
    contents: Contents, attributes: Mapping[str, str | int], outcome: Mapping[str, Any] | None
) -> xr.Dataset:
    """Make the dataset of a grid.

    Parameters
    ----------
    contents : Contents
        Where the numbers are.
    attributes : dict
        Of the dataset.
    outcome : dict, optional
        Where each configuration stopped.

    Returns
    -------
    xarray.Dataset
        Nothing is read before it is looked at.
    """
    from committal.study.backend import Lazy, opened  # brings xarray

    results.fold_attributes()
    grid = contents.grid
    axes = tuple(axis.name for axis in grid.axes)
    forms = Forms(grid, contents.engine)
    reduces = contents.engine(0).reduces
    reader = Reduced(contents, forms) if reduces else PerRun(contents, forms)

    variables = {}
    for name, (dims, values, attrs) in forms.all[0].variables.items():
        sizes = [
            forms.times.size if dim == "time" else n
            for dim, n in zip(dims, values.shape, strict=True)
        ]
        if not reduces:
            sizes[0] = contents.runs
        kept = {
            key: value
            for key, value in attrs.items()
            if key != "runs" and all(f.variables[name][2].get(key) == value for f in forms.all)
        }
        fetch = functools.partial(reader.fetch, name)
        variables[name] = (*axes, *dims), Lazy(grid.shape, sizes, values.dtype, fetch), kept
    known: dict[str, results.Variable] = {
        "count": (axes, contents.counts, {"long_name": "number of runs"})
    }
    attributes = dict(attributes)
    if outcome is not None:
        known |= _where_it_stopped(grid, outcome)
        attributes["until"] = json.dumps(outcome["until"], sort_keys=True)
    data = opened(variables).assign(known).assign_coords(forms.coordinates(contents.runs))
    return data.assign_attrs(attributes)


def _where_it_stopped(grid: Grid, outcome: Mapping[str, Any]) -> dict[str, results.Variable]:
    axes = tuple(axis.name for axis in grid.axes)
    found: dict[str, results.Variable] = {}
    for name, text in _OUTCOME.items():
        kind = np.int8 if name == "reached" else np.float64
        values = [math.nan if value is None else value for value in outcome[name]]
        shaped = np.asarray(values, kind).reshape(grid.shape)
        found[f"until_{name}"] = (axes, shaped, {"long_name": text})
    return found
