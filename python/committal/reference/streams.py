"""Random numbers as pure functions of a counter, and draws from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committal.reference.arrays import Floats

__all__ = [
    "ACTION",
    "REWARD",
    "START",
    "TRANSITION",
    "draw_action",
    "draw_outcome",
    "philox4x32",
    "uniforms",
]


# What a stream is for: the slots of a run.
ACTION = 0
REWARD = 1
TRANSITION = 2
START = 3


def philox4x32(counter: npt.ArrayLike, key: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """Philox4x32-7: four 32-bit words from a 128-bit counter and a 64-bit key.

    One round multiplies words 0 and 2 by two constants and mixes the high halves with the other
    two words and with the key; the key moves by a Weyl sequence between rounds.

    Parameters
    ----------
    counter : array_like of uint32, shape (..., 4)
    key : array_like of uint32, shape (2,)

    Returns
    -------
    ndarray of uint32, shape (..., 4)

    Examples
    --------
    >>> [f"{x:08x}" for x in philox4x32([0, 0, 0, 0], [0, 0])]
    ['5f6fb709', '0d893f64', '4f121f81', '4f730a48']
    """
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c0, c1, c2, c3 = np.moveaxis(np.asarray(counter, dtype=np.uint64), -1, 0)
    k0, k1 = np.asarray(key, dtype=np.uint64)
    for _ in range(7):
        product0 = np.uint64(0xD2511F53) * c0
        product1 = np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (product1 >> shift) ^ c1 ^ k0,
            product1 & low,
            (product0 >> shift) ^ c3 ^ k1,
            product0 & low,
        )
        k0 = (k0 + np.uint64(0x9E3779B9)) & low
        k1 = (k1 + np.uint64(0xBB67AE85)) & low
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)


def uniforms(key: int, run: int, slot: int, first: int, count: int) -> Floats:
    """u(d) = k / 2^52 in [0, 1) for d = first, ..., first + count - 1.

    One Philox block holds two uniform numbers: d even takes words 0 and 1, d odd words 2 and 3,
    and the upper 52 bits of the 64 are kept.

    Examples
    --------
    >>> u = uniforms(key=7, run=3, slot=ACTION, first=0, count=100)
    >>> bool(np.array_equal(u[40:60], uniforms(key=7, run=3, slot=ACTION, first=40, count=20)))
    True
    """
    low = np.uint64(0xFFFFFFFF)
    d = np.uint64(first) + np.arange(count, dtype=np.uint64)
    block = d >> np.uint64(1)
    counter = np.empty((count, 4), dtype=np.uint64)
    counter[:, 0] = block & low
    counter[:, 1] = ((block >> np.uint64(32)) << np.uint64(8)) | np.uint64(slot)
    counter[:, 2] = run & 0xFFFFFFFF
    counter[:, 3] = run >> 32
    words = philox4x32(counter, [key & 0xFFFFFFFF, key >> 32]).astype(np.uint64)
    even = (d & np.uint64(1)) == 0
    bits = np.where(
        even,
        words[:, 0] | (words[:, 1] << np.uint64(32)),
        words[:, 2] | (words[:, 3] << np.uint64(32)),
    )
    return (bits >> np.uint64(12)).astype(np.float64) * 2.0**-52


def draw_action(mu: Floats, u: float) -> int:
    """The first a with u·(mu_1 + ... + mu_K) < mu_1 + ... + mu_a.

    An arm of probability exactly 0 is never drawn: its cumulative sum equals the one before it.

    Examples
    --------
    >>> draw_action(np.array([0.5, 0.0, 0.5]), 0.5)
    2
    """
    cumulative = np.cumsum(mu)
    return int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))


def draw_outcome(probabilities: npt.ArrayLike, v: float) -> int:
    """The first i with v < p_1 + ... + p_i; the last gets what rounding left of the sum.

    Examples
    --------
    >>> draw_outcome([0.25, 0.75], 0.25)
    1
    """
    return int(np.searchsorted(np.cumsum(probabilities)[:-1], v, side="right"))
