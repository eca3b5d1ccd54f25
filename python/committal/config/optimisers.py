"""Optimisers: what becomes of the gradient before the step size, and what is remembered of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, overload

from committal.config.base import Config, config
from committal.config.formulas import FormulaPart, made_part, read_formula
from committal.formula import functions as f
from committal.formula.formula import Formula
from committal.support import check

__all__ = [
    "Adam",
    "ClipNorm",
    "FormulaOptimiser",
    "Momentum",
    "Normalised",
    "Optimiser",
    "Plain",
    "optimiser",
]


class Optimiser(Config):
    """Base of the optimisers: theta += alpha s, with a step s made from the gradient g.

    Examples
    --------
    >>> isinstance(Plain(), Optimiser)
    True
    """

    __slots__ = ()

    @property
    def tree(self) -> Formula | None:
        """The formula that it is; None for the plain one."""
        return None


@config
class Plain(Optimiser):
    """s = g.

    Examples
    --------
    >>> Plain()
    Plain()
    """

    def __init__(self) -> None:
        self._set()


@config
class Momentum(Optimiser):
    """m <- beta m + g, s = m.

    Parameters
    ----------
    beta
        How much is remembered, in [0, 1).

    Examples
    --------
    >>> Momentum(0.5)
    Momentum(0.5)
    """

    beta: float

    _positional = 1

    def __init__(self, beta: check.Number = 0.9) -> None:
        self._set(beta=check.number("Momentum.beta", beta, check.UNIT_BELOW))

    @property
    def tree(self) -> Formula:
        """beta m + g."""
        return _with(_momentum(), self)


@config
class Adam(Optimiser):
    """s = m' / (sqrt(v') + eps), with bias-corrected means m' of g and v' of g^2.

    Parameters
    ----------
    beta1, beta2
        How much is remembered of g and of its square, in [0, 1).
    eps
        Outside of the root, > 0.

    Examples
    --------
    >>> Adam(beta1=0.5)
    Adam(beta1=0.5)
    """

    beta1: float
    beta2: float
    eps: float

    def __init__(
        self,
        beta1: check.Number = 0.9,
        beta2: check.Number = 0.999,
        eps: check.Number = 1e-8,
    ) -> None:
        self._set(
            beta1=check.number("Adam.beta1", beta1, check.UNIT_BELOW),
            beta2=check.number("Adam.beta2", beta2, check.UNIT_BELOW),
            eps=check.number("Adam.eps", eps, check.POSITIVE),
        )

    @property
    def tree(self) -> Formula:
        """The quotient of the corrected means."""
        return _with(_adam(), self)


@config
class Normalised(Optimiser):
    """s = g / ||g||, and 0 where g is.

    Examples
    --------
    >>> Normalised()
    Normalised()
    """

    def __init__(self) -> None:
        self._set()

    @property
    def tree(self) -> Formula:
        """g divided by its norm."""
        return _normalised()


@config
class ClipNorm(Optimiser):
    """s = g min(1, limit / ||g||).

    Parameters
    ----------
    limit
        The largest norm of a step, > 0.

    Examples
    --------
    >>> ClipNorm(5)
    ClipNorm(5.0)
    """

    limit: float

    _positional = 1

    def __init__(self, limit: check.Number) -> None:
        self._set(limit=check.number("ClipNorm.limit", limit, check.POSITIVE))

    @property
    def tree(self) -> Formula:
        """g, shortened to the limit."""
        return _with(_clip_norm(), self)


@config
class FormulaOptimiser(FormulaPart, Optimiser):
    """s = a formula of the gradient and of what is remembered; made by `optimiser`.

    Parameters
    ----------
    formula
        Its text.
    parameters
        Numbers by name.
    state
        For each name what it is at first and the text of what it becomes after every update.

    Examples
    --------
    >>> FormulaOptimiser("sign(g)")
    optimiser('sign(g)')
    """

    formula: str
    parameters: tuple[tuple[str, float], ...]
    state: tuple[tuple[str, float | str, str], ...]

    role = "optimiser"

    def __init__(
        self,
        formula: str,
        parameters: Mapping[str, check.Number] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._set_formula(formula, parameters, state)


@overload
def optimiser(
    formula: Callable[..., Any] | str,
    /,
    *,
    state: Mapping[str, Any] | None = ...,
    **parameters: check.Number,
) -> FormulaOptimiser: ...


@overload
def optimiser(
    *, state: Mapping[str, Any] | None = ..., **parameters: check.Number
) -> Callable[[Callable[..., Any]], FormulaOptimiser]: ...


def optimiser(
    formula: Callable[..., Any] | str | None = None,
    /,
    *,
    state: Mapping[str, Any] | None = None,
    **parameters: check.Number,
) -> Any:
    """An optimiser of one's own, from a function (as its decorator) or from text.

    Parameters
    ----------
    formula : callable or str
        From some of ``g, theta`` (over arms), ``t, K`` and its state to the step s, a vector over
        arms; then theta += alpha s.
    state : mapping, optional
        Names and what they are at first: a number, or the name of a parameter. The function takes
        them as arguments and returns ``(s, {name: what it becomes})``.
    **parameters
        Values of parameters.

    Returns
    -------
    FormulaOptimiser

    Examples
    --------
    >>> import committal as cm
    >>> @cm.optimiser(state={"m": 0.0})
    ... def heavy_ball(g, m, *, beta=0.9):
    ...     m = beta * m + g
    ...     return m, {"m": m}
    >>> heavy_ball(beta=0.5)
    optimiser('g + beta * m', beta=0.5, state={'m': (0.0, 'g + beta * m')})
    """
    return made_part("optimiser", FormulaOptimiser, formula, state, parameters)


# -- the named ones as formulas --------------------------------------------------------------------


def _with(formula: Formula, part: Optimiser) -> Formula:
    """A formula with the numbers of a part as its parameters."""
    values = tuple((name, getattr(part, name)) for name, _ in formula.parameters)
    return replace(formula, parameters=values)


@functools.cache
def _momentum() -> Formula:
    def momentum(g: Any, m: Any, *, beta: Any = 0.9) -> Any:
        m = beta * m + g
        return m, {"m": m}

    return read_formula("optimiser", momentum, {"m": 0.0})


@functools.cache
def _adam() -> Formula:
    def adam(
        g: Any, t: Any, m: Any, v: Any, *, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-8
    ) -> Any:
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        corrected, size = m / (1 - beta1 ** (t + 1)), v / (1 - beta2 ** (t + 1))
        return corrected / (f.sqrt(size) + eps), {"m": m, "v": v}

    return read_formula("optimiser", adam, {"m": 0.0, "v": 0.0})


@functools.cache
def _normalised() -> Formula:
    def normalised(g: Any) -> Any:
        norm = f.sqrt((g**2).sum())
        return g / f.where(norm > 0, norm, 1)

    return read_formula("optimiser", normalised)


@functools.cache
def _clip_norm() -> Formula:
    def clip_norm(g: Any, *, limit: Any = 1.0) -> Any:
        return g * (limit / f.maximum(f.sqrt((g**2).sum()), limit))

    return read_formula("optimiser", clip_norm)
