"""Errors that say which argument is wrong, what it was, and what it may be."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

__all__ = [
    "CombinationError",
    "CommittalError",
    "ConfigError",
    "ConfigTypeError",
    "DivergenceError",
    "ExecutorError",
    "FormulaError",
    "NonFiniteError",
    "StoreError",
    "StoreWarning",
    "facts_of",
    "short_repr",
]


class _Repr(reprlib.Repr):
    """Integers of thousands of digits too, which Python refuses to write."""

    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:
            return f"<an integer of {x.bit_length()} bits>"


_SHORT = _Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 6
_SHORT.maxlevel = 4
_SHORT.maxstring = _SHORT.maxother = 160


def _plain(value: object, level: int = 3) -> object:
    """Turn numpy values into Python ones, so that a message shows ``nan``, not ``np.float64(nan)``.

    Only the entries that `reprlib` will show are converted: an argument may hold a million.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.item() if value.ndim == 0 else _plain(list(value[:7]), level)
    if level > 0 and type(value) is list:
        return [_plain(item, level - 1) for item in value[:7]]
    if level > 0 and type(value) is tuple:
        return tuple(_plain(item, level - 1) for item in value[:7])
    return value


def short_repr(value: object) -> str:
    """Write a value in at most a line or two, whatever its size.

    Examples
    --------
    >>> short_repr(np.array([1.0, np.nan]))
    '[1.0, nan]'
    >>> short_repr(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    >>> short_repr(10**5000)
    '<an integer of 16610 bits>'
    """
    return _SHORT.repr(_plain(value))


class CommittalError(Exception):
    """Base of every error that the package raises on purpose.

    Examples
    --------
    >>> issubclass(ConfigError, CommittalError)
    True
    """


class ConfigError(CommittalError, ValueError):
    """An argument has a value that is not allowed.

    Parameters
    ----------
    argument
        The argument, qualified by its class (``"Natural.step_size"``) or, when a dictionary is
        read, its path of keys (``"baseline.metric"``).
    value
        What was given.
    allowed
        What is allowed, as the end of the sentence "expected ...".

    Examples
    --------
    >>> error = ConfigError("Natural.step_size", -1.0, "a finite number > 0")
    >>> print(error)
    Natural.step_size = -1.0 is not allowed; expected a finite number > 0
    >>> error.argument, error.value
    ('Natural.step_size', -1.0)
    """

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        # The three arguments stay in `args`: this is what makes copies and pickles faithful.
        super().__init__(argument, value, allowed)
        self.argument = argument
        self.value: Any = value
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.argument} = {short_repr(self.value)} is not allowed; expected {self.allowed}"


class ConfigTypeError(ConfigError, TypeError):
    """An argument has a type that is not allowed.

    Examples
    --------
    >>> print(ConfigTypeError("Experiment.steps", 1.5, "an integer >= 0"))
    Experiment.steps = 1.5 is not allowed; expected an integer >= 0
    """


class CombinationError(ConfigError):
    """Parts that are legal one by one do not go together.

    Examples
    --------
    >>> print(CombinationError("Experiment.steps", 9, "at most 5, the length of the schedule"))
    Experiment.steps = 9 is not allowed; expected at most 5, the length of the schedule
    """


class FormulaError(ConfigTypeError):
    """A formula cannot be read, or cannot mean anything.

    Examples
    --------
    >>> print(FormulaError("baseline", "pi * r", "one number: add .sum()"))
    baseline = 'pi * r' is not allowed; expected one number: add .sum()
    """


class DivergenceError(CommittalError, ArithmeticError):
    """A run left the numbers: its parameters are no longer finite.

    Parameters
    ----------
    run
        Its number.
    update
        After how many updates.
    looked
        What was looked at to find out why, where there is something to tell.

    Attributes
    ----------
    point : dict
        In a study, the point of its grid; empty elsewhere.

    Examples
    --------
    >>> print(DivergenceError(7, 1024))
    run 7 diverged: after 1024 updates its parameters are not finite; expected a smaller step size \
or, with entropy regularisation, step_size * entropy < 2
    """

    def __init__(self, run: int, update: int, looked: str = "") -> None:
        super().__init__(run, update, looked)
        self.run = run
        self.update = update
        self.looked = looked
        self.point: dict[str, Any] = {}

    def __str__(self) -> str:
        why = (
            f"run {self.run} diverged: after {self.update} updates its parameters are not finite; "
            "expected a smaller step size or, with entropy regularisation, step_size * entropy < 2"
        )
        return _at(self.point) + why + _looked(self.looked)


def _at(point: dict[str, Any]) -> str:
    where = ", ".join(f"{axis} = {short_repr(value)}" for axis, value in point.items())
    return f"at {where}: " if where else ""


def _looked(looked: str) -> str:
    return f" ({looked})" if looked else ""


class NonFiniteError(DivergenceError):
    """A formula gave a number that is not finite.

    Parameters
    ----------
    run
        Its number.
    update
        After how many updates.
    part
        Which part of the experiment is the formula.
    expression
        The sub-expression that is not finite.
    operands
        The values that it was computed from, by their text.
    problem
        What is wrong with it, where it is something else: a link may be negative.
    looked
        What was looked at to find out why, where there is something to tell.

    Examples
    --------
    >>> print(NonFiniteError(7, 12, "baseline", "1 / sum(g)", {"sum(g)": 0.0}))
    run 7, update 12: the formula of baseline is not finite: 1 / sum(g) with sum(g) = 0.0
    """

    def __init__(
        self,
        run: int,
        update: int,
        part: str,
        expression: str,
        operands: dict[str, Any],
        problem: str = "is not finite",
        looked: str = "",
    ) -> None:
        super().__init__(run, update, looked)
        self.args = (run, update, part, expression, operands, problem, looked)
        self.part = part
        self.expression = expression
        self.operands = operands
        self.problem = problem

    def at(self, run: int, update: int) -> NonFiniteError:
        """The same of another run and update.

        Examples
        --------
        >>> NonFiniteError(0, 0, "policy", "theta", {}).at(3, 9).run
        3
        """
        return type(self)(run, update, *self.args[2:])

    def __str__(self) -> str:
        given = ", ".join(f"{text} = {short_repr(x)}" for text, x in self.operands.items())
        return (
            f"{_at(self.point)}run {self.run}, update {self.update}: the formula of {self.part} "
            f"{self.problem}: {self.expression}" + (f" with {given}" if given else "")
        ) + _looked(self.looked)


class StoreError(CommittalError):
    """A store on disk cannot be used as asked.

    Parameters
    ----------
    path
        The directory or the file.
    problem
        What is wrong with it.
    remedy
        What can be done about it.

    Examples
    --------
    >>> print(StoreError("results", "it is read-only", "choose another directory"))
    results: it is read-only; choose another directory
    """

    def __init__(self, path: object, problem: str, remedy: str) -> None:
        super().__init__(path, problem, remedy)
        self.path = str(path)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


class StoreWarning(UserWarning):
    """Some files of a store are damaged or do not belong to it; the rest is used.

    Examples
    --------
    >>> issubclass(StoreWarning, UserWarning)
    True
    """


class ExecutorError(CommittalError):
    """The executor that computes the chunks of a study cannot go on.

    Examples
    --------
    >>> issubclass(ExecutorError, CommittalError)
    True
    """


def facts_of(error: CommittalError) -> dict[str, Any]:
    """Return what an error says, in plain values.

    Examples
    --------
    >>> facts_of(StoreError("results", "it is read-only", "choose another"))["remedy"]
    'choose another'
    """
    names = ("argument", "value", "allowed", "path", "problem", "remedy")
    found = {name: getattr(error, name) for name in names if hasattr(error, name)}
    if "value" in found:
        found["value"] = short_repr(found["value"])
    return {"type": type(error).__name__, "message": str(error), **found}
