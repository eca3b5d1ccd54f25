"""What a grid costs: how it is cut into chunks, how long it takes and how much it holds."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from committal.config import Experiment
from committal.config.grid import Axis, Grid, Label
from committal.errors import DivergenceError
from committal.simulation.engine import Engine
from committal.support import html, text

#: A chunk takes about a sixth of a second on one core: work in units of about 5 ns, and bytes.
_WORK_PER_CHUNK = 2**25
_BYTES_PER_CHUNK = 8 * 2**20
#: Runs are advanced in blocks of lanes; smaller chunks would waste some of them.
_LANES = 64

_CALIBRATION_SECONDS = 0.02
_CALIBRATED = 5
_HEADER_BYTES = 1024
_MOST_ROWS = 24


class Estimate(NamedTuple):
    """What a study will cost.

    Attributes
    ----------
    updates : int
        Of all runs together.
    seconds : float
        On this machine.
    threads : int
        Used for that time.
    memory : int
        Bytes of the results in memory.
    chunks : int
        Files of a store.
    disk : int
        Bytes of a store.
    """

    updates: int
    seconds: float
    threads: int
    memory: int
    chunks: int
    disk: int


def chunk_size(grid: Grid, runs: int, looks: int = 1) -> int:
    """Choose how many runs a chunk has.

    Parameters
    ----------
    grid : Grid
        The configurations.
    runs : int
        Of each configuration.
    looks : int, optional
        Into how many chunks all runs of a configuration are cut at least, if they are long enough.

    Returns
    -------
    int
        It depends on the experiments alone, never on the machine: chunks are the same everywhere.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=1000)
    >>> chunk_size(Grid(base), 10**6), chunk_size(Grid(base), 100)
    (33536, 100)
    """
    size = _WORK_PER_CHUNK / max(_work(experiment) for experiment in grid)
    engine = _longest(grid)
    if not engine.reduces:
        size = min(size, _BYTES_PER_CHUNK / max(engine.nbytes(1), 1))
    if looks > 1:
        size = min(size, runs / looks)
    return min(max(int(size) // _LANES, 1) * _LANES, runs)


def _work(experiment: Experiment) -> float:
    """Estimate the work of a run, in units of about 5 ns; only the order of magnitude matters."""
    problem = experiment.problem
    samples = getattr(experiment.estimator, "samples", 1)
    states = getattr(problem, "n_states", 1)
    if states > 1:
        per_update = 4 * getattr(problem, "limit", 100) + states * states / 4
    else:
        per_update = max(problem.arms / 8, 1.0)
    return max(experiment.steps, 1) * samples * per_update


def _longest(grid: Grid) -> Engine:
    return Engine(max(grid.experiments, key=lambda experiment: experiment.steps))


def memory(grid: Grid, runs: int) -> int:
    """Return the bytes of all results together."""
    return len(grid) * _longest(grid).nbytes(runs)


def estimate(grid: Grid, runs: int, threads: int) -> Estimate:
    """Estimate what all configurations cost, from a few short runs.

    Parameters
    ----------
    grid, runs
        As for :func:`chunk_size`.
    threads : int
        How many will compute.
    """
    # A few configurations, spread over the grid, stand for all.
    last = len(grid) - 1
    chosen = sorted({round(i * last / (_CALIBRATED - 1)) for i in range(_CALIBRATED)})
    speeds = [_speed_at(grid, i) for i in chosen]
    updates = sum(experiment.steps for experiment in grid) * runs
    chunks = len(grid) * math.ceil(runs / chunk_size(grid, runs))
    held = memory(grid, runs)
    engine = Engine(grid.experiments[0])
    per_chunk = _HEADER_BYTES + (engine.nbytes(0) if engine.reduces else 0)
    return Estimate(
        updates=updates,
        seconds=updates * sum(speeds) / len(speeds) / min(threads, runs * len(grid)),
        threads=threads,
        memory=held,
        chunks=chunks,
        disk=chunks * per_chunk + (0 if engine.reduces else held),
    )


def _speed_at(grid: Grid, index: int) -> float:
    try:
        return _seconds_per_update(grid.experiments[index])
    except DivergenceError as error:
        error.point = dict(grid.labels(index))
        raise


def _seconds_per_update(experiment: Experiment) -> float:
    """Time a few runs, with as many updates as fit into a moment."""
    runs, steps = 4 * _LANES, min(16, experiment.steps)
    while True:
        changes: dict[str, Any] = {"steps": steps}
        if experiment.record.at is not None:
            # The times may lie beyond the end of so short a run.
            kept = {"every": None, "at": None, "log": None}
            changes["record"] = experiment.record.replace(**kept)
        engine = Engine(experiment.replace(**changes))
        start = time.perf_counter()
        engine.compute(key=0, first_run=0, runs=runs)
        seconds = time.perf_counter() - start
        if seconds >= _CALIBRATION_SECONDS or steps >= experiment.steps:
            return seconds / (runs * max(steps, 1))
        steps = min(max(2 * steps, int(steps * _CALIBRATION_SECONDS / seconds)), experiment.steps)


# -- as text ---------------------------------------------------------------------------------------


def table(grid: Grid, runs: int, cost: Estimate) -> str:
    """Write a grid and its cost as a table.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=1000)
    >>> grid = Grid(base, {"update.step_size": [0.1, 0.2], "steps": [500, 1000]})
    >>> print(table(grid, 100, Estimate(300_000, 0.25, 2, 9600, 4, 13696)))
    4 configurations of 100 runs
      step_size  2 values: 0.1, 0.2
      steps      2 values: 500, 1000
    <BLANKLINE>
      #  step_size  steps  updates
      0        0.1    500   50 000
      1        0.1   1000  100 000
      2        0.2    500   50 000
      3        0.2   1000  100 000
    <BLANKLINE>
      updates  300 000
      time     about 0.2 s on 2 threads
      memory   9.6 kB
      store    13.7 kB in 4 chunks
    """
    return "\n".join(
        [
            _count(grid, runs),
            *text.facts({axis.name: _values(axis) for axis in grid.axes}, indent="  "),
            "",
            *text.columns(_rows(grid, runs)),
            "",
            *text.facts(_costs(cost), indent="  "),
        ]
    )


def page(grid: Grid, runs: int, cost: Estimate | None) -> html.Html:
    """Write a grid as a notebook shows it; a cost that nobody asked for is not estimated.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=1000)
    >>> shown = page(Grid(base, {"steps": [500, 1000]}), 100, None)
    >>> "2 configurations of 100 runs" in shown, "2 values: 500, 1000" in shown
    (True, True)
    """
    axes = {axis.name: _values(axis) for axis in grid.axes}
    header, *rows = _rows(grid, runs)
    updates = sum(experiment.steps for experiment in grid) * runs
    costs = {"updates": text.grouped(updates)} if cost is None else _costs(cost)
    base = html.Html(grid.base._repr_html_())
    return html.page(
        f"Study, {_count(grid, runs)}",
        html.facts(axes | costs),
        html.folded("configurations", html.table(rows, header)),
        html.folded("what the grid varies", base),
    )


def _count(grid: Grid, runs: int) -> str:
    return f"{text.many(len(grid), 'configuration')} of {text.many(runs, 'run')}"


def _costs(cost: Estimate) -> dict[str, str]:
    return {
        "updates": text.grouped(cost.updates),
        "time": f"about {text.duration(cost.seconds)} on {text.many(cost.threads, 'thread')}",
        "memory": text.size(cost.memory),
        "store": f"{text.size(cost.disk)} in {text.many(cost.chunks, 'chunk')}",
    }


def _rows(grid: Grid, runs: int) -> list[list[str]]:
    names = ["#", *(axis.name for axis in grid.axes), "updates"]
    total = len(grid)
    shown: Sequence[int] = range(total)
    if total > _MOST_ROWS:
        shown = [*range(_MOST_ROWS // 2), *range(total - _MOST_ROWS // 2, total)]
    rows = [
        [
            str(i),
            *map(_label, grid.labels(i).values()),
            text.grouped(grid.experiments[i].steps * runs),
        ]
        for i in shown
    ]
    if total > _MOST_ROWS:
        rows.insert(_MOST_ROWS // 2, ["…"] * len(names))
    return [names, *rows]


def _label(label: Label) -> str:
    return f"{label:.6g}" if isinstance(label, float) else str(label)


def _values(axis: Axis) -> str:
    labels = [_label(label) for label in axis.labels]
    if len(labels) > 6:
        labels = [*labels[:3], "…", labels[-1]]
    return f"{text.many(len(axis), 'value')}: {', '.join(labels)}"
