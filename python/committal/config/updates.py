"""Updates: in which geometry the parameters move."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from committal.config.base import Config, config
from committal.config.escort import Escort
from committal.config.links import FormulaPolicy
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.scaled import ScaledSoftmax, Tsallis
from committal.config.schedules import Rate, Schedule, at_time, rate
from committal.errors import CombinationError
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
    #: How 1 - pi_k shrinks while arm k is drawn again and again above its baseline: "geometric",
    #: "harmonic" (like 1/t), or not known (""). Statements about all of time need to know.
    approach: ClassVar[str] = ""

    step_size: float | Schedule

    def _set_rates(self, step_size: Rate, **temperatures: Rate) -> None:
        """Store a step size > 0 and temperatures >= 0."""
        name = self._own_name
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

    def core_for(self, policy: Policy) -> tuple[str, float]:
        """The name of the core for a policy, and a factor of the step size."""
        del policy
        return self.core_name, 1.0

    def expected_in_states(
        self, pi: Floats, advantage: Floats, visits: Floats, reachable: npt.NDArray[np.bool_]
    ) -> Floats:
        """The exact direction in an MDP, one number per state and action.

        Parameters
        ----------
        pi, advantage
            pi(a|s) and Q(s, a) - V(s), (S, A).
        visits
            d(s) = sum_t gamma^t P(s_t = s), (S,).
        reachable
            Whether the start can lead to a state that is acted in, (S,).
        """
        raise CombinationError("update", self, "an update that says what it is in an MDP")

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
    policies = (Softmax, Sigmoid, ScaledSoftmax, Tsallis)
    in_mdps = True
    approach = "geometric"

    def expected_in_states(
        self, pi: Floats, advantage: Floats, visits: Floats, reachable: npt.NDArray[np.bool_]
    ) -> Floats:
        """Q - V wherever the start can lead."""
        del pi, visits
        return np.where(reachable[:, None], advantage, 0.0)

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
    policies = (Softmax, Sigmoid, Direct, FormulaPolicy, Escort)
    in_mdps = True
    approach = "harmonic"

    def core_for(self, policy: Policy) -> tuple[str, float]:
        """Vanilla, projected for probabilities, at half the size for a sigmoid."""
        if isinstance(policy, Direct):
            # The gradient with respect to probabilities, followed by the projection.
            return Projected.core_name, 1.0
        # A vanilla softmax step moves theta_1 by alpha A (1 - p) and theta_2 by the opposite, so
        # their difference, the theta of the sigmoid, moves twice as far as d log p / d theta =
        # 1 - p says. The entropy term doubles in the same way. Natural steps move one of the two
        # only and need no correction.
        return self.core_name, 0.5 if isinstance(policy, Sigmoid) else 1.0

    def expected_in_states(
        self, pi: Floats, advantage: Floats, visits: Floats, reachable: npt.NDArray[np.bool_]
    ) -> Floats:
        """d(s) pi(a|s) (Q - V), the gradient."""
        del reachable
        return np.asarray(visits[:, None] * pi * advantage)


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
