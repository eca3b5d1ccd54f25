"""Where finished chunks are kept: in memory as arrays, or on disk as bytes.

A chunk becomes bytes only where it must: on its way to a disk, or between processes. What this
process computes and keeps in memory is never encoded.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, Self

from committal.simulation.engine import Arrays
from committal.study.store import chunks as chunkfile
from committal.study.store.place import Inventory, Place

#: How long to wait before looking after other things.
POLL_SECONDS = 0.1

#: A disk takes its time to say that something is written, but can do so for several at once.
_WRITERS = 4
_MOST_UNWRITTEN = 16


class Keeper(Protocol):
    """Where chunks are kept: :class:`Memory`, or :class:`committal.study.store.store.Store`."""

    alone: bool

    def inventory(self, *, verify: bool = False) -> Inventory:
        """Say what is there."""
        ...

    def has(self, place: Place) -> bool:
        """Say whether a chunk is there."""
        ...

    def read(self, place: Place) -> Arrays:
        """Return the arrays of a chunk."""
        ...

    def packed(self, place: Place, experiment_hash: str, arrays: Arrays) -> Any:
        """Return the form of a chunk of this process that `write` takes."""
        ...

    def write(self, place: Place, data: Any) -> None:
        """Keep a chunk: what `packed` made, or the bytes that another process sent."""
        ...

    def remove(self, place: Place) -> None:
        """Forget a chunk."""
        ...


class Memory:
    """Keeps chunks like a store, but not for long.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.has(Place(0, 0, 10))
    False
    """

    def __init__(self) -> None:
        self._kept: dict[Place, Arrays] = {}
        self.alone = True

    def inventory(self, *, verify: bool = False) -> Inventory:
        """Say what is there."""
        return Inventory(set(self._kept))

    def has(self, place: Place) -> bool:
        """Say whether a chunk is there."""
        return place in self._kept

    def read(self, place: Place) -> Arrays:
        """Return the arrays of a chunk."""
        return self._kept[place]

    def packed(self, place: Place, experiment_hash: str, arrays: Arrays) -> Arrays:
        """Return the arrays as they are."""
        return arrays

    def write(self, place: Place, data: Arrays | bytes) -> None:
        """Keep a chunk; one that comes from another process is decoded once, here."""
        if isinstance(data, bytes):
            _, data = chunkfile.decode(data, verify=False)
        self._kept[place] = data

    def remove(self, place: Place) -> None:
        """Forget a chunk."""
        self._kept.pop(place, None)


class Writer:
    """Writes chunks while others are computed, several at a time.

    Parameters
    ----------
    write : callable
        Takes a place and the form of a chunk that a keeper takes.
    """

    def __init__(self, write: Callable[[Place, Any], None]) -> None:
        self._write = write
        self._pool = ThreadPoolExecutor(_WRITERS, thread_name_prefix="committal-write")
        self._under_way: dict[Future[None], Place] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    def put(self, place: Place, data: Any) -> None:
        """Write a chunk some time soon."""
        self._under_way[self._pool.submit(self._write, place, data)] = place

    def written(self, *, patient: bool) -> list[Place]:
        """Return what was written since the last call.

        If too much is waiting to be written, or if there is nothing else to do, wait for some.
        """
        must_wait = patient or len(self._under_way) > _MOST_UNWRITTEN
        done, _ = wait(self._under_way, POLL_SECONDS if must_wait else 0, FIRST_COMPLETED)
        places = []
        for future in done:
            place = self._under_way.pop(future)
            future.result()
            places.append(place)
        return places

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(wait=True)
