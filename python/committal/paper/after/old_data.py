"""A11: learning from data of a fixed policy without importance weights: AsymRE and TOPR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committal.config import (
    Asymmetric,
    Bandit,
    Expected,
    Experiment,
    Fixed,
    OneSample,
    Record,
    Softmax,
    Tapered,
    Vanilla,
)
from committal.config.weights import Weight
from committal.paper.figure import Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import (
    OURS,
    ComputedResult,
    Measured,
    Setting,
    all_exactly,
    holds_if,
    known,
    known_findings,
    known_tables,
)
from committal.paper.result_pictures import COLOURS
from committal.paper.verdicts import Finding
from committal.plot import sheet
from committal.plot.sheet import Axes, Figure
from committal.support.text import grouped

Floats = npt.NDArray[np.float64]

MEANS = (1.0, 0.7, 0.0)
MU = (1 / 3, 1 / 3, 1 / 3)
#: What the fixed policy earns, V^μ.
EARNED = sum(m * r for m, r in zip(MU, MEANS, strict=True))
UNIFORM, CORNER = (0.0, 0.0, 0.0), (0.0, 3.0, 5.0)
#: Updates of the expected rule, and how near it is then: the last arms leave like 1 / t.
LONG, NEAR = 30_000, 5e-4
ALPHA, STEPS = 0.1, 5000
LEVELS = (-0.5, 0.0, 0.3, 0.4, 0.5, 0.56, 0.6, 0.8)
WEIGHTS: dict[str, Weight] = {"AsymRE": Asymmetric(), "TOPR": Tapered()}

_LIMITS = "A11_asymre_topr/limits/"
_SAMPLED = "A11_asymre_topr/sampled/"
#: Limits of an independent implementation, by rule and V; none where they depend on the start.
LIMITS: dict[tuple[str, float], tuple[float, float, float]] = {
    ("AsymRE", -0.5): (0.46875, 0.375, 0.15625),
    ("AsymRE", 0.0): (0.58823529, 0.41176471, 0.0),
    ("AsymRE", 0.3): (0.6875, 0.3125, 0.0),
    ("AsymRE", 0.4): (0.8, 0.2, 0.0),
    ("AsymRE", 0.5): (1.0, 0.0, 0.0),
    ("AsymRE", 0.56): (1.0, 0.0, 0.0),
    ("TOPR", -0.5): (0.46875, 0.375, 0.15625),
    ("TOPR", 0.0): (0.58823529, 0.41176471, 0.0),
    ("TOPR", 0.3): (0.63636364, 0.36363636, 0.0),
    ("TOPR", 0.4): (0.66666667, 0.33333333, 0.0),
    ("TOPR", 0.5): (0.71428571, 0.28571429, 0.0),
    ("TOPR", 0.56): (0.75862069, 0.24137931, 0.0),
    ("TOPR", 0.6): (0.8, 0.2, 0.0),
    ("TOPR", 0.8): (1.0, 0.0, 0.0),
}
REFERENCES = {
    f"{_LIMITS}{rule.lower()}_V{level}/limit/{arm}": p
    for (rule, level), limit in LIMITS.items()
    for arm, p in enumerate(limit)
}
#: Runs whose best arm has less than one half, by rule, V and time.
_WRONG = {
    ("AsymRE", 0.3): {1000: (0.001, 0.001), STEPS: (0.004, 0.002)},
    ("TOPR", 0.5): {1000: (0.0, 3.2e-8), STEPS: (0.0, 3.2e-8)},
    ("AsymRE", 0.8): {1000: (0.972, 0.00522), STEPS: (0.972, 0.00522)},
    ("TOPR", 0.8): {1000: (0.0, 3.2e-8), STEPS: (0.0, 3.2e-8)},
}
_CLAIMS = {("AsymRE", 0.8): "97.2 % wrong", ("TOPR", 0.8): "none wrong"}


def limit(rule: str, level: float) -> Floats | None:
    """Return where the expected rule ends; None if that depends on the start.

    With c = μ (r − V) and C = Σ c: AsymRE at (c − v)₊ / C with the v that makes them add up to 1,
    if C > 0; TOPR at c₊ divided by its sum, if some c is positive.
    """
    c = np.array(MU) * (np.array(MEANS) - level)
    if rule == "TOPR":
        positive = np.maximum(c, 0.0)
        return positive / positive.sum() if positive.any() else None
    total = float(c.sum())
    if total <= 0.0:
        return None
    falling = np.sort(c)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(c) + 1)
    v = shifts[np.flatnonzero(falling > shifts)[-1]]
    return np.asarray(np.maximum(c - v, 0.0) / total)


def drawn(rule: str, level: float) -> Experiment:
    """Return the rule with one sample."""
    return Experiment(
        Bandit(MEANS),
        Softmax(CORNER),
        Vanilla(ALPHA),
        level,
        Fixed(MU),
        OneSample(weight=WEIGHTS[rule]),
        steps=STEPS,
    )


def expected(rule: str, level: float, start: Sequence[float]) -> Experiment:
    """Return its expectation, for long."""
    return drawn(rule, level).replace(
        policy=Softmax(start),
        update=Vanilla(1),
        estimator=Expected(weight=WEIGHTS[rule]),
        steps=LONG,
        record=Record("policy", at=[LONG]),
    )


SETTINGS = tuple(
    Setting(
        label=f"{rule}, V = {level:g}",
        experiment=drawn(rule, level),
        runs=4000,
        quick=1000,
        # J < ½ (1 + 0.7) where π(best) < ½ and the third arm is gone.
        below=0.85,
        known=known(
            "failures",
            f"{_SAMPLED}{rule.lower()}_V{level}/frac_best_below_half",
            1000,
            {STEPS: _WRONG[rule, level][STEPS]} if level == 0.8 else {},
            {STEPS: _CLAIMS[rule, level]} if level == 0.8 else {},
        ),
    )
    for rule, level in _WRONG
)


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where rules end: by rule, start and V of the axis, the composition; and sampled runs."""

    axis: Floats
    flows: dict[tuple[str, tuple[float, float, float]], Floats]
    sampled: list[Measured]


@dataclass(frozen=True, slots=True, kw_only=True)
class OldData(ComputedResult[Ends]):
    """Compositions against V."""

    def compute(self, lab: Lab) -> Ends:
        """Follow the expectations, and run."""
        even = np.linspace(-0.5, 0.95, 40 if lab.precise else 16)
        axis = np.unique(np.concatenate([even, LEVELS]).round(6))
        flows = {
            (rule, start): np.array(
                [
                    lab.sample(expected(rule, float(v), start), 1, "A11")["policy"].values[0, 0]
                    for v in axis
                ]
            )
            for rule, start in (("AsymRE", UNIFORM), ("AsymRE", CORNER), ("TOPR", CORNER))
        }
        return Ends(axis, flows, [one.run(lab, "A11") for one in SETTINGS])

    def judge(self, data: Ends) -> list[Finding]:
        """Compare limits, and what runs do."""
        closed = [(limit(*key), theirs) for key, theirs in LIMITS.items()]
        found = [
            all_exactly(
                "limits (c − v)₊/C and (μ(r − V))₊, without simulation",
                "same numbers as an independent implementation",
                [
                    (float(x), y)
                    for ours, theirs in closed
                    if ours is not None
                    for x, y in zip(ours, theirs, strict=True)
                ],
            ),
            _ends_there(data),
        ]
        high = data.axis > EARNED
        ends = {start: data.flows["AsymRE", start][high] for start in (UNIFORM, CORNER)}
        vertex = min(float(x.max(axis=1).min()) for x in ends.values())
        differ = int((ends[UNIFORM].argmax(1) != ends[CORNER].argmax(1)).sum())
        found.append(
            holds_if(
                f"AsymRE with V > V^μ = {EARNED:.4f}, from two starts",
                OURS + "a vertex, which depends on the start",
                f"largest probability at least {vertex:.4f}; {differ} of {high.sum()} levels end "
                "at another arm from the other start",
                vertex > 1 - 2 * NEAR and differ > 0,
                f"vertices to {NEAR:g}, some of them different",
            )
        )
        return [*found, *known_findings(data.sampled)]

    def tables(self, data: Ends) -> list[Table]:
        """List the limits, and the runs."""
        rows = []
        for v in LEVELS:
            i = int(np.argmin(np.abs(data.axis - v)))
            for (rule, start), ends in data.flows.items():
                closed = limit(rule, v)
                words = "–" if closed is None else _listed(closed)
                rows.append((f"{v:g}", rule, f"{start}", _listed(ends[i]), words))
        header = ("V", "rule", "θ₀", f"after {grouped(LONG)} expected updates", "limit")
        return [Table("Where the expectation ends", header, tuple(rows)),
                *known_tables(data.sampled)]  # fmt: skip

    def pictures(self, data: Ends) -> list[Picture]:
        """Return the one picture."""
        return [
            Picture(
                self.name,
                "Where the expected rule ends, as the composition of π against V: arms that pay "
                "(1, 0.7, 0), data of the uniform policy. Dashed: V^μ, what that policy earns. "
                "Dots are the limits in closed form. AsymRE (w = 1) takes one limit from any start "
                "below V^μ, and above it a vertex; TOPR (w = min(ρ, 1) where A < 0) knows no such "
                f"border. Sampled with α = {ALPHA:g} from (0, 3, 5): "
                + "; ".join(f"{one.setting.label}: {one.rate()}" for one in data.sampled)
                + " with J < 0.85.",
                lambda: draw(data),
            )
        ]


def _listed(x: Floats) -> str:
    return ", ".join(f"{p:.4f}" for p in x)


def _ends_there(data: Ends) -> Finding:
    far = 0.0
    for (rule, _), ends in data.flows.items():
        for v, end in zip(data.axis, ends, strict=True):
            closed = limit(rule, float(v))
            # Where c vanishes for an arm, or C does, everything slows down.
            slow = min(abs(v - x) for x in (*MEANS, EARNED)) < 0.02
            if closed is not None and not slow:
                far = max(far, float(np.abs(closed - end).max()))
    return holds_if(
        f"{grouped(LONG)} expected updates against the limit, all V and starts",
        OURS + "AsymRE with C > 0 ends at (c − v)₊/C, TOPR at (μ(r − V))₊",
        f"at most {far:.1e} apart",
        far < NEAR,
        f"less than {NEAR:g}; arms leave like 1/t",
    )


def draw(data: Ends) -> Figure:
    """Draw three compositions."""
    figure, axes = sheet.row("ccc", height=2.5, share_y=True)
    titles = ("AsymRE from uniform", r"AsymRE from $\theta_0 = (0, 3, 5)$",
              r"TOPR from $\theta_0 = (0, 3, 5)$")  # fmt: skip
    for ax, title, ((rule, _), ends) in zip(axes, titles, data.flows.items(), strict=True):
        _composition(ax, data.axis, ends)
        _limits(ax, rule, data.axis)
        ax.set(xlabel="$V$", title=title, xlim=(data.axis[0], data.axis[-1]), ylim=(0, 1))
        ax.axvline(EARNED, color="black", linestyle="--", linewidth=0.9)
        ax.annotate(r"$V^\mu$", (EARNED, 0.03), xytext=(3, 0), textcoords="offset points")
    axes[0].set_ylabel("limit of π, arm by arm")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _composition(ax: Axes, x: Floats, ends: Floats) -> None:
    colours = (COLOURS[4], COLOURS[1], COLOURS[0])
    names = [f"arm that pays {r:g}" for r in MEANS]
    ax.stackplot(x, ends.T, colors=colours, labels=names, alpha=0.75, linewidth=0)


def _limits(ax: Axes, rule: str, axis: Floats) -> None:
    label = "limit in closed form"
    for v in axis[:: max(1, len(axis) // 14)]:
        closed = limit(rule, float(v))
        if closed is None:
            continue
        edges = np.cumsum(closed)[:-1]
        ax.plot([v] * len(edges), edges, ".", color="black", markersize=3, label=label)
        label = "_"


FIGURES = (
    OldData(
        name="A11",
        title="Old data without importance weights",
        says="With samples of a fixed policy μ, an advantage R − V and no importance weights, the "
        "expected step of a softmax is a balance of fixed pulls. AsymRE (w = 1) ends at a mixture "
        "while V is below what μ earns, and at a vertex that depends on the start above it. TOPR "
        "tapers negative samples, w = min(ρ, 1), and ends at π ∝ (μ(r − V))₊ from any start.",
        source="Arnal et al. 2506.20520 (AsymRE); Le Roux et al. 2503.14286 (TOPR)",
        own="both limits in closed form: docs/groups.md, “Where old data lead”.",
        settled=(
            "“Wrong” is J < 0.85 here, ½(1 + 0.7): the third arm is gone by then, so that it is "
            "π(best) < ½. With V < 0.8 the limit itself is near it, and is not judged by that.",
            "The limits of TOPR are reached like 1/t: after 30 000 expected updates some 10⁻⁴ of "
            "an arm is left.",
        ),
        described=(
            ("problem", "arms (1, 0.7, 0), μ uniform"),
            ("update", "vanilla ψ, A = R − V"),
            ("expectation", f"α = 1, {grouped(LONG)} updates, from uniform and (0, 3, 5)"),
            ("sampled", f"α = {ALPHA:g}, one sample, {grouped(STEPS)} updates, from (0, 3, 5)"),
            ("runs", "4 000 per setting; 1 000 with --quick"),
        ),
    ),
)
