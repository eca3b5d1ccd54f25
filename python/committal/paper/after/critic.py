"""A13: a baseline that is learned; where it starts and how fast it learns decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committal.config import Bandit, Critic, Experiment, Natural, RunningMean, Softmax, Value
from committal.paper.figure import Picture, Table
from committal.paper.result import Known, Measured, RunResult, Setting, known
from committal.paper.result_pictures import COLOURS, against_log_time, explain, failing
from committal.paper.verdicts import NONE, Finding, positive, within, worst
from committal.plot import heatmap, sheet
from committal.plot.sheet import Figure

ALPHA = 0.1
STEPS = 1000
START = (0.0, 3.0, 5.0)
#: The map: how fast the critic learns, and where it starts.
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
INITIALS = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
#: Two shares are the same if they are not further apart.
NEAR = 0.03
_FOLDER = "A13_critic/npg_critic_"


def experiment(baseline: Any) -> Experiment:
    """Return the paper's three arms from its bad start."""
    problem = Bandit([1.0, 0.7, 0.0])
    return Experiment(problem, Softmax(START), Natural(ALPHA), baseline, steps=STEPS)


def _fail(name: str, rate: float, error: float, claim: str) -> tuple[Known, ...]:
    place = f"{_FOLDER}{name}_T1000/fail"
    return known("failures", place, 40_000, {STEPS: (rate, error)}, {STEPS: claim})


#: Baseline, names, colour and what is known.
ROWS: tuple[tuple[Any, str, str, str, tuple[Known, ...]], ...] = (
    (Value(), "true V", "true $V$", COLOURS[5], _fail("value", 0.007425, 0.000429, "0.74 %")),
    (
        Critic(0.1, 0.0),
        "rate 0.1 from 0",
        r"$\beta = 0.1$, $b_0 = 0$",
        COLOURS[1],
        _fail("ema_01_init0", 0.072025, 0.00129, "7.2 %"),
    ),
    (
        Critic(0.01, 0.0),
        "rate 0.01 from 0",
        r"$\beta = 0.01$, $b_0 = 0$",
        COLOURS[0],
        _fail("ema_001_init0", 0.788775, 0.00204, "78.9 %"),
    ),
    (Critic(0.001, 0.0), "rate 0.001 from 0", r"$\beta = 0.001$, $b_0 = 0$", COLOURS[6], ()),
    (0.0, "b = 0 for ever", "$b = 0$ for ever", COLOURS[2], ()),
    (RunningMean(), "mean of all rewards so far", "mean so far", COLOURS[3], ()),
    (Critic(0.01, 1.0), "rate 0.01 from 1", r"$\beta = 0.01$, $b_0 = 1$", COLOURS[4], ()),
)
CRITICS = tuple(
    Setting(
        label=label,
        latex=latex,
        experiment=experiment(baseline),
        runs=40_000,
        quick=4000,
        known=numbers,
        colour=colour,
    )
    for baseline, label, latex, colour, numbers in ROWS
)
MAP = tuple(
    Setting(
        label=f"rate {rate:g} from {initial:g}",
        experiment=experiment(Critic(rate, initial)),
        runs=4000,
        quick=500,
    )
    for initial in INITIALS
    for rate in RATES
)


def slow_is_low(data: Sequence[Measured]) -> Finding:
    """The slower a critic that starts too low, the more like a low baseline it is."""
    fast, slow, slower, never = (data[i].failed() for i in (1, 2, 3, 4))
    gap = slower.minus(never)
    return Finding(
        "failures from b₀ = 0, by rate 0.1, 0.01, 0.001, and b = 0 for ever",
        "a slow pessimistic critic is a low baseline",
        f"{fast}, {slow}, {slower}; b = 0: {never}",
        worst(
            [positive(slow.minus(fast)), within(gap.low, gap.high, at_least=-NEAR, at_most=NEAR)]
        ),
        f"0.01 fails more often than 0.1, and 0.001 as often as b = 0, to {NEAR:g}",
    )


def optimistic(data: Sequence[Measured]) -> Finding:
    """A slow critic that starts high loses nothing."""
    rate = data[6].rate()
    return Finding(
        f"{data[6].setting.label}: runs that fail",
        "none",
        str(rate),
        NONE.verdict(rate.low, rate.high),
        NONE.rule,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedCritic(RunResult):
    """Failures by rate and start of the critic."""

    def tables(self, data: list[Measured]) -> list[Table]:
        """List the known numbers, and the map."""
        rows = tuple(
            (f"{initial:g}", *(str(one.failed()) for one in row))
            for initial, row in zip(INITIALS, _rows(data), strict=True)
        )
        title = "Share of runs that fail, by start (rows) and rate (columns), 95 % intervals"
        header = ("b₀", *(f"β = {rate:g}" for rate in RATES))
        return [*RunResult.tables(self, data), Table(title, header, rows)]

    def pictures(self, data: list[Measured]) -> list[Picture]:
        """Return the map beside failures against time."""
        return [
            Picture(
                self.name,
                "Natural gradients with a critic b += β(R − b) from b₀, arms (1, 0.7, 0) from "
                f"θ₀ = (0, 3, 5). Left: share of {data[-1].runs} runs with J < 0.9 after 1 000 "
                "updates; the line is ½. Right: the same against time. In the end: "
                + "; ".join(f"{one.setting.label}: {one.rate()}" for one in data[: len(CRITICS)])
                + ".",
                lambda: draw(data),
            )
        ]


def _rows(data: Sequence[Measured]) -> list[list[Measured]]:
    cells = list(data[len(CRITICS) :])
    return [cells[i : i + len(RATES)] for i in range(0, len(cells), len(RATES))]


def draw(data: Sequence[Measured]) -> Figure:
    """Draw the map and the curves."""
    import xarray as xr

    figure, (left, right) = sheet.row("cc", height=2.9, ratios=[1.15, 1.0])
    rates = np.array([[one.failed().estimate for one in row] for row in _rows(data)])
    array = xr.DataArray(
        rates,
        dims=("initial", "rate"),
        coords={"initial": list(INITIALS), "rate": list(RATES)},
        attrs={"long_name": "share of runs with $J < 0.9$"},
    )
    heatmap(array, "rate", "initial", left, vmin=0.0, vmax=1.0, contours=[0.5])
    left.set_xlabel(r"rate $\beta$ of the critic")
    left.set_ylabel("initial value $b_0$")
    curves = [failing(one) for one in data[: len(CRITICS)]]
    curves[4] = replace(curves[4], style="--")  # it hides the slowest critic
    # The scale of the map stands beside it and is this axis.
    against_log_time(right, curves, ylabel="", legend="lower left")
    right.set_ylim(-0.02, 1.02)
    explain(figure, right)
    return figure


FIGURES = (
    LearnedCritic(
        name="A13",
        title="A critic that is learned",
        says="A critic that starts below the rewards and learns slowly is a low baseline while "
        "that lasts, and commits natural gradients as one does. The true value fails in 0.74 % of "
        "the runs, an exponential mean with rate 0.1 from 0 in 7.2 %, with rate 0.01 in 79 %; "
        "with rate 0.01 from 1, in none.",
        source="learned critics are common practice; the numbers are those of an independent "
        "implementation",
        settled=(
            "The advantage uses the critic before the sample moves it.",
            "A rate of 1 is the last reward: R − b is then a difference of two rewards, and where "
            "the critic starts is forgotten at once.",
        ),
        cases=(*CRITICS, *MAP),
        described=(
            ("problem", "bandit, rewards (1, 0.7, 0)"),
            ("start", "θ₀ = (0, 3, 5)"),
            ("update", f"natural, α = {ALPHA:g}, one sample"),
            ("critic", "b += β(R − b) after the update, from b₀"),
            ("updates", str(STEPS)),
            ("map", f"{len(RATES)} rates and {len(INITIALS)} starts"),
        ),
        rules=(slow_is_low, optimistic),
    ),
)
