r"""Policies whose parameters are multiplied by a scale that may change: follow the leader.

.. math:: \pi_t = \arg\max_p \; \langle p, \eta_t \theta_t \rangle + H(p)

With :math:`\theta = -L`, the losses so far, that is *follow the regularised leader*. The entropy of
Shannon gives a softmax (EXP3), that of Tsallis :math:`\pi_a = 4 / (x - \eta_t \theta_a)^2`, where
x makes them add up to 1 (Tsallis-INF). An update that is estimated by importance weights,
:math:`\theta_a \mathrel{+}= \alpha (R - b) / \pi_a`, is `Natural`.

Neither needs a kernel, for both can be kept in coordinates z in which the scale is gone: the
softmax as :math:`z = \eta_t \theta`, and Tsallis as :math:`z = x - \eta_t \theta = 2 / \sqrt\pi`,
whose link is elementwise. A step u of theta becomes one of z, by the next scale over this one:
:math:`\eta_{t+1} (\theta + u)` is :math:`\eta_{t+1} / \eta_t z + \eta_{t+1} u`, with -z for
Tsallis and but for a shift, of which neither policy knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config.base import config
from committal.config.formulas import INPUTS
from committal.config.links import FormulaPolicy
from committal.config.policies import Policy, Softmax
from committal.config.schedules import Decay, Rate, Schedule, at_time, rate
from committal.errors import CombinationError
from committal.formula.parse import parse
from committal.formula.shapes import ARM
from committal.formula.substitute import renamed
from committal.formula.tree import Node
from committal.support import check
from committal.support.simplex import Floats, log_softmax, softmax, tsallis, tsallis_roots

__all__ = ["ScaledSoftmax", "Tsallis"]


class ScaledPolicy(Policy):
    """Base of the policies of eta_t theta.

    Examples
    --------
    >>> isinstance(Tsallis(), ScaledPolicy)
    True
    """

    __slots__ = ()

    theta0: tuple[float, ...] | None
    scale: float | Schedule

    def _set_scaled(self, theta0: Any, scale: Any) -> None:
        name = type(self).__name__
        start = (
            None if theta0 is None else check.vector(f"{name}.theta0", theta0, least=1, noun="arm")
        )
        self._set(theta0=start, scale=rate(f"{name}.scale", scale, check.POSITIVE))

    def start(self, arms: int) -> Floats:
        """The start, or zeros."""
        return np.zeros(arms) if self.theta0 is None else np.array(self.theta0)

    def gradient(self, pi: Floats) -> Floats:
        """Not known from pi alone: the scale changes."""
        raise CombinationError("policy", self, "Softmax, Sigmoid or Direct: this one has a scale")

    # -- as others know it -----------------------------------------------------------------------

    def kept(self, arms: int) -> Policy:
        """The policy of the coordinates z, without a scale."""
        raise NotImplementedError

    def moved(self, step: Node, arms: int) -> Node:
        """What a step of theta, a tree over arms, adds to z."""
        raise NotImplementedError

    @property
    def growth(self) -> str:
        """The next scale over this one, as a formula of t; empty if it is 1."""
        now, after = rate_text(self.scale), rate_text(self.scale, ahead=1)
        return "" if now == after else f"({after} / {now})"


def _read(text: str, **trees: Node) -> Node:
    shapes = {**INPUTS["update"], **dict.fromkeys(trees, ARM)}
    return renamed(parse(text, shapes), trees)


def rate_text(x: float | Schedule, *, ahead: int = 0) -> str:
    """A constant or a schedule as a formula of t; `ahead` is how many updates later.

    Examples
    --------
    >>> rate_text(0.5), rate_text(Decay(2, 0.5)), rate_text(Decay(2, 0.5), ahead=1)
    ('0.5', '(2.0 / sqrt(t + 1.0))', '(2.0 / sqrt(t + 2.0))')
    """
    if not isinstance(x, Schedule):
        return repr(float(x))
    if not isinstance(x, Decay):
        raise CombinationError("policy.scale", x, "a number or Decay, which is a formula of t")
    since = f"t + {x.offset + ahead!r}"
    if x.power == 0.0:
        return repr(x.scale)
    if x.power == 0.5:
        return f"({x.scale!r} / sqrt({since}))"
    return f"({x.scale!r} / ({since})**{x.power!r})"


@config
class ScaledSoftmax(ScaledPolicy):
    """pi(a) = exp(scale_t theta_a) / sum_k exp(scale_t theta_k).

    With losses 1 - R, `Natural(1)`, the baseline 1 and ``scale=Decay(sqrt(log(K) / K), 0.5)`` it is
    EXP3 without a horizon; with ``estimator=OneSample(implicit=...)`` of half of that, EXP3-IX.

    Parameters
    ----------
    theta0
        The start, one number per arm; None for zeros, the uniform policy.
    scale
        A number > 0 or a `Decay`: that of t = 0 makes the policy that draws first.

    Examples
    --------
    >>> from committal.config import Decay
    >>> policy = ScaledSoftmax([0, 1], scale=Decay(2, 0.5))
    >>> policy.probabilities_at(np.array([0.0, 1.0])).round(4)  # at t = 0
    array([0.1192, 0.8808])
    """

    theta0: tuple[float, ...] | None
    scale: float | Schedule

    _positional = 1

    core_name = "softmax"

    def __init__(
        self, theta0: check.Numbers | npt.NDArray[Any] | None = None, scale: Rate = 1.0
    ) -> None:
        self._set_scaled(theta0, scale)

    def probabilities_at(self, theta: Floats) -> Floats:
        """The softmax of scale_0 theta."""
        return softmax(at_time(self.scale, 0) * theta)

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """Its logarithm."""
        return log_softmax(at_time(self.scale, 0) * theta)

    def parameters_at(self, pi: Floats) -> Floats:
        """log pi / scale_0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(pi) / at_time(self.scale, 0))

    def kept(self, arms: int) -> Softmax:
        """The softmax of z = scale_0 theta.

        Examples
        --------
        >>> ScaledSoftmax([0, 1], scale=2).kept(2)
        Softmax((0.0, 2.0))
        """
        return Softmax(at_time(self.scale, 0) * self.start(arms))

    def moved(self, step: Node, arms: int) -> Node:
        """What the scale takes off z, and its part of the step."""
        del arms
        shrunk = f"theta * ({self.growth} - 1) + " if self.growth else ""
        return _read(f"{shrunk}{rate_text(self.scale, ahead=1)} * step", step=step)


@config
class Tsallis(ScaledPolicy):
    """pi(a) = 4 / (x - scale_t theta_a)^2, where x > scale_t theta makes them add up to 1.

    With losses 1 - R, `Natural(1)` and the baseline 1 it is Tsallis-INF: ``scale=Decay(2, 0.5)`` as
    it is, ``Decay(4, 0.5)`` with an update of reduced variance. An arm falls off like the inverse
    square of what it lacks, not exponentially.

    Parameters
    ----------
    theta0
        The start, one number per arm; None for zeros, the uniform policy.
    scale
        A number > 0 or a `Decay`: that of t = 0 makes the policy that draws first.

    Examples
    --------
    >>> Tsallis([0, 0, 0, 0]).probabilities_at(np.zeros(4))
    array([0.25, 0.25, 0.25, 0.25])
    >>> Tsallis().probabilities_at(np.array([0.0, -1000.0]))[1].round(9)  # 4 / 1002^2
    np.float64(3.984e-06)
    """

    theta0: tuple[float, ...] | None
    scale: float | Schedule

    _positional = 1

    core_name = "softmax"  # its formula replaces the exponential

    def __init__(
        self, theta0: check.Numbers | npt.NDArray[Any] | None = None, scale: Rate = 1.0
    ) -> None:
        self._set_scaled(theta0, scale)

    def roots_at(self, theta: Floats) -> Floats:
        """2 / sqrt(pi), (..., K), at scale_0.

        Examples
        --------
        >>> Tsallis().roots_at(np.zeros(4))
        array([4., 4., 4., 4.])
        """
        return tsallis_roots(at_time(self.scale, 0) * theta)

    def probabilities_at(self, theta: Floats) -> Floats:
        """4 / (x - scale_0 theta)^2."""
        return tsallis(at_time(self.scale, 0) * theta)

    def log_probabilities_at(self, theta: Floats) -> Floats:
        """Its logarithm."""
        return np.asarray(np.log(self.probabilities_at(theta)))

    def parameters_at(self, pi: Floats) -> Floats:
        """-2 / sqrt(pi) / scale_0."""
        with np.errstate(divide="ignore"):
            return np.asarray(-2.0 / np.sqrt(pi) / at_time(self.scale, 0))

    def kept(self, arms: int) -> FormulaPolicy:
        """The link of z = 2 / sqrt(pi).

        Examples
        --------
        >>> Tsallis().kept(4)
        link('theta**-2')((4.0, 4.0, 4.0, 4.0))
        """
        return FormulaPolicy("theta**-2", self.roots_at(self.start(arms)))

    def moved(self, step: Node, arms: int) -> Node:
        """The new roots, less z."""
        del arms
        grown = f"theta * {self.growth}" if self.growth else "theta"
        y = f"{rate_text(self.scale, ahead=1)} * step - {grown}"
        return _read(f"2 / sqrt(tsallis({y})) - theta", step=step)
