"""Weights of samples: w in w A psi, where psi is the direction of an arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from committal.config.base import Config, config
from committal.config.formulas import FormulaPart, made_part
from committal.formula.formula import Formula
from committal.support import check

__all__ = ["FormulaWeight", "Weight", "weight"]


class Weight(Config):
    """Base of the weights; without one it is rho = pi(a) / mu(a).

    Examples
    --------
    >>> isinstance(FormulaWeight("minimum(rho, 1)"), Weight)
    True
    """

    __slots__ = ()

    @property
    def tree(self) -> Formula:
        """The formula that it is."""
        raise NotImplementedError


@config
class FormulaWeight(FormulaPart, Weight):
    """w = a formula of the sample and the policy; made by `weight`.

    Parameters
    ----------
    formula
        Its text.
    parameters
        Numbers by name.

    Examples
    --------
    >>> FormulaWeight("minimum(rho, top)", {"top": 2})
    weight('minimum(rho, top)', top=2.0)
    """

    formula: str
    parameters: tuple[tuple[str, float], ...]

    role = "weight"

    def __init__(self, formula: str, parameters: Mapping[str, check.Number] | None = None) -> None:
        self._set_formula(formula, parameters)


@overload
def weight(formula: Callable[..., Any] | str, /, **parameters: check.Number) -> FormulaWeight: ...


@overload
def weight(**parameters: check.Number) -> Callable[[Callable[..., Any]], FormulaWeight]: ...


def weight(formula: Callable[..., Any] | str | None = None, /, **parameters: check.Number) -> Any:
    """A weight of samples of one's own, from a function (as its decorator) or from text.

    Parameters
    ----------
    formula : callable or str
        From some of ``A, R, b, rho, a`` (over samples), ``pi, mu, r, theta`` (over arms) and
        ``t, K, N`` to w, one number per sample, in g = mean(w A psi). Without a weight it is rho.
    **parameters
        Values of parameters.

    Returns
    -------
    FormulaWeight

    Examples
    --------
    >>> import committal as cm
    >>> @cm.weight
    ... def tapered(A, rho, *, top=1.0):
    ...     return cm.where(A > 0, 1, cm.minimum(rho, top))
    >>> cm.OneSample(samples=4, weight=tapered(top=2))
    OneSample(samples=4, weight=weight('where(A > 0, 1, minimum(rho, top))', top=2.0))
    """
    return made_part("weight", FormulaWeight, formula, None, parameters)
