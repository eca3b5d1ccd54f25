"""Run an experiment: from a configuration to a labelled dataset.

This is the one place where Python calls the core: it checks what the caller chose, allocates
the outputs, hands them over in chunks of runs and labels what comes back. A run is a pure
function of the experiment, the key of the stream and its number, so how runs are cut into
chunks, threads and instruction sets changes no bit of the result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal import _core, results
from committal.config import Experiment
from committal.errors import ConfigError, ConfigTypeError
from committal.plan import Plan, lower
from committal.progress import Bar
from committal.quantities import quantity
from committal.reduction import Histogram, Reduction
from committal.streams import RNGLike, stream_key
from committal.system import available_memory, available_threads

if TYPE_CHECKING:
    import xarray as xr

_MOST_UPDATES = 2**63  # what a signed 64-bit count of updates can hold
_MOST_THREADS = 4096

Progress = Callable[[int, int], None]


def run(
    experiment: Experiment,
    *,
    runs: int,
    rng: RNGLike = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    first_run: int = 0,
    chunk: int | None = None,
    isa: str = "auto",
    independent: bool = False,
) -> xr.Dataset:
    """Run an experiment many times.

    Parameters
    ----------
    experiment : Experiment
        What to run and what to record of it.
    runs : int
        How many independent runs; 0 gives an empty dataset.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from (SPEC 7). The same seed gives the same random numbers to
        every experiment, so that configurations are compared under common random numbers. A
        Generator is consumed once.
    threads : int, optional
        Worker threads; all cores that the process may use by default.
    progress : bool or callable, optional
        True draws a bar on the terminal. A callable gets the number of updates done and the
        total, about ten times a second, and may raise to cancel.
    first_run : int, optional
        Number of the first run: runs [0, 100) are runs [0, 60) followed by [60, 100).
    chunk : int, optional
        Runs per call of the core; all of them by default.
    isa : {"auto", "generic", "avx2", "avx512"}, optional
        Instruction set of the kernels; the best that the machine has by default.
    independent : bool, optional
        Give this experiment random numbers of its own, even with the same `rng`.

    Returns
    -------
    xarray.Dataset
        Dimensions `run`, `time` and `arm`; without `run` where the record reduces over runs.
        See :func:`committal.experiment_of` for the way back.

    Raises
    ------
    ConfigError
        Naming the argument, its value and what is allowed; also when the outputs would not fit
        into memory.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     problem=cm.Bandit([1.0, 0.7, 0.0]),
    ...     policy=cm.Softmax([0, 3, 5]),
    ...     update=cm.Natural(step_size=0.025),
    ...     baseline=cm.MinVariance() + 0.5,
    ...     steps=100,
    ...     record=cm.Record("value", "policy", every=10),
    ... )
    >>> data = cm.run(exp, runs=4, rng=0)
    >>> dict(data.sizes)
    {'run': 4, 'time': 11, 'arm': 3}
    """
    if not isinstance(experiment, Experiment):
        raise ConfigTypeError("experiment", experiment, "an Experiment")
    plan = lower(experiment)
    runs = _count("runs", runs, least=0)
    first_run = _count("first_run", first_run, least=0, below=2**63 - runs)
    if threads is None:
        threads = available_threads()
    threads = _count("threads", threads, least=1, below=_MOST_THREADS + 1)
    chunk = max(runs, 1) if chunk is None else _count("chunk", chunk, least=1)
    sets = ("auto", *_core.available()["isas"])
    if isa not in sets:
        raise ConfigError("isa", isa, "one of " + ", ".join(map(repr, sets)) + " on this machine")
    if not isinstance(independent, bool):
        raise ConfigTypeError("independent", independent, "True or False")
    if not (isinstance(progress, bool) or callable(progress)):
        raise ConfigTypeError("progress", progress, "True, False or a callable")
    _refuse_overflow(plan, runs)
    key, entropy = stream_key(rng, independent=experiment.hash if independent else None)
    attributes = results.provenance(experiment, key=key, entropy=entropy)

    watcher = Bar() if progress is True else nullcontext(progress or None)
    with watcher as report:
        chunks = _Chunks(plan, key, first_run, runs, chunk, threads, isa, report)
        if experiment.record.reduce is None:
            outputs = _allocate_outputs(experiment, plan, runs)
            chunks.simulate(outputs)
            return results.per_run(
                experiment, plan, outputs, first_run=first_run, attributes=attributes
            )
        reduction = _allocate_reduction(experiment, plan, runs)
        try:
            chunks.reduce(reduction)
        except OverflowError as error:
            raise ConfigError(
                "record.reduce", experiment.record.reduce, f"numbers that can be summed: {error}"
            ) from None
        return results.reduced(
            experiment, plan, reduction, first_run=first_run, attributes=attributes
        )


class _Chunks:
    """The calls of the core that together make up one run."""

    def __init__(
        self,
        plan: Plan,
        key: int,
        first_run: int,
        runs: int,
        chunk: int,
        threads: int,
        isa: str,
        report: Progress | None,
    ) -> None:
        self._plan = plan
        self._core_plan = _core.BanditPlan(**plan.core_arguments())
        self._key = key
        self._first_run = first_run
        self._runs = runs
        self._chunk = chunk
        self._threads = threads
        self._isa = isa
        self._report = report

    def simulate(self, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        for start, stop in self._ranges():
            _core.simulate(
                self._core_plan,
                key=self._key,
                first_run=self._first_run + start,
                runs=stop - start,
                outputs={name: array[start:stop] for name, array in outputs.items()},
                threads=self._threads,
                isa=self._isa,
                progress=self._progress_from(start),
            )

    def reduce(self, reduction: Reduction) -> None:
        below = np.nan if reduction.below is None else reduction.below
        histograms = {
            name: (histogram.counts, histogram.lo, histogram.hi)
            for name, histogram in reduction.histograms.items()
        }
        for start, stop in self._ranges():
            _core.reduce(
                self._core_plan,
                key=self._key,
                first_run=self._first_run + start,
                runs=stop - start,
                moments=reduction.moments,
                histograms=histograms,
                failures=reduction.failures,
                below=below,
                threads=self._threads,
                isa=self._isa,
                progress=self._progress_from(start),
            )
            reduction.runs += stop - start

    def _ranges(self) -> Iterator[tuple[int, int]]:
        for start in range(0, self._runs, self._chunk):
            yield start, min(start + self._chunk, self._runs)

    def _progress_from(self, start: int) -> Callable[[int], None] | None:
        report = self._report
        if report is None:
            return None
        steps = self._plan.steps
        total = self._runs * steps

        def progress(done: int) -> None:
            report(start * steps + done, total)

        return progress


def _allocate_outputs(experiment: Experiment, plan: Plan, runs: int) -> dict[str, npt.NDArray[Any]]:
    layout: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {}
    for name in experiment.record.names:
        described = quantity(name, plan)
        shape: tuple[int, ...] = (runs, len(plan.times))
        # The core writes one number per run and time without a third axis, except for θ.
        if described.axis or name == "theta":
            shape = (*shape, described.width(plan))
        layout[name] = (shape, described.dtype)
    needed = sum(math.prod(shape) * dtype.itemsize for shape, dtype in layout.values())
    _refuse_too_large(runs, needed, "Record(..., reduce=Reduce(...)) keeps memory flat")
    return {name: np.empty(shape, dtype) for name, (shape, dtype) in layout.items()}


def _allocate_reduction(experiment: Experiment, plan: Plan, runs: int) -> Reduction:
    record = experiment.record
    assert record.reduce is not None
    times = len(plan.times)
    limbs = _core.ACCUMULATOR_LIMBS
    bins = record.reduce.bins
    widths = {name: quantity(name, plan).width(plan) for name in record.names}
    cells = sum(widths.values()) * times * (2 * limbs + (bins + 2 if bins else 0))
    _refuse_too_large(runs, cells * 8, "fewer recorded times, arms or bins need less")
    histograms = {}
    if bins:
        for name in record.names:
            lo, hi = record.reduce.range_of(name, experiment)
            counts = np.zeros((times, widths[name], bins + 2), np.int64)
            histograms[name] = Histogram(counts, lo, hi)
    below = record.reduce.below
    return Reduction(
        runs=0,
        moments={
            name: np.zeros((times, width, 2, limbs), np.int64) for name, width in widths.items()
        },
        histograms=histograms,
        failures=None if below is None else np.zeros(times, np.int64),
        below=below,
    )


def _count(argument: str, value: object, *, least: int, below: int = 2**63) -> int:
    allowed = f"a whole number from {least} to {below - 1}"
    if isinstance(value, bool | np.bool_):
        raise ConfigTypeError(argument, value, allowed)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ConfigTypeError(argument, value, allowed) from None
    if not least <= number < below:
        raise ConfigError(argument, value, allowed)
    return number


def _refuse_overflow(plan: Plan, runs: int) -> None:
    per_run = max(plan.steps, 1) * plan.samples
    if runs * per_run >= _MOST_UPDATES:
        raise ConfigError(
            "runs",
            runs,
            f"runs × steps × samples below 2**63, here at most {(_MOST_UPDATES - 1) // per_run}",
        )


def _refuse_too_large(runs: int, needed: int, instead: str) -> None:
    available = available_memory()
    if available is not None and needed > available:
        raise ConfigError(
            "runs",
            runs,
            f"outputs that fit into memory: these need {_bytes(needed)} and "
            f"{_bytes(available)} are available; {instead}",
        )


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"
