"""Behaviours: the distribution mu_t from which actions are drawn."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from committal.config.base import Config, config
from committal.config.schedules import Rate, Schedule, at_time, rate
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["Behaviour", "EpsilonGreedy", "Fixed", "OnPolicy", "UniformMixture"]


class Behaviour(Config):
    """Base of the behaviours: mu_t as a function of pi.

    Examples
    --------
    >>> isinstance(OnPolicy(), Behaviour)
    True
    """

    __slots__ = ()

    #: What the core calls it.
    core_name: ClassVar[str]
    #: What it mixes with the uniform law: the "policy", its "greedy" arm, or something else ("").
    #: Statements about all of time need to know.
    mixes: ClassVar[str] = ""

    @property
    def exploration(self) -> float | Schedule:
        """gamma_t or epsilon_t: the probability of drawing an arm uniformly."""
        return 0.0

    @property
    def fixed(self) -> tuple[float, ...]:
        """The probabilities that do not depend on the policy; empty if there are none."""
        return ()

    def exploration_at(self, t: int) -> float:
        """gamma_t or epsilon_t as a number.

        Examples
        --------
        >>> from committal.config import Decay
        >>> UniformMixture(Decay(1.0, 0.5)).exploration_at(3)
        0.5
        """
        return at_time(self.exploration, t)

    def at(self, pi: Floats, t: int) -> Floats:
        """mu_t(pi), with the shape (..., K) of pi.

        Examples
        --------
        >>> EpsilonGreedy(0.5).at(np.array([0.1, 0.9]), 0)
        array([0.25, 0.75])
        """
        raise NotImplementedError

    def least(self, arms: int, exploration: Floats) -> Floats:
        """The least probability of any arm under any policy, for each exploration rate.

        Examples
        --------
        >>> UniformMixture(0.3).least(3, np.array([0.3]))
        array([0.1])
        """
        return exploration / arms


@config
class OnPolicy(Behaviour):
    """mu = pi.

    Examples
    --------
    >>> OnPolicy()
    OnPolicy()
    """

    def __init__(self) -> None:
        self._set()

    core_name = "on_policy"
    mixes = "policy"

    def at(self, pi: Floats, t: int) -> Floats:
        """Pi."""
        del t
        return pi


@config
class UniformMixture(Behaviour):
    """mu_t = (1 - gamma_t) pi + gamma_t / K, as in EXP3.

    Parameters
    ----------
    gamma
        A number in [0, 1] or a schedule of them; 0 is on-policy.

    Examples
    --------
    >>> UniformMixture(0.1)
    UniformMixture(0.1)
    """

    gamma: float | Schedule

    _positional = 1

    def __init__(self, gamma: Rate) -> None:
        self._set(gamma=rate("UniformMixture.gamma", gamma, check.UNIT))

    core_name = "uniform_mixture"
    mixes = "policy"

    @property
    def exploration(self) -> float | Schedule:
        """gamma."""
        return self.gamma

    def at(self, pi: Floats, t: int) -> Floats:
        """(1 - gamma_t) pi + gamma_t / K."""
        gamma = self.exploration_at(t)
        return np.asarray((1.0 - gamma) * pi + gamma / pi.shape[-1])


@config
class EpsilonGreedy(Behaviour):
    """mu_t = (1 - epsilon_t) greedy(pi) + epsilon_t / K.

    greedy(pi) is the arm of largest probability, the first of them if several are equal.

    Parameters
    ----------
    epsilon
        A number in (0, 1] or a schedule of them. Not 0: every arm must be drawn sometimes.

    Examples
    --------
    >>> EpsilonGreedy(0.1)
    EpsilonGreedy(0.1)
    """

    epsilon: float | Schedule

    _positional = 1

    def __init__(self, epsilon: Rate) -> None:
        self._set(epsilon=rate("EpsilonGreedy.epsilon", epsilon, check.UNIT_POSITIVE))

    core_name = "epsilon_greedy"
    mixes = "greedy"

    @property
    def exploration(self) -> float | Schedule:
        """epsilon."""
        return self.epsilon

    def at(self, pi: Floats, t: int) -> Floats:
        """(1 - epsilon_t) for the likeliest arm, and epsilon_t / K for every arm."""
        epsilon = self.exploration_at(t)
        greedy = np.arange(pi.shape[-1]) == pi.argmax(axis=-1)[..., None]
        return np.asarray((1.0 - epsilon) * greedy + epsilon / pi.shape[-1])


@config
class Fixed(Behaviour):
    """mu_t = probabilities, whatever the policy.

    Parameters
    ----------
    probabilities
        One number > 0 per arm; their sum is 1 within 1e-9. Zeros are refused because the
        importance weights pi / mu need mu > 0 everywhere.

    Examples
    --------
    >>> Fixed([0.25, 0.75])
    Fixed((0.25, 0.75))
    """

    probabilities: tuple[float, ...]

    _positional = 1

    def __init__(self, probabilities: check.Numbers) -> None:
        self._set(
            probabilities=check.probabilities("Fixed.probabilities", probabilities, positive=True)
        )

    core_name = "fixed"

    @property
    def fixed(self) -> tuple[float, ...]:
        """The probabilities."""
        return self.probabilities

    def at(self, pi: Floats, t: int) -> Floats:
        """The probabilities, once for every policy."""
        del t
        return np.broadcast_to(np.array(self.probabilities), pi.shape)

    def least(self, arms: int, exploration: Floats) -> Floats:
        """The least of the probabilities."""
        del arms
        return np.full(exploration.shape, min(self.probabilities))
