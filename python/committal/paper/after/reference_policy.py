"""A9: GRPO with a KL term to a reference, round by round: a map of the success probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committal import exact, theory
from committal.config import KL, Bandit, Experiment, Group, Natural, Softmax, Vanilla
from committal.paper.figure import Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import OURS, ComputedResult, all_exactly, exactly, holds_if
from committal.paper.result_pictures import COLOURS, explain, name_lines
from committal.paper.verdicts import Finding, documented
from committal.plot import sheet
from committal.plot.sheet import Axes, Figure, mark
from committal.theory import KLFixedPoints

Floats = npt.NDArray[np.float64]

P_REF, BETA = 0.1, 2.0
EPS = 1e-5
ROUNDS = 30
#: Where the axis of fixed points ends; what is beyond is almost 1.
TOP = 1.0 - 1e-5
#: Strengths at which all fixed points are looked for.
STRENGTHS = np.geomspace(0.3, 60.0, 80)
SIZES = (2, 4, 8, 32, 128)
#: By their place in the file of independent numbers: p_ref, strength, with std, without.
ROWS = ((0.1, 2.0), (0.1, 5.0), (0.3, 4.0), (0.05, 1.0))
REFERENCES: dict[str, float] = {
    "A9_grpo_kl/pref0.1_beta2.0/std": 0.25828562,
    "A9_grpo_kl/pref0.1_beta2.0/nostd": 0.1548281,
    "A9_grpo_kl/pref0.1_beta5.0/std": 0.16074171,
    "A9_grpo_kl/pref0.1_beta5.0/nostd": 0.11949463,
    "A9_grpo_kl/pref0.3_beta4.0/std": 0.41579413,
    "A9_grpo_kl/pref0.3_beta4.0/nostd": 0.35496214,
    "A9_grpo_kl/pref0.05_beta1.0/std": 0.31271542,
    "A9_grpo_kl/pref0.05_beta1.0/nostd": 0.125161,
}
THREE_ARMS = (1.0, 0.7, 0.0)
REFERENCE = tuple(np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())


def of_groups(samples: int) -> float:
    """Return where the expected flow of groups of N with an exact KL ends."""
    exp = Experiment(
        Bandit([1, 0]),
        Softmax([math.log(P_REF / (1 - P_REF)), 0.0]),
        Vanilla(1),
        estimator=Group(samples, centre="mean", scale="std"),
        regulariser=KL("start", BETA),
        steps=1,
    )
    (point,) = (point for point in exact.stationary(exp) if point.stable)
    return float(point.policy[0])


def kinds(form: str) -> tuple[str, ...]:
    """Return what the corners of three arms do with natural gradients and a KL of a form."""
    exp = Experiment(
        Bandit(THREE_ARMS),
        Softmax(),
        Natural(0.1),
        regulariser=KL(REFERENCE, 0.2, form=form),
        steps=1,
    )
    return tuple(exact.corner(exp, arm).kind for arm in range(3))


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """What was computed.

    Attributes
    ----------
    limits : dict
        By p_ref, strength and whether there is a std, the first fixed point and where rounds end.
    path : array
        The success probability round by round.
    all : list of KLFixedPoints
        By strength, of p_ref = 0.1.
    groups : dict
        By N, where finite groups end.
    corners : dict
        By form of the KL, what corners do to natural gradients.
    """

    limits: dict[tuple[float, float, bool], tuple[float, float]]
    path: Floats
    all: list[KLFixedPoints]
    groups: dict[int, float]
    corners: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToReference(ComputedResult[Rounds]):
    """A map of the line, and its fixed points."""

    def compute(self, lab: Lab) -> Rounds:
        """Iterate and solve."""
        del lab
        return Rounds(
            {
                (p, beta, scaled): (
                    float(theory.kl_fixed_points(p, beta, scaled=scaled).success[0]),
                    float(theory.kl_recursion(p, beta, 2000, scaled=scaled)[-1]),
                )
                for p, beta in ROWS
                for scaled in (True, False)
            },
            theory.kl_recursion(P_REF, BETA, ROUNDS),
            [theory.kl_fixed_points(P_REF, float(beta)) for beta in STRENGTHS],
            {samples: of_groups(samples) for samples in SIZES},
            {form: kinds(form) for form in ("exact", "k2")},
        )

    def judge(self, data: Rounds) -> list[Finding]:
        """Compare the fixed points, and count them."""

        def name(p: float, beta: float, scaled: bool) -> str:
            return f"A9_grpo_kl/pref{p}_beta{beta}/{'std' if scaled else 'nostd'}"

        several = [beta for beta, found in zip(STRENGTHS, data.all, strict=True) if _two(found)]
        both = theory.kl_fixed_points(P_REF, BETA)
        unique = holds_if(
            "fixed points of the map, p_ref = 0.1, β = 2",
            "one limit is given for each β",
            "stable: "
            + ", ".join(_near_one(p) for p in both.success[both.stable])
            + "; unstable: "
            + ", ".join(f"{p:.4f}" for p in both.success[~both.stable]),
            int(both.stable.sum()) == 1,
            "one stable fixed point",
        )
        first = (P_REF, BETA, True)
        ends = list(data.groups.values())
        return [
            *(
                exactly(
                    f"limit of the rounds, p_ref = {P_REF:g}, β = {BETA:g}, {words} std",
                    f"{REFERENCES[name(P_REF, BETA, scaled)]:.6f}",
                    data.limits[P_REF, BETA, scaled][1],
                    REFERENCES[name(P_REF, BETA, scaled)],
                )
                for scaled, words in ((True, "with"), (False, "without"))
            ),
            all_exactly(
                "fixed points for four pairs (p_ref, β), with and without std",
                "same numbers as an independent implementation",
                [(found[0], REFERENCES[name(*row)]) for row, found in data.limits.items()],
            ),
            Finding(
                unique.what, unique.paper, unique.measured, documented(unique.verdict), unique.rule
            ),
            holds_if(
                "strengths β at which the map has two stable fixed points, p_ref = 0.1",
                OURS + "it is bistable for some β",
                f"from {min(several):.2g} to {max(several):.2g}, of {STRENGTHS[0]:.2g} to "
                f"{STRENGTHS[-1]:.2g}; below, only p ≈ 1; above, only the one near p_ref",
                0 < len(several) < len(STRENGTHS),
                "some, and not all",
            ),
            holds_if(
                "where groups of N = 2, 4, 8, 32, 128 end, by the expected flow",
                OURS + "from the limit without std (N = 2) up to the one with it",
                ", ".join(f"{end:.5f}" for end in ends),
                abs(ends[0] - REFERENCES[name(P_REF, BETA, False)]) < 1e-6
                and ends == sorted(ends)
                and abs(ends[-1] - data.limits[first][0]) < 2e-3,
                "N = 2 equal to 1e-6, growing, N = 128 within 0.002",
            ),
            holds_if(
                "corners of natural gradients, arms (1, 0.7, 0), β = 0.2",
                OURS + "a sampled KL does not stop natural gradients from committing",
                "; ".join(f"{form}: {', '.join(found)}" for form, found in data.corners.items()),
                set(data.corners["exact"]) == {"repels"} and "attracts" in data.corners["k2"],
                "exact: all repel; sampled (k2): some attract",
            ),
        ]

    def tables(self, data: Rounds) -> list[Table]:
        """List the limits."""
        rows = tuple(
            (f"{p:g}", f"{beta:g}", "yes" if scaled else "no", f"{first:.8f}", f"{end:.8f}")
            for (p, beta, scaled), (first, end) in data.limits.items()
        )
        header = ("p_ref", "β", "divided by std", "first fixed point", "after 2000 rounds")
        return [Table("Where the rounds end", header, rows)]

    def pictures(self, data: Rounds) -> list[Picture]:
        """Return cobweb and fixed points."""
        return [
            Picture(
                self.name,
                "Success probability from round to round, odds = odds_ref · exp(1/(β√(p(1 − p) + "
                f"ε))), p_ref = {P_REF:g}. Left: the map for β = {BETA:g}, and the path from the "
                "reference as a cobweb; it ends at 0.2583, but a path that starts above the open "
                "circle ends at 1. Right: all fixed points by β, the upper edge being almost 1.",
                lambda: draw(data),
            )
        ]


def _two(found: KLFixedPoints) -> bool:
    return int(found.stable.sum()) > 1


def _near_one(p: float) -> str:
    return "1 (almost)" if p > 0.9999 else f"{p:.6f}"


def draw(data: Rounds) -> Figure:
    """Draw the cobweb, and the fixed points."""
    figure, (left, right) = sheet.row("cc", height=2.9)
    p = np.linspace(1e-4, 1 - 1e-4, 2000)
    odds = P_REF / (1 - P_REF) * np.exp(np.minimum(1 / (BETA * np.sqrt(p * (1 - p) + EPS)), 600))
    left.plot(p, p, color="grey", linewidth=0.7)
    left.plot(p, odds / (1 + odds), color=COLOURS[4], label=rf"the map, $\beta = {BETA:g}$")
    path = np.repeat(data.path, 2)
    left.plot(path[1:-1], path[2:], color=COLOURS[0], linewidth=0.8, label="from the reference")
    found = theory.kl_fixed_points(P_REF, BETA)
    _marks(left, found.success, found.success, found.stable)
    left.set(xlabel="$p_{n-1}$", ylabel="$p_n$", xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    name_lines(left, "upper left", bbox_to_anchor=(0.1, 1.0))
    for stable, style, label in ((True, "-", "stable"), (False, "--", "unstable")):
        for branch in _branches(data.all, stable):
            right.plot(*branch, style, color=COLOURS[5], label=label, linewidth=1.0)
            label = "_"
    right.axhline(P_REF, color="grey", linewidth=0.7, linestyle=":")
    right.annotate("$p_\\mathrm{ref}$", (STRENGTHS[0], P_REF), xytext=(2, 3),
                   textcoords="offset points", color="grey")  # fmt: skip
    right.set(xscale="log", yscale="logit", xlabel=r"strength $\beta$", ylabel="fixed points")
    right.set_ylim(0.05, TOP)
    right.set_yticks([0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, TOP])
    right.set_yticklabels(["0.1", "0.5", "0.9", "0.99", "0.999", "0.9999", "≈ 1"])
    right.set_xlim(STRENGTHS[0], STRENGTHS[-1])
    right.set_xticks([0.5, 1, 2, 5, 10, 20, 50], ["0.5", "1", "2", "5", "10", "20", "50"])
    right.minorticks_off()
    name_lines(right, "center right", bbox_to_anchor=(1.0, 0.4))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    dot = {"linestyle": "none", "marker": "o", "markersize": 4}
    also = [
        mark("fixed point, stable", **dot),
        mark("unstable", markerfacecolor="white", **dot),
        mark("$p_n = p_{n-1}$", linewidth=0.7),
    ]
    explain(figure, band="", also=also)
    return figure


def _marks(ax: Axes, x: Floats, y: Floats, stable: npt.NDArray[np.bool_]) -> None:
    for which, face in ((stable, "black"), (~stable, "white")):
        ax.plot(
            x[which], y[which], "o", color="black", markerfacecolor=face, markersize=4,
            clip_on=False, zorder=5,
        )  # fmt: skip


def _branches(
    all_points: list[KLFixedPoints], stable: bool
) -> list[tuple[list[float], list[float]]]:
    """Return fixed points as curves over the strengths: the lower ones, and those near 1."""
    found: list[tuple[list[float], list[float]]] = [([], []), ([], [])]
    for beta, points in zip(STRENGTHS, all_points, strict=True):
        for p in points.success[points.stable == stable]:
            branch = found[1 if stable and p > 0.9999 else 0]
            branch[0].append(float(beta))
            branch[1].append(min(float(p), TOP))
    return [branch for branch in found if branch[0]]


FIGURES = (
    ToReference(
        name="A9",
        title="GRPO with a KL term to a reference",
        says="With a KL term of strength β to a reference, a round of GRPO moves the odds of "
        "success to odds_ref · exp(1/(β√(p(1 − p) + ε))), and without the std to "
        "odds_ref · exp(1/β). From p_ref = 0.1 with β = 2 rounds end at 0.258286, without the std "
        "at 0.154828: a success probability above the reference's, in both.",
        source="Mroueh 2503.06639",
        own="that the map is bistable for some β, where groups of N samples end, and that a "
        "sampled KL does not keep natural gradients from committing; the last is derived in "
        "docs/corners.md, “Regularisers”.",
        settled=(
            "The limit is that of rounds that start at the reference. The map itself has, for β "
            "between about 0.7 and 18 at p_ref = 0.1, a second stable fixed point next to p = 1, "
            "where the std is so small that the reward outweighs any KL: rounds that start above "
            "the unstable point between the two end there.",
            "The map is that of infinitely many samples. With N = 2 the std does nothing to "
            "binary rewards, and the end is the one without std.",
            "The KL of these rounds is exact. One that is estimated from the drawn arms (k2 here) "
            "does not stop natural gradients from committing: the corners of the better arms "
            "attract.",
        ),
        described=(
            ("map", "odds_n = odds_ref · exp(1/(β√(p(1 − p) + ε))), ε = 1e-5"),
            ("references", "p_ref = 0.1, 0.1, 0.3, 0.05 with β = 2, 5, 4, 1"),
            (
                "groups",
                "expected flow of N samples with mean and std, exact KL, p_ref = 0.1, β = 2",
            ),
        ),
    ),
)
