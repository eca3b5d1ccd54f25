"""Which runs of which configuration a chunk holds, and what a store holds of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from committal.errors import StoreWarning
from committal.support.provenance import STREAM_VERSION

#: The directory of the chunks in a store.
CHUNKS = "chunks"

_NAME = re.compile(r"(\d{6,})-(\d{12,})-(\d{12,})\.chunk")


class Place(NamedTuple):
    """Which runs of which configuration a chunk holds: [first, stop).

    Examples
    --------
    >>> Place(12, 4096, 8192).name
    '000012-000000004096-000000008192.chunk'
    """

    configuration: int
    first: int
    stop: int

    @property
    def runs(self) -> int:
        """How many runs it holds."""
        return self.stop - self.first

    def within(self, runs: Sequence[int], chunk: int) -> bool:
        """Say whether it is a piece of so many runs of each configuration, cut into chunks.

        A piece may end early: it was the last one when there were fewer runs.

        Examples
        --------
        >>> Place(0, 4, 8).within([10], 4), Place(0, 8, 9).within([10], 4)
        (True, True)
        >>> Place(0, 8, 12).within([10], 4), Place(0, 4, 8).within([10], 5)
        (False, False)
        """
        return (
            self.configuration < len(runs)
            and self.first % chunk == 0
            and self.stop <= min(self.first + chunk, runs[self.configuration])
        )

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.configuration:06d}-{self.first:012d}-{self.stop:012d}.chunk"

    @property
    def file(self) -> str:
        """Its file in the store."""
        return f"{CHUNKS}/{self.name}"

    def about(self, study_hash: str, experiment_hash: str) -> dict[str, Any]:
        """Return what a chunk says about itself.

        Examples
        --------
        >>> Place(0, 0, 10).about("ab", "cd")["runs"]
        10
        """
        return {
            "study": study_hash,
            "configuration": self.configuration,
            "experiment": experiment_hash,
            "first_run": self.first,
            "runs": self.runs,
            "stream_version": STREAM_VERSION,
        }


def place_of(name: str) -> Place | None:
    """Read the name of a chunk's file; None if it is not one.

    Examples
    --------
    >>> place_of("000012-000000004096-000000008192.chunk")
    Place(configuration=12, first=4096, stop=8192)
    >>> place_of("notes.txt") is None
    True
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    place = Place(*map(int, match.groups()))
    return place if place.runs > 0 and place.name == name else None


@dataclass(slots=True)
class Inventory:
    """What a store holds.

    Attributes
    ----------
    chunks : set of Place
        Chunks that can be used.
    damaged : dict
        Why a chunk cannot be used, by the name of its file.
    foreign : list of str
        Files that do not belong here.
    strays : list of str
        Chunks of this study that can be used, but are outside of what is wanted.
    """

    chunks: set[Place] = field(default_factory=set)
    damaged: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)

    def find_strays(self, configurations: int, runs: int, chunk: int) -> None:
        """Note the usable chunks that no study of this size, cut like this, has.

        Examples
        --------
        >>> found = Inventory({Place(0, 0, 4), Place(0, 4, 6), Place(0, 3, 6), Place(1, 0, 4)})
        >>> found.find_strays(1, 10, 4)
        >>> [name[-13:] for name in found.strays]
        ['0000006.chunk', '0000004.chunk']
        """
        stops = [runs] * configurations
        self.strays = [p.file for p in sorted(self.chunks) if not p.within(stops, chunk)]

    def complaints(self) -> str:
        """Say what is wrong, in one sentence; nothing if nothing is.

        Examples
        --------
        >>> Inventory(damaged={"1.chunk": "it is truncated"}).complaints()
        '1.chunk: it is truncated'
        """
        lines = [f"{name}: {why}" for name, why in sorted(self.damaged.items())]
        lines += [f"{name}: it does not belong here" for name in sorted(self.foreign)]
        lines += [f"{name}: it is outside of what is wanted" for name in self.strays]
        more = f"; and {len(lines) - 5} more" if len(lines) > 5 else ""
        return "; ".join(lines[:5]) + more

    def warn(self, store: Path, consequence: str) -> None:
        """Warn the caller of the caller about what is wrong, if something is."""
        complaints = self.complaints()
        if complaints:
            warnings.warn(f"{store}: {complaints} ({consequence})", StoreWarning, stacklevel=3)
