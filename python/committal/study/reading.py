"""From chunks to the numbers of one configuration, at positions that somebody looks at.

Runs that are not there (yet) are NaN, or −1 where the numbers are integers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config.grid import Grid
from committal.simulation.engine import Arrays, Engine
from committal.study.forms import Forms
from committal.study.store.place import Place

Array = npt.NDArray[Any]
#: Positions along every dimension that a variable has within one configuration.
Positions = tuple[npt.NDArray[np.int64], ...]

_CACHE_BYTES = 128 * 2**20


@dataclass(frozen=True, slots=True)
class Contents:
    """Where the numbers of a grid are: in which chunks, and who reads them.

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

    @classmethod
    def of(
        cls,
        grid: Grid,
        engine: Callable[[int], Engine],
        places: Iterable[Place],
        read: Callable[[Place], Arrays],
    ) -> Contents:
        """Sort chunks by their configuration."""
        chunks: dict[int, list[Place]] = {}
        for place in sorted(places):
            chunks.setdefault(place.configuration, []).append(place)
        return cls(grid, engine, chunks, read)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many runs there are of each configuration."""
        counts = [sum(p.runs for p in self.chunks.get(i, ())) for i in range(len(self.grid))]
        return np.asarray(counts, np.int64).reshape(self.grid.shape)

    @property
    def runs(self) -> int:
        """The end of the numbers of the runs that are there."""
        return max((places[-1].stop for places in self.chunks.values() if places), default=0)


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
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[int, Mapping[str, Any]]] = OrderedDict()
        self._bytes = 0

    def __call__(self, key: Any) -> Mapping[str, Any]:
        with self._lock:  # Dask looks from several threads
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        found = self._read(key)
        size = sum(array.nbytes for array in found.values())
        with self._lock:
            if key not in self._kept:
                self._kept[key] = size, found
                self._bytes += size
            while self._bytes > self._limit and len(self._kept) > 1:
                _, (dropped, _) = self._kept.popitem(last=False)
                self._bytes -= dropped
        return found

    def __reduce__(self) -> tuple[type[Cache], tuple[Any, int]]:
        return type(self), (self._read, self._limit)  # what is remembered stays here


class PerRun:
    """Reads what was recorded of every run."""

    def __init__(self, contents: Contents, forms: Forms) -> None:
        self._contents = contents
        self._forms = forms
        self._read = Cache(contents.read)

    def fetch(self, name: str, index: int, positions: Positions, found: Array) -> None:
        """Write some numbers of a variable and a configuration into an array."""
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


def _rows(
    runs: npt.NDArray[np.int64], place: Place, *, ordered: bool
) -> npt.NDArray[np.int64] | npt.NDArray[np.intp]:
    """Return which of the runs are in a chunk."""
    if ordered:
        return np.arange(*np.searchsorted(runs, [place.first, place.stop]))
    return np.flatnonzero((runs >= place.first) & (runs < place.stop))


class Reduced:
    """Reads what was reduced over runs."""

    def __init__(self, contents: Contents, forms: Forms) -> None:
        self._contents = contents
        self._forms = forms
        self._variables = Cache(self._merged)

    def _merged(self, index: int) -> dict[str, Array]:
        engine = self._contents.engine(index)
        places = self._contents.chunks.get(index, ())
        merged = engine.merge([self._contents.read(place) for place in places])
        variables, _ = engine.variables(merged, runs=sum(place.runs for place in places))
        return {name: values for name, (_, values, _) in variables.items()}

    def fetch(self, name: str, index: int, positions: Positions, found: Array) -> None:
        """Write some numbers of a variable and a configuration into an array."""
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


def _key(*positions: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Index positions along every dimension; those that follow each other are not copied."""
    spans = tuple(
        slice(int(p[0]), int(p[-1]) + 1) if p.size and np.all(np.diff(p) == 1) else None
        for p in positions
    )
    return np.ix_(*positions) if None in spans else spans


def _missing(dtype: np.dtype[Any]) -> float | int:
    return -1 if dtype.kind == "i" else np.nan
