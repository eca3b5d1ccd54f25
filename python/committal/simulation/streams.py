"""From `rng`, as in SPEC 7, to the key of the random streams.

All random numbers of a study are a pure function of (key, run, slot, index). The key is 64 bits;
everything that numpy takes as a seed leads to one, and to a text from which it can be found again.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError, ConfigTypeError
from committal.support import check

__all__ = ["RNGLike", "StreamKey", "mixed_key", "stream_key"]

#: What `rng` may be.
RNGLike: TypeAlias = (
    int
    | np.integer[Any]
    | Sequence[int]
    | npt.NDArray[np.integer[Any]]
    | np.random.SeedSequence
    | np.random.BitGenerator
    | np.random.Generator
    | None
)

_ALLOWED = "None, an integer >= 0, a sequence of them, a SeedSequence or a Generator"


class StreamKey(NamedTuple):
    """The key of the random streams, and what it was made from.

    Attributes
    ----------
    key
        An integer in [0, 2**64).
    entropy
        The seed as text: an integer that can be given as `rng` again, or the expression of the
        sequence of seeds.
    """

    key: int
    entropy: str


def stream_key(rng: RNGLike = None, *, independent: str | None = None) -> StreamKey:
    """Return the key of the random streams for a seed.

    Parameters
    ----------
    rng
        None for fresh entropy from the system; an integer, or several, or a SeedSequence, which
        always give the same key; or a Generator, which is consumed once: the next call with it
        gives another key.
    independent
        A text, such as the hash of an experiment, to mix into the key. Without it, experiments
        run with one seed share their random numbers.

    Returns
    -------
    StreamKey
        The key and its entropy.

    Examples
    --------
    >>> stream_key(0).entropy
    '0'
    >>> stream_key(0) == stream_key(np.random.SeedSequence(0))
    True
    >>> first = stream_key(np.random.default_rng(0))
    >>> stream_key(int(first.entropy)).key == first.key
    True
    """
    sequence = _seed_sequence(rng)
    key = int(sequence.generate_state(1, np.uint64)[0])
    if independent is not None:
        key = mixed_key(key, independent)
    return StreamKey(key, _describe(sequence))


def mixed_key(key: int, text: str) -> int:
    """Return another key, one per text.

    Examples
    --------
    >>> mixed_key(1, "a") != mixed_key(1, "b")
    True
    >>> stream_key(0, independent="a").key == mixed_key(stream_key(0).key, "a")
    True
    """
    mixed = hashlib.sha256(key.to_bytes(8, "little") + text.encode()).digest()
    return int.from_bytes(mixed[:8], "little")


def _seed_sequence(rng: object) -> np.random.SeedSequence:
    if rng is None:
        return np.random.SeedSequence()
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.BitGenerator):
        rng = np.random.Generator(rng)
    if isinstance(rng, np.random.Generator):
        # Drawing a seed, not the key itself, makes the recorded entropy a seed like any other.
        return np.random.SeedSequence(int(rng.integers(2**64, dtype=np.uint64)))
    if isinstance(rng, numbers.Integral) and not isinstance(rng, bool):
        return np.random.SeedSequence(_natural(rng, rng))
    if isinstance(rng, (list, tuple, np.ndarray)) and check.ndim(rng) == 1 and len(rng) > 0:
        words = [_natural(word, rng) for word in rng]
        return np.random.SeedSequence(words)
    raise ConfigTypeError("rng", rng, _ALLOWED)


def _natural(value: object, rng: object) -> int:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ConfigTypeError("rng", rng, _ALLOWED)
    if value < 0:
        raise ConfigError("rng", rng, _ALLOWED)
    return int(value)


def _describe(sequence: np.random.SeedSequence) -> str:
    entropy: Any = sequence.entropy
    if isinstance(entropy, numbers.Integral):
        text = str(int(entropy))
    else:
        text = str([int(word) for word in entropy])
    default_pool = np.random.SeedSequence(0).pool_size
    extra = ""
    if sequence.spawn_key:
        extra += f", spawn_key={tuple(int(word) for word in sequence.spawn_key)}"
    if sequence.pool_size != default_pool:
        extra += f", pool_size={sequence.pool_size}"
    return f"SeedSequence({text}{extra})" if extra else text
