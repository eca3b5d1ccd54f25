"""What can be recorded: the shape, the type and the meaning of every quantity.

One table for everyone who handles recorded numbers: the arrays that the core fills, the labels
of the dataset and the axes of the pictures are all read from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from committal.plan import Plan


@dataclass(frozen=True, slots=True)
class Quantity:
    """A recordable quantity.

    Attributes
    ----------
    axis : {"", "arm", "sample"}
        What it has one entry of, beyond runs and times.
    dtype : numpy.dtype
        How the core writes it.
    long_name, units : str
        For people, following the CF conventions' attribute names.
    """

    axis: Literal["", "arm", "sample"]
    dtype: np.dtype[Any]
    long_name: str
    units: str = "1"

    def width(self, plan: Plan) -> int:
        """Count the numbers per run and time."""
        if self.axis == "arm":
            return plan.arms
        return plan.samples if self.axis == "sample" else 1


_FLOAT = np.dtype(np.float64)

QUANTITIES: dict[str, Quantity] = {
    "value": Quantity("", _FLOAT, "expected reward J(θ)", "reward"),
    "policy": Quantity("arm", _FLOAT, "probability π of the arm"),
    "theta": Quantity("arm", _FLOAT, "parameter θ"),
    "baseline": Quantity("", _FLOAT, "baseline b", "reward"),
    "entropy": Quantity("", _FLOAT, "entropy of the policy", "nat"),
    "action": Quantity("sample", np.dtype(np.int32), "index of the arm drawn"),
    "reward": Quantity("sample", _FLOAT, "reward R drawn", "reward"),
    "regret": Quantity("", _FLOAT, "cumulative pseudo-regret", "reward"),
    "variance": Quantity("", _FLOAT, "variance of the gradient estimate (trace)", "reward^2"),
    "distance": Quantity("", _FLOAT, "distance of π to the optimal vertex"),
}


def quantity(name: str, plan: Plan) -> Quantity:
    """Look up a quantity as this plan records it.

    Parameters
    ----------
    name : str
        One of :data:`QUANTITIES`.
    plan : Plan
        A sigmoid policy has one parameter, θ(first arm) − θ(second arm), where the other
        policies have one per arm.
    """
    found = QUANTITIES[name]
    if name == "theta" and plan.contrast:
        return Quantity("", _FLOAT, "parameter θ of the first arm against the second")
    return found
