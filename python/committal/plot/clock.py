"""Colours of time: most happens early, so early times get more of the colours."""

from __future__ import annotations

from matplotlib.colors import PowerNorm

_POWER = 1.0 / 3.0

#: Where bars of time have their ticks, as fractions of the whole.
TICKS = (0.0, 0.01, 0.1, 0.3, 1.0)


def clock(first: float, last: float) -> PowerNorm:
    """Return a scale of colours on which a time stands at the cube root of its share.

    Examples
    --------
    >>> scale = clock(0, 1000)
    >>> [round(float(scale(t)), 2) for t in (0, 10, 125, 1000)]
    [0.0, 0.22, 0.5, 1.0]
    """
    return PowerNorm(_POWER, first, last)
