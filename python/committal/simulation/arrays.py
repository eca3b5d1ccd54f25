"""Results that somebody computed elsewhere, as a dataset like any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committal.config import Bandit, Experiment
from committal.config.quantities import ANY_QUANTITY, BANDIT_QUANTITIES, RESERVED
from committal.errors import CombinationError, ConfigError, ConfigTypeError
from committal.simulation.dataset import Variable, fold_attributes
from committal.support import arrays, check, limits
from committal.support.provenance import versions

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["from_arrays"]

_SHAPES = {
    False: "an array of shape (runs, times)",
    True: "an array of shape (runs, times, arms)",
}


def from_arrays(
    *,
    values: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    theta: npt.ArrayLike | None = None,
    time: npt.ArrayLike | None = None,
    arms: Sequence[str] | None = None,
    experiment: Experiment | None = None,
    **others: npt.ArrayLike,
) -> xr.Dataset:
    """Make a dataset from numbers of another program, for every analysis and plot.

    Numba, JAX, a log of a training run: what has runs and times is a result like ours.

    Parameters
    ----------
    values : array_like, shape (runs, times)
        The expected reward J of every run at every time; it is what failures are counted by.
        Without it, policy and the means of `experiment` give it; with all three they must agree.
    policy : array_like, shape (runs, times, arms), optional
        Probabilities of the arms.
    theta : array_like, shape (runs, times, arms), optional
        Parameters.
    time : array_like, shape (times,), optional
        The number of updates done, increasing; 0, 1, 2, ... by default.
    arms : sequence of str, optional
        Names of the arms.
    experiment : Experiment, optional
        What these runs are runs of, where it can be said; pictures then know the rewards.
    **others
        More quantities by name, of either shape.

    Returns
    -------
    xarray.Dataset
        With the dimensions `run`, `time` and, where something has it, `arm`.

    Raises
    ------
    ConfigError
        Naming the array, and what its shape, its numbers or its sums should be.

    Examples
    --------
    Two runs at three times, one of which fails:

    >>> import committal as cm
    >>> data = cm.from_arrays(values=[[0.5, 0.9, 1.0], [0.5, 0.2, 0.1]], time=[0, 10, 20])
    >>> float(cm.failure_rate(data, below=0.9))
    0.5
    >>> cm.analysis.survival(data, above=0.9)["estimate"].values
    array([1. , 0.5, 0.5])
    """
    problem = _problem(experiment)
    found: dict[str, npt.NDArray[np.float64]] = {}
    given = {"values": values, "policy": policy, "theta": theta, **others}
    for argument, value in given.items():
        if value is None:
            continue
        name = "value" if argument == "values" else argument
        _refuse_name(name, argument, others)
        found[name] = _checked(argument, name, value)
    if not found:
        raise ConfigError("values", None, "at least one array")
    if "value" not in found and "policy" in found and problem is not None:
        means = np.asarray(problem.means)
        if found["policy"].shape[2] == len(means):
            found["value"] = found["policy"] @ means
    count = _arms(found, problem)
    runs, times = _sizes(found)
    if values is not None and "policy" in found and problem is not None:
        _refuse_contradiction(values, found, problem)
    coordinates: dict[str, Variable] = {
        "run": (("run",), np.arange(runs), {"long_name": "number of the run"}),
        "time": (("time",), _times(time, times), {"long_name": "updates done", "units": "1"}),
    }
    if count:
        names = _names(arms, count, problem)
        coordinates["arm"] = (("arm",), np.asarray(names, object), {"long_name": "arm"})
    elif arms is not None:
        raise CombinationError("arms", arms, "None: no array has arms")
    return _dataset(found, coordinates, experiment)


def _dataset(
    found: dict[str, npt.NDArray[np.float64]],
    coordinates: dict[str, Variable],
    experiment: Experiment | None,
) -> xr.Dataset:
    import xarray as xr  # takes longer to import than everything else together

    fold_attributes()
    variables: dict[str, Variable] = {}
    for name, array in sorted(found.items(), key=lambda item: item[0] != "value"):
        row = {**ANY_QUANTITY, **BANDIT_QUANTITIES}.get(name)
        labels = {"long_name": row.long_name, "units": row.units} if row else {"long_name": name}
        dims = ("run", "time", "arm")[: array.ndim]
        variables[name] = (dims, array, labels)
    attributes: dict[str, Any] = {"source": "from_arrays", **versions()}
    if experiment is not None:
        attributes |= {"experiment": experiment.to_json(), "experiment_hash": experiment.hash}
    return xr.Dataset(variables, coordinates, attributes)


def _problem(experiment: object) -> Bandit | None:
    if experiment is None:
        return None
    check.instance("experiment", experiment, Experiment, "an Experiment or None")
    assert isinstance(experiment, Experiment)
    return check.instance("experiment.problem", experiment.problem, Bandit, "a Bandit")


def _refuse_name(name: str, argument: str, others: dict[str, Any]) -> None:
    if argument not in others:
        return
    if not name.isidentifier():
        raise ConfigError("name", name, "a name of letters, digits and _")
    if name in RESERVED or name == "value":
        raise ConfigError(argument, others[argument], "another name: results use this one")


def _checked(argument: str, name: str, value: object) -> npt.NDArray[np.float64]:
    array = arrays.tensor(argument, value)
    with_arms = name in ("policy", "theta") or (array.ndim == 3 and name != "value")
    if array.ndim != 2 + with_arms or 0 in array.shape[1:]:
        raise ConfigError(argument, value, f"{_SHAPES[with_arms]}; this is of {array.shape}")
    if name == "policy":
        low, high = float(array.min(initial=0.0)), float(array.max(initial=0.0))
        sums = np.abs(array.sum(axis=-1) - 1.0)
        if low < 0.0 or high > 1.0 + limits.POLICY_SUM or (sums > limits.POLICY_SUM).any():
            raise ConfigError(argument, value, "probabilities that sum to 1 over the last axis")
    return array


def _refuse_contradiction(
    given: npt.ArrayLike, found: dict[str, npt.NDArray[np.float64]], problem: Bandit
) -> None:
    """Refuse values that are not those of the policies: answers would depend on which is asked."""
    means = np.asarray(problem.means)
    apart = np.abs(found["value"] - found["policy"] @ means)
    # As much as policies may be off, and what single precision loses.
    most = 10.0 * limits.POLICY_SUM * max(1.0, float(np.abs(means).max()))
    if (apart > most).any():
        run, time = (int(i) for i in np.unravel_index(int(apart.argmax()), apart.shape))
        own, other = (float(x[run, time]) for x in (found["value"], found["policy"] @ means))
        raise ConfigError(
            "values",
            given,
            f"policy @ means of the experiment, or None (in run {run} at time {time} it is "
            f"{own:g}, and {other:g} by policy)",
        )


def _sizes(found: dict[str, npt.NDArray[np.float64]]) -> tuple[int, int]:
    (first, array), *rest = found.items()
    for name, other in rest:
        if other.shape[:2] != array.shape[:2]:
            runs, times = array.shape[:2]
            raise ConfigError(
                name, other, f"{runs} runs and {times} times, as in {first}; it is {other.shape}"
            )
    return int(array.shape[0]), int(array.shape[1])


def _arms(found: dict[str, npt.NDArray[np.float64]], problem: Bandit | None) -> int:
    count, first = (problem.arms, "experiment") if problem is not None else (0, "")
    for name, array in found.items():
        if array.ndim == 3:
            if count and array.shape[2] != count:
                allowed = f"{count} arms, as in {first} (there are {array.shape[2]})"
                raise ConfigError(name, array, allowed)
            count, first = int(array.shape[2]), name
    return count if any(array.ndim == 3 for array in found.values()) else 0


def _names(arms: object, count: int, problem: Bandit | None) -> tuple[str, ...]:
    if arms is None:
        return problem.names if problem is not None else tuple(map(str, range(count)))
    allowed = f"{count} different names, one per arm"
    if isinstance(arms, str) or not isinstance(arms, Sequence):
        raise ConfigTypeError("arms", arms, allowed)
    names = tuple(check.text("arms", name) for name in arms)
    if len(set(names)) != count or len(names) != count:
        raise ConfigError("arms", arms, allowed)
    return names


def _times(time: npt.ArrayLike | None, count: int) -> npt.NDArray[np.int64]:
    if time is None:
        return np.arange(count)
    found = arrays.counts("time", time, "times")
    if found.ndim != 1 or len(found) != count or (np.diff(found) <= 0).any():
        raise ConfigError("time", time, f"{count} increasing times, one per column")
    return found.astype(np.int64)
