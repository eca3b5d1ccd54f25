"""What the results of all configurations have in common, and what they may differ in.

Every variable gets one dimension per axis in front of its own. Configurations may record different
times; the dataset then has all of them, and `final_time` says which is the last one of each
configuration. Everything else has one shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config.grid import Grid
from committal.errors import CombinationError
from committal.simulation import dataset as results
from committal.simulation.engine import Engine


@dataclass(frozen=True, slots=True)
class Form:
    """The shape of a result: its variables without runs, and its coordinates."""

    variables: Mapping[str, results.Variable]
    coordinates: Mapping[str, results.Variable]
    times: npt.NDArray[np.int64]


class Forms:
    """The forms of all configurations; most grids have only one."""

    def __init__(self, grid: Grid, engine: Callable[[int], Engine]) -> None:
        self._grid = grid
        known: dict[Any, int] = {}
        self.all: list[Form] = []
        self._number: list[int] = []
        for index, experiment in enumerate(grid.experiments):
            # Whatever shapes or labels depend on; other parts may vary freely.
            key = (
                id(experiment.problem),
                type(experiment.policy),
                getattr(experiment.estimator, "samples", 1),
                experiment.steps,
                experiment.record,
            )
            if key not in known:
                known[key] = len(self.all)
                self.all.append(_form(engine(index)))
                self._refuse_difference(index)
            self._number.append(known[key])
        self.times = np.unique(np.concatenate([form.times for form in self.all]))

    def of(self, index: int) -> Form:
        """Return the form of a configuration."""
        return self.all[self._number[index]]

    def time_positions(self, index: int) -> npt.NDArray[np.int64]:
        """Return where a configuration has each time of the dataset; −1 where it has not."""
        own = self.of(index).times
        found = np.searchsorted(own, self.times)
        hit = (found < own.size) & (own[np.minimum(found, own.size - 1)] == self.times)
        return np.where(hit, found, -1)

    def _refuse_difference(self, index: int) -> None:
        first, other = self.all[0], self.all[-1]
        for name in first.variables.keys() ^ other.variables.keys():
            raise CombinationError(
                f"grid at {self._grid.describe(index)}: record",
                name,
                "the same recorded quantities in all configurations",
            )
        for name, (dims, values, _) in first.variables.items():
            other_dims, other_values, _ = other.variables[name]
            sizes, others = _sizes(dims, values), _sizes(other_dims, other_values)
            if sizes != others:
                raise CombinationError(
                    f"grid at {self._grid.describe(index)}: {name}",
                    others,
                    f"the shape of the first configuration, {sizes}, or a record without {name!r}",
                )

    def coordinates(self, runs: int) -> dict[str, results.Variable]:
        """Return all coordinates of the dataset, with so many runs."""
        grid = self._grid
        names = tuple(axis.name for axis in grid.axes)
        found: dict[str, results.Variable] = {}
        taken = set(self.all[0].variables)
        for axis in grid.axes:
            found[axis.name] = ((axis.name,), axis.coordinate, {})
            for name, values in axis.companions().items():
                if name not in taken and name not in names:
                    found.setdefault(name, ((axis.name,), values, {}))
        for name, (dims, values, attrs) in self.all[0].coordinates.items():
            if name == "run":
                values = np.arange(runs, dtype=np.int64)
            elif name == "time":
                values = self.times
            elif not all(np.array_equal(f.coordinates[name][1], values) for f in self.all):
                per = [self.of(i).coordinates[name][1] for i in range(len(grid))]
                if dims == (name,):
                    # An index must be one-dimensional: where names differ, numbers remain.
                    values = np.arange(values.size)
                else:
                    dims = (*names, *dims)
                    values = np.asarray(per).reshape(*grid.shape, *values.shape)
            found[name] = (dims, values, dict(attrs))
        if any(form.times[-1] != self.times[-1] for form in self.all):
            last = [self.of(i).times[-1] for i in range(len(grid))]
            label = {"long_name": "last recorded time of the configuration"}
            found["final_time"] = (names, np.asarray(last).reshape(grid.shape), label)
        return found


def _form(engine: Engine) -> Form:
    variables, coordinates = engine.variables(engine.merge([]), runs=0)
    variables.pop("count", None)
    shared = results.shared_coordinates(engine.experiment, engine.plan, variables)
    times = np.asarray(engine.plan.times, np.int64)
    return Form(variables, {**coordinates, **shared}, times)


def _sizes(dims: tuple[str, ...], values: npt.NDArray[Any]) -> dict[str, int]:
    """Return the lengths that all configurations must share."""
    lengths = dict(zip(dims, values.shape, strict=True))
    return {dim: n for dim, n in lengths.items() if dim not in ("run", "time")}
