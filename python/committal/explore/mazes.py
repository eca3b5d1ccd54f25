"""The picture of a gridworld: what some runs earn and reach, and the policy of one of them."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from committal.config import Experiment, Record
from committal.config.gridworld import Gridworld
from committal.exact.evaluation import evaluate
from committal.explore import bounds
from committal.explore.bandits import Report
from committal.simulation.engine import Engine

#: Times at which a policy is drawn: S * A numbers each.
TIMES = 60

_CURVES = ("return", "value", "action_entropy", "state_entropy", "goal_probability")


def picture(
    experiment: Experiment, *, key: int, runs: int, threads: int, report: Report, shown: int = 0
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Run it; return what is said of it, and the arrays.

    Parameters
    ----------
    experiment, key, runs, threads, report
        As for a bandit.
    shown : int, optional
        The run whose policy, visits and values are drawn.

    Examples
    --------
    >>> from committal.config import ExactQ, Natural, Softmax, gridworld
    >>> grid = gridworld("S..A", goals={"A": 1})
    >>> exp = Experiment(grid, Softmax(), Natural(0.1), estimator=ExactQ(), steps=9)
    >>> head, arrays = picture(exp, key=0, runs=3, threads=1, report=lambda done: None)
    >>> arrays["policy"].shape, arrays["return"].shape
    ((10, 4, 4), (3, 10))
    """
    grid = experiment.problem
    assert isinstance(grid, Gridworld)
    times = bounds.times_of(experiment.steps, TIMES)
    many = Engine(experiment.replace(record=Record(*_CURVES, at=times)))
    arrays: dict[str, npt.NDArray[Any]] = dict(
        many.compute(key=key, first_run=0, runs=runs, threads=threads, report=report)
    )
    one = Engine(experiment.replace(record=Record("policy", "visits", at=times)))
    detail = one.compute(key=key, first_run=shown, runs=1, report=report)
    arrays["policy"] = detail["policy"][0]
    arrays["visits"] = detail["visits"][0]
    arrays["values"] = evaluate(grid, arrays["policy"]).V
    head = {
        "mode": "gridworld",
        "times": times.tolist(),
        "rows": list(grid.rows),
        "cells": [list(cell) for cell in grid.cells],
        "goals": list(grid.goals),
        "rewards": dict(grid.rewards),
        "terminal": list(grid.terminal),
        "start": grid.start_letter,
        "best": {goal: [path.moves, path.value] for goal, path in grid.shortest_paths().items()},
        "shown": shown,
    }
    return head, arrays
