"""Studies: a grid of configurations, many runs of each, on as many machines as there are.

A study is cut into chunks: some runs of one configuration. A chunk is a pure function of the
study, the configuration and the numbers of its runs, and so are its bytes; who computes it and
when does not matter. This file decides which chunks are needed, hands them out, collects them and
puts the labels on.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import operator
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from committal import _core, chunkfile, results
from committal._version import __version__
from committal.config import Experiment
from committal.costs import Estimate, chunk_size, estimate, memory, table
from committal.engine import Arrays, Engine
from committal.errors import ConfigError, ConfigTypeError, StoreError, StoreWarning
from committal.executors import InFlight, LocalThreads, adapted
from committal.grid import Axis, Grid, GridLike, Label
from committal.progress import Bar
from committal.run import Progress
from committal.sequential import FAILURE, Precision, mean_sequence, rate_sequence
from committal.stacked import Contents, stack
from committal.store import MANIFEST, OUTCOME, Inventory, Place, Store, about, manifest_of
from committal.streams import RNGLike, StreamKey, mixed_key, stream_key
from committal.system import available_memory, available_threads

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Configuration", "Estimate", "Study", "open_store", "study_of"]

#: Where precision decides, it is looked at no more often than this in all of the runs.
_LOOKS = 64
#: Chunks in flight on an executor: enough for a large cluster, as long as they are small.
_MOST_IN_FLIGHT = 1024
_BYTES_IN_FLIGHT = 256 * 2**20

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Configuration:
    """One point of a grid.

    Attributes
    ----------
    index : int
        Its number, the last axis varying fastest.
    labels : dict
        Its label on every axis.
    experiment : Experiment
        What is run.
    """

    index: int
    labels: dict[str, Label]
    experiment: Experiment


class Study:
    """Many runs of every configuration of a grid.

    Parameters
    ----------
    base : Experiment
        What the grid varies.
    grid : mapping, optional
        The axes; the results have one dimension for each, and every combination is run:

        - ``"update.step_size": [0.1, 0.2]``, a dotted path and its values, which may be numbers,
          sequences or objects such as baselines; the dimension has the path's last name;
        - ``"start": {"uniform": {"policy.theta0": [0, 0, 0]}, "bad": {...}}``, a name and by
          label the changes to make;
        - ``("update.step_size", "steps"): [(0.1, 200), (0.2, 100)]``, paths that vary together,
          or the same as ``"size": {"update.step_size": [0.1, 0.2], "steps": [200, 100]}``.

        An axis gets the suffix ``_axis`` if the results have a variable of its name.
    runs : int
        How many runs of each configuration; at most so many if :meth:`run` stops at a precision.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from, see :func:`committal.run`. All configurations see the
        same random numbers, so that their differences are paired (:func:`committal.compare`).
    independent : bool, optional
        Give every configuration random numbers of its own instead.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), -1.0, steps=200
    ... )
    >>> study = cm.Study(exp, {"update.step_size": [0.05, 0.1, 0.15]}, runs=1000, rng=0)
    >>> len(study)
    3
    >>> data = study.run()
    >>> dict(data.sizes)
    {'step_size': 3, 'run': 1000, 'time': 1, 'arm': 2}
    """

    def __init__(
        self,
        base: Experiment,
        grid: GridLike | Iterable[Axis] | None = None,
        *,
        runs: int,
        rng: RNGLike = None,
        independent: bool = False,
    ) -> None:
        axes = grid if isinstance(grid, Mapping) else tuple(grid or ())
        self.grid = Grid(base, axes)
        self.runs = _count("runs", runs, least=1)
        if not isinstance(independent, bool):
            raise ConfigTypeError("independent", independent, "True or False")
        self.independent = independent
        self.stream = stream_key(rng)
        first = self.grid.base.record
        for index, experiment in enumerate(self.grid):
            record = experiment.record
            if (record.names, record.reduce) != (first.names, first.reduce):
                raise ConfigError(
                    f"grid at {self.grid.describe(index)}: record",
                    record,
                    "the same quantities and the same reduction everywhere; times may differ",
                )
        self._estimates: dict[int, Estimate] = {}

    # -- what it is -------------------------------------------------------------------------------

    @property
    def base(self) -> Experiment:
        """What the grid varies."""
        return self.grid.base

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the grid."""
        return self.grid.axes

    def __len__(self) -> int:
        return len(self.grid)

    def __iter__(self) -> Iterator[Configuration]:
        for index in range(len(self)):
            yield self[index]

    def __getitem__(self, index: int) -> Configuration:
        index = range(len(self))[index]
        return Configuration(index, self.grid.labels(index), self.grid.experiments[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Study):
            return NotImplemented
        return (self.hash, self.runs) == (other.hash, other.runs)

    def __hash__(self) -> int:
        return hash((self.hash, self.runs))

    @functools.cached_property
    def hash(self) -> str:
        """SHA-256 of what decides over every number of a run: the experiments and the key.

        The number of runs is not part of it: more runs of a study are still the same study.
        """
        parts = (self.grid.hash, f"{self.stream.key:#018x}", str(self.independent))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def key_of(self, index: int) -> int:
        """Return the key of the random streams of a configuration."""
        key = self.stream.key
        return mixed_key(key, self.grid.experiments[index].hash) if self.independent else key

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold.

        Examples
        --------
        >>> from committal.config import Bandit, Natural, Softmax
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
        >>> study = Study(exp, {"steps": [10, 20]}, runs=5, rng=0)
        >>> Study.from_dict(study.to_dict()) == study
        True
        """
        return {**self._identity(), "runs": self.runs}

    def _identity(self) -> dict[str, Any]:
        return {
            "kind": "study",
            **self.grid.to_dict(),
            "key": f"{self.stream.key:#018x}",
            "entropy": self.stream.entropy,
            "independent": self.independent,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Study:
        """Read what :meth:`to_dict` wrote."""
        try:
            axes = [Axis.from_dict(axis) for axis in data["axes"]]
            base = Experiment.from_dict(data["base"])
            made = cls(base, axes, runs=data["runs"], rng=0, independent=data["independent"])
            made.stream = StreamKey(int(data["key"], 16), str(data["entropy"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError("study", sorted(data), f"what to_dict wrote ({error!r})") from None
        return made

    def replace(self, *, runs: int) -> Study:
        """Return the same study with another number of runs."""
        return type(self).from_dict({**self.to_dict(), "runs": runs})

    # -- printing ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        axes = ", ".join(f"{axis.name}: {len(axis)}" for axis in self.axes)
        return f"<Study of {len(self)} configurations ({axes}) × {self.runs} runs>"

    def __str__(self) -> str:
        return table(self.grid, self.runs, self.estimate())

    def estimate(self, threads: int | None = None) -> Estimate:
        """Estimate what the study will cost, from a few short runs.

        Parameters
        ----------
        threads : int, optional
            As for :meth:`run`.
        """
        threads = _threads(threads)
        if threads not in self._estimates:
            self._estimates[threads] = estimate(self.grid, self.runs, threads)
        return self._estimates[threads]

    # -- running ----------------------------------------------------------------------------------

    def run(
        self,
        store: str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
        threads: int | None = None,
        progress: bool | Progress = True,
        until: Precision | None = None,
        *,
        chunk: int | None = None,
    ) -> xr.Dataset:
        """Run every configuration.

        Parameters
        ----------
        store : path, optional
            A directory to keep the chunks in, new or of the same study. What is there is not
            computed again; a store with fewer runs is extended. Without it the results are only
            in memory.
        executor : concurrent.futures.Executor, optional
            Who computes the chunks: processes, Dask (``client.get_executor()``), MPI. Threads of
            this process by default. It is not shut down.
        threads : int, optional
            Threads of this process, all cores that it may use by default; with an executor,
            threads of every task, 1 by default.
        progress : bool or callable, optional
            True draws a bar if the standard error stream is a terminal. A callable gets the number
            of updates done and the total, and may raise to cancel.
        until : Precision, optional
            Stop each configuration as soon as it is known precisely enough, at `runs` at the
            latest. The intervals are valid although one stops when they are narrow, see
            :mod:`committal.sequential`.
        chunk : int, optional
            Runs per chunk. Chosen from the experiments by default, never from the machine; an
            existing store keeps its own.

        Returns
        -------
        xarray.Dataset
            One dimension per axis, followed by those of :func:`committal.run`; `count` is the
            number of runs. From a store it is read when it is looked at. With `until`, the
            variables `until_estimate`, `until_low`, `until_high` and `until_reached` say where
            each configuration stopped.

        Raises
        ------
        ConfigError
            Naming the argument, its value and what is allowed.
        StoreError
            If the store is of another study or cannot be written; what is finished is kept.
        ExecutorError
            If the executor breaks.
        """
        if executor is not None:
            given, executor = executor, adapted(executor)
            if executor is None:
                raise ConfigTypeError("executor", given, "a concurrent.futures.Executor or None")
        if until is not None and not isinstance(until, Precision):
            raise ConfigTypeError("until", until, "a Precision or None")
        if not (isinstance(progress, bool) or callable(progress)):
            raise ConfigTypeError("progress", progress, "True, False or a callable")
        if executor is None or threads is not None:
            threads = _threads(threads)
        engines = _Engines(self)
        if until is not None:
            until = _checked_until(until, self, engines)
        if chunk is None:
            size = chunk_size(self.grid, self.runs, _LOOKS if until else 1)
        else:
            size = _count("chunk", chunk, least=1)
        if store is None:
            _refuse_too_large(self)
            keeper: _Memory | Store = _Memory()
            runs = self.runs
        else:
            keeper = _prepared(self, store, size, until, chosen=chunk is not None)
            size, runs = keeper.manifest["chunk"], keeper.manifest["runs"]
        with keeper:
            campaign = _Campaign(self, engines, keeper, runs, size, until)
            campaign.run(executor, threads, progress)
            outcome = campaign.outcome()
            if isinstance(keeper, Store) and outcome is not None:
                keeper.write_json(OUTCOME, outcome)
        data = _dataset(self, engines, keeper, campaign.places(), outcome)
        return data.load() if store is None else data


# -- reading what is there -------------------------------------------------------------------------


def open_store(path: str | os.PathLike[str], *, verify: bool = False) -> xr.Dataset:
    """Open a store, finished or not, also while it is being written.

    Parameters
    ----------
    path : path
        The directory that was given to :meth:`Study.run`.
    verify : bool, optional
        Compare the checksums of all chunks now, and leave out those that are damaged. Otherwise
        only what is obviously damaged is left out, and a wrong checksum is an error when the
        chunk is read.

    Returns
    -------
    xarray.Dataset
        As :meth:`Study.run` returns it. Nothing is read before it is looked at. Runs that are not
        there yet are NaN; `count` says how many are.

    Raises
    ------
    StoreError
        If it cannot be read.

    Warns
    -----
    StoreWarning
        If some files are left out.

    Examples
    --------
    >>> import tempfile
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=10)
    >>> study = cm.Study(exp, {"steps": [10, 20]}, runs=4, rng=0)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     made = study.run(store=directory).load()
    ...     cm.open(directory).identical(made)
    True
    """
    kept = Store.open(path)
    study = stored_study(kept)
    inventory = kept.inventory(verify=verify)
    _warn(kept, inventory, "they are left out")
    outcome = kept.read_json(OUTCOME)
    if not _is_outcome(outcome, len(study)) or outcome["until"] != kept.manifest["until"]:
        outcome = None  # of an earlier, other question to the same study
    runs = None if outcome is None else outcome["runs"]
    places = _wanted(study, kept.manifest, runs) & inventory.chunks
    return _dataset(study, _Engines(study), kept, places, outcome)


def stored_study(kept: Store) -> Study:
    """Return the study that a store was made by."""
    try:
        study = Study.from_dict({**kept.manifest["study"], "runs": kept.manifest["runs"]})
    except ConfigError as error:
        raise StoreError(
            kept.path / MANIFEST, f"its study cannot be read ({error})", "it is damaged"
        ) from None
    if study.hash != kept.manifest["hash"]:
        raise StoreError(
            kept.path / MANIFEST,
            "its hash does not belong to its study",
            "it was changed by hand, or by a version of the package that reads it differently",
        )
    return study


def stored_until(kept: Store) -> Precision | None:
    """Return the precision that a store was made for."""
    until = kept.manifest["until"]
    return None if until is None else Precision.from_dict(until)


def study_of(data: xr.Dataset) -> Study:
    """Rebuild the study that made a dataset.

    Parameters
    ----------
    data : xarray.Dataset
        A result of :meth:`Study.run`, possibly after a detour through a file.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=10)
    >>> study = cm.Study(exp, {"steps": [10, 20]}, runs=4, rng=0)
    >>> cm.study_of(study.run()) == study
    True
    """
    attributes = getattr(data, "attrs", None)
    if attributes is None:
        raise ConfigTypeError("data", data, "a dataset made by Study.run")
    if "study" not in attributes:
        raise ConfigError("data.attrs", sorted(attributes), "an attribute 'study'")
    return Study.from_dict(json.loads(attributes["study"]))


def _dataset(
    study: Study,
    engines: _Engines,
    keeper: _Memory | Store,
    places: Iterable[Place],
    outcome: Mapping[str, Any] | None,
) -> xr.Dataset:
    chunks: dict[int, list[Place]] = {}
    for place in sorted(places):
        chunks.setdefault(place.configuration, []).append(place)
    contents = Contents(study.grid, engines, chunks, keeper.read)
    attributes: dict[str, str | int] = {
        "study": json.dumps(study.to_dict(), sort_keys=True, ensure_ascii=False),
        "study_hash": study.hash,
        "key": f"{study.stream.key:#018x}",
        "entropy": study.stream.entropy,
        "committal_version": __version__,
        "stream_version": _core.STREAM_VERSION,
        "runs": study.runs,
    }
    extra: dict[str, results.Variable] = {}
    if outcome is not None:
        attributes["until"] = json.dumps(outcome["until"], sort_keys=True)
        axes = tuple(axis.name for axis in study.axes)
        for name, text in (
            ("estimate", "estimate when it stopped"),
            ("low", "lower end of the interval when it stopped"),
            ("high", "upper end of the interval when it stopped"),
            ("reached", "whether the precision was reached"),
        ):
            kind = np.int8 if name == "reached" else np.float64
            values = [math.nan if value is None else value for value in outcome[name]]
            shaped = np.asarray(values, kind).reshape(study.grid.shape)
            extra[f"until_{name}"] = (axes, shaped, {"long_name": text})
    return stack(contents, attributes, extra)


def _is_outcome(outcome: Any, configurations: int) -> bool:
    names = ("runs", "estimate", "low", "high", "reached")
    return (
        isinstance(outcome, dict)
        and "until" in outcome
        and all(
            isinstance(outcome.get(name), list) and len(outcome[name]) == configurations
            for name in names
        )
    )


# -- chunks ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """All that another process needs to know to compute a chunk, in plain values."""

    study: str
    place: Place
    experiment: str
    key: int
    threads: int


def compute_chunk(task: Task) -> bytes:
    """Compute a chunk, anywhere."""
    engine = _engine_from(task.experiment)
    return _chunk_bytes(engine, task.study, task.place, task.key, task.threads)


@functools.lru_cache(maxsize=16)
def _engine_from(text: str) -> Engine:
    return Engine(Experiment.from_json(text))


def _chunk_bytes(
    engine: Engine,
    study_hash: str,
    place: Place,
    key: int,
    threads: int,
    report: Callable[[int], None] | None = None,
) -> bytes:
    arrays = engine.compute(
        key=key, first_run=place.first, runs=place.runs, threads=threads, report=report
    )
    return chunkfile.encode(about(study_hash, place, engine.experiment.hash), arrays)


class _Engines:
    """The engine of every configuration, the last ones remembered."""

    def __init__(self, study: Study) -> None:
        self._experiments = study.grid.experiments
        self._made: Callable[[int], Engine] = functools.lru_cache(maxsize=256)(self._make)

    def _make(self, index: int) -> Engine:
        return Engine(self._experiments[index])

    def __call__(self, index: int) -> Engine:
        return self._made(index)


def _places(configuration: int, start: int, stop: int, chunk: int) -> Iterator[Place]:
    """Cut runs into chunks: all of the same length, except for the last one."""
    for first in range(start, stop, chunk):
        yield Place(configuration, first, min(first + chunk, stop))


def _wanted(study: Study, manifest: Mapping[str, Any], runs: list[int] | None) -> set[Place]:
    """Return the chunks that make up a finished store."""
    return {
        place
        for index in range(len(study))
        for place in _places(index, 0, runs[index] if runs else manifest["runs"], manifest["chunk"])
    }


class _Memory:
    """Keeps chunks like a store, but not for long."""

    def __init__(self) -> None:
        self._kept: dict[Place, bytes] = {}

    def inventory(self, *, verify: bool = False) -> Inventory:
        return Inventory(set(self._kept))

    def has(self, place: Place) -> bool:
        return place in self._kept

    def read(self, place: Place) -> Arrays:
        return chunkfile.decode(self._kept[place], verify=False)[1]

    def write(self, place: Place, data: bytes) -> None:
        self._kept[place] = data

    def remove(self, place: Place) -> None:
        self._kept.pop(place, None)

    @property
    def alone(self) -> bool:
        return True

    def __enter__(self) -> _Memory:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _Campaign:
    """The work of one call of :meth:`Study.run`."""

    def __init__(
        self,
        study: Study,
        engines: _Engines,
        keeper: _Memory | Store,
        runs: int,
        chunk: int,
        until: Precision | None,
    ) -> None:
        self._study = study
        self._engines = engines
        self._keeper = keeper
        self._chunk = chunk
        inventory = keeper.inventory(verify=True)
        if isinstance(keeper, Store):
            _warn(keeper, inventory, "damaged chunks are computed again")
        self._there = inventory.chunks
        self._damaged = inventory.damaged
        # Chunks that a longer one will replace when a store is extended.
        self._shorter: dict[tuple[int, int], list[Place]] = {}
        for place in self._there:
            self._shorter.setdefault((place.configuration, place.first), []).append(place)
        self._total = 0
        self._histories = [
            _History(index, runs, chunk, until, engines) for index in range(len(study))
        ]
        self._steps = [experiment.steps for experiment in study.grid]

    def run(
        self, executor: Executor | None, threads: int | None, progress: bool | Progress
    ) -> None:
        """Compute what is missing."""
        waiting = deque(self._first_round())
        if not waiting:
            return
        if not self._keeper.alone:
            waiting.reverse()  # somebody else began at the other end: meet in the middle
        with ExitStack() as stack_:
            bar = stack_.enter_context(Bar("study")) if progress is True else None
            report: Progress | None = bar or (progress if callable(progress) else None)
            local = None
            if executor is None:
                assert threads is not None
                local = LocalThreads(threads=threads, tasks=len(waiting))
                executor = stack_.enter_context(local.executor())
                flight: InFlight[Any] = InFlight(
                    executor, self._local_work(local), window=2 * local.workers
                )
            else:
                flight = InFlight(executor, compute_chunk, window=self._window())
            self._loop(flight, waiting, local, threads or 1, report)

    def _loop(
        self,
        flight: InFlight[Any],
        waiting: deque[Place],
        local: LocalThreads | None,
        threads: int,
        report: Progress | None,
    ) -> None:
        done = 0
        try:
            while waiting or len(flight):
                while waiting and flight.has_room:
                    place = waiting.popleft()
                    if self._came_from_elsewhere(place):
                        self._total -= self._updates([place])
                        waiting.extend(self._arrived(place))
                    else:
                        flight.submit(place if local else self._task(place, threads))
                for task, data in flight.collect(_POLL_SECONDS):
                    place = task if local else task.place
                    self._keep(place, data)
                    done += place.runs * self._steps[place.configuration]
                    waiting.extend(self._arrived(place))
                if report is not None:
                    under_way = local.updates_under_way if local else 0
                    report(min(done + under_way, self._total), self._total)
        except BaseException:
            # Whatever went wrong, what is finished stays finished.
            for task, data in flight.drain():
                self._keep(task if local else task.place, data)
            raise

    def _came_from_elsewhere(self, place: Place) -> bool:
        """Say whether another process has written a chunk since we looked."""
        return place.file not in self._damaged and self._keeper.has(place)

    def _keep(self, place: Place, data: bytes) -> None:
        self._keeper.write(place, data)
        for old in self._shorter.pop((place.configuration, place.first), ()):
            if old != place:
                self._keeper.remove(old)

    def _local_work(self, local: LocalThreads) -> Callable[[Place], bytes]:
        study_hash = self._study.hash

        def work(place: Place) -> bytes:
            try:
                return _chunk_bytes(
                    self._engines(place.configuration),
                    study_hash,
                    place,
                    self._study.key_of(place.configuration),
                    local.threads_per_task,
                    local.report,
                )
            finally:
                local.finished()

        return work

    def _task(self, place: Place, threads: int) -> Task:
        index = place.configuration
        text = self._study.grid.experiments[index].to_json(indent=None)
        return Task(self._study.hash, place, text, self._study.key_of(index), threads)

    def _window(self) -> int:
        size = max(self._engines(0).nbytes(self._chunk), 1)
        return max(16, min(_MOST_IN_FLIGHT, _BYTES_IN_FLIGHT // size))

    # -- which chunks -----------------------------------------------------------------------------

    def _first_round(self) -> Iterator[Place]:
        """Yield what is missing now."""
        for history in self._histories:
            missing = list(history.begin(self._there, self._keeper.read))
            self._total += self._updates(missing)
            yield from missing

    def _updates(self, places: Iterable[Place]) -> int:
        return sum(place.runs * self._steps[place.configuration] for place in places)

    def _arrived(self, place: Place) -> list[Place]:
        more = self._histories[place.configuration].arrived(place, self._there, self._keeper.read)
        self._total += self._updates(more)
        return more

    def places(self) -> set[Place]:
        """Return the chunks that make up the result."""
        return {place for history in self._histories for place in history.places()}

    def outcome(self) -> dict[str, Any] | None:
        """Return where every configuration stopped; None if precision did not decide."""
        until = self._histories[0].until
        if until is None:
            return None
        return {
            "until": until.to_dict(),
            "runs": [history.target for history in self._histories],
            "estimate": [_json_number(history.estimate) for history in self._histories],
            "low": [history.low for history in self._histories],
            "high": [history.high for history in self._histories],
            "reached": [int(history.reached) for history in self._histories],
        }


def _json_number(x: float) -> float | None:
    return None if math.isnan(x) else x


class _History:
    """The rounds of one configuration: all of its runs at once, or until they suffice.

    Every decision is a function of the numbers of the runs before it, taken in their order, never
    of who finished first: so the chunks of a store do not depend on who computed them.
    """

    def __init__(
        self, index: int, runs: int, chunk: int, until: Precision | None, engines: _Engines
    ) -> None:
        self.index = index
        self.until = until
        self.target = runs if until is None else min(chunk, runs)
        self.estimate, self.low, self.high = math.nan, 0.0, 1.0
        self.reached = False
        self._runs = runs
        self._chunk = chunk
        self._engines = engines
        self._missing: set[Place] = set()
        self._sums: dict[int, tuple[int, float, float]] = {}

    def places(self) -> Iterator[Place]:
        """Yield all chunks that were asked for."""
        return _places(self.index, 0, self.target, self._chunk)

    def begin(self, there: set[Place], read: Callable[[Place], Arrays]) -> list[Place]:
        """Return the chunks of the first round that are missing."""
        return self._ask(0, there, read)

    def arrived(
        self, place: Place, there: set[Place], read: Callable[[Place], Arrays]
    ) -> list[Place]:
        """Take note of a chunk; return the next round if it was the last one of this."""
        self._missing.discard(place)
        if self.until is None:
            return []
        self._note(place, read)
        return [] if self._missing else self._decide(there, read)

    def _ask(self, start: int, there: set[Place], read: Callable[[Place], Arrays]) -> list[Place]:
        asked = list(_places(self.index, start, self.target, self._chunk))
        missing = [place for place in asked if place not in there]
        self._missing = set(missing)
        if self.until is not None:
            for place in asked:
                if place in there:
                    self._note(place, read)
            if not missing:
                return self._decide(there, read)
        return missing

    def _note(self, place: Place, read: Callable[[Place], Arrays]) -> None:
        until = self.until
        assert until is not None
        engine = self._engines(self.index)
        arrays = read(place)
        if until.quantity == FAILURE:
            assert until.below is not None
            failures = engine.failures(arrays, until.below)
            assert failures is not None
            self._sums[place.first] = (place.runs, float(failures), 0.0)
        else:
            sums = engine.last_sums(arrays, until.quantity)
            assert sums is not None
            self._sums[place.first] = (place.runs, *sums)

    def _decide(self, there: set[Place], read: Callable[[Place], Arrays]) -> list[Place]:
        """Stop, or ask for more runs."""
        until = self.until
        assert until is not None
        counts, firsts, seconds = zip(*(self._sums[i] for i in sorted(self._sums)), strict=True)
        if until.quantity == FAILURE:
            n, k = sum(counts), sum(firsts)
            low, high = rate_sequence(k, n, until.confidence)
            self.estimate, self.low, self.high = k / n, float(low), float(high)
        else:
            bounds = _bounds(self._engines(self.index), until.quantity)
            assert bounds is not None
            self.estimate, self.low, self.high = mean_sequence(
                counts,
                firsts,
                seconds,
                bounds,
                until.confidence,
                half_width=None if until.relative else until.half_width,
            )
        half, wanted = (self.high - self.low) / 2, until.width_for(self.estimate)
        self.reached = half <= wanted
        if self.reached or self.target >= self._runs:
            return []
        # Widths shrink like the root of the number of runs: aim there, in steps that waste little.
        factor = min(max(1.1 * (half / wanted) ** 2, 1.1), 2.0) if wanted > 0 else 2.0
        start = self.target
        chunks = max(math.ceil(factor * start / self._chunk), start // self._chunk + 1)
        self.target = min(chunks * self._chunk, self._runs)
        return self._ask(start, there, read)


# -- choices ---------------------------------------------------------------------------------------


def _prepared(
    study: Study,
    path: str | os.PathLike[str],
    chunk: int,
    until: Precision | None,
    *,
    chosen: bool,
) -> Store:
    manifest = manifest_of(
        study._identity(),
        study_hash=study.hash,
        runs=study.runs,
        chunk=chunk,
        until=None if until is None else until.to_dict(),
    )
    kept = Store.prepare(path, manifest)
    if chosen and kept.manifest["chunk"] != chunk:
        kept.close()
        raise ConfigError("chunk", chunk, f"{kept.manifest['chunk']}, as in the store, or None")
    return kept


def _warn(kept: Store, inventory: Inventory, consequence: str) -> None:
    complaints = inventory.complaints()
    if complaints:
        warnings.warn(f"{kept.path}: {complaints} ({consequence})", StoreWarning, stacklevel=3)


def _bounds(engine: Engine, name: str) -> tuple[float, float] | None:
    reduce = engine.experiment.record.reduce
    given = None if reduce is None else reduce.given_range(name)
    return engine.experiment.problem.range_of(name) or given


def _checked_until(until: Precision, study: Study, engines: _Engines) -> Precision:
    """Check that the recorded quantities tell what is asked for; fill in what failure means."""
    engine = engines(0)
    record = engine.experiment.record
    arrays = engine.merge([])
    if until.quantity == FAILURE:
        if record.reduce is not None and record.reduce.below is None:
            raise ConfigError(
                "until", until, "failures to be counted: Record('value', reduce=Reduce(below=...))"
            )
        known = None if record.reduce is None else record.reduce.below
        below = known if until.below is None else until.below
        if below is None:
            raise ConfigError("until.below", None, "a number: a run failed if its value is less")
        if engine.failures(arrays, below) is None:
            instead = f"{known}, as in the record" if known is not None else "Record('value')"
            raise ConfigError("until.below", below, instead)
        return until.replace(below=below)
    if engine.last_sums(arrays, until.quantity) is None:
        raise ConfigError(
            "until.quantity",
            until.quantity,
            f"'failure' or a recorded quantity with one number per time, of {record.names}",
        )
    for index in range(len(study)):
        if _bounds(engines(index), until.quantity) is None:
            raise ConfigError(
                "until.quantity",
                until.quantity,
                "a quantity with known bounds, such as 'value', or "
                "Reduce(bins=..., range={name: (lo, hi)})",
            )
    return until


def _threads(threads: int | None) -> int:
    return available_threads() if threads is None else _count("threads", threads, least=1)


def _count(argument: str, value: object, *, least: int) -> int:
    allowed = f"a whole number >= {least}"
    if isinstance(value, bool | np.bool_):
        raise ConfigTypeError(argument, value, allowed)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ConfigTypeError(argument, value, allowed) from None
    if number < least or number >= 2**63:
        raise ConfigError(argument, value, allowed)
    return number


def _refuse_too_large(study: Study) -> None:
    # Chunks and the arrays that they are put into are there at the same time.
    needed, available = 2 * memory(study.grid, study.runs), available_memory()
    if available is not None and needed > available:
        raise ConfigError(
            "store",
            None,
            f"a directory: the results need {needed / 1e9:.3g} GB and {available / 1e9:.3g} GB "
            "are available; or a record with reduce=Reduce(...)",
        )
