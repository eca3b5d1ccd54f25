"""Checks of arguments: each returns the value in its stored form or raises a typed error.

This is the one way of checking: every public function checks what it is given with these.

The stored form is what makes equal configurations identical: numbers become ``float`` or ``int``
(numpy scalars included, ``-0.0`` becomes ``0.0``), sequences and arrays become tuples. ``bool`` is
never a number; NaN and infinities are never allowed.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError, ConfigTypeError
from committal.support import limits

#: What may be given where a number is expected.
Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
#: What may be given where a sequence of numbers is expected.
Numbers: TypeAlias = Sequence[Number] | npt.NDArray[np.floating[Any]] | npt.NDArray[np.integer[Any]]
#: What may be given where an integer is expected.
Integer: TypeAlias = int | np.integer[Any]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Interval:
    """A set of allowed numbers, which can describe itself.

    Examples
    --------
    >>> 0.0 in Interval(0.0, 1.0, open_low=True)
    False
    >>> Interval(0.0, open_low=True).one, Interval(0.0, 1.0).many
    ('a finite number > 0', 'numbers in [0, 1]')
    """

    low: float = -limits.MAGNITUDE
    high: float = limits.MAGNITUDE
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, x: float) -> bool:
        # Written so that NaN is in no interval.
        above = self.low < x if self.open_low else self.low <= x
        below = x < self.high if self.open_high else x <= self.high
        return above and below

    @property
    def one(self) -> str:
        """The interval in words, for one number."""
        return f"a {self._words('number')}"

    @property
    def many(self) -> str:
        """The interval in words, for several numbers."""
        return self._words("numbers")

    def _words(self, noun: str) -> str:
        bounded = abs(self.low) < limits.MAGNITUDE, abs(self.high) < limits.MAGNITUDE
        if all(bounded):
            left, right = "[("[self.open_low], "])"[self.open_high]
            return f"{noun} in {left}{self.low:g}, {self.high:g}{right}"
        if bounded[0]:
            return f"finite {noun} {'>' if self.open_low else '>='} {self.low:g}"
        if bounded[1]:
            return f"finite {noun} {'<' if self.open_high else '<='} {self.high:g}"
        return f"finite {noun}"


def too_large(x: float) -> str:
    """End of the sentence for a number that is finite but larger than any that is allowed."""
    if not limits.MAGNITUDE < abs(x) < math.inf:
        return ""
    return f" of at most {limits.MAGNITUDE:g} in magnitude"


ANY = Interval()
NON_NEGATIVE = Interval(0.0)
POSITIVE = Interval(0.0, open_low=True)
NEGATIVE = Interval(high=0.0, open_high=True)
UNIT = Interval(0.0, 1.0)
UNIT_POSITIVE = Interval(0.0, 1.0, open_low=True)
UNIT_BELOW = Interval(0.0, 1.0, open_high=True)
UNIT_INSIDE = Interval(0.0, 1.0, open_low=True, open_high=True)


def one_of(given: object, names: Iterable[str], noun: str = "") -> str:
    """Say which names are allowed and which of them was probably meant.

    Examples
    --------
    >>> one_of("polcy", ["value", "policy"])
    "one of 'value', 'policy'; did you mean 'policy'?"
    """
    names = list(names)
    text = f"one of {noun} " if noun else "one of "
    text += ", ".join(repr(name) for name in names)
    close = difflib.get_close_matches(given.lower(), names, 1) if isinstance(given, str) else []
    return f"{text}; did you mean {close[0]!r}?" if close else text


def is_real_type(kind: type) -> bool:
    """Say whether values of a type are real numbers.

    Examples
    --------
    >>> is_real_type(np.float32), is_real_type(bool)
    (True, False)
    """
    # np.bool_ does not register as a Real; bool does, being an int.
    return issubclass(kind, numbers.Real) and not issubclass(kind, bool)


def is_real(value: object) -> bool:
    """Say whether a value is a real number: an int, a float, a numpy scalar, but not a bool.

    Examples
    --------
    >>> is_real(np.float32(0.5)), is_real(True), is_real("1")
    (True, False, False)
    """
    return is_real_type(type(value))


def refuse_masked(argument: str, value: object, allowed: str) -> None:
    """Refuse masked entries: numpy would show the numbers behind the mask.

    Examples
    --------
    >>> refuse_masked("c", np.ma.masked, "a finite number")
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: c = '--' is not allowed; expected a finite number, unmasked
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ConfigTypeError(argument, str(value), f"{allowed}, unmasked")


def ndim(value: Any) -> int:
    """Return the number of dimensions that numpy sees; -1 where there is no regular shape.

    Examples
    --------
    >>> ndim(3), ndim([1, 2]), ndim([[1, 2], [3]])
    (0, 1, -1)
    """
    try:
        return np.ndim(value)
    except (TypeError, ValueError):
        return -1


def number(argument: str, value: object, interval: Interval = ANY, *, suffix: str = "") -> float:
    """Return a finite float inside an interval.

    Examples
    --------
    >>> number("Constant.c", np.int64(1))
    1.0
    >>> number("Constant.c", True)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: Constant.c = True is not allowed; expected a finite number
    """
    allowed = interval.one + suffix
    refuse_masked(argument, value, allowed)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not (isinstance(value, numbers.Real) and is_real(value)):
        raise ConfigTypeError(argument, value, allowed)
    try:
        x = float(value) + 0.0  # -0.0 + 0.0 is 0.0: equal values must print and hash alike
    except OverflowError:
        x = math.inf
    if x not in interval:
        raise ConfigError(argument, value, allowed + too_large(x))
    return x


def integer(argument: str, value: object, low: int, high: int | None = None) -> int:
    """Return an int between two bounds, both included.

    Examples
    --------
    >>> integer("Experiment.steps", np.int64(3), 0)
    3
    >>> integer("Record.every", 0.5, 1)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: Record.every = 0.5 is not allowed; expected an integer >= 1
    """
    allowed = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"
    refuse_masked(argument, value, allowed)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ConfigTypeError(argument, value, allowed)
    n = int(value)
    if n < low or (high is not None and n > high):
        raise ConfigError(argument, value, allowed)
    return n


def array(
    argument: str,
    value: object,
    interval: Interval = ANY,
    *,
    length: int | None = None,
    least: int = 0,
    noun: str = "",
) -> npt.NDArray[np.float64]:
    """Return a one-dimensional array of finite floats inside an interval.

    Parameters
    ----------
    argument, value, interval
        As for `number`.
    length
        The only length allowed.
    least
        The least length allowed.
    noun
        What the entries belong to, for messages: ``"arm"``.
    """
    allowed = interval.many
    each = f", one per {noun}" if noun else ""
    if isinstance(value, (str, bytes)):
        raise ConfigTypeError(argument, value, allowed)
    refuse_masked(argument, value, allowed)
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        try:
            given = np.asarray(value)
        except (TypeError, ValueError):
            raise ConfigTypeError(argument, value, allowed) from None
        if given.dtype.kind not in "iufO":
            raise ConfigTypeError(argument, value, allowed)
        if given.ndim != 1:
            raise ConfigError(argument, value, f"{allowed} in one dimension{each}")
        items: Any = given.tolist() if given.dtype.kind == "O" else given
    elif isinstance(value, Sequence):
        items = value
    else:
        raise ConfigTypeError(argument, value, f"a sequence of {allowed}")
    if not isinstance(items, np.ndarray):
        # One pass over the types catches booleans and strings, which numpy would convert.
        wrong = [kind for kind in set(map(type, items)) if not is_real_type(kind)]
        if wrong:
            raise ConfigTypeError(argument, value, allowed)
    try:
        x = np.array(items, dtype=np.float64)
    except OverflowError:
        raise ConfigError(argument, value, allowed) from None
    x += 0.0  # see `number`

    n = len(x)
    if length is not None and n != length:
        raise ConfigError(argument, value, f"{length} {allowed}{each} (there are {n})")
    if n < least:
        raise ConfigError(argument, value, f"at least {least} {allowed}{each}")
    with np.errstate(invalid="ignore"):
        above = interval.low < x if interval.open_low else interval.low <= x
        below = x < interval.high if interval.open_high else x <= interval.high
    good = above & below
    if not good.all():
        first = int(np.argmin(good))
        # A long sequence is abbreviated in the message, so say where to look.
        where = f" (entry {first} is {float(x[first])!r})" if n > 6 else ""
        raise ConfigError(argument, value, allowed + too_large(float(x[first])) + where)
    return x


def vector(
    argument: str,
    value: object,
    interval: Interval = ANY,
    *,
    length: int | None = None,
    least: int = 0,
    noun: str = "",
) -> tuple[float, ...]:
    """Return a tuple of finite floats inside an interval; see `array`.

    Examples
    --------
    >>> vector("Bandit.means", [1, np.float32(0.5)])
    (1.0, 0.5)
    >>> vector("Bandit.means", [1.0, float("nan")])
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: Bandit.means = [1.0, nan] is not allowed; expected finite numbers
    """
    x = array(argument, value, interval, length=length, least=least, noun=noun)
    return tuple(x.tolist())


def probabilities(argument: str, value: object, *, positive: bool = False) -> tuple[float, ...]:
    """Return a tuple of probabilities that sum to one within 1e-9; they are not renormalised.

    Examples
    --------
    >>> probabilities("Direct.probabilities", [0.5, 0.6])
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: Direct.probabilities = [0.5, 0.6] is not allowed; expected \
probabilities that sum to 1 (the sum is 1.1)
    """
    p = vector(argument, value, UNIT_POSITIVE if positive else UNIT, least=1)
    total = math.fsum(p)
    if abs(total - 1.0) > limits.SUM:
        raise ConfigError(argument, value, f"probabilities that sum to 1 (the sum is {total:.12g})")
    return p


def choice(argument: str, value: object, names: Sequence[str]) -> str:
    """Return one of some names.

    Examples
    --------
    >>> choice("MinVariance.metric", "naturel", ["gradient", "natural"])
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: MinVariance.metric = 'naturel' is not allowed; expected one of \
'gradient', 'natural'; did you mean 'natural'?
    """
    if not isinstance(value, str):
        raise ConfigTypeError(argument, value, one_of(value, names))
    if value not in names:
        raise ConfigError(argument, value, one_of(value, names))
    return str(value)


def instance(argument: str, value: object, kind: type[T], allowed: str) -> T:
    """Return an object of a class.

    Examples
    --------
    >>> instance("mdp", 3, dict, "a dictionary")
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: mdp = 3 is not allowed; expected a dictionary
    """
    if not isinstance(value, kind):
        raise ConfigTypeError(argument, value, allowed)
    return value


def boolean(argument: str, value: object) -> bool:
    """Return True or False; numbers are neither.

    Examples
    --------
    >>> boolean("visible", np.True_)
    True
    >>> boolean("visible", 1)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: visible = 1 is not allowed; expected True or False
    """
    if not isinstance(value, bool | np.bool_):
        raise ConfigTypeError(argument, value, "True or False")
    return bool(value)


def text(argument: str, value: object, allowed: str = "a text") -> str:
    """Return a text.

    Examples
    --------
    >>> text("name", "value")
    'value'
    """
    return str(instance(argument, value, str, allowed))


def level(value: object) -> float:
    """Return the coverage of an interval; every function calls it `level`.

    Examples
    --------
    >>> level(0.95)
    0.95
    >>> level(95)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: level = 95 is not allowed; expected a number in (0, 1)
    """
    return number("level", value, UNIT_INSIDE)


def generator(argument: str, value: object) -> np.random.Generator:
    """Return a generator of random numbers, from a seed or as it is.

    Examples
    --------
    >>> int(generator("rng", 0).integers(10))
    8
    """
    if isinstance(value, np.random.Generator):
        return value
    allowed = "an integer >= 0 or a numpy.random.Generator"
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ConfigTypeError(argument, value, allowed)
    if value < 0:
        raise ConfigError(argument, value, allowed)
    return np.random.default_rng(int(value))


def dataset(argument: str, value: T, allowed: str = "committal.run or Study.run") -> T:
    """Return a dataset; xarray need not be imported to know one.

    Examples
    --------
    >>> dataset("data", None)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: data = None is not allowed; expected a dataset made by \
committal.run or Study.run
    """
    if isinstance(value, type) or not (hasattr(value, "data_vars") and hasattr(value, "coords")):
        raise ConfigTypeError(argument, value, f"a dataset made by {allowed}")
    return value
