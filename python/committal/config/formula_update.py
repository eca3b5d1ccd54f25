"""Updates that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from committal.config.base import config
from committal.config.escort import Escort
from committal.config.formulas import FormulaPart, read_formula
from committal.config.links import FormulaPolicy
from committal.config.policies import Policy, Softmax
from committal.config.scaled import ScaledSoftmax, Tsallis
from committal.config.schedules import Rate, Schedule
from committal.config.updates import Update
from committal.errors import CombinationError, FormulaError
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["FormulaUpdate", "UpdateRule", "update"]


@config
class FormulaUpdate(FormulaPart, Update):
    """theta += alpha u, with a formula u of the samples; made by `update`.

    Parameters
    ----------
    formula
        Its text.
    step_size
        alpha > 0, a number or a schedule.
    parameters
        Numbers by name.

    Examples
    --------
    >>> FormulaUpdate("A * rho * score", 0.1)
    update('score * (A * rho)')(step_size=0.1)
    """

    formula: str
    step_size: float | Schedule
    parameters: tuple[tuple[str, float], ...]

    role = "update"
    core_name = "vanilla"  # its program replaces the direction
    policies = (Softmax, FormulaPolicy, Escort, ScaledSoftmax, Tsallis)
    in_mdps = True

    def __init__(
        self,
        formula: str,
        step_size: Rate,
        parameters: Mapping[str, check.Number] | None = None,
    ) -> None:
        self._set_formula(formula, parameters)
        self._set_rates(step_size)

    def __repr__(self) -> str:
        return f"{self._written()}(step_size={self.step_size!r})"

    def rows(self, policy: Policy, pi: Floats) -> Floats:
        """Not known: a formula need not be a product of the advantage and a direction."""
        raise CombinationError("update", self, "Natural or Vanilla: this update is a formula")


class UpdateRule:
    """An update that still lacks its step size; made by `update`.

    Examples
    --------
    >>> rule = update("A * rho * score")
    >>> rule
    update('score * (A * rho)')
    >>> rule(step_size=0.1).step_size
    0.1
    """

    __slots__ = ("_made",)

    def __init__(self, made: FormulaUpdate) -> None:
        self._made = made

    def __call__(
        self, step_size: Rate | None = None, *numbers: Any, **parameters: check.Number
    ) -> FormulaUpdate:
        """The update with a step size, and with other values of parameters."""
        if step_size is None:
            raise FormulaError("update.step_size", None, "a step size: mine(step_size=0.1)")
        self._made._refuse_arguments(numbers, parameters)
        return self._made.replace(step_size=step_size, **parameters)

    @property
    def formula(self) -> str:
        """The text."""
        return self._made.formula

    @property
    def latex(self) -> str:
        """The formula as LaTeX."""
        return self._made.latex

    def _repr_latex_(self) -> str:
        return self._made._repr_latex_()

    def __repr__(self) -> str:
        return self._made._written()

    def __eq__(self, other: object) -> bool:
        return self._made == other._made if isinstance(other, UpdateRule) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._made)


@overload
def update(formula: Callable[..., Any] | str, /, **parameters: check.Number) -> UpdateRule: ...


@overload
def update(**parameters: check.Number) -> Callable[[Callable[..., Any]], UpdateRule]: ...


def update(formula: Callable[..., Any] | str | None = None, /, **parameters: check.Number) -> Any:
    """An update of one's own, from a function (as its decorator) or from text.

    Parameters
    ----------
    formula : callable or str
        From some of ``A, R, b, rho, a`` (over samples), ``score`` (e_a - pi) and ``natural``
        (e_a / pi_a) for every sample, ``pi, mu, r, theta`` (over arms) and ``t, K, N`` to a vector
        over arms: the step before alpha. One for every sample is averaged over them.
    **parameters
        Values of parameters.

    Returns
    -------
    UpdateRule
        It is called with the step size: ``update=mine(step_size=0.1)``.

    Examples
    --------
    >>> import committal as cm
    >>> @cm.update
    ... def positive_only(A, rho, score):
    ...     return cm.maximum(A, 0) * rho * score
    >>> positive_only(step_size=0.1)
    update('score * (maximum(A, 0) * rho)')(step_size=0.1)
    """
    if formula is None:
        return lambda function: update(function, **parameters)
    made = read_formula("update", formula, None, parameters)
    return UpdateRule(FormulaUpdate(made.text, 1.0, dict(made.parameters)))
