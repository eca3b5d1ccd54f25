"""Studies: a grid of configurations, many runs of each, on as many machines as there are.

This is what a user sees: the description of a study, what it will cost, and running it. How the
work is done is in :mod:`committal.study.campaign`, how many runs are enough in
:mod:`committal.study.rounds`, how results get their labels in :mod:`committal.study.dataset`, and
the way back from results in :mod:`committal.study.opening`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from committal.config import Experiment
from committal.config.grid import Axis, Grid, GridLike, Label
from committal.config.precision import Precision
from committal.errors import ConfigError, ConfigTypeError
from committal.simulation.run import Progress
from committal.simulation.streams import RNGLike, StreamKey, mixed_key, stream_key
from committal.study.campaign import Campaign
from committal.study.costs import Estimate, chunk_size, estimate, memory, page, table
from committal.study.dataset import stack
from committal.study.executors import adapted
from committal.study.keeping import Memory
from committal.study.reading import Contents
from committal.study.rounds import LOOKS, checked_until
from committal.study.store.manifest import manifest_of
from committal.study.store.outcome import OUTCOME, read_outcome, write_outcome
from committal.study.store.store import Store
from committal.study.tasks import Engines
from committal.support import limits, text
from committal.support.check import integer
from committal.support.files import path_of
from committal.support.machine import available_memory, threads_of
from committal.support.notation import NotationError, refuse_depth
from committal.support.provenance import key_text, origin

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Configuration", "Estimate", "Study"]


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


def _listed(grid: Any) -> tuple[Any, ...]:
    """Return the axes of a grid that is not a mapping; whether they are axes is seen later."""
    if grid is None:
        return ()
    try:
        return tuple(grid)
    except TypeError:
        allowed = "a mapping from dotted paths or names to values"
        raise ConfigTypeError("grid", grid, allowed) from None


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
        axes = grid if isinstance(grid, Mapping) else _listed(grid)
        self.grid = Grid(base, axes)
        self.runs = integer("runs", runs, 1, limits.RUNS)
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
        parts = (self.grid.hash, key_text(self.stream.key), str(self.independent))
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
            "key": key_text(self.stream.key),
            "entropy": self.stream.entropy,
            "independent": self.independent,
        }

    def attributes(self) -> dict[str, str | int]:
        """Return the attributes of its datasets, from which it can be repeated.

        Examples
        --------
        >>> from committal.config import Bandit, Natural, Softmax
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
        >>> Study(exp, runs=5, rng=0).attributes()["entropy"]
        '0'
        """
        return {
            "study": json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False),
            "study_hash": self.hash,
            **origin(self.stream.key, self.stream.entropy),
            "runs": self.runs,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Study:
        """Read what :meth:`to_dict` wrote."""
        if not isinstance(data, Mapping):
            raise ConfigTypeError("study", data, "what to_dict wrote")
        try:
            refuse_depth(data)
            axes = [Axis.from_dict(axis) for axis in data["axes"]]
            base = Experiment.from_dict(data["base"])
            made = cls(base, axes, runs=data["runs"], rng=0, independent=data["independent"])
            made.stream = StreamKey(_key_of(data["key"]), str(data["entropy"]))
        except (KeyError, TypeError, AttributeError, NotationError) as error:
            raise ConfigError(
                "study", sorted(data, key=str), f"what to_dict wrote ({error!r})"
            ) from None
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

    def _repr_html_(self) -> str:
        # What was estimated last; a notebook that shows an object must not compute for a while.
        known = list(self._estimates.values())
        return page(self.grid, self.runs, known[-1] if known else None)

    def estimate(self, threads: int | None = None) -> Estimate:
        """Estimate what the study will cost, from a few short runs.

        Parameters
        ----------
        threads : int, optional
            As for :meth:`run`.
        """
        threads = threads_of("threads", threads)
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
        reuse: str | os.PathLike[str] | None = None,
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
            True draws a bar if the standard error stream is a terminal or this is a notebook, and
            elsewhere writes a line every half minute, to ``logging.getLogger("committal")`` if it
            has handlers. A callable gets the number of updates done and the total, and may raise
            to cancel.
        until : Precision, optional
            Stop each configuration as soon as it is known precisely enough, at `runs` at the
            latest. The intervals are valid although one stops when they are narrow, see
            :mod:`committal.inference.sequences`.
        chunk : int, optional
            Runs per chunk. Chosen from the experiments by default, never from the machine; an
            existing store keeps its own.
        reuse : path, optional
            A store of another grid, for example with fewer values of an axis or without one of
            the axes. Its chunks are copied where experiment, seed and runs are the same.

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
        if executor is not None and threads is None:
            threads = 1
        threads = threads_of("threads", threads)
        engines = Engines(self.grid)
        if until is not None:
            until = checked_until(until, engines, len(self))
        if reuse is not None:
            reuse = path_of("reuse", reuse)
        if reuse is not None and chunk is None:
            chunk = Store.open(reuse).manifest["chunk"]
        if chunk is None:
            size = chunk_size(self.grid, self.runs, LOOKS if until else 1)
        else:
            size = integer("chunk", chunk, 1, limits.RUNS)
        if until is None:
            _refuse_too_many_chunks(self, size)
        donor = None
        if reuse is not None:
            from committal.study.growing import Donor  # it opens stores, as studies

            donor = Donor(reuse, self, size)
        if store is None:
            _refuse_too_large(self)
            keeper: Memory | Store = Memory()
        else:
            keeper = _prepared(self, store, size, until, chosen=chunk is not None)
            size = keeper.manifest["chunk"]
        with keeper if isinstance(keeper, Store) else nullcontext():
            if until is None:
                _refuse_too_many_chunks(self, size)  # a store has its own chunks
            if donor is not None:
                donor.give(keeper, self.runs)
            campaign = Campaign(
                self.grid,
                self.hash,
                self.key_of,
                engines,
                keeper,
                runs=self.runs,
                chunk=size,
                until=until,
            )
            if isinstance(keeper, Store):
                inventory = campaign.inventory
                inventory.find_strays(len(self), self.runs, size)
                if problem := read_outcome(keeper, len(self))[1]:
                    inventory.damaged[OUTCOME] = problem
                inventory.warn(keeper.path, "what is damaged is computed again")
            campaign.run(executor, threads, progress)
            outcome = campaign.outcome()
            if isinstance(keeper, Store) and outcome is not None:
                write_outcome(keeper, outcome)
        contents = Contents.of(self.grid, engines, campaign.places(), keeper.read)
        data = stack(contents, self.attributes(), outcome)
        return data.load() if store is None else data


def _key_of(text: Any) -> int:
    """Read the key of the random streams, 64 bits in hexadecimal."""
    if not isinstance(text, str) or not re.fullmatch(r"(0x)?[0-9a-fA-F]{1,16}", text):
        raise ConfigError("study.key", text, "64 bits in hexadecimal")
    return int(text, 16)


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


def _refuse_too_many_chunks(study: Study, chunk: int) -> None:
    most = limits.CHUNKS // len(study) * chunk
    if study.runs > most:
        raise ConfigError(
            "runs",
            study.runs,
            f"at most {most} runs per configuration, in {text.grouped(limits.CHUNKS)} chunks of "
            f"{text.many(chunk, 'run')}; or a larger chunk, or until=Precision(...)",
        )


def _refuse_too_large(study: Study) -> None:
    # Chunks and the arrays that they are put into are there at the same time.
    needed, available = 2 * memory(study.grid, study.runs), available_memory()
    if available is not None and needed > available:
        raise ConfigError(
            "store",
            None,
            f"a directory: the results need {text.size(needed)} and {text.size(available)} are "
            "available; or a record with reduce=Reduce(...)",
        )
