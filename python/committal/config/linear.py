"""What a baseline b_t is, and the algebra of baselines.

Baselines add up and scale: ``MinVariance() + 0.5``, ``0.9 * Value() - 0.1``. Every result is in
normal form, sum_i c_i B_i + offset with different atoms B_i in a fixed order, so two ways of
writing one baseline give equal objects with equal hashes.

A baseline brings everything that others need to know of it: what the core computes for it, its
value on arrays of policies, its range. Others ask the baseline; none of them keeps a list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from committal.config.base import Config, changeable, config, refuse_subclass
from committal.errors import CombinationError, ConfigError, ConfigTypeError
from committal.support import check
from committal.support.simplex import Floats, near_vertex

__all__ = ["Baseline", "Constant", "Linear", "Maximum"]

_Terms: TypeAlias = tuple[tuple[float, "Baseline"], ...]

#: The limit pi_k -> 1 is taken at this distance: far below rounding, far above underflow.
_AT_THE_VERTEX = 1e-30


class Enclosed(NamedTuple):
    """A range of a baseline, and whether it is proved or only observed."""

    low: float
    high: float
    proved: bool = True


class Baseline(Config):
    """Base of the baselines: b + b', c b, b + c, b / c, -b are baselines again.

    Examples
    --------
    >>> from committal.config import MinVariance, Value
    >>> 0.9 * Value() - 0.1
    0.9 * Value() - 0.1
    >>> Value() + MinVariance() == MinVariance() + Value()
    True
    >>> (Value() + 1) - Value()
    Constant(1.0)
    """

    __slots__ = ()

    #: Whether b is a function of theta alone, not of rewards seen so far: then exact answers exist.
    depends_on_theta_only: ClassVar[bool] = True
    #: Whether b needs the mean rewards (in MDPs Q); REINFORCE knows neither.
    needs_values: ClassVar[bool] = True
    #: Why it cannot be used in MDPs, and what can; empty if it can.
    not_in_mdps: ClassVar[str] = ""

    # -- what it is ------------------------------------------------------------------------------

    @property
    def atoms(self) -> tuple[Baseline, ...]:
        """The baselines that it is a sum of: itself, or the terms of its normal form.

        Examples
        --------
        >>> from committal.config import Maximum, Value
        >>> (0.5 * Value() + 0.5 * Maximum() - 1).atoms
        (Maximum(), Value())
        """
        return (self,)

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """The names of the core that objects of this class may use."""
        return (cls._kind,)

    def core_term(self) -> tuple[str, float] | None:
        """What the core computes for it: a name and a parameter.

        None if it is a number once the problem is known, see `number`.
        """
        return self._kind, 0.0

    def number(self, r: Floats) -> float | None:
        """b, if it is the same number for every policy; None otherwise.

        Examples
        --------
        >>> from committal.config import Gap, Value
        >>> r = np.array([1.0, 0.7, 0.0])
        >>> Gap().number(r), Value().number(r)
        (0.85, None)
        """
        del r
        return None

    def folded(self, r: Floats) -> float:
        """The part of b that is a number before the core begins: it goes into the offset.

        Examples
        --------
        >>> from committal.config import Gap, Value
        >>> (2 * Gap() + Value() - 1).folded(np.array([1.0, 0.5]))
        0.5
        """
        if self.core_term() is not None:
            return 0.0
        number = self.number(r)
        if number is None:
            raise CombinationError("baseline", self, "a term of the core, or a number")
        return number

    def at(self, pi: Floats, r: Floats) -> Floats:
        """b(pi) on arrays: pi has shape (..., K), r shape (K,) or that of pi, b shape (...).

        Examples
        --------
        >>> from committal.config import MinVariance
        >>> pi, r = np.full((2, 3), 1 / 3), np.array([1.0, 0.7, 0.0])
        >>> (MinVariance() + 0.5).at(pi, r).round(6)
        array([1.066667, 1.066667])
        """
        number = self.number(r)
        if number is None:
            raise CombinationError("baseline", self, "a baseline that depends on theta only, by pi")
        return np.full(pi.shape[:-1], number)

    # -- where it goes ---------------------------------------------------------------------------

    def at_vertex(self, arm: int, shares: Floats, r: Floats) -> Floats:
        r"""The limit of b as :math:`\pi_k \to 1` with fixed shares of the other arms.

        Parameters
        ----------
        arm
            The arm k that becomes certain.
        shares
            (..., K): the others' shares of what is left; they sum to 1, and that of `arm` is 0.
        r
            Mean rewards, (K,).

        Examples
        --------
        >>> from committal.config import MinVariance
        >>> shares = np.array([[0.5, 0.0, 0.5], [0.9, 0.0, 0.1]])
        >>> MinVariance().at_vertex(1, shares, np.array([1.0, 0.7, 0.0]))
        array([0.5, 0.9])
        """
        return self.at(near_vertex(arm, shares, _AT_THE_VERTEX), r)

    def range(self, r: Floats, rewards: tuple[float, float] | None = None) -> tuple[float, float]:
        """Bounds of b over all policies, and over all rewards that may have been seen.

        Parameters
        ----------
        r
            Mean rewards, (K,).
        rewards
            The least and the largest reward; those of `r` by default.

        Examples
        --------
        >>> from committal.config import MinVariance
        >>> (MinVariance() - 0.5).range(np.array([1.0, 0.7, 0.0]))
        (-0.5, 0.5)
        """
        del rewards
        number = self.number(r)
        return (-math.inf, math.inf) if number is None else (number, number)

    def enclose(self, arm: int, shares: Floats, epsilon: float, r: Floats) -> Enclosed:
        r"""The range of b over all policies with :math:`1 - \pi_k \le \varepsilon`, fixed shares.

        Where no proof is known b is looked at on a fine grid, and the range is widened by what b
        changes from one point to the next; `proved` is False then.

        Parameters
        ----------
        arm
            The arm k.
        shares
            (K,): the others' shares of :math:`1 - \pi_k`.
        epsilon
            A number in (0, 1).
        r
            Mean rewards, (K,).

        Examples
        --------
        >>> from committal.config import MinVariance
        >>> r, shares = np.array([1.0, 0.7, 0.0]), np.array([0.5, 0.0, 0.5])
        >>> low, high, proved = MinVariance().enclose(1, shares, 1e-6, r)
        >>> low < 0.5 < high, high - low < 1e-5, proved
        (True, True, True)
        """
        number = self.number(r)
        if number is not None:
            return Enclosed(number, number)
        grid = np.geomspace(epsilon, _AT_THE_VERTEX, 65)
        b = np.concatenate([self.at(near_vertex(arm, shares[None, :], e), r) for e in grid])
        slack = float(np.abs(np.diff(b)).max())
        return Enclosed(float(b.min()) - slack, float(b.max()) + slack, proved=False)

    # -- algebra ---------------------------------------------------------------------------------

    # Makes numpy numbers leave `number + baseline` to this class.
    __array_ufunc__ = None

    def __add__(self, other: Baseline | check.Number) -> Baseline:
        return self._plus(1.0, other) if _combines(other) else NotImplemented

    __radd__ = __add__

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

    __rmul__ = __mul__

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
        >>> from committal.config import MinVariance
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

    needs_values = False

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """None: it goes into the offset."""
        return ()

    def core_term(self) -> None:
        """Nothing: it goes into the offset."""

    def number(self, r: Floats) -> float:
        """c, whatever the rewards."""
        del r
        return self.c


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

    def number(self, r: Floats) -> float:
        """max r."""
        return float(r.max())

    def at(self, pi: Floats, r: Floats) -> Floats:
        """The maximum, in each row where there are rows of rewards."""
        return np.broadcast_to(r.max(axis=-1), pi.shape[:-1])


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
    >>> from committal.config import Value
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
            two = isinstance(term, (tuple, list)) and len(term) == 2
            if not two or not isinstance(term[1], Baseline):
                raise ConfigTypeError("Linear.terms", terms, allowed)
            pairs.append((check.number("Linear.terms", term[0]), term[1]))
        merged, total = _merge(pairs, check.number("Linear.offset", offset))
        self._set(terms=merged, offset=total)

    @property
    def atoms(self) -> tuple[Baseline, ...]:
        """The baselines of its terms."""
        return tuple(atom for _, atom in self.terms)

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """None of its own."""
        return ()

    def core_term(self) -> None:
        """Nothing: its terms are lowered one by one."""

    def folded(self, r: Floats) -> float:
        """The offset, and what the terms add to it."""
        return math.fsum((self.offset, *(c * atom.folded(r) for c, atom in self.terms)))

    def number(self, r: Floats) -> float | None:
        """The sum, if every term is a number."""
        numbers = [(c, atom.number(r)) for c, atom in self.terms]
        if any(number is None for _, number in numbers):
            return None
        return math.fsum((self.offset, *(c * x for c, x in numbers if x is not None)))

    def at(self, pi: Floats, r: Floats) -> Floats:
        """offset + sum_i c_i B_i(pi)."""
        total = np.full(pi.shape[:-1], self.offset)
        for coefficient, atom in self.terms:
            total = total + coefficient * atom.at(pi, r)
        return total

    def range(self, r: Floats, rewards: tuple[float, float] | None = None) -> tuple[float, float]:
        """The sum of the ranges of the terms."""
        low = high = self.offset
        for coefficient, atom in self.terms:
            ends = [coefficient * x for x in atom.range(r, rewards)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def enclose(self, arm: int, shares: Floats, epsilon: float, r: Floats) -> Enclosed:
        """The sum of the ranges of the terms."""
        low, high, proved = self.offset, self.offset, True
        for coefficient, atom in self.terms:
            inner = atom.enclose(arm, shares, epsilon, r)
            ends = (coefficient * inner.low, coefficient * inner.high)
            low, high, proved = low + min(ends), high + max(ends), proved and inner.proved
        return Enclosed(low, high, proved)

    def replace(self, /, **changes: Any) -> Self:
        """Return a copy; the arguments of a term are reached by their names."""
        terms = list(self.terms)
        for name in [name for name in changes if name.partition(".")[0] not in self._parameters]:
            has = [i for i, (_, atom) in enumerate(terms) if name in changeable(atom)]
            if len(has) == 1:
                coefficient, atom = terms[has[0]]
                terms[has[0]] = (coefficient, atom.replace(**{name: changes.pop(name)}))
        return Baseline.replace(self, **{"terms": tuple(terms), **changes})

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
        for part in (value, *value.atoms):
            refuse_subclass(argument, part)
        terms, offset = _linear_parts(value)
        return _normal_form(terms, offset)
    return Constant(check.number(argument, value, suffix=" or a Baseline, or cm.baseline(...)"))
