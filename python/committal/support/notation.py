"""Text that somebody else may have written: JSON and TOML, bounded, and JSON under a seal.

A parser meets whatever a disk holds. Text that is too long, too deep, or that has numbers of
thousands of digits is refused by one error with a sentence. A sealed text carries a checksum of
what it says, so that a change by hand, or by a disk, is noticed.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from committal.support import limits

#: The key under which a sealed text keeps its checksum.
CHECKSUM = "checksum"


class NotationError(ValueError):
    """A text cannot be read; the message says why.

    Examples
    --------
    >>> json_of("[" * 1000)
    Traceback (most recent call last):
        ...
    committal.support.notation.NotationError: it is nested more than 100 deep
    """


def json_of(text: str | bytes) -> Any:
    """Read JSON.

    Raises
    ------
    NotationError
        If it is not JSON, or longer or deeper than :mod:`committal.support.limits` allows.

    Examples
    --------
    >>> json_of('{"steps": 10}')
    {'steps': 10}
    """
    return _parsed(json.loads, text)


def toml_of(text: str) -> dict[str, Any]:
    """Read TOML; see `json_of`.

    Examples
    --------
    >>> toml_of("steps = 10")
    {'steps': 10}
    """
    if _LONG_KEY.search(text):
        raise NotationError(_TOO_DEEP)  # a parser may take time and memory like its square
    made: dict[str, Any] = _parsed(tomllib.loads, text)
    return made


_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"""(?<![\w\-"'.])(?:{_PART}){{{limits.DEPTH}}}""")


def _parsed(parse: Callable[[Any], Any], text: str | bytes) -> Any:
    if len(text) > limits.TEXT:
        raise NotationError(f"it is longer than {limits.written(limits.TEXT)} characters")
    try:
        value = parse(text)
    except RecursionError:
        raise NotationError(_TOO_DEEP) from None
    except UnicodeDecodeError:
        raise NotationError("it is not UTF-8") from None
    except ValueError as error:  # of the syntax, and of integers with thousands of digits
        if "integer string conversion" in str(error):
            raise NotationError("it has an integer of thousands of digits") from None
        raise NotationError(str(error)) from None
    refuse_depth(value)
    return value


_TOO_DEEP = f"it is nested more than {limits.DEPTH} deep"


def refuse_depth(value: Any) -> None:
    """Refuse plain data that are nested too deep, without following them by recursion.

    Examples
    --------
    >>> refuse_depth({"a": [1, {"b": 2}]})
    """
    level: dict[int, Any] = {0: value}  # by identity: what is shared is looked at once
    for _ in range(limits.DEPTH + 1):
        below: dict[int, Any] = {}
        for item in level.values():
            inner = item.values() if isinstance(item, Mapping) else item
            if isinstance(item, Mapping | list | tuple):
                below.update((id(v), v) for v in inner if isinstance(v, Mapping | list | tuple))
        if not below:
            return
        level = below
    raise NotationError(_TOO_DEEP)


# -- sealed ----------------------------------------------------------------------------------------


def sealed(content: Mapping[str, Any]) -> bytes:
    """Write plain data as JSON with a checksum of what they say.

    Examples
    --------
    >>> unsealed(sealed({"runs": 10}))
    {'runs': 10}
    """
    whole = {**content, CHECKSUM: _checksum(content)}
    text = json.dumps(whole, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return text.encode() + b"\n"


def unsealed(text: bytes) -> dict[str, Any]:
    """Read what `sealed` wrote.

    Raises
    ------
    NotationError
        If it is not JSON, or says something else than was written.

    Examples
    --------
    >>> unsealed(sealed({"runs": 10}).replace(b"10", b"12"))
    Traceback (most recent call last):
        ...
    committal.support.notation.NotationError: its checksum is wrong: it was changed after it was \
written
    """
    try:
        content = json_of(text)
    except NotationError as error:
        raise NotationError(f"not valid JSON ({error})") from None
    if not isinstance(content, dict):
        raise NotationError("it makes no sense")
    return verified(content)


def verified(content: dict[str, Any]) -> dict[str, Any]:
    """Return sealed data without their checksum, which must be there and right.

    Examples
    --------
    >>> verified({"runs": 10})
    Traceback (most recent call last):
        ...
    committal.support.notation.NotationError: it has no checksum
    """
    rest = {key: value for key, value in content.items() if key != CHECKSUM}
    if CHECKSUM not in content:
        raise NotationError("it has no checksum")
    try:
        right = content[CHECKSUM] == _checksum(rest)
    except ValueError:  # NaN, which `sealed` never writes
        right = False
    if not right:
        raise NotationError("its checksum is wrong: it was changed after it was written")
    return rest


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(canonical.encode(), digest_size=32).hexdigest()
