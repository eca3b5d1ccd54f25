"""Figures of mazes: what they share, from settings to tables.

One update per episode. A run is below if the exact value of its last policy is not above what the
second-best goal can pay. It may be stuck, or not finished: it is still moving if its actions are
not yet almost certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

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
)
from committal.paper import maze_pictures
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.outcome import CaseOutcome, Rule, is_precise
from committal.paper.verdicts import Finding

# From committal to non-committal: orange to blue, equal variance in equal depth.
COLOURS = ("#D55E00", "#E69F00", "#000000", "#56B4E9", "#0072B2")

#: Nats per action: one that is more certain hardly moves any more.
MOVING = 0.1

_SAMPLE_TIMES = 500
_ENSEMBLE_TIMES = 100


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
        By perturbation, five in increasing order.
    """
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
        for (number, baseline), colour in zip(baselines.items(), COLOURS, strict=True)
    )


_LATEX = {"ε": r"\epsilon", "b": "b", "c": "c"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MazeOutcome(CaseOutcome):
    """What became of one case in a maze.

    The sample holds returns, entropies and exact values, the ensemble their means.
    """

    def ends_in(self, goal: str) -> FailureRate:
        """Return how many of the last episodes ended in a goal, or in ``"none"``."""
        fraction = float(self.ensemble["goal_fraction"].isel(time=-1).sel(outcome=goal))
        runs = int(self.ensemble["count"])
        steps = self.case.experiment.steps
        return FailureRate.of(round(fraction * runs), runs, below=self.rate.below, time=steps)

    def below(self) -> tuple[int, int, int]:
        """Return how many of the drawn runs end below the level, how many of these still move, all.

        A run moves if the entropy of its actions, over the last recorded episodes, is not small.
        """
        failed = ~(self.sample["value"].isel(time=-1).values >= self.rate.below)
        left = self.sample["action_entropy"].isel(time=slice(-maze_pictures.WINDOW, None))
        moving = failed & (left.mean("time").values >= MOVING)
        return int(failed.sum()), int(moving.sum()), failed.size


MazeRule: TypeAlias = Rule[MazeOutcome]


def run_case(
    lab: Lab, case: Case, *, runs: int, precise: int, below: float, label: str
) -> MazeOutcome:
    """Run a case at the paper's size and at high precision."""
    exp, named = case.experiment, f"{label} {case.label}"
    names = ("return", "action_entropy", "state_entropy")
    detailed = Record(*names, "value", every=max(1, exp.steps // _SAMPLE_TIMES))
    reduced = Record(
        *names,
        "value",
        "goal",
        every=max(1, exp.steps // _ENSEMBLE_TIMES),
        reduce=Reduce(below=below),
    )
    ensemble = lab.ensemble(exp.replace(record=reduced), precise, runs, named)
    return MazeOutcome(
        case=case,
        sample=lab.sample(exp.replace(record=detailed), runs, named),
        ensemble=ensemble,
        rate=failure_rate(ensemble),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MazeFigure(PaperFigure[list[MazeOutcome]]):
    """Returns and entropies against episodes, one curve per case.

    Attributes
    ----------
    maze : str
        The problem, in words.
    cases : tuple of Case
        The curves.
    runs : int
        How many runs the paper averaged.
    precise : int
        Runs at high precision.
    below : float
        A run is below, stuck or not finished, if the exact value of its last policy is less.
    draw_map : bool
        Whether the first panel is the map.
    rules : tuple of callable
        What the paper says.
    beside : MazeFigure, optional
        Another figure that this one is compared with; its outcomes come after the own ones.
    """

    maze: str
    cases: tuple[Case, ...]
    runs: int
    precise: int
    below: float
    draw_map: bool = False
    rules: tuple[MazeRule, ...] = ()
    beside: MazeFigure | None = None

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        exp = self.cases[0].experiment
        return (
            ("problem", self.maze),
            ("update", repr(exp.update)),
            ("estimate", repr(exp.estimator)),
            ("baselines", ", ".join(case.label for case in self.cases)),
            ("episodes", str(exp.steps)),
            ("runs", f"{self.runs} as in the paper, {self.precise} at high precision"),
            (
                "a run is stuck or not finished if",
                f"the exact value of its last policy is below {self.below:g}; it is still moving "
                f"if the entropy of its actions is {MOVING:g} nats or more",
            ),
        )

    def compute(self, lab: Lab) -> list[MazeOutcome]:
        """Run every case; those of the other figure come last."""
        own = [self.run(lab, case) for case in self.cases]
        return own if self.beside is None else own + self.beside.compute(lab)

    def run(self, lab: Lab, case: Case, *, label: str = "") -> MazeOutcome:
        """Run a case as this figure does."""
        return run_case(
            lab,
            case,
            runs=self.runs,
            precise=self.precise,
            below=self.below,
            label=label or self.name,
        )

    def judge(self, data: list[MazeOutcome]) -> list[Finding]:
        """Ask the figure's questions."""
        return [rule(data) for rule in self.rules]

    def tables(self, data: list[MazeOutcome]) -> list[Table]:
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
                _drawn_below(one),
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
            f"runs below {self.below:g}",
            f"drawn runs below {self.below:g}",
            "action entropy",
            "state-visit entropy",
            *(f"ends in {goal}" for goal in ends),
        )
        count = int(data[0].ensemble["count"])
        return [Table(f"At the end, {count} runs, 95 % intervals, entropies in nats", header, rows)]

    def pictures(self, data: list[MazeOutcome]) -> list[Picture]:
        """Return the paper's picture and the same at high precision."""
        own = data[: len(self.cases)]
        problem = own[0].case.experiment.problem
        assert isinstance(problem, Gridworld)
        shown = problem if self.draw_map else None
        ends = "; ".join(f"{one.case.label}: {one.mean('value')}" for one in own)
        low = "; ".join(f"{one.case.label}: {one.rate}" for one in own)
        runs = own[0].sample.sizes["run"]
        found = [
            Picture(
                self.name,
                f"{self.title}. Mean over {runs} runs, bands of one standard error; "
                f"each point averages {maze_pictures.WINDOW} episodes next to each other in time.",
                lambda: maze_pictures.curves_row(own, shown),
            )
        ]
        if is_precise(own):
            found.append(
                Picture(
                    f"{self.name}-precise",
                    f"The same at high precision, {own[0].rate.runs} runs, with the exact value "
                    "of the policy instead of the return, and 95 % bands. Final values: "
                    f"{ends}. Runs below {self.below:g}, stuck or not finished: {low}.",
                    lambda: maze_pictures.precise_row(own, self.below),
                )
            )
        return found


def _drawn_below(one: MazeOutcome) -> str:
    failed, moving, runs = one.below()
    return f"{failed} of {runs}, {moving} still moving" if failed else f"0 of {runs}"
