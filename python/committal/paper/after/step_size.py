"""A3: the stochastic gradient bandit, and the step size at which regret turns polynomial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from committal import exact
from committal.config import Bandit, Experiment, Softmax, Value, Vanilla
from committal.paper.figure import Picture, Table
from committal.paper.result import (
    OURS,
    Known,
    Measured,
    ResultRule,
    RunResult,
    Setting,
    exactly,
    holds_if,
    known,
)
from committal.paper.result_pictures import COLOURS, against_log_time, explain, failing, name_lines
from committal.paper.verdicts import Estimate, Finding, documented, within, worst
from committal.plot import sheet
from committal.plot.sheet import Figure, mark
from committal.support.text import grouped

SURE = Bandit([1.0, 0.5])
COINS = Bandit([0.6, 0.5], noise="bernoulli")
TEN = Bandit([0.6, *[0.5] * 9], noise="bernoulli")
#: Step sizes of the picture, in units of the critical one.
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
#: From here on what was measured must be the power of theory, to this.
BEYOND, NEAR = 2.0, 0.1
_FOLDER = "A3_sgb/"
_LONG = 100_000

REFERENCES: dict[str, float] = {
    _FOLDER + "theory/det/u": 1.5936243,
    _FOLDER + "theory/det/eta_c": 0.79681213,
    _FOLDER + "theory/bern/u": 0.376438,
    _FOLDER + "theory/bern/eta_c": 0.188219,
    _FOLDER + "det_long/sgb_det_1_.5_eta4.0/kappa": 0.19920303,
}


def experiment(problem: Bandit, eta: float, steps: int, baseline: Any = 0.0) -> Experiment:
    """Return θ += ηR(e_a − π) from uniform."""
    return Experiment(problem, Softmax(), Vanilla(eta), baseline, steps=steps)


ETA_C = {
    "sure": exact.critical_step_size(experiment(SURE, 1.0, 1)),
    "coins": exact.critical_step_size(experiment(COINS, 1.0, 1)),
}


def half(problem: Bandit) -> float:
    """Return J where the best arm and the others are as likely."""
    return (max(problem.means) + min(problem.means)) / 2


def _known(place: str, runs: int, rows: dict[int, tuple[float, float, float, float]]) -> Any:
    """Return shares of wrong runs and regrets, by time."""
    wrong = {time: row[:2] for time, row in rows.items()}
    regret = {time: row[2:] for time, row in rows.items()}
    return (
        *known("failures", f"{_FOLDER}{place}/frac_below_half", runs, wrong),
        *known("regret", f"{_FOLDER}{place}/regret", runs, regret),
    )


def setting(
    label: str,
    experiment: Experiment,
    runs: int,
    quick: int,
    numbers: tuple[Known, ...] = (),
    colour: str = "black",
    latex: str = "",
) -> Setting:
    """Return a setting whose regret is recorded."""
    assert isinstance(experiment.problem, Bandit)
    return Setting(
        label=label,
        latex=latex,
        experiment=experiment,
        runs=runs,
        quick=quick,
        below=half(experiment.problem),
        record=("regret",),
        known=numbers,
        colour=colour,
    )


LONG = (
    setting(
        "(1, 0.5), η = 0.25",
        experiment(SURE, 0.25, _LONG),
        4000,
        1000,
        _known(
            "det_long/sgb_det_1_.5_eta0.25",
            4000,
            {
                100: (0.001, 0.0005, 8.5570951, 0.0517),
                10_000: (0.0, 1.6e-8, 18.530569, 0.08435),
                _LONG: (0.0, 1.6e-8, 23.174323, 0.08839),
            },
        ),
        COLOURS[4],
        r"$\eta = 0.25$",
    ),
    setting(
        "(1, 0.5), η = 4",
        experiment(SURE, 4.0, _LONG),
        8000,
        2000,
        _known(
            "det_long/sgb_det_1_.5_eta4.0",
            4000,
            {
                100: (0.2125, 0.00647, 13.160016, 0.30705),
                1000: (0.13275, 0.00536, 83.325234, 2.68124),
                10_000: (0.08175, 0.00433, 521.02832, 22.294),
                _LONG: (0.0515, 0.00349, 3260.0037, 181.99),
            },
        ),
        COLOURS[0],
        r"$\eta = 4$",
    ),
    setting(
        "(1, 0.5), η = 2",
        experiment(SURE, 2.0, _LONG),
        8000,
        1000,
        colour=COLOURS[1],
        latex=r"$\eta = 2$",
    ),
    setting(
        "(1, 0.5), η = 1",
        experiment(SURE, 1.0, 10_000),
        20_000,
        2000,
        _known(
            "det/sgb_det_1_.5_eta1.0",
            20_000,
            {
                100: (0.0258, 0.00112, 5.4911113, 0.05968),
                1000: (0.00355, 0.00042, 10.141274, 0.26366),
                10_000: (0.00085, 0.000206, 17.731374, 1.24626),
            },
        ),
        COLOURS[2],
        r"$\eta = 1$",
    ),
    setting(
        "(1, 0.5), η = 4, V",
        experiment(SURE, 4.0, 10_000, Value()),
        4000,
        1000,
        _known(
            "value",
            4000,
            {
                100: (0.0, 1.6e-8, 1.1053092, 0.00691),
                10_000: (0.0, 1.6e-8, 1.6941525, 0.01103),
            },
        ),
    ),
    setting("Bernoulli(0.6, 0.5), η = 2, V", experiment(COINS, 2.0, 10_000, Value()), 8000, 1000),
    *(
        setting(
            f"Bernoulli(0.6, 0.5), η = {eta:g}",
            experiment(COINS, eta, _LONG),
            3000,
            600,
            _known(f"bern/sgb_bern_eta{eta:g}", 3000, rows),
        )
        for eta, rows in (
            (
                0.05,
                {
                    1000: (0.023, 0.00274, 29.140124, 0.17511),
                    _LONG: (0.0, 1.8e-8, 84.250551, 0.47728),
                },
            ),
            (
                0.4,
                {
                    1000: (0.125, 0.00604, 20.766656, 0.51766),
                    _LONG: (0.010666667, 0.00188, 249.51369, 22.2),
                },
            ),
        )
    ),
    *(
        setting(
            f"ten arms, η = {eta:g}",
            experiment(TEN, eta, 50_000),
            2000,
            300,
            _known(f"K10/sgb_K10_bern_eta{eta:g}", 400, {50_000: row}),
        )
        for eta, row in (
            (0.02, (0.0, 5e-8, 751.75009, 8.018)),
            (0.18, (0.08, 0.01356, 594.35632, 67.25)),
        )
    ),
)
GRIDS = {
    name: tuple(
        setting(
            f"{words}, η = {eta:.3g}",
            experiment(problem, eta, steps),
            runs,
            quick,
            colour=colour,
        )
        for eta in (factor * ETA_C[name] for factor in FACTORS)
    )
    for name, words, problem, steps, runs, quick, colour in (
        ("sure", "(1, 0.5)", SURE, 10_000, 20_000, 2000, COLOURS[0]),
        ("coins", "Bernoulli(0.6, 0.5)", COINS, _LONG, 8000, 400, COLOURS[4]),
    )
}


def exponent(eta: float) -> float:
    """Return κ of the wrong arm of (1, 0.5)."""
    found = exact.corner(experiment(SURE, eta, 1), arm=1).exponent
    assert found is not None
    return found


# -- rules -----------------------------------------------------------------------------------------


def critical(name: str, words: str, place: str) -> ResultRule:
    """Ask for a critical step size."""

    def rule(data: Sequence[Measured]) -> Finding:
        del data
        want = REFERENCES[f"{_FOLDER}theory/{place}/eta_c"]
        claim = f"{OURS}η_c = u*/2 = {want:.6g}"
        return exactly(f"critical step size of {words}, exact", claim, ETA_C[name], want)

    return rule


def kappa(data: Sequence[Measured]) -> Finding:
    """The exponent at a large step size."""
    del data
    want = REFERENCES[_FOLDER + "det_long/sgb_det_1_.5_eta4.0/kappa"]
    return exactly("κ of (1, 0.5) at η = 4", OURS + "κ = u*/(2η) = 0.1992", exponent(4.0), want)


def tail_slope(data: Sequence[Measured]) -> Finding:
    """Wrong runs leave like a power."""
    slope, want = data[1].slope("failures", 1000, _LONG), -exponent(4.0)
    return Finding(
        "η = 4: slope of the share of wrong runs, 10³ to 10⁵",
        OURS + "P(wrong at t) ~ t^−κ; measured elsewhere: −0.206",
        str(slope),
        within(slope.low, slope.high, at_least=want - NEAR, at_most=want + NEAR),
        f"within {NEAR:g} of −κ = {want:.4f}",
    )


def regret_slope(data: Sequence[Measured]) -> Finding:
    """And regret grows like one."""
    slope, want = data[1].slope("regret", 10_000, _LONG), 1.0 - exponent(4.0)
    return Finding(
        "η = 4: slope of regret, 10⁴ to 10⁵",
        OURS + "regret ~ T^(1−κ); measured elsewhere: 0.796",
        str(slope),
        within(slope.low, slope.high, at_least=want - NEAR, at_most=want + NEAR),
        f"within {NEAR:g} of 1 − κ = {want:.4f}",
    )


def logarithm(data: Sequence[Measured]) -> Finding:
    """Below the critical step size regret is a logarithm."""
    gap = data[0].mean("regret", _LONG).minus(data[0].mean("regret", 10_000))
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
        REFERENCES[_FOLDER + "theory/bern/u"] / 10,
    )


def _points(data: Sequence[Measured]) -> list[tuple[str, Measured, float, tuple[int, int]]]:
    """Return name, outcome, step size in units of the critical one, and times of every point."""
    rest = list(data[len(LONG) :])
    times = {"sure": (1000, 10_000), "coins": (10_000, _LONG)}
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
