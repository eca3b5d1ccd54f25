"""Gridworlds over time: where runs have been so far, and what they would do now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from committal.config import Gridworld
from committal.config.gridworld import MOVES
from committal.errors import ConfigError
from committal.plot import arguments
from committal.plot.clock import pace
from committal.plot.film import in_front
from committal.plot.maze import colour_cells, draw_map, is_dark, on_map, write_letters
from committal.plot.panels import panels
from committal.plot.words import literal
from committal.simulation.dataset import experiment_of

if TYPE_CHECKING:
    import xarray as xr

Floats = npt.NDArray[np.float64]

# Inches of a map, beside the maps and above them.
_INCHES, _LOW, _HIGH, _SIDE, _TITLES = 3.2, 1.2, 5.0, 0.8, 0.6
_CMAP = "magma"
_LEAST = 0.02  # shorter arrows say nothing


class Recorded:
    """What a dataset says about a map over time, of one run or of the mean of all."""

    def __init__(self, data: xr.Dataset, run: int | None) -> None:
        arguments.dataset("data", data)
        problem = experiment_of(data).problem
        if not isinstance(problem, Gridworld):
            raise ConfigError("data", problem, "the result of an experiment with a Gridworld")
        self.problem = problem
        self.policy = _over_time(data, "policy", run, ("time", "state", "action"))
        self.visits = _over_time(data, "visits", run, ("time", "state"))
        if self.policy is None and self.visits is None:
            raise arguments.lacks(
                "data", data, "the policy or the visits, Record('policy', 'visits', every=...)"
            )
        self.times = data["time"].values
        arguments.several_times("data", self.times, "policy")

    def pace(self) -> float:
        """Return the power of time by which half of the way is made in half of the frames."""
        if self.policy is not None:
            return pace(self.times, self.policy.reshape(1, len(self.times), -1))
        assert self.visits is not None
        shares = self.visits / np.maximum(self.visits.sum(axis=1, keepdims=True), 1.0)
        return pace(self.times, shares[None])


def _over_time(
    data: xr.Dataset, name: str, run: int | None, dims: tuple[str, ...]
) -> Floats | None:
    if name in data and "run" in data[name].dims:
        if run is None:
            chosen = data[name].mean("run")
        elif run in data["run"].values:
            chosen = data[name].sel(run=run)
        else:
            raise ConfigError("run", run, "the number of one of the runs of data")
    elif f"{name}_mean" in data:
        if run is not None:
            raise ConfigError("run", run, "None: these data were reduced over runs")
        chosen = data[f"{name}_mean"]
    else:
        return None
    return np.asarray(chosen.transpose(*dims).values, np.float64)


def stage(found: Mapping[str, Recorded]) -> tuple[Figure, Callable[[int], list[Artist]]]:
    """Draw a map per dataset, and return what puts everything as it is at a time."""
    figure, axes = panels(len(found), "grid")
    shapes = [(len(one.problem.rows), len(one.problem.rows[0])) for one in found.values()]
    tall = min(max(_INCHES * max(rows / columns for rows, columns in shapes), _LOW), _HIGH)
    figure.set_size_inches(_INCHES * len(found) + _SIDE, tall + _TITLES)
    norm = _norm(found)
    movers, coloured = [], None
    for ax, (label, one) in zip(axes, found.items(), strict=True):
        draw_map(ax, one.problem)
        if label:
            ax.set_title(literal(label), fontsize="medium")
        image = None
        if one.visits is not None and norm is not None:
            coloured = image = colour_cells(ax, one.problem, _seen(one.visits[-1]), _CMAP, norm)
        write_letters(ax, one.problem, np.zeros(one.problem.n_states, np.bool_))
        movers.append(_mover(ax, one, image))
    if coloured is not None:
        figure.colorbar(coloured, ax=axes, label="visits so far", shrink=0.8, pad=0.02)
    title = figure.suptitle("episode", fontsize="medium")

    def draw(time: int) -> list[Artist]:
        title.set_text(f"episode {time}")
        for move in movers:
            move(time)
        return [title, *(artist for ax in axes for artist in in_front(ax))]

    return figure, draw


def _seen(counts: Floats) -> Floats:
    return np.where(counts > 0.0, counts, np.nan)


def _norm(found: Mapping[str, Recorded]) -> LogNorm | None:
    """One scale for all maps and times: what is compared has the same colours."""
    counts = [one.visits[one.visits > 0.0] for one in found.values() if one.visits is not None]
    seen = np.concatenate(counts) if counts else np.empty(0)
    if not seen.size:
        return None
    low, high = float(seen.min()), float(seen.max())
    return LogNorm(low, high if high > low else 2.0 * low)


def _mover(ax: Axes, one: Recorded, image: AxesImage | None) -> Callable[[int], None]:
    """Return what changes the colours, the arrows and the ink of one map."""
    problem = one.problem
    arrows = PolyCollection([], linewidths=0.6, zorder=4)
    ax.add_collection(arrows, autolim=False)
    starts = [text for text in ax.texts if text.get_text() == problem.start_letter]
    start = int(np.flatnonzero(problem.start_distribution)[0])

    def move(time: int) -> None:
        now = max(int(np.searchsorted(one.times, time, side="right")) - 1, 0)
        dark = np.zeros(problem.n_states, np.bool_)
        if image is not None and one.visits is not None:
            counts = _seen(one.visits[now])
            image.set_data(on_map(problem, counts))
            dark = is_dark(image, counts) & (one.visits[now] > 0.0)
        if one.policy is not None:
            shapes, states = arrow_shapes(problem, one.policy[now])
            arrows.set_verts(shapes)
            arrows.set_color(["white" if dark[s] else "black" for s in states])
        for text in starts:
            text.set_color("white" if dark[start] else "black")

    return move


def arrow_shapes(problem: Gridworld, policy: Floats) -> tuple[list[Floats], list[int]]:
    """Return the corners of the arrows, as long as their action is probable, and their states.

    Examples
    --------
    >>> from committal.config import gridworld
    >>> east = np.tile([0.0, 1.0, 0.0, 0.0], (3, 1))
    >>> shapes, states = arrow_shapes(gridworld("S.A", goals={"A": 1}), east)
    >>> states, float(shapes[0][:, 0].max())
    ([0, 1], 0.45)
    """
    # Along x from 0 to 1: a shaft and a head.
    form = np.array([[0, 0.04], [0.6, 0.04], [0.6, 0.24], [1, 0], [0.6, -0.24], [0.6, -0.04],
                     [0, -0.04]])  # fmt: skip
    shapes, states = [], []
    for s in np.flatnonzero(~problem.is_terminal):
        row, column = problem.cells[s]
        for (down, right), p in zip(MOVES.values(), policy[s], strict=True):
            if p >= _LEAST:
                turned = form @ np.array([[right, down], [-down, right]])
                shapes.append(0.45 * p * turned + np.array([column, row]))
                states.append(int(s))
    return shapes, states
