"""The paper's gridworld figures: what they share, from settings to tables.

One update per episode. A run is stuck if the exact value of its last policy is not above what the
second-best goal can pay: it has not found the best goal, or cannot keep to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from committal.analysis import FailureRate, failure_rate
from committal.config import (
    Baseline,
    Estimator,
    Experiment,
    Gridworld,
    Record,
    Reduce,
    Softmax,
    Update,
    grids,
)
from committal.paper import grid_pictures
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.verdicts import Estimate, Finding, documented, positive, within, worst

if TYPE_CHECKING:
    import xarray as xr

ROOMS = grids.four_rooms()
SQUARE = grids.five_by_five()
#: Above the value of walking straight to the second-best goal: 0.543 and 0.768.
ROOMS_BELOW, SQUARE_BELOW = 0.6, 0.8

# From committal to non-committal: orange to blue, equal variance in equal depth.
COLOURS = ("#D55E00", "#E69F00", "#000000", "#56B4E9", "#0072B2")

_SAMPLE_TIMES = 500
_ENSEMBLE_TIMES = 100

ENTROPIES = {"action_entropy": "action entropy", "state_entropy": "state-visit entropy"}


def cases_of(
    problem: Gridworld,
    update: Update,
    estimator: Estimator,
    steps: int,
    symbol: str,
    baselines: Mapping[float, Baseline | float],
) -> tuple[Case, ...]:
    """Make one case per perturbation, in the colours of their order.

    Parameters
    ----------
    problem, update, estimator, steps
        Of the experiments.
    symbol : str
        What is perturbed, in letters and for pictures.
    baselines : dict
        By perturbation, in increasing order.
    """
    chosen = COLOURS if len(baselines) == len(COLOURS) else (COLOURS[0], COLOURS[2], COLOURS[4])
    return tuple(
        Case(
            f"{symbol} = {number:g}".replace("-", "−"),
            rf"${_LATEX[symbol]} = {number:g}$",
            Experiment(
                problem,
                Softmax(),
                update,
                baseline,
                estimator=estimator,
                steps=steps,
            ),
            colour,
        )
        for (number, baseline), colour in zip(baselines.items(), chosen, strict=True)
    )


_LATEX = {"ε": r"\epsilon", "b": "b", "c": "c"}


@dataclass(frozen=True, slots=True, eq=False)
class GridOutcome:
    """What became of one case.

    Attributes
    ----------
    case : Case
        The case.
    sample : xarray.Dataset
        Returns and entropies of each of the paper's number of runs.
    ensemble : xarray.Dataset
        Means of the same and of the exact value, and failures, of many runs.
    rate : FailureRate
        Stuck runs of the ensemble.
    """

    case: Case
    sample: xr.Dataset
    ensemble: xr.Dataset
    rate: FailureRate

    def mean(self, name: str, share: float = 1.0) -> Estimate:
        """Return the ensemble's mean of a quantity, after a share of the episodes."""
        return mean_at(self.ensemble, name, share)

    def ends_in(self, goal: str) -> FailureRate:
        """Return how many of the last episodes ended in a goal, or in ``"none"``."""
        fraction = float(self.ensemble["goal_fraction"].isel(time=-1).sel(outcome=goal))
        runs = int(self.ensemble["count"])
        steps = self.case.experiment.steps
        return FailureRate.of(round(fraction * runs), runs, below=self.rate.below, time=steps)


def mean_at(ensemble: xr.Dataset, name: str, share: float) -> Estimate:
    """Return the mean of a quantity after a share of the updates."""
    now = ensemble.isel(time=round(share * (ensemble.sizes["time"] - 1)))
    return Estimate.of_mean(float(now[f"{name}_mean"]), float(now[f"{name}_sem"]))


#: Something that the paper says, as a question to the outcomes.
Rule = Callable[[Sequence[GridOutcome]], Finding]


def run_case(
    lab: Lab, case: Case, *, runs: int, precise: int, below: float, label: str
) -> GridOutcome:
    """Run a case at the paper's size and at high precision."""
    exp, named = case.experiment, f"{label} {case.label}"
    names = ("return", "action_entropy", "state_entropy")
    detailed = Record(*names, every=max(1, exp.steps // _SAMPLE_TIMES))
    reduced = Record(
        *names,
        "value",
        "goal",
        every=max(1, exp.steps // _ENSEMBLE_TIMES),
        reduce=Reduce(below=below),
    )
    ensemble = lab.ensemble(exp.replace(record=reduced), precise, runs, named)
    return GridOutcome(
        case=case,
        sample=lab.sample(exp.replace(record=detailed), runs, named),
        ensemble=ensemble,
        rate=failure_rate(ensemble),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GridFigure(PaperFigure[list[GridOutcome]]):
    """Returns and entropies against episodes, one curve per case.

    Attributes
    ----------
    cases : tuple of Case
        The curves.
    runs : int
        How many runs the paper averaged.
    precise : int
        Runs at high precision.
    below : float
        A run is stuck if the exact value of its last policy is less.
    draw_map : bool
        Whether the first panel is the map.
    rules : tuple of callable
        What the paper says.
    beside : GridFigure, optional
        Another figure that this one is compared with; its outcomes come after the own ones.
    """

    cases: tuple[Case, ...]
    runs: int
    precise: int
    below: float
    draw_map: bool = False
    rules: tuple[Rule, ...] = ()
    beside: GridFigure | None = None

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        exp = self.cases[0].experiment
        return (
            ("problem", _describe(exp.problem)),
            ("update", repr(exp.update)),
            ("estimate", repr(exp.estimator)),
            ("baselines", ", ".join(case.label for case in self.cases)),
            ("episodes", str(exp.steps)),
            ("runs", f"{self.runs} as in the paper, {self.precise} at high precision"),
            ("a run is stuck if", f"the exact value of its last policy is below {self.below:g}"),
        )

    def compute(self, lab: Lab) -> list[GridOutcome]:
        """Run every case; those of the other figure come last."""
        own = [
            run_case(
                lab,
                case,
                runs=self.runs,
                precise=self.precise,
                below=self.below,
                label=self.name,
            )
            for case in self.cases
        ]
        return own if self.beside is None else own + self.beside.compute(lab)

    def judge(self, data: list[GridOutcome]) -> list[Finding]:
        """Ask the figure's questions."""
        return [rule(data) for rule in self.rules]

    def tables(self, data: list[GridOutcome]) -> list[Table]:
        """List where runs end."""
        problem = self.cases[0].experiment.problem
        assert isinstance(problem, Gridworld)
        ends = (*problem.goals, "none")
        rows = tuple(
            (
                one.case.label,
                str(one.mean("value")),
                str(one.mean("return")),
                str(one.rate),
                str(one.mean("action_entropy")),
                str(one.mean("state_entropy")),
                *(f"{100 * one.ends_in(goal).estimate:.1f} %" for goal in ends),
            )
            for one in data[: len(self.cases)]
        )
        header = (
            "baseline",
            "final value J(θ)",
            "return of the last episode",
            "stuck runs",
            "action entropy",
            "state-visit entropy",
            *(f"ends in {goal}" for goal in ends),
        )
        count = int(data[0].ensemble["count"])
        return [Table(f"At the end, {count} runs, 95 % intervals, entropies in nats", header, rows)]

    def pictures(self, data: list[GridOutcome]) -> list[Picture]:
        """Return the paper's picture and the same at high precision."""
        own = data[: len(self.cases)]
        problem = own[0].case.experiment.problem
        assert isinstance(problem, Gridworld)
        shown = problem if self.draw_map else None
        ends = "; ".join(f"{one.case.label}: {one.mean('value')}" for one in own)
        stuck = "; ".join(f"{one.case.label}: {one.rate}" for one in own)
        runs = own[0].sample.sizes["run"]
        found = [
            Picture(
                self.name,
                f"{self.title}. Mean over {runs} runs, bands of one standard error; "
                f"each point averages {grid_pictures.WINDOW} episodes next to each other in time.",
                lambda: grid_pictures.curves_row(own, shown),
            )
        ]
        if own[0].rate.runs > runs:
            found.append(
                Picture(
                    f"{self.name}-precise",
                    f"The same at high precision, {own[0].rate.runs} runs, with the exact value "
                    "of the policy instead of the return, and 95 % bands. Final values: "
                    f"{ends}. Stuck runs: {stuck}.",
                    lambda: grid_pictures.precise_row(own, self.below),
                )
            )
        return found


def _describe(problem: object) -> str:
    if problem == ROOMS:
        return "four rooms, goals 0.6, 0.3 and 1, γ = 0.99, limit 100"
    if problem == SQUARE:
        return "5×5 gridworld, goals 0.8 and 1, γ = 0.99, limit 100"
    return repr(problem)


# -- questions that several figures ask ------------------------------------------------------------


def _gap(
    data: Sequence[GridOutcome], low: int, high: int, name: str, share: float
) -> tuple[GridOutcome, GridOutcome, Estimate]:
    one, other = data[low], data[high]
    return one, other, other.mean(name, share).minus(one.mean(name, share))


def keeps_entropy(low: int, high: int, name: str, share: float, paper: str) -> Rule:
    """Ask whether the higher of two baselines keeps more entropy."""

    def rule(data: Sequence[GridOutcome]) -> Finding:
        one, other, gap = _gap(data, low, high, name, share)
        at = round(share * one.case.experiment.steps)
        return Finding(
            f"{ENTROPIES[name]} at episode {at}, {other.case.label} minus {one.case.label}",
            paper,
            f"{gap} nats",
            positive(gap),
            "positive by 3 standard errors",
        )

    return rule


def returns_more(low: int, high: int, paper: str) -> Rule:
    """Ask whether the higher of two baselines ends with the better policy."""

    def rule(data: Sequence[GridOutcome]) -> Finding:
        one, other, gap = _gap(data, low, high, "value", 1.0)
        return Finding(
            f"final value, {other.case.label} minus {one.case.label}",
            paper,
            f"{gap}",
            positive(gap),
            "positive by 3 standard errors",
        )

    return rule


def sticks_more(low: int, high: int, paper: str) -> Rule:
    """Ask whether more runs of the lower of two baselines are stuck."""

    def rule(data: Sequence[GridOutcome]) -> Finding:
        one, other = data[low], data[high]
        gap = Estimate.of_rate(one.rate).minus(Estimate.of_rate(other.rate))
        return Finding(
            f"stuck runs, {one.case.label} minus {other.case.label}",
            paper,
            f"{gap} ({one.rate.failures} and {other.rate.failures} of {one.rate.runs})",
            positive(gap),
            "positive by 3 standard errors",
        )

    return rule


def ends_near(which: int, low: float, high: float, paper: str) -> Rule:
    """Ask whether a case ends with a value in a range."""

    def rule(data: Sequence[GridOutcome]) -> Finding:
        value = data[which].mean("value")
        return Finding(
            f"final value, {data[which].case.label}",
            paper,
            str(value),
            within(value.low, value.high, at_least=low, at_most=high),
            f"from {low:g} to {high:g}",
        )

    return rule


def not_converged(which: Sequence[int], optimum: float, paper: str) -> Rule:
    """Ask whether cases remain below the optimum, with entropy left."""
    short, left = 0.05, 0.3

    def rule(data: Sequence[GridOutcome]) -> Finding:
        chosen = [data[i] for i in which]
        values = [one.mean("value") for one in chosen]
        entropies = [one.mean("action_entropy") for one in chosen]
        verdict = worst(
            [
                *(within(v.low, v.high, at_most=optimum - short) for v in values),
                *(within(h.low, h.high, at_least=left) for h in entropies),
            ]
        )
        measured = "; ".join(
            f"{one.case.label}: {v}, entropy {h}"
            for one, v, h in zip(chosen, values, entropies, strict=True)
        )
        return Finding(
            "final value and action entropy of the larger baselines",
            paper,
            measured,
            verdict,
            f"value at least {short:g} below the optimum {optimum:.4f}, entropy above {left:g}",
        )

    return rule


def documented_rule(rule: Rule) -> Rule:
    """Turn what is known not to come out from a failure into a difference."""

    def known(data: Sequence[GridOutcome]) -> Finding:
        found = rule(data)
        return replace(found, verdict=documented(found.verdict))

    return known
