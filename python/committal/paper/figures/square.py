"""The 5×5 gridworld: figures A10 and A11."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from committal import plot
from committal.analysis import FailureRate
from committal.analysis.failures import SURE
from committal.config import Record, Reinforce, Vanilla, maps
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.maze_figure import MazeFigure, MazeOutcome, cases_of
from committal.paper.maze_rules import LOWER_COMMITS, returns_more, sticks_more
from committal.paper.verdicts import Estimate, Finding, all_positive
from committal.plot import sheet
from committal.plot.fates import fates
from committal.plot.sheet import Figure

if TYPE_CHECKING:
    import xarray as xr

SQUARE = maps.five_by_five()
#: Above the value of walking straight to the second-best goal, 0.768.
BELOW = 0.8
BEST = "B"
EPISODES = 4000
BASELINES = (-1.0, -0.5, 0.0, 0.5, 1.0)
DRAWN = 40

CASES = cases_of(
    SQUARE, Vanilla(step_size=0.1), Reinforce(), EPISODES, "b", {b: b for b in BASELINES}
)
WORDS = (
    "last policy reaches B at least half of the time",
    f"less, sure of another goal (probability ≥ {SURE:g})",
    "less, not finished",
)
#: b = −1, 0, 1.
THREE_CASES = CASES[::2]

# -- returns and entropies: figure A11 -------------------------------------------------------------

FIGURE_A11 = MazeFigure(
    name="figA11",
    title="5×5 gridworld, REINFORCE with constant baselines",
    says="As in four rooms, lower baselines lose entropy faster and get stuck on suboptimal "
    "policies more often.",
    settled=(
        "Step size and number of episodes are not stated: 0.1 and 4000; episodes are cut after "
        "100 moves. The baselines of the curves are read as −1, −½, 0, ½ and 1.",
    ),
    maze="5×5 gridworld, goals 0.8 and 1, γ = 0.99, limit 100",
    cases=CASES,
    runs=100,
    precise=4000,
    below=BELOW,
    rules=(
        *LOWER_COMMITS,
        sticks_more(0, 2),
        sticks_more(0, 4),
        sticks_more(1, 3),
        returns_more(0, 4),
    ),
)

# -- how often each run has reached the best goal: figure A10 --------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class GoalCounts:
    """Goals of every episode of the drawn runs, what they reach in the end, and many runs."""

    case: Case
    goals: xr.Dataset
    ends: xr.Dataset
    many: MazeOutcome

    @property
    def failed(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of the drawn runs do not go to the best goal in the end."""
        final = self.ends["goal_probability"].isel(time=-1).sel(terminal=BEST).values
        return np.asarray(final < 0.5)

    @property
    def moving(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of these are not sure of another goal either: more episodes would tell."""
        final = self.ends["goal_probability"].isel(time=-1)
        return np.asarray(self.failed & (final.max("terminal").values < SURE))

    @property
    def seen(self) -> FailureRate:
        """How many of them."""
        failed = self.failed
        return FailureRate.of(int(failed.sum()), failed.size, below=0.5, time=EPISODES)

    @property
    def missed(self) -> FailureRate:
        """How many of many runs miss the best goal in their last episode."""
        reached = self.many.ends_in(BEST)
        return FailureRate.of(
            reached.runs - reached.failures, reached.runs, below=0.5, time=EPISODES
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fractions(PaperFigure[list[GoalCounts]]):
    """A map and three panels of learning curves."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (
            *FIGURE_A11.settings[:3],
            ("baselines", ", ".join(case.label for case in THREE_CASES)),
            ("episodes", str(EPISODES)),
            ("runs", f"{DRAWN} drawn, {FIGURE_A11.precise} measured"),
            (
                "a run is not optimal if",
                "its last policy reaches the best goal less than half the time",
            ),
        )

    def compute(self, lab: Lab) -> list[GoalCounts]:
        """Record the goal of every episode."""
        found = []
        for case in THREE_CASES:
            exp, named = case.experiment, f"{self.name} {case.label}"
            goals = lab.sample(exp.replace(record=Record("goal", every=1)), DRAWN, named)
            # Apart: exact numbers of each of thousands of policies would take a while.
            ends = lab.sample(exp.replace(record=Record("goal_probability")), DRAWN, named)
            found.append(GoalCounts(case, goals, ends, FIGURE_A11.run(lab, case, label=self.name)))
        return found

    def judge(self, data: list[GoalCounts]) -> list[Finding]:
        """Compare how many runs become optimal, and how fast they commit."""
        rates = [Estimate.of_rate(one.missed) for one in data]
        gaps = [a.minus(b) for a, b in pairwise(rates)]
        early = [one.many.mean("action_entropy", 0.1) for one in data]
        faster = [b.minus(a) for a, b in pairwise(early)]
        return [
            all_positive(
                "last episodes that miss the best goal, b = −1, 0, 1",
                "the larger the baseline, the more runs become optimal",
                "; ".join(str(one.missed) for one in data),
                *gaps,
                rule="falling, each time by 3 standard errors",
            ),
            all_positive(
                f"action entropy at episode {EPISODES // 10}, b = −1, 0, 1",
                "negative baselines converge faster, sometimes to the worse goal",
                "; ".join(map(str, early)),
                *faster,
                rule="rising, each time by 3 standard errors",
            ),
        ]

    def tables(self, data: list[GoalCounts]) -> list[Table]:
        """List the rates."""
        rows = tuple(
            (
                one.case.label,
                f"{one.seen.failures} of {one.seen.runs}",
                f"{int(one.moving.sum())} of {one.seen.failures}" if one.seen.failures else "",
                str(one.missed),
            )
            for one in data
        )
        header = (
            "baseline",
            "not optimal, drawn",
            "of these not finished",
            "last episodes that miss the best goal",
        )
        return [Table("Runs that are not optimal", header, rows)]

    def pictures(self, data: list[GoalCounts]) -> list[Picture]:
        """Return the paper's picture."""
        rates = "; ".join(f"{one.case.label}: {one.missed}" for one in data)
        return [
            Picture(
                self.name,
                f"{self.title}. {data[0].goals.sizes['run']} runs per baseline; red: sure of the "
                "other goal in the end; purple: not optimal and not finished; black: mean. Last "
                "episodes that miss the best goal, 95 % intervals: "
                f"{rates}.",
                lambda: draw(data),
            )
        ]


def draw(data: Sequence[GoalCounts]) -> Figure:
    """Draw the map and the fraction of episodes that reached the best goal so far."""
    figure, axes = sheet.row("gccc", height=2.2, ratios=[0.95, 1.0, 1.0, 1.0], share_y=True)
    plot.grid(SQUARE, ax=axes[0])
    best = SQUARE.goals.index(BEST)
    for one, ax in zip(data, axes[1:], strict=True):
        reached = one.goals["goal"].values == best
        episodes = np.arange(1, reached.shape[1] + 1)
        fraction = np.cumsum(reached, axis=1) / episodes
        # One point per ten episodes: more cannot be seen.
        fates(
            ax, episodes[9::10], fraction[:, 9::10], one.failed,
            xlabel="episode", moving=one.moving, words=WORDS,
        )  # fmt: skip
        ax.set_xlim(0, EPISODES)
        ax.set_ylim(-0.02, 1.02)
        ax.set_title(f"{one.case.latex}: {one.seen.failures} of {one.seen.runs} not optimal")
    axes[1].set_ylabel("episodes that reached B")
    sheet.key(figure, *axes[1:])
    return figure


FIGURE_A10 = Fractions(
    name="figA10",
    title="5×5 gridworld, fraction of episodes so far that reached the best goal",
    says="The larger the baseline, the more runs converge to the optimal policy; runs with a "
    "negative one converge faster, but sometimes to the nearer, worse goal.",
    settled=(
        *FIGURE_A11.settled,
        f"The number of curves is not stated: {DRAWN}. A curve is red or purple if its last policy "
        "reaches the best goal with a probability below ½; red if it is sure of the other.",
    ),
)

FIGURES = (FIGURE_A10, FIGURE_A11)
