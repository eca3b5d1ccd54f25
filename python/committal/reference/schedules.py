"""Schedules: the value of a step size, an exploration rate or a temperature at an update."""

from __future__ import annotations

from committal.config.schedules import Schedule

__all__ = ["scheduled"]


def scheduled(x: float | Schedule, t: int, steps: int) -> float:
    """x_t for update t; the draw after the last update uses the last value.

    Examples
    --------
    >>> import committal as cm
    >>> scheduled(cm.Decay(1.0, 0.5), 3, 10)
    0.5
    """
    if isinstance(x, Schedule):
        last = max(steps, 1) - 1
        return float(x.values(min(t, last) + 1)[-1])
    return x
