"""Files of a reproduction: written whole, and named when they cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from committal.errors import StoreError
from committal.support.files import write_whole


def write(file: Path, data: bytes) -> None:
    """Write a file, and its directory if there is none.

    Raises
    ------
    StoreError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     write(Path(directory) / "entries" / "fig1.json", b"{}")
    ...     (Path(directory) / "entries" / "fig1.json").read_bytes()
    b'{}'
    """
    with writing(file):
        write_whole(file, data)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Make the directory of a file; turn what goes wrong into an error that names the file."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StoreError(
            error.filename2 or file,
            error.strerror or str(error),
            "choose a directory that can be written to",
        ) from error
