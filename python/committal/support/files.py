"""One way of writing a file: it is there whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import BinaryIO

from committal.errors import ConfigError, ConfigTypeError

#: How names of unfinished files begin. Those of killed processes may be left behind.
TEMPORARY = ".tmp-"


def temporary_name() -> str:
    """Return a name for an unfinished file that nobody else uses.

    Examples
    --------
    >>> temporary_name().startswith(TEMPORARY)
    True
    """
    return f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"


_TEMPORARY = re.compile(re.escape(TEMPORARY) + r"(\d{1,10})-[0-9a-f]{12}")

#: A leftover of a process whose number somebody else has by now is removed after a day.
_OLD_SECONDS = 86_400.0


def is_temporary(name: str) -> bool:
    """Say whether a name is one that `temporary_name` makes.

    Examples
    --------
    >>> is_temporary(temporary_name()), is_temporary(".tmp-notes")
    (True, False)
    """
    return _TEMPORARY.fullmatch(name) is not None


def is_leftover(file: Path) -> bool:
    """Say whether a file was left behind unfinished: our kind of name, and its process is gone.

    Examples
    --------
    >>> is_leftover(Path(temporary_name())), is_leftover(Path(".tmp-notes"))
    (False, False)
    """
    match = _TEMPORARY.fullmatch(file.name)
    if match is None:
        return False
    try:
        facts = os.lstat(file)
    except OSError:
        return False
    if not stat.S_ISREG(facts.st_mode):
        return False
    return not _is_alive(int(match.group(1))) or time.time() - facts.st_mtime > _OLD_SECONDS


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # it is somebody else's
    return True


def path_of(argument: str, value: object) -> Path:
    """Return a path that an operating system can be asked about.

    Examples
    --------
    >>> path_of("store", "a\\0b")
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: store = 'a\\x00b' is not allowed; expected a path that can be \
the name of a file
    """
    allowed = "a path that can be the name of a file"
    if not isinstance(value, str | os.PathLike):
        raise ConfigTypeError(argument, value, "a path")
    text = os.fspath(value)
    if not isinstance(text, str):
        raise ConfigTypeError(argument, value, "a path of text, not of bytes")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        raise ConfigError(argument, value, allowed) from None
    if not encoded or b"\0" in encoded:
        raise ConfigError(argument, value, allowed)
    return Path(text)


def read_whole(file: Path, *, most: int | None = None) -> bytes:
    """Read an ordinary file; never wait for a pipe, and never read a device without end.

    Parameters
    ----------
    file : Path
        A file, or a link to one.
    most : int, optional
        Bytes that it may have.

    Raises
    ------
    OSError
        If it cannot be read, is not an ordinary file, or is too large.

    Examples
    --------
    >>> read_whole(Path("/dev/null"))
    Traceback (most recent call last):
        ...
    OSError: [Errno 22] it is not an ordinary file: '/dev/null'
    """
    with open_ordinary(file) as stream:
        if most is not None and os.fstat(stream.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most} bytes", str(file))
        return stream.read()


def open_ordinary(file: Path) -> BinaryIO:
    """Open an ordinary file for reading; refuse pipes, sockets and devices without waiting.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as made, open_ordinary(Path(made.name)) as stream:
    ...     stream.read()
    b''
    """
    # Opening a pipe waits for its writer, unless one says not to; for files that means nothing.
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not an ordinary file", str(file))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def write_whole(file: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file next to its place and move it there.

    Parameters
    ----------
    file : Path
        Replaced if it exists; its directory must exist.
    data : bytes
        What it is to hold. It has reached the disk before the file appears under its name, so
        that a power cut leaves the old file or the new one.
    durable : bool, optional
        Whether the move itself is to survive a power cut when this function returns. Who writes
        many files may say no and call `sync_directory` now and then.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left behind then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     write_whole(Path(directory) / "note", b"text")
    ...     [file.name for file in Path(directory).iterdir()]
    ['note']
    """
    temporary = file.with_name(temporary_name())
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        sync_directory(file.parent)


def sync_directory(directory: Path) -> None:
    """Make sure that the names in a directory survive a power cut.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     sync_directory(Path(directory))
    """
    # Not every system lets one open a directory.
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
