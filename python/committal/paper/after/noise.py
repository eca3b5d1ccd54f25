"""A1: the true value as baseline of natural gradients, and what noise of the rewards does to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from committal import exact
from committal.config import Bandit, ClipNorm, Experiment, Natural, Softmax, Value
from committal.paper.figure import Picture
from committal.paper.result import (
    OURS,
    Measured,
    ResultRule,
    RunResult,
    Setting,
    holds_if,
    known,
)
from committal.paper.result_pictures import COLOURS, against_log_time, explain, failing
from committal.paper.verdicts import NONE, Finding, all_positive
from committal.plot import sheet
from committal.plot.sheet import Figure
from committal.support.text import grouped

ALPHA = 0.1
LEVELS = (1.0, 0.5, 0.25, 0.1, 0.0)
CLIP = 5.0
THREE, TWO = (1.0, 0.7, 0.0), (0.8, 0.2)
HALF = 0.5  # of two arms that pay p and 1 - p: J < ½ where π(best) < ½
_FOLDER = "A1_value_npg_noise/"
_LONG = 10_000

#: Of three arms with σ = ½, the failures that are known.
KNOWN_THREE = known(
    "failures",
    _FOLDER + "K3_gauss05/fail",
    20_000,
    {100: (0.03665, 0.00133), 1000: (0.0716, 0.00182), _LONG: (0.13275, 0.0024)},
    {100: OURS + "3.7 %", 1000: OURS + "7.2 %", _LONG: OURS + "13.3 %"},
)
KNOWN_TWO = {
    "V": known(
        "failures",
        _FOLDER + "K2_bern/frac_p1_below_half",
        4000,
        {100: (0.001, 5e-4), 1000: (0.0305, 0.00272), _LONG: (0.0675, 0.00397)},
    ),
    "clip": known(
        "failures",
        _FOLDER + "clip/frac_p1_below_half",
        4000,
        {1000: (0.0, 1.6e-8), _LONG: (0.0, 1.6e-8)},
        {_LONG: OURS + "clipped at 5, none is wrong"},
    ),
    "b0": known(
        "failures",
        _FOLDER + "b0/frac_p1_below_half",
        4000,
        {1000: (0.02675, 0.00255), _LONG: (0.02675, 0.00255)},
    ),
}


def three(sigma: float) -> Experiment:
    """Return three arms with Gaussian noise."""
    problem = Bandit(THREE, noise="gaussian", sigma=sigma) if sigma else Bandit(THREE)
    return Experiment(problem, Softmax(), Natural(ALPHA), Value(), steps=_LONG)


BERNOULLI = Experiment(
    Bandit(TWO, noise="bernoulli"), Softmax(), Natural(ALPHA), Value(), steps=_LONG
)

SIGMAS = tuple(
    Setting(
        label=f"three arms, σ = {sigma:g}",
        latex=rf"$\sigma = {sigma:g}$",
        experiment=three(sigma),
        runs=20_000,
        quick=2000,
        known=KNOWN_THREE if sigma == 0.5 else (),
        colour=colour,
    )
    for sigma, colour in zip(LEVELS, COLOURS, strict=False)
)
PAIRS = tuple(
    Setting(
        label=f"Bernoulli(0.8, 0.2), {label}",
        latex=latex,
        experiment=experiment,
        runs=20_000,
        quick=4000,
        below=HALF,
        known=KNOWN_TWO[name],
        colour=colour,
    )
    for name, label, latex, experiment, colour in (
        ("V", "V", "$b = V$", BERNOULLI, COLOURS[0]),
        ("b0", "b = 0", "$b = 0$", BERNOULLI.replace(baseline=0.0), COLOURS[5]),
        (
            "clip",
            "V, clipped",
            f"$b = V$, norm clipped at {CLIP:g}",
            BERNOULLI.replace(optimiser=ClipNorm(CLIP)),
            COLOURS[4],
        ),
    )
)


def without_noise(data: Sequence[Measured]) -> Finding:
    """No run is lost where rewards have no noise."""
    rate = data[len(LEVELS) - 1].rate()
    return Finding(
        "three arms, σ = 0: runs that fail in the end",
        "none",
        str(rate),
        NONE.verdict(rate.low, rate.high),
        NONE.rule,
    )


def grows(i: int, *times: int) -> ResultRule:
    """Ask whether failures become more from one time to the next."""

    def rule(data: Sequence[Measured]) -> Finding:
        gaps = [data[i].failed(b).minus(data[i].failed(a)) for a, b in pairwise(times)]
        return all_positive(
            f"{data[i].setting.label}: additional failures between "
            f"{', '.join(map(grouped, times))} updates",
            OURS + "failure grows with time",
            ", ".join(map(str, gaps)),
            *gaps,
        )

    return rule


def corners(data: Sequence[Measured]) -> Finding:
    """Near the best arm log-odds walk without drift as soon as there is noise."""
    del data
    kinds = {sigma: exact.corner(three(sigma), arm=0).kind for sigma in (*LEVELS, 1e-3)}
    noisy = {kind for sigma, kind in kinds.items() if sigma}
    return holds_if(
        "the corner of the best arm, without sampling",
        OURS + "any noise breaks it: the best arm no longer attracts",
        f"σ = 0: {kinds[0.0]}; σ = 0.001 to 1: {', '.join(sorted(noisy))}",
        kinds[0.0] == "attracts" and noisy == {"releases"},
        "attracts without noise, releases with any",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(RunResult):
    """Failures against the logarithm of time."""

    def pictures(self, data: list[Measured]) -> list[Picture]:
        """Return the one picture."""
        ends = "; ".join(f"{one.setting.label}: {one.rate()}" for one in data)
        return [
            Picture(
                self.name,
                "Natural gradients with the true value as baseline. Left: three arms that pay "
                "(1, 0.7, 0) with Gaussian noise σ; failed is J < 0.9. Right: two arms that pay 1 "
                "with probabilities 0.8 and 0.2; wrong is π(best) < ½. Failed in the end: "
                f"{ends}.",
                lambda: draw(data),
            )
        ]


def draw(data: Sequence[Measured]) -> Figure:
    """Draw both problems side by side."""
    figure, (left, right) = sheet.row("cc", height=2.7)
    count = len(LEVELS)
    against_log_time(
        left,
        [failing(one) for one in data[:count]],
        ylabel="share of runs with $J < 0.9$",
        log=True,
        legend="lower left",
        title="three arms, Gaussian noise, $b = V$",
    )
    left.set_ylim(2e-5, 1.3)
    against_log_time(
        right,
        [failing(one) for one in data[count:]],
        ylabel=r"share of runs with $\pi(\mathrm{best}) < \frac{1}{2}$",
        log=True,
        legend="upper right",
        title="two arms, Bernoulli(0.8, 0.2)",
    )
    right.set_ylim(2e-5, 1.3)
    explain(figure, left, right)
    return figure


FIGURES = (
    Noise(
        name="A1",
        title="The true value as baseline, and noise",
        says="Without noise of the rewards, natural gradients with the true value as baseline find "
        "the best arm in every run. With any noise they do not: failures appear, and become more "
        "with time. Clipping the norm of the gradient repairs the case of two Bernoulli arms.",
        source="Mei, Chung et al. 2022 (2301.06276), for rewards without noise",
        own="that any noise breaks it, that failure grows with time, and that clipping repairs the "
        "two-arm case. Near a corner the log-odds walk without drift: docs/corners.md, “Two arms, "
        "one of them rare”.",
        settled=(
            "At t = 100 some runs of three arms have not finished yet, with and without noise: "
            "failures without noise are 0 in the end only.",
            "Failure does not grow from the first update on. At first runs learn and it falls; "
            "with σ = 1 it falls until t ≈ 300, and grows from there.",
        ),
        cases=(*SIGMAS, *PAIRS),
        described=(
            ("problems", "three arms (1, 0.7, 0) with Gaussian noise; Bernoulli(0.8, 0.2)"),
            ("update", f"natural, α = {ALPHA:g}, one sample, from uniform"),
            ("baseline", "the true value V; also 0, and V with the norm clipped at 5"),
            ("updates", "10 000"),
        ),
        rules=(
            without_noise,
            corners,
            grows(0, 1000, _LONG),
            grows(1, 100, 1000, _LONG),
            grows(2, 1000, _LONG),
        ),
    ),
)
