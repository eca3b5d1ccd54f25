"""The picture of a bandit: the policies of some hundred runs, and the path of the true gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config import Bandit, Expected, Experiment, Record
from committal.errors import CommittalError
from committal.explore import bounds
from committal.explore.turns import SupersededError
from committal.simulation.engine import Engine

Report = Callable[[int], None]


def picture(
    experiment: Experiment, *, key: int, runs: int, threads: int, report: Report
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Run it; return what is said of it, and the arrays.

    Returns
    -------
    dict
        The `times`, the `means` and `names` of the arms, and why there is no path, if so.
    dict of array
        `policy` (runs, times, arms), and `path` (times, arms).

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> head, arrays = picture(exp, key=0, runs=3, threads=1, report=lambda done: None)
    >>> arrays["policy"].shape, arrays["path"].shape
    ((3, 11, 2), (11, 2))
    """
    times = bounds.times_of(experiment.steps)
    record = Record("policy", at=times)
    engine = Engine(experiment.replace(record=record))
    found = engine.compute(key=key, first_run=0, runs=runs, threads=threads, report=report)
    arrays: dict[str, npt.NDArray[Any]] = {"policy": found["policy"]}
    try:
        # The expectation needs no baseline; the core makes it in no time.
        true = experiment.replace(baseline=0.0, estimator=Expected(), record=record)
        path = Engine(true).compute(key=key, first_run=0, runs=1, report=report)
        arrays["path"] = path["policy"][0]
        why = ""
    except SupersededError:
        raise
    except (CommittalError, np.linalg.LinAlgError) as error:
        why = str(error)
    problem = experiment.problem
    assert isinstance(problem, Bandit)
    head = {
        "mode": "bandit",
        "times": times.tolist(),
        "means": list(problem.means),
        "names": list(problem.names),
        "no_path": why,
    }
    return head, arrays
