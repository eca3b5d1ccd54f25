"""A learned baseline: what the rewards so far say."""

from __future__ import annotations

from committal.config.base import config
from committal.config.baselines import RunningMean
from committal.config.formula_baseline import FormulaBaseline
from committal.config.linear import Baseline
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["Critic"]


@config
class Critic(Baseline):
    """b += rate (R - b) after every reward, from an initial value: a learned estimate of V.

    An advantage uses b as it was before the batch. In bandits ``RunningMean(rate, initial)`` is the
    same. In MDPs there is one b per state, learned by temporal differences: after every episode,
    move by move, b(s) += rate (r + gamma b(s') - b(s)), where a terminal s' has b = 0.

    Parameters
    ----------
    rate
        A number in (0, 1]; None for the mean of all rewards so far, which forgets `initial`; in
        MDPs of the visits to a state.
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

    @property
    def by_state(self) -> FormulaBaseline:
        """The same in MDPs, one for every state: R is r + gamma b(s').

        Examples
        --------
        >>> Critic(0.1).by_state
        baseline('v', state={'v': (0.0, 'v + 0.1 * (mean(R) - v)')})
        """
        if self.rate is not None:
            return FormulaBaseline(
                "v", state={"v": (self.initial, f"v + {self.rate!r} * (mean(R) - v)")}
            )
        seen = {"n": (0.0, "n + 1"), "v": (self.initial, "v + (mean(R) - v) / (n + 1)")}
        return FormulaBaseline("v", state=seen)

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
