"""The paper's bandit figures: what they share, from settings to tables.

Three arms pay (1, 0.7, 0). A run fails if its value is below 0.9 after the last update: it has
settled on a suboptimal arm, or has not settled. Every case is run twice: as often as the paper
did, keeping each run, and much more often, keeping means and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from committal.analysis import FailureRate, failure_rate
from committal.config import (
    Bandit,
    Baseline,
    Expected,
    Experiment,
    MinVariance,
    Policy,
    Record,
    Reduce,
    Update,
    Value,
)
from committal.paper import bandit_pictures
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.verdicts import (
    Band,
    Estimate,
    Finding,
    Verdict,
    positive,
    sigmas_between_rates,
    within,
    worst,
)

if TYPE_CHECKING:
    import xarray as xr

THREE_ARMS = Bandit([1.0, 0.7, 0.0])
BELOW = 0.9
PRECISE = 100_000

# From committal to non-committal: orange to blue, in shades that colour-blind readers tell apart.
LOW, MIDDLE, HIGH, OTHER = "#D55E00", "#000000", "#0072B2", "#009E73"

_SAMPLE_TIMES = 400
_ENSEMBLE_TIMES = 100

#: Rate of failures among how many runs.
Reference = tuple[float, int]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of one case.

    Attributes
    ----------
    case : Case
        The case.
    sample : xarray.Dataset
        Value and policy of each of the paper's number of runs.
    ensemble : xarray.Dataset
        Mean value and entropy, and failures, of many runs.
    exact : Estimate or None
        P(the run ends on a suboptimal arm), without sampling.
    path : xarray.Dataset
        The run that follows the true gradient.
    seen, rate : FailureRate
        Of the sample and of the ensemble.
    """

    case: Case
    sample: xr.Dataset
    ensemble: xr.Dataset
    exact: Estimate | None
    path: xr.Dataset
    seen: FailureRate
    rate: FailureRate

    def mean(self, name: str, share: float = 1.0) -> Estimate:
        """Return the ensemble's mean of a quantity, after a share of the updates."""
        at = round(share * (self.ensemble.sizes["time"] - 1))
        now = self.ensemble.isel(time=at)
        return Estimate.of_mean(float(now[f"{name}_mean"]), float(now[f"{name}_sem"]))

    def regret(self) -> Estimate:
        """Return the mean regret at the end, a measure of how slow learning was."""
        return self.mean("regret")


#: Something that the paper says, as a question to the outcomes.
Rule = Callable[[Sequence[Outcome]], Finding]


def four_baselines(
    policy: Policy,
    update: Update,
    steps: int,
    *,
    value_steps: int | None = None,
    expect: Sequence[Band | None] = (None,) * 4,
    reference: Sequence[Reference | None] = (None,) * 4,
    metric: str = "gradient",
) -> tuple[Case, ...]:
    """Make the cases b* - 1/2, b*, b* + 1/2 and V.

    Parameters
    ----------
    policy, update, steps
        Of the experiments.
    value_steps : int, optional
        Updates with the value as baseline, if it needs more.
    expect, reference
        By case, see :class:`Case`.
    metric : str, optional
        Of the minimum-variance baseline.

    Examples
    --------
    >>> from committal.config import Natural, Softmax
    >>> [case.label for case in four_baselines(Softmax([0, 3, 5]), Natural(0.025), 1000)]
    ['b* − ½', 'b*', 'b* + ½', 'V']
    """
    best = MinVariance(metric)
    natural = metric == "natural"
    star, after = (r"b^*_\mathrm{nat}", " (natural metric)") if natural else ("b^*", "")
    rows: tuple[tuple[str, str, Baseline, str], ...] = (
        ("b* − ½" + after, rf"${star} - \frac{{1}}{{2}}$", best - 0.5, LOW),
        ("b*" + after, f"${star}$", best, MIDDLE),
        ("b* + ½" + after, rf"${star} + \frac{{1}}{{2}}$", best + 0.5, HIGH),
        ("V", r"$V$", Value(), OTHER),
    )
    cases = []
    for i, (label, latex, baseline, colour) in enumerate(rows):
        needed = value_steps if value_steps is not None and label == "V" else steps
        experiment = Experiment(THREE_ARMS, policy, update, baseline, steps=needed)
        cases.append(Case(label, latex, experiment, colour, expect[i], reference[i]))
    return tuple(cases)


def run_case(
    lab: Lab,
    case: Case,
    *,
    runs: int,
    precise: int,
    below: float = BELOW,
    solve: bool = False,
    label: str = "",
) -> Outcome:
    """Run a case at the paper's size and at high precision."""
    exp = case.experiment
    named = f"{label} {case.label}"
    detailed = Record("value", "policy", at=_times(exp.steps))
    reduced = Record(
        "value",
        "entropy",
        "regret",
        every=max(1, exp.steps // _ENSEMBLE_TIMES),
        reduce=Reduce(below=below),
    )
    sample = lab.sample(exp.replace(record=detailed), runs, named)
    ensemble = lab.ensemble(exp.replace(record=reduced), precise, runs, named)
    true = exp.replace(baseline=0.0, estimator=Expected(), record=detailed)
    return Outcome(
        case=case,
        sample=sample,
        ensemble=ensemble,
        exact=lab.committal(exp) if solve else None,
        path=lab.sample(true, 1, named),
        seen=failure_rate(sample, below),
        rate=failure_rate(ensemble),
    )


def _times(steps: int) -> npt.NDArray[np.int64]:
    """Return times that are dense at first, when most happens."""
    if steps <= _SAMPLE_TIMES:
        return np.arange(steps + 1)
    return np.unique(
        np.rint(steps * np.linspace(0.0, 1.0, _SAMPLE_TIMES + 1) ** 2).astype(np.int64)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BanditFigure(PaperFigure[list[Outcome]]):
    """A row of panels, one per case, and the same cases at high precision.

    Attributes
    ----------
    cases : tuple of Case
        The panels.
    kind : {"simplex", "curves"}
        What the panels are.
    runs : int
        How many runs the paper drew.
    kept : int
        How many are run for the pictures, so that two figures can share them.
    precise : int
        Runs at high precision.
    below : float
        A run fails if its last value is less.
    solve : bool
        Whether the committal probability can be solved for.
    rules : tuple of callable
        What the paper says beyond how many runs fail; asked of the cases and the companions.
    companions : tuple of Case
        Cases that the paper does not have, drawn beside it.
    companion_note : str
        What they are.
    """

    cases: tuple[Case, ...]
    kind: Literal["simplex", "curves"]
    runs: int
    kept: int
    precise: int = PRECISE
    below: float = BELOW
    solve: bool = False
    rules: tuple[Rule, ...] = ()
    companions: tuple[Case, ...] = ()
    companion_note: str = ""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        exp = self.cases[0].experiment
        steps = sorted({case.experiment.steps for case in self.cases})
        problem = exp.problem
        assert isinstance(problem, Bandit)
        return (
            ("problem", f"bandit, rewards {tuple(float(f'{r:g}') for r in problem.means)}"),
            ("start", repr(exp.policy)),
            ("update", repr(exp.update)),
            ("baselines", ", ".join(case.label for case in self.cases)),
            ("updates", " or ".join(map(str, steps))),
            ("runs", f"{self.runs} drawn, {self.precise:,} measured".replace(",", " ")),
            ("a run fails if", f"its last value is below {self.below:g}"),
        )

    def compute(self, lab: Lab) -> list[Outcome]:
        """Run every case; the companions' outcomes come last."""
        return [
            run_case(
                lab,
                case,
                runs=self.kept,
                precise=self.precise,
                below=self.below,
                solve=self.solve,
                label=self.name,
            )
            for case in (*self.cases, *self.companions)
        ]

    def judge(self, data: list[Outcome]) -> list[Finding]:
        """Compare the failures, then ask the figure's own questions."""
        found = [
            Finding(
                f"{one.case.label}: runs that fail",
                one.case.expect.word,
                str(one.rate),
                one.case.expect.verdict(one.rate.low, one.rate.high),
                one.case.expect.rule,
            )
            for one in data
            if one.case.expect is not None
        ]
        found += [rule(data) for rule in self.rules]
        return found + independent(data)

    def tables(self, data: list[Outcome]) -> list[Table]:
        """List the failures."""
        return [outcome_table(data, self.below, self.runs)]

    def pictures(self, data: list[Outcome]) -> list[Picture]:
        """Return the paper's picture and its companions."""
        own, others = data[: len(self.cases)], data[len(self.cases) :]
        simplex = self.kind == "simplex"
        row = bandit_pictures.simplex_row if simplex else bandit_pictures.curves_row
        rates = "; ".join(f"{one.case.label}: {one.rate}" for one in own)
        count = min(self.runs, own[0].sample.sizes["run"])
        found = [
            Picture(
                self.name,
                f"{self.title}. {count} runs per baseline{_HOW[self.kind]} "
                f"Runs that fail, with 95 % intervals: {rates}.",
                lambda: row(own, self.runs, self.below),
            )
        ]
        if is_precise(own):
            found.append(precise_picture(self.name, own, self.below, solved=self.solve))
        if others:
            found.append(
                Picture(
                    f"{self.name}-companion",
                    self.companion_note
                    + " Runs that fail: "
                    + "; ".join(f"{one.case.label}: {one.rate}" for one in others)
                    + ".",
                    lambda: row(others, self.runs, self.below),
                )
            )
        return found


def is_precise(data: Sequence[Outcome]) -> bool:
    """Say whether there are more runs than can be drawn one by one."""
    return data[0].rate.runs > data[0].sample.sizes["run"]


def precise_picture(name: str, data: Sequence[Outcome], below: float, *, solved: bool) -> Picture:
    """Return the picture of the same cases at high precision."""
    return Picture(
        f"{name}-precise",
        f"The same at high precision, {data[0].rate.runs} runs: mean value, mean entropy of the "
        f"policy and fraction of runs below {below:g}, with 95 % bands."
        + (" Diamonds: exact probability of never leaving." if solved else ""),
        lambda: bandit_pictures.precise_row(data, below),
    )


_HOW = {
    "simplex": ", coloured by time from purple to yellow; black dot: start; black line: the true "
    "gradient; small dots: ends.",
    "curves": "; red: below the level at the end; black: mean.",
}


def outcome_table(data: Sequence[Outcome], below: float, runs: int) -> Table:
    """List what became of the cases."""
    rows = []
    for one in data:
        first = failure_rate(one.sample.isel(run=slice(runs)), below)
        rows.append(
            (
                one.case.label,
                f"{one.case.experiment.steps}",
                f"{first.failures} of {first.runs}",
                str(one.rate),
                "" if one.exact is None else percent(one.exact),
                str(one.mean("value")),
            )
        )
    header = (
        "baseline",
        "updates",
        "failed, drawn",
        "failed, 95 % interval",
        "exact, t → ∞",
        "final value",
    )
    if not any(row[4] for row in rows):
        return Table(
            "Outcomes",
            header[:4] + header[5:],
            tuple((*row[:4], row[5]) for row in rows),
        )
    return Table("Outcomes", header, tuple(rows))


def percent(exact: Estimate) -> str:
    """Print an exact probability with its numerical error.

    Examples
    --------
    >>> percent(Estimate(0.47731, 0.47725, 0.47737))
    '47.731 % ± 0.006 %'
    """
    error = (exact.high - exact.low) / 2
    return f"{100 * exact.estimate:.3f} % ± {100 * error:.1g} %"


def independent(data: Sequence[Outcome]) -> list[Finding]:
    """Compare rates with those of an implementation that shares no code with this one."""
    known = [one for one in data if one.case.reference is not None]
    if not known:
        return []
    apart = [
        sigmas_between_rates(one.rate.failures, one.rate.runs, *one.case.reference)
        for one in known
        if one.case.reference is not None
    ]
    return [
        Finding(
            "failure rates against an independent implementation",
            "same experiments",
            f"at most {max(apart):.1f} standard errors apart",
            within(max(apart), max(apart), at_most=4.0),
            "less than 4 standard errors",
        )
    ]


# -- questions that several figures ask ------------------------------------------------------------


def commits_faster(low: int, high: int, share: float = 0.5) -> Rule:
    """Ask whether the lower of two baselines of equal variance loses entropy faster."""

    def rule(data: Sequence[Outcome]) -> Finding:
        one, other = data[low], data[high]
        gap = other.mean("entropy", share).minus(one.mean("entropy", share))
        at = round(share * one.case.experiment.steps)
        return Finding(
            f"entropy after {at} updates, {other.case.label} minus {one.case.label}",
            "the lower baseline becomes deterministic faster",
            f"{gap} nats",
            positive(gap),
            "positive by 3 standard errors",
        )

    return rule


def fails_more_often(low: int, others: Sequence[int], paper: str) -> Rule:
    """Ask whether one case fails more often than each of some others."""

    def rule(data: Sequence[Outcome]) -> Finding:
        one = Estimate.of_rate(data[low].rate)
        gaps = [one.minus(Estimate.of_rate(data[i].rate)) for i in others]
        least = min(gaps, key=lambda gap: gap.estimate)
        names = ", ".join(data[i].case.label for i in others)
        return Finding(
            f"failure rate, {data[low].case.label} minus the largest of {names}",
            paper,
            f"{least}",
            worst(positive(gap) for gap in gaps),
            "positive by 3 standard errors",
        )

    return rule


def slower(one: int, other: int, paper: str, *, differs: bool = False) -> Rule:
    """Ask whether one case learns more slowly than another, by its regret."""

    def rule(data: Sequence[Outcome]) -> Finding:
        gap = data[one].regret().minus(data[other].regret())
        verdict = positive(gap)
        if differs and verdict is Verdict.FAILS:
            verdict = Verdict.DIFFERS
        return Finding(
            f"regret, {data[one].case.label} minus {data[other].case.label}",
            paper,
            f"{gap}",
            verdict,
            "positive by 3 standard errors",
        )

    return rule


def late(one: int, other: int, time: int, paper: str) -> Rule:
    """Ask whether more runs of one case than of another are still below the level at a time."""

    def rule(data: Sequence[Outcome]) -> Finding:
        rates = [Estimate.of_rate(failure_rate(data[i].ensemble, time=time)) for i in (one, other)]
        gap = rates[0].minus(rates[1])
        return Finding(
            f"runs below the level after {time} updates, {data[one].case.label} minus "
            f"{data[other].case.label}",
            paper,
            f"{gap}",
            positive(gap),
            "positive by 3 standard errors",
        )

    return rule
