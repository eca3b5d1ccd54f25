"""Baselines that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

import numpy as np

from committal.config.base import config
from committal.config.formulas import FormulaPart, made_part
from committal.config.linear import Baseline, Enclosed
from committal.errors import CombinationError, FormulaError
from committal.formula.bounds import bounds
from committal.formula.tree import INPUT, walk
from committal.support import check
from committal.support.simplex import SMALLEST_PROBABILITY, Floats

__all__ = ["FormulaBaseline", "baseline"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


@config
class FormulaBaseline(FormulaPart, Baseline):
    """b = a formula of the policy, the mean rewards and the batch; made by `baseline`.

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
    >>> FormulaBaseline("sum(pi**2 * r) / sum(pi**2)") - 0.5
    baseline('sum(pi**2 * r) / sum(pi**2)') - 0.5
    """

    formula: str
    parameters: tuple[tuple[str, float], ...]
    state: tuple[tuple[str, float | str, str], ...]

    role = "baseline"

    def __init__(
        self,
        formula: str,
        parameters: Mapping[str, check.Number] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._set_formula(formula, parameters, state)

    # -- what it is ------------------------------------------------------------------------------

    @property
    def depends_on_theta_only(self) -> bool:  # type: ignore[override]
        """Whether it looks at the policy and the mean rewards alone."""
        return not self.state and set(self.names) <= {"pi", "r", "K"}

    @property
    def looks_at_batch(self) -> bool:
        """Whether it looks at the samples of the update that it is the baseline of."""
        return bool({"a", "R"} & set(self.names))

    @property
    def needs_values(self) -> bool:  # type: ignore[override]
        """Whether it looks at the mean rewards (in MDPs at Q)."""
        return "r" in self.names

    @property
    def not_in_mdps(self) -> str:  # type: ignore[override]
        """Why it cannot be used in MDPs; empty if it can."""
        # A state may: it learns from what was drawn.
        looks = {node.name for node in walk(self.tree.result) if node.op == INPUT}
        drawn = sorted({"a", "R", "N"} & looks)
        if drawn:
            return (
                f"the formula looks at the batch ({', '.join(drawn)}), which is for bandits; its "
                "state may, or Group(samples=...) compares episodes"
            )
        if self.state and self.needs_values:
            return "the formula has a state and looks at r: write that as a term of its own"
        return ""

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """None: it becomes a program."""
        return ()

    def core_term(self) -> None:
        """Nothing: it becomes a program."""

    def folded(self, r: Floats) -> float:
        """0: it goes into no offset."""
        del r
        return 0.0

    def number(self, r: Floats) -> float | None:
        """b, if it does not look at the policy."""
        if self.state or not set(self.names) <= {"r", "K"}:
            return None
        return float(self._values({"r": r, "K": float(len(r))}))

    def at(self, pi: Floats, r: Floats) -> Floats:
        """b(pi) on arrays of policies."""
        if not self.depends_on_theta_only:
            raise CombinationError("baseline", self, "a baseline that depends on theta only, by pi")
        # As in the core: a probability that underflows is tiny, not 0, so that pi log pi is 0.
        floored = np.maximum(pi, SMALLEST_PROBABILITY)
        b = self._values({"pi": floored, "r": r, "K": np.float64(pi.shape[-1])})
        return np.broadcast_to(b, pi.shape[:-1])

    def _values(self, given: dict[str, Any]) -> Floats:
        tree = self.tree
        b = tree.at(given)
        if np.isfinite(b).all():
            return b
        where = np.unravel_index(int(np.flatnonzero(~np.isfinite(b))[0]), b.shape)
        # One policy of those for which it is not.
        one = {k: x if np.ndim(x) < 2 else np.asarray(x)[where] for k, x in given.items()}
        found = tree.culprit(one)
        expression, operands = found or (self.formula, {})
        raise FormulaError("baseline", expression, f"a finite number; it is made from {operands}")

    # -- where it goes ---------------------------------------------------------------------------

    def range(self, r: Floats, rewards: tuple[float, float] | None = None) -> tuple[float, float]:
        """Bounds by interval arithmetic; weighted means of the rewards lie between them."""
        number = self.number(r)
        if number is not None:
            return number, number
        low, high = (float(r.min()), float(r.max())) if rewards is None else rewards
        own = (float(r.min()), float(r.max()))
        arms = float(len(r))
        given = {"pi": (0.0, 1.0), "mu": (0.0, 1.0), "r": own, "R": (low, high), "K": (arms, arms)}
        return bounds(self.tree.result, {**given, **_fixed(self.parameters)}, len(r))

    def enclose(self, arm: int, shares: Floats, epsilon: float, r: Floats) -> Enclosed:
        """Observed near the vertex; the limits of its range are proved."""
        seen = Baseline.enclose(self, arm, shares, epsilon, r)
        low, high = self.range(r)
        return Enclosed(max(seen.low, low), min(seen.high, high), seen.proved)


def _fixed(parameters: tuple[tuple[str, float], ...]) -> dict[str, tuple[float, float]]:
    return {name: (value, value) for name, value in parameters}


@overload
def baseline(
    formula: Callable[..., Any] | str,
    /,
    *,
    state: Mapping[str, Any] | None = ...,
    **parameters: check.Number,
) -> FormulaBaseline: ...


@overload
def baseline(
    *, state: Mapping[str, Any] | None = ..., **parameters: check.Number
) -> Callable[[Callable[..., Any]], FormulaBaseline]: ...


def baseline(
    formula: Callable[..., Any] | str | None = None,
    /,
    *,
    state: Mapping[str, Any] | None = None,
    **parameters: check.Number,
) -> Any:
    """A baseline of one's own, from a function (as its decorator) or from text.

    Parameters
    ----------
    formula : callable or str
        From some of ``pi, r, theta, mu`` (over arms), ``t, K, N`` (numbers), ``a, R`` (over the
        samples of the batch) to one number, or to one per sample. A function is called once, with
        symbols; its keyword-only arguments with defaults are parameters.
    state : mapping, optional
        Names and what they are at first: a number, or the name of a parameter. The function takes
        them as arguments and returns ``(b, {name: what it becomes})``; with a text each is
        ``(first value, text)``. In an MDP every state of it has its own, and what they become is
        worked out move by move after an episode, with ``R = r + gamma b(s')``.
    **parameters
        Values of parameters.

    Returns
    -------
    FormulaBaseline

    Examples
    --------
    >>> import committal as cm
    >>> @cm.baseline
    ... def collision(pi, r):
    ...     w = pi**2
    ...     return (w * r).sum() / w.sum()
    >>> collision == cm.baseline("sum(pi**2 * r) / sum(pi**2)")
    True
    >>> @cm.baseline(state={"v": "start"})
    ... def critic(R, v, *, rate=0.1, start=0.0):
    ...     return v, {"v": v + rate * (R.mean() - v)}
    >>> critic(start=1).parameters
    (('rate', 0.1), ('start', 1.0))
    """
    return made_part("baseline", FormulaBaseline, formula, state, parameters)
