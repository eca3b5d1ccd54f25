"""Run an experiment: from a configuration to a labelled dataset.

It checks what the caller chose, has the engine make the runs, and labels what comes back. A run
is a pure function of the experiment, the key of the stream and its number, so how runs are cut
into chunks, threads and instruction sets changes no bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from committal.config import Experiment
from committal.errors import ConfigError, ConfigTypeError
from committal.lowering.parts import AnyPlan
from committal.simulation import dataset as results
from committal.simulation.engine import Engine
from committal.simulation.streams import RNGLike, stream_key
from committal.support import check, limits, text
from committal.support.machine import available_memory, isa_of, threads_of
from committal.support.progress import Bar

if TYPE_CHECKING:
    import xarray as xr

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
        True draws a bar on the terminal or in the notebook. A callable gets the number of updates
        done and the total, about ten times a second, and may raise to cancel.
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
        Dimensions `run`, `time` and `arm`, or `state`, `action` and `terminal` of an MDP; without
        `run` where the record reduces over runs.
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
    ...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025), steps=100,
    ...     record=cm.Record("value", "policy", every=10),
    ... )
    >>> data = cm.run(exp, runs=4, rng=0)
    >>> dict(data.sizes)
    {'run': 4, 'time': 11, 'arm': 3}
    """
    check.instance("experiment", experiment, Experiment, "an Experiment")
    engine = Engine(experiment)
    runs = check.integer("runs", runs, 0, limits.RUNS)
    first_run = check.integer("first_run", first_run, 0, limits.RUNS - runs)
    threads = threads_of("threads", threads)
    chunk = max(runs, 1) if chunk is None else check.integer("chunk", chunk, 1, limits.RUNS)
    isa = isa_of("isa", isa)
    independent = check.boolean("independent", independent)
    if not (isinstance(progress, bool) or callable(progress)):
        raise ConfigTypeError("progress", progress, "True, False or a callable")
    _refuse_overflow(engine.plan, runs)
    _refuse_too_large(engine, runs)
    key, entropy = stream_key(rng, independent=experiment.hash if independent else None)
    attributes = results.provenance(experiment, key=key, entropy=entropy)

    watcher = Bar() if progress is True else nullcontext(progress or None)
    with watcher as report:
        arrays = engine.compute(
            key=key,
            first_run=first_run,
            runs=runs,
            threads=threads,
            chunk=chunk,
            isa=isa,
            report=None if report is None else partial(_told, report, runs * experiment.steps),
        )
    variables, coordinates = engine.variables(arrays, runs=runs, first_run=first_run)
    if engine.reduces:
        attributes |= {"runs": runs, "first_run": first_run}
    return results.labelled(experiment, engine.plan, variables, coordinates, attributes)


def _told(report: Progress, total: int, done: int) -> None:
    report(done, total)


def _refuse_overflow(plan: AnyPlan, runs: int) -> None:
    if runs * plan.draws > limits.RUNS:
        most = limits.RUNS // plan.draws
        raise ConfigError("runs", runs, f"fewer than 2**63 draws in all, here at most {most} runs")


def _refuse_too_large(engine: Engine, runs: int) -> None:
    needed = engine.nbytes(runs)
    available = available_memory()
    if available is not None and needed > available:
        instead = (
            "fewer recorded times, arms or bins need less"
            if engine.reduces
            else "Record(..., reduce=Reduce(...)) keeps memory flat"
        )
        raise ConfigError(
            "runs",
            runs,
            f"outputs that fit into memory: these need {text.size(needed)} and "
            f"{text.size(available)} are available; {instead}",
        )
