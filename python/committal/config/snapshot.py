"""A behaviour that lags behind the policy."""

from __future__ import annotations

from committal.config.base import config
from committal.config.behaviours import Behaviour
from committal.errors import CombinationError
from committal.support import check, limits
from committal.support.simplex import Floats

__all__ = ["Snapshot"]


@config
class Snapshot(Behaviour):
    """mu_t = pi as it was at the last update whose number is a multiple of `every`.

    Every update draws anew, from a policy that is up to every - 1 updates old; rho = pi / mu says
    how far the policy has come since. In MDPs it draws the episodes of `Group` and
    `Reinforce(weight=...)`, and rho of a step is that of its own action.

    Parameters
    ----------
    every
        After how many updates mu becomes the policy again, >= 1; 1 is on-policy.

    Examples
    --------
    >>> Snapshot(every=10)
    Snapshot(10)
    """

    every: int

    _positional = 1

    core_name = "snapshot"

    def __init__(self, every: check.Integer) -> None:
        self._set(every=check.integer("Snapshot.every", every, 1, limits.SCHEDULE))

    def is_taken(self, t: int, steps: int) -> bool:
        """Whether mu becomes the policy at time t; what is drawn after the last update uses its mu.

        Examples
        --------
        >>> [Snapshot(2).is_taken(t, steps=4) for t in range(5)]
        [True, False, True, False, False]
        """
        return min(t, max(steps - 1, 0)) % self.every == 0

    def at(self, pi: Floats, t: int) -> Floats:
        """Not known from pi alone."""
        raise CombinationError(
            "behaviour", self, "OnPolicy: mu of a Snapshot is not a function of the policy"
        )
