"""What pictures of bandits and of mazes share: bands of many runs, and how they are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from committal.analysis import mean_curves, proportion_interval
from committal.paper.outcome import CaseOutcome
from committal.plot.clock import pace
from committal.plot.series import Series
from committal.plot.sheet import Axes, Figure, mark, patch

if TYPE_CHECKING:
    import xarray as xr

#: Points between a triangle and its title, for the name of the upper corner.
TITLE_PAD = 16.0


def mean_band(one: CaseOutcome, name: str) -> Series:
    """Return the mean of a quantity over many runs, with its band."""
    curve = mean_curves(one.ensemble, name)
    times = curve["time"].values.astype(np.float64)
    middle, low, high = (curve[part].values for part in ("estimate", "low", "high"))
    return Series(one.case.latex, one.case.colour, times, middle, low, high)


def failing_band(one: CaseOutcome) -> Series:
    """Return the fraction of many runs that are below the level, with its band."""
    failures, runs = one.ensemble["failures"].values, int(one.ensemble["count"])
    low, high = proportion_interval(failures, runs)
    times = one.ensemble["time"].values.astype(np.float64)
    return Series(one.case.latex, one.case.colour, times, failures / runs, low, high)


def shared_pace(paths: Sequence[xr.DataArray]) -> float:
    """Return the power of time by which panels side by side are coloured alike."""
    found = [pace(path["time"].values, path.transpose("run", "time", ...).values) for path in paths]
    return float(np.exp(np.mean(np.log(found))))


def name_curves(figure: Figure, ax: Axes, *, band: str, what: str = "") -> None:
    """Name the curves above the row, side by side, between what they and what their bands are."""
    handles = [
        *([mark(what, linestyle="none")] if what else []),
        *ax.get_legend_handles_labels()[0],
    ]
    handles.append(patch(band))
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles),
        frameon=False,
        columnspacing=1.2,
    )
