"""A6: follow the regularised leader: EXP3, EXP3-IX and Tsallis-INF."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from committal.analysis import quantiles
from committal.config import (
    Bandit,
    Decay,
    Experiment,
    Natural,
    OneSample,
    Record,
    ScaledSoftmax,
    Tsallis,
    update,
)
from committal.paper.figure import Picture, Table
from committal.paper.lab import Lab
from committal.paper.result import OURS, SIGMAS, TIMES, ComputedResult
from committal.paper.result_pictures import COLOURS, against_log_time, explain
from committal.paper.verdicts import Estimate, Finding, Verdict, all_positive
from committal.plot import sheet
from committal.plot.series import Series
from committal.plot.sheet import Figure
from committal.support.text import grouped

if TYPE_CHECKING:
    import xarray as xr

MEANS = (0.6, 0.5, 0.5, 0.5, 0.5)
STEPS = 100_000
RUNS, QUICK = 1000, 150
ASKED = (1000, 10_000, STEPS)
TOP = 0.99
ETA = math.sqrt(math.log(len(MEANS)) / len(MEANS))
#: ½ for an arm that is not rare: what its loss is expected to be.
HALF = "where(pi >= 16 / (t + 1), 0.5, 0)"

_EXP3, _IW = "A6_ftrl/exp3_losses", "A6_ftrl/tsallis_iw"
_NUMBERS: dict[str, dict[str, tuple[float, ...]]] = {
    _EXP3: {
        "mean": (61.952647, 240.21321, 458.48702),
        "sem": (0.39026076, 2.0518753, 2.822154),
        "q99": (90.404328, 434.37706, 710.93025),
    },
    _IW: {
        "mean": (55.579058, 183.55505, 334.9722),
        "sem": (0.5380161, 2.0953777, 2.77886),
        "q99": (94.932742, 374.96437, 588.57756),
    },
}
REFERENCES = {
    f"{place}/{name}/{i}": value
    for place, table in _NUMBERS.items()
    for name, values in table.items()
    for i, value in enumerate(values)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """A rule, and where its numbers are."""

    label: str
    experiment: Experiment
    place: str = ""
    colour: str


def _leader(policy: Any, **more: Any) -> Experiment:
    """Return losses 1 − R that are divided by the probability of the arm."""
    at = {0, *ASKED, *np.rint(np.geomspace(1, STEPS, TIMES)).astype(np.int64).tolist()}
    return Experiment(
        Bandit(MEANS, noise="bernoulli"),
        policy,
        more.pop("update", Natural(1)),
        baseline=1.0,
        steps=STEPS,
        record=Record("regret", at=sorted(at)),
        **more,
    )


LEADERS = (
    Leader(
        label="EXP3",
        experiment=_leader(ScaledSoftmax(scale=Decay(ETA, 0.5))),
        place=_EXP3,
        colour=COLOURS[0],
    ),
    Leader(
        label="EXP3-IX",
        experiment=_leader(
            ScaledSoftmax(scale=Decay(ETA, 0.5)),
            estimator=OneSample(implicit=Decay(ETA / 2, 0.5)),
        ),
        colour=COLOURS[5],
    ),
    Leader(
        label="Tsallis-INF (IW)",
        experiment=_leader(Tsallis(scale=Decay(2, 0.5))),
        place=_IW,
        colour=COLOURS[2],
    ),
    Leader(
        label="Tsallis-INF (RV)",
        experiment=_leader(
            Tsallis(scale=Decay(4, 0.5)),
            update=update(f"(A + {HALF}) * natural - {HALF}")(step_size=1),
        ),
        colour=COLOURS[4],
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class Led:
    """What became of a rule."""

    leader: Leader
    data: xr.Dataset

    def mean(self, time: int) -> Estimate:
        """Return the mean regret."""
        x = self.data["regret"].sel(time=time).values
        sem = float(x.std(ddof=1) / math.sqrt(len(x))) if len(x) > 1 else math.nan
        return Estimate.of_mean(float(x.mean()), sem)

    def top(self, time: int) -> Estimate:
        """Return the 99 % quantile."""
        found = quantiles(self.data, "regret", (TOP,), time=time).isel(quantile=0)
        return Estimate(*(float(found[name]) for name in ("estimate", "low", "high")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaders(ComputedResult[list[Led]]):
    """Regret with its spread."""

    def compute(self, lab: Lab) -> list[Led]:
        """Run every rule."""
        return [
            Led(one, lab.ensemble(one.experiment, RUNS, QUICK, f"A6 {one.label}"))
            for one in LEADERS
        ]

    def judge(self, data: list[Led]) -> list[Finding]:
        """Compare means and quantiles, and the rules with one another."""
        exp3, ix, iw, rv = data

        def less(a: Led, b: Led, claim: str) -> Finding:
            gap = b.mean(STEPS).minus(a.mean(STEPS))
            return all_positive(
                f"mean regret after {grouped(STEPS)} updates, {b.leader.label} less "
                f"{a.leader.label}",
                claim,
                str(gap),
                gap,
            )

        known = [one for one in data if one.leader.place]
        return [
            _agrees(
                "mean regret after 10³, 10⁴ and 10⁵ updates, EXP3 and Tsallis-INF (IW)",
                [
                    (
                        one.mean(t),
                        _NUMBERS[one.leader.place]["mean"][i],
                        _NUMBERS[one.leader.place]["sem"][i],
                    )
                    for one in known
                    for i, t in enumerate(ASKED)
                ],
            ),
            _agrees(
                "their 99 % quantiles",
                [
                    # Nobody says how well theirs are known: as well as ours, from as many runs.
                    (one.top(t), _NUMBERS[one.leader.place]["q99"][i], one.top(t).sem)
                    for one in known
                    for i, t in enumerate(ASKED)
                ],
            ),
            less(iw, exp3, "Tsallis-INF needs no ln K: less regret than EXP3"),
            less(rv, iw, "less variance, less regret"),
            less(exp3, ix, OURS + "on this problem implicit exploration costs regret on average"),
            _narrower(ix, exp3),
        ]

    def tables(self, data: list[Led]) -> list[Table]:
        """List means and quantiles."""
        rows = tuple(
            (one.leader.label, grouped(t), str(one.mean(t)), str(one.top(t)), *_theirs(one, i))
            for one in data
            for i, t in enumerate(ASKED)
        )
        header = (
            *("rule", "updates", "mean regret", "99 % quantile"),
            *("independent mean", "independent quantile"),
        )
        return [Table("Regret", header, rows)]

    def pictures(self, data: list[Led]) -> list[Picture]:
        """Return the one picture."""
        ends = "; ".join(f"{one.leader.label}: {one.mean(STEPS)}, {one.top(STEPS)}" for one in data)
        return [
            Picture(
                self.name,
                "Pseudo-regret on five Bernoulli arms (0.6 and four times 0.5), both axes "
                "logarithmic. Lines are means, bands go from the 1 % to the 99 % quantile of the "
                f"runs. After {grouped(STEPS)} updates, mean and 99 % quantile: {ends}.",
                lambda: draw(data),
            )
        ]


def _theirs(one: Led, i: int) -> tuple[str, str]:
    if not one.leader.place:
        return "–", "–"
    table = _NUMBERS[one.leader.place]
    return f"{table['mean'][i]:.5g} ± {table['sem'][i]:.1g}", f"{table['q99'][i]:.5g}"


def _agrees(what: str, rows: Sequence[tuple[Estimate, float, float]]) -> Finding:
    """Return whether numbers are those of an independent implementation."""
    far = [abs(ours.estimate - value) / math.hypot(ours.sem, error) for ours, value, error in rows]
    told = all(math.isfinite(ours.sem) for ours, _, _ in rows)
    verdict = Verdict.HOLDS if max(far) < SIGMAS else Verdict.FAILS
    return Finding(
        what,
        "same numbers as an independent implementation",
        f"{len(rows)} numbers, at most {max(far):.1f} standard errors apart",
        verdict if told else Verdict.UNDECIDED,
        f"less than {SIGMAS:g} standard errors",
    )


def _narrower(one: Led, other: Led) -> Finding:
    """Return whether regret is spread less, by its standard deviation early on."""
    early = ASKED[0]
    spreads = [float(each.data["regret"].sel(time=early).std(ddof=1)) for each in (one, other)]
    runs = one.data.sizes["run"]
    gap = Estimate.of_mean(spreads[1] - spreads[0], math.hypot(*spreads) / math.sqrt(2 * runs))
    return all_positive(
        f"standard deviation of regret after {grouped(early)} updates, {other.leader.label} less "
        f"{one.leader.label}",
        "implicit exploration bounds regret with high probability, not on average",
        f"{spreads[1]:.1f} − {spreads[0]:.1f} = {gap}",
        gap,
    )


def _series(one: Led) -> Series:
    data = one.data.isel(time=slice(1, None))
    x = data["regret"].values
    low, high = np.quantile(x, [1 - TOP, TOP], axis=0)
    times = data["time"].values.astype(np.float64)
    return Series(one.leader.label, one.leader.colour, times, x.mean(axis=0), low, high)


def draw(data: Sequence[Led]) -> Figure:
    """Draw both families side by side."""
    figure, axes = sheet.row("cc", height=2.8, share_y=True)
    for ax, pair, title in zip(
        axes, (data[:2], data[2:]), ("softmax of the losses", "Tsallis"), strict=True
    ):
        against_log_time(
            ax,
            [_series(one) for one in pair],
            ylabel="pseudo-regret" if ax is axes[0] else "",
            legend="upper left",
            title=title,
        )
        ax.set_yscale("log")
        ax.set_xlim(10, STEPS)
        ax.set_ylim(0.5, 2000)
    explain(figure, *axes, band="from the 1 % to the 99 % quantile of the runs")
    return figure


FIGURES = (
    Leaders(
        name="A6",
        title="Follow the regularised leader",
        says="With θ = −L, the sum of the losses divided by their probabilities, natural gradient "
        "is follow the regularised leader, and the scale of θ its learning rate: a softmax of "
        "η_t θ is EXP3, with γ added to the probability that a loss is divided by EXP3-IX, and "
        "π = 4/(x − η_t θ)² Tsallis-INF. Its regret is smaller, more so with a reduced variance.",
        source="Zimmert & Seldin 1807.07623; Neu 2015",
        own="the comparison of all four on this problem; how a scale is kept: docs/groups.md, "
        "“Policies with a scale”.",
        settled=(
            "Of EXP3-IX and of reduced variance there are no independent numbers: they are "
            "compared with the other two.",
            "The learning rates count updates from 1, so that the first policy is uniform "
            "whatever they are.",
        ),
        described=(
            ("problem", "Bernoulli(0.6, 0.5, 0.5, 0.5, 0.5), losses 1 − R"),
            ("EXP3", "η_t = √(ln K / (tK)); IX: γ_t = η_t / 2"),
            ("Tsallis-INF", "IW η_t = 2/√t; RV η_t = 4/√t, B = ½ where π ≥ η_t²"),
            ("updates", grouped(STEPS)),
            ("runs", f"{grouped(RUNS)} per rule; {grouped(QUICK)} with --quick"),
        ),
    ),
)
