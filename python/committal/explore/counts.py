"""How often runs fail, counted while somebody watches: up to a million, a few more at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from committal.config import Experiment, Record, Reduce
from committal.explore import bounds
from committal.inference.intervals import proportion_interval
from committal.simulation.engine import Engine

#: Seconds of one piece: what a slider may have to wait for, and how often a number is shown.
PIECE = 0.03
#: Times of the mean curve; a value of a gridworld is an equation to be solved.
TIMES, MAZE_TIMES = 60, 12
#: Something is said when there are this much more runs than the last time: watched on a scale of
#: logarithms, less could not be seen.
GROWTH = 1.08


def counted(
    experiment: Experiment,
    *,
    key: int,
    below: float,
    most: int,
    threads: int,
    still_wanted: Callable[[], None],
    pause: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Yield what is known after ever more runs; the last one is `done`, also if time is up.

    Before every piece `pause` may wait.

    Every item has the counts, Wilson's interval, and the one that stays valid although somebody
    watches and may stop at any time; and the mean of the value over time with its standard error.

    Examples
    --------
    >>> from committal.config import Bandit, Constant, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.5), Constant(-1), steps=50)
    >>> *_, last = counted(
    ...     exp, key=0, below=0.5, most=1000, threads=1, still_wanted=lambda: None
    ... )
    >>> last["runs"], last["done"], last["low"] < last["rate"] < last["high"]
    (1000, True, True)
    """
    most_times = MAZE_TIMES if bounds.is_maze(experiment) else TIMES
    times = bounds.times_of(experiment.steps, most_times)
    record = Record("value", at=times, reduce=Reduce(below=below))
    engine = Engine(experiment.replace(record=record))
    start, total, done, piece, said = time.monotonic(), engine.merge([]), 0, 64, 0

    def report(_: Any) -> None:
        still_wanted()

    while done < most:
        pause()
        report(0)
        piece = min(piece, most - done)
        before = time.monotonic()
        found = engine.compute(key=key, first_run=done, runs=piece, threads=threads, report=report)
        took = time.monotonic() - before
        total = engine.merge([total, found])
        done += piece
        # Whole blocks of 64 runs; grow slowly, for the first piece is no fair sample of time.
        ideal = piece * PIECE / max(took, 1e-6)
        piece = 64 * max(1, int(min(ideal, 4.0 * piece)) // 64)
        seconds = time.monotonic() - start
        if seconds > bounds.COUNT_SECONDS:
            most = done
        if done >= min(GROWTH * said, most):
            said = done
            yield _known(engine, total, done, below, most) | {"seconds": seconds}


def _known(engine: Engine, total: Any, runs: int, below: float, most: int) -> dict[str, Any]:
    failures = engine.failures(total, below)
    assert failures is not None
    low, high = proportion_interval(failures, runs)
    always_low, always_high = proportion_interval(failures, runs, method="sequential")
    variables, _ = engine.variables(total, runs=runs)
    mean, sem = (np.asarray(variables[name][1], float) for name in ("value_mean", "value_sem"))
    return {
        "runs": runs,
        "failures": failures,
        "rate": failures / runs,
        "low": float(low),
        "high": float(high),
        "always_low": float(always_low),
        "always_high": float(always_high),
        "below": below,
        "times": list(map(int, engine.plan.times)),
        "mean": [round(x, 9) for x in mean.tolist()],
        "sem": [round(x, 9) if math.isfinite(x) else 0.0 for x in sem.tolist()],
        "done": runs >= most,
    }
