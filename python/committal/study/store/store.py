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
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from committal import _core
from committal._version import __version__
from committal.errors import StoreError
from committal.study.store import chunks as chunkfile

FORMAT = "committal-store"
FORMAT_VERSION = 1

MANIFEST = "manifest.json"
OUTCOME = "outcome.json"
CHUNKS = "chunks"
LOCK = "lock"

_CHUNK_NAME = re.compile(r"(\d{6,})-(\d{12,})-(\d{12,})\.chunk")
_TEMPORARY = ".tmp-"
_SYNC_SECONDS = 1.0
_RESUME = "'committal resume' or Study.run(store=...) computes it again"


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


class Store:
    """A store on disk.

    Parameters
    ----------
    path : path
        The directory; see :meth:`open` and :meth:`prepare`.
    manifest : dict
        What is written, or was read, there.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = dict(manifest)
        self._lock: int | None = None
        self._synced_at = 0.0
        self._syncing = threading.Lock()
        #: Whether nobody else was writing when the lock was taken.
        self.alone = True

    # -- opening ----------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open an existing store for reading.

        Raises
        ------
        StoreError
            If there is none, if it is damaged, or if this package cannot read it.
        """
        directory = Path(path)
        file = directory / MANIFEST
        try:
            manifest = _read_json(file)
        except FileNotFoundError:
            problem = "there is no store here" if directory.exists() else "it does not exist"
            raise StoreError(path, problem, "expected a directory made by a study") from None
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise StoreError(file, "it is not the manifest of a store", _CHOOSE)
        if manifest.get("format_version") != FORMAT_VERSION:
            raise StoreError(
                file,
                f"the store has format {manifest.get('format_version')!r}",
                f"this package reads format {FORMAT_VERSION}",
            )
        for key, kind in _MANIFEST_TYPES.items():
            if not isinstance(manifest.get(key), kind):
                raise StoreError(file, f"its key {key!r} is missing or makes no sense", _CHOOSE)
        _refuse_stream(directory, manifest)
        return cls(directory, manifest)

    @classmethod
    def prepare(cls, path: str | os.PathLike[str], manifest: Mapping[str, Any]) -> Store:
        """Open a store for writing; make it if it is not there.

        Parameters
        ----------
        path : path
            A store of the same study, or a directory that is empty or does not exist.
        manifest : dict
            With keys ``study``, ``hash``, ``runs``, ``chunk`` and ``until``; see
            :func:`manifest_of`. An existing store keeps its own ``chunk``.

        Raises
        ------
        StoreError
            If it holds another study, another stream version or more runs; if it cannot be
            written to.
        """
        directory = Path(path)
        with _explained(directory):
            directory.mkdir(parents=True, exist_ok=True)
            if not (directory / MANIFEST).exists():
                _refuse_strangers(directory)
        store = cls(directory, manifest)
        with _explained(directory):
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
        wanted = self.manifest
        if not (self.path / MANIFEST).exists() and self._create_manifest(wanted):
            return
        found = type(self).open(self.path).manifest
        if found["hash"] != wanted["hash"]:
            raise StoreError(
                self.path,
                f"it holds another study ({_first_difference(found['study'], wanted['study'])})",
                _CHOOSE,
            )
        if found["runs"] > wanted["runs"]:
            raise StoreError(
                self.path,
                f"it was made for {found['runs']} runs per configuration, more than "
                f"{wanted['runs']}",
                "ask for at least as many, or choose another directory",
            )
        agreed = {**found, "runs": wanted["runs"], "until": wanted["until"]}
        if agreed != found:
            self.write_json(MANIFEST, agreed)
        self.manifest = agreed

    def _create_manifest(self, manifest: Mapping[str, Any]) -> bool:
        """Write the first manifest; False if another process was faster."""
        whole = f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"
        self.write_json(whole, manifest)
        with _explained(self.path):
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
            _sync_directory(self.path)
        return True

    def _take_lock(self) -> None:
        """Say that somebody writes here; clear up if nobody else does."""
        try:
            import fcntl
        except ImportError:  # pragma: no cover
            return  # without locks leftovers of killed processes stay, which harms nobody
        lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
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
                if name.startswith(_TEMPORARY):
                    with contextlib.suppress(OSError):
                        os.unlink(directory / name)

    def close(self) -> None:
        """Stop writing."""
        if self._synced_at:
            self._sync_chunks()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- chunks -----------------------------------------------------------------------------------

    def about(self, place: Place, experiment_hash: str) -> dict[str, Any]:
        """Return what a chunk says about itself."""
        return about(self.manifest["hash"], place, experiment_hash)

    def inventory(self, *, verify: bool = False) -> Inventory:
        """Look at every chunk.

        Parameters
        ----------
        verify : bool, optional
            Read all of every chunk and compare checksums; otherwise only headers and lengths.
        """
        found = Inventory()
        with _explained(self.path):
            names = sorted(os.listdir(self.path / CHUNKS))
        for name in names:
            if name.startswith(_TEMPORARY):
                continue
            place = place_of(name)
            if place is None:
                found.foreign.append(f"{CHUNKS}/{name}")
                continue
            try:
                self._check(place, verify)
            except chunkfile.ChunkError as error:
                found.damaged[f"{CHUNKS}/{name}"] = str(error)
            except FileNotFoundError:
                continue  # somebody else replaced it between the listing and now
            except OSError as error:
                found.damaged[f"{CHUNKS}/{name}"] = error.strerror or str(error)
            else:
                found.chunks.add(place)
        return found

    def _check(self, place: Place, verify: bool) -> None:
        file = self.path / CHUNKS / place.name
        if verify:
            facts, _ = chunkfile.decode(file.read_bytes())
        else:
            with open(file, "rb") as stream:
                head = stream.read(chunkfile.HEAD_BYTES)
                facts = chunkfile.facts(head, os.fstat(stream.fileno()).st_size)
        self._recognise(place, facts)

    def _recognise(self, place: Place, facts: Mapping[str, Any]) -> None:
        expected = self.about(place, "")
        if any(facts.get(key) != value for key, value in expected.items() if key != "experiment"):
            raise chunkfile.ChunkError(
                "it belongs to another study, configuration or range of runs"
            )

    def has(self, place: Place) -> bool:
        """Say whether a usable chunk is there."""
        try:
            self._check(place, verify=False)
        except (OSError, chunkfile.ChunkError):
            return False
        return True

    def read(self, place: Place) -> chunkfile.Arrays:
        """Read a chunk, comparing its checksum.

        Raises
        ------
        StoreError
            If it is damaged or gone.
        """
        file = self.path / CHUNKS / place.name
        try:
            facts, arrays = chunkfile.decode(file.read_bytes())
            self._recognise(place, facts)
        except chunkfile.ChunkError as error:
            remedy = f"{_RESUME}; open(store, verify=True) leaves it out"
            raise StoreError(file, str(error), remedy) from None
        except OSError as error:
            raise StoreError(file, error.strerror or str(error), _RESUME) from None
        return arrays

    def write(self, place: Place, data: bytes) -> None:
        """Write a chunk, wholly or not at all.

        Its name is on the disk a second later at the latest, or when the store is closed. A power
        failure may lose the chunks of that second; a process that is killed loses none.
        """
        self._replace(self.path / CHUNKS, place.name, data)
        if self._syncing.acquire(blocking=False):
            try:
                if time.monotonic() - self._synced_at > _SYNC_SECONDS:
                    self._sync_chunks()
            finally:
                self._syncing.release()

    def _sync_chunks(self) -> None:
        with _explained(self.path):
            _sync_directory(self.path / CHUNKS)
        self._synced_at = time.monotonic()

    def remove(self, place: Place) -> None:
        """Remove a chunk that another one has replaced."""
        with contextlib.suppress(FileNotFoundError), _explained(self.path):
            os.unlink(self.path / CHUNKS / place.name)

    # -- other files ------------------------------------------------------------------------------

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a small file, wholly or not at all."""
        text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
        self._replace(self.path, name, text.encode() + b"\n")
        with _explained(self.path):
            _sync_directory(self.path)

    def read_json(self, name: str) -> Any:
        """Read a small file; None if it is not there."""
        try:
            return _read_json(self.path / name)
        except FileNotFoundError:
            return None

    def _replace(self, directory: Path, name: str, data: bytes) -> None:
        temporary = directory / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"
        with _explained(self.path):
            try:
                file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
                try:
                    view = memoryview(data)
                    while view:
                        view = view[os.write(file, view) :]
                    os.fsync(file)
                finally:
                    os.close(file)
                os.rename(temporary, directory / name)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise


def about(study_hash: str, place: Place, experiment_hash: str) -> dict[str, Any]:
    """Return what a chunk says about itself.

    Examples
    --------
    >>> about("ab", Place(0, 0, 10), "cd")["runs"]
    10
    """
    return {
        "study": study_hash,
        "configuration": place.configuration,
        "experiment": experiment_hash,
        "first_run": place.first,
        "runs": place.runs,
        "stream_version": _core.STREAM_VERSION,
    }


def manifest_of(
    study: Mapping[str, Any],
    *,
    study_hash: str,
    runs: int,
    chunk: int,
    until: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Make the manifest of a new store."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "committal_version": __version__,
        "stream_version": _core.STREAM_VERSION,
        "study": dict(study),
        "hash": study_hash,
        "runs": runs,
        "chunk": chunk,
        "until": None if until is None else dict(until),
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
    match = _CHUNK_NAME.fullmatch(name)
    if match is None:
        return None
    place = Place(*map(int, match.groups()))
    return place if place.runs > 0 and place.name == name else None


# -- refusals --------------------------------------------------------------------------------------

_CHOOSE = "choose another directory"
_MANIFEST_TYPES: dict[str, Any] = {
    "study": dict,
    "hash": str,
    "runs": int,
    "chunk": int,
    "until": dict | None,
    "stream_version": int,
    "committal_version": str,
}


def _refuse_stream(directory: Path, manifest: Mapping[str, Any]) -> None:
    if manifest["stream_version"] != _core.STREAM_VERSION:
        raise StoreError(
            directory,
            f"it was made with version {manifest['stream_version']} of the random streams "
            f"(committal {manifest['committal_version']}), this package has version "
            f"{_core.STREAM_VERSION} (committal {__version__})",
            "use that version of the package, or choose another directory",
        )


def _refuse_strangers(directory: Path) -> None:
    """Refuse to make a store in a directory that holds something else."""
    ours = {CHUNKS, LOCK, MANIFEST}  # another process may be writing it just now
    for name in sorted(os.listdir(directory)):
        if name not in ours and not name.startswith(_TEMPORARY):
            raise StoreError(
                directory,
                f"it holds other things ({name}) and is no store",
                "choose a directory that is empty or does not exist",
            )


def _first_difference(found: Any, wanted: Any, path: str = "") -> str:
    """Say where two studies differ first."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(found.keys() | wanted.keys()):
            if found.get(key) != wanted.get(key):
                inner = f"{path}.{key}" if path else str(key)
                return _first_difference(found.get(key), wanted.get(key), inner)
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
            if one != other:
                return _first_difference(one, other, f"{path}[{i}]")
    return f"{path or 'study'}: {_short(found)} there, {_short(wanted)} here"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


# -- the operating system --------------------------------------------------------------------------

_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreError(
                path,
                "the disk is full",
                "finished chunks are kept; make room and run or resume again",
            ) from error
        if error.errno in _FORBIDDEN:
            raise StoreError(path, "it cannot be written to", _CHOOSE) from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            raise StoreError(path, "it is not a directory", _CHOOSE) from error
        raise StoreError(path, error.strerror or str(error), _CHOOSE) from error


def _sync_directory(directory: Path) -> None:
    # Without it a rename may be lost with the power; not every system lets one open a directory.
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EACCES):
            raise
    finally:
        os.close(handle)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except FileNotFoundError:
        raise
    except NotADirectoryError:
        raise StoreError(file.parent, "it is not a directory", _CHOOSE) from None
    except OSError as error:
        raise StoreError(file, error.strerror or str(error), _CHOOSE) from None
    except (ValueError, RecursionError):
        raise StoreError(file, "it is damaged: not valid JSON", _CHOOSE) from None
