"""Gridworlds: the map with goals and values, arrows for policies, and where runs have been."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.image import AxesImage

from committal.config import Gridworld
from committal.config.gridworld import MOVES
from committal.errors import ConfigError, ConfigTypeError
from committal.plot import arguments
from committal.plot.panels import given_or_new
from committal.simulation.dataset import experiment_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["grid", "visits"]

Floats = npt.NDArray[np.float64]

WALL = "#4a4a4a"
GOAL = "#f6e3b4"
FLOOR = "white"


def grid(
    problem: Gridworld,
    values: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    cmap: str = "viridis",
    numbers: bool = False,
    colorbar: bool | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
) -> Axes:
    """Draw the map of a gridworld, coloured by values and with the arrows of a policy.

    Goals show their letter and reward, the start its letter. An arrow is as long as its action
    is probable: the longest reaches the edge of its cell.

    Parameters
    ----------
    problem : Gridworld
        What to draw.
    values : array_like, shape (S,), optional
        One number per state, such as ``cm.evaluate(problem).V``. Goals keep their own colour.
    policy : array_like, shape (S, A), optional
        pi(a|s), such as ``cm.optimal(problem).policy``.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    cmap : str, optional
        Colour map of the values.
    numbers : bool, optional
        Write the values into the cells.
    colorbar : bool, optional
        Explain the colours beside the map; by default in a new figure.
    vmin, vmax : float, optional
        Ends of the colours, such as those of a map beside this one; the range of the values of
        the states that are acted in by default.

    Returns
    -------
    matplotlib.axes.Axes
        The map, with its first row on top.

    Examples
    --------
    >>> import committal as cm
    >>> rooms = cm.maps.four_rooms()
    >>> best = cm.optimal(rooms)
    >>> ax = cm.plot.grid(rooms, best.V, best.policy)
    """
    if not isinstance(problem, Gridworld):
        raise ConfigTypeError("problem", problem, "a Gridworld, made by committal.gridworld")
    v = None if values is None else _array("values", values, (problem.n_states,))
    pi = None
    if policy is not None:
        pi = _array("policy", policy, (problem.n_states, problem.n_actions))
    alone, ax = ax is None, given_or_new(ax, "grid")

    draw_map(ax, problem)
    dark = np.zeros(problem.n_states, np.bool_)
    if v is not None:
        acting = v[~problem.is_terminal]
        norm = Normalize(
            float(acting.min()) if vmin is None else vmin,
            float(acting.max()) if vmax is None else vmax,
        )
        image = colour_cells(ax, problem, v, cmap, norm)
        dark = is_dark(image, v) & ~problem.is_terminal
        if alone if colorbar is None else colorbar:
            ax.figure.colorbar(image, ax=ax, label="value", shrink=0.8)
    if pi is not None:
        _draw_arrows(ax, problem, pi, dark)
    if v is not None and numbers:
        _write_numbers(ax, problem, v, dark, raised=pi is not None)
    write_letters(ax, problem, dark)
    return ax


def visits(
    data: xr.Dataset,
    ax: Axes | None = None,
    *,
    run: int | None = None,
    cmap: str = "magma",
    colorbar: bool = True,
    vmin: float | None = None,
    vmax: float | None = None,
) -> Axes:
    """Draw how often each cell of a gridworld was acted in, in logarithmic colours.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the visits, ``Record("visits")``; the last recorded time is drawn.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    run : int, optional
        The number of one run; the mean over all runs by default.
    cmap : str, optional
        Colour map of the counts. Cells that were never visited stay white.
    colorbar : bool, optional
        Explain the colours beside the map.
    vmin, vmax : float, optional
        Ends of the colours, such as those of a map beside this one; the range of the counts by
        default.

    Returns
    -------
    matplotlib.axes.Axes
        The map.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.maps.five_by_five(), cm.Softmax(), cm.Vanilla(0.1), estimator=cm.Reinforce(),
    ...     steps=100, record=cm.Record("visits"),
    ... )
    >>> ax = cm.plot.visits(cm.run(exp, runs=10, rng=0))
    """
    counts = _counts(data, run)
    problem = experiment_of(data).problem
    if not isinstance(problem, Gridworld):
        raise ConfigError("data", problem, "the result of an experiment with a Gridworld")
    ax = given_or_new(ax, "grid")
    draw_map(ax, problem)
    visited = counts > 0.0
    dark = np.zeros(problem.n_states, np.bool_)
    if visited.any():
        low = float(counts[visited].min()) if vmin is None else vmin
        high = float(counts.max()) if vmax is None else vmax
        if low <= 0.0:
            raise ConfigError("vmin", low, "above 0: the colours are logarithmic")
        # One colour needs a range, too.
        norm = LogNorm(low, high if high > low else 2.0 * low)
        image = colour_cells(ax, problem, np.where(visited, counts, np.nan), cmap, norm)
        dark = is_dark(image, counts) & visited
        if colorbar:
            ax.figure.colorbar(image, ax=ax, label="visits", shrink=0.8)
    write_letters(ax, problem, dark)
    return ax


def _array(argument: str, given: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(given)
    if array.dtype.kind not in "iuf":
        raise ConfigTypeError(argument, given, f"numbers of shape {shape}")
    if array.shape != shape:
        raise ConfigError(argument, given, f"shape {shape}; the shape is {array.shape}")
    return array.astype(np.float64)


def _counts(data: xr.Dataset, run: int | None) -> Floats:
    arguments.dataset("data", data)
    if "visits" in data and "run" in data["visits"].dims:
        found = data["visits"].isel(time=-1)
        if run is None:
            return np.asarray(found.mean("run").values, np.float64)
        if run not in found["run"].values:
            raise ConfigError("run", run, "the number of one of the runs of data")
        return np.asarray(found.sel(run=run).values, np.float64)
    if "visits_mean" in data:
        if run is not None:
            raise ConfigError("run", run, "None: these data were reduced over runs")
        return np.asarray(data["visits_mean"].isel(time=-1).values, np.float64)
    raise arguments.lacks("data", data, "the visits, Record('visits')")


def draw_map(ax: Axes, problem: Gridworld) -> None:
    rows = problem.rows
    rewards = dict(problem.rewards)
    kinds = np.array([[0 if c == "#" else 2 if c in rewards else 1 for c in row] for row in rows])
    ax.imshow(kinds, cmap=ListedColormap([WALL, FLOOR, GOAL]), vmin=-0.5, vmax=2.5, zorder=0)
    height, width = kinds.shape
    for i in range(height + 1):
        ax.axhline(i - 0.5, color=WALL, linewidth=0.4, zorder=2)
    for j in range(width + 1):
        ax.axvline(j - 0.5, color=WALL, linewidth=0.4, zorder=2)
    ax.set_xlim(-0.5, width - 0.5)
    ax.set_ylim(height - 0.5, -0.5)
    ax.set_xticks([])
    ax.set_yticks([])


def colour_cells(ax: Axes, problem: Gridworld, v: Floats, cmap: str, norm: Normalize) -> AxesImage:
    """Colour the cells that are acted in; NaN stays as it is."""
    return ax.imshow(on_map(problem, v), cmap=colormaps[cmap], norm=norm, zorder=1)


def on_map(problem: Gridworld, v: Floats) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
    """Put the numbers of states where their cells are, of those that are acted in."""
    cells = np.full((len(problem.rows), len(problem.rows[0])), np.nan)
    for s in np.flatnonzero(~problem.is_terminal):
        cells[problem.cells[s]] = v[s]
    return np.ma.masked_invalid(cells)


def is_dark(image: AxesImage, v: Floats) -> npt.NDArray[np.bool_]:
    """Say on which colours black could not be read."""
    colours: Any = image.cmap(image.norm(np.ma.masked_invalid(v)))
    luminance = np.asarray(colours)[:, :3] @ np.array([0.299, 0.587, 0.114])
    return np.asarray(luminance < 0.5)


def _draw_arrows(ax: Axes, problem: Gridworld, pi: Floats, dark: npt.NDArray[np.bool_]) -> None:
    for s in np.flatnonzero(~problem.is_terminal):
        row, column = problem.cells[s]
        for (down, right), p in zip(MOVES.values(), pi[s], strict=True):
            if p < 0.02:
                continue  # an arrow shorter than its head says nothing
            ax.arrow(
                column, row, 0.45 * p * right, 0.45 * p * down,
                head_width=0.16 * p, head_length=0.14 * p, length_includes_head=True,
                linewidth=0.8, color="white" if dark[s] else "black", zorder=4,
            )  # fmt: skip


def _write_numbers(
    ax: Axes, problem: Gridworld, v: Floats, dark: npt.NDArray[np.bool_], *, raised: bool
) -> None:
    size = _font_size(ax, problem)
    for s in np.flatnonzero(~problem.is_terminal):
        row, column = problem.cells[s]
        ax.text(
            column, row + (0.36 if raised else 0.0), f"{v[s]:.2f}", ha="center", va="center",
            fontsize=0.75 * size, color="white" if dark[s] else "black", zorder=5,
        )  # fmt: skip


def write_letters(ax: Axes, problem: Gridworld, dark: npt.NDArray[np.bool_]) -> None:
    rewards = dict(problem.rewards)
    size = _font_size(ax, problem)
    for s, (row, column) in enumerate(problem.cells):
        letter = problem.rows[row][column]
        if letter in rewards:
            ax.text(
                column, row, f"{letter}\n{rewards[letter]:g}", ha="center", va="center",
                fontsize=size, fontweight="bold", linespacing=1.0, zorder=5,
            )  # fmt: skip
        elif letter == problem.start_letter:
            ax.text(
                column - 0.45, row - 0.45, letter, ha="left", va="top",
                fontsize=size, fontweight="bold", color="white" if dark[s] else "black",
                zorder=5,
            )  # fmt: skip


def _font_size(ax: Axes, problem: Gridworld) -> float:
    """Return a size of letters, in points, of which two lines fit into a cell."""
    box, figure = ax.get_position(), ax.figure
    rows, columns = len(problem.rows), len(problem.rows[0])
    pixels = min(box.width * figure.bbox.width / columns, box.height * figure.bbox.height / rows)
    cell = 72.0 * pixels / figure.dpi
    return float(np.clip(0.4 * cell, 3.0, 10.0))
