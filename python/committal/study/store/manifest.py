"""What study a store is of, and how it is cut: one small file, and when two of them agree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from committal.errors import StoreError, short_repr
from committal.study.store.damage import CHOOSE, read_text
from committal.support import limits, notation
from committal.support.notation import NotationError
from committal.support.provenance import versions

FORMAT = "committal-store"
FORMAT_VERSION = 2

MANIFEST = "manifest.json"

Manifest = dict[str, Any]

_TYPES: dict[str, Any] = {
    "study": dict,
    "hash": str,
    "runs": int,
    "chunk": int,
    "until": dict | None,
    "stream_version": int,
    "committal_version": str,
}
#: The least that a number may be; the most is what any count may be.
_LEAST = {"runs": 1, "chunk": 1, "stream_version": 0}

#: What to do about a manifest that is not what was written.
CHANGED = "bring back the file as it was written, or choose another directory"


def manifest_of(
    study: Mapping[str, Any],
    *,
    study_hash: str,
    runs: int,
    chunk: int,
    until: Mapping[str, Any] | None,
) -> Manifest:
    """Make the manifest of a new store.

    Examples
    --------
    >>> manifest_of({}, study_hash="ab", runs=10, chunk=5, until=None)["format_version"]
    2
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **versions(),
        "study": dict(study),
        "hash": study_hash,
        "runs": runs,
        "chunk": chunk,
        "until": None if until is None else dict(until),
    }


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest of a store.

    Raises
    ------
    StoreError
        If there is none, if it is damaged, or if this package cannot read the store.
    """
    file = directory / MANIFEST
    try:
        text = read_text(file)
    except FileNotFoundError:
        problem = "there is no store here" if directory.exists() else "it does not exist"
        raise StoreError(directory, problem, "expected a directory made by a study") from None
    try:
        content = notation.json_of(text)
    except NotationError as error:
        raise StoreError(file, f"it is damaged: not valid JSON ({error})", CHOOSE) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StoreError(file, "it is not the manifest of a store", CHOOSE)
    if content.get("format_version") != FORMAT_VERSION:
        raise StoreError(
            file,
            f"the store has format {short_repr(content.get('format_version'))}",
            f"this package reads format {FORMAT_VERSION}",
        )
    try:
        manifest = notation.verified(content)
    except NotationError as error:
        raise StoreError(file, f"it is damaged: {error}", CHANGED) from None
    for key, kind in _TYPES.items():
        value: Any = manifest.get(key)
        low = _LEAST.get(key)
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (low is not None and not low <= value <= limits.RUNS):
            raise StoreError(
                file, f"its key {key!r} is missing or makes no sense ({short_repr(value)})", CHANGED
            )
    ours = versions()
    if manifest["stream_version"] != ours["stream_version"]:
        raise StoreError(
            directory,
            f"it was made with version {manifest['stream_version']} of the random streams "
            f"(committal {manifest['committal_version']}), this package has version "
            f"{ours['stream_version']} (committal {ours['committal_version']})",
            "use that version of the package, or choose another directory",
        )
    return manifest


def agreed(found: Manifest, wanted: Manifest, directory: Path) -> Manifest:
    """Return the manifest of a store that is to be extended.

    Parameters
    ----------
    found, wanted : dict
        What is there, and what the study says now.
    directory : Path
        For the errors.

    Raises
    ------
    StoreError
        If it holds another study, or more runs.
    """
    if found["hash"] != wanted["hash"]:
        raise StoreError(
            directory,
            f"it holds another study ({_first_difference(found['study'], wanted['study'])})",
            CHOOSE,
        )
    if found["runs"] > wanted["runs"]:
        raise StoreError(
            directory,
            f"it was made for {found['runs']} runs per configuration, more than {wanted['runs']}",
            "ask for at least as many, or choose another directory",
        )
    return {**found, "runs": wanted["runs"], "until": wanted["until"]}


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
