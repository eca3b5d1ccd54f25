"""Everything that can be recorded, one row each.

A row says all that anybody needs to know of a quantity: its name, its axes, its type, its unit,
what it is in words, how it reduces over runs and the bounds that hold for every policy. `Record`,
the arrays that the core fills, the labels of datasets and the reference read it; the names, types
and axes of the core are compared with it by a test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from committal.config.bandit import Bandit
    from committal.config.mdp import TabularMDP

__all__ = ["MDP_RECORDABLE", "RECORDABLE"]

Range: TypeAlias = tuple[float, float]

#: A quantity with an axis of one of these has no such axis where its length is 1.
_SINGLE = ("sample", "parameter")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A recordable quantity.

    Attributes
    ----------
    name : str
        What it is called in `Record`, in results and in the core.
    long_name : str
        What it is, in words.
    axes : tuple of str
        What it has one entry of, beyond runs and times.
    dtype : numpy.dtype
        How the core writes it.
    units : str
        For people, like `long_name` named as the CF conventions do.
    reduces : {"moments", "mean", "outcomes", ""}
        How it reduces over runs: to mean, error and histogram; to mean and error only; to the
        fraction of runs by outcome; not at all.
    drawn : bool
        Whether it is drawn, so that there is nothing to record where nothing is drawn.
    bounds : callable, optional
        From a problem to bounds that hold for every policy.
    """

    name: str
    long_name: str
    axes: tuple[str, ...] = ()
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009  # immutable
    units: str = "1"
    reduces: str = "moments"
    drawn: bool = False
    bounds: Callable[[Any], Range] | None = None

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the lengths of its axes, from those of all axes."""
        return tuple(sizes[axis] for axis in self.axes)

    def width(self, sizes: Mapping[str, int]) -> int:
        """Count the numbers per run and time."""
        return math.prod(self.shape(sizes))

    def labelled_axes(self, sizes: Mapping[str, int]) -> tuple[str, ...]:
        """Return the axes that deserve to be dimensions of a result."""
        # One sample, or the one parameter of a sigmoid, is a number and not a list of one.
        single = {axis for axis in _SINGLE if sizes.get(axis) == 1}
        return tuple(axis for axis in self.axes if axis not in single)

    def range_of(self, problem: object) -> Range | None:
        """Return the ends of a histogram that holds it for every policy; None if unknown."""
        if self.bounds is None:
            return None
        low, high = self.bounds(problem)
        if self.dtype.kind == "i":
            return low, high
        # Runs end at the bounds, up to rounding: without a margin, half of the runs that found
        # the best arm would count as out of range.
        margin = 1e-9 * max(abs(low), abs(high))
        # A histogram needs a width even where only one value is possible.
        return (low - margin, high + margin) if low < high else (low - 0.5, high + 0.5)


def _rows(*rows: Quantity) -> dict[str, Quantity]:
    return {row.name: row for row in rows}


def _unit(_: object) -> Range:
    return 0.0, 1.0


def _means(bandit: Bandit) -> Range:
    return min(bandit.means), max(bandit.means)


def _returns(mdp: TabularMDP) -> Range:
    return mdp.return_bounds(mdp.limit)


def _values(mdp: TabularMDP) -> Range:
    return mdp.return_bounds(None)


def _acting(mdp: TabularMDP) -> int:
    return mdp.n_states - len(mdp.terminal)


_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)

#: Of bandits, by name.
BANDIT_QUANTITIES = _rows(
    Quantity("value", "expected reward J(θ)", units="reward", bounds=_means),
    Quantity("policy", "probability π of the arm", ("arm",), bounds=_unit),
    Quantity("theta", "parameter θ", ("arm",)),
    Quantity("baseline", "baseline b", units="reward"),
    Quantity(
        "entropy", "entropy of the policy", units="nat", bounds=lambda b: (0.0, math.log(b.arms))
    ),
    Quantity("action", "index of the arm drawn", ("sample",), _INT32, reduces="", drawn=True),
    Quantity("reward", "reward R drawn", ("sample",), units="reward", reduces="mean", drawn=True),
    Quantity("regret", "cumulative pseudo-regret", units="reward"),
    Quantity("variance", "variance of the gradient estimate (trace)", units="reward^2"),
    Quantity(
        "distance", "distance of π to the optimal vertex", bounds=lambda _: (0.0, math.sqrt(2.0))
    ),
)

#: Of MDPs, by name.
MDP_QUANTITIES = _rows(
    Quantity("return", "discounted return of the episode", units="reward", bounds=_returns),
    # Whole numbers get cells of width 1, each around one of them.
    Quantity("length", "steps of the episode", dtype=_INT32, bounds=lambda m: (0.5, m.limit + 0.5)),
    Quantity(
        "goal", "index of the terminal state reached, -1 for none", dtype=_INT32, reduces="outcomes"
    ),
    Quantity(
        "action_entropy",
        "mean entropy of π along the episode",
        units="nat",
        bounds=lambda m: (0.0, math.log(m.n_actions)),
    ),
    Quantity(
        "state_entropy",
        "entropy of the visits to states so far",
        units="nat",
        bounds=lambda m: (0.0, math.log(_acting(m))),
    ),
    Quantity("value", "expected discounted return J(θ)", units="reward", bounds=_values),
    Quantity(
        "goal_probability",
        "probability of reaching the terminal state within the limit",
        ("terminal",),
        bounds=_unit,
    ),
    Quantity("policy", "probability π of the action", ("state", "action"), bounds=_unit),
    Quantity("theta", "parameter θ", ("state", "action")),
    Quantity("visits", "visits to the state so far", ("state",), _INT64),
)

#: The parameter of a sigmoid, which has one where other policies have one per arm.
CONTRAST = Quantity("theta", "parameter θ of the first arm against the second", ("parameter",))

#: The names of what can be recorded of a bandit.
RECORDABLE = tuple(BANDIT_QUANTITIES)

#: The names of what can be recorded of an MDP.
MDP_RECORDABLE = tuple(MDP_QUANTITIES)

#: Some quantity of every name: what has one name reduces in one way, whatever the problem.
ANY_QUANTITY = {**BANDIT_QUANTITIES, **MDP_QUANTITIES}

#: Every name once, in one order, so that the same set of names is the same record.
ALL_NAMES = tuple(ANY_QUANTITY)

#: Names of dimensions and coordinates that results have anyway.
RESERVED = frozenset(
    (
        *("run", "time", "arm", "sample", "state", "action", "terminal", "quantile", "bin"),
        *("count", "failures", "final_time"),
    )
)
