"""Runs that move: over the simplex, or through a maze."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError
from committal.plot import arguments, moving_maze, moving_simplex
from committal.plot.film import Animation, filmed
from committal.support import check, limits

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Animation", "animate"]

#: Dots per inch.
_DPI = check.Interval(10.0, 600.0)
_INCHES = 3.5  # of a panel, about


def animate(
    data: xr.Dataset | Mapping[str, xr.Dataset],
    *,
    true_gradient: xr.Dataset | None = None,
    frames: int = 60,
    seconds: float = 6.0,
    max_runs: int | None = 15,
    run: int | None = None,
    dpi: float = 110.0,
) -> Animation:
    """Let runs move over the simplex, or let a maze be learned, frame by frame.

    Of three arms: every run draws its path, coloured by time, and a dot is where it is now. Of a
    gridworld: cells are coloured by the visits so far, in logarithmic colours, and arrows are the
    policy. Frames show recorded times and nothing in between. They stand where most happens: half
    of the way is made in half of the frames, and the number of the update says when.

    Parameters
    ----------
    data : xarray.Dataset, or mapping from names to them
        Results that recorded, at several times, the policy of every run, such as
        ``Record("policy", every=10)``, or of a gridworld the policy or the visits. Up to four
        with the same recorded times are shown beside each other.
    true_gradient : xarray.Dataset, optional
        The same experiment run with ``estimator=Expected()``; drawn in black. Of three arms only.
    frames : int, optional
        How many at most; there are no more than recorded times.
    seconds : float, optional
        From the first frame to the last.
    max_runs : int, optional
        Draw no more than this many runs, the first ones; None draws all. Of three arms only.
    run : int, optional
        The number of one run of a gridworld; the mean over all runs by default.
    dpi : float, optional
        Dots per inch; a panel is about three inches wide.

    Returns
    -------
    Animation
        A notebook plays it; ``.save("runs.gif")`` and ``.save("runs.html")`` keep it.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025), cm.Value(),
    ...     steps=100, record=cm.Record("policy", every=10),
    ... )
    >>> film = cm.plot.animate(cm.run(exp, runs=5, rng=0), frames=4, dpi=30)
    >>> len(film)
    4
    """
    shown = _panels(data)
    frames = check.integer("frames", frames, 2, limits.FRAMES)
    seconds = check.number("seconds", seconds, check.Interval(0.0, limits.FILM, open_low=True))
    dpi = check.number("dpi", dpi, _DPI)
    if frames * len(shown) * (_INCHES * dpi) ** 2 > limits.PIXELS:
        allowed = f"fewer dots: {frames} frames may have about {limits.PIXELS} together"
        raise ConfigError("dpi", dpi, allowed)
    if max_runs is not None:
        max_runs = check.integer("max_runs", max_runs, 1, limits.RUNS)
    if run is not None:
        run = check.integer("run", run, 0, limits.RUNS)
    _refuse_others(shown)
    first = next(iter(shown.values()))
    if "state" in first.dims:
        if true_gradient is not None:
            raise ConfigError("true_gradient", type(true_gradient), "None: these are no bandits")
        recorded = {label: moving_maze.Recorded(one, run) for label, one in shown.items()}
        power = next(iter(recorded.values())).pace()
        figure, draw = moving_maze.stage(recorded)
        unit = "episode"
    else:
        if run is not None:
            raise ConfigError("run", run, "None: on the simplex all runs are shown, up to max_runs")
        power = moving_simplex.pace_of(shown, max_runs)
        figure, draw = moving_simplex.stage(
            shown, power, true_gradient=true_gradient, max_runs=max_runs
        )
        unit = "update"
    times = frame_times(first["time"].values, power, frames)
    return filmed(figure, draw, times, seconds=seconds, dpi=dpi, unit=unit)


def _panels(data: object) -> dict[str, xr.Dataset]:
    """Return the datasets by their names; one dataset has none."""
    if hasattr(data, "data_vars") or not isinstance(data, Mapping):
        arguments.dataset("data", data)
        return {"": data}  # type: ignore[dict-item]  # it has been looked at
    if not 1 <= len(data) <= limits.FILM_PANELS:
        raise ConfigError("data", list(data), f"one to {limits.FILM_PANELS} datasets by name")
    for label, one in data.items():
        check.text("data", label, "names as keys")
        arguments.dataset(f"data[{label!r}]", one)
    return dict(data)


def _refuse_others(shown: Mapping[str, xr.Dataset]) -> None:
    """Refuse whole studies, and datasets that were not recorded at the same times."""
    first = next(iter(shown.values()))
    for label, one in shown.items():
        argument = f"data[{label!r}]" if label else "data"
        if "time" not in one.dims:
            raise arguments.lacks(argument, one, "several recorded times, Record(..., every=...)")
        more = [str(dim) for dim in one["count"].dims] if "count" in one else []
        if more:
            allowed = "one configuration, such as data.sel(...)"
            raise ConfigError(argument, dict(one.sizes), allowed)
        if not np.array_equal(one["time"].values, first["time"].values):
            times = one["time"].values.tolist()
            raise ConfigError(f"{argument}.time", times, "the same recorded times in all datasets")


def frame_times(times: npt.NDArray[np.int64], power: float, frames: int) -> list[int]:
    """Choose the times of frames: recorded ones, evenly in the given power of time.

    Examples
    --------
    >>> frame_times(np.arange(0, 101, 10), 0.5, 5)
    [0, 10, 20, 60, 100]
    >>> frame_times(np.array([0, 7]), 1.0, 60)
    [0, 7]
    """
    first, last = float(times[0]), float(times[-1])
    wanted = first + (last - first) * np.linspace(0.0, 1.0, frames) ** (1.0 / power)
    nearest = np.abs(times[None, :] - wanted[:, None]).argmin(axis=1)
    return [int(times[i]) for i in np.unique(nearest)]
