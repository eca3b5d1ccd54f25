"""A12: the delightful gradient: what a gate on surprise repairs, and what unequal noise does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from committal import exact
from committal.config import (
    Bandit,
    Delightful,
    Experiment,
    OneSample,
    Softmax,
    Value,
    Vanilla,
)
from committal.paper.figure import Picture
from committal.paper.result import (
    OURS,
    Measured,
    RunResult,
    Setting,
    all_exactly,
    exactly,
    known,
)
from committal.paper.result_pictures import COLOURS, against_log_time, explain, failing, name_lines
from committal.paper.verdicts import NONE, Finding
from committal.plot import sheet
from committal.plot.sheet import Axes, Figure, mark

ALPHA, SLOW = 0.5, 0.02
START = (0.0, 5.0, 3.0)
MEANS = (1.0, 0.7, 0.0)
SURE, COIN = 0.6, 0.5
STEPS = 10_000
TEMPERATURES = (0.5, 1.0, 2.0)
_EQUILIBRIUM = "A12_dg/noise_equilibrium_temp1/0"
REFERENCES: dict[str, float] = {
    _EQUILIBRIUM: 0.55351741,
    "A12_dg/drift/0.05": 0.0050832496,
    "A12_dg/drift/0.1": 0.0086507962,
    "A12_dg/drift/0.2": 0.012357552,
    "A12_dg/drift/0.3": 0.012247922,
    "A12_dg/drift/0.4": 0.0090588116,
    "A12_dg/drift/0.5": 0.0035660137,
    "A12_dg/drift/0.7": -0.010166045,
    "A12_dg/drift/0.9": -0.014806644,
    "A12_dg/drift/0.99": -0.0030655609,
}

PLAIN = Experiment(Bandit(MEANS), Softmax(START), Vanilla(ALPHA), Value(), steps=STEPS)
#: Arm 0 always pays 0.6, arm 1 pays 1 in half of the cases.
UNEQUAL = Experiment(
    Bandit.from_table([[(SURE, 1)], [(1, COIN), (0, 1 - COIN)]]),
    Softmax(),
    Vanilla(SLOW),
    Value(),
    steps=20_000,
)


def gated(experiment: Experiment, temperature: float = 1.0) -> Experiment:
    """Return the same with the gate."""
    return experiment.replace(estimator=OneSample(weight=Delightful(temperature)))


VANILLA = Setting(
    label="vanilla",
    experiment=PLAIN,
    runs=10_000,
    quick=1000,
    known=known(
        "failures", "A12_dg/pg/fail_1e4_pooled", 9000, {STEPS: (0.5116, 0.0053)}, {STEPS: "51.2 %"}
    ),
    colour=COLOURS[0],
)
DELIGHTFUL = Setting(
    label="delightful, T = 1",
    experiment=gated(PLAIN),
    runs=10_000,
    quick=1000,
    known=(
        *known(
            "failures",
            "A12_dg/dg/fail",
            5000,
            {1000: (0.938, 0.00341), 3000: (0.1832, 0.00547), STEPS: (0.0, 1.4e-8)},
        ),
        *known(
            "value",
            "A12_dg/dg/mean_value",
            5000,
            {1000: (0.708334, 0.00095), 3000: (0.9352513, 0.00156), STEPS: (0.99648028, 5.1e-6)},
        ),
    ),
    colour=COLOURS[4],
)
NOISY = Setting(
    label="one arm with noise, T = 1",
    experiment=gated(UNEQUAL),
    runs=1000,
    quick=200,
    record=("policy",),
    known=known(
        "policy",
        "A12_dg/noise_sim/mean_pi_best",
        1000,
        {5000: (0.54323952, 0.00103), 20_000: (0.55166417, 0.00104)},
        {20_000: OURS + "runs stay near the interior point"},
    ),
    colour=COLOURS[4],
)


def repaired(data: Sequence[Measured]) -> Finding:
    """No run is left behind."""
    rate = data[1].rate()
    return Finding(
        "runs that fail in the end, delightful",
        "none",
        str(rate),
        NONE.verdict(rate.low, rate.high),
        NONE.rule,
    )


def drift(p: np.ndarray, temperature: float | None = 1.0) -> np.ndarray:
    """Return the expected change of θ₀ − θ₁ per unit of step, where π₀ = p."""
    exp = UNEQUAL if temperature is None else gated(UNEQUAL, temperature)
    return np.asarray(exact.flow(exp, policy=np.stack([p, 1 - p], axis=-1)) @ [1.0, -1.0])


def drifts(data: Sequence[Measured]) -> Finding:
    """Compare the expected direction."""
    del data
    at = {float(key.rpartition("/")[2]): x for key, x in REFERENCES.items() if "drift" in key}
    ours = drift(np.array(list(at)))
    return all_exactly(
        "expected change of θ₀ − θ₁ at nine policies, arm 1 with noise",
        "same numbers as an independent implementation",
        list(zip(ours.tolist(), at.values(), strict=True)),
    )


def interior(temperature: float) -> float:
    """Return π₀ at the stable point."""
    (point,) = (x for x in exact.stationary(gated(UNEQUAL, temperature)) if x.stable)
    return float(point.policy[0])


def biased(data: Sequence[Measured]) -> Finding:
    """The gate has a stable point that is no vertex."""
    del data
    return exactly(
        "the only stable point of the expected direction, arm 1 with noise: π₀",
        OURS + "0.5535, though arm 0 is better",
        interior(1.0),
        REFERENCES[_EQUILIBRIUM],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delight(RunResult):
    """Failures, and the drift of unequal noise."""

    def pictures(self, data: list[Measured]) -> list[Picture]:
        """Return the one picture."""
        points = ", ".join(f"{interior(T):.4f} (T = {T:g})" for T in TEMPERATURES)
        return [
            Picture(
                self.name,
                "Left: arms (1, 0.7, 0) from θ₀ = (0, 5, 3), vanilla with the true value, α = 0.5, "
                "with and without the gate σ(−A log π(a) / T): share of runs with J < 0.9; in the "
                f"end {data[0].rate()} and {data[1].rate()}. Right: arm 0 always pays 0.6, arm 1 "
                "pays 1 in half of the cases: expected change of θ₀ − θ₁ against π₀. Without a "
                "gate it is positive everywhere; with it, it vanishes at a stable point inside "
                f"(dots), π₀ = {points}.",
                lambda: draw(data),
            )
        ]


def draw(data: Sequence[Measured]) -> Figure:
    """Draw failures and drift."""
    figure, (left, right) = sheet.row("cc", height=2.7)
    against_log_time(
        left,
        [failing(one) for one in data[:2]],
        ylabel="share of runs with $J < 0.9$",
        legend="lower left",
        title="three arms, no noise",
    )
    left.set_ylim(-0.02, 1.04)
    _drifts(right)
    still = mark("no change: the rule stands still", linestyle="none", marker="o", markersize=4)
    explain(figure, left, also=[still])
    return figure


def _drifts(ax: Axes) -> None:
    p = np.linspace(0.004, 0.996, 249)
    ax.axhline(0.0, color="grey", linewidth=0.7)
    ax.plot(p, drift(p, None), color=COLOURS[0], label="vanilla")
    for temperature, colour in zip(TEMPERATURES, (COLOURS[6], COLOURS[4], COLOURS[2]), strict=True):
        ax.plot(p, drift(p, temperature), color=colour, label=f"T = {temperature:g}")
        ax.plot(interior(temperature), 0.0, "o", color=colour, markersize=4, zorder=5)
    ax.set(
        xlabel=r"$\pi_0$, the arm that pays 0.6",
        ylabel=r"expected change of $\theta_0 - \theta_1$",
        title="two arms, one with noise",
        xlim=(0, 1),
    )
    ax.spines[["top", "right"]].set_visible(False)
    name_lines(ax, "lower left")


FIGURES = (
    Delight(
        name="A12",
        title="The delightful gradient",
        says="A gate σ(−A log π(a) / T) makes a sample count more if it was a good surprise, less "
        "if it was a bad one. From a start next to the second-best arm half of the runs of "
        "vanilla gradients still fail after 10 000 updates; with the gate none. But the gate looks "
        "at the sign of an advantage: an arm whose rewards have noise gains from it, and the rule "
        "may stand still between two arms for ever.",
        source="Osband 2603.14608; Mei & Osband 2605.11908",
        own="the bias by unequal noise and its interior point: docs/groups.md, “The gate and "
        "unequal noise”.",
        settled=(
            "The gate multiplies ρ, which is 1 here.",
            "Without noise and with the true value no vanilla run is lost for ever: those that "
            "fail after 10 000 updates are late.",
        ),
        cases=(VANILLA, DELIGHTFUL, NOISY),
        described=(
            ("three arms", "(1, 0.7, 0), θ₀ = (0, 5, 3), α = 0.5, b = V"),
            ("two arms", "0.6 for sure against Bernoulli(½), θ₀ = 0, α = 0.02, b = V"),
            ("gate", "T = 1; in the picture also ½ and 2"),
            ("updates", "10 000; 20 000 of two arms"),
        ),
        rules=(repaired, drifts, biased),
    ),
)
