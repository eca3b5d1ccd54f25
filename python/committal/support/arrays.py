"""Checks of arrays of any shape; see `check`, whose rules they follow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, limits

Floats = npt.NDArray[np.float64]


def tensor(
    argument: str,
    value: object,
    interval: check.Interval = check.ANY,
    *,
    finite: bool = True,
    many: str | None = None,
) -> Floats:
    """Return an array of any shape of numbers inside an interval.

    Parameters
    ----------
    argument, value, interval
        As for `check.number`.
    finite
        Whether NaN and infinities are refused; if not, the interval is not asked.
    many
        What is allowed, for messages; the interval in words by default.

    Examples
    --------
    >>> tensor("theta", [[1, 2]])
    array([[1., 2.]])
    >>> tensor("theta", ["1"])
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: theta = ['1'] is not allowed; expected an array of finite \
numbers
    """
    allowed = f"an array of {many or (interval.many if finite else 'numbers')}"
    check.refuse_masked(argument, value, allowed)
    try:
        given = np.asarray(value)
        # Objects are what numpy makes of None and of integers that are too large.
        if given.dtype.kind not in "iufO":
            raise ConfigTypeError(argument, value, allowed)
        if given.dtype.kind == "O" and not all(map(check.is_real, given.flat)):
            raise ConfigTypeError(argument, value, allowed)
        x = given.astype(np.float64)
    except OverflowError:
        raise ConfigError(
            argument, value, f"{allowed} of at most {limits.MAGNITUDE:g} in magnitude"
        ) from None
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigTypeError(argument, value, f"{allowed} in a regular shape") from None
    if finite:
        above = interval.low < x if interval.open_low else interval.low <= x
        below = x < interval.high if interval.open_high else x <= interval.high
        good = above & below
        if not good.all():
            first = float(x[~good][0])
            where = f" (there is {first!r})" if x.size > 6 else ""
            raise ConfigError(argument, value, allowed + check.too_large(first) + where)
    return x


def counts(argument: str, value: object, noun: str = "numbers") -> Floats:
    """Return an array of whole numbers >= 0, as floats: of runs, failures, updates.

    Examples
    --------
    >>> counts("failures", [0, 5])
    array([0., 5.])
    """
    allowed = f"whole {noun} >= 0"
    x = tensor(argument, value, check.Interval(0.0, 2.0**63), many=allowed)
    if not np.array_equal(x, np.rint(x)):
        raise ConfigError(argument, value, f"an array of {allowed}")
    return x


def same_shape(**arrays: Floats) -> None:
    """Refuse arrays that cannot be broadcast together, by the names of their arguments.

    Examples
    --------
    >>> same_shape(mean=np.zeros(3), sem=np.zeros(2))
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: sem = [0.0, 0.0] is not allowed; expected a shape that goes \
with mean's, (3,); it is (2,)
    """
    (first, to), *rest = arrays.items()
    shape = to.shape
    for argument, x in rest:
        try:
            shape = np.broadcast_shapes(shape, x.shape)
        except ValueError:
            raise ConfigError(
                argument, x, f"a shape that goes with {first}'s, {shape}; it is {x.shape}"
            ) from None


def failures(given: object, of_runs: object) -> tuple[Floats, Floats]:
    """Return failures and runs, in one shape: whole numbers with failures <= runs.

    Examples
    --------
    >>> failures(7, [5, 10])
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: failures = 7 is not allowed; expected at most as many as `runs`
    """
    k, n = counts("failures", given), counts("runs", of_runs)
    same_shape(failures=k, runs=n)
    if (k > n).any():
        raise ConfigError("failures", given, "at most as many as `runs`")
    k, n = np.broadcast_arrays(k, n)
    return k, n
