"""A4: how long the true gradient needs to leave a corner, by link and geometry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from committal.config import (
    Bandit,
    Delightful,
    Escort,
    Expected,
    Experiment,
    Natural,
    Normalised,
    Record,
    Softmax,
    Value,
    Vanilla,
)
from committal.paper.figure import Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import OURS, ComputedResult, all_exactly, holds_if
from committal.paper.result_pictures import COLOURS, explain, name_lines
from committal.paper.verdicts import Finding, Verdict
from committal.plot import sheet
from committal.plot.sheet import Axes, Figure, mark
from committal.support.text import grouped

ETA = 0.4
TWO, THREE = (1.0, 0.7), (1.0, 0.7, 0.0)
BAD = 0.01  # of the third arm
#: Where π(best) starts.
DEEP = (1e-3, 1e-4, 1e-5, 1e-6)
SHALLOW = (1e-2, 1e-3, 1e-4, 1e-5)
#: Updates that are worth the wait, quickly and at leisure.
QUICK, LONG = 120_000, 5_000_000
#: What is tried before.
SHORT = (2000, 50_000, 600_000)
#: Recorded times of a first look; the second has every update in between.
TIMES = 600

_ROWS = "A4_escape/three_arms/rows/"
#: Updates until π(best) > ½, by an independent implementation.
STEPS: dict[str, tuple[int, ...]] = {
    "A4_escape/two_arms/pg_q0": (4223, 41744, 416764, 4166784),
    "A4_escape/two_arms/escort4": (31, 101, 325, 1036),
    _ROWS + "pg_q0.01_eta0.4": (771, 36149, 3248089, -1),
    _ROWS + "escort_p2_q0.01_eta0.4": (11, 16, 22, 27),
    _ROWS + "escort_p4_q0.01_eta0.4": (10, 35, 119, 388),
    _ROWS + "npg_q0.01_eta0.4": (39, 58, 77, 96),
    _ROWS + "gnpg_q0.01_eta0.05": (81, 186, 313, 443),
    _ROWS + "dg_q0.01_eta0.4": (655, 6630, 115453, 2676355),
}
REFERENCES = {f"{key}/steps/{i}": n for key, row in STEPS.items() for i, n in enumerate(row)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Way:
    """A way out: what moves, from where, and how many updates an independent program needed."""

    label: str
    arms: tuple[float, ...]
    place: str = ""
    power: float = 0.0
    natural: bool = False
    eta: float = ETA
    more: Mapping[str, Any]
    colour: str
    patience: int = 4  # how many starts are worth the wait

    @property
    def starts(self) -> tuple[float, ...]:
        """Where π(best) starts."""
        return (DEEP if len(self.arms) == 2 else SHALLOW)[: self.patience]

    def experiment(self, delta: float) -> Experiment:
        """Return the expected update from π(best) = δ."""
        pi = (delta, 1 - delta) if len(self.arms) == 2 else (delta, 1 - delta - BAD, BAD)
        softmax = Softmax(np.log(pi))
        return Experiment(
            Bandit(self.arms),
            Escort(np.array(pi) ** (1 / self.power), self.power) if self.power else softmax,
            Natural(self.eta) if self.natural else Vanilla(self.eta),
            Value(),
            steps=LONG,
            **{"estimator": Expected(), **self.more},
        )


_GATE = {"estimator": Expected(weight=Delightful(1.0))}
WAYS = (
    Way(label="softmax", arms=TWO, place="A4_escape/two_arms/pg_q0", more={}, colour=COLOURS[0]),
    Way(label="escort, p = 6", arms=TWO, power=6, more={}, colour=COLOURS[1]),
    Way(
        label="escort, p = 4",
        arms=TWO,
        place="A4_escape/two_arms/escort4",
        power=4,
        more={},
        colour=COLOURS[2],
    ),
    Way(label="escort, p = 3", arms=TWO, power=3, more={}, colour=COLOURS[3]),
    Way(label="escort, p = 2", arms=TWO, power=2, more={}, colour=COLOURS[4]),
    *(
        Way(label=label, arms=THREE, place=_ROWS + place, colour=COLOURS[colour], **what)
        for label, place, colour, what in (
            ("softmax", "pg_q0.01_eta0.4", 0, {"more": {}, "patience": 3}),
            ("delightful", "dg_q0.01_eta0.4", 6, {"more": _GATE}),
            ("escort, p = 4", "escort_p4_q0.01_eta0.4", 2, {"more": {}, "power": 4}),
            (
                "normalised, η = 0.05",
                "gnpg_q0.01_eta0.05",
                1,
                {"more": {"optimiser": Normalised()}, "eta": 0.05},
            ),
            ("natural", "npg_q0.01_eta0.4", 5, {"more": {}, "natural": True}),
            ("escort, p = 2", "escort_p2_q0.01_eta0.4", 4, {"more": {}, "power": 2}),
        )
    ),
)


def leaves(lab: Lab, experiment: Experiment, longest: int) -> int | None:
    """Return the update at which π(best) becomes larger than ½; None if it takes too long."""

    def first(at: list[int]) -> tuple[int, int] | None:
        record = Record("policy", at=at)
        data = lab.sample(experiment.replace(steps=at[-1], record=record), 1, "A4")
        out = data["policy"].values[0, :, 0] > 0.5
        i = int(out.argmax())
        return (at[i - 1], at[i]) if out[i] else None

    for horizon in (*(n for n in SHORT if n < longest), longest):
        even = np.unique(np.rint(np.geomspace(1, horizon, TIMES)).astype(np.int64))
        found = first([0, *even.tolist()])
        if found is not None:
            exact = first(list(range(found[0], found[1] + 1)))
            assert exact is not None
            return exact[1]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving(ComputedResult[dict[Way, list[int | None]]]):
    """Updates against where they start."""

    def compute(self, lab: Lab) -> dict[Way, list[int | None]]:
        """Count updates."""
        longest = LONG if lab.precise else QUICK
        return {
            way: [leaves(lab, way.experiment(delta), longest) for delta in way.starts]
            for way in WAYS
        }

    def judge(self, data: dict[Way, list[int | None]]) -> list[Finding]:
        """Compare counts and exponents."""
        pairs = [
            (float(ours), float(theirs))
            for way, counts in data.items()
            for ours, theirs in zip(counts, STEPS.get(way.place, ()), strict=False)
            if ours is not None
        ]
        found = [
            all_exactly(
                "updates until π(best) > ½",
                "same counts as an independent implementation",
                pairs,
                within=0.5,
            )
        ]
        for way, counts in data.items():
            slopes = exponents(way, counts)
            if not slopes or (want := claimed(way)) is None:
                continue
            far = 0.12 if len(way.arms) == 3 else 0.03
            near = abs(slopes[-1] - want) < far
            # Exponents are those of small δ, which need patience.
            early = Verdict.UNDECIDED if len(slopes) < 2 else Verdict.FAILS
            found.append(
                Finding(
                    f"{len(way.arms)} arms, {way.label}: exponent of the time by δ, last decade",
                    OURS + f"{want:.4g}",
                    f"{slopes[-1]:.4f} (from {', '.join(_counted(n) for n in counts)} updates)",
                    Verdict.HOLDS if near else early,
                    f"within {far:g}",
                )
            )
        for way, counts in data.items():
            if way.power == 2 and len(way.arms) == 2:
                steps = [b - a for a, b in pairwise(n for n in counts if n is not None)]
                found.append(
                    holds_if(
                        "two arms, escort, p = 2: additional updates per decade of δ",
                        OURS + "a constant: the time is logarithmic",
                        ", ".join(map(str, steps)),
                        max(steps) - min(steps) <= 1,
                        "equal but for one update",
                    )
                )
        return found

    def tables(self, data: dict[Way, list[int | None]]) -> list[Table]:
        """List the counts."""
        rows = tuple(
            (str(len(way.arms)), way.label, f"{delta:g}", _counted(ours), _counted(theirs))
            for way, counts in data.items()
            for delta, ours, theirs in zip(
                way.starts, counts, STEPS.get(way.place, (None,) * 4), strict=False
            )
        )
        header = ("arms", "way", "π(best) at first", "updates", "independent")
        return [Table("Updates until π(best) > ½", header, rows)]

    def pictures(self, data: dict[Way, list[int | None]]) -> list[Picture]:
        """Return the one picture."""
        return [
            Picture(
                self.name,
                "Updates of the true gradient until π(best) > ½, from π(best) = δ, both axes "
                "logarithmic. Left: two arms that pay (1, 0.7), with dashed lines of slope "
                "−(1 − 2/p), p = ∞ for the softmax. Right: three arms (1, 0.7, 0), the third "
                f"starting at {BAD:g}; dashed is slope −2. What takes more than "
                f"{grouped(LONG)} updates is not shown.",
                lambda: draw(data),
            )
        ]


def claimed(way: Way) -> float | None:
    """Return the exponent that is claimed of a way."""
    if len(way.arms) == 3:
        return 2.0 if way.label == "softmax" else 0.5 if way.power == 4 else None
    return 1.0 - 2.0 / way.power if way.power else 1.0


def exponents(way: Way, counts: list[int | None]) -> list[float]:
    """Return the slopes from one start to the next."""
    if way.power == 2:  # logarithmic: it has none
        return []
    known = [(d, n) for d, n in zip(way.starts, counts, strict=True) if n is not None]
    return [math.log(m / n) / math.log(d / e) for (d, n), (e, m) in pairwise(known)]


def _counted(count: int | None) -> str:
    return "–" if count is None or count < 0 else grouped(count)


def draw(data: Mapping[Way, list[int | None]]) -> Figure:
    """Draw two and three arms side by side."""
    figure, (left, right) = sheet.row("cc", height=2.9)
    for ax, arms, title in ((left, 2, "two arms"), (right, 3, "three arms, one of them bad")):
        for way, counts in data.items():
            if len(way.arms) == arms:
                _line(ax, way, counts)
        ax.set(xscale="log", yscale="log", xlabel="$\\pi(\\mathrm{best})$ at first", title=title)
        ax.spines[["top", "right"]].set_visible(False)
        ax.invert_xaxis()
        name_lines(ax, "upper left")
        ax.set_ylim(5, 3e7)
    left.set_ylabel("updates until it is ½")
    slope = mark("slope that is claimed for small $\\pi$", linestyle="--", linewidth=0.7)
    explain(figure, band="", also=[slope])
    return figure


def _line(ax: Axes, way: Way, counts: list[int | None]) -> None:
    known = [(d, n) for d, n in zip(way.starts, counts, strict=True) if n is not None]
    if not known:
        return
    x, y = (np.array(each, float) for each in zip(*known, strict=True))
    ax.plot(x, y, "o-", color=way.colour, label=way.label, markersize=3, linewidth=1.0)
    want = claimed(way)
    if want and way.power != 2:
        ends = np.array([x[-1] * 10, x[-1]])
        line = y[-1] * (ends / x[-1]) ** -want
        ax.plot(ends, 1.6 * line, "--", color=way.colour, linewidth=0.7, label="_")


FIGURES = (
    Leaving(
        name="A4",
        title="Out of a corner: links and geometries",
        says="From a corner in which the best arm has probability δ, the true gradient of a "
        "softmax needs a time like 1/δ. An escort policy, π ∝ |θ|^p, needs δ^−(1 − 2/p), and for "
        "p = 2 only log 1/δ, like a natural or a normalised gradient. With a third, bad arm the "
        "softmax first goes further into the corner, and then needs about δ⁻².",
        source="Mei et al. 2020 (gravity wells, escort); Li et al. 2021",
        own="the exponents, and why a bad arm squares the time: docs/groups.md, “Out of a corner”.",
        settled=(
            "An update counts as done when π(best) > ½ for the first time; the start is 0.",
            "The delightful gradient shortens the way of three arms, but its exponent stays above "
            "1: 1.37 in the last decade.",
        ),
        described=(
            ("problems", "arms (1, 0.7); arms (1, 0.7, 0) with π(third) = 0.01"),
            ("start", "π(best) = 10⁻² to 10⁻⁶; escort at θ = π^(1/p)"),
            ("update", "the expectation, η = 0.4 (normalised: 0.05)"),
            ("limit", f"{grouped(LONG)} updates; {grouped(QUICK)} with --quick"),
        ),
    ),
)
