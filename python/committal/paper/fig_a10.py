"""Figure A10: the 5×5 gridworld, how often each run has reached the best goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from committal import plot
from committal.analysis import FailureRate
from committal.config import Record
from committal.paper import fig_a11
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.grids import SQUARE, SQUARE_BELOW, GridOutcome, run_case
from committal.paper.lab import Lab
from committal.paper.verdicts import Estimate, Finding, positive, worst
from committal.plot import sheet
from committal.plot.fates import fates
from committal.plot.sheet import Figure

if TYPE_CHECKING:
    import xarray as xr

BASELINES = (-1.0, 0.0, 1.0)
DRAWN = 40
BEST = "B"

CASES = tuple(
    case
    for case in fig_a11.CASES
    if case.label in {f"b = {b:g}".replace("-", "−") for b in BASELINES}
)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Goals of every episode of the drawn runs, what they reach in the end, and many runs."""

    case: Case
    goals: xr.Dataset
    ends: xr.Dataset
    many: GridOutcome

    @property
    def failed(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of the drawn runs do not go to the best goal in the end."""
        final = self.ends["goal_probability"].isel(time=-1).sel(terminal=BEST).values
        return np.asarray(final < 0.5)

    @property
    def seen(self) -> FailureRate:
        """How many of them."""
        failed = self.failed
        return FailureRate.of(int(failed.sum()), failed.size, below=0.5, time=fig_a11.EPISODES)

    @property
    def missed(self) -> FailureRate:
        """How many of many runs miss the best goal in their last episode."""
        reached = self.many.ends_in(BEST)
        return FailureRate.of(
            reached.runs - reached.failures, reached.runs, below=0.5, time=fig_a11.EPISODES
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fractions(PaperFigure[list[Outcome]]):
    """A map and three panels of learning curves."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (
            *fig_a11.FIGURE.settings[:3],
            ("baselines", ", ".join(case.label for case in CASES)),
            ("episodes", str(fig_a11.EPISODES)),
            ("runs", f"{DRAWN} drawn, {fig_a11.PRECISE} measured"),
            (
                "a run is not optimal if",
                "its last policy reaches the best goal less than half the time",
            ),
        )

    def compute(self, lab: Lab) -> list[Outcome]:
        """Record the goal of every episode."""
        found = []
        for case in CASES:
            exp, named = case.experiment, f"{self.name} {case.label}"
            goals = lab.sample(exp.replace(record=Record("goal", every=1)), DRAWN, named)
            # Apart: exact numbers of each of thousands of policies would take a while.
            ends = lab.sample(exp.replace(record=Record("goal_probability")), DRAWN, named)
            many = run_case(
                lab,
                case,
                runs=fig_a11.RUNS,
                precise=fig_a11.PRECISE,
                below=SQUARE_BELOW,
                label=self.name,
            )
            found.append(Outcome(case, goals, ends, many))
        return found

    def judge(self, data: list[Outcome]) -> list[Finding]:
        """Compare how many runs become optimal, and how fast they commit."""
        rates = [Estimate.of_rate(one.missed) for one in data]
        gaps = [a.minus(b) for a, b in pairwise(rates)]
        early = [one.many.mean("action_entropy", 0.1) for one in data]
        faster = [b.minus(a) for a, b in pairwise(early)]
        return [
            Finding(
                "last episodes that miss the best goal, b = −1, 0, 1",
                "the larger the baseline, the more runs become optimal",
                "; ".join(str(one.missed) for one in data),
                worst(map(positive, gaps)),
                "falling, each time by 3 standard errors",
            ),
            Finding(
                f"action entropy at episode {fig_a11.EPISODES // 10}, b = −1, 0, 1",
                "negative baselines converge faster, sometimes to the worse goal",
                "; ".join(map(str, early)),
                worst(map(positive, faster)),
                "rising, each time by 3 standard errors",
            ),
        ]

    def tables(self, data: list[Outcome]) -> list[Table]:
        """List the rates."""
        rows = tuple(
            (one.case.label, f"{one.seen.failures} of {one.seen.runs}", str(one.missed))
            for one in data
        )
        header = ("baseline", "not optimal, drawn", "last episodes that miss the best goal")
        return [Table("Runs that are not optimal", header, rows)]

    def pictures(self, data: list[Outcome]) -> list[Picture]:
        """Return the paper's picture."""
        rates = "; ".join(f"{one.case.label}: {one.missed}" for one in data)
        return [
            Picture(
                self.name,
                f"{self.title}. {data[0].goals.sizes['run']} runs per baseline; red: not optimal "
                "in the end; black: mean. Last episodes that miss the best goal, 95 % intervals: "
                f"{rates}.",
                lambda: draw(data),
            )
        ]


def draw(data: Sequence[Outcome]) -> Figure:
    """Draw the map and the fraction of episodes that reached the best goal so far."""
    figure, axes = sheet.row("gccc", height=1.9, ratios=[0.95, 1.0, 1.0, 1.0], share_y=True)
    plot.grid(SQUARE, ax=axes[0])
    best = SQUARE.goals.index(BEST)
    for one, ax in zip(data, axes[1:], strict=True):
        reached = one.goals["goal"].values == best
        episodes = np.arange(1, reached.shape[1] + 1)
        fraction = np.cumsum(reached, axis=1) / episodes
        # One point per ten episodes: more cannot be seen.
        fates(ax, episodes[9::10], fraction[:, 9::10], one.failed, xlabel="episode")
        ax.set_xlim(0, fig_a11.EPISODES)
        ax.set_ylim(-0.02, 1.02)
        ax.set_title(f"{one.case.latex}: {one.seen.failures} of {one.seen.runs} not optimal")
    axes[1].set_ylabel("episodes that reached B")
    return figure


FIGURE = Fractions(
    name="figA10",
    title="5×5 gridworld, fraction of episodes so far that reached the best goal",
    says="The larger the baseline, the more runs converge to the optimal policy; runs with a "
    "negative one converge faster, but sometimes to the nearer, worse goal.",
    settled=(
        *fig_a11.SETTLED,
        f"The number of curves is not stated: {DRAWN}. A curve is red if its last policy reaches "
        "the best goal with a probability below ½.",
    ),
)
