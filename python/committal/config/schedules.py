"""Quantities that change with the update t = 0, 1, 2, ...: step sizes, exploration, temperature."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.base import Config, config
from committal.errors import ConfigError
from committal.support import check, limits

__all__ = ["Decay", "Schedule", "Values", "keeps_exploring", "robbins_monro"]


class Schedule(Config):
    """x_t, one number per update t = 0, 1, 2, ...

    A schedule may stand wherever a step size, an exploration rate or a temperature is expected.

    Examples
    --------
    >>> from committal.config import Natural
    >>> Natural(step_size=Decay(0.5, 0.6))
    Natural(step_size=Decay(0.5, 0.6))
    """

    __slots__ = ()

    @property
    def length(self) -> int | None:
        """How many values there are, None if there is no end."""
        return None

    def values(self, steps: int) -> npt.NDArray[np.float64]:
        """Return x_0, ..., x_(steps-1)."""
        raise NotImplementedError

    def at(self, t: int) -> float:
        """Return x_t.

        Examples
        --------
        >>> Decay(1.0, 0.5).at(3)
        0.5
        """
        t = check.integer("t", t, 0, limits.DRAWS)
        return float(self.values(t + 1)[t])

    def robbins_monro(self) -> bool | None:
        """Say whether sum x_t = inf and sum x_t^2 < inf; None if a finite table cannot tell."""
        raise NotImplementedError

    def keeps_exploring(self) -> bool | None:
        """Say whether t x_t^2 -> inf; None if a finite table cannot tell."""
        raise NotImplementedError

    def _within(self, interval: check.Interval) -> bool:
        """Say whether every x_t is in an interval."""
        raise NotImplementedError


#: What may be given where a constant or a schedule is expected.
Rate: TypeAlias = check.Number | Schedule


def at_time(x: float | Schedule, t: int) -> float:
    """Return x_t of a constant or a schedule.

    Examples
    --------
    >>> at_time(0.1, 7), at_time(Decay(1.0, 0.5), 3)
    (0.1, 0.5)
    """
    return x.at(t) if isinstance(x, Schedule) else x


@config
class Decay(Schedule):
    """x_t = scale * (t + offset)^(-power).

    Parameters
    ----------
    scale
        A number > 0.
    power
        A number >= 0; 0 is a constant.
    offset
        A number > 0; with the default 1 the first value is `scale`.

    Notes
    -----
    The powers 0, 1/2, 1 and 2 use only square roots, products and quotients, which round the same
    way everywhere; others use the C library's ``pow`` one number at a time rather than numpy's
    vectorised one, whose last bit depends on the processor.

    Examples
    --------
    >>> Decay(0.5, 1.0).values(4)
    array([0.5       , 0.25      , 0.16666667, 0.125     ])
    >>> Decay(0.5, 1.0).robbins_monro(), Decay(0.5, 0.25).keeps_exploring()
    (True, True)
    """

    scale: float
    power: float
    offset: float

    _positional = 2

    def __init__(
        self, scale: check.Number, power: check.Number, offset: check.Number = 1.0
    ) -> None:
        self._set(
            scale=check.number("Decay.scale", scale, check.POSITIVE),
            power=check.number("Decay.power", power, check.NON_NEGATIVE),
            offset=check.number("Decay.offset", offset, check.POSITIVE),
        )
        if not 0.0 < self._at(self.offset) < math.inf:
            raise ConfigError(
                "Decay.offset", offset, "an offset at which the first value is finite and > 0"
            )

    def at(self, t: int) -> float:
        """Return x_t, without a table of all earlier values."""
        t = check.integer("t", t, 0, limits.DRAWS)
        return self._at(t + self.offset)

    def _at(self, x: float) -> float:
        try:
            return self.scale / math.pow(x, self.power)
        except OverflowError:
            return 0.0
        except ZeroDivisionError:
            return math.inf

    def values(self, steps: int) -> npt.NDArray[np.float64]:
        """Return x_0, ..., x_(steps-1).

        Examples
        --------
        >>> Decay(1.0, 0.5).values(2)
        array([1.        , 0.70710678])
        """
        steps = check.integer("steps", steps, 0, limits.SCHEDULE)
        x = np.arange(steps, dtype=np.float64) + self.offset
        if self.power == 0.0:
            return np.full(steps, self.scale)
        if self.power == 0.5:
            return self.scale / np.sqrt(x)
        if self.power == 1.0:
            return self.scale / x
        if self.power == 2.0:
            return self.scale / (x * x)
        return np.array([self._at(value) for value in x.tolist()], dtype=np.float64)

    def robbins_monro(self) -> bool:
        """Say whether 1/2 < power <= 1.

        Examples
        --------
        >>> Decay(1.0, 1.0).robbins_monro(), Decay(1.0, 0.5).robbins_monro()
        (True, False)
        """
        return 0.5 < self.power <= 1.0

    def keeps_exploring(self) -> bool:
        """Say whether power < 1/2, for t x_t^2 grows like t^(1 - 2 power).

        Examples
        --------
        >>> Decay(1.0, 0.4).keeps_exploring(), Decay(1.0, 0.5).keeps_exploring()
        (True, False)
        """
        return self.power < 0.5

    def _within(self, interval: check.Interval) -> bool:
        first = float(self.values(1)[0])
        # Later values lie in (0, first].
        return first in interval and (self.power == 0.0 or interval.low <= 0.0)


@config
class Values(Schedule):
    """x_t = values[t], from a table with at least one number per update.

    Parameters
    ----------
    values
        Finite numbers; an experiment needs at least `steps` of them.

    Examples
    --------
    >>> Values([0.3, 0.2, 0.1]).values(2)
    array([0.3, 0.2])
    """

    # Not called `values`, which is the method that all schedules have.
    table: tuple[float, ...]

    _positional = 1

    def __init__(self, values: check.Numbers) -> None:
        self._set(table=check.vector("Values.values", values, least=1))

    def _arguments(self) -> dict[str, Any]:
        return {"values": self.table}

    @property
    def length(self) -> int:
        """The length of the table."""
        return len(self.table)

    def values(self, steps: int) -> npt.NDArray[np.float64]:
        """Return x_0, ..., x_(steps-1).

        Examples
        --------
        >>> Values([0.3, 0.2]).values(3)
        Traceback (most recent call last):
            ...
        committal.errors.ConfigError: Values.values = (0.3, 0.2) is not allowed; expected at least \
3 numbers (there are 2)
        """
        steps = check.integer("steps", steps, 0, limits.SCHEDULE)
        if steps > len(self.table):
            raise ConfigError(
                "Values.values",
                self.table,
                f"at least {steps} numbers (there are {len(self.table)})",
            )
        return np.array(self.table[:steps], dtype=np.float64)

    def robbins_monro(self) -> None:
        """Return None: a finite table says nothing about infinite sums."""

    def keeps_exploring(self) -> None:
        """Return None: a finite table says nothing about a limit."""

    def _within(self, interval: check.Interval) -> bool:
        return min(self.table) in interval and max(self.table) in interval


def rate(argument: str, value: object, interval: check.Interval) -> float | Schedule:
    """Check a constant or a schedule whose values are all in an interval.

    Examples
    --------
    >>> rate("Natural.step_size", Values([0.1, 0.0]), check.POSITIVE)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: Natural.step_size = Values((0.1, 0.0)) is not allowed; expected \
a schedule of finite numbers > 0
    """
    if isinstance(value, Schedule):
        if not value._within(interval):
            raise ConfigError(argument, value, f"a schedule of {interval.many}")
        return value
    return check.number(argument, value, interval, suffix=" or a Schedule")


def robbins_monro(x: Rate) -> bool | None:
    """Say whether sum x_t = inf and sum x_t^2 < inf, the condition on step sizes.

    Parameters
    ----------
    x
        A schedule, or a number for a constant one.

    Returns
    -------
    bool or None
        None when it cannot be decided, as for a finite table. A constant never fulfils it.

    Examples
    --------
    >>> robbins_monro(0.1), robbins_monro(Decay(1.0, 0.6)), robbins_monro(Values([1.0]))
    (False, True, None)
    """
    if isinstance(x, Schedule):
        return x.robbins_monro()
    _constant("robbins_monro.x", x)
    return False


def keeps_exploring(x: Rate) -> bool | None:
    """Say whether t x_t^2 -> inf, the condition on exploration for natural gradient to converge.

    Parameters
    ----------
    x
        A schedule, or a number for a constant one.

    Returns
    -------
    bool or None
        None when it cannot be decided, as for a finite table. A constant > 0 fulfils it.

    Examples
    --------
    >>> keeps_exploring(0.1), keeps_exploring(Decay(1.0, 0.5)), keeps_exploring(Values([1.0]))
    (True, False, None)
    """
    if isinstance(x, Schedule):
        return x.keeps_exploring()
    return _constant("keeps_exploring.x", x) > 0.0


def _constant(argument: str, x: object) -> float:
    return check.number(argument, x, check.NON_NEGATIVE, suffix=" or a Schedule")
