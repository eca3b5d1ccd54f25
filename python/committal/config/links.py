"""Links: policies that are formulas, pi_i = f(theta_i) / sum_k f(theta_k)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from committal.config.base import config
from committal.config.formulas import FormulaPart, made_part
from committal.config.policies import Policy, Start, checked_start
from committal.errors import CombinationError, FormulaError
from committal.formula.derivative import gradient
from committal.formula.evaluate import evaluate
from committal.formula.text import text_of
from committal.formula.tree import Node, walk
from committal.formula.vocabulary import ROWS
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["FormulaPolicy", "link"]


@config
class FormulaPolicy(FormulaPart, Policy):
    """pi_i = f(theta_i) / sum_k f(theta_k), with a formula f; made by `link`.

    Parameters
    ----------
    formula
        The text of f, of theta alone and of every entry by itself, positive.
    theta0
        The start, one number per arm; in an MDP one per action, or a row of them per state. None
        for zeros.
    parameters
        Numbers by name.

    Examples
    --------
    >>> FormulaPolicy("abs(theta)**p", [1, 2], {"p": 2}).probabilities_at(np.array([1.0, 2.0]))
    array([0.2, 0.8])
    """

    formula: str
    theta0: Start | None
    parameters: tuple[tuple[str, float], ...]

    role = "link"
    core_name = "softmax"  # its program replaces the exponential
    ignores_shifts = False

    def __init__(
        self,
        formula: str,
        theta0: check.Numbers | Sequence[check.Numbers] | npt.NDArray[Any] | None = None,
        parameters: Mapping[str, check.Number] | None = None,
    ) -> None:
        self._set_formula(formula, parameters)
        _refuse_mixing(self.tree.result)
        self._set(theta0=None if theta0 is None else checked_start("link.theta0", theta0))

    def __call__(self, theta0: Any = None, *numbers: Any, **parameters: Any) -> Self:
        self._refuse_arguments(numbers, parameters)
        start = {} if theta0 is None else {"theta0": theta0}
        return self.replace(**start, **parameters)

    def __repr__(self) -> str:
        made = self._written()
        return made if self.theta0 is None else f"{made}({self.theta0!r})"

    # -- what it is ------------------------------------------------------------------------------

    @property
    def slope(self) -> Node:
        """The derivative of f, as a tree."""
        return gradient(self.tree.result, "theta")

    def start(self, arms: int) -> Floats:
        """The start, or zeros."""
        return np.zeros(arms) if self.theta0 is None else np.array(self.theta0)

    def weights_at(self, theta: Floats) -> Floats:
        """f(theta), (..., K)."""
        return np.broadcast_to(self.tree.at({"theta": theta}), theta.shape)

    def slopes_at(self, theta: Floats) -> Floats:
        """f'(theta), (..., K)."""
        value = evaluate(self.slope, self.tree.values({"theta": theta}))
        return np.broadcast_to(value, theta.shape)

    def probabilities_at(self, theta: Floats) -> Floats:
        """f / sum f."""
        f = self.weights_at(theta)
        return np.asarray(f / f.sum(axis=-1, keepdims=True))

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """log f - log sum f."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities_at(theta)))

    def parameters_at(self, pi: Floats) -> Floats:
        """Not known: a formula is not turned around."""
        raise CombinationError("policy", self, "theta instead: a link is not turned around")

    def gradient(self, pi: Floats) -> Floats:
        """Not known from pi alone."""
        raise CombinationError("policy", self, "Softmax, Sigmoid or Direct: a link needs theta")

    def refusal_at_start(self, arms: int, *, slopes: bool = True) -> str:
        """Why the policy at the start is none, or has no score; empty if all is well.

        Parameters
        ----------
        arms : int
        slopes : bool
            Whether the update needs the derivatives.

        Examples
        --------
        >>> FormulaPolicy("abs(theta)").refusal_at_start(2)
        'a start where no link is negative and some are positive: f is 0.0, 0.0 at theta0 = 0, 0'
        >>> FormulaPolicy("1 + sqrt(theta)").refusal_at_start(2)
        "a start where the link has a finite slope: f' is inf, inf at theta0 = 0, 0"
        """
        for start in np.atleast_2d(self.start(arms)):
            why = self._refusal_at(start, slopes)
            if why:
                return why
        return ""

    def _refusal_at(self, start: Floats, slopes: bool) -> str:
        f = self.weights_at(start)
        if not np.isfinite(f).all():
            return f"a start where the link is finite: f is {_listed(f, start)}"
        if (f < 0.0).any() or f.sum() <= 0.0:
            return (
                f"a start where no link is negative and some are positive: f is {_listed(f, start)}"
            )
        slope = self.slopes_at(start)
        if slopes and not np.isfinite(slope).all():
            return f"a start where the link has a finite slope: f' is {_listed(slope, start)}"
        return ""


def _listed(values: Floats, start: Floats) -> str:
    """Some values, those that are wrong first where there are many, and where they are."""
    order = np.arange(len(values))
    if len(values) > _LISTED:
        order = np.argsort(np.where(np.isfinite(values), values, -np.inf), kind="stable")[:_LISTED]
    more = ", ..." if len(values) > _LISTED else ""
    shown = ", ".join(str(float(values[i])) for i in order)
    return f"{shown}{more} at theta0 = {', '.join(f'{start[i]:g}' for i in order)}{more}"


#: Arms that a message lists.
_LISTED = 6


def _refuse_mixing(root: Node) -> None:
    """Refuse what looks at more than one entry of theta."""
    for node in walk(root):
        if node.op in ROWS and ROWS[node.op].kind != "elementwise":
            raise FormulaError(
                "link",
                text_of(node),
                "a formula of every entry of theta by itself: the sum over arms is taken anyway",
            )


@overload
def link(formula: Callable[..., Any] | str, /, **parameters: check.Number) -> FormulaPolicy: ...


@overload
def link(**parameters: check.Number) -> Callable[[Callable[..., Any]], FormulaPolicy]: ...


def link(formula: Callable[..., Any] | str | None = None, /, **parameters: check.Number) -> Any:
    """A link of one's own: pi_i = f(theta_i) / sum_k f(theta_k).

    Parameters
    ----------
    formula : callable or str
        f, of ``theta`` alone, positive. Its derivative is taken symbolically.
    **parameters
        Values of parameters.

    Returns
    -------
    FormulaPolicy
        It is called with the start: ``policy=mine([0, 3, 5])``.

    Examples
    --------
    >>> import committal as cm
    >>> @cm.link
    ... def escort(theta, *, p=2):
    ...     return abs(theta)**p
    >>> escort([1, 2, 3], p=4)
    link('abs(theta)**p', p=4.0)((1.0, 2.0, 3.0))
    """
    return made_part("link", FormulaPolicy, formula, None, parameters)
