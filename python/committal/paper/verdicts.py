"""Verdicts: what the paper says, against a number with its interval.

A claim is turned into a range that a measured number must lie in. With the interval [low, high] of
the measurement the claim

* *holds* if the whole interval lies in the range,
* *fails* if none of it does,
* is *undecided* otherwise: more runs would tell.

A claim that is known not to come out, and is documented, *differs* instead of failing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from committal.analysis import FailureRate
from committal.inference.quantiles import normal_quantile

__all__ = ["Finding", "Verdict"]

#: How many standard errors a difference must have before it counts.
SIGMAS = 3.0
POSITIVE = f"positive by {SIGMAS:g} standard errors"


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim and what was measured.

    Attributes
    ----------
    what : str
        The quantity.
    paper : str
        What the paper says of it, in our words.
    measured : str
        The number with its interval.
    verdict : Verdict
        Whether they agree.
    rule : str
        What decides.

    Examples
    --------
    >>> found = Finding("stuck runs", "5 of 100", "5.9 %", Verdict.HOLDS, "inside")
    >>> Finding.from_dict(found.to_dict()) == found
    True
    """

    what: str
    paper: str
    measured: str
    verdict: Verdict
    rule: str

    def to_dict(self) -> dict[str, str]:
        """Return plain values for JSON."""
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Finding:
        """Build a finding from `to_dict`'s output."""
        return cls(**{**data, "verdict": Verdict(data["verdict"])})


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval.

    Examples
    --------
    >>> print(Estimate.of_mean(0.98259, 0.0002))
    0.98259 [0.98220, 0.98298]
    """

    estimate: float
    low: float
    high: float

    @classmethod
    def of_mean(cls, mean: float, sem: float) -> Estimate:
        """Make the interval of a mean over many runs from its standard error."""
        # One run has no standard error: nothing is known of its mean.
        half = math.inf if math.isnan(sem) else normal_quantile(0.95) * sem
        return cls(mean, mean - half, mean + half)

    @classmethod
    def of_rate(cls, rate: FailureRate) -> Estimate:
        """Take over a rate."""
        return cls(rate.estimate, rate.low, rate.high)

    @property
    def sem(self) -> float:
        """The standard error that the width of the interval implies."""
        return (self.high - self.low) / (2.0 * normal_quantile(0.95))

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference, as if the two were independent.

        With common random numbers they are not; the difference is then known better than this.
        """
        return self.of_mean(self.estimate - other.estimate, math.hypot(self.sem, other.sem))

    def __str__(self) -> str:
        half = (self.high - self.low) / 2
        if not math.isfinite(half):
            return f"{self.estimate:.4g} [?]"
        if half < 5e-7:
            return f"{self.estimate:.6f}".replace("-0.000000", "0.000000")
        places = min(max(0, 1 - math.floor(math.log10(half))), 6)
        one, low, high = (f"{x:.{places}f}" for x in (self.estimate, self.low, self.high))
        return f"{one} [{low}, {high}]"


@dataclass(frozen=True, slots=True)
class Band:
    """A word for how often something happens, and the rates that it stands for.

    Examples
    --------
    >>> SOME.verdict(0.045, 0.049)
    <Verdict.HOLDS: 'holds'>
    >>> NONE.verdict(0.045, 0.049)
    <Verdict.FAILS: 'fails'>
    """

    word: str
    low: float
    high: float

    def verdict(self, low: float, high: float) -> Verdict:
        """Judge an interval."""
        return within(low, high, at_least=self.low, at_most=self.high)

    @property
    def rule(self) -> str:
        """Say it in numbers."""
        if self.low <= 0.0:
            return f"“{self.word}”: at most {100 * self.high:g} % of runs"
        if self.high >= 1.0:
            return f"“{self.word}”: at least {100 * self.low:g} % of runs"
        return f"“{self.word}”: {100 * self.low:g} % to {100 * self.high:g} % of runs"


#: Of 40 runs, 1 in 200 is as good as never: four times in five none would be seen.
MANY = Band("many", 0.20, 1.0)
SOME = Band("some", 0.005, 0.20)
NONE = Band("none", 0.0, 0.005)


def within(
    low: float, high: float, *, at_least: float = -math.inf, at_most: float = math.inf
) -> Verdict:
    """Judge an interval against a range.

    Examples
    --------
    >>> within(0.1, 0.2, at_least=0.0), within(0.1, 0.2, at_most=0.15)
    (<Verdict.HOLDS: 'holds'>, <Verdict.UNDECIDED: 'undecided'>)
    """
    if math.isnan(low) or math.isnan(high):
        return Verdict.FAILS
    if low >= at_least and high <= at_most:
        return Verdict.HOLDS
    if high < at_least or low > at_most:
        return Verdict.FAILS
    return Verdict.UNDECIDED


def positive(difference: Estimate) -> Verdict:
    """Judge whether a difference is greater than 0, by three standard errors.

    Examples
    --------
    >>> positive(Estimate.of_mean(1.0, 0.1)), positive(Estimate.of_mean(0.1, 0.1))
    (<Verdict.HOLDS: 'holds'>, <Verdict.UNDECIDED: 'undecided'>)
    """
    half = SIGMAS * difference.sem
    return within(difference.estimate - half, difference.estimate + half, at_least=0.0)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts: one that fails makes the whole fail.

    Examples
    --------
    >>> worst([Verdict.HOLDS, Verdict.UNDECIDED])
    <Verdict.UNDECIDED: 'undecided'>
    """
    order = (Verdict.HOLDS, Verdict.UNDECIDED, Verdict.DIFFERS, Verdict.FAILS)
    return max(verdicts, key=order.index, default=Verdict.HOLDS)


def all_positive(
    what: str, paper: str, measured: str, *gaps: Estimate, rule: str = POSITIVE
) -> Finding:
    """Return the finding that every one of some differences is greater than 0.

    Examples
    --------
    >>> all_positive("b minus a", "b is larger", "1.0", Estimate.of_mean(1.0, 0.1)).verdict
    <Verdict.HOLDS: 'holds'>
    """
    return Finding(what, paper, measured, worst(map(positive, gaps)), rule)


def documented(verdict: Verdict) -> Verdict:
    """Turn a failure that is known, and written down, into a difference.

    Examples
    --------
    >>> documented(Verdict.FAILS)
    <Verdict.DIFFERS: 'differs'>
    """
    return Verdict.DIFFERS if verdict is Verdict.FAILS else verdict


def sigmas_between_rates(x: int, n: int, p: float, m: int) -> float:
    """How many standard errors x of n are from a rate p that was measured on m runs.

    On the scale of the arcsine of the square root, where a rate has the same error everywhere and
    hardly any failures remain comparable.

    Examples
    --------
    >>> round(sigmas_between_rates(1060, 10_000, 0.1, 10_000), 2)
    1.4
    """
    if n == 0:
        return 0.0
    apart = math.asin(math.sqrt(x / n)) - math.asin(math.sqrt(min(max(p, 0.0), 1.0)))
    return 2.0 * abs(apart) / math.sqrt(1.0 / n + 1.0 / m)
