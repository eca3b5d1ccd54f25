"""A2: how fast optimisers commit to an arm that is drawn for ever, and what clipping does."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committal import exact
from committal.config import (
    Adam,
    Bandit,
    ClipNorm,
    Experiment,
    Normalised,
    Plain,
    Record,
    Softmax,
    Value,
    Vanilla,
    update,
)
from committal.paper.figure import PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import (
    OURS,
    Known,
    Measured,
    Setting,
    all_exactly,
    exactly,
    holds_if,
    known,
    known_findings,
    known_tables,
    runs_in_words,
)
from committal.paper.result_pictures import BAND, COLOURS, explain, name_lines
from committal.paper.verdicts import Finding, Verdict, all_positive, sigmas_between_rates, within
from committal.plot import sheet
from committal.plot.sheet import Axes, Figure, mark
from committal.support.text import grouped

Floats = npt.NDArray[np.float64]

#: One arm of three, which pays 0.7, is drawn at every update.
VANILLA_STEP, NATURAL_STEP = "0.7 * (onehot(1) - pi)", "0.7 * onehot(1) / pi"
FORCED_STEPS = 300_000
FORCED: dict[str, tuple[str, str, float, Any, str]] = {
    "vanilla": ("sgd_alpha0.5", VANILLA_STEP, 0.5, Plain(), COLOURS[5]),
    "natural": ("natural_alpha0.025", NATURAL_STEP, 0.025, Plain(), COLOURS[4]),
    "normalised": ("normalised_alpha0.05", VANILLA_STEP, 0.05, Normalised(), COLOURS[2]),
    "Adam, ε = 1e-8": ("adam_eps1e-08", VANILLA_STEP, 0.05, Adam(), COLOURS[0]),
    "Adam, ε = 1e-4": ("adam_eps0.0001", VANILLA_STEP, 0.05, Adam(eps=1e-4), COLOURS[1]),
    "Adam, ε = 1e-2": ("adam_eps0.01", VANILLA_STEP, 0.05, Adam(eps=1e-2), COLOURS[6]),
}
_FOLDER = "A2_optimisers/"
REFERENCES: dict[str, float] = {
    f"{_FOLDER}forced/{place}": value
    for place, value in {
        "sgd_alpha0.5/one_minus_pi_1000": 0.0019190005,
        "sgd_alpha0.5/one_minus_pi_19999": 9.5298328e-05,
        "sgd_alpha0.5/loglog_slope_2000_20000": -1.001575,
        "natural_alpha0.025/one_minus_pi_1000": 1.6578599e-08,
        "adam_eps1e-08/one_minus_pi_1000": 0.00087110951,
        "adam_eps1e-08/one_minus_pi_19999": 1.6003756e-08,
        "adam_eps0.0001/one_minus_pi_1000": 0.00087370474,
        "adam_eps0.0001/one_minus_pi_19999": 2.3514508e-07,
        "adam_eps0.01/one_minus_pi_1000": 0.0011201311,
        "adam_eps0.01/one_minus_pi_19999": 1.1433465e-05,
    }.items()
}

#: Two arms that pay (1, 0.5): J < ¾ where π(best) < ½.
TWO = Bandit([1.0, 0.5])
HALF = 0.75
THRESHOLD = math.sqrt(2.0) * 0.5
LIMITS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
_GRID_TIMES = (1000, 10_000)


def two_arms(alpha: float, steps: int, optimiser: Any, baseline: Any = 0.0) -> Experiment:
    """Return vanilla gradients on two arms."""
    return Experiment(TWO, Softmax(), Vanilla(alpha), baseline, optimiser=optimiser, steps=steps)


def _wrong(place: str, runs: int, *rows: tuple[int, float, float], claim: str = "") -> Any:
    numbers = {time: (value, error) for time, value, error in rows}
    return known("failures", _FOLDER + place, runs, numbers, {rows[-1][0]: claim})


def _setting(
    label: str, experiment: Experiment, runs: int, numbers: tuple[Known, ...], below: float = HALF
) -> Setting:
    quick = min(runs, 4000)
    return Setting(
        label=label, experiment=experiment, runs=runs, quick=quick, below=below, known=numbers
    )


CASES = (
    _setting(
        "normalised",
        two_arms(0.05, 2000, Normalised()),
        20_000,
        _wrong("normed_K2/frac_below_half", 4000, (500, 0.50775, 0.0079), (2000, 0.50775, 0.0079)),
    ),
    _setting(
        "clipped at 0.3",
        two_arms(0.5, 1000, ClipNorm(0.3)),
        20_000,
        _wrong("clip_03/frac_below_half", 20_000, (1000, 0.4747, 0.00353)),
    ),
    _setting(
        "clipped at 0.5",
        two_arms(0.5, 1000, ClipNorm(0.5)),
        20_000,
        _wrong("clip_05_pooled/frac", 50_000, (1000, 0.15504, 0.00162)),
    ),
    _setting(
        "clipped at 1",
        two_arms(0.5, 10_000, ClipNorm(1.0)),
        4000,
        _wrong("clip_10/frac_below_half", 2000, (1000, 0.0005, 0.0005), (10_000, 0.0, 2.2e-8)),
    ),
    _setting(
        "clipped at 0.3, V",
        two_arms(0.5, 10_000, ClipNorm(0.3), Value()),
        4000,
        _wrong(
            "clip_03_value/frac_below_half",
            2000,
            (1000, 0.0, 2.2e-8),
            (10_000, 0.0, 2.2e-8),
            claim=OURS + "the value baseline removes it: none",
        ),
    ),
    _setting(
        "Adam, α = 0.2",
        two_arms(0.2, 5000, Adam()),
        20_000,
        _wrong("adam_02_pooled_T5000/frac", 22_000, (5000, 0.05877, 0.00159)),
    ),
    _setting(
        "Adam, α = 0.05",
        two_arms(0.05, 10_000, Adam()),
        4000,
        _wrong("adam_005/frac_below_half", 3000, (1000, 0.0, 1.8e-8), (10_000, 0.0, 1.8e-8)),
    ),
    _setting(
        "normalised, three arms",
        Experiment(
            Bandit([1.0, 0.7, 0.0]),
            Softmax(),
            Vanilla(0.1),
            optimiser=Normalised(),
            steps=1000,
        ),
        20_000,
        _wrong("normed_K3_b0/fail", 20_000, (1000, 0.4971, 0.00354)),
        below=0.9,
    ),
)
GRID = tuple(
    Setting(
        label=f"clipped at {limit:g}",
        experiment=two_arms(0.5, _GRID_TIMES[-1], ClipNorm(limit)),
        runs=10_000,
        quick=2000,
        below=HALF,
    )
    for limit in LIMITS
)


def forced(name: str) -> Experiment:
    """Return the update that draws arm 1 whatever was drawn."""
    _, text, alpha, optimiser, _ = FORCED[name]
    times = np.unique(np.rint(np.geomspace(1, FORCED_STEPS, 120)).astype(np.int64)).tolist()
    at = sorted({*times, 1000, 2000, 10_000, 19_999, 20_000, 30_000, 100_000, FORCED_STEPS})
    return Experiment(
        Bandit([1.0, 0.7, 0.0]),
        Softmax(),
        update(text)(alpha),
        optimiser=optimiser,
        steps=FORCED_STEPS,
        record=Record("policy", at=at),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What was computed.

    Attributes
    ----------
    rest : dict
        By optimiser, times and 1 - π of the arm that is drawn.
    cases, grid : list of Measured
        Settings with known numbers, and those of the clip levels.
    threshold : float
        The clip level below which the wrong corner attracts, found by bisection.
    """

    rest: dict[str, tuple[Floats, Floats]]
    cases: list[Measured]
    grid: list[Measured]
    threshold: float

    def at(self, name: str, time: int) -> float:
        """Return 1 - π after so many updates."""
        times, rest = self.rest[name]
        return float(rest[times == time][0])

    def slope(self, name: str, start: int, end: int) -> float:
        """Return the slope of log(1 - π) against log t between two times."""
        rise = math.log(self.at(name, end) / self.at(name, start))
        return rise / math.log(end / start)


def threshold() -> float:
    """Return the clip level at which the corner of the worse arm stops to attract."""
    low, high = LIMITS[0], LIMITS[-1]
    for _ in range(40):
        middle = (low + high) / 2
        if exact.corner(two_arms(0.5, 1, ClipNorm(middle)), arm=1).kind == "attracts":
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittalRates(PaperFigure[Rates]):
    """An arm that is forced, and what optimisers do to two arms."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (
            ("forced", "three arms, that of 0.7 drawn at every update, from uniform"),
            ("step sizes", "vanilla 0.5, natural 0.025, normalised and Adam 0.05"),
            ("two arms", "rewards (1, 0.5), vanilla, b = 0; wrong is π(best) < ½"),
            ("clip levels", ", ".join(f"{limit:g}" for limit in LIMITS) + ", α = 0.5"),
            ("runs", runs_in_words((*CASES, *GRID))),
        )

    def compute(self, lab: Lab) -> Rates:
        """Follow the forced paths, run the two arms, look for the threshold."""
        rest = {}
        for name in FORCED:
            data = lab.sample(forced(name), 1, f"{self.name} {name}").isel(run=0)
            pi = data["policy"].values
            rest[name] = (data["time"].values.astype(np.float64), pi[:, 0] + pi[:, 2])
        return Rates(
            rest,
            [case.run(lab, self.name) for case in CASES],
            [case.run(lab, self.name) for case in GRID],
            threshold(),
        )

    def judge(self, data: Rates) -> list[Finding]:
        """Ask for rates, thresholds and shares."""
        slope = REFERENCES[f"{_FOLDER}forced/sgd_alpha0.5/loglog_slope_2000_20000"]
        return [
            exactly(
                "vanilla, forced: slope of log(1 − π) from 2 000 to 20 000 updates",
                "t⁻¹ (slope −1.0016)",
                data.slope("vanilla", 2000, 20_000),
                slope,
                within=1e-4,
            ),
            *(exponential(data, name) for name in ("natural", "normalised")),
            adam(data),
            all_exactly(
                "1 − π of forced arms after 1 000 and 19 999 updates, relative to those known",
                "same numbers as an independent implementation",
                _known_rest(data),
            ),
            exactly(
                "clip level below which the wrong corner attracts, without sampling",
                OURS + "√2·r₂ = 0.70711",
                data.threshold,
                THRESHOLD,
            ),
            both_sides(data.grid),
            one_half(data.cases[0]),
            *known_findings(data.cases),
        ]

    def tables(self, data: Rates) -> list[Table]:
        """List the known numbers, and the clip levels."""
        rows = tuple(
            (f"{limit:g}", *(str(one.failed(time)) for time in _GRID_TIMES))
            for limit, one in zip(LIMITS, data.grid, strict=True)
        )
        header = ("clipped at", *(f"wrong after {time} updates" for time in _GRID_TIMES))
        return [*known_tables(data.cases), Table("Clip levels, α = 0.5", header, rows)]

    def pictures(self, data: Rates) -> list[Picture]:
        """Return forced arms beside clip levels."""
        return [
            Picture(
                self.name,
                "Left: 1 − π of an arm that is drawn at every update; nothing is random. Right: "
                "share of runs on the worse of two arms, rewards (1, 0.5), b = 0, by the level at "
                f"which the norm of the gradient is clipped; {data.grid[0].runs} runs each, 95 % "
                "intervals, triangles: none. The line is √2·r₂, below which the wrong corner "
                "attracts.",
                lambda: draw(data),
            )
        ]


def _known_rest(data: Rates) -> list[tuple[float, float]]:
    """Return pairs (ours / theirs, 1), so that small numbers count as much as large ones."""
    pairs = []
    for name, (key, *_) in FORCED.items():
        for place, value in REFERENCES.items():
            if place.split("/")[2] == key and "one_minus" in place:
                # Theirs are 1 - π, which is rounded.
                tiny = 1e-15 / value
                ratio = data.at(name, int(place.rpartition("_")[2])) / value
                pairs.append((ratio if abs(ratio - 1) > tiny else 1.0, 1.0))
    return pairs


def exponential(data: Rates, name: str) -> Finding:
    """The logarithm of 1 - π falls by the same amount in every update."""
    early = math.log(data.at(name, 2000) / data.at(name, 1000)) / 1000
    late = math.log(data.at(name, 10_000) / data.at(name, 2000)) / 8000
    return holds_if(
        f"{name}, forced: change of log(1 − π) per update, to 2 000 and to 10 000",
        "exponential",
        f"{early:.6f}, {late:.6f}",
        early < 0.0 and abs(early / late - 1.0) < 0.01,
        "the same to 1 %",
    )


def adam(data: Rates) -> Finding:
    """Exponential at first, a power in the end."""
    fast = data.slope("Adam, ε = 1e-8", 10_000, 30_000)
    slow = {
        name: data.slope(name, 100_000, FORCED_STEPS)
        for name in ("Adam, ε = 1e-4", "Adam, ε = 1e-2")
    }
    return holds_if(
        "Adam, forced: slopes of log(1 − π) against log t",
        "exponential until ‖g‖ ≈ ε, then t⁻¹",
        f"ε = 1e-8 around 20 000: {fast:.1f}; around 200 000, "
        + ", ".join(f"{name.split(', ')[1]}: {value:.2f}" for name, value in slow.items()),
        fast < -5.0 and all(-1.15 < value < -0.95 for value in slow.values()),
        "below −5, then between −1.15 and −0.95",
    )


def both_sides(grid: Sequence[Measured]) -> Finding:
    """Below the threshold runs stay, above it they leave."""
    below = [one for one, limit in zip(grid, LIMITS, strict=True) if limit < 0.61]
    above = [one for one, limit in zip(grid, LIMITS, strict=True) if limit > 0.74]
    stay = min(one.failed(10_000).estimate / one.failed(1000).estimate for one in below)
    gap = below[-1].failed(10_000).minus(above[0].failed(10_000))
    left = [
        one.failed(1000).minus(one.failed(10_000)) for one in above if one.rate(1000).failures > 20
    ]
    found = all_positive(
        "wrong runs on both sides of the threshold, from 10³ to 10⁴ updates",
        OURS + "the wrong corner absorbs iff c < √2·r₂",
        f"c = 0.3 to 0.6: at least {100 * stay:.0f} % of them stay; "
        + f"c = 0.75: {above[0].failed(1000)} become {above[0].failed(10_000)}",
        gap,
        *left,
        rule="below, at least 80 % stay; above, they become fewer, by 3 standard errors",
    )
    if stay < 0.8:
        return Finding(found.what, found.paper, found.measured, Verdict.FAILS, found.rule)
    return found


def one_half(one: Measured) -> Finding:
    """Normalised gradients do not see which reward is larger."""
    rate = one.rate()
    apart = sigmas_between_rates(rate.failures, rate.runs, 0.5, 10**12)
    return Finding(
        "normalised, b = 0, two positive rewards: runs on the worse arm",
        OURS + "exactly ½",
        str(rate),
        within(apart, apart, at_most=4.0),
        "within 4 standard errors",
    )


def draw(data: Rates) -> Figure:
    """Draw forced arms and clip levels."""
    figure, (left, right) = sheet.row("cc", height=2.9)
    for name, (times, rest) in data.rest.items():
        shown = rest > 0.0
        label = re.sub(r"ε = 1e-(\d)", r"$\\epsilon = 10^{-\1}$", name)
        left.plot(times[shown], rest[shown], color=FORCED[name][4], label=label)
    left.set(xscale="log", yscale="log", xlabel="update", ylabel=r"$1 - \pi$ of the forced arm")
    left.set_xlim(1, FORCED_STEPS)
    left.set_ylim(1e-14, 1.5)
    left.spines[["top", "right"]].set_visible(False)
    name_lines(left, "lower left")
    for time, colour, shift in zip(
        _GRID_TIMES, (COLOURS[1], COLOURS[0]), (-0.004, 0.004), strict=True
    ):
        _levels(right, data.grid, time, colour, shift)
    right.axvline(THRESHOLD, color="grey", linestyle=":", linewidth=1)
    right.annotate(r"$\sqrt{2}\, r_2$", (THRESHOLD, 0.5), xytext=(3, 0), textcoords="offset points",
                   color="grey")  # fmt: skip
    right.set(yscale="log", xlabel="norm clipped at $c$", ylabel="share of runs on the worse arm")
    right.set_ylim(5e-5, 1)
    right.spines[["top", "right"]].set_visible(False)
    handles = right.get_legend_handles_labels()[0]
    if any(one.rate(time).failures == 0 for one in data.grid for time in _GRID_TIMES):
        none = "none: upper end of the interval"
        handles.append(mark(none, linestyle="none", marker="v", markersize=3.5))
    right.legend(handles=handles, loc="lower left", frameon=False)
    explain(figure, band="", also=[mark(BAND, linestyle="none", marker="|", markersize=9)])
    return figure


def _levels(ax: Axes, grid: Sequence[Measured], time: int, colour: str, shift: float) -> None:
    """Draw shares with their intervals; triangles where none was seen."""
    x = np.array(LIMITS) + shift
    found = [one.failed(time) for one in grid]
    seen = np.array([each.estimate > 0.0 for each in found])
    y, low, high = (
        np.array([getattr(each, part) for each in found]) for part in ("estimate", "low", "high")
    )
    ax.errorbar(
        x[seen], y[seen], [(y - low)[seen], (high - y)[seen]], fmt="o-", color=colour,
        markersize=3, elinewidth=0.9, capsize=1.5, label=f"after {grouped(time)} updates",
    )  # fmt: skip
    ax.plot(x[~seen], high[~seen], "v", color=colour, markersize=3.5)


FIGURES = (
    CommittalRates(
        name="A2",
        title="Committal rates of optimisers",
        says="If one arm is drawn again and again, plain vanilla gradients approach it like t⁻¹, "
        "natural and normalised ones exponentially, and Adam exponentially until the gradient is "
        "as small as its ε, then like t⁻¹. What approaches fast does not come back: normalised "
        "gradients with b = 0 and two positive rewards end on the worse arm in half of the runs, "
        "and vanilla gradients clipped at c stay on it iff c < √2·r₂, whatever the step size.",
        source="Mei et al. 2021 (2110.15572), for the rates of plain vanilla and natural gradients",
        own="the ½ of normalised gradients, the clip level √2·r₂ and that a value baseline removes "
        "it: docs/corners.md, “Clipping”.",
        settled=(
            "“Exponential” of Adam begins late: its mean of squares remembers the first, large "
            "gradients for some 1/(1 − β₂) = 1 000 updates, and until then 1 − π falls like a "
            "power between −1.2 and −2. From there on it falls by 4.7e-4 per update, close to "
            "(1 − β₂)/2, which is how fast the root of that mean can fall.",
            "Where Adam turns depends on ‖g‖, here √1.5·0.7·(1 − π): with ε = 1e-8 and β₂ = 0.999 "
            "after some 30 000 updates, with ε = 1e-2 after some 3 000.",
        ),
    ),
)
