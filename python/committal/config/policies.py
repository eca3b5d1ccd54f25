"""Policies: how parameters become probabilities of arms."""

from __future__ import annotations

from committal.config import check
from committal.config.base import Config, config

__all__ = ["Direct", "Policy", "Sigmoid", "Softmax"]


class Policy(Config):
    """Base of the policies.

    Examples
    --------
    >>> isinstance(Softmax(), Policy)
    True
    """

    __slots__ = ()


@config
class Softmax(Policy):
    """pi(a) = exp(theta_a) / sum_k exp(theta_k).

    Parameters
    ----------
    theta0
        The start, one number per arm; None for zeros, the uniform policy.

    Examples
    --------
    >>> Softmax([0, 3, 5])
    Softmax((0.0, 3.0, 5.0))
    """

    theta0: tuple[float, ...] | None

    _positional = 1

    def __init__(self, theta0: check.Numbers | None = None) -> None:
        if theta0 is not None:
            theta0 = check.vector("Softmax.theta0", theta0, least=1, noun="arm")
        self._set(theta0=theta0)


@config
class Sigmoid(Policy):
    """pi(first arm) = 1 / (1 + exp(-theta)): two arms and one number.

    Parameters
    ----------
    theta0
        The start; 0 is the uniform policy.

    Examples
    --------
    >>> Sigmoid(-1)
    Sigmoid(-1.0)
    """

    theta0: float

    _positional = 1

    def __init__(self, theta0: check.Number = 0.0) -> None:
        self._set(theta0=check.number("Sigmoid.theta0", theta0))


@config
class Direct(Policy):
    """pi(a) = theta_a: the parameters are the probabilities.

    Parameters
    ----------
    probabilities
        The start: numbers in [0, 1], one per arm, that sum to 1 within 1e-9 (they are used as
        they are, not renormalised); None for the uniform policy.

    Examples
    --------
    >>> Direct([0.2, 0.3, 0.5])
    Direct((0.2, 0.3, 0.5))
    """

    probabilities: tuple[float, ...] | None

    _positional = 1

    def __init__(self, probabilities: check.Numbers | None = None) -> None:
        if probabilities is not None:
            probabilities = check.probabilities("Direct.probabilities", probabilities)
        self._set(probabilities=probabilities)
