"""The escort policy: probabilities that are powers of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config.base import config
from committal.config.links import FormulaPolicy
from committal.config.policies import Policy, Start, checked_start
from committal.errors import CombinationError
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["Escort"]

_AT_LEAST_ONE = check.Interval(1.0)


@config
class Escort(Policy):
    """pi(a) = |theta_a|^power / sum_k |theta_k|^power: no plateaus near a wrong corner.

    Parameters
    ----------
    theta0
        The start, one number per arm, not all of them 0; in an MDP one per action, or a row of
        them per state. None for ones, the uniform policy. The policy p is at ``p ** (1 / power)``.
    power
        >= 1.

    Examples
    --------
    >>> Escort([1, 2], power=2).probabilities_at(np.array([1.0, 2.0]))
    array([0.2, 0.8])
    >>> Escort(power=4)
    Escort(power=4.0)
    """

    theta0: Start | None
    power: float

    _positional = 1

    core_name = "softmax"  # its formula replaces the exponential
    ignores_shifts = False

    def __init__(
        self,
        theta0: check.Numbers | Sequence[check.Numbers] | npt.NDArray[Any] | None = None,
        power: check.Number = 2.0,
    ) -> None:
        start = None if theta0 is None else checked_start("Escort.theta0", theta0)
        self._set(theta0=start, power=check.number("Escort.power", power, _AT_LEAST_ONE))

    def link(self, arms: int) -> FormulaPolicy:
        """The formula that it is.

        Examples
        --------
        >>> Escort(power=3).link(2)
        link('abs(theta)**power', power=3.0)((1.0, 1.0))
        """
        return FormulaPolicy("abs(theta)**power", self.start(arms), {"power": self.power})

    def start(self, arms: int) -> Floats:
        """The start, or ones."""
        return np.ones(arms) if self.theta0 is None else np.array(self.theta0)

    def probabilities_at(self, theta: Floats) -> Floats:
        """|theta|^p / sum |theta|^p."""
        return self.link(theta.shape[-1]).probabilities_at(theta)

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """Its logarithm."""
        return self.link(theta.shape[-1]).log_probabilities_at(theta)

    def parameters_at(self, pi: Floats) -> Floats:
        """pi^(1/p)."""
        return np.asarray(pi ** (1.0 / self.power))

    def gradient(self, pi: Floats) -> Floats:
        """Not known from pi alone: theta may have any length and any signs."""
        raise CombinationError("policy", self, "Softmax, Sigmoid or Direct: Escort needs theta")
