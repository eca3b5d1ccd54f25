"""Which of three goals a policy reaches, as paths on a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from committal.errors import ConfigError
from committal.plot import arguments
from committal.plot.simplex import simplex

if TYPE_CHECKING:
    import xarray as xr


def goal_simplex(
    data: xr.Dataset,
    ax: Axes | None = None,
    *,
    corners: tuple[str, str, str],
    names: tuple[str, str, str] | None = None,
    max_runs: int | None = 15,
    colorbar: bool | None = None,
    legend: bool | None = None,
    power: float | None = None,
) -> Axes:
    r"""Draw :math:`P(\text{goal } g) / \sum_{g'} P(\text{goal } g')` of every run against time.

    A corner is a policy that reaches only that goal, whenever it reaches one at all. A black dot
    marks the start, small ones the ends; colours run from purple to yellow.

    Parameters
    ----------
    data : xarray.Dataset
        A result with three terminal states that recorded ``"goal_probability"`` of every run at
        several times.
    ax : matplotlib.axes.Axes, optional
        With mpltern's projection ``"ternary"``; a new figure by default.
    corners : tuple of str
        The goals at the right, at the top and at the left.
    names : tuple of str, optional
        What to call them.
    max_runs, colorbar, legend, power : optional
        See :func:`committal.plot.simplex`.

    Returns
    -------
    matplotlib.axes.Axes
        With the goals at its corners.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.maps.four_rooms(), cm.Softmax(), cm.Vanilla(0.1), 1.0,
    ...     estimator=cm.Reinforce(), steps=20, record=cm.Record("goal_probability", every=5),
    ... )
    >>> ax = goal_simplex(cm.run(exp, runs=3, rng=0), corners=("C", "A", "B"))
    """
    import xarray as xr

    recorded = arguments.of_every_run("data", data, "goal_probability", "the probabilities")
    known = [str(goal) for goal in data["terminal"].values]
    if sorted(known) != sorted(corners):
        raise ConfigError("corners", corners, f"the three goals {', '.join(known)} in any order")
    p = recorded.sel(terminal=list(corners)).transpose("run", "time", "terminal")
    total = p.values.sum(axis=-1, keepdims=True)
    # A policy that reaches no goal has no place on the triangle; it stays where it was last.
    share = np.where(total > 0.0, p.values / np.where(total > 0.0, total, 1.0), np.nan)
    for t in range(1, share.shape[1]):
        missing = np.isnan(share[:, t])
        share[:, t][missing] = share[:, t - 1][missing]
    paths = xr.Dataset(
        {"policy": (("run", "time", "arm"), np.nan_to_num(share, nan=1.0 / 3.0))},
        {"time": data["time"].values, "arm": list(corners if names is None else names)},
    )
    return simplex(paths, ax, max_runs=max_runs, colorbar=colorbar, legend=legend, power=power)
