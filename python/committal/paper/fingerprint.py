"""What kept numbers depend on besides the question: the code that gave the answer.

A result may be used again only if the same code would give it again, and a page about it only if
it would be written and drawn again in the same way. So both are kept together with a hash of
everything that has a say: the compiled core, byte by byte, the sources of the package, and the
versions of the libraries that compute or draw.
"""

from __future__ import annotations

import functools
import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from committal import _core

PACKAGE = Path(__file__).parent.parent
CORE = Path(_core.__file__)

#: Folders that look at results, or ask for them, and so cannot change one. Everything else can: a
#: folder that is not named here counts.
ONLOOKERS = ("analysis", "study", "theory", "plot", "paper", "cli")

_COMPUTE = ("numpy", "scipy")
_DRAW = (*_COMPUTE, "xarray", "matplotlib", "mpltern")


@functools.cache
def fingerprint(
    scope: Literal["results", "entries"], *, package: Path = PACKAGE, core: Path = CORE
) -> str:
    """Hash the code that computes results, or that makes entries: computes, judges and draws.

    Parameters
    ----------
    scope : {"results", "entries"}
        Restyling a picture changes the second and not the first.
    package, core : path, optional
        The sources and the compiled core. Both are read once per process.

    Examples
    --------
    >>> fingerprint("results") == fingerprint("entries")
    False
    """
    every = scope == "entries"
    digest = hashlib.sha256()

    def add(name: str, data: bytes) -> None:
        # Hashes have one length: no name and no file can pass for another.
        for part in (name.encode(), data):
            digest.update(hashlib.sha256(part).digest())

    add("core", core.read_bytes())
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package)
        if every or place.parts[0] not in ONLOOKERS:
            add(place.as_posix(), file.read_bytes())
    for library in _DRAW if every else _COMPUTE:
        add(library, version(library).encode())
    return digest.hexdigest()
