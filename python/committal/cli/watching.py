"""``committal info --watch``: how far the configurations of a store are, while others write it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from committal.cli.options import print_json
from committal.config.grid import Grid
from committal.study.opening import stored_study
from committal.study.store.outcome import read_outcome
from committal.study.store.place import CHUNKS, Place, place_of
from committal.study.store.store import Store
from committal.support import text

#: Speeds are those of the chunks that were written last, within so many seconds of each other.
_RECENT_SECONDS = 600.0
_MOST_ROWS = 24


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a configuration is.

    Attributes
    ----------
    index : int
        The configuration.
    labels : str
        Its place in the grid.
    runs, wanted : int
        Runs that are there, and that there are to be; at most so many if precision decides.
    written : float or None
        When its last chunk was written, in seconds since 1970.
    left : float or None
        Seconds until it is done at the speed of its last chunks; None if that is not known.
    """

    index: int
    labels: str
    runs: int
    wanted: int
    written: float | None
    left: float | None


def progress(directory: Path) -> list[Progress]:
    """Say how far every configuration is, from the names and dates of the files."""
    kept = Store.open(directory)
    study = stored_study(kept)
    outcome, _ = read_outcome(kept, len(study))
    wanted = [study.runs] * len(study) if outcome is None else outcome["runs"]
    dates: list[dict[Place, float]] = [{} for _ in range(len(study))]
    for place, date in _dated(directory / CHUNKS):
        if place.within(wanted, kept.manifest["chunk"]):
            dates[place.configuration][place] = date
    return [_one(study.grid, i, dates[i], wanted[i]) for i in range(len(study))]


def _dated(directory: Path) -> Iterator[tuple[Place, float]]:
    with os.scandir(directory) as files:
        for file in files:
            place = place_of(file.name)
            if place is not None:
                try:
                    yield place, file.stat().st_mtime
                except FileNotFoundError:
                    continue  # a longer one has replaced it


def _one(grid: Grid, index: int, dates: dict[Place, float], wanted: int) -> Progress:
    longest = {place.first: place for place in sorted(dates)}
    runs = sum(place.runs for place in longest.values())
    newest = max(dates.values(), default=None)
    left = 0.0 if runs >= wanted else None
    if left is None and newest is not None:
        recent = sorted((d, p.runs) for p, d in dates.items() if newest - d < _RECENT_SECONDS)
        seconds = newest - recent[0][0]
        if seconds > 0:
            left = (wanted - runs) * seconds / sum(count for _, count in recent[1:])
    return Progress(index, grid.describe(index), runs, wanted, newest, left)


def table(found: list[Progress], now: float) -> str:
    """Write how far they are, those that are not done first.

    Examples
    --------
    >>> print(table([Progress(0, "steps = 10", 50, 100, 990.0, 30.0)], 1000.0))
    0 of 1 configurations done, 50 of 100 runs; about 30.0 s left
      #  configuration  runs   of  done     written    left
      0  steps = 10       50  100  50 %  10.0 s ago  30.0 s
    """
    rows = [["#", "configuration", "runs", "of", "done", "written", "left"]]
    open_ones = [one for one in found if one.runs < one.wanted]
    for one in open_ones[:_MOST_ROWS]:
        rows.append(
            [
                str(one.index),
                one.labels or "-",
                text.grouped(one.runs),
                text.grouped(one.wanted),
                f"{100 * one.runs // max(one.wanted, 1)} %",
                "-" if one.written is None else f"{text.duration(max(now - one.written, 0))} ago",
                "-" if one.left is None else text.duration(one.left),
            ]
        )
    runs, wanted = sum(one.runs for one in found), sum(one.wanted for one in found)
    lefts = [one.left for one in open_ones if one.left is not None]
    head = (
        f"{len(found) - len(open_ones)} of {text.grouped(len(found))} configurations done, "
        f"{text.grouped(runs)} of {text.many(wanted, 'run')}"
    )
    lines = [head + (f"; about {text.duration(max(lefts))} left" if lefts else "")]
    if open_ones:
        lines += text.columns(rows, align="><>")
    if len(open_ones) > _MOST_ROWS:
        lines.append(f"  … and {len(open_ones) - _MOST_ROWS} more")
    return "\n".join(lines)


def watch(directory: Path, *, every: float, as_json: bool) -> None:
    """Show how far a store is until it is complete.

    On a terminal the picture is drawn again and again; elsewhere there is one after the other,
    with JSON one object to a line.
    """
    while True:
        found = progress(directory)
        done = all(one.runs >= one.wanted for one in found)
        if as_json:
            print_json(_plain(found), indent=None)
        else:
            clear = "\x1b[H\x1b[J" if sys.stdout.isatty() else ""
            typer.echo(clear + table(found, time.time()))
        if done:
            return
        time.sleep(every)


def _plain(found: list[Progress]) -> dict[str, Any]:
    return {"time": time.time(), "configurations": [asdict(one) for one in found]}
