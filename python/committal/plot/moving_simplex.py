"""Runs that move over the simplex."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from committal.plot.clock import pace, ticks
from committal.plot.ends import COUNT, count_heaps
from committal.plot.film import in_front
from committal.plot.panels import panels, triangle
from committal.plot.simplex import END, REACH, TRUE, policies_of, simplex
from committal.plot.words import literal

if TYPE_CHECKING:
    import xarray as xr

_NOW = "runs now (number: how many)"
_INCHES, _MARGIN, _TALL = 3.0, 1.0, 3.5


def pace_of(data: Mapping[str, xr.Dataset], max_runs: int | None) -> float:
    """Return the power of time by which half of the way is made in half of the frames."""
    paths = [policies_of("data", one)[:max_runs] for one in data.values()]
    first = next(iter(data.values()))
    return pace(first["time"].values, *paths)


def stage(
    data: Mapping[str, xr.Dataset],
    power: float,
    *,
    true_gradient: xr.Dataset | None,
    max_runs: int | None,
) -> tuple[Figure, Callable[[int], list[Artist]]]:
    """Draw a triangle per dataset, and return what puts the runs where they are at a time."""
    figure, axes = panels(len(data), "simplex")
    figure.set_size_inches(_INCHES * len(data) + _MARGIN, _TALL)
    movers = []
    for ax, (label, one) in zip(axes, data.items(), strict=True):
        simplex(
            one, ax, true_gradient=true_gradient, max_runs=max_runs, power=power, colorbar=False,
            legend=False,
        )  # fmt: skip
        if label:
            ax.set_title(literal(label), fontsize="medium")
        movers.append(_mover(ax, one, true_gradient, max_runs))
    (lines,) = (c for c in axes[0].collections if isinstance(c, LineCollection))
    times = next(iter(data.values()))["time"].values
    first, last = int(times[0]), int(times[-1])
    at = sorted({round(first + (last - first) * share) for share in ticks(power)})
    figure.colorbar(lines, ax=axes, label="update", shrink=0.7, pad=0.02, ticks=at)
    named = {label: line for line, label in zip(*axes[0].get_legend_handles_labels(), strict=True)}
    figure.legend(
        [named[key] for key in named], [_NOW if key == END else key for key in named],
        loc="outside lower center", ncols=3, frameon=False, fontsize="small", handlelength=1.2,
        columnspacing=1.0,
    )  # fmt: skip
    title = figure.suptitle(f"update {last}", fontsize="medium")

    def draw(time: int) -> list[Artist]:
        title.set_text(f"update {time}")
        for move in movers:
            move(time)
        return [title, *(artist for ax in axes for artist in in_front(ax))]

    return figure, draw


def _mover(
    ax: Axes, data: xr.Dataset, true_gradient: xr.Dataset | None, max_runs: int | None
) -> Callable[[int], None]:
    """Return what moves the paths, the dots and the numbers of one triangle."""
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    named: dict[str, Line2D] = {str(line.get_label()): line for line in ax.lines}
    times = data["time"].values
    paths = _projected(ax, policies_of("data", data)[:max_runs])
    segments = np.stack([paths[:, :-1], paths[:, 1:]], axis=2)
    expected = None
    if true_gradient is not None:
        expected = _projected(ax, policies_of("true_gradient", true_gradient)[:1])[0]

    def move(time: int) -> None:
        now = _index(times, time)
        done = segments[:, :now].reshape(-1, 2, 2)
        lines.set_segments(list(done))
        lines.set_array(np.tile(times[1 : now + 1], len(paths)).astype(np.float64))
        if len(paths):
            now_colour: Any = lines.to_rgba(np.array([float(times[now])]))[0]
            named[END].set_color(now_colour)
            for text in [text for text in ax.texts if text.get_gid() == COUNT]:
                text.remove()
            alone = count_heaps(ax, paths[:, now], REACH, "white")
            named[END].set_data(*paths[alone, now].T)
        if expected is not None and true_gradient is not None:
            until = _index(true_gradient["time"].values, time) + 1
            named[TRUE].set_data(*expected[:until].T)

    return move


def _projected(ax: Axes, policies: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    flat = triangle(ax).transProjection.transform(policies.reshape(-1, 3))
    return np.asarray(flat).reshape(*policies.shape[:2], 2)


def _index(times: npt.NDArray[np.int64], time: int) -> int:
    """The last recorded time that is not later."""
    return max(int(np.searchsorted(times, time, side="right")) - 1, 0)
