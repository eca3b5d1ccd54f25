"""A3: the stochastic gradient bandit, and the step size at which regret turns polynomial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from committal import exact
from committal.config import Value
from committal.paper.figure import Picture, Table
from committal.paper.result import (
    OURS,
    Measured,
    ResultRule,
    RunResult,
    exactly,
    holds_if,
)
from committal.paper.result_pictures import against_log_time, explain, failing, name_lines
from committal.paper.step_sizes import (
    BEYOND,
    COINS,
    ETA_C,
    FACTORS,
    FOLDER,
    GRIDS,
    LONG,
    NEAR,
    REFERENCES,
    SURE,
    TEN,
    UPDATES,
    experiment,
    exponent,
)
from committal.paper.verdicts import Estimate, Finding, documented, within, worst
from committal.plot import sheet
from committal.plot.sheet import Figure, mark
from committal.support.text import grouped

# -- rules -----------------------------------------------------------------------------------------


def critical(name: str, words: str, place: str) -> ResultRule:
    """Ask for a critical step size."""

    def rule(data: Sequence[Measured]) -> Finding:
        del data
        want = REFERENCES[f"{FOLDER}theory/{place}/eta_c"]
        claim = f"{OURS}η_c = u*/2 = {want:.6g}"
        return exactly(f"critical step size of {words}, exact", claim, ETA_C[name], want)

    return rule


def kappa(data: Sequence[Measured]) -> Finding:
    """The exponent at a large step size."""
    del data
    want = REFERENCES[FOLDER + "det_long/sgb_det_1_.5_eta4.0/kappa"]
    return exactly("κ of (1, 0.5) at η = 4", OURS + "κ = u*/(2η) = 0.1992", exponent(4.0), want)


def tail_slope(data: Sequence[Measured]) -> Finding:
    """Wrong runs leave like a power."""
    slope, want = data[1].slope("failures", 1000, UPDATES), -exponent(4.0)
    return Finding(
        "η = 4: slope of the share of wrong runs, 10³ to 10⁵",
        OURS + "P(wrong at t) ~ t^−κ; measured elsewhere: −0.206",
        str(slope),
        within(slope.low, slope.high, at_least=want - NEAR, at_most=want + NEAR),
        f"within {NEAR:g} of −κ = {want:.4f}",
    )


def regret_slope(data: Sequence[Measured]) -> Finding:
    """And regret grows like one."""
    slope, want = data[1].slope("regret", 10_000, UPDATES), 1.0 - exponent(4.0)
    return Finding(
        "η = 4: slope of regret, 10⁴ to 10⁵",
        OURS + "regret ~ T^(1−κ); measured elsewhere: 0.796",
        str(slope),
        within(slope.low, slope.high, at_least=want - NEAR, at_most=want + NEAR),
        f"within {NEAR:g} of 1 − κ = {want:.4f}",
    )


def logarithm(data: Sequence[Measured]) -> Finding:
    """Below the critical step size regret is a logarithm."""
    gap = data[0].mean("regret", UPDATES).minus(data[0].mean("regret", 10_000))
    per = Estimate(*(x / math.log(10.0) for x in (gap.estimate, gap.low, gap.high)))
    want = 1.0 / (2.0 * 0.25)
    return Finding(
        "η = 0.25: regret per factor of e, 10⁴ to 10⁵",
        OURS + "1/(2η) = 2",
        str(per),
        within(per.low, per.high, at_least=0.9 * want, at_most=1.1 * want),
        "within 10 %",
    )


def powers(data: Sequence[Measured]) -> Finding:
    """Theory lies over the points, beyond twice the critical step size."""
    found, verdicts = [], []
    for name, one, factor, (start, end) in _points(data):
        if factor < BEYOND:
            continue
        slope, want = one.slope("regret", start, end), 1.0 - 1.0 / factor
        found.append(f"{name} {factor:g} η_c: {slope.estimate:.3f} ({want:.3f})")
        verdicts.append(within(slope.low, slope.high, at_least=want - NEAR, at_most=want + NEAR))
    return Finding(
        f"exponent of regret for η ≥ {BEYOND:g} η_c (theory)",
        OURS + "1 − η_c/η",
        "; ".join(found),
        worst(verdicts),
        f"all within {NEAR:g}",
    )


def no_transition(data: Sequence[Measured]) -> Finding:
    """Without noise a value baseline has no critical step size."""
    critical = exact.critical_step_size(experiment(SURE, 1.0, 1, Value()))
    rate = data[4].rate()
    return holds_if(
        "(1, 0.5) with the value as baseline: critical step size; wrong runs at η = 4",
        "value baseline: no transition",
        f"{critical}; {rate}",
        math.isinf(critical) and rate.failures == 0,
        "infinite, and none",
    )


def with_noise(data: Sequence[Measured]) -> Finding:
    """With noise it has one."""
    critical = exact.critical_step_size(experiment(COINS, 1.0, 1, Value()))
    slope = data[5].slope("failures", 100, 10_000)
    found = holds_if(
        "Bernoulli(0.6, 0.5) with the value as baseline: the same",
        "value baseline: no transition",
        f"critical step size {critical:.6f}; at η = 2 the share of wrong runs falls with slope "
        f"{slope} only (theory: {-critical / 2:.3f})",
        math.isinf(critical),
        "infinite; known to differ: it holds without noise only",
    )
    return Finding(found.what, found.paper, found.measured, documented(found.verdict), found.rule)


def many_arms(data: Sequence[Measured]) -> Finding:
    """With K arms the critical step size falls like 1/K."""
    del data
    found = exact.critical_step_size(experiment(TEN, 1.0, 1))
    return exactly(
        "critical step size of ten arms, Bernoulli(0.6, 9 × 0.5)",
        OURS + "min over wrong arms of Σu/K = 0.376438/10",
        found,
        REFERENCES[FOLDER + "theory/bern/u"] / 10,
    )


def _points(data: Sequence[Measured]) -> list[tuple[str, Measured, float, tuple[int, int]]]:
    """Return name, outcome, step size in units of the critical one, and times of every point."""
    rest = list(data[len(LONG) :])
    times = {"sure": (1000, 10_000), "coins": (10_000, UPDATES)}
    names = {"sure": "(1, 0.5)", "coins": "coins"}
    return [
        (names[name], one, factor, times[name])
        for i, name in enumerate(GRIDS)
        for one, factor in zip(rest[i * len(FACTORS) :], FACTORS, strict=False)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSize(RunResult):
    """Exponents of regret by step size."""

    def tables(self, data: list[Measured]) -> list[Table]:
        """List the known numbers, and the exponents."""
        rows = tuple(
            (
                one.setting.label,
                f"{factor:g}",
                f"{max(0.0, 1.0 - 1.0 / factor):.4f}",
                str(one.slope("regret", *times)),
                f"{grouped(times[0])} to {grouped(times[1])}",
                str(one.rate()),
            )
            for _, one, factor, times in _points(data)
        )
        header = ("setting", "η/η_c", "theory", "measured", "updates", "wrong in the end")
        return [Table("Exponents of regret", header, rows), *RunResult.tables(self, data)]

    def pictures(self, data: list[Measured]) -> list[Picture]:
        """Return exponents beside shares of wrong runs."""
        return [
            Picture(
                self.name,
                "θ += ηR(e_a − π) from uniform. Left: exponent of regret by step size, with 95 % "
                "intervals, between 10³ and 10⁴ updates for rewards (1, 0.5) and between 10⁴ and "
                "10⁵ for Bernoulli(0.6, 0.5); lines: max(0, 1 − η_c/η) without sampling, ending "
                "below at η_c (dotted). Dashed: what log T looks like between those times. Right: "
                "share of runs on the worse arm of (1, 0.5); dashed: t^−κ through the last point.",
                lambda: draw(data),
            )
        ]


def draw(data: Sequence[Measured]) -> Figure:
    """Draw theory over points, and tails."""
    figure, (left, right) = sheet.row("cc", height=2.9)
    fine = np.geomspace(FACTORS[0], FACTORS[-1], 200)
    for i, (name, words) in enumerate(
        (("sure", "rewards (1, 0.5)"), ("coins", "Bernoulli(0.6, 0.5)"))
    ):
        points = _points(data)[i * len(FACTORS) : (i + 1) * len(FACTORS)]
        colour, eta_c = points[0][1].setting.colour, ETA_C[name]
        left.plot(eta_c * fine, np.maximum(0.0, 1.0 - 1.0 / fine), color=colour, linewidth=1.0)
        slopes = [one.slope("regret", *times) for _, one, _, times in points]
        y, low, high = (
            np.array([getattr(slope, part) for slope in slopes])
            for part in ("estimate", "low", "high")
        )
        x = eta_c * np.array(FACTORS)
        left.errorbar(
            x, y, [y - low, high - y], fmt="o", color=colour, markersize=3, elinewidth=0.9,
            capsize=1.5, label=words,
        )  # fmt: skip
        left.axvline(eta_c, color=colour, linestyle=":", linewidth=0.8)
        start, end = points[0][3]
        looks = math.log(math.log(end) / math.log(start)) / math.log(end / start)
        left.plot(x[[0, 3]], [looks, looks], "--", color=colour, linewidth=0.8)
    left.set(xscale="log", xlabel=r"step size $\eta$", ylabel="exponent of regret", ylim=(-0.05, 1))
    left.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5], ["0.05", "0.1", "0.2", "0.5", "1", "2", "5"])
    left.minorticks_off()
    left.spines[["top", "right"]].set_visible(False)
    name_lines(left, "lower right")
    shown = [data[i] for i in (1, 2, 3, 0)]
    against_log_time(
        right,
        [failing(one) for one in shown],
        ylabel="share of runs on the worse arm",
        log=True,
        legend="lower left",
    )
    for one in shown[:3]:
        eta = float(one.setting.experiment.update.step_size)  # type: ignore[arg-type]
        curve = failing(one)
        times = curve.times[curve.times >= 100]
        end = np.flatnonzero(curve.middle > 0)[-1]
        line = curve.middle[end] * (times / curve.times[end]) ** -exponent(eta)
        right.plot(times, line, "--", color=one.setting.colour, linewidth=0.8)
    right.set_ylim(1e-4, 1)
    thin = {"linewidth": 0.9}
    explain(
        figure,
        left,
        right,
        band="95 % intervals",
        also=[
            mark(r"theory, $\max(0, 1 - \kappa)$", **thin),
            mark(r"left: $\log T$ over these times; right: $t^{-\kappa}$", linestyle="--", **thin),
            mark(r"left: $\eta_c$", linestyle=":", **thin),
        ],
        columns=3,
    )
    return figure


FIGURES = (
    StepSize(
        name="A3",
        title="The step size at which regret turns polynomial",
        says="Stochastic gradient bandits, θ += ηR(e_a − π). Near the wrong arm log-odds drift in "
        "and jump out; u* > 0 solves (r₂ − b)u = 1 − E e^{−u(R₁ − b)}, κ = u*/(2η), and the share "
        "of wrong runs falls like t^−κ. So regret grows like log T/(2η) for η < η_c = u*/2, and "
        "like T^(1−κ) beyond. For rewards (1, 0.5) η_c is 0.79681.",
        source="Mei et al. 2402.17235 and 2502.07141; Baudry et al. 2025; Lattimore 2603.10219",
        own="the equation of the root, κ and η_c in this form, their law for K arms, and what "
        "noise does to a value baseline: docs/corners.md.",
        settled=(
            "“Value baseline: no transition” holds without noise of the rewards only. With it a "
            "bad reward of the better arm pushes it down at full size: Bernoulli(0.6, 0.5) has a "
            "critical step size of 0.405 = log 1.5 again, more than twice that of b = 0.",
            "For K arms the critical step size is the least over the wrong arms, of Σu_j/K over "
            "the arms j that are better: it falls like 1/K even if further arms pay nothing.",
            "Exponents are limits. Up to η_c what is measured is the logarithm, whose slope over "
            "a decade is about 0.1, and just beyond it the power is not yet ahead of it.",
        ),
        cases=(*LONG, *GRIDS["sure"], *GRIDS["coins"]),
        described=(
            ("problems", "rewards (1, 0.5); Bernoulli(0.6, 0.5); Bernoulli(0.6, 9 × 0.5)"),
            ("update", "vanilla, one sample, b = 0 or the value, from uniform"),
            ("step sizes", "0.25 to 8 times the critical one, and those of known numbers"),
            ("updates", "10 000 to 100 000"),
        ),
        rules=(
            critical("sure", "(1, 0.5)", "det"),
            critical("coins", "Bernoulli(0.6, 0.5)", "bern"),
            kappa,
            tail_slope,
            regret_slope,
            logarithm,
            powers,
            no_transition,
            with_noise,
            many_arms,
        ),
    ),
)
