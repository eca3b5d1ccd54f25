"""A learned baseline: what the rewards so far say."""

from __future__ import annotations

from committal.config.base import config
from committal.config.baselines import RunningMean
from committal.config.linear import Baseline
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["Critic"]


@config
class Critic(Baseline):
    """b += rate (R - b) after every reward, from an initial value: a learned estimate of V.

    An advantage uses b as it was before the batch. ``RunningMean(rate, initial)`` is the same.

    Parameters
    ----------
    rate
        A number in (0, 1]; None for the mean of all rewards so far, which forgets `initial`.
    initial
        b before the first reward. A slow critic that begins too low is a low baseline for long.

    Examples
    --------
    >>> Critic(0.01, initial=1)
    Critic(0.01, initial=1.0)
    """

    rate: float | None
    initial: float

    _positional = 1

    depends_on_theta_only = False
    needs_values = False
    not_in_mdps = "Critic is for bandits; use RunningMean with Reinforce, Value with ExactQ"

    def __init__(self, rate: check.Number | None, initial: check.Number = 0.0) -> None:
        if rate is not None:
            rate = check.number("Critic.rate", rate, check.UNIT_POSITIVE)
        self._set(rate=rate, initial=check.number("Critic.initial", initial))

    @property
    def running_mean(self) -> RunningMean:
        """The same by its other name.

        Examples
        --------
        >>> Critic(0.1).running_mean
        RunningMean(rate=0.1)
        """
        return RunningMean(self.rate, self.initial)

    @classmethod
    def core_names(cls) -> tuple[str, ...]:
        """That of a running mean."""
        return RunningMean.core_names()

    def core_term(self) -> tuple[str, float]:
        """That of a running mean."""
        return self.running_mean.core_term()

    def range(self, r: Floats, rewards: tuple[float, float] | None = None) -> tuple[float, float]:
        """That of a running mean."""
        return self.running_mean.range(r, rewards)
