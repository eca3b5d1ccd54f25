"""What can be recorded: the shape, the type and the meaning of every quantity.

One table for everyone who handles recorded numbers: the arrays that the core fills, the labels
of the dataset and the axes of the pictures are all read from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from committal.lowering.bandit import Plan
from committal.lowering.mdp import MdpPlan
from committal.lowering.parts import AnyPlan


@dataclass(frozen=True, slots=True)
class Quantity:
    """A recordable quantity.

    Attributes
    ----------
    axes : tuple of str
        What it has one entry of, beyond runs and times; keys of the plan's ``sizes``.
    dtype : numpy.dtype
        How the core writes it.
    long_name, units : str
        For people, following the CF conventions' attribute names.
    """

    axes: tuple[str, ...]
    dtype: np.dtype[Any]
    long_name: str
    units: str = "1"

    def shape(self, plan: AnyPlan) -> tuple[int, ...]:
        """Return the lengths of its axes."""
        return tuple(plan.sizes[axis] for axis in self.axes)

    def width(self, plan: AnyPlan) -> int:
        """Count the numbers per run and time."""
        return math.prod(self.shape(plan))

    def labelled_axes(self, plan: AnyPlan) -> tuple[str, ...]:
        """Return the axes that deserve to be dimensions of a result."""
        # One sample, or the one parameter of a sigmoid, is a number and not a list of one.
        single = {axis for axis in ("sample", "parameter") if plan.sizes.get(axis) == 1}
        return tuple(axis for axis in self.axes if axis not in single)


_FLOAT = np.dtype(np.float64)
_INT32 = np.dtype(np.int32)

QUANTITIES: dict[str, Quantity] = {
    "value": Quantity((), _FLOAT, "expected reward J(θ)", "reward"),
    "policy": Quantity(("arm",), _FLOAT, "probability π of the arm"),
    "theta": Quantity(("arm",), _FLOAT, "parameter θ"),
    "baseline": Quantity((), _FLOAT, "baseline b", "reward"),
    "entropy": Quantity((), _FLOAT, "entropy of the policy", "nat"),
    "action": Quantity(("sample",), _INT32, "index of the arm drawn"),
    "reward": Quantity(("sample",), _FLOAT, "reward R drawn", "reward"),
    "regret": Quantity((), _FLOAT, "cumulative pseudo-regret", "reward"),
    "variance": Quantity((), _FLOAT, "variance of the gradient estimate (trace)", "reward^2"),
    "distance": Quantity((), _FLOAT, "distance of π to the optimal vertex"),
}

MDP_QUANTITIES: dict[str, Quantity] = {
    "return": Quantity((), _FLOAT, "discounted return of the episode", "reward"),
    "length": Quantity((), _INT32, "steps of the episode"),
    "goal": Quantity((), _INT32, "index of the terminal state reached, -1 for none"),
    "action_entropy": Quantity((), _FLOAT, "mean entropy of π along the episode", "nat"),
    "state_entropy": Quantity((), _FLOAT, "entropy of the visits to states so far", "nat"),
    "value": Quantity((), _FLOAT, "expected discounted return J(θ)", "reward"),
    "goal_probability": Quantity(
        ("terminal",), _FLOAT, "probability of reaching the terminal state within the limit"
    ),
    "policy": Quantity(("state", "action"), _FLOAT, "probability π of the action"),
    "theta": Quantity(("state", "action"), _FLOAT, "parameter θ"),
    "visits": Quantity(("state",), np.dtype(np.int64), "visits to the state so far"),
}

_CONTRAST = Quantity(("parameter",), _FLOAT, "parameter θ of the first arm against the second")


def quantity(name: str, plan: AnyPlan) -> Quantity:
    """Look up a quantity as this plan records it.

    Parameters
    ----------
    name : str
        One of :data:`QUANTITIES`, or of :data:`MDP_QUANTITIES` for an MDP.
    plan : Plan or MdpPlan
        A sigmoid policy has one parameter, θ(first arm) − θ(second arm), where the other
        policies have one per arm.
    """
    if isinstance(plan, MdpPlan):
        return MDP_QUANTITIES[name]
    if name == "theta" and isinstance(plan, Plan) and plan.contrast:
        return _CONTRAST
    return QUANTITIES[name]
