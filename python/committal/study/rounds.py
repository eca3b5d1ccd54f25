"""How many runs a configuration gets: all at once, or round by round until they suffice.

Every decision is a function of the numbers of the runs before it, taken in their order, never of
who finished first: so the chunks of a study do not depend on who computed them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Set
from typing import Any

from committal.config.precision import FAILURE, Precision
from committal.errors import ConfigError
from committal.inference.sequences import mean_sequence, rate_sequence
from committal.simulation.engine import Arrays, Engine
from committal.study.store.place import Place

#: Where precision decides, all runs of a configuration are looked at this often at most.
LOOKS = 64

Read = Callable[[Place], Arrays]


def places(configuration: int, start: int, stop: int, chunk: int) -> Iterator[Place]:
    """Cut runs into chunks: all of the same length, except for the last one.

    Examples
    --------
    >>> [(place.first, place.stop) for place in places(0, 0, 10, 4)]
    [(0, 4), (4, 8), (8, 10)]
    """
    for first in range(start, stop, chunk):
        yield Place(configuration, first, min(first + chunk, stop))


class Rounds:
    """The rounds of one configuration.

    Parameters
    ----------
    index : int
        The configuration.
    engine : callable
        From the number of a configuration to its engine.
    runs, chunk : int
        How many runs at most, and how many in a chunk.
    until : Precision, optional
        When to stop; without it all runs are one round.
    """

    def __init__(
        self,
        index: int,
        engine: Callable[[int], Engine],
        runs: int,
        chunk: int,
        until: Precision | None,
    ) -> None:
        self.index = index
        #: How many runs were asked for so far.
        self.target = runs if until is None else min(chunk, runs)
        self.estimate, self.low, self.high = math.nan, 0.0, 1.0
        self.reached = False
        self._engine = engine
        self._runs = runs
        self._chunk = chunk
        self._until = until
        self._missing: set[Place] = set()
        self._sums: dict[int, tuple[int, float, float]] = {}

    def places(self) -> Iterator[Place]:
        """Yield all chunks that were asked for."""
        return places(self.index, 0, self.target, self._chunk)

    def begin(self, there: Set[Place], read: Read) -> list[Place]:
        """Return the chunks of the first round that are missing.

        Parameters
        ----------
        there : set of Place
            Chunks that exist.
        read : callable
            From a place to its arrays.
        """
        return self._ask(0, there, read)

    def arrived(self, place: Place, there: Set[Place], read: Read) -> list[Place]:
        """Take note of a chunk; return the next round if it was the last one of this."""
        self._missing.discard(place)
        if self._until is None:
            return []
        self._note(place, read)
        return [] if self._missing else self._decide(there, read)

    def outcome(self) -> dict[str, Any]:
        """Return where it stopped, in what JSON can hold."""
        return {
            "runs": self.target,
            "estimate": None if math.isnan(self.estimate) else self.estimate,
            "low": self.low,
            "high": self.high,
            "reached": int(self.reached),
        }

    def _ask(self, start: int, there: Set[Place], read: Read) -> list[Place]:
        asked = list(places(self.index, start, self.target, self._chunk))
        missing = [place for place in asked if place not in there]
        self._missing = set(missing)
        if self._until is not None:
            for place in asked:
                if place in there:
                    self._note(place, read)
            if not missing:
                return self._decide(there, read)
        return missing

    def _note(self, place: Place, read: Read) -> None:
        until, engine, arrays = self._until, self._engine(self.index), read(place)
        assert until is not None
        if until.quantity == FAILURE:
            assert until.below is not None
            failures = engine.failures(arrays, until.below)
            assert failures is not None
            self._sums[place.first] = (place.runs, float(failures), 0.0)
        else:
            sums = engine.last_sums(arrays, until.quantity)
            assert sums is not None
            self._sums[place.first] = (place.runs, *sums)

    def _decide(self, there: Set[Place], read: Read) -> list[Place]:
        """Stop, or ask for more runs."""
        until = self._until
        assert until is not None
        self._look(until)
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

    def _look(self, until: Precision) -> None:
        counts, firsts, seconds = zip(*(self._sums[i] for i in sorted(self._sums)), strict=True)
        if until.quantity == FAILURE:
            n, k = sum(counts), sum(firsts)
            low, high = rate_sequence(k, n, until.confidence)
            self.estimate, self.low, self.high = k / n, float(low), float(high)
            return
        bounds = _bounds(self._engine(self.index), until.quantity)
        assert bounds is not None
        self.estimate, self.low, self.high = mean_sequence(
            counts,
            firsts,
            seconds,
            bounds,
            until.confidence,
            half_width=None if until.relative else until.half_width,
        )


def _bounds(engine: Engine, name: str) -> tuple[float, float] | None:
    reduce = engine.experiment.record.reduce
    given = None if reduce is None else reduce.given_range(name)
    return engine.experiment.problem.range_of(name) or given


def checked_until(
    until: Precision, engine: Callable[[int], Engine], configurations: int
) -> Precision:
    """Check that the recorded quantities tell what is asked for; fill in what failure means."""
    first = engine(0)
    record = first.experiment.record
    nothing = first.merge([])
    if until.quantity == FAILURE:
        if record.reduce is not None and record.reduce.below is None:
            raise ConfigError(
                "until", until, "failures to be counted: Record('value', reduce=Reduce(below=...))"
            )
        known = None if record.reduce is None else record.reduce.below
        below = known if until.below is None else until.below
        if below is None:
            raise ConfigError("until.below", None, "a number: a run failed if its value is less")
        if first.failures(nothing, below) is None:
            instead = f"{known}, as in the record" if known is not None else "Record('value')"
            raise ConfigError("until.below", below, instead)
        return until.replace(below=below)
    if first.last_sums(nothing, until.quantity) is None:
        raise ConfigError(
            "until.quantity",
            until.quantity,
            f"'failure' or a recorded quantity with one number per time, of {record.names}",
        )
    for index in range(configurations):
        if _bounds(engine(index), until.quantity) is None:
            raise ConfigError(
                "until.quantity",
                until.quantity,
                "a quantity with known bounds, such as 'value', or "
                "Reduce(bins=..., range={name: (lo, hi)})",
            )
    return until
