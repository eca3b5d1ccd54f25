r"""The conditions on schedules: Robbins–Monro, and :math:`t \varepsilon_t^2 \to \infty`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committal.config import Schedule, keeps_exploring, robbins_monro
from committal.config.schedules import Rate
from committal.support import check, limits

__all__ = ["ScheduleCheck", "check_schedule"]


@dataclass(frozen=True, slots=True)
class ScheduleCheck:
    r"""Which conditions a schedule fulfils, and the sums they are about.

    Attributes
    ----------
    robbins_monro : bool or None
        :math:`\sum x_t = \infty` and :math:`\sum x_t^2 < \infty`; None if a table cannot tell.
    keeps_exploring : bool or None
        :math:`t x_t^2 \to \infty`; None if a table cannot tell.
    total, squares : float
        :math:`\sum x_t` and :math:`\sum x_t^2` over the first `steps` updates.
    exploration : float
        :math:`t x_t^2` at the last of them.
    steps : int
        How many.
    """

    robbins_monro: bool | None
    keeps_exploring: bool | None
    total: float
    squares: float
    exploration: float
    steps: int


def check_schedule(x: Rate, steps: int) -> ScheduleCheck:
    r"""Check :math:`\sum x_t = \infty`, :math:`\sum x_t^2 < \infty` and :math:`t x_t^2 \to \infty`.

    Parameters
    ----------
    x : float or Schedule
        A step size or an exploration rate.
    steps : int
        For how many updates the sums are reported.

    Returns
    -------
    ScheduleCheck

    Examples
    --------
    >>> import committal as cm
    >>> check = check_schedule(cm.Decay(1.0, 0.75), 1000)
    >>> check.robbins_monro, check.keeps_exploring, round(check.squares, 3)
    (True, False, 2.549)
    """
    steps = check.integer("steps", steps, 1, limits.UPDATES)
    fulfilled, exploring = robbins_monro(x), keeps_exploring(x)
    values = x.values(steps) if isinstance(x, Schedule) else np.full(steps, float(x))
    return ScheduleCheck(
        fulfilled,
        exploring,
        float(values.sum()),
        float((values**2).sum()),
        float(steps * values[-1] ** 2),
        steps,
    )
