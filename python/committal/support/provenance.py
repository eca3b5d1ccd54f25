"""Who made a number: the version of the package and of the random streams, the build."""

from __future__ import annotations

from typing import Any

from committal import _core
from committal._version import __version__

STREAM_VERSION = _core.STREAM_VERSION


def versions() -> dict[str, str | int]:
    """Return what a result says about who made it: every file and dataset carries these.

    What does not change numbers (threads, instruction set, date, machine) is left out, so that
    equal results are equal, attributes included.

    Examples
    --------
    >>> sorted(versions())
    ['committal_version', 'stream_version']
    """
    return {"committal_version": __version__, "stream_version": STREAM_VERSION}


def origin(key: int, entropy: str) -> dict[str, str | int]:
    """Return from which random numbers a dataset was made, and who made it.

    Parameters
    ----------
    key : int
        Key of the random streams.
    entropy : str
        Where the key came from.

    Examples
    --------
    >>> list(origin(255, "0"))
    ['key', 'entropy', 'committal_version', 'stream_version']
    """
    return {"key": key_text(key), "entropy": entropy, **versions()}


def key_text(key: int) -> str:
    """Write the key of a random stream, the same way everywhere.

    Examples
    --------
    >>> key_text(255)
    '0x00000000000000ff'
    """
    return f"{key:#018x}"


def build() -> dict[str, Any]:
    """Return the versions with what is known of the build and of this machine.

    Examples
    --------
    >>> build()["isa"] in build()["isas"]
    True
    """
    return {**versions(), **_core.build_info()}
