"""Formulas: what they are given in a run, and their values, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.bandit import Bandit
from committal.config.experiment import Experiment
from committal.config.formula_quantity import FormulaQuantity
from committal.config.links import FormulaPolicy
from committal.config.spelled import spelled_out
from committal.errors import NonFiniteError
from committal.formula.formula import Formula
from committal.formula.shapes import ARM
from committal.reference.arrays import Floats
from committal.reference.policies import others
from committal.support.simplex import SMALLEST_PROBABILITY

__all__ = ["Given", "drawn", "formula_value", "known", "next_states", "score", "with_states"]

#: What a formula looks at, by name.
Given: TypeAlias = Mapping[str, Any]


def known(theta: Floats, pi: Floats, mu: Floats, r: Floats | None, t: int) -> dict[str, Any]:
    """What is known before anything is drawn.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> known(np.zeros(2), half, half, None, t=3)["t"]
    3.0
    """
    values: dict[str, Any] = {
        "theta": theta,
        "pi": np.maximum(pi, SMALLEST_PROBABILITY),
        "mu": np.maximum(mu, SMALLEST_PROBABILITY),
        "t": float(t),
        "K": float(len(pi)),
    }
    return values if r is None else {**values, "r": r}


def drawn(
    given: Given,
    pi: Floats,
    mu: Floats,
    actions: npt.ArrayLike,
    rewards: npt.ArrayLike,
    implicit: float = 0.0,
) -> dict[str, Any]:
    """What is known once the N samples are drawn: a, R, rho and N.

    Examples
    --------
    >>> pi, mu = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    >>> drawn({}, pi, mu, [0, 0], [1.0, 1.0])["rho"]
    array([2., 2.])
    """
    a = np.asarray(actions, dtype=np.int64)
    return {
        **given,
        "a": a.astype(np.float64),
        "R": np.asarray(rewards, dtype=np.float64),
        "rho": pi[a] / (mu[a] + implicit),
        "N": float(len(a)),
    }


def score(policy: object, theta: Floats, pi: Floats, a: int) -> Floats:
    """grad log pi(a): e_a - pi, or of a link 1[k = a] f'_a / f_a - f'_k / F.

    Examples
    --------
    >>> import committal as cm
    >>> score(cm.Softmax(), np.zeros(2), np.array([0.5, 0.5]), 0)
    array([ 0.5, -0.5])
    """
    if isinstance(policy, FormulaPolicy):
        f, slope = policy.weights_at(theta), policy.slopes_at(theta)
        psi = -slope / f.sum()
        psi[a] = others(f)[a] / f.sum() * (slope[a] / f[a])
        return np.asarray(psi)
    psi = -pi
    psi[a] = others(pi)[a]
    return np.asarray(psi)


def directions(
    experiment: Experiment, theta: Floats, pi: Floats, actions: npt.ArrayLike
) -> dict[str, Any]:
    """The directions of the drawn arms, (N, K): their scores, and e_a / pi_a."""
    a = np.asarray(actions, dtype=np.int64)
    hot = np.eye(len(pi))[a]
    return {
        "score": np.array([score(experiment.policy, theta, pi, int(i)) for i in a]),
        "natural": hot / pi[a][:, None],
    }


def with_states(formula: Formula, given: Given, states: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values of names and states; before the first update those of the beginning."""
    values = dict(given)
    shapes = formula.shapes
    for name, _, node in formula.states:
        if states is not None and name in states:
            values[name] = states[name]
        else:
            first = formula.initial(name)
            vector = ARM in (shapes.get(name), node.shape)
            values[name] = np.full(int(given["K"]), first) if vector else first
    return values


def formula_value(part: str, formula: Formula, values: Given) -> Floats:
    """The value of a formula, which must be finite.

    Raises
    ------
    NonFiniteError
        It names the update, the sub-expression and its operands; who knows the run adds it.

    Examples
    --------
    >>> import committal as cm
    >>> formula_value("baseline", cm.baseline("1 / sum(r)").tree, {"r": np.zeros(2), "t": 4.0})
    Traceback (most recent call last):
        ...
    committal.errors.NonFiniteError: run 0, update 4: the formula of baseline is not finite: \
1 / sum(r) with sum(r) = 0.0
    """
    value = formula.at(values)
    if np.isfinite(value).all():
        return value
    raise _error(part, formula, values)


def _error(part: str, formula: Formula, values: Given) -> NonFiniteError:
    found = formula.culprit(values)
    expression, operands = found or (formula.text, {})
    return NonFiniteError(0, int(values.get("t", 0)), part, expression, operands)


def next_states(part: str, formula: Formula, values: Given) -> dict[str, Any]:
    """What the states become, which must be finite."""
    after = formula.next_states(values)
    shapes = formula.shapes
    for name, value in after.items():
        if not np.isfinite(value).all():
            raise _error(f"{part}, state {name}", formula, values)
        if shapes.get(name) == ARM:
            after[name] = np.broadcast_to(value, int(values["K"])).copy()
    return after


def quantities(experiment: Experiment, given: Given) -> Iterator[tuple[str, Floats]]:
    """The recorded quantities that are formulas, by name."""
    for quantity in spelled_out(experiment).record.formulas:
        yield quantity.name, quantity_values(experiment, quantity, given)


def quantity_values(experiment: Experiment, quantity: FormulaQuantity, given: Given) -> Floats:
    """A recorded formula, from what is known at its time."""
    assert isinstance(experiment.problem, Bandit)
    values = {**given, "theta0": experiment.policy.start(experiment.problem.arms)}
    return formula_value(f"quantity {quantity.name}", quantity.tree, values)
