"""Where on the simplex importance sampling and baselines reduce the variance: figure 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committal import exact
from committal.config import (
    Baseline,
    Experiment,
    MinVariance,
    Natural,
    Softmax,
    UniformMixture,
    Update,
    Vanilla,
)
from committal.paper.bandit_figure import THREE_ARMS
from committal.paper.bandit_pictures import ARMS
from committal.paper.figure import PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.pictures import TITLE_PAD
from committal.paper.verdicts import Finding, within
from committal.plot import sheet
from committal.plot.sheet import Figure
from committal.plot.simplex_map import simplex_map

Floats = npt.NDArray[np.float64]

#: μ = π/2 + 1/6.
MIXTURE = 0.5
RESOLUTION = 120
#: Near the uniform policy: all arms have at least this probability.
MIDDLE = 0.25
#: Near a deterministic policy: some arm has at least this probability.
CORNER = 0.9
#: So near that only the leading order counts.
LIMIT_CORNER = 1e-5
#: Colours end here; ratios of e³ and more look alike.
LIMIT = 3.0
#: What the line between the colours is.
EQUAL = "equal variances"

NONE = Experiment(THREE_ARMS, Softmax(), Vanilla(step_size=1.0), 0.0, steps=1)
NATURAL = Natural(step_size=1.0)


def ratios(update: Update, least: Baseline) -> tuple[tuple[str, str, Experiment, Experiment], ...]:
    """Return label, picture's label and the two experiments whose variances are divided."""
    none = NONE.replace(update=update)
    best, sampled = none.replace(baseline=least), none.replace(behaviour=UniformMixture(MIXTURE))
    return (
        ("b = 0 / IS", r"$\ln\,(\mathrm{Var}_{b=0} / \mathrm{Var}_{IS})$", none, sampled),
        ("b = 0 / b*", r"$\ln\,(\mathrm{Var}_{b=0} / \mathrm{Var}_{b^*})$", none, best),
        ("b* / IS", r"$\ln\,(\mathrm{Var}_{b^*} / \mathrm{Var}_{IS})$", best, sampled),
    )


#: The paper's maps, and the same of the natural gradient.
VANILLA_RATIOS = ratios(NONE.update, MinVariance())
NATURAL_RATIOS = ratios(NATURAL, MinVariance("natural"))


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """Policies (n, 3) and one logarithm of a ratio per map (3, n).

    `corners` holds the logarithms at policies that are almost deterministic.
    """

    policies: Floats
    vanilla: Floats
    natural: Floats
    corners: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceMaps(PaperFigure[Maps]):
    """Three heat maps; nothing here is random."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (
            ("problem", "bandit, rewards (1, 0.7, 0)"),
            ("estimate", "vanilla gradient, one sample"),
            ("importance sampling", "μ = π/2 + 1/6, b = 0"),
            ("policies", f"{RESOLUTION * (RESOLUTION + 1) // 2} on a regular grid"),
            ("variance", "trace of the covariance, by enumeration"),
        )

    def compute(self, lab: Lab) -> Maps:
        """Enumerate the variances."""
        del lab
        policies = exact.simplex_grid(RESOLUTION)
        rest = exact.simplex_grid(RESOLUTION, arms=2)
        corners = np.concatenate(
            [
                np.insert(LIMIT_CORNER * rest, arm, 1.0 - LIMIT_CORNER, axis=1)
                for arm in range(THREE_ARMS.arms)
            ]
        )
        return Maps(
            policies,
            _logarithms(VANILLA_RATIOS, policies),
            _logarithms(NATURAL_RATIOS, policies),
            _logarithms(VANILLA_RATIOS, corners),
        )

    def judge(self, data: Maps) -> list[Finding]:
        """Compare the signs with what the paper sees."""
        sampling, least, both = data.vanilla
        middle = data.policies.min(axis=1) > MIDDLE
        near = data.policies.max(axis=1) > CORNER
        raised = float((sampling[middle] < 0.0).mean())
        lowered = float((sampling[near] > 0.0).mean())
        best = float(both[middle].max())
        beaten = float((data.corners[2] > 0.0).mean())
        return [
            Finding(
                "policies near uniform where importance sampling raises the variance",
                "it raises the variance near the uniform policy",
                f"{100 * raised:.0f} % of those with all arms above {MIDDLE:g} (at the uniform "
                "policy itself μ = π and the ratio is 1)",
                within(raised, raised, at_least=1 / 3),
                "at least a third",
            ),
            Finding(
                "policies near a corner where importance sampling lowers the variance",
                "it lowers the variance near the boundary",
                f"{100 * lowered:.1f} % of those with an arm above {CORNER:g}, by a factor of "
                f"{np.exp(np.median(sampling[near])):.1f} (median)",
                within(lowered, lowered, at_least=0.9),
                "at least 90 %",
            ),
            Finding(
                "smallest log Var(b=0) / Var(b*) on the simplex",
                "b* lowers the variance everywhere",
                f"{least.min():.3f}",
                within(float(least.min()), float(least.min()), at_least=0.0),
                "not negative",
            ),
            Finding(
                "largest log Var(b*) / Var(IS) near uniform",
                "b* has less variance than importance sampling there",
                f"{best:.3f}",
                within(best, best, at_most=0.0),
                "negative",
            ),
            Finding(
                "almost deterministic policies where importance sampling beats b*",
                "importance sampling is better where it matters",
                f"{100 * beaten:.1f} % of those with an arm above 1 − {LIMIT_CORNER:g}",
                within(beaten, beaten, at_least=0.95),
                "at least 95 %",
            ),
        ]

    def tables(self, data: Maps) -> list[Table]:
        """List the range of each map."""
        rows = []
        for kind, maps in (("vanilla", data.vanilla), ("natural", data.natural)):
            for (label, *_), ratio in zip(VANILLA_RATIOS, maps, strict=True):
                rows.append(
                    (
                        kind,
                        label,
                        f"{ratio.min():.2f}",
                        f"{np.median(ratio):.2f}",
                        f"{ratio.max():.2f}",
                        f"{100 * float((ratio > 0.0).mean()):.1f} %",
                    )
                )
        header = ("gradient", "ln of the ratio", "least", "median", "largest", "share above 0")
        return [
            Table("Natural logarithms of variance ratios over the simplex", header, tuple(rows))
        ]

    def pictures(self, data: Maps) -> list[Picture]:
        """Return the paper's picture, and the same of the natural gradient."""
        meaning = (
            "Blue: the method below the line of the ratio has less variance, red: the one above; "
            f"the black line separates them. Colours end at ±{LIMIT:g}, which "
            "an arrow marks; logarithms are natural ones. IS: importance sampling from "
            "μ = π/2 + 1/6."
        )
        return [
            Picture(
                self.name,
                f"{self.title}, vanilla gradient. {meaning}",
                lambda: draw(data.policies, data.vanilla, "vanilla gradient"),
            ),
            Picture(
                f"{self.name}-companion",
                "Not in the paper: the same of the natural gradient, with the minimum-variance "
                "baseline of its own metric. Here importance sampling is better along most of "
                "the boundary, and not only at its corners.",
                lambda: draw(
                    data.policies,
                    data.natural,
                    "natural gradient, $b^*$ of the natural metric (not in the paper)",
                ),
            ),
        ]


def _logarithms(
    which: tuple[tuple[str, str, Experiment, Experiment], ...], policies: Floats
) -> Floats:
    return np.array(
        [exact.log_variance_ratio(first, second, policy=policies) for _, _, first, second in which]
    )


def draw(policies: Floats, maps: Floats, gradient: str) -> Figure:
    """Draw three maps on one scale, with arrows where colours stand for more than it shows."""
    figure, axes = sheet.row("sss", height=2.8)
    figure.suptitle(gradient)
    drawn = []
    for ax, (_, latex, *_), ratio in zip(axes, VANILLA_RATIOS, maps, strict=True):
        drawn.append(simplex_map(ax, policies, ratio, limit=LIMIT, corners=ARMS, words=EQUAL))
        ax.set_title(latex, pad=TITLE_PAD)
    ends = (bool(maps.min() < -LIMIT), bool(maps.max() > LIMIT))
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(ends, "neither")
    label = "natural logarithm of the ratio of variances"
    sheet.colour_bar(figure, axes, drawn[0], label, extend=extend)
    sheet.key(figure, *axes)
    return figure


FIGURE_3 = VarianceMaps(
    name="fig3",
    title="Logarithms of variance ratios on the simplex",
    says="b* lowers the variance everywhere. Importance sampling from a mixture with the uniform "
    "policy raises it near the uniform policy and lowers it near the boundary, more than b* does, "
    "and that is where it decides about convergence.",
    settled=(
        "Rewards are not stated for this figure: (1, 0.7, 0), as in figure 1, and the vanilla "
        "gradient without a baseline for importance sampling.",
        "For the vanilla gradient the boundary on which importance sampling wins consists of the "
        "corners: along the edges, away from them, b* has less variance.",
    ),
)

FIGURES = (FIGURE_3,)
