"""A directory of chunks that survives whatever happens to the process that writes it.

::

    results/
      manifest.json      what study this is, and how it is cut
      outcome.json       of studies that stop when precise enough: where each of them stopped
      chunks/000012-000000004096-000000008192.chunk
                         configuration, first run and end of the runs
      lock               empty; locked while somebody writes

A chunk is a pure function of the study, the configuration and the range of runs, so that it does
not matter who computes it, or how often. It is written to a temporary file, flushed to the disk
and renamed: it is there whole or not at all, and two processes that write the same one write the
same bytes. What does not check out is left out and can be computed again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from committal.errors import StoreError
from committal.study.store import chunks as chunkfile
from committal.study.store.chunks import Arrays, ChunkError
from committal.study.store.damage import RESUME, explained, read_text
from committal.study.store.manifest import MANIFEST, Manifest, agreed, read_manifest
from committal.study.store.place import CHUNKS, Inventory, Place, place_of
from committal.support.files import (
    is_leftover,
    is_temporary,
    open_ordinary,
    path_of,
    read_whole,
    sync_directory,
    temporary_name,
    write_whole,
)
from committal.support.notation import NotationError, sealed, unsealed

LOCK = "lock"

_SYNC_SECONDS = 1.0


class Store:
    """A store on disk.

    Parameters
    ----------
    path : path
        The directory; see :meth:`open` and :meth:`prepare`.
    manifest : dict
        What is written, or was read, there.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = dict(manifest)
        self._lock: int | None = None
        self._synced_at = 0.0
        self._syncing = threading.Lock()
        #: Whether nobody else was writing when the lock was taken.
        self.alone = True

    def __reduce__(self) -> tuple[type[Store], tuple[Path, Manifest]]:
        # Another process may read what this one reads; the lock stays here.
        return type(self), (self.path.absolute(), self.manifest)

    # -- opening ----------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open an existing store for reading.

        Raises
        ------
        StoreError
            If there is none, if it is damaged, or if this package cannot read it.
        """
        directory = path_of("store", path)
        return cls(directory, read_manifest(directory))

    @classmethod
    def prepare(cls, path: str | os.PathLike[str], manifest: Manifest) -> Store:
        """Open a store for writing; make it if it is not there.

        Parameters
        ----------
        path : path
            A store of the same study, or a directory that is empty or does not exist.
        manifest : dict
            See :func:`~committal.study.store.manifest.manifest_of`. An existing store keeps its
            own ``chunk``.

        Raises
        ------
        StoreError
            If it holds another study, another stream version or more runs; if it cannot be
            written to.
        """
        directory = path_of("store", path)
        with explained(directory):
            directory.mkdir(parents=True, exist_ok=True)
            if not (directory / MANIFEST).exists():
                _refuse_strangers(directory)
        store = cls(directory, manifest)
        with explained(directory):
            (directory / CHUNKS).mkdir(exist_ok=True)
            store._take_lock()
        try:
            store._agree()
        except BaseException:
            store.close()
            raise
        return store

    def _agree(self) -> None:
        """Write the manifest, or make sure that the one that is there is of the same study."""
        if not (self.path / MANIFEST).exists() and self._create_manifest():
            return
        found = read_manifest(self.path)
        both = agreed(found, self.manifest, self.path)
        if both != found:
            self.write_sealed(MANIFEST, both)
        self.manifest = both

    def _create_manifest(self) -> bool:
        """Write the first manifest; False if another process was faster."""
        whole = temporary_name()
        self.write_sealed(whole, self.manifest)
        with explained(self.path):
            try:
                os.link(self.path / whole, self.path / MANIFEST)
            except FileExistsError:
                return False
            except OSError:
                # Not every file system has links; then the last of two writers wins.
                os.rename(self.path / whole, self.path / MANIFEST)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.path / whole)
            sync_directory(self.path)
        return True

    def _take_lock(self) -> None:
        """Say that somebody writes here; clear up if nobody else does."""
        try:
            import fcntl
        except ImportError:  # pragma: no cover
            return  # without locks leftovers of killed processes stay, which harms nobody
        lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.alone = error.errno not in (errno.EAGAIN, errno.EACCES)
        else:
            self._remove_leftovers()
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self._lock = lock

    def _remove_leftovers(self) -> None:
        for directory in (self.path, self.path / CHUNKS):
            for name in os.listdir(directory):
                if is_leftover(directory / name):
                    with contextlib.suppress(OSError):
                        os.unlink(directory / name)

    def close(self) -> None:
        """Stop writing."""
        if self._synced_at:
            self._sync_chunks()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- chunks -----------------------------------------------------------------------------------

    def inventory(self, *, verify: bool = False) -> Inventory:
        """Look at every chunk.

        Parameters
        ----------
        verify : bool, optional
            Read all of every chunk and compare checksums; otherwise only headers and lengths.
        """
        found = Inventory()
        with explained(self.path):
            names = sorted(os.listdir(self.path / CHUNKS))
        for name in names:
            if is_temporary(name):
                continue
            place = place_of(name)
            if place is None:
                found.foreign.append(f"{CHUNKS}/{name}")
                continue
            try:
                self._check(place, verify)
            except ChunkError as error:
                found.damaged[place.file] = str(error)
            except FileNotFoundError:
                continue  # somebody else replaced it between the listing and now
            except OSError as error:
                found.damaged[place.file] = error.strerror or str(error)
            else:
                found.chunks.add(place)
        return found

    def _check(self, place: Place, verify: bool) -> None:
        file = self.path / place.file
        with open_ordinary(file) as stream:
            head = stream.read(chunkfile.HEAD_BYTES)
            facts = chunkfile.facts(head, os.fstat(stream.fileno()).st_size)
            self._recognise(place, facts)
            if verify:
                chunkfile.decode(head + stream.read())

    def _recognise(self, place: Place, facts: Mapping[str, Any]) -> None:
        expected = place.about(self.manifest["hash"], "")
        if any(facts.get(key) != value for key, value in expected.items() if key != "experiment"):
            raise ChunkError("it belongs to another study, configuration or range of runs")

    def has(self, place: Place) -> bool:
        """Say whether a usable chunk is there."""
        try:
            self._check(place, verify=False)
        except (OSError, ChunkError):
            return False
        return True

    def read(self, place: Place) -> Arrays:
        """Read a chunk, comparing its checksum.

        Raises
        ------
        StoreError
            If it is damaged or gone.
        """
        file = self.path / place.file
        try:
            facts, arrays = chunkfile.decode(read_whole(file))
            self._recognise(place, facts)
        except ChunkError as error:
            remedy = f"{RESUME}; open(store, verify=True) leaves it out"
            raise StoreError(file, str(error), remedy) from None
        except OSError as error:
            raise StoreError(file, error.strerror or str(error), RESUME) from None
        return arrays

    def packed(self, place: Place, experiment_hash: str, arrays: Arrays) -> bytes:
        """Return what is written of a chunk that this process has computed."""
        return chunkfile.encode(place.about(self.manifest["hash"], experiment_hash), arrays)

    def write(self, place: Place, data: bytes) -> None:
        """Write a chunk, wholly or not at all.

        Its name is on the disk a second later at the latest, or when the store is closed. A power
        failure may lose the chunks of that second; a process that is killed loses none.
        """
        with explained(self.path):
            write_whole(self.path / place.file, data, durable=False)
        if self._syncing.acquire(blocking=False):
            try:
                if time.monotonic() - self._synced_at > _SYNC_SECONDS:
                    self._sync_chunks()
            finally:
                self._syncing.release()

    def _sync_chunks(self) -> None:
        with explained(self.path):
            sync_directory(self.path / CHUNKS)
        self._synced_at = time.monotonic()

    def remove(self, place: Place) -> None:
        """Remove a chunk that another one has replaced."""
        with explained(self.path), contextlib.suppress(FileNotFoundError):
            os.unlink(self.path / place.file)

    # -- other files ------------------------------------------------------------------------------

    def write_sealed(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a small file with its checksum, wholly or not at all."""
        with explained(self.path):
            write_whole(self.path / name, sealed(content))

    def read_sealed(self, name: str) -> dict[str, Any] | None:
        """Read a small file; None if it is not there.

        Raises
        ------
        StoreError
            If it cannot be read, or is not what was written.
        """
        try:
            return unsealed(read_text(self.path / name))
        except FileNotFoundError:
            return None
        except NotationError as error:
            raise StoreError(self.path / name, str(error), RESUME) from None


def _refuse_strangers(directory: Path) -> None:
    """Refuse to make a store in a directory that holds something else."""
    ours = {CHUNKS, LOCK, MANIFEST}  # another process may be writing it just now
    for name in sorted(os.listdir(directory)):
        if name not in ours and not is_temporary(name):
            raise StoreError(
                directory,
                f"it holds other things ({name}) and is no store",
                "choose a directory that is empty or does not exist",
            )
