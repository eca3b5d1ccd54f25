"""Policies: how parameters become probabilities of arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.base import Config, config
from committal.errors import ConfigError
from committal.support import check
from committal.support.simplex import Floats, log_softmax, others, softmax

#: Parameters: one per arm, or in an MDP a row of them per state.
Start: TypeAlias = tuple[float, ...] | tuple[tuple[float, ...], ...]

__all__ = ["Direct", "Policy", "Sigmoid", "Softmax"]


class Policy(Config):
    """Base of the policies: how parameters (..., D) become probabilities (..., K), and back.

    Examples
    --------
    >>> isinstance(Softmax(), Policy)
    True
    """

    __slots__ = ()

    #: What the core calls it.
    core_name: ClassVar[str]
    #: Whether parameters that differ by a multiple of (1, ..., 1) are the same to it.
    ignores_shifts: ClassVar[bool] = True

    def start(self, arms: int) -> Floats:
        """theta_0, with shape (D,)."""
        raise NotImplementedError

    def probabilities_at(self, theta: Floats) -> Floats:
        """pi_theta, (..., K), from parameters (..., D).

        Examples
        --------
        >>> Sigmoid().probabilities_at(np.array([[0.0], [800.0]]))
        array([[0.5, 0.5],
               [1. , 0. ]])
        """
        raise NotImplementedError

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """log pi_theta, finite where pi underflows.

        Examples
        --------
        >>> Softmax().log_probabilities_at(np.array([0.0, -2000.0]))
        array([    0., -2000.])
        """
        raise NotImplementedError

    def parameters_at(self, pi: Floats) -> Floats:
        """One theta (..., D) whose policy is pi.

        Examples
        --------
        >>> Sigmoid().parameters_at(np.array([0.5, 0.5]))
        array([0.])
        """
        raise NotImplementedError

    def gradient(self, pi: Floats) -> Floats:
        """d pi_a / d theta as rows: (..., K, D)."""
        raise NotImplementedError

    def units(self, arms: int) -> Floats:
        """What a natural step moves when arm a is drawn, as rows: (K, D)."""
        return np.eye(arms)


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

    theta0: Start | None

    _positional = 1

    def __init__(
        self, theta0: check.Numbers | Sequence[check.Numbers] | npt.NDArray[Any] | None = None
    ) -> None:
        self._set(theta0=None if theta0 is None else checked_start("Softmax.theta0", theta0))

    core_name = "softmax"

    def start(self, arms: int) -> Floats:
        """The start, or zeros."""
        return np.zeros(arms) if self.theta0 is None else np.array(self.theta0)

    def probabilities_at(self, theta: Floats) -> Floats:
        """exp(theta) / sum exp(theta)."""
        return softmax(theta)

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """theta - log sum exp(theta)."""
        return log_softmax(theta)

    def parameters_at(self, pi: Floats) -> Floats:
        """log pi."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(pi))

    def gradient(self, pi: Floats) -> Floats:
        """pi_a (e_a - pi), with 1 - pi_a as the sum of the others."""
        score = np.where(np.eye(pi.shape[-1]) == 1.0, others(pi)[..., None], -pi[..., None, :])
        return np.asarray(pi[..., None] * score)


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

    core_name = "softmax"  # of two arms with theta = (theta, 0)
    ignores_shifts = False

    def start(self, arms: int) -> Floats:
        """The one parameter."""
        del arms
        return np.array([self.theta0])

    def probabilities_at(self, theta: Floats) -> Floats:
        """A softmax of (theta, 0)."""
        return softmax(_both(theta))

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """That of a softmax of (theta, 0)."""
        return log_softmax(_both(theta))

    def parameters_at(self, pi: Floats) -> Floats:
        """log pi_1 - log pi_2."""
        with np.errstate(divide="ignore"):
            log_pi = np.log(pi)
        return np.asarray(log_pi[..., :1] - log_pi[..., 1:])

    def gradient(self, pi: Floats) -> Floats:
        """pi_1 pi_2 for the first arm, the opposite for the second."""
        slope = pi[..., :1] * pi[..., 1:]
        return np.asarray(slope[..., None] * self.units(2))

    def units(self, arms: int) -> Floats:
        """+1 and -1."""
        del arms
        return np.array([[1.0], [-1.0]])


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

    core_name = "direct"

    def start(self, arms: int) -> Floats:
        """The start, or the uniform policy."""
        given = self.probabilities
        return np.full(arms, 1.0 / arms) if given is None else np.array(given)

    def probabilities_at(self, theta: Floats) -> Floats:
        """Theta itself."""
        return theta

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """Minus infinity where a probability is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(theta))

    def parameters_at(self, pi: Floats) -> Floats:
        """Pi itself."""
        return pi

    def gradient(self, pi: Floats) -> Floats:
        """e_a."""
        return np.broadcast_to(self.units(pi.shape[-1]), (*pi.shape, pi.shape[-1]))


def _both(theta: Floats) -> Floats:
    """(theta, 0): the two arms of a sigmoid as a softmax."""
    return np.concatenate([theta, np.zeros_like(theta)], axis=-1)


def checked_start(argument: str, theta0: Any) -> Start:
    """Check a start: one number per arm, or a row of them per state.

    Examples
    --------
    >>> checked_start("theta0", [[0, 1], [2, 3]])
    ((0.0, 1.0), (2.0, 3.0))
    """
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
