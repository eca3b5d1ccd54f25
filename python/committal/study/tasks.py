"""One chunk: what must be known to compute it, here or in another process.

A chunk is some runs of one configuration. It is a pure function of the study, the configuration
and the numbers of its runs, and so are its bytes; who computes it and when does not matter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from committal.config import Experiment
from committal.config.grid import Grid
from committal.simulation.engine import Arrays, Engine
from committal.study.store import chunks as chunkfile
from committal.study.store.place import Place


@dataclass(frozen=True, slots=True)
class Task:
    """All that another process needs to know to compute a chunk, in plain values.

    Attributes
    ----------
    study : str
        Hash of the study.
    place : Place
        Which chunk.
    experiment : str
        The experiment, in JSON.
    key : int
        Key of the random streams.
    threads : int
        How many threads may compute it.
    """

    study: str
    place: Place
    experiment: str
    key: int
    threads: int

    def arrays(
        self,
        engine: Engine,
        threads: int | None = None,
        report: Callable[[int], None] | None = None,
    ) -> Arrays:
        """Compute the chunk where its engine is at hand."""
        return engine.compute(
            key=self.key,
            first_run=self.place.first,
            runs=self.place.runs,
            threads=self.threads if threads is None else threads,
            report=report,
        )


def compute_chunk(task: Task) -> bytes:
    """Compute the bytes of a chunk, anywhere: arrays do not cross the border of a process."""
    engine = _engine_from(task.experiment)
    about = task.place.about(task.study, engine.experiment.hash)
    return chunkfile.encode(about, task.arrays(engine))


@functools.lru_cache(maxsize=16)
def _engine_from(text: str) -> Engine:
    return Engine(Experiment.from_json(text))


class Engines:
    """The engine of every configuration of a grid, the last ones remembered.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> Engines(Grid(base, {"steps": [10, 20]}))(1).plan.steps
    20
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._made: Callable[[int], Engine] = functools.lru_cache(maxsize=256)(self._make)

    def _make(self, index: int) -> Engine:
        return Engine(self._grid.experiments[index])

    def __call__(self, index: int) -> Engine:
        return self._made(index)

    def __reduce__(self) -> tuple[type[Engines], tuple[Grid]]:
        return type(self), (self._grid,)  # engines are made again where they are needed
