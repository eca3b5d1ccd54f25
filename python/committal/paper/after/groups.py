"""A7: one update of a group, without sampling: what centre and scale do to the gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal import exact, theory
from committal.config import Bandit, Experiment, Group, Record, Softmax, Vanilla
from committal.paper.figure import Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import ComputedResult, all_exactly, exactly, holds_if
from committal.paper.result_pictures import COLOURS, explain, name_lines
from committal.paper.verdicts import Finding
from committal.plot import sheet
from committal.plot.sheet import Figure, mark

if TYPE_CHECKING:
    import xarray as xr

Floats = npt.NDArray[np.float64]

SIZES = (2, 4, 8, 16, 64)
SUCCESSES = (0.01, 0.1, 0.3, 0.5)
#: Where the curves are drawn: log-odds from rare to likely successes.
GRID = 1.0 / (1.0 + np.exp(-np.linspace(-7.0, 7.0, 141)))
CENTRES: dict[str, dict[str, Any]] = {
    "mean": {"centre": "mean"},
    "leave one out (RLOO)": {"centre": "leave_one_out"},
    "mean and std (GRPO)": {"centre": "mean", "scale": "std"},
    "median": {"centre": "median"},
    "weighted (OPO)": {"centre": "weighted"},
    "weighted, leave one out": {"centre": "weighted_leave_one_out"},
}
_SHORT = dict(zip(CENTRES, ("mean", "rloo", "grpo", "median", "opo", "oploo"), strict=True))
THREE_ARMS = Experiment(Bandit([1.0, 0.7, 0.0]), Softmax([0, 1, 2]), Vanilla(1), steps=1)
PASS = {"p0.1_n8_k4": (0.1, 8, 4), "p0.3_n6_k2": (0.3, 6, 2)}
#: To see that two rules are the same bit for bit.
COINS = Experiment(
    Bandit([0.7, 0.4], noise="bernoulli"),
    Softmax(),
    Vanilla(0.5),
    estimator=Group(2, centre="leave_one_out"),
    steps=200,
    record=Record("theta", log=20),
)
RUNS, QUICK = 10_000, 1000

_WEIGHTS = {
    0.01: (1.0, 1.7274562, 2.6088622, 3.7329918, 6.7361959),
    0.1: (1.0, 1.6902817, 2.3276891, 2.8478124, 3.2547725),
    0.3: (1.0, 1.6345895, 1.9627216, 2.0924923, 2.1615201),
    0.5: (1.0, 1.6160254, 1.8556559, 1.9341226, 1.9841864),
}
#: By their place in the file of independent numbers.
REFERENCES: dict[str, float] = {
    **{
        f"A7_groups/weights/p{p:g}_N{samples}": value
        for p, row in _WEIGHTS.items()
        for samples, value in zip(SIZES, row, strict=True)
    },
    "A7_groups/one_step/mean_N4/ratio": 0.75,
    "A7_groups/one_step/mean_N4/cosine": 1.0,
    "A7_groups/one_step/rloo_N4/ratio": 1.0,
    "A7_groups/one_step/rloo_N4/cosine": 1.0,
    "A7_groups/one_step/grpo_N4/ratio": 2.085604,
    "A7_groups/one_step/grpo_N4/cosine": 0.99813254,
    "A7_groups/one_step/median_N4/ratio": 0.68447195,
    "A7_groups/one_step/median_N4/cosine": 0.9993662,
    "A7_groups/one_step/opo_N4/ratio": 0.69661719,
    "A7_groups/one_step/opo_N4/cosine": 0.99890829,
    "A7_groups/one_step/oploo_N4/ratio": 1.0,
    "A7_groups/one_step/oploo_N4/cosine": 1.0,
    "A7_groups/passk/p0.1_n8_k4/enumerated": 2.916,
    "A7_groups/passk/p0.3_n6_k2/enumerated": 1.4,
}


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """What was computed.

    Attributes
    ----------
    known : dict
        By p and N, the factor from the law of one update.
    curves : dict
        By N, the closed form along `GRID`.
    steps : dict
        By centre, ratio and cosine of the mean update to the gradient, and its distance to it.
    passes : dict
        By name, the enumerated coefficient of pass@k.
    rare : dict
        By N, the factor at p = 1e-9.
    two : pair of Dataset
        Runs of GRPO and RLOO with two samples and binary rewards.
    """

    known: dict[tuple[float, int], float]
    curves: dict[int, Floats]
    steps: dict[str, tuple[float, float, float]]
    passes: dict[str, float]
    rare: dict[int, float]
    two: tuple[xr.Dataset, xr.Dataset]


def factor(p: float, samples: int) -> float:
    """Return what GRPO makes of the gradient of p: one arm always pays 1, the other nothing."""
    start = Softmax([math.log(p / (1 - p)), 0.0])
    group = Group(samples, centre="mean", scale="std")
    exp = Experiment(Bandit([1, 0]), start, Vanilla(1), estimator=group, steps=1)
    return float(exact.one_step_law(exp).mean()[0]) / (p * (1 - p))


def one_step(how: dict[str, Any]) -> tuple[float, float, float]:
    """Return ratio, cosine and largest difference of the mean update of four to the gradient."""
    law = exact.one_step_law(THREE_ARMS.replace(estimator=Group(4, **how)))
    means = np.array([1.0, 0.7, 0.0])
    truth = law.policy * (means - law.policy @ means)
    mean = law.mean()
    cosine = mean @ truth / (np.linalg.norm(mean) * np.linalg.norm(truth))
    return float(mean @ truth / (truth @ truth)), float(cosine), float(abs(mean - truth).max())


def pass_at_k(p: float, samples: int, k: int) -> float:
    """Return the mean of sum_i s_i psi(a_i), along the gradient of p, by enumeration."""
    s = theory.pass_at_k_advantages(samples, k)
    total = 0.0
    for c in range(samples + 1):
        law = math.comb(samples, c) * p**c * (1 - p) ** (samples - c)
        total += law * (c * s[c, 0] / p - (samples - c) * s[c, 1] / (1 - p))
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class OneUpdate(ComputedResult[Factors]):
    """Numbers without luck, and one comparison of bits."""

    def compute(self, lab: Lab) -> Factors:
        """Ask for the laws of one update."""
        grpo = COINS.replace(estimator=Group(2, centre="mean", scale="std"))
        return Factors(
            {(p, samples): factor(p, samples) for p in SUCCESSES for samples in SIZES},
            {samples: theory.std_factor(GRID, samples) for samples in SIZES},
            {name: one_step(how) for name, how in CENTRES.items()},
            {name: pass_at_k(*row) for name, row in PASS.items()},
            {samples: float(theory.std_factor(1e-9, samples)) for samples in SIZES},
            (
                lab.ensemble(grpo, RUNS, QUICK, f"{self.name} GRPO"),
                lab.ensemble(COINS, RUNS, QUICK, f"{self.name} RLOO"),
            ),
        )

    def judge(self, data: Factors) -> list[Finding]:
        """Compare with the formulas and with the known numbers."""
        mean, rloo = data.steps["mean"], data.steps["leave one out (RLOO)"]
        weighted = data.steps["weighted, leave one out"]
        bent = {name: data.steps[name][1] for name in ("median", "weighted (OPO)")}
        half = theory.std_factor(GRID, 4096)
        limit = (GRID * (1 - GRID)) ** -0.5
        middle = (GRID > 0.05) & (GRID < 0.95)
        far = float(np.abs(half / limit - 1)[middle].max())
        same = all(
            np.array_equal(data.two[0][name].values, data.two[1][name].values)
            for name in ("theta",)
        )
        one = REFERENCES["A7_groups/weights/p0.1_N8"]
        return [
            exactly(
                "mean of the group, itself included, N = 4", "(N − 1)/N × gradient", mean[0], 0.75
            ),
            holds_if(
                "leave-one-out, plain and weighted: mean less gradient",
                "unbiased",
                f"{max(rloo[2], weighted[2]):.0e}",
                max(rloo[2], weighted[2]) <= 1e-12,
                "at most 1e-12",
            ),
            holds_if(
                "median and self-weighted centre: cosine to the gradient",
                "not even parallel",
                ", ".join(f"{name}: {cosine:.6f}" for name, cosine in bent.items()),
                max(bent.values()) < 1 - 1e-6,
                "below 1",
            ),
            exactly(
                "GRPO, p = 0.1, N = 8: factor on the gradient", f"{one:g}", data.known[0.1, 8], one
            ),
            all_exactly(
                "GRPO, N = 2: factor",
                "exactly 1",
                [(data.known[p, 2], 1.0) for p in SUCCESSES],
                within=1e-12,
            ),
            holds_if(
                f"GRPO and RLOO with two samples and binary rewards, {_runs(data)} runs",
                "the same, bit for bit",
                "all bits are equal" if same else "bits differ",
                same,
                "equal bits",
            ),
            all_exactly(
                "GRPO as p → 0 (p = 1e-9), N = 2 to 64: factor",
                "√(N − 1)",
                [(data.rare[n], math.sqrt(n - 1)) for n in SIZES],
            ),
            holds_if(
                "GRPO with N = 4096 against 1/√(p(1 − p)), p from 0.05 to 0.95",
                "N → ∞: the gradient of 2·arcsin √p",
                f"at most {100 * far:.2f} % apart",
                far < 0.01,
                "less than 1 %",
            ),
            all_exactly(
                "pass@k by Σ s ψ, enumerated",
                "k(1 − p)^(k−1)",
                [
                    pair
                    for name, (p, _, k) in PASS.items()
                    for pair in (
                        (data.passes[name], float(theory.pass_at_k_factor(p, k))),
                        (data.passes[name], REFERENCES[f"A7_groups/passk/{name}/enumerated"]),
                    )
                ],
            ),
            all_exactly(
                "factors of GRPO by p and N, of an independent implementation",
                "same numbers",
                [
                    (data.known[p, n], REFERENCES[f"A7_groups/weights/p{p:g}_N{n}"])
                    for p in SUCCESSES
                    for n in SIZES
                ],
            ),
            all_exactly(
                "ratios and cosines of six centres, N = 4",
                "same numbers",
                [
                    (data.steps[name][i], REFERENCES[f"A7_groups/one_step/{short}_N4/{what}"])
                    for name, short in _SHORT.items()
                    for i, what in enumerate(("ratio", "cosine"))
                ],
            ),
        ]

    def tables(self, data: Factors) -> list[Table]:
        """List factors, and what centres do."""
        rows = tuple(
            (f"{p:g}", *(f"{data.known[p, n]:.7g}" for n in SIZES), f"{(p * (1 - p)) ** -0.5:.7g}")
            for p in SUCCESSES
        )
        steps = tuple(
            (name, f"{ratio:.8g}", f"{cosine:.8g}", f"{far:.1e}")
            for name, (ratio, cosine, far) in data.steps.items()
        )
        return [
            Table(
                "What dividing by the std makes of the gradient of p",
                ("p", *(f"N = {n}" for n in SIZES), "N → ∞"),
                rows,
            ),
            Table(
                "Four samples, arms (1, 0.7, 0), π = softmax(0, 1, 2): mean update",
                ("centre and scale", "along the gradient", "cosine to it", "distance to it"),
                steps,
            ),
        ]

    def pictures(self, data: Factors) -> list[Picture]:
        """Return the one picture."""
        return [
            Picture(
                self.name,
                "What GRPO makes of the gradient of the success probability p, for binary "
                "rewards and N samples: lines by the closed form, dots from the law of one "
                "update. Dashed: the limit N → ∞, 1/√(p(1 − p)), the gradient of 2·arcsin √p. "
                "Ticks at the left end: √(N − 1), the limit p → 0.",
                lambda: draw(data),
            )
        ]


def _runs(data: Factors) -> int:
    return int(data.two[0].sizes["run"])


def draw(data: Factors) -> Figure:
    """Draw the factor against p."""
    figure, (ax,) = sheet.row("c", height=3.0, width=4.8)
    for samples, colour in zip(SIZES, COLOURS, strict=False):
        ax.plot(GRID, data.curves[samples], color=colour, label=f"$N = {samples}$")
        ax.plot(
            [GRID[0]], [math.sqrt(samples - 1)], marker="_", markersize=12, color=colour,
            clip_on=False,
        )  # fmt: skip
        known = [data.known[p, samples] for p in SUCCESSES]
        ax.plot(SUCCESSES, known, "o", color=colour, markersize=3)
    ax.plot(GRID, (GRID * (1 - GRID)) ** -0.5, "--", color="black", label=r"$N \to \infty$")
    ax.set_xscale("logit")
    ax.set_xlim(GRID[0], GRID[-1])
    ax.set_xticks([0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
    ax.set_xticklabels(["0.001", "0.01", "0.1", "0.5", "0.9", "0.99", "0.999"])
    ax.minorticks_off()
    ax.set_yscale("log")
    ax.set_ylim(0.9, 12)
    ax.set_yticks([1, 2, 3, 5, 10], ["1", "2", "3", "5", "10"])
    ax.minorticks_off()
    ax.set_xlabel("success probability $p$")
    ax.set_ylabel(r"update / $\nabla p$")
    ax.spines[["top", "right"]].set_visible(False)
    name_lines(ax, "upper center", ncols=2)
    dots = mark("of the law of one update", linestyle="none", marker="o", markersize=3)
    ticks = mark(r"limit $\sqrt{N - 1}$ at $p \to 0$", linestyle="none", marker="_", markersize=12)
    explain(figure, band="", also=[dots, ticks])
    return figure


FIGURES = (
    OneUpdate(
        name="A7",
        title="One update of a group",
        says="The mean of a group that includes the sample itself shrinks the gradient by "
        "(N − 1)/N; leaving the sample out is unbiased; a median or a self-weighted centre is not "
        "even parallel to it. Dividing by the std multiplies the gradient of the success "
        "probability p of binary rewards by E[ŝ]/(p(1 − p)), ŝ = √(p̂(1 − p̂)): 1 for two samples, "
        "√(N − 1) for rare successes, and with many samples the gradient of 2·arcsin √p. Pass@k "
        "has the coefficient k(1 − p)^(k−1).",
        source="RLOO 2402.14740; GRPO 2402.03300; Dr. GRPO 2503.20783; OPO 2505.23585; pass@k "
        "2505.15201",
        settled=(
            "All rewards of a group equal: the advantage is exactly 0, whatever the rounding.",
            "The std has ddof = 0 and ε = 0.",
        ),
        described=(
            ("laws", "by multinomial counts over arms and rewards, no sampling"),
            ("binary rewards", "p = 0.01 to 0.5, N = 2 to 64"),
            ("three arms", "rewards (1, 0.7, 0), π = softmax(0, 1, 2), N = 4"),
            ("bits", "Bernoulli(0.7, 0.4), vanilla, α = 0.5, two samples, 200 updates"),
        ),
    ),
)
