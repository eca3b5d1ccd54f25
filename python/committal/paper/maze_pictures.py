"""Drawing the figures of mazes from what was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from committal import plot
from committal.config import Gridworld
from committal.paper.pictures import failing_band, mean_band, name_curves
from committal.plot import sheet
from committal.plot.series import Series, series
from committal.plot.sheet import Figure

if TYPE_CHECKING:
    from committal.paper.maze_figure import MazeOutcome

#: Recorded episodes that are averaged into one point.
WINDOW = 5

#: What the letter of a case is, by letter.
BASELINES = {
    "ε": r"baseline $b^* + \epsilon$:",
    "c": r"baseline $b^* + c\,(\max_a Q - b^*)$:",
    "b": "constant baseline $b$:",
}

PANELS = (
    ("return", "discounted return"),
    ("action_entropy", "action entropy (nats)"),
    ("state_entropy", "state entropy (nats)"),
)


def curves_row(data: Sequence[MazeOutcome], problem: Gridworld | None) -> Figure:
    """Draw returns and entropies with one standard error, and the map if there is one."""
    if problem is None:
        figure, axes = sheet.row("ccc", height=2.1)
    else:
        figure, axes = sheet.row("gccc", height=1.95, ratios=[0.95, 1.0, 1.0, 1.0])
        plot.grid(problem, ax=axes[0])
        axes = axes[1:]
    for ax, (name, label) in zip(axes, PANELS, strict=True):
        series(ax, [_averaged(one, name) for one in data], xlabel="episode", ylabel=label)
        ax.set_xlim(0, max(one.case.experiment.steps for one in data))
    what = BASELINES[data[0].case.label[0]]
    name_curves(figure, axes[0], band="± 1 standard error", what=what)
    return figure


def precise_row(data: Sequence[MazeOutcome], below: float) -> Figure:
    """Draw values, entropies and the fraction of stuck runs of many runs."""
    figure, axes = sheet.row("cccc", height=1.9)
    names = (("value", r"value $J(\theta)$"), *PANELS[1:])
    for ax, (name, label) in zip(axes, names, strict=False):
        series(ax, [mean_band(one, name) for one in data], xlabel="episode", ylabel=label)
    stuck = axes[-1]
    series(
        stuck,
        [failing_band(one) for one in data],
        xlabel="episode",
        ylabel=f"runs with $J < {below:g}$ (fraction)",
    )
    stuck.set_ylim(-0.02, 1.02)
    what = BASELINES[data[0].case.label[0]]
    name_curves(figure, axes[0], band="95 % interval", what=what)
    return figure


def _averaged(one: MazeOutcome, name: str) -> Series:
    """Average next to each other in time, then over runs."""
    x = one.sample[name].values
    times = one.sample["time"].values.astype(np.float64)
    points = x.shape[1] // WINDOW
    if points < 2:
        blocks, at = x, times
    else:
        blocks = x[:, : points * WINDOW].reshape(len(x), points, WINDOW).mean(axis=2)
        at = times[: points * WINDOW].reshape(points, WINDOW).mean(axis=1)
    mean = blocks.mean(axis=0)
    sem = blocks.std(axis=0, ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.zeros_like(mean)
    return Series(one.case.latex, one.case.colour, at, mean, mean - sem, mean + sem)
