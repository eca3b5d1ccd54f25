"""Policies: how parameters become probabilities of arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config.base import Config, config
from committal.errors import ConfigError
from committal.support import check

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
    """pi(a) = exp(theta_a) / sum_k exp(theta_k), and in an MDP pi(a|s) from theta[s, a].

    Parameters
    ----------
    theta0
        The start, one number per arm; None for zeros, the uniform policy. For an MDP, one number
        per action, for all states alike, or one row of them per state.

    Examples
    --------
    >>> Softmax([0, 3, 5])
    Softmax((0.0, 3.0, 5.0))
    >>> Softmax([[0, 1], [2, 0]]).theta0
    ((0.0, 1.0), (2.0, 0.0))
    """

    theta0: tuple[float, ...] | tuple[tuple[float, ...], ...] | None

    _positional = 1

    def __init__(
        self, theta0: check.Numbers | Sequence[check.Numbers] | npt.NDArray[Any] | None = None
    ) -> None:
        self._set(theta0=None if theta0 is None else _checked_start(theta0))


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


def _checked_start(theta0: Any) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    argument = "Softmax.theta0"
    if isinstance(theta0, np.ndarray):
        by_state = theta0.ndim == 2
    else:
        by_state = isinstance(theta0, Sequence) and any(
            isinstance(row, (list, tuple, np.ndarray)) for row in theta0
        )
    if not by_state:
        return check.vector(argument, theta0, least=1, noun="arm")
    rows = tuple(
        check.vector(f"{argument}[{s}]", row, least=1, noun="action")
        for s, row in enumerate(theta0)
    )
    if not rows:
        raise ConfigError(argument, theta0, "at least one row")
    for s, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ConfigError(f"{argument}[{s}]", row, f"{len(rows[0])} numbers, as in row 0")
    return rows
