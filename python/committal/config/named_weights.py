"""The weights that have a name: formulas of the ratio rho and the advantage A.

They are what training with old data and training in groups have come to use. Each says its formula;
the core knows none of them.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from committal.config.base import Config, config
from committal.config.formulas import read_formula
from committal.config.weights import Weight
from committal.errors import ConfigError
from committal.formula import functions as f
from committal.formula.formula import Formula
from committal.support import check

__all__ = ["Asymmetric", "Clip", "Delightful", "Implicit", "Tapered", "Truncate"]


@config
class Asymmetric(Weight):
    """w = 1: no ratio at all, as in AsymRE, whoever drew the samples.

    Off the policy it is the baseline that says where it ends: good news and bad news count alike.

    Examples
    --------
    >>> Asymmetric()
    Asymmetric()
    """

    def __init__(self) -> None:
        self._set()

    @property
    def tree(self) -> Formula:
        """1."""
        return read_formula("weight", "1")


@config
class Tapered(Weight):
    """w = 1 where A >= 0, min(rho, 1) where A < 0, as in TOPR.

    Bad news of an arm that the policy has left does not count any more.

    Examples
    --------
    >>> Tapered()
    Tapered()
    """

    def __init__(self) -> None:
        self._set()

    @property
    def tree(self) -> Formula:
        """1 or min(rho, 1), by the sign of A."""
        return read_formula("weight", "where(A >= 0, 1, minimum(rho, 1))")


@config
class Clip(Weight):
    """w = rho, but 0 where A > 0 and rho > 1 + high, or A < 0 and rho < 1 - low: PPO's.

    On the policy, with one epoch, rho is 1 and it never acts.

    Parameters
    ----------
    low
        How far rho may fall below 1, in [0, 1]; from there on bad news does not count.
    high
        How far rho may rise above 1, >= 0; `low` if it is not given.

    Examples
    --------
    >>> Clip(0.2, 0.28)
    Clip(0.2, 0.28)
    >>> Clip(0.2).high
    0.2
    """

    low: float
    high: float

    _positional = 2

    def __init__(self, low: check.Number, high: check.Number | None = None) -> None:
        self._set(
            low=check.number("Clip.low", low, check.UNIT),
            high=check.number("Clip.high", low if high is None else high, check.NON_NEGATIVE),
        )

    @property
    def tree(self) -> Formula:
        """Rho, or 0 outside."""
        return numbered(_clip(), self)


@config
class Truncate(Weight):
    """w = clip(rho, low, high): the ratio, kept between two numbers.

    Parameters
    ----------
    low, high
        The least and the largest weight, 0 <= low <= high. ``Truncate(0, 2)`` is min(rho, 2).

    Examples
    --------
    >>> Truncate(0.5, 2)
    Truncate(0.5, 2.0)
    """

    low: float
    high: float

    _positional = 2

    def __init__(self, low: check.Number, high: check.Number) -> None:
        least = check.number("Truncate.low", low, check.NON_NEGATIVE)
        largest = check.number("Truncate.high", high, check.NON_NEGATIVE)
        if largest < least:
            raise ConfigError("Truncate.high", high, f"a number >= low, which is {least:g}")
        self._set(low=least, high=largest)

    @property
    def tree(self) -> Formula:
        """Rho between two numbers."""
        return numbered(_truncate(), self)


@config
class Delightful(Weight):
    """w = rho / (1 + exp(A log pi_a / temperature)): good news of rare arms counts most.

    The gate is the logistic function of A (-log pi_a) / temperature, which is near 1 for good news
    of a rare arm, near 0 for bad news of one, and 1/2 for an arm that is certain.

    Parameters
    ----------
    temperature
        > 0; far above all A log pi the gate is 1/2 for everything.

    Examples
    --------
    >>> Delightful(0.5)
    Delightful(0.5)
    """

    temperature: float

    _positional = 1

    def __init__(self, temperature: check.Number = 1.0) -> None:
        self._set(temperature=check.number("Delightful.temperature", temperature, check.POSITIVE))

    @property
    def tree(self) -> Formula:
        """Rho times the gate."""
        return numbered(_delightful(), self)


@config
class Implicit(Weight):
    """w = pi_a / (mu_a + gamma): the implicit exploration of EXP3-IX.

    ``OneSample(implicit=gamma)`` is the same, and takes schedules.

    Parameters
    ----------
    gamma
        >= 0; 0 gives rho.

    Examples
    --------
    >>> Implicit(0.1)
    Implicit(0.1)
    """

    gamma: float

    _positional = 1

    def __init__(self, gamma: check.Number) -> None:
        self._set(gamma=check.number("Implicit.gamma", gamma, check.NON_NEGATIVE))

    @property
    def tree(self) -> Formula:
        """pi_a / (mu_a + gamma)."""
        return numbered(_implicit(), self)


def numbered(formula: Formula, part: Config) -> Formula:
    """A formula with the numbers of a part as its parameters.

    Examples
    --------
    >>> numbered(_truncate(), Truncate(0, 2)).parameters
    (('high', 2.0), ('low', 0.0))
    """
    values = tuple((name, getattr(part, name)) for name, _ in formula.parameters)
    return replace(formula, parameters=values)


# -- as formulas -----------------------------------------------------------------------------------


@functools.cache
def _clip() -> Formula:
    def clip(A: Any, rho: Any, *, low: Any = 0.2, high: Any = 0.2) -> Any:
        too_high = (A > 0) & (rho > 1 + high)
        too_low = (A < 0) & (rho < 1 - low)
        return f.where(too_high | too_low, 0, rho)

    return read_formula("weight", clip)


@functools.cache
def _truncate() -> Formula:
    def truncate(rho: Any, *, low: Any = 0.0, high: Any = 1.0) -> Any:
        return f.clip(rho, low, high)

    return read_formula("weight", truncate)


@functools.cache
def _delightful() -> Formula:
    def delightful(A: Any, rho: Any, pi: Any, a: Any, *, temperature: Any = 1.0) -> Any:
        # Within these ends the exponential is finite, and beyond them the gate has its limit.
        delight = f.clip(A * f.log(pi[a]) / temperature, -700, 700)
        return rho / (1 + f.exp(delight))

    return read_formula("weight", delightful)


@functools.cache
def _implicit() -> Formula:
    def implicit(pi: Any, mu: Any, a: Any, *, gamma: Any = 0.0) -> Any:
        return pi[a] / (mu[a] + gamma)

    return read_formula("weight", implicit)
