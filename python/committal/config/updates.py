"""Updates: in which geometry the parameters move."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from committal.config.base import Config, config
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.schedules import Rate, Schedule, at_time, rate
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["Natural", "Projected", "Update", "Vanilla"]


class Update(Config):
    """Base of the updates: theta += alpha w_a A J_a when arm a is drawn, with rows J_a.

    Examples
    --------
    >>> isinstance(Natural(step_size=0.1), Update)
    True
    """

    __slots__ = ()

    #: What the core calls it.
    core_name: ClassVar[str]
    #: The policies that it can move.
    policies: ClassVar[tuple[type[Policy], ...]]
    #: Whether it can move the policies of all states of an MDP.
    in_mdps: ClassVar[bool] = False

    step_size: float | Schedule

    def _set_rates(self, step_size: Rate, **temperatures: Rate) -> None:
        """Store a step size > 0 and temperatures >= 0."""
        name = type(self).__name__
        checked = {"step_size": rate(f"{name}.step_size", step_size, check.POSITIVE)}
        for key, value in temperatures.items():
            checked[key] = rate(f"{name}.{key}", value, check.NON_NEGATIVE)
        self._set(**checked)

    def rows(self, policy: Policy, pi: Floats) -> Floats:
        """J_a, (..., K, D): the direction of an update per unit of advantage and of 1 / mu(a).

        Sums of rows are expectations: sum_a J_a r_a is the expected direction without a baseline,
        sum_a J_a (-log pi_a) that of the entropy.

        Examples
        --------
        >>> Vanilla(0.1).rows(Softmax(), np.array([0.5, 0.5]))
        array([[ 0.25, -0.25],
               [-0.25,  0.25]])
        >>> Natural(0.1).rows(Sigmoid(), np.array([0.5, 0.5]))
        array([[ 1.],
               [-1.]])
        """
        return policy.gradient(pi)

    def temperature(self, t: int) -> float:
        """tau_t, the weight of the entropy; 0 for an update without entropy regularisation.

        Examples
        --------
        >>> Natural(0.1, entropy=0.5).temperature(0), Projected(0.1).temperature(0)
        (0.5, 0.0)
        """
        tau: float | Schedule = getattr(self, "entropy", 0.0)
        return at_time(tau, t)


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
        self._set_rates(step_size, entropy=entropy)

    core_name = "natural"
    policies = (Softmax, Sigmoid)
    in_mdps = True

    def rows(self, policy: Policy, pi: Floats) -> Floats:
        """e_a, or +1 and -1 for a sigmoid, whatever pi is."""
        units = policy.units(pi.shape[-1])
        return np.broadcast_to(units, (*pi.shape[:-1], *units.shape))


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
        self._set_rates(step_size, entropy=entropy)

    core_name = "vanilla"
    policies = (Softmax, Sigmoid, Direct)
    in_mdps = True


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
        self._set_rates(step_size)

    core_name = "projected"
    policies = (Direct,)
