"""The one way in which everything here is timed.

Contestants take turns, several rounds, and the best time of each counts: whatever disturbs the
machine disturbs all of them, and a minimum is what the code can do. A ratio is that of the best
times; beside it stand the lowest and the highest ratio of two times of one round.

On a machine that others keep busy, wall-clock time says more about them. There the processor's time
can be taken, of all threads together and divided by their number: what would pass on the wall if
nobody else were there and no thread ever waited.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STANDARD_ERRORS = 5  # between two means that agree


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who does the work, and how much of it one call does."""

    work: Callable[[], Floats | None]  # one number per run, or None if it answers nothing
    units: float  # updates, solves or calls: what a time is divided by
    threads: int = 1
    timed: bool = True  # False: `work` measures itself and returns the seconds


@dataclass(slots=True)
class Times:
    """Seconds per unit, one for each round."""

    rounds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.rounds)

    @property
    def spread(self) -> float:
        """How far the median lies above the best, relative to it."""
        return float(np.median(self.rounds)) / self.best - 1.0


@dataclass(frozen=True, slots=True)
class Ratio:
    """Of two contestants' times: that of the best, and the range over the rounds."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, above: Times, below: Times) -> Ratio:
        each = [a / b for a, b in zip(above.rounds, below.rounds, strict=True)]
        return cls(above.best / below.best, min(each), max(each))


def once(contestant: Contestant, *, cpu: bool) -> float:
    """Seconds per unit of one call, on the wall or of the processor."""
    start, busy = time.perf_counter(), time.process_time()
    answer = contestant.work()
    seconds = time.perf_counter() - start
    if cpu:
        seconds = (time.process_time() - busy) / contestant.threads
    if not contestant.timed:
        assert answer is not None
        seconds = float(answer[0])
    return seconds / contestant.units


def take_turns(
    contestants: Mapping[str, Contestant], rounds: int, *, cpu: bool = False
) -> dict[str, Times]:
    """Time the contestants one after the other, several times over."""
    times = {name: Times() for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            times[name].rounds.append(once(contestant, cpu=cpu))
    return times


def disagreements(contestants: Mapping[str, Contestant]) -> list[str]:
    """Run everybody once, which also compiles what must be; name those whose mean differs.

    The first that answers is what the others are compared with, within so many standard errors of
    the difference of two means of independent runs.
    """
    answers = {}
    for name, contestant in contestants.items():
        answer = contestant.work()
        if contestant.timed and answer is not None:
            answers[name] = answer
    found = []
    first = next(iter(answers.values()), None)
    for name, answer in answers.items():
        assert first is not None
        error = np.sqrt(first.var() / len(first) + answer.var() / len(answer))
        if not abs(first.mean() - answer.mean()) <= STANDARD_ERRORS * error + 1e-9:
            found.append(f"{name}: {answer.mean():.6g} instead of {first.mean():.6g}")
    return found
