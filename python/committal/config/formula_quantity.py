"""Quantities that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from committal.config.base import config
from committal.config.formulas import FormulaPart, read_formula
from committal.config.problem import Problem
from committal.config.quantities import ALL_NAMES, RESERVED, Quantity
from committal.errors import FormulaError
from committal.formula.shapes import ARM
from committal.support import check

__all__ = ["FormulaQuantity", "quantity"]

#: Names of what is drawn, or of how it is judged.
DRAWN = frozenset(("a", "R", "A", "rho", "N", "b"))

#: What can be made of the values of all states of an MDP, by its number in the core less 1.
OVER_STATES = ("mean", "occupancy")


@config
class FormulaQuantity(FormulaPart):
    """A formula that is recorded under a name; made by `quantity`.

    Parameters
    ----------
    formula
        Its text.
    name
        What it is called in results.
    parameters
        Numbers by name.
    states
        Of an MDP: None for one value per state, ``"mean"`` for their mean, ``"occupancy"`` for
        their mean with the discounted visits to each state as weights.

    Examples
    --------
    >>> FormulaQuantity("max(pi)", "largest")
    quantity('max(pi)', name='largest')
    """

    formula: str
    name: str
    parameters: tuple[tuple[str, float], ...]
    states: str | None

    role = "quantity"

    def __init__(
        self,
        formula: str,
        name: str,
        parameters: Mapping[str, check.Number] | None = None,
        states: str | None = None,
    ) -> None:
        self._set_formula(formula, parameters)
        if states is not None:
            check.choice("quantity.states", states, OVER_STATES)
        name = check.text("quantity.name", name)
        if not name.isidentifier() or name in RESERVED or name in ALL_NAMES:
            raise FormulaError(
                "quantity.name",
                name,
                "a name of its own, of letters and digits, that results do not have yet",
            )
        self._set(name=name, states=states)

    def __repr__(self) -> str:
        over = {} if self.states is None else {"states": self.states}
        return self._written(name=self.name, **over)

    @property
    def drawn(self) -> bool:
        """Whether it looks at what was drawn."""
        return bool(DRAWN & set(self.names))

    def row_in(self, problem: Problem) -> Quantity:
        """How it is recorded.

        Examples
        --------
        >>> from committal.config import Bandit, gridworld
        >>> squares = FormulaQuantity("pi**2", "squares")
        >>> squares.row_in(Bandit([1, 0])).axes
        ('arm',)
        >>> squares.row_in(gridworld("SA", goals={"A": 1})).axes
        ('state', 'action')
        """
        vector = self.tree.result.shape == ARM
        if problem.by_state:
            axes = ("state",) * (self.states is None) + ("action",) * vector
        else:
            axes = ("arm",) * vector
        return Quantity(self.name, self.formula, axes, drawn=self.drawn)


@overload
def quantity(
    formula: Callable[..., Any] | str,
    /,
    *,
    name: str | None = ...,
    states: str | None = ...,
    **parameters: check.Number,
) -> FormulaQuantity: ...


@overload
def quantity(
    *, name: str | None = ..., states: str | None = ..., **parameters: check.Number
) -> Callable[[Callable[..., Any]], FormulaQuantity]: ...


def quantity(
    formula: Callable[..., Any] | str | None = None,
    /,
    *,
    name: str | None = None,
    states: str | None = None,
    **parameters: check.Number,
) -> Any:
    """A quantity of one's own to record, from a function (as its decorator) or from text.

    Parameters
    ----------
    formula : callable or str
        From some of ``pi, r, theta, theta0, mu`` (over arms), ``A, R, b, rho, a`` (over the
        samples drawn at that time) and ``t, K, N`` to one number, or to one per arm. In an MDP
        from ``pi, r, theta, theta0, mu, t, K`` of a state, where r is the exact Q(s, .) and K the
        number of actions; it is 0 in terminal states, where nobody acts.
    name : str, optional
        What it is called in results; the function's name by default.
    states : {None, "mean", "occupancy"}, optional
        Of an MDP: one value per state (None), their mean over the states that are acted in, or
        the mean with d(s), the discounted visits to each state, as weights.
    **parameters
        Values of parameters.

    Returns
    -------
    FormulaQuantity

    Examples
    --------
    >>> import committal as cm
    >>> @cm.quantity
    ... def kl_to_uniform(pi, K):
    ...     return (pi * cm.log(pi * K)).sum()
    >>> cm.Record("value", kl_to_uniform, every=10).names
    ('value', 'kl_to_uniform')
    """
    if formula is None:
        return lambda function: quantity(function, name=name, states=states, **parameters)
    made = read_formula("quantity", formula, None, parameters)
    if name is None:
        name = getattr(formula, "__name__", "")
        if not name.isidentifier():
            what = "lambda" if name == "<lambda>" else "text"
            raise FormulaError("quantity.name", name or None, f"name=: a {what} has no name")
    return FormulaQuantity(made.text, name, dict(made.parameters), states)
