"""Figures of bandits: what they share, from settings to tables.

Three arms pay (1, 0.7, 0). A run fails if its value is below 0.9 after the last update: it has
settled on a suboptimal arm, or has not finished, and the two are told apart. Every case is run
twice: as often as the paper did, keeping each run, and much more often, keeping means and counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.analysis import FailureRate, failure_rate
from committal.analysis.failures import SURE
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
from committal.paper.outcome import CaseOutcome, Rule, is_precise
from committal.paper.verdicts import Band, Estimate, Finding, sigmas_between_rates, within
from committal.plot.levels import ends_below
from committal.support.text import grouped

if TYPE_CHECKING:
    import xarray as xr

THREE_ARMS = Bandit([1.0, 0.7, 0.0])
BELOW = 0.9
PRECISE = 100_000
#: Runs that the paper draws as learning curves; on the simplex it draws the first few of them.
CURVES = 40

# From committal to non-committal: orange to blue, in shades that colour-blind readers tell apart.
LOW, MIDDLE, HIGH, OTHER = "#D55E00", "#000000", "#0072B2", "#009E73"

_SAMPLE_TIMES = 400
_ENSEMBLE_TIMES = 100


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BanditOutcome(CaseOutcome):
    """What became of one case of a bandit.

    The sample holds values and policies, the ensemble mean value, entropy and regret.

    Attributes
    ----------
    exact : Estimate or None
        P(the run ends on a suboptimal arm), without sampling.
    path : xarray.Dataset
        The run that follows the true gradient.
    seen : FailureRate
        Of the sample.
    """

    exact: Estimate | None
    path: xr.Dataset
    seen: FailureRate


BanditRule: TypeAlias = Rule[BanditOutcome]


def four_baselines(
    policy: Policy,
    update: Update,
    steps: int,
    *,
    value_steps: int | None = None,
    expect: Sequence[Band | None] = (None,) * 4,
    reference: Sequence[float | None] = (None,) * 4,
    reference_runs: int = 100_000,
) -> tuple[Case, ...]:
    """Make the cases b* - 1/2, b*, b* + 1/2 and V, b* being that of the gradient metric.

    Parameters
    ----------
    policy, update, steps
        Of the experiments.
    value_steps : int, optional
        Updates with the value as baseline, if it needs more.
    expect : sequence of Band or None, optional
        By case, how many runs of the paper failed.
    reference : sequence of float or None, optional
        By case, the rate of failures that an independent implementation found.
    reference_runs : int, optional
        On how many runs.

    Examples
    --------
    >>> from committal.config import Natural, Softmax
    >>> [case.label for case in four_baselines(Softmax(), Natural(0.025), 1000)]
    ['b* − ½', 'b*', 'b* + ½', 'V']
    """
    value = Experiment(THREE_ARMS, policy, update, Value(), steps=value_steps or steps)
    cases = (*_around(MinVariance(), value.replace(steps=steps)), Case("V", "$V$", value, OTHER))
    return tuple(
        replace(case, expect=band, reference=None if rate is None else (rate, reference_runs))
        for case, band, rate in zip(cases, expect, reference, strict=True)
    )


def natural_metric(
    cases: Sequence[Case],
    *,
    expect: Sequence[Band | None] = (None,) * 3,
    reference: Sequence[tuple[float, int] | None] = (None,) * 3,
) -> tuple[Case, ...]:
    """Make the first three cases again, with b* of the natural metric; V has no metric."""
    around = _around(MinVariance("natural"), cases[0].experiment)
    return tuple(
        replace(case, expect=band, reference=rate)
        for case, band, rate in zip(around, expect, reference, strict=True)
    )


def _around(best: MinVariance, experiment: Experiment) -> tuple[Case, ...]:
    natural = best.metric == "natural"
    star, after = (r"b^*_\mathrm{nat}", " (natural metric)") if natural else ("b^*", "")
    rows: tuple[tuple[str, str, Baseline, str], ...] = (
        ("b* − ½", rf"${star} - \frac{{1}}{{2}}$", best - 0.5, LOW),
        ("b*", f"${star}$", best, MIDDLE),
        ("b* + ½", rf"${star} + \frac{{1}}{{2}}$", best + 0.5, HIGH),
    )
    return tuple(
        Case(label + after, latex, experiment.replace(baseline=baseline), colour)
        for label, latex, baseline, colour in rows
    )


def run_case(
    lab: Lab,
    case: Case,
    *,
    runs: int,
    precise: int,
    below: float = BELOW,
    solve: bool = False,
    label: str = "",
) -> BanditOutcome:
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
    return BanditOutcome(
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
class BanditFigure(PaperFigure[list[BanditOutcome]]):
    """A row of panels, one per case, and the same cases at high precision.

    Attributes
    ----------
    cases : tuple of Case
        The panels.
    kind : {"simplex", "curves"}
        What the panels are.
    runs : int
        How many runs the paper drew.
    precise : int
        Runs at high precision.
    below : float
        A run fails if its last value is less.
    solve : bool
        Whether the committal probability can be solved for.
    view_of : str
        The figure that shows the same runs in another way; what both would show alike is shown
        there.
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
    precise: int = PRECISE
    below: float = BELOW
    solve: bool = False
    view_of: str = ""
    rules: tuple[BanditRule, ...] = ()
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
            ("runs", f"{self.runs} drawn, {grouped(self.precise)} measured"),
            (
                "a run fails if",
                f"its last value is below {self.below:g}: it is sure of another arm "
                f"(π ≥ {SURE:g}), or has not finished",
            ),
        )

    def compute(self, lab: Lab) -> list[BanditOutcome]:
        """Run every case; the companions' outcomes come last."""
        return [self.run(lab, case) for case in (*self.cases, *self.companions)]

    def run(
        self, lab: Lab, case: Case, *, label: str = "", solve: bool | None = None
    ) -> BanditOutcome:
        """Run a case as this figure does; `solve` may ask for less."""
        return run_case(
            lab,
            case,
            runs=CURVES,  # those on the simplex are the first of them
            precise=self.precise,
            below=self.below,
            solve=self.solve if solve is None else solve,
            label=label or self.name,
        )

    def as_curves(
        self, name: str, title: str, says: str, *, rules: tuple[BanditRule, ...] = ()
    ) -> BanditFigure:
        """Return the learning curves of the same runs: another view, not another experiment."""
        return replace(
            self,
            name=name,
            title=title,
            says=says,
            kind="curves",
            runs=CURVES,
            view_of=self.name,
            rules=(*self.rules, *rules),
        )

    def judge(self, data: list[BanditOutcome]) -> list[Finding]:
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

    def tables(self, data: list[BanditOutcome]) -> list[Table]:
        """List the failures."""
        return [outcome_table(data, self.below, self.runs)]

    def pictures(self, data: list[BanditOutcome]) -> list[Picture]:
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
                f"Runs that fail, with 95 % intervals: {rates}." + self._elsewhere(own),
                lambda: row(own, self.runs, self.below),
            )
        ]
        if is_precise(own) and not self.view_of:
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

    def _elsewhere(self, own: Sequence[BanditOutcome]) -> str:
        """Say where the picture at high precision is, if another figure has it."""
        if not (self.view_of and is_precise(own)):
            return ""
        return f" At high precision: figure {self.view_of.removeprefix('fig')}, of the same runs."


def precise_picture(
    name: str, data: Sequence[BanditOutcome], below: float, *, solved: bool
) -> Picture:
    """Return the picture of the same cases at high precision."""
    return Picture(
        f"{name}-precise",
        f"The same at high precision, {data[0].rate.runs} runs: mean value, mean entropy of the "
        f"policy and fraction of runs below {below:g}, with 95 % bands. "
        "Dotted, where no run is below it: the upper end of the interval."
        + (
            " Diamonds, right of the axis: exact probability of ending on a suboptimal "
            "arm, with its numerical error. No run reaches t = ∞."
            if solved
            else ""
        ),
        lambda: bandit_pictures.precise_row(data, below),
    )


_HOW = {
    "simplex": ", coloured by time from purple to yellow; black dot: start; black line: the true "
    "gradient; small dots: ends.",
    "curves": "; black: mean. Red and purple are below the level at the end: red ones are sure of "
    "another arm, purple ones have not finished.",
}


def outcome_table(data: Sequence[BanditOutcome], below: float, runs: int) -> Table:
    """List what became of the cases."""
    rows = []
    for one in data:
        drawn = one.sample.isel(run=slice(runs))
        first = failure_rate(drawn, below)
        _, moving = ends_below(drawn, below)
        unfinished = 0 if moving is None else int(moving.sum())
        half = failure_rate(one.ensemble, time=half_time(one))
        rows.append(
            (
                one.case.label,
                f"{one.case.experiment.steps}",
                f"{first.failures} of {first.runs}",
                f"{unfinished} of {first.failures}" if first.failures else "",
                percent_of(half),
                str(one.rate),
                str(one.mean("value")),
                "" if one.exact is None else percent(one.exact),
            )
        )
    header = (
        "baseline",
        "updates",
        "below at the end, drawn",
        "of these not finished",
        "below half-way",
        "below at the end, 95 % interval",
        "final value",
        "exact: ends on another arm, t → ∞",
    )
    title = (
        f"Outcomes. Below: J < {below:g}. Not finished: below, and no arm is taken with a "
        f"probability of {SURE:g} or more. What falls from half-way to the end has "
        "not got stuck"
    )
    if not any(row[-1] for row in rows):
        return Table(title, header[:-1], tuple(row[:-1] for row in rows))
    return Table(title, header, tuple(rows))


def half_time(one: BanditOutcome) -> int:
    """Return the recorded time that is nearest to half of the updates."""
    times = one.ensemble["time"].values
    return int(times[np.argmin(np.abs(times - one.case.experiment.steps / 2))])


def percent_of(rate: FailureRate) -> str:
    """Write a rate without its interval; none is a bound.

    Examples
    --------
    >>> percent_of(FailureRate.of(469, 10_000, below=0.9, time=1))
    '4.69 %'
    >>> percent_of(FailureRate.of(0, 10_000, below=0.9, time=1))
    '< 0.038 %'
    """
    return str(rate).partition(" %")[0] + " %"


def percent(exact: Estimate) -> str:
    """Print an exact probability with its numerical error.

    Examples
    --------
    >>> percent(Estimate(0.47731, 0.47725, 0.47737))
    '47.731 % ± 0.006 %'
    """
    error = (exact.high - exact.low) / 2
    return f"{100 * exact.estimate:.3f} % ± {100 * error:.1g} %"


def independent(data: Sequence[BanditOutcome]) -> list[Finding]:
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
