"""Learning curves on the probability simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from committal.config import Bandit
from committal.errors import CommittalError, ConfigError
from committal.plot import arguments
from committal.plot.clock import clock, pace, ticks
from committal.plot.corners import CORNERS
from committal.plot.ends import count_heaps
from committal.plot.panels import given_or_new, triangle
from committal.plot.words import literal
from committal.simulation.dataset import experiment_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["simplex"]

#: What dots and lines are, for legends.
START, END, TRUE = "start", "ends of runs (number: how many)", "true gradient"

# Ends nearer than this, the side of the triangle being 1, cannot be told apart.
REACH = 0.05


def simplex(
    data: xr.Dataset,
    ax: Axes | None = None,
    *,
    true_gradient: xr.Dataset | None = None,
    max_runs: int | None = 15,
    cmap: str = "viridis",
    colorbar: bool | None = None,
    legend: bool | None = None,
    power: float | None = None,
) -> Axes:
    """Draw policies of three arms as paths on the simplex, coloured by time.

    A corner is the policy that always takes its arm. A black dot marks the start and a small one
    the end of every run, with their number where several lie on each other. Colours run from
    purple to yellow; half of the way is made in half of them, whenever that is.

    Parameters
    ----------
    data : xarray.Dataset
        A result that recorded the policy of every run at several times, such as
        ``Record("policy", every=10)``.
    ax : matplotlib.axes.Axes, optional
        With mpltern's projection ``"ternary"``; a new figure by default.
    true_gradient : xarray.Dataset, optional
        The same experiment run with ``estimator=Expected()``; its first run is drawn in black.
    max_runs : int, optional
        Draw no more than this many runs, the first ones; None draws all.
    cmap : str, optional
        Colour map of time.
    colorbar, legend : bool, optional
        Explain the colours beside the triangle, and dots and lines below it. By default in a new
        figure, and not in axes that are given, which may share an explanation.
    power : float, optional
        A time that is a share of the last one has that power of the share as its place among the
        colours. By default as many colours as the runs make way; panels that share an explanation
        need the same.

    Returns
    -------
    matplotlib.axes.Axes
        With the arms at its corners.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025), cm.Value(),
    ...     steps=100, record=cm.Record("policy", every=10),
    ... )
    >>> ax = cm.plot.simplex(
    ...     cm.run(exp, runs=5, rng=0),
    ...     true_gradient=cm.run(exp.replace(estimator=cm.Expected(), baseline=0), runs=1),
    ... )
    """
    policies = policies_of("data", data)
    alone = ax is None
    ternary = triangle(given_or_new(ax, "simplex"))
    if max_runs is not None:
        policies = policies[:max_runs]
    times = data["time"].values

    for axis in (ternary.taxis, ternary.laxis, ternary.raxis):
        axis.set_ticks([])
        axis.set_label_rotation_mode("horizontal")
    # The axes' own plot method projects like this; a LineCollection needs it by hand, and one
    # collection is much faster to draw than a line per run and time.
    if power is None:
        power = pace(times, policies)
    paths = ternary.transProjection.transform(policies.reshape(-1, 3)).reshape(
        *policies.shape[:2], 2
    )
    segments = np.stack([paths[:, :-1], paths[:, 1:]], axis=2).reshape(-1, 2, 2)
    lines = LineCollection(
        list(segments),
        array=np.tile(times[1:], len(policies)).astype(np.float64),
        cmap=cmap,
        norm=clock(times[0], times[-1], power),
        linewidths=0.9,
        alpha=0.85,
        capstyle="round",
        zorder=2,
    )
    ternary.add_collection(lines, autolim=False)

    if true_gradient is not None:
        top, left, right = policies_of("true_gradient", true_gradient)[0].T
        ternary.plot(top, left, right, color="black", linewidth=1.2, zorder=3, label=TRUE)
    if len(policies):
        # Without it, a run that ended in a corner looks like one that never went there.
        end = lines.cmap(1.0)
        # Side 1 of the triangle is about 35 dots wide in a row of panels.
        lone = count_heaps(ternary, paths[:, -1], REACH, end)
        top, left, right = policies[lone, -1].T
        (dots,) = ternary.plot(
            top, left, right, "o", color=end, markersize=4, markeredgecolor="black",
            markeredgewidth=0.6, zorder=4, clip_on=False, label=END,
        )  # fmt: skip
        dots.set_in_layout(bool(lone))  # no dots have no place, and would move everything
        top, left, right = policies[0, 0]
        ternary.plot(
            [top], [left], [right], "o", color="black", markersize=5, zorder=5, clip_on=False,
            label=START,
        )  # fmt: skip

    labels = _corner_labels(data)
    ternary.set_tlabel(labels[CORNERS[0]])
    ternary.set_llabel(labels[CORNERS[1]])
    ternary.set_rlabel(labels[CORNERS[2]])
    if alone if colorbar is None else colorbar:
        first, last = int(times[0]), int(times[-1])
        at = sorted({round(first + (last - first) * share) for share in ticks(power)})
        ternary.figure.colorbar(lines, ax=ternary, label="update", shrink=0.7, pad=0.08, ticks=at)
    if alone if legend is None else legend:
        ternary.figure.legend(
            *ternary.get_legend_handles_labels(), loc="outside lower center", ncols=3,
            frameon=False, fontsize="small", handlelength=1.2, columnspacing=1.0,
        )  # fmt: skip
    return ternary  # type: ignore[no-any-return]


def policies_of(argument: str, data: xr.Dataset) -> npt.NDArray[np.float64]:
    """Read policies[run, time, corner]."""
    recorded = arguments.of_every_run(argument, data, "policy", "the policy")
    policy = recorded.transpose("run", "time", "arm").values
    if policy.shape[2] != 3:
        raise ConfigError(f"{argument}.arm", policy.shape[2], "three arms: a triangle's corners")
    arguments.several_times(argument, data["time"].values, "policy")
    return np.asarray(policy[:, :, CORNERS], np.float64)


def _corner_labels(data: xr.Dataset) -> list[str]:
    names = [literal(name) for name in data["arm"].values]
    try:
        problem = experiment_of(data).problem
    except CommittalError:
        return names  # a dataset that lost its attributes can still be drawn
    means = problem.means if isinstance(problem, Bandit) else ()
    if len(means) != len(names):
        return names
    return [f"{name}\n$r = {mean:g}$" for name, mean in zip(names, means, strict=True)]
