"""Which goals a policy reaches while it learns, in four rooms: figure A15."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.analysis import FailureRate, wilson_interval
from committal.config import Record
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.figures import rooms
from committal.paper.lab import Lab
from committal.paper.pictures import TITLE_PAD, shared_pace
from committal.paper.verdicts import POSITIVE, Estimate, Finding, all_positive, within
from committal.plot import sheet
from committal.plot.corners import name_corners
from committal.plot.goal_simplex import goal_simplex
from committal.plot.sheet import Figure

if TYPE_CHECKING:
    import xarray as xr

Floats = npt.NDArray[np.float64]

DRAWN, PRECISE = 10, 1000
TIMES = 300
ROLLOUTS = 1000
#: At the right, at the top and at the left, as in the paper.
WORST, MIDDLE, BEST = "B", "A", "C"
CORNERS = (WORST, MIDDLE, BEST)
NAMES = ("B (0.3)", "A (0.6)", "C (1.0)")
#: A run was near a corner if that goal had more than this share of all goals reached.
NEAR = 0.6

#: b = −1, 0, 1 of the cases of figure A14.
CASES = rooms.REINFORCE[::2]


@dataclass(frozen=True, slots=True, eq=False)
class GoalShares:
    """Probabilities of the goals, of the drawn runs and of many."""

    case: Case
    drawn: xr.Dataset
    many: xr.Dataset

    def share(self, goal: str) -> Floats:
        """Return the goal's share of all goals reached, by run and time."""
        p = self.many["goal_probability"].transpose("run", "time", "terminal")
        one, total = p.sel(terminal=goal).values, p.values.sum(axis=-1)
        return np.where(total > 0.0, one / np.where(total > 0.0, total, 1.0), 0.0)

    def came_near(self, goal: str) -> FailureRate:
        """Return how many of the runs had a goal as their main one at some time."""
        return self._rate((self.share(goal) > NEAR).any(axis=1))

    def ends_at(self, goal: str) -> FailureRate:
        """Return how many of the runs end with a goal as their main one."""
        return self._rate(self.share(goal)[:, -1] > 0.5)

    def _rate(self, which: object) -> FailureRate:
        chosen = np.asarray(which, np.bool_)
        return FailureRate.of(
            int(chosen.sum()), chosen.size, below=NEAR, time=rooms.REINFORCE_EPISODES
        )


@dataclass(frozen=True, slots=True, eq=False)
class Learning:
    """The outcomes, and the first policy's goals estimated by rollouts."""

    outcomes: list[GoalShares]
    rollouts: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalPaths(PaperFigure[Learning]):
    """Three triangles with paths."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (
            *rooms.FIGURE_A14.settings[:3],
            ("baselines", ", ".join(case.label for case in CASES)),
            ("episodes", str(rooms.REINFORCE_EPISODES)),
            ("runs", f"{DRAWN} drawn, {PRECISE} measured"),
            ("probabilities of goals", "exact, within 100 moves"),
        )

    def compute(self, lab: Lab) -> Learning:
        """Record the exact probability of reaching each goal."""
        every = max(1, rooms.REINFORCE_EPISODES // TIMES)
        outcomes = []
        for case in CASES:
            named = f"{self.name} {case.label}"
            exp = case.experiment.replace(record=Record("goal_probability", every=every))
            rough = exp.replace(record=Record("goal_probability", every=10 * every))
            outcomes.append(
                GoalShares(
                    case, lab.sample(exp, DRAWN, named), lab.ensemble(rough, PRECISE, DRAWN, named)
                )
            )
        first = CASES[0].experiment.replace(steps=0, record=Record("goal"))
        goals = lab.sample(first, ROLLOUTS, self.name)["goal"].values[:, 0]
        fractions = np.array([(goals == i).mean() for i in range(len(rooms.ROOMS.goals))])
        return Learning(outcomes, fractions)

    def judge(self, data: Learning) -> list[Finding]:
        """Compare the detours with what the paper sees."""
        low, _, high = data.outcomes
        strays = [one.came_near(WORST) for one in (low, high)]
        ends = [one.ends_at(BEST) for one in (low, high)]
        start = [float(low.share(goal)[0, 0]) for goal in CORNERS]
        return [
            all_positive(
                f"runs that come near the worst goal at some time, {low.case.label} minus "
                f"{high.case.label}",
                "with b = −1 some runs go towards the worst goal",
                f"{_minus(*strays)} ({strays[0]}; {strays[1]})",
                _minus(*strays),
                rule=f"its share above {NEAR:g}; {POSITIVE}",
            ),
            all_positive(
                f"runs that end at the best goal, {high.case.label} minus {low.case.label}",
                "with b = 1 runs are reliable, with b = −1 they are not",
                f"{_minus(ends[1], ends[0])} ({ends[1]}; {ends[0]})",
                _minus(ends[1], ends[0]),
                rule=f"its share above 0.5; {POSITIVE}",
            ),
            all_arrive(high),
            detour(high),
            Finding(
                "start: shares of the goals B, A, C",
                "equally far from both suboptimal goals, further from the best",
                ", ".join(f"{x:.3f}" for x in start),
                within(start[0] - start[1], start[0] - start[1], at_least=-0.02, at_most=0.02),
                "those of A and B within 0.02 of each other",
            ),
            self._rollouts(data),
        ]

    def _rollouts(self, data: Learning) -> Finding:
        exact = data.outcomes[0].many["goal_probability"].isel(run=0, time=0).values
        error = np.sqrt(np.maximum(exact * (1.0 - exact), 1e-12) / ROLLOUTS)
        apart = float(np.abs((data.rollouts - exact) / error).max())
        return Finding(
            "start: exact probabilities against rollouts",
            f"estimated with {ROLLOUTS} rollouts",
            f"at most {apart:.1f} standard errors apart",
            within(apart, apart, at_most=4.0),
            "less than 4 standard errors",
        )

    def tables(self, data: Learning) -> list[Table]:
        """List where runs have been."""
        rows = []
        for one in data.outcomes:
            final = one.many["goal_probability"].isel(time=-1).mean("run")
            rows.append(
                (
                    one.case.label,
                    str(one.came_near(WORST)),
                    str(one.came_near(MIDDLE)),
                    str(one.ends_at(BEST)),
                    ", ".join(f"{float(final.sel(terminal=goal)):.3f}" for goal in "ABC"),
                )
            )
        header = (
            "baseline",
            "near B once",
            "near A once",
            "ends at C",
            "mean final P(A), P(B), P(C)",
        )
        return [Table("Where runs have been", header, tuple(rows))]

    def pictures(self, data: Learning) -> list[Picture]:
        """Return the paper's picture."""
        return [
            Picture(
                self.name,
                f"{self.title}. {data.outcomes[0].drawn.sizes['run']} runs per baseline, coloured "
                "by time from purple to yellow; black dot: start. A corner is a policy that "
                "reaches no other goal. The probabilities are exact, not estimated.",
                lambda: draw(data.outcomes),
            )
        ]


def all_arrive(one: GoalShares) -> Finding:
    """Ask whether it is no surprise that all of the paper's runs arrived."""
    rate = one.ends_at(BEST)
    low, high = wilson_interval(DRAWN, DRAWN)
    return Finding(
        f"{one.case.label}: runs that end at the best goal",
        f"all {DRAWN}",
        str(rate),
        within(rate.low, rate.high, at_least=low, at_most=high),
        f"above {100 * low:.0f} %, the error of the paper's {DRAWN} runs",
    )


def detour(one: GoalShares) -> Finding:
    """Ask whether runs go to the better of the near goals before they go to the best."""
    rate = one.came_near(MIDDLE)
    return Finding(
        f"{one.case.label}: runs that come near A at some time",
        "runs first learn to reach the better goal next door, then the best",
        str(rate),
        within(rate.low, rate.high, at_least=0.5),
        f"its share above {NEAR:g} in more than half of them",
    )


def _minus(one: FailureRate, other: FailureRate) -> Estimate:
    return Estimate.of_rate(one).minus(Estimate.of_rate(other))


def draw(data: Sequence[GoalShares]) -> Figure:
    """Draw the paths of the probabilities."""
    figure, axes = sheet.row("sss", height=2.65)
    power = shared_pace([one.drawn["goal_probability"] for one in data])
    for one, ax in zip(data, axes, strict=True):
        goal_simplex(one.drawn, ax, corners=CORNERS, names=NAMES, max_runs=None, power=power)
        name_corners(ax, NAMES)
        ax.set_title(one.case.latex, pad=TITLE_PAD)
    sheet.time_bar(figure, axes, power)
    sheet.key(figure, *axes)
    return figure


FIGURE_A15 = GoalPaths(
    name="figA15",
    title="Four rooms, REINFORCE: shares of the goals that a policy reaches",
    says="The start is equally far from the two suboptimal goals. Runs first learn to reach the "
    "better one of them and then the best goal. With b = −1 the paths are noisy and some come "
    "near the worst goal; with b = 1 every run moves to A and then to C.",
    settled=(
        "A policy may reach no goal in time; the place on the triangle is that of the "
        "probabilities of the three goals divided by their sum.",
        "The probabilities are computed, not estimated with 1000 rollouts; both agree.",
    ),
)

FIGURES = (FIGURE_A15,)
