"""What every problem is: something with arms, of which some quantities can be recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from committal.config.base import Config
from committal.config.quantities import Quantity
from committal.support import check

__all__ = ["Problem"]


class Problem(Config):
    """Base of the problems: what pays the rewards.

    Examples
    --------
    >>> from committal.config import Bandit
    >>> isinstance(Bandit([1, 0]), Problem)
    True
    """

    __slots__ = ()

    #: Everything that can be recorded, by name.
    quantities: ClassVar[Mapping[str, Quantity]]
    #: The names of what is recorded when none is given.
    recorded_by_default: ClassVar[tuple[str, ...]]
    #: Whether there are states, each with a policy of its own.
    by_state: ClassVar[bool] = False

    @property
    def arms(self) -> int:
        """The number K of arms, or of actions in each state."""
        raise NotImplementedError

    def range_of(self, name: str) -> tuple[float, float] | None:
        """Return bounds of a recorded quantity that hold for every policy; None if unknown.

        Examples
        --------
        >>> from committal.config import Bandit
        >>> low, high = Bandit([1.0, 0.2]).range_of("value")
        >>> round(low, 6), round(high, 6)
        (0.2, 1.0)
        >>> Bandit([1.0, 0.2]).range_of("theta") is None
        True
        """
        name = check.choice("name", name, tuple(self.quantities))
        return self.quantities[name].range_of(self)
