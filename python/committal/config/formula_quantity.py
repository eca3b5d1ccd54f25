"""Quantities that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from committal.config.base import config
from committal.config.formulas import FormulaPart, read_formula
from committal.config.quantities import ALL_NAMES, RESERVED, Quantity
from committal.errors import FormulaError
from committal.formula.shapes import ARM
from committal.support import check

__all__ = ["FormulaQuantity", "quantity"]


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

    Examples
    --------
    >>> FormulaQuantity("max(pi)", "largest")
    quantity('max(pi)', name='largest')
    """

    formula: str
    name: str
    parameters: tuple[tuple[str, float], ...]

    role = "quantity"

    def __init__(
        self, formula: str, name: str, parameters: Mapping[str, check.Number] | None = None
    ) -> None:
        self._set_formula(formula, parameters)
        name = check.text("quantity.name", name)
        if not name.isidentifier() or name in RESERVED or name in ALL_NAMES:
            raise FormulaError(
                "quantity.name",
                name,
                "a name of its own, of letters and digits, that results do not have yet",
            )
        self._set(name=name)

    def __repr__(self) -> str:
        return self._written(name=self.name)

    @property
    def drawn(self) -> bool:
        """Whether it looks at what was drawn."""
        return bool({"a", "R", "A", "rho", "N", "b"} & set(self.names))

    @property
    def row(self) -> Quantity:
        """How it is recorded.

        Examples
        --------
        >>> FormulaQuantity("pi**2", "squares").row.axes
        ('arm',)
        """
        axes = ("arm",) if self.tree.result.shape == ARM else ()
        return Quantity(self.name, self.formula, axes, drawn=self.drawn)


@overload
def quantity(
    formula: Callable[..., Any] | str, /, *, name: str | None = ..., **parameters: check.Number
) -> FormulaQuantity: ...


@overload
def quantity(
    *, name: str | None = ..., **parameters: check.Number
) -> Callable[[Callable[..., Any]], FormulaQuantity]: ...


def quantity(
    formula: Callable[..., Any] | str | None = None,
    /,
    *,
    name: str | None = None,
    **parameters: check.Number,
) -> Any:
    """A quantity of one's own to record, from a function (as its decorator) or from text.

    Parameters
    ----------
    formula : callable or str
        From some of ``pi, r, theta, theta0, mu`` (over arms), ``A, R, b, rho, a`` (over the
        samples drawn at that time) and ``t, K, N`` to one number, or to one per arm.
    name : str, optional
        What it is called in results; the function's name by default.
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
        return lambda function: quantity(function, name=name, **parameters)
    made = read_formula("quantity", formula, None, parameters)
    if name is None:
        name = getattr(formula, "__name__", "")
        if not name.isidentifier():
            what = "lambda" if name == "<lambda>" else "text"
            raise FormulaError("quantity.name", name or None, f"name=: a {what} has no name")
    return FormulaQuantity(made.text, name, dict(made.parameters))
