"""What goes wrong with files and disks, as errors that say what to do about it."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from committal.errors import StoreError
from committal.support import limits
from committal.support.files import read_whole

CHOOSE = "choose another directory"
RESUME = "'committal resume' or Study.run(store=...) computes it again"

_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into ours.

    Examples
    --------
    >>> with explained(Path("results")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
        ...
    committal.errors.StoreError: results: the disk is full; finished chunks are kept; make room \
and run or resume again
    """
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
            raise StoreError(path, "it cannot be written to", CHOOSE) from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            raise StoreError(path, "it is not a directory", CHOOSE) from error
        raise StoreError(path, error.strerror or str(error), CHOOSE) from error


def read_text(file: Path) -> bytes:
    """Read a small file.

    Raises
    ------
    FileNotFoundError
        If it is not there: only the caller knows what that means.
    StoreError
        If it cannot be read.
    """
    try:
        return read_whole(file, most=limits.TEXT)
    except FileNotFoundError:
        raise
    except NotADirectoryError:
        raise StoreError(file.parent, "it is not a directory", CHOOSE) from None
    except OSError as error:
        raise StoreError(file, error.strerror or str(error), CHOOSE) from None
