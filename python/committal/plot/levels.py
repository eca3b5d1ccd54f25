"""What "failed" means for a problem when nobody has said it, and how a rate is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.analysis import FailureRate
from committal.analysis.failures import SURE
from committal.config import Bandit
from committal.errors import CommittalError
from committal.simulation.dataset import experiment_of

if TYPE_CHECKING:
    import xarray as xr

Flags = npt.NDArray[np.bool_]

#: What the colours of runs that end below a level mean, if their policies are known.
BELOW_WORDS = (f"below, sure of one arm ($\\pi \\geq {SURE:g}$)", "below, not finished")


def halfway(data: xr.Dataset) -> float | None:
    """Return the value halfway between the best and the second-best arm of a dataset's bandit.

    A policy that is sure of any other arm is below it, one that is sure of the best arm is above.
    None where there is no such level: without a bandit in the attributes, for an MDP, and where all
    arms pay the same.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([0.9, 0.6, 0.2]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> print(f"{halfway(cm.run(exp, runs=1, rng=0)):g}")
    0.75
    """
    try:
        problem = experiment_of(data).problem
    except CommittalError:
        return None  # a dataset that lost its attributes can still be drawn
    if not isinstance(problem, Bandit):
        return None
    means = np.unique(np.asarray(problem.means, np.float64))
    return float((means[-1] + means[-2]) / 2.0) if means.size > 1 else None


def ends_below(data: xr.Dataset, below: float) -> tuple[Flags, Flags | None]:
    """Return which runs end below a level, and which of these have not finished.

    A run that is sure of another arm has settled, at least for a long time; one that is not is
    still on its way, and more updates would tell. Without recorded policies nobody knows: None.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1,
    ...     record=cm.Record("value", "policy"),
    ... )
    >>> failed, moving = ends_below(cm.run(exp, runs=3, rng=0), 0.9)
    >>> print(failed, moving)
    [ True  True  True] [ True  True  True]
    """
    failed = ~(data["value"].isel(time=-1).values >= below)
    if "policy" not in data or "arm" not in data["policy"].dims:
        return failed, None
    sure = data["policy"].isel(time=-1).max("arm").values >= SURE
    return failed, failed & ~sure


def share(rate: FailureRate) -> str:
    """Write a rate as short as a title needs it: none of the runs is an upper bound.

    Examples
    --------
    >>> share(FailureRate.of(8, 40, below=0.9, time=1))
    '20 %'
    >>> share(FailureRate.of(0, 40, below=0.9, time=1))
    '0 of 40 (< 8.8 %)'
    """
    if rate.failures == 0:
        return f"0 of {rate.runs} (< {100 * rate.high:.2g} %)"
    places = 0 if rate.runs <= 100 else 2
    return f"{100 * rate.estimate:.{places}f} %"
