"""Estimators: which signal the update receives."""

from __future__ import annotations

from committal.config import check
from committal.config.base import Config, config
from committal.config.schedules import Rate, Schedule, rate

__all__ = ["Estimator", "Expected", "OneSample"]


class Estimator(Config):
    """Base of the estimators.

    Examples
    --------
    >>> isinstance(OneSample(), Estimator)
    True
    """

    __slots__ = ()


@config
class OneSample(Estimator):
    """A_j = R_j - b with weight 1 / (mu(a_j) + implicit_t), averaged over j = 1, ..., samples.

    Parameters
    ----------
    samples
        How many actions are drawn, and averaged over, in one update.
    implicit
        The implicit exploration of EXP3-IX, a number >= 0 or a schedule. It biases the estimate
        on purpose, to bound its weights; 0 turns it off.

    Examples
    --------
    >>> OneSample(samples=4)
    OneSample(samples=4)
    """

    samples: int
    implicit: float | Schedule

    def __init__(self, samples: check.Integer = 1, implicit: Rate = 0.0) -> None:
        self._set(
            # The bound keeps the sample index of the core in 32 bits.
            samples=check.integer("OneSample.samples", samples, 1, 2**31 - 1),
            implicit=rate("OneSample.implicit", implicit, check.NON_NEGATIVE),
        )


@config
class Expected(Estimator):
    """The expectation of the update over actions and rewards: the true gradient.

    Vanilla: theta += alpha (diag(pi) - pi pi^T) r; natural: theta += alpha r; direct: the
    projected step along r. Nothing is drawn, and the baseline has no effect.

    Examples
    --------
    >>> Expected()
    Expected()
    """

    def __init__(self) -> None:
        self._set()
