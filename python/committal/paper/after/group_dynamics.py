"""A8: where groups lead: the std may prefer the worse arm; without noise groups do not commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from committal import exact
from committal.config import Bandit, Experiment, Group, Natural, Softmax, Value, Vanilla
from committal.paper.figure import Picture, Table
from committal.paper.result import (
    OURS,
    Known,
    Measured,
    RunResult,
    Setting,
    all_exactly,
    exactly,
    holds_if,
    known,
)
from committal.paper.result_pictures import (
    COLOURS,
    against_log_time,
    averaged,
    explain,
    failing,
    name_lines,
)
from committal.paper.verdicts import NONE, Finding, all_positive
from committal.plot import sheet
from committal.plot.sheet import Figure

#: Arm 0 pays 6 once in ten times and else nothing, arm 1 always 0.5.
RARE = Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]])
BETTER = 0.55  # J where both arms are as likely
GRPO: dict[str, Any] = {"centre": "mean", "scale": "std"}
RLOO: dict[str, Any] = {"centre": "leave_one_out"}
MEAN: dict[str, Any] = {"centre": "mean"}
NO_CENTRE: dict[str, Any] = {"centre": None}
_FOLDER = "A8_group_dynamics/"

REFERENCES: dict[str, float] = {
    f"{_FOLDER}flip_exact/N{samples}/{name}": value
    for samples, value in ((2, -0.2), (3, -0.26904708), (4, -0.28999673), (6, -0.28419336))
    for name, value in (("grpo", value), ("rloo", 0.025))
}


def drift(samples: int, how: dict[str, Any]) -> float:
    """Return the mean update of the better arm's parameter, at the uniform policy."""
    exp = Experiment(RARE, Softmax(), Vanilla(1), estimator=Group(samples, **how), steps=1)
    return float(exact.one_step_law(exp).mean()[0])


def rare(how: dict[str, Any]) -> Experiment:
    """Return groups of eight on the rare reward."""
    return Experiment(RARE, Softmax(), Vanilla(0.1), estimator=Group(8, **how), steps=2000)


def quiet(how: dict[str, Any]) -> Experiment:
    """Return natural gradients of two samples on three arms without noise, from a bad start."""
    return Experiment(
        Bandit([1.0, 0.7, 0.0]),
        Softmax([0, 3, 5]),
        Natural(0.025),
        estimator=Group(2, **how),
        steps=2000,
    )


def noisy(samples: int, how: dict[str, Any], baseline: Any = 0.0) -> Experiment:
    """Return natural gradients of groups on two Bernoulli arms."""
    return Experiment(
        Bandit([0.8, 0.2], noise="bernoulli"),
        Softmax(),
        Natural(0.1),
        baseline,
        estimator=Group(samples, **how),
        steps=10_000,
    )


def _det(name: str, first: float, last: float, claim: str = "") -> tuple[Known, ...]:
    place = f"{_FOLDER}det/npg_{name}_N2_K3_det_(0,3,5)/fail_at_1000_2000"
    errors = {p: (p * (1 - p) / 20_000) ** 0.5 for p in (first, last)}
    numbers = {1000: (first, errors[first]), 2000: (last, errors[last])}
    return known("failures", place, 20_000, numbers, {2000: claim})


def _noise(name: str, samples: int, *rates: float) -> tuple[Known, ...]:
    place = f"{_FOLDER}noise/npg_{name}_N{samples}_K2_bern.8.2/frac_p1_below_half"
    times = zip((100, 1000, 10_000), rates, strict=True)
    numbers = {time: (p, (p * (1 - p) / 10_000) ** 0.5) for time, p in times}
    return known("failures", place, 10_000, numbers)


FATES = (
    Setting(
        label="rare reward, RLOO",
        latex="RLOO",
        experiment=rare(RLOO),
        runs=10_000,
        quick=1000,
        below=BETTER,
        record=("policy",),
        known=known("policy", _FOLDER + "rloo/mean_pi_best", 10_000, {200: (0.70267581, 0.001127)}),
        colour=COLOURS[4],
    ),
    Setting(
        label="rare reward, GRPO",
        latex="GRPO",
        experiment=rare(GRPO),
        runs=10_000,
        quick=1000,
        below=BETTER,
        record=("policy",),
        known=(
            *known("policy", _FOLDER + "grpo/mean_pi_best", 10_000, {200: (0.015091536, 3.119e-5)}),
            *known("policy", _FOLDER + "long/mean_pi_best", 3000, {2000: (0.0012190384, 4.549e-6)}),
            *known(
                "failures",
                _FOLDER + "long/frac_best_arm_below_half",
                3000,
                {2000: (1.0, 1.8e-8)},
                {2000: OURS + "wrong in every run"},
            ),
        ),
        colour=COLOURS[0],
    ),
)
QUIET = tuple(
    Setting(
        label=f"no noise, {label}",
        latex=label.replace("b = 0", "$b = 0$"),
        experiment=quiet(how),
        runs=20_000,
        quick=2000,
        known=numbers,
        colour=colour,
    )
    for label, how, numbers, colour in (
        ("mean", MEAN, _det("mean", 0.41515, 0.00425), COLOURS[1]),
        ("RLOO", RLOO, _det("rloo", 0.04115, 0.0, OURS + "0 failed"), COLOURS[4]),
        ("GRPO", GRPO, _det("grpo", 0.00015, 0.0), COLOURS[0]),
        ("b = 0", NO_CENTRE, _det("b0", 0.23195, 0.24355, OURS + "24 %"), COLOURS[5]),
    )
)
NOISY = tuple(
    Setting(
        label=f"noise, {label}",
        latex=label.replace("N = 4", "$N = 4$"),
        experiment=noisy(samples, how, baseline),
        runs=10_000,
        quick=4000,
        below=0.5,
        known=numbers,
        colour=colour,
    )
    for label, samples, how, baseline, numbers, colour in (
        ("RLOO", 2, RLOO, 0.0, _noise("rloo", 2, 0.0007, 0.0198, 0.05), COLOURS[4]),
        ("GRPO, N = 4", 4, GRPO, 0.0, _noise("grpo", 4, 0.0051, 0.0343, 0.0537), COLOURS[0]),
        ("V", 2, NO_CENTRE, Value(), _noise("value", 2, 0.0007, 0.0223, 0.0626), COLOURS[2]),
    )
)


def uniform_drift(data: Sequence[Measured]) -> Finding:
    """With two samples the drift has the wrong sign."""
    del data
    return exactly(
        "GRPO, N = 2: drift of θ₀ at the uniform policy",
        OURS + "−0.2",
        drift(2, GRPO),
        REFERENCES[f"{_FOLDER}flip_exact/N2/grpo"],
    )


def true_drift(data: Sequence[Measured]) -> Finding:
    """RLOO has the true one."""
    del data
    return exactly(
        "RLOO, N = 2: the same",
        "+0.025, the true gradient",
        drift(2, RLOO),
        REFERENCES[f"{_FOLDER}flip_exact/N2/rloo"],
    )


def all_drifts(data: Sequence[Measured]) -> Finding:
    """More samples do not help."""
    del data
    return all_exactly(
        "drifts with 2, 3, 4 and 6 samples, GRPO and RLOO",
        "same numbers as an independent implementation",
        [
            (
                drift(int(place.split("/N")[1].split("/")[0]), GRPO if "grpo" in place else RLOO),
                value,
            )
            for place, value in REFERENCES.items()
        ],
    )


def none_wrong(data: Sequence[Measured]) -> Finding:
    """RLOO finds the better arm."""
    rate = data[0].rate()
    return Finding(
        "rare reward, RLOO: runs on the worse arm after 2 000 updates",
        OURS + "none",
        str(rate),
        NONE.verdict(rate.low, rate.high),
        NONE.rule,
    )


def corner_of_worse(data: Sequence[Measured]) -> Finding:
    """The corner says it without sampling."""
    del data
    kinds = {
        name: exact.corner(rare(how), arm=1).kind for name, how in (("GRPO", GRPO), ("RLOO", RLOO))
    }
    return holds_if(
        "the corner of the worse arm, N = 8",
        OURS + "GRPO may stay there for ever, RLOO leaves it",
        ", ".join(f"{name}: {kind}" for name, kind in kinds.items()),
        kinds == {"GRPO": "attracts", "RLOO": "releases"},
        "GRPO attracts, RLOO releases",
    )


def commits_with_noise(data: Sequence[Measured]) -> Finding:
    """With noise groups commit, and more so with time."""
    gaps = [data[i].failed(10_000).minus(data[i].failed(1000)) for i in (6, 7)]
    return all_positive(
        "noise, RLOO and GRPO: wrong after 10 000 less after 1 000 updates",
        OURS + "with noise groups do commit again",
        ", ".join(map(str, gaps)),
        *gaps,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fates(RunResult):
    """Drift, and what becomes of runs."""

    def tables(self, data: list[Measured]) -> list[Table]:
        """List the known numbers, and the drifts by group size."""
        rows = tuple(
            (str(n), f"{drift(n, GRPO):.6f}", f"{drift(n, RLOO):.6f}") for n in (2, 3, 4, 6, 8)
        )
        header = ("N", "GRPO", "RLOO")
        title = "Drift of the better arm's parameter at the uniform policy, without sampling"
        return [Table(title, header, rows), *RunResult.tables(self, data)]

    def pictures(self, data: list[Measured]) -> list[Picture]:
        """Return drift and fate, and what natural gradients do."""

        def ends(some: Sequence[Measured]) -> str:
            return "; ".join(f"{one.setting.label}: {one.rate()}" for one in some)

        fates, natural = data[: len(FATES)], data[len(FATES) :]
        return [
            Picture(
                self.name,
                "Arm 0 pays 6 once in ten times, 0.6 on average; arm 1 always 0.5. Left: expected "
                "change of the log-odds of the better arm per unit of step size, without "
                "sampling. Right: what becomes of its probability, mean of runs with N = 8, "
                f"vanilla, α = 0.1. On the worse arm in the end: {ends(fates)}.",
                lambda: draw(fates),
            ),
            Picture(
                f"{self.name}-natural",
                "Natural gradients of groups. Left: rewards (1, 0.7, 0) without noise from "
                "θ₀ = (0, 3, 5), N = 2; failed is J < 0.9. Right: Bernoulli(0.8, 0.2); wrong is "
                f"π(best) < ½. In the end: {ends(natural)}.",
                lambda: draw_natural(natural),
            ),
        ]


def draw(data: Sequence[Measured]) -> Figure:
    """Draw drift and fate side by side."""
    figure, (left, right) = sheet.row("cc", height=2.6)
    p = np.linspace(0.005, 0.995, 100)
    for label, samples, how, colour in (
        ("RLOO, any $N$", 8, RLOO, COLOURS[4]),
        ("GRPO, $N = 2$", 2, GRPO, COLOURS[1]),
        ("GRPO, $N = 8$", 8, GRPO, COLOURS[0]),
    ):
        exp = Experiment(RARE, Softmax(), Vanilla(1), estimator=Group(samples, **how), steps=1)
        flow = exact.flow(exp, policy=np.stack([p, 1 - p], axis=-1))
        left.plot(p, flow[:, 0] - flow[:, 1], color=colour, label=label)
    left.axhline(0.0, color="grey", linewidth=0.6)
    left.set(xlabel="probability of the better arm", ylabel="expected change of its log-odds")
    left.set_xlim(0, 1)
    left.set_ylim(top=0.42)
    left.set_title("drift, exact")
    left.spines[["top", "right"]].set_visible(False)
    name_lines(left, "upper center")
    against_log_time(
        right,
        [averaged(one, "policy") for one in data],
        ylabel="mean probability of the better arm",
        title="fate, $N = 8$",
        legend="upper left",
    )
    right.set_ylim(0, 1)
    explain(figure, left, right)
    return figure


def draw_natural(data: Sequence[Measured]) -> Figure:
    """Draw failures without and with noise."""
    figure, (left, right) = sheet.row("cc", height=2.6)
    count = len(QUIET)
    against_log_time(
        left,
        [failing(one) for one in data[:count]],
        ylabel="share of runs with $J < 0.9$",
        title="no noise, three arms",
        legend="lower left",
    )
    left.set_ylim(-0.02, 1.04)
    against_log_time(
        right,
        [failing(one) for one in data[count:]],
        ylabel=r"share of runs with $\pi(\mathrm{best}) < \frac{1}{2}$",
        log=True,
        title="noise, Bernoulli(0.8, 0.2)",
        legend="lower right",
    )
    right.set_ylim(5e-5, 0.3)
    explain(figure, left, right)
    return figure


FIGURES = (
    Fates(
        name="A8",
        title="Where groups lead",
        says="Advantages divided by their std can prefer the worse arm: a rare large reward counts "
        "hardly more than a frequent 0. GRPO ends on the worse arm in every run, RLOO in none. "
        "With natural gradients and rewards without noise a group of one arm moves nothing, so "
        "groups do not commit, where b = 0 loses a quarter of the runs; with noise they do again.",
        source="the rules are RLOO 2402.14740 and GRPO 2402.03300",
        own="all of these claims. Near a corner one sample of the rare arm decides: "
        "docs/corners.md, “Groups”; the rules are in docs/groups.md.",
        settled=(
            "“Do not commit” is about the end: after 1 000 updates 41 % of the runs with the plain "
            "mean and 4 % with RLOO are still on their way.",
            "Near the better arm the std leads away only for small groups: at N = 64 that corner "
            "attracts as well (docs/corners.md), and where a run ends depends on where it starts.",
        ),
        cases=(*FATES, *QUIET, *NOISY),
        described=(
            ("rare reward", "arm 0 pays 6 with probability 0.1 else 0, arm 1 pays 0.5"),
            ("", "vanilla, α = 0.1, N = 8, from uniform, 2 000 updates"),
            ("no noise", "rewards (1, 0.7, 0), natural, α = 0.025, N = 2, θ₀ = (0, 3, 5), 2 000"),
            ("noise", "Bernoulli(0.8, 0.2), natural, α = 0.1, N = 2 or 4, 10 000 updates"),
        ),
        rules=(
            uniform_drift,
            true_drift,
            all_drifts,
            corner_of_worse,
            none_wrong,
            commits_with_noise,
        ),
    ),
)
