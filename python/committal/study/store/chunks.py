"""Arrays in a file whose bytes depend on nothing but the arrays.

The same numbers give the same bytes on every machine: no dates, no compression, one byte order,
keys in order. A file is

======================  ===========================================================
16 bytes                ``committal-chunk`` and a line feed
4 + 4 bytes             version of this format; length of the header (little endian)
header                  JSON, padded with spaces to a multiple of 64 bytes
arrays                  little endian, C order, each padded to a multiple of 64 bytes
32 bytes                BLAKE2b checksum of everything before
======================  ===========================================================

Reading executes nothing: the header is JSON, and only a few types of numbers are known.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

MAGIC = b"committal-chunk\n"
VERSION = 1

_PREFIX = struct.Struct("<16sII")
_ALIGNMENT = 64
_CHECKSUM_BYTES = 32
_TYPES = ("<f8", "<i4", "<i8")


class ChunkError(ValueError):
    """A file is not what it claims to be; the message says why.

    Examples
    --------
    >>> decode(b"")
    Traceback (most recent call last):
        ...
    committal.study.store.chunks.ChunkError: it is truncated
    """


def encode(about: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Write arrays, and a few facts about them, as bytes.

    Parameters
    ----------
    about : dict
        What JSON can hold; the key ``"arrays"`` is taken.
    arrays : dict of array
        Of 64-bit floats, or of 32-bit or 64-bit integers.

    Returns
    -------
    bytes

    Examples
    --------
    >>> data = encode({"runs": 2}, {"value": np.array([0.5, 1.0])})
    >>> about, arrays = decode(data)
    >>> about, arrays["value"].tolist()
    ({'runs': 2}, [0.5, 1.0])
    """
    entries: list[dict[str, Any]] = []
    pieces: list[bytes | memoryview] = []
    offset = 0
    for name, array in arrays.items():
        kind = np.dtype(array.dtype).newbyteorder("<").str
        if kind not in _TYPES:
            raise TypeError(f"arrays of {array.dtype} cannot be stored")
        raw = np.ascontiguousarray(array, kind).reshape(-1).view(np.uint8).data
        entries.append({"name": name, "dtype": kind, "shape": array.shape, "offset": offset})
        pieces += [raw, bytes(-len(raw) % _ALIGNMENT)]
        offset += _padded(len(raw))
    header = json.dumps(
        {**about, "arrays": entries}, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()
    header += b" " * (-(_PREFIX.size + len(header)) % _ALIGNMENT)
    pieces = [_PREFIX.pack(MAGIC, VERSION, len(header)), header, *pieces]
    return b"".join([*pieces, _checksum(*pieces)])


def decode(data: bytes, *, verify: bool = True) -> tuple[dict[str, Any], Arrays]:
    """Read what :func:`encode` wrote.

    Parameters
    ----------
    data : bytes
        The whole file.
    verify : bool, optional
        Compare the checksum.

    Returns
    -------
    dict, dict of array
        The facts, and read-only views into `data`.

    Raises
    ------
    ChunkError
        If the bytes are not all there, or not those that were written.
    """
    about, start = _header(data)
    entries = about.pop("arrays")
    if len(data) != start + _size(entries) + _CHECKSUM_BYTES:
        raise ChunkError(
            "it is truncated" if len(data) < start + _size(entries) else "it is too long"
        )
    if verify and _checksum(memoryview(data)[:-_CHECKSUM_BYTES]) != data[-_CHECKSUM_BYTES:]:
        raise ChunkError("its checksum is wrong")
    arrays = {}
    for entry in entries:
        shape = tuple(entry["shape"])
        flat = np.frombuffer(data, entry["dtype"], math.prod(shape), start + entry["offset"])
        arrays[entry["name"]] = flat.reshape(shape)
    return about, arrays


def facts(head: bytes, size: int) -> dict[str, Any]:
    """Read the facts from the beginning of a file, and check that it has the length it should.

    Parameters
    ----------
    head : bytes
        The beginning of the file; :data:`HEAD_BYTES` of it are enough for any chunk.
    size : int
        The length of the whole file.

    Examples
    --------
    >>> data = encode({"runs": 2}, {"value": np.zeros(2)})
    >>> facts(data[:200], len(data))
    {'runs': 2}
    """
    about, start = _header(head)
    expected = start + _size(about.pop("arrays")) + _CHECKSUM_BYTES
    if size != expected:
        raise ChunkError("it is truncated" if size < expected else "it is too long")
    return about


#: Enough to hold the header of any chunk that the package writes.
HEAD_BYTES = 16384


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the header, checked to have the right form, and where the arrays start."""
    if len(data) < _PREFIX.size:
        raise ChunkError("it is truncated")
    magic, version, length = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise ChunkError("it is not a chunk")
    if version != VERSION:
        raise ChunkError(f"its format has version {version}, this package reads version {VERSION}")
    start = _PREFIX.size + length
    if len(data) < start:
        raise ChunkError("it is truncated")
    try:
        about = json.loads(data[_PREFIX.size : start])
        entries = about["arrays"]
        offset = 0
        for entry in entries:
            shape = entry["shape"]
            natural = all(type(n) is int and n >= 0 for n in shape)
            if not natural or entry["dtype"] not in _TYPES or entry["offset"] != offset:
                raise ChunkError("its header makes no sense")
            offset += _padded(math.prod(shape) * np.dtype(entry["dtype"]).itemsize)
            str(entry["name"])
    except ChunkError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ChunkError("its header makes no sense") from None
    return about, start


def _size(entries: list[dict[str, Any]]) -> int:
    return sum(
        _padded(math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize) for entry in entries
    )


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _checksum(*pieces: bytes | memoryview) -> bytes:
    found = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)
    for piece in pieces:
        found.update(piece)
    return found.digest()
