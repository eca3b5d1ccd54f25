"""What came after the paper: results, each of them settings, what they gave and what is claimed.

A *setting* is an experiment that is run many times and reduced to rates and means along a
logarithmic axis of time. What is *known* of it are numbers of an implementation that shares no code
with this one. A *result* has settings, or computes without any, and is judged like a figure of the
paper: it is one, with a source of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from committal.analysis import FailureRate, failure_rate
from committal.config import Bandit, Experiment, Record, Reduce
from committal.paper.figure import D, PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.result_pictures import failing_panel
from committal.paper.verdicts import Estimate, Finding, Verdict, sigmas_between_rates
from committal.support.text import grouped

if TYPE_CHECKING:
    import xarray as xr

#: Numbers of two implementations agree if they are fewer standard errors apart.
SIGMAS = 4.0
#: And numbers that need no luck agree to this.
EXACTLY = 1e-6
#: What stands before a claim that is not known to be in a paper.
OURS = "ours: "
#: Recorded times besides those at which something is known.
TIMES = 60

# An interval that is wider than this share of the known number tells nothing by containing it.
_WIDE = 0.5
_WIDE_RATE = 0.01

Quantity: TypeAlias = Literal["failures", "value", "policy", "regret", "entropy"]


@dataclass(frozen=True, slots=True)
class Known:
    """A number of an independent implementation.

    Attributes
    ----------
    quantity : str
        ``"failures"``, the share of runs below the level of the setting, or the name of what was
        averaged; ``"policy"`` is the probability of the best arm.
    time : int
        After how many updates.
    value, error : float
        The number and its standard error.
    runs : int
        On how many runs.
    place : str
        Where it stands in the file of such numbers.
    claim : str
        If it is one of those that the result is about: what is claimed. It then has a verdict of
        its own, besides that of all known numbers together.
    """

    quantity: Quantity
    time: int
    value: float
    error: float
    runs: int
    place: str
    claim: str = ""


def known(
    quantity: Quantity,
    place: str,
    runs: int,
    numbers: Mapping[int, tuple[float, float]],
    claims: Mapping[int, str] | None = None,
) -> tuple[Known, ...]:
    """Return numbers of one quantity, by time.

    Examples
    --------
    >>> [each.time for each in known("failures", "A1/b0", 4000, {10: (0.1, 0.005), 20: (0, 0)})]
    [10, 20]
    """
    said = claims or {}
    return tuple(
        Known(quantity, time, value, error, runs, place, said.get(time, ""))
        for time, (value, error) in numbers.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """An experiment of a result.

    Attributes
    ----------
    label : str
        Its name.
    experiment : Experiment
        What is run; its record is chosen here.
    runs, quick : int
        How often, and how often if there is little time.
    below : float
        A run fails if its value is less.
    record : tuple of str
        What is averaged besides the value.
    known : tuple of Known
        Numbers that must come out.
    latex, colour : str
        For pictures.
    """

    label: str
    experiment: Experiment
    runs: int
    quick: int
    below: float = 0.9
    record: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()
    latex: str = ""
    colour: str = "black"

    @property
    def best(self) -> int:
        """The best arm."""
        problem = self.experiment.problem
        assert isinstance(problem, Bandit)
        return problem.best

    @property
    def recorded(self) -> Experiment:
        """The experiment with its record: evenly in log t, at powers of ten, and where asked."""
        steps = self.experiment.steps
        even = np.rint(np.geomspace(1, steps, min(TIMES, steps))).astype(np.int64).tolist()
        tens = (10**k for k in range(1 + int(math.log10(steps))))
        at = sorted({0, steps, *even, *tens, *(each.time for each in self.known)})
        names = ("value", *self.record)
        return self.experiment.replace(record=Record(*names, at=at, reduce=Reduce(self.below)))

    def run(self, lab: Lab, label: str) -> Measured:
        """Run it."""
        named = f"{label} {self.label}"
        return Measured(self, lab.ensemble(self.recorded, self.runs, self.quick, named))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What became of a setting: means and counts of many runs, by time."""

    setting: Setting
    data: xr.Dataset

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return int(self.data["count"])

    def rate(self, time: int | None = None) -> FailureRate:
        """Return the share of runs below the level, at the end if no time is given."""
        return failure_rate(self.data, time=time)

    def failed(self, time: int | None = None) -> Estimate:
        """Return the same as a number with its interval."""
        return Estimate.of_rate(self.rate(time))

    def mean(self, name: str, time: int | None = None) -> Estimate:
        """Return the mean of a quantity; of policies that of the best arm."""
        now = self.data.isel(time=-1) if time is None else self.data.sel(time=time)
        if name == "policy":
            now = now.isel(arm=self.setting.best)
        return Estimate.of_mean(float(now[f"{name}_mean"]), float(now[f"{name}_sem"]))

    def slope(self, name: Quantity, start: int, end: int) -> Estimate:
        """Return the exponent of a quantity between two times, as if they were independent.

        They are not: the same runs have both, and the exponent is known better than this.
        """
        first, last = (
            self.failed(time) if name == "failures" else self.mean(name, time)
            for time in (start, end)
        )
        if first.estimate <= 0.0 or last.estimate <= 0.0:
            return Estimate(-math.inf, -math.inf, math.inf)
        log = math.log(end / start)
        error = math.hypot(first.sem / first.estimate, last.sem / last.estimate) / log
        return Estimate.of_mean(math.log(last.estimate / first.estimate) / log, error)

    def of(self, known: Known) -> Estimate:
        """Return what was measured of what is known."""
        if known.quantity == "failures":
            return self.failed(known.time)
        return self.mean(known.quantity, known.time)

    def apart(self, known: Known) -> float:
        """Return how many standard errors what was measured is from what is known."""
        if known.quantity == "failures":
            rate = self.rate(known.time)
            return sigmas_between_rates(rate.failures, rate.runs, known.value, known.runs)
        ours = self.of(known)
        # Known numbers are written with eight digits.
        error = math.hypot(ours.sem, known.error) + 1e-7 * abs(known.value)
        return abs(ours.estimate - known.value) / error

    def verdict(self, known: Known) -> Verdict:
        """Judge one number: undecided if so few runs would agree with almost anything."""
        if not self.apart(known) < SIGMAS:
            return Verdict.FAILS
        ours = self.of(known)
        half = (ours.high - ours.low) / 2
        told = half <= max(_WIDE * abs(known.value), _WIDE_RATE)
        return Verdict.HOLDS if told else Verdict.UNDECIDED


#: Something that is claimed, as a question to the outcomes of all settings.
ResultRule: TypeAlias = Callable[[Sequence[Measured]], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(PaperFigure[list[Measured]]):
    """A result that consists of settings.

    Attributes
    ----------
    cases : tuple of Setting
        What is run.
    described : tuple of pairs of str
        The settings in words, for the report.
    rules : tuple of callable
        What is claimed beyond the known numbers.
    """

    cases: tuple[Setting, ...]
    described: tuple[tuple[str, str], ...]
    rules: tuple[ResultRule, ...] = ()

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (*self.described, ("runs", runs_in_words(self.cases)))

    def compute(self, lab: Lab) -> list[Measured]:
        """Run every setting."""
        return [case.run(lab, self.name) for case in self.cases]

    def judge(self, data: list[Measured]) -> list[Finding]:
        """Ask the result's own questions, then compare every known number."""
        return [*(rule(data) for rule in self.rules), *known_findings(data)]

    def tables(self, data: list[Measured]) -> list[Table]:
        """List the known numbers beside what was measured."""
        return known_tables(data)

    def pictures(self, data: list[Measured]) -> list[Picture]:
        """Return shares of runs that fail against the logarithm of time, unless there is better."""
        ends = "; ".join(f"{one.setting.label}: {one.rate()}" for one in data)
        caption = f"{self.title}. Share of runs that fail, against time. In the end: {ends}."
        return [Picture(self.name, caption, lambda: failing_panel(data))]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedResult(PaperFigure[D]):
    """A result that needs no luck, or is measured in a way of its own.

    Attributes
    ----------
    described : tuple of pairs of str
        The settings in words, for the report.
    """

    described: tuple[tuple[str, str], ...]

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return self.described


def runs_in_words(cases: Iterable[Setting]) -> str:
    """Say how often settings are run.

    Examples
    --------
    >>> from committal.config import Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=3)
    >>> runs_in_words([Setting(label="", experiment=exp, runs=20_000, quick=1000)])
    '20 000 per setting; 1 000 with --quick'
    """
    chosen = tuple(cases)

    def said(counts: set[int]) -> str:
        return " or ".join(grouped(count) for count in sorted(counts))

    full, quick = said({case.runs for case in chosen}), said({case.quick for case in chosen})
    return f"{full} per setting; {quick} with --quick"


# -- known numbers ---------------------------------------------------------------------------------

_WORDS = {
    "failures": "runs that fail",
    "value": "mean value",
    "policy": "mean probability of the best arm",
    "regret": "mean regret",
    "entropy": "mean entropy",
}


def known_findings(data: Sequence[Measured]) -> list[Finding]:
    """Judge the numbers that are claims one by one, and all known ones together."""
    rows = [(one, known) for one in data for known in one.setting.known]
    if not rows:
        return []
    found = [
        Finding(
            f"{one.setting.label}: {_what(one, known)} after {grouped(known.time)} updates",
            known.claim,
            str(one.rate(known.time) if known.quantity == "failures" else one.of(known)),
            one.verdict(known),
            f"within {SIGMAS:g} standard errors of {known.value:.4g}, found on "
            f"{grouped(known.runs)} runs",
        )
        for one, known in rows
        if known.claim
    ]
    far, (one, known) = max(
        ((one.apart(known), (one, known)) for one, known in rows), key=lambda pair: pair[0]
    )
    found.append(
        Finding(
            f"{len(rows)} numbers of an independent implementation",
            "same settings",
            f"at most {far:.1f} standard errors apart ({one.setting.label}, {_what(one, known)} "
            f"after {grouped(known.time)} updates)",
            Verdict.HOLDS if far < SIGMAS else Verdict.FAILS,
            f"less than {SIGMAS:g} standard errors",
        )
    )
    return found


def known_tables(data: Sequence[Measured]) -> list[Table]:
    """List every known number beside what was measured."""
    rows = tuple(
        (
            one.setting.label,
            _what(one, known),
            grouped(known.time),
            str(one.of(known)),
            _theirs(known),
            f"{one.apart(known):.1f}",
        )
        for one in data
        for known in one.setting.known
    )
    header = (
        "setting",
        "quantity",
        "updates",
        "measured, 95 % interval",
        "independent, standard error",
        "apart (standard errors)",
    )
    return [Table("Against an independent implementation", header, rows)] if rows else []


def _theirs(known: Known) -> str:
    if known.quantity == "failures" and known.value in (0.0, 1.0):
        return f"{'none' if known.value == 0.0 else 'all'} of {grouped(known.runs)}"
    return f"{known.value:.5g} ± {known.error:.2g}"


def _what(one: Measured, known: Known) -> str:
    words = _WORDS[known.quantity]
    return f"{words} (J < {one.setting.below:g})" if known.quantity == "failures" else words


# -- numbers without luck --------------------------------------------------------------------------


def exactly(
    what: str, claim: str, ours: float, known: float, *, within: float = EXACTLY
) -> Finding:
    """Return the finding that a computed number is the known one.

    Examples
    --------
    >>> exactly("factor", "2.327689", 2.3276891, 2.327689).verdict
    <Verdict.HOLDS: 'holds'>
    >>> exactly("factor", "2.4", 2.3276891, 2.4).verdict
    <Verdict.FAILS: 'fails'>
    """
    apart = abs(ours - known)
    return Finding(
        what,
        claim,
        f"{ours:.8g}",
        Verdict.HOLDS if apart <= within else Verdict.FAILS,
        f"equal to {within:g}",
    )


def all_exactly(
    what: str, claim: str, pairs: Sequence[tuple[float, float]], *, within: float = EXACTLY
) -> Finding:
    """Return the finding that computed numbers are the known ones, all of them.

    Parameters
    ----------
    what, claim : str
        See :class:`~committal.paper.verdicts.Finding`.
    pairs : sequence of pairs of float
        Computed, known.
    within : float, optional
        How far apart they may be.

    Examples
    --------
    >>> all_exactly("factors", "as known", [(1.0, 1.0), (2.0, 2.1)]).verdict
    <Verdict.FAILS: 'fails'>
    """
    apart = float(np.max([abs(ours - known) for ours, known in pairs]))  # NaN if one of them is
    return Finding(
        what,
        claim,
        f"{len(pairs)} numbers, at most {apart:.1e} apart",
        Verdict.HOLDS if apart <= within else Verdict.FAILS,
        f"equal to {within:g}",
    )


def holds_if(what: str, claim: str, measured: str, true: bool, rule: str) -> Finding:
    """Return a finding that is decided by a comparison without error."""
    return Finding(what, claim, measured, Verdict.HOLDS if true else Verdict.FAILS, rule)
