"""Baselines b_t and their algebra.

Baselines add up and scale: ``MinVariance() + 0.5``, ``0.9 * Value() - 0.1``. Every result is in
normal form, sum_i c_i B_i + offset with different atoms B_i in a fixed order, so two ways of
writing one baseline give equal objects with equal hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from committal.config.base import Config, config
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check

__all__ = [
    "Baseline",
    "Constant",
    "Gap",
    "Linear",
    "Maximum",
    "MinVariance",
    "RunningMean",
    "Value",
]

_Terms: TypeAlias = tuple[tuple[float, "Baseline"], ...]

METRICS = ("gradient", "natural")

# The weights of MinVariance contain lam^2, and 1 / pi up to 1e150: this keeps them finite.
_LAMBDA = check.Interval(-1e100, 1e100)


class Baseline(Config):
    """Base of the baselines: b + b', c b, b + c, b / c, -b are baselines again.

    Examples
    --------
    >>> 0.9 * Value() - 0.1
    0.9 * Value() - 0.1
    >>> Value() + MinVariance() == MinVariance() + Value()
    True
    >>> (Value() + 1) - Value()
    Constant(1.0)
    """

    __slots__ = ()

    # Makes numpy numbers leave `number + baseline` to this class.
    __array_ufunc__ = None

    def __add__(self, other: Baseline | check.Number) -> Baseline:
        return self._plus(1.0, other) if _combines(other) else NotImplemented

    def __radd__(self, other: check.Number) -> Baseline:
        return self._plus(1.0, other) if _combines(other) else NotImplemented

    def __sub__(self, other: Baseline | check.Number) -> Baseline:
        return self._plus(-1.0, other) if _combines(other) else NotImplemented

    def __rsub__(self, other: check.Number) -> Baseline:
        return (-self)._plus(1.0, other) if _combines(other) else NotImplemented

    def __mul__(self, other: check.Number) -> Baseline:
        if not check.is_real(other):
            return NotImplemented
        factor = check.number("Baseline.factor", other)
        terms, offset = _linear_parts(self)
        return _normal_form(((factor * c, b) for c, b in terms), factor * offset)

    def __rmul__(self, other: check.Number) -> Baseline:
        return self.__mul__(other)

    def __truediv__(self, other: check.Number) -> Baseline:
        if not check.is_real(other):
            return NotImplemented
        divisor = check.number("Baseline.divisor", other)
        if divisor == 0.0:
            raise ConfigError("Baseline.divisor", other, "a number other than 0")
        terms, offset = _linear_parts(self)
        return _normal_form(((c / divisor, b) for c, b in terms), offset / divisor)

    def __neg__(self) -> Baseline:
        return self * -1.0

    def __pos__(self) -> Baseline:
        return self

    def relative(self, c: check.Number) -> Baseline:
        """Return b + c (max_a r_a - b): the baseline moved towards the best mean by a fraction c.

        Parameters
        ----------
        c
            0 leaves the baseline as it is, 1 makes it the maximum, negative numbers move it away.

        Examples
        --------
        >>> MinVariance().relative(0.25)
        0.25 * Maximum() + 0.75 * MinVariance()
        """
        c = check.number("Baseline.relative.c", c)
        return (1.0 - c) * self + c * Maximum()

    def _plus(self, sign: float, other: Baseline | check.Number) -> Baseline:
        if isinstance(other, Baseline):
            terms, offset = _linear_parts(other)
        else:
            terms, offset = (), check.number("Baseline.term", other)
        own_terms, own_offset = _linear_parts(self)
        signed = tuple((sign * c, b) for c, b in terms)
        return _normal_form(own_terms + signed, own_offset + sign * offset)


def _combines(other: object) -> bool:
    return isinstance(other, Baseline) or check.is_real(other)


@config
class Constant(Baseline):
    """b = c.

    Parameters
    ----------
    c
        A finite number. A plain number may stand wherever a baseline is expected.

    Examples
    --------
    >>> Constant(-1)
    Constant(-1.0)
    """

    c: float

    _positional = 1

    def __init__(self, c: check.Number) -> None:
        self._set(c=check.number("Constant.c", c))


@config
class Value(Baseline):
    """b = V = sum_a pi(a) r_a, the value of the policy.

    Examples
    --------
    >>> Value() + 0.5
    Value() + 0.5
    """

    def __init__(self) -> None:
        self._set()


@config
class MinVariance(Baseline):
    """b = sum_a w_a r_a / sum_a w_a, the baseline of least variance.

    The weights depend on the norm in which variance is measured:

    - gradient: w_a = pi_a ||e_a - pi||^2, for the vanilla direction;
    - natural, ``lam=None``: w_a = 1 / pi_a, for the natural direction of least norm;
    - natural, `lam` given: w_a = pi_a [(K - 1) lam^2 + (lam + 1 / pi_a)^2], for the natural
      direction e_a / pi_a + lam (1, ..., 1).

    Parameters
    ----------
    metric
        ``"gradient"`` or ``"natural"``.
    lam
        The shift of the natural direction, only with ``metric="natural"``; None for least norm.

    Notes
    -----
    In the natural metric it is the second moment that is minimised: there the mean of the
    estimate moves along (1, ..., 1) with b, which a softmax cannot see.

    Examples
    --------
    >>> MinVariance() + 0.5
    MinVariance() + 0.5
    >>> MinVariance("natural", lam=1)
    MinVariance(metric='natural', lam=1.0)
    """

    metric: str
    lam: float | None

    def __init__(self, metric: str = "gradient", lam: check.Number | None = None) -> None:
        metric = check.choice("MinVariance.metric", metric, METRICS)
        if lam is not None:
            if metric != "natural":
                raise ConfigError("MinVariance.lam", lam, "None unless metric='natural'")
            lam = check.number("MinVariance.lam", lam, _LAMBDA)
        self._set(metric=metric, lam=lam)


@config
class Maximum(Baseline):
    """b = max_a r_a, the largest mean reward.

    Examples
    --------
    >>> Maximum() - 0.1
    Maximum() - 0.1
    """

    def __init__(self) -> None:
        self._set()


@config
class Gap(Baseline):
    """b = r_second + fraction (r_best - r_second): strictly between the two best means.

    Parameters
    ----------
    fraction
        A number in (0, 1); 1/2 is midway. The best arm must be unique.

    Examples
    --------
    >>> Gap()
    Gap()
    >>> Gap(0.9)
    Gap(0.9)
    """

    fraction: float

    _positional = 1

    def __init__(self, fraction: check.Number = 0.5) -> None:
        self._set(fraction=check.number("Gap.fraction", fraction, check.UNIT_INSIDE))


@config
class RunningMean(Baseline):
    """b = (R_1 + ... + R_n) / n, the mean of the rewards so far, or b += rate (R - b).

    Parameters
    ----------
    rate
        None for the mean of all rewards so far; a number in (0, 1] for the exponential moving
        average.
    initial
        b before the first reward. The plain mean then forgets it, the moving average starts
        from it.

    Examples
    --------
    >>> RunningMean(rate=0.1)
    RunningMean(rate=0.1)
    """

    rate: float | None
    initial: float

    def __init__(self, rate: check.Number | None = None, initial: check.Number = 0.0) -> None:
        if rate is not None:
            rate = check.number("RunningMean.rate", rate, check.UNIT_POSITIVE)
        self._set(rate=rate, initial=check.number("RunningMean.initial", initial))


@config
class Linear(Baseline):
    """b = sum_i c_i B_i + offset, the normal form that the algebra makes.

    It is rarely written by hand: ``0.9 * Value() - 0.1`` is shorter. Whatever is given is brought
    to normal form: equal atoms are merged, zero coefficients dropped, constants folded into the
    offset, terms ordered.

    Parameters
    ----------
    terms
        (coefficient, baseline) pairs.
    offset
        A finite number.

    Examples
    --------
    >>> Linear([(0.9, Value())], offset=-0.1)
    0.9 * Value() - 0.1
    """

    terms: _Terms
    offset: float

    def __init__(
        self, terms: Sequence[tuple[check.Number, Baseline]], offset: check.Number = 0.0
    ) -> None:
        pairs = []
        allowed = "(number, Baseline) pairs"
        if isinstance(terms, str) or not isinstance(terms, Iterable):
            raise ConfigTypeError("Linear.terms", terms, allowed)
        for term in terms:
            if not (isinstance(term, (tuple, list)) and len(term) == 2):
                raise ConfigTypeError("Linear.terms", terms, allowed)
            if not isinstance(term[1], Baseline):
                raise ConfigTypeError("Linear.terms", terms, allowed)
            pairs.append((check.number("Linear.terms", term[0]), term[1]))
        merged, total = _merge(pairs, check.number("Linear.offset", offset))
        self._set(terms=merged, offset=total)

    def __repr__(self) -> str:
        if not self.terms:
            return f"Linear((), offset={self.offset!r})"
        if self.offset == 0.0 and len(self.terms) == 1 and self.terms[0][0] == 1.0:
            # Printed by the algebra this would evaluate to the atom itself.
            return f"Linear({self.terms!r})"
        text = ""
        for c, atom in self.terms:
            size = repr(atom) if abs(c) == 1.0 else f"{abs(c)!r} * {atom!r}"
            text += _signed(c, size, first=not text)
        return text + _signed(self.offset, repr(abs(self.offset))) if self.offset else text


def _signed(number: float, size: str, first: bool = False) -> str:
    if first:
        return f"-{size}" if number < 0 else size
    return f" - {size}" if number < 0 else f" + {size}"


def _linear_parts(baseline: Baseline) -> tuple[_Terms, float]:
    if isinstance(baseline, Linear):
        return baseline.terms, baseline.offset
    if isinstance(baseline, Constant):
        return (), baseline.c
    return ((1.0, baseline),), 0.0


def _merge(terms: Iterable[tuple[float, Baseline]], offset: float) -> tuple[_Terms, float]:
    """Merge equal atoms, drop zeros, fold constants and put the terms in their order."""
    merged: dict[Baseline, float] = {}
    for coefficient, baseline in terms:
        inner, inner_offset = _linear_parts(baseline)
        offset += coefficient * inner_offset
        for c, atom in inner:
            merged[atom] = merged.get(atom, 0.0) + coefficient * c
    checked = [(check.number("Linear.terms", c), atom) for atom, c in merged.items()]
    kept = sorted(((c, b) for c, b in checked if c != 0.0), key=lambda term: repr(term[1]))
    return tuple(kept), check.number("Linear.offset", offset)


def _normal_form(terms: Iterable[tuple[float, Baseline]], offset: float) -> Baseline:
    kept, offset = _merge(terms, offset)
    if not kept:
        return Constant(offset)
    if offset == 0.0 and len(kept) == 1 and kept[0][0] == 1.0:
        return kept[0][1]
    return Linear(kept, offset)


def as_baseline(argument: str, value: Any) -> Baseline:
    """Return a baseline in normal form from a baseline or a number.

    Examples
    --------
    >>> as_baseline("Experiment.baseline", 1)
    Constant(1.0)
    """
    if isinstance(value, Baseline):
        terms, offset = _linear_parts(value)
        return _normal_form(terms, offset)
    return Constant(check.number(argument, value, suffix=" or a Baseline"))
