"""Which runs of which configuration a chunk holds, and what a store holds of them."""

from __future__ import annotations

import re
import warnings
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
    """

    chunks: set[Place] = field(default_factory=set)
    damaged: dict[str, str] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)

    def complaints(self) -> str:
        """Say what is wrong, in one sentence; nothing if nothing is.

        Examples
        --------
        >>> Inventory(damaged={"1.chunk": "it is truncated"}).complaints()
        '1.chunk: it is truncated'
        """
        lines = [f"{name}: {why}" for name, why in sorted(self.damaged.items())]
        lines += [f"{name}: it does not belong here" for name in sorted(self.foreign)]
        more = f"; and {len(lines) - 5} more" if len(lines) > 5 else ""
        return "; ".join(lines[:5]) + more

    def warn(self, store: Path, consequence: str) -> None:
        """Warn the caller of the caller about what is wrong, if something is."""
        complaints = self.complaints()
        if complaints:
            warnings.warn(f"{store}: {complaints} ({consequence})", StoreWarning, stacklevel=3)
