"""Updates: in which geometry the parameters move."""

from __future__ import annotations

from committal.config.base import Config, config
from committal.config.schedules import Rate, Schedule, rate
from committal.support import check

__all__ = ["Natural", "Projected", "Update", "Vanilla"]


class Update(Config):
    """Base of the updates.

    Examples
    --------
    >>> isinstance(Natural(step_size=0.1), Update)
    True
    """

    __slots__ = ()

    step_size: float | Schedule


@config
class Natural(Update):
    """theta_a += alpha A / mu(a), after drawing a with probability mu(a).

    The natural gradient of a softmax in closed form, up to a shift along (1, ..., 1) that the
    policy cannot see.

    Parameters
    ----------
    step_size
        alpha > 0, a number or a schedule.
    entropy
        The temperature tau >= 0 of entropy regularisation, a number or a schedule:
        theta += -alpha tau log pi.

    Examples
    --------
    >>> Natural(step_size=0.025)
    Natural(step_size=0.025)
    """

    step_size: float | Schedule
    entropy: float | Schedule

    def __init__(self, step_size: Rate, entropy: Rate = 0.0) -> None:
        self._set(
            step_size=rate("Natural.step_size", step_size, check.POSITIVE),
            entropy=rate("Natural.entropy", entropy, check.NON_NEGATIVE),
        )


@config
class Vanilla(Update):
    """theta += alpha A (pi(a) / mu(a)) (e_a - pi), after drawing a with probability mu(a).

    With a `Direct` policy it is the projected step: the gradient of J with respect to the
    probabilities, followed by the projection that keeps them probabilities.

    Parameters
    ----------
    step_size
        alpha > 0, a number or a schedule.
    entropy
        The temperature tau >= 0 of entropy regularisation, a number or a schedule:
        theta += -alpha tau pi (log pi + H), where H is the entropy of pi.

    Examples
    --------
    >>> Vanilla(step_size=0.5, entropy=0.01)
    Vanilla(step_size=0.5, entropy=0.01)
    """

    step_size: float | Schedule
    entropy: float | Schedule

    def __init__(self, step_size: Rate, entropy: Rate = 0.0) -> None:
        self._set(
            step_size=rate("Vanilla.step_size", step_size, check.POSITIVE),
            entropy=rate("Vanilla.entropy", entropy, check.NON_NEGATIVE),
        )


@config
class Projected(Update):
    """theta = Proj[theta + alpha A / mu(a) e_a], the Euclidean projection onto the simplex.

    Parameters
    ----------
    step_size
        alpha > 0, a number or a schedule.

    Examples
    --------
    >>> Projected(step_size=0.1)
    Projected(step_size=0.1)
    """

    step_size: float | Schedule

    def __init__(self, step_size: Rate) -> None:
        self._set(step_size=rate("Projected.step_size", step_size, check.POSITIVE))
