"""Heat maps of a quantity over two axes of a study: phase diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from committal.analysis import failure_rates
from committal.analysis.failures import SURE
from committal.errors import ConfigError, ConfigTypeError
from committal.plot.panels import given_or_new
from committal.plot.words import axis_name, literal

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["heatmap"]

Floats = npt.NDArray[np.float64]

_MOST_TICKS = 9
_LETTERS = 36


#: What circles mean.
LATE = f"most of the failures have not finished (no $\\pi \\geq {SURE:g}$)"


def heatmap(
    data: xr.Dataset | xr.DataArray,
    x: str | None = None,
    y: str | None = None,
    ax: Axes | None = None,
    *,
    below: float | None = None,
    contours: Sequence[float] = (),
    cmap: str = "cividis",
    vmin: float | None = None,
    vmax: float | None = None,
    colorbar: bool = True,
) -> Axes:
    """Draw a quantity as colours over two axes.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataArray
        An array with two axes; a dataset made by an analysis, of which `estimate` is drawn; or a
        result of a study, of which the failure rate is drawn. Circles mark where most failures have
        not finished, if the policies were recorded.
    x, y : str, optional
        The axes to draw; the last one and the first one by default.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    below : float, optional
        What a failure is, for results that do not know it.
    contours : sequence of float, optional
        Levels to draw as black lines, in the map and on the scale of its colours.
    cmap : str, optional
        Colour map.
    vmin, vmax : float, optional
        Ends of the colours; 0 and 1 for failure rates, otherwise the range of the numbers.
    colorbar : bool, optional
        Explain the colours.

    Returns
    -------
    matplotlib.axes.Axes
        Axes of numbers that grow by equal factors are logarithmic. Ticks are points of the grid.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), -1.0, steps=50
    ... )
    >>> grid = {"baseline.c": [-1.0, 0.0, 1.0], "update.step_size": [0.05, 0.1, 0.2]}
    >>> ax = cm.plot.heatmap(cm.Study(exp, grid, runs=100, rng=0).run(), below=0.5)
    """
    array, label, vmin, vmax, late = _array(data, below, vmin, vmax)
    axes = [str(dim) for dim in array.dims]
    if len(axes) != 2:
        raise ConfigError(
            "data", dict(array.sizes), "two axes: select points of the others with data.sel"
        )
    y = (axes[0] if x != axes[0] else axes[1]) if y is None else y
    x = (axes[1] if y != axes[1] else axes[0]) if x is None else x
    if {x, y} != set(axes):
        raise ConfigError("x, y", (x, y), f"the axes {axes[0]!r} and {axes[1]!r}")
    ax = given_or_new(ax, "curves")
    values = array.transpose(y, x).values
    x_at, x_edges, x_log = _scale(array[x].values)
    y_at, y_edges, y_log = _scale(array[y].values)
    mesh = ax.pcolormesh(x_edges, y_edges, values, cmap=cmap, vmin=vmin, vmax=vmax)
    mesh.set_rasterized(True)  # a thousand cells would make a slow vector picture
    lines = None
    if len(contours):
        levels = sorted(contours)
        lines = ax.contour(x_at, y_at, values, levels=levels, colors="black", linewidths=1)
    if late is not None and late.any():
        across, up = np.meshgrid(x_at, y_at)
        marked = late.transpose(y, x).values
        ax.plot(
            across[marked], up[marked], "o", color="white", markeredgecolor="black", markersize=5,
            label=LATE,
        )  # fmt: skip
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize="small")
    if x_log:
        ax.set_xscale("log")
    if y_log:
        ax.set_yscale("log")
    for axis, labels, at in ((ax.xaxis, array[x].values, x_at), (ax.yaxis, array[y].values, y_at)):
        # At points of the grid: a round number between them was never run.
        names = [_name(label) for label in labels.tolist()]
        # Side by side there is room for so many letters.
        most = _MOST_TICKS
        if axis is ax.xaxis:
            most = max(2, min(most, _LETTERS // (1 + max(map(len, names), default=0))))
        if labels.dtype.kind not in "if":
            most = at.size  # every name is needed
        every = slice(None, None, max(1, -(-at.size // most)))
        axis.set_ticks(at[every], names[every])
        axis.set_ticks([], minor=True)
    ax.set_xlabel(axis_name(x))
    ax.set_ylabel(axis_name(y))
    if colorbar:
        low, high = mesh.get_clim()
        beyond = (bool(np.nanmin(values) < low), bool(np.nanmax(values) > high))
        extend = {(True, True): "both", (True, False): "min", (False, True): "max"}
        bar = ax.figure.colorbar(mesh, ax=ax, label=label, extend=extend.get(beyond, "neither"))
        if lines is not None:
            bar.add_lines(lines)  # where on the scale the lines are
    return ax


def _array(
    data: Any, below: float | None, vmin: float | None, vmax: float | None
) -> tuple[xr.DataArray, str, float | None, float | None, xr.DataArray | None]:
    """Return what is drawn, its name, where its colours end, and where most failures are late."""
    if not hasattr(data, "dims"):
        raise ConfigTypeError("data", data, "a dataset or an array with labels")
    if not hasattr(data, "data_vars"):
        return data, _title(data), vmin, vmax, None
    if "estimate" not in data:
        data = failure_rates(data, below)
    if data.attrs.get("quantity") == "failure":
        vmin, vmax = 0.0 if vmin is None else vmin, 1.0 if vmax is None else vmax
    array = data["estimate"].squeeze(drop=True)
    label = _title(array)
    if data.attrs.get("quantity") == "failure" and "below" in data.attrs:
        label += f" ($J < {data.attrs['below']:g}$)"  # a rate of failures says what one is
    late = None
    if "unfinished" in data:
        late = (2 * data["unfinished"] > data["failures"]).squeeze(drop=True)
    return array, label, vmin, vmax, late


def _title(array: xr.DataArray) -> str:
    return str(array.attrs.get("long_name", array.name or ""))


def _name(label: object) -> str:
    """Return a label as text; a number with the sign that other ticks have."""
    return f"{label:.4g}".replace("-", "−") if isinstance(label, int | float) else literal(label)


def _scale(labels: npt.NDArray[Any]) -> tuple[Floats, Floats, bool]:
    """Return where cells are centred, where they end, and whether the axis is logarithmic."""
    numeric = labels.dtype.kind in "if"
    at = np.asarray(labels if numeric else np.arange(labels.size), np.float64)
    if not numeric or at.size < 2:
        return at, np.append(at - 0.5, at[-1] + 0.5), False
    steps = np.diff(at)
    if np.any(steps == 0) or np.any(np.sign(steps) != np.sign(steps[0])):
        raise ConfigError("data", labels.tolist(), "labels in order: data.sortby(axis)")
    log = False
    if at.min() > 0 and at.size > 2:
        ratios = np.diff(np.log(at))
        # As even on a logarithmic axis as on an equal one, or more.
        log = bool(np.ptp(ratios) / abs(ratios.mean()) < np.ptp(steps) / abs(steps.mean()) - 1e-9)
    inner = np.log(at) if log else at
    middle = (inner[1:] + inner[:-1]) / 2
    ends = [2 * inner[0] - middle[0]], middle, [2 * inner[-1] - middle[-1]]
    edges = np.concatenate(ends)
    return at, np.exp(edges) if log else edges, log
