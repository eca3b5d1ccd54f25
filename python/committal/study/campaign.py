"""From missing chunks to kept ones: hand out, collect, write, and keep up when workers die."""

from __future__ import annotations

import functools
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import Any

from committal.config.grid import Grid
from committal.config.precision import Precision
from committal.errors import DivergenceError
from committal.simulation.run import Progress
from committal.study.flight import InFlight
from committal.study.keeping import POLL_SECONDS, Keeper, Writer
from committal.study.local import LocalThreads
from committal.study.rounds import Rounds
from committal.study.store.place import Place
from committal.study.tasks import Engines, Task, compute_chunk
from committal.support.progress import LINE_SECONDS, Bar

#: What happens to a study, for who wants to know: ``logging.getLogger("committal")``.
LOG = logging.getLogger("committal.study")

#: Chunks in flight on an executor: enough for a large cluster, as long as they are small.
_MOST_IN_FLIGHT = 1024
_BYTES_IN_FLIGHT = 256 * 2**20


def in_turns(missing: Sequence[Sequence[Place]]) -> Iterator[Place]:
    """Visit all configurations in turns: one chunk of each, one more, then 2, 4, 8, …

    So a coarse map of all of them is there early, and yet whoever computes can stay with one for
    a while and need not prepare it again for every chunk.

    Examples
    --------
    >>> one, other = [Place(0, i, i + 1) for i in range(5)], [Place(1, 0, 1)]
    >>> [(place.configuration, place.first) for place in in_turns([one, other])]
    [(0, 0), (1, 0), (0, 1), (0, 2), (0, 3), (0, 4)]
    """
    start, stop, longest = 0, 1, max(map(len, missing), default=0)
    while start < longest:
        for places in missing:
            yield from places[start:stop]
        start, stop = stop, 2 * stop


class Campaign:
    """The work of one call of :meth:`committal.Study.run`.

    Parameters
    ----------
    grid : Grid
        The configurations.
    study_hash : str
        Of the study, as chunks say it.
    key_of : callable
        From the number of a configuration to the key of its random streams.
    engines : Engines
        Of the configurations.
    keeper : Keeper
        Where chunks go.
    runs, chunk : int
        Of each configuration, and in a chunk.
    until : Precision, optional
        When to stop.
    """

    def __init__(
        self,
        grid: Grid,
        study_hash: str,
        key_of: Callable[[int], int],
        engines: Engines,
        keeper: Keeper,
        *,
        runs: int,
        chunk: int,
        until: Precision | None,
    ) -> None:
        self._grid = grid
        self._experiments = grid.experiments
        self._hash = study_hash
        self._key_of = key_of
        self._engines = engines
        self._keeper = keeper
        self._chunk = chunk
        self._until = until
        self.inventory = keeper.inventory(verify=True)
        # Chunks that a longer one will replace when a store is extended.
        self._shorter: dict[tuple[int, int], list[Place]] = {}
        for place in self.inventory.chunks:
            self._shorter.setdefault((place.configuration, place.first), []).append(place)
        self._rounds = [Rounds(i, engines, runs, chunk, until) for i in range(len(grid))]
        self._total = self._done = 0

    def run(self, executor: Executor | None, threads: int, progress: bool | Progress) -> None:
        """Compute what is missing.

        Parameters
        ----------
        executor : concurrent.futures.Executor, optional
            Who computes; threads of this process by default.
        threads : int
            Threads of this process, or of every task of the executor.
        progress : bool or callable
            See :meth:`committal.Study.run`.
        """
        waiting: deque[Place] = deque()
        missing = [r.begin(self.inventory.chunks, self._keeper.read) for r in self._rounds]
        self._expect(waiting, in_turns(missing))
        there = len(self.inventory.chunks)
        LOG.info("%s: %d chunks are there, %d are missing", self._hash[:12], there, len(waiting))
        if not waiting:
            return
        if not self._keeper.alone:
            waiting.reverse()  # somebody else began at the other end: meet in the middle
        with ExitStack() as stack:
            bar = None
            if progress is True:
                bar = stack.enter_context(Bar("study", every=LINE_SECONDS))
            report: Progress | None = bar or (progress if callable(progress) else None)
            writer = stack.enter_context(Writer(self._keep))
            local = None
            flight: InFlight[Task, Any]
            if executor is None:
                local = LocalThreads(threads=threads, tasks=len(waiting))
                pool = stack.enter_context(local.executor())
                work, window = self._local_work(local), 2 * local.workers
                flight = InFlight(pool, work, window=window, named=self._named)
            else:
                flight = InFlight(executor, compute_chunk, window=self._window(), named=self._named)
            try:
                self._loop(waiting, flight, writer, threads, local, report)
            except BaseException:
                # Whatever went wrong, what is finished stays finished.
                for task, data in flight.drain():
                    writer.put(task.place, data)
                LOG.info("%s: stopped; what is finished is kept", self._hash[:12])
                raise
        LOG.info("%s: all chunks are there", self._hash[:12])

    def _named(self, task: Task, error: Exception) -> None:
        """Add the point of the grid to an error: whoever computes a chunk does not know it."""
        if isinstance(error, DivergenceError):
            error.point = dict(self._grid.labels(task.place.configuration))

    def _loop(
        self,
        waiting: deque[Place],
        flight: InFlight[Task, Any],
        writer: Writer,
        threads: int,
        local: LocalThreads | None,
        report: Progress | None,
    ) -> None:
        def expect(more: list[Place]) -> None:
            self._expect(waiting, more)
            if local:
                local.expect(len(more))

        while waiting or len(flight) or len(writer):
            while waiting and flight.has_room:
                place = waiting.popleft()
                if self._came_from_elsewhere(place):
                    self._total -= self._updates(place)
                    if local:
                        local.expect(-1)
                    expect(self._arrived(place))
                else:
                    # This process has the engines already; others are told in words.
                    text = "" if local else self._text(place.configuration)
                    key = self._key_of(place.configuration)
                    flight.submit(Task(self._hash, place, text, key, threads))
            for task, data in flight.collect(POLL_SECONDS) if len(flight) else ():
                writer.put(task.place, data)
                self._done += self._updates(task.place)
            for place in writer.written(patient=not len(flight)):
                LOG.debug("%s: %s is kept", self._hash[:12], place.name)
                expect(self._arrived(place))
            if report is not None:
                under_way = local.updates_under_way if local else 0
                report(min(self._done + under_way, self._total), self._total)

    def _expect(self, waiting: deque[Place], more: Iterable[Place]) -> None:
        for place in more:
            waiting.append(place)
            self._total += self._updates(place)

    def _updates(self, place: Place) -> int:
        return place.runs * self._experiments[place.configuration].steps

    def _arrived(self, place: Place) -> list[Place]:
        rounds = self._rounds[place.configuration]
        return rounds.arrived(place, self.inventory.chunks, self._keeper.read)

    def _came_from_elsewhere(self, place: Place) -> bool:
        """Say whether another process has written a chunk since we looked."""
        return place.file not in self.inventory.damaged and self._keeper.has(place)

    def _keep(self, place: Place, data: Any) -> None:
        self._keeper.write(place, data)
        for old in self._shorter.pop((place.configuration, place.first), ()):
            if old != place:
                self._keeper.remove(old)

    @functools.lru_cache(maxsize=256)  # noqa: B019  # it lives as long as the campaign
    def _text(self, index: int) -> str:
        return self._experiments[index].to_json(indent=None)

    def _local_work(self, local: LocalThreads) -> Callable[[Task], Any]:
        def work(task: Task) -> Any:
            threads = local.begin()
            try:
                engine = self._engines(task.place.configuration)
                arrays = task.arrays(engine, threads, local.report)
                return self._keeper.packed(task.place, engine.experiment.hash, arrays)
            finally:
                local.finished()

        return work

    def _window(self) -> int:
        size = max(self._engines(0).nbytes(self._chunk), 1)
        return max(16, min(_MOST_IN_FLIGHT, _BYTES_IN_FLIGHT // size))

    # -- what came of it --------------------------------------------------------------------------

    def places(self) -> set[Place]:
        """Return the chunks that make up the result."""
        return {place for rounds in self._rounds for place in rounds.places()}

    def outcome(self) -> dict[str, Any] | None:
        """Return where every configuration stopped; None if precision did not decide."""
        if self._until is None:
            return None
        outcomes = [rounds.outcome() for rounds in self._rounds]
        return {
            "until": self._until.to_dict(),
            **{name: [each[name] for each in outcomes] for name in outcomes[0]},
        }
