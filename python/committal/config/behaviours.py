"""Behaviours: the distribution mu_t from which actions are drawn."""

from __future__ import annotations

from committal.config.base import Config, config
from committal.config.schedules import Rate, Schedule, rate
from committal.support import check

__all__ = ["Behaviour", "EpsilonGreedy", "Fixed", "OnPolicy", "UniformMixture"]


class Behaviour(Config):
    """Base of the behaviours.

    Examples
    --------
    >>> isinstance(OnPolicy(), Behaviour)
    True
    """

    __slots__ = ()


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
