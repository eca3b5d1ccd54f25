"""One dataset for all configurations of a grid, read piece by piece when it is looked at.

Every variable gets one dimension per axis in front of its own. Runs that are not there (yet) are
NaN, or −1 where the numbers are integers, and `count` says how many there are. Configurations
may record different times; the dataset then has all of them, and `final_time` says which is the
last one of each configuration.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal.config.grid import Grid
from committal.errors import CombinationError
from committal.simulation import dataset as results
from committal.simulation.engine import Engine
from committal.study.store.chunks import Arrays
from committal.study.store.store import Place

if TYPE_CHECKING:
    import xarray as xr

Array = npt.NDArray[Any]

_CACHE_BYTES = 128 * 2**20


class Cache:
    """Remember what was read last, up to a number of bytes.

    Parameters
    ----------
    read : callable
        From a key to a dict of arrays.
    limit : int
        Bytes to remember.

    Examples
    --------
    >>> cache = Cache(lambda n: {"x": np.zeros(n)}, limit=100)
    >>> cache(5)["x"].size, cache(5) is cache(5), cache(9) is cache(9)
    (5, True, True)
    """

    def __init__(self, read: Callable[[Any], Mapping[str, Any]], limit: int = _CACHE_BYTES) -> None:
        self._read = read
        self._limit = limit
        self._kept: OrderedDict[Any, tuple[int, Mapping[str, Any]]] = OrderedDict()
        self._bytes = 0

    def __call__(self, key: Any) -> Mapping[str, Any]:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        found = self._read(key)
        size = sum(array.nbytes for array in found.values())
        self._kept[key] = size, found
        self._bytes += size
        while self._bytes > self._limit and len(self._kept) > 1:
            _, (dropped, _) = self._kept.popitem(last=False)
            self._bytes -= dropped
        return found


@dataclass(frozen=True, slots=True)
class Contents:
    """Where the numbers of a grid are.

    Attributes
    ----------
    grid : Grid
        The configurations.
    engine : callable
        From the number of a configuration to its engine.
    chunks : dict of list of Place
        The chunks of every configuration that has any, in the order of their runs.
    read : callable
        From a place to its arrays.
    """

    grid: Grid
    engine: Callable[[int], Engine]
    chunks: Mapping[int, Sequence[Place]]
    read: Callable[[Place], Arrays]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many runs there are of each configuration."""
        counts = [sum(p.runs for p in self.chunks.get(i, ())) for i in range(len(self.grid))]
        return np.asarray(counts, np.int64).reshape(self.grid.shape)

    @property
    def runs(self) -> int:
        """The end of the numbers of the runs that are there."""
        return max((places[-1].stop for places in self.chunks.values() if places), default=0)


def stack(
    contents: Contents,
    attributes: Mapping[str, str | int],
    extra: Mapping[str, results.Variable] | None = None,
) -> xr.Dataset:
    """Make the dataset of a grid.

    Parameters
    ----------
    contents : Contents
        Where the numbers are.
    attributes : dict
        Of the dataset.
    extra : dict, optional
        More variables.

    Returns
    -------
    xarray.Dataset
        Nothing is read before it is looked at.
    """
    import xarray as xr

    grid = contents.grid
    axes = tuple(axis.name for axis in grid.axes)
    forms = _Forms(grid, contents.engine)
    first = forms.all[0]
    reduces = contents.engine(0).reduces
    reader = _Reduced(contents, forms) if reduces else _PerRun(contents, forms)

    variables: dict[str, Any] = {}
    for name, (dims, values, attrs) in first.variables.items():
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
        lazy = _lazy((*grid.shape, *sizes), len(axes), values.dtype, reader.of(name))
        variables[name] = xr.Variable((*axes, *dims), lazy, kept)
    counts: results.Variable = (axes, contents.counts, {"long_name": "number of runs"})
    variables["count"] = counts
    variables |= extra or {}
    return xr.Dataset(variables, forms.coordinates(contents), dict(attributes))


# -- what configurations have in common ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Form:
    """The shape of a result: its variables without runs, and its coordinates."""

    variables: Mapping[str, results.Variable]
    coordinates: Mapping[str, results.Variable]
    times: npt.NDArray[np.int64]


class _Forms:
    """The forms of all configurations; most grids have only one."""

    def __init__(self, grid: Grid, engine: Callable[[int], Engine]) -> None:
        self._grid = grid
        known: dict[Any, int] = {}
        self.all: list[_Form] = []
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

    def of(self, index: int) -> _Form:
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
            sizes = {
                d: n for d, n in zip(dims, values.shape, strict=True) if d not in ("run", "time")
            }
            others = {
                d: n
                for d, n in zip(other_dims, other_values.shape, strict=True)
                if d not in ("run", "time")
            }
            if sizes != others:
                raise CombinationError(
                    f"grid at {self._grid.describe(index)}: {name}",
                    others,
                    f"the shape of the first configuration, {sizes}, or a record without {name!r}",
                )

    def coordinates(self, contents: Contents) -> dict[str, results.Variable]:
        """Return all coordinates of the dataset."""
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
                values = np.arange(contents.runs, dtype=np.int64)
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


def _form(engine: Engine) -> _Form:
    variables, coordinates = engine.variables(engine.merge([]), runs=0)
    variables.pop("count", None)
    shared = results.shared_coordinates(engine.experiment, engine.plan, variables)
    times = np.asarray(engine.plan.times, np.int64)
    return _Form(variables, {**coordinates, **shared}, times)


# -- reading ---------------------------------------------------------------------------------------

#: Writes the numbers of a configuration, at positions along every dimension of a variable, into
#: an array.
_Fetch = Callable[[int, tuple[npt.NDArray[np.int64], ...], Array], None]


class _PerRun:
    """Reads what was recorded of every run."""

    def __init__(self, contents: Contents, forms: _Forms) -> None:
        self._contents = contents
        self._forms = forms
        self._read = Cache(contents.read)

    def of(self, name: str) -> _Fetch:
        def fetch(index: int, positions: tuple[npt.NDArray[np.int64], ...], found: Array) -> None:
            runs, times, *rest = positions
            _, values, _ = self._forms.of(index).variables[name]
            places = self._contents.chunks.get(index, ())
            times = self._forms.time_positions(index)[times]
            there = np.flatnonzero(times >= 0)
            ordered = bool(np.all(np.diff(runs) > 0))
            rows_of = [_rows(runs, place, ordered=ordered) for place in places]
            if there.size < times.size or sum(rows.size for rows in rows_of) < runs.size:
                found[...] = _missing(values.dtype)
            for place, rows in zip(places, rows_of, strict=True):
                if not rows.size or not there.size:
                    continue
                stored = self._read(place)[name]
                # The trailing dimension of width one that the core writes for θ.
                stored = stored.reshape(*stored.shape[:2], *values.shape[2:])
                chosen = stored[_key(runs[rows] - place.first, times[there], *rest)]
                found[_key(rows, there, *(np.arange(p.size) for p in rest))] = chosen

        return fetch


def _rows(
    runs: npt.NDArray[np.int64], place: Place, *, ordered: bool
) -> npt.NDArray[np.int64] | npt.NDArray[np.intp]:
    """Return which of the runs are in a chunk."""
    if ordered:
        return np.arange(*np.searchsorted(runs, [place.first, place.stop]))
    return np.flatnonzero((runs >= place.first) & (runs < place.stop))


class _Reduced:
    """Reads what was reduced over runs."""

    def __init__(self, contents: Contents, forms: _Forms) -> None:
        self._contents = contents
        self._forms = forms
        self._variables = Cache(self._merged)

    def _merged(self, index: int) -> dict[str, Array]:
        engine = self._contents.engine(index)
        places = self._contents.chunks.get(index, ())
        merged = engine.merge([self._contents.read(place) for place in places])
        variables, _ = engine.variables(merged, runs=sum(place.runs for place in places))
        return {name: values for name, (_, values, _) in variables.items()}

    def of(self, name: str) -> _Fetch:
        def fetch(index: int, positions: tuple[npt.NDArray[np.int64], ...], found: Array) -> None:
            values = self._variables(index)[name]
            dims, _, _ = self._forms.of(index).variables[name]
            if "time" not in dims:
                found[...] = values[np.ix_(*positions)] if positions else values
                return
            axis = dims.index("time")
            times = self._forms.time_positions(index)[positions[axis]]
            chosen = [*positions[:axis], np.maximum(times, 0), *positions[axis + 1 :]]
            found[...] = values[np.ix_(*chosen)]
            found[(slice(None),) * axis + (times < 0,)] = _missing(values.dtype)

        return fetch


def _key(*positions: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Index positions along every dimension; those that follow each other are not copied."""
    spans = tuple(
        slice(int(p[0]), int(p[-1]) + 1) if p.size and np.all(np.diff(p) == 1) else None
        for p in positions
    )
    return np.ix_(*positions) if None in spans else spans


def _missing(dtype: np.dtype[Any]) -> float | int:
    return -1 if dtype.kind == "i" else np.nan


def _lazy(shape: tuple[int, ...], axes: int, dtype: np.dtype[Any], fetch: _Fetch) -> Any:
    """Make an array that xarray reads when it is looked at, and then remembers."""
    import xarray.core.indexing
    from xarray.backends import BackendArray

    # The interface for backends is documented but only partly typed.
    indexing: Any = xarray.core.indexing

    class Lazy(BackendArray):
        def __init__(self) -> None:
            self.shape = shape
            self.dtype = dtype

        def __getitem__(self, key: Any) -> Any:
            support = indexing.IndexingSupport.OUTER
            return indexing.explicit_indexing_adapter(key, shape, support, self._get)

        def _get(self, key: tuple[Any, ...]) -> Array:
            positions = [np.arange(n)[k] for n, k in zip(shape, key, strict=True)]
            # Whole numbers drop their dimension; it is dropped at the end.
            dropped = tuple(i for i, p in enumerate(positions) if p.ndim == 0)
            positions = [np.atleast_1d(p) for p in positions]
            found = np.empty([p.size for p in positions], dtype)
            grid, inner = positions[:axes], tuple(positions[axes:])
            for where in np.ndindex(*(p.size for p in grid)):
                point = [int(p[i]) for p, i in zip(grid, where, strict=True)]
                index = int(np.ravel_multi_index(point, shape[:axes])) if axes else 0
                fetch(index, inner, found[(*where, ...)])
            return np.asarray(found.squeeze(axis=dropped))

    return indexing.MemoryCachedArray(
        indexing.CopyOnWriteArray(indexing.LazilyIndexedArray(Lazy()))
    )
