"""Drawing the bandit figures from what was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from committal import plot
from committal.analysis import failure_rate
from committal.analysis.failures import SURE
from committal.paper.pictures import TITLE_PAD, failing_band, mean_band, name_curves, shared_pace
from committal.plot import sheet
from committal.plot.corners import name_corners
from committal.plot.fates import fates
from committal.plot.levels import BELOW_WORDS, ends_below
from committal.plot.series import NONE_SEEN, series
from committal.plot.sheet import Axes, Figure, blended, mark

if TYPE_CHECKING:
    import xarray as xr

    from committal.paper.bandit_figure import BanditOutcome

#: Where axes of rates end.
LEAST_RATE = 1e-6
#: Where what holds after infinitely many updates is marked, the axis ending at 1.
BEYOND = 1.1
EXACT = "exact, t → ∞, with its error (triangle: below the axis)"
#: What titles of triangles mean. Whether it is for ever, an end does not say.
WRONG = f"wrong: $J < {{:g}}$ at the end, sure of one arm ($\\pi \\geq {SURE:g}$)"
LATE = "late: $J < {:g}$, not sure"
#: The corners of the simplex.
ARMS = ("arm 1\n$r = 1$", "arm 2, $r = 0.7$", "arm 3\n$r = 0$")


def simplex_row(data: Sequence[BanditOutcome], runs: int, below: float) -> Figure:
    """Draw the paths of runs on the simplex, one panel per case."""
    figure, axes = sheet.row("s" * len(data), height=2.45 if len(data) > 3 else 2.9)
    shown = [one.sample.isel(run=slice(runs)) for one in data]
    power = shared_pace([each["policy"] for each in shown])
    for one, each, ax in zip(data, shown, axes, strict=True):
        plot.simplex(each, ax, true_gradient=one.path, max_runs=None, power=power)
        name_corners(ax, ARMS)
        ax.set_title(_ends(one, each, below), pad=TITLE_PAD)
    words = (WRONG, LATE) if any("late" in ax.get_title() for ax in axes) else (WRONG,)
    for word in words:
        axes[0].add_line(mark(word.format(below), linestyle="none"))
    sheet.time_bar(figure, axes, power)
    sheet.key(figure, *axes, ncols=3)
    return figure


def curves_row(data: Sequence[BanditOutcome], runs: int, below: float, *, what: str = "") -> Figure:
    """Draw values against time in the colours of their outcome, one panel per case."""
    figure, axes = sheet.row("c" * len(data), share_y=True, height=2.1)
    words = (f"ends at {below:g} or above", *BELOW_WORDS)
    for one, ax in zip(data, axes, strict=True):
        shown = one.sample.isel(run=slice(runs))
        value, (failed, moving) = shown["value"].values, ends_below(shown, below)
        fates(ax, shown["time"].values, value, failed, moving=moving, words=words)
        ax.axhline(
            below, color="grey", linewidth=0.5, linestyle=":", zorder=1, label=f"$J = {below:g}$"
        )
        ax.set_title(_title(one, runs, below, what or f"below {below:g}"))
    axes[0].set_ylabel(r"value $J(\theta)$")
    sheet.key(figure, *axes)
    return figure


def precise_row(data: Sequence[BanditOutcome], below: float) -> Figure:
    """Draw mean value, mean entropy and the fraction of failures of many runs."""
    figure, axes = sheet.row("ccc", height=2.3)
    value, entropy, failing = axes
    series(value, [mean_band(one, "value") for one in data], ylabel=r"mean value $J(\theta)$")
    series(entropy, [mean_band(one, "entropy") for one in data], ylabel="mean entropy of π (nats)")
    series(
        failing,
        [failing_band(one) for one in data],
        ylabel=f"runs with $J < {below:g}$ (fraction)",
        log=True,
    )
    low, _ = failing.get_ylim()
    failing.set_ylim(max(low, LEAST_RATE), 1.3)
    _mark_exact(failing, data)
    name_curves(figure, value, band="95 % interval")
    _explain(figure, failing)
    return figure


def _ends(one: BanditOutcome, shown: xr.Dataset, below: float) -> str:
    """Say how many of the runs that are drawn are on a worse arm, and how many are on the way."""
    failed, moving = ends_below(shown, below)
    late = 0 if moving is None else int(moving.sum())
    wrong = f"{one.case.latex}: {int(failed.sum()) - late} of {len(failed)} wrong"
    return f"{wrong}, {late} late" if late else wrong


def _title(one: BanditOutcome, runs: int, below: float, what: str) -> str:
    seen = failure_rate(one.sample.isel(run=slice(runs)), below)
    if seen.runs == 100:
        return f"{one.case.latex}: {seen.failures} % {what}"
    return f"{one.case.latex}: {seen.failures} of {seen.runs} {what}"


def _mark_exact(ax: Axes, data: Sequence[BanditOutcome]) -> None:
    """Mark, right of the axis, what is left after infinitely many updates.

    No run reaches that time, so the marks do not stand at one that some runs reach.
    """
    known = [(one.exact, one.case.colour) for one in data if one.exact is not None]
    bottom, _ = ax.get_ylim()
    place = blended(ax)
    for answer, colour in known:
        hidden = answer.estimate < bottom
        at = max(answer.estimate, bottom)
        below, above = at - max(answer.low, bottom), max(answer.high, bottom) - at
        ax.errorbar(
            [BEYOND], [at], [[max(below, 0.0)], [max(above, 0.0)]], fmt="v" if hidden else "D",
            color=colour, markersize=4, markeredgecolor="white", markeredgewidth=0.5,
            elinewidth=0.9, capsize=1.5, clip_on=False, zorder=5, transform=place,
            label=EXACT,
        )  # fmt: skip
    if known:
        ax.text(BEYOND, -0.03, "∞", transform=ax.transAxes, ha="center", va="top")


def _explain(figure: Figure, ax: Axes) -> None:
    """Say below the row what dotted lines and diamonds are, where there are any."""
    handles = []
    labels = ax.get_legend_handles_labels()[1]
    if NONE_SEEN in labels:
        handles.append(mark(NONE_SEEN, linestyle=":", marker="v", markersize=3.5, linewidth=0.9))
    if EXACT in labels:
        handles.append(mark(EXACT, linestyle="none", marker="D", markersize=4))
    if handles:
        figure.legend(handles=handles, loc="outside lower right", ncols=2, frameon=False)
