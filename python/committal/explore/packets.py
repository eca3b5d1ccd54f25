"""How numbers travel to the page: a line of JSON, and arrays of 32-bit floats behind it.

::

    length of the head   uint32, little-endian
    head                 JSON in UTF-8, padded by spaces to whole multiples of 4 bytes
    arrays               float32, little-endian, in the order of head["arrays"]

Numbers as text would be five times as long, and reading them would take longer than the runs.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def pack(head: Mapping[str, Any], arrays: Mapping[str, npt.ArrayLike] | None = None) -> bytes:
    """Write a packet.

    Examples
    --------
    >>> head, arrays = unpack(pack({"runs": 2}, {"value": [[0.5], [1.0]]}))
    >>> head["runs"], arrays["value"].tolist()
    (2, [[0.5], [1.0]])
    """
    with np.errstate(over="ignore"):  # what is too large for the page is infinite there
        made = {name: np.ascontiguousarray(a, "<f4") for name, a in (arrays or {}).items()}
    whole = {**head, "arrays": [[name, list(a.shape)] for name, a in made.items()]}
    text = json.dumps(whole, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return b"".join((struct.pack("<I", len(text)), text, *(a.tobytes() for a in made.values())))


def unpack(packet: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.float32]]]:
    """Read a packet; the page does it in JavaScript.

    Examples
    --------
    >>> unpack(pack({"a": 1}))
    ({'a': 1, 'arrays': []}, {})
    """
    (length,) = struct.unpack_from("<I", packet)
    head: dict[str, Any] = json.loads(packet[4 : 4 + length])
    start, arrays = 4 + length, {}
    for name, shape in head["arrays"]:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(packet, "<f4", count, start).reshape(shape)
        start += 4 * count
    return head, arrays
