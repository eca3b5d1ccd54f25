"""The paper's gridworld experiments against an independent implementation.

``data/gridworld_curves.json`` holds, per experiment, numbers of an implementation that shares no
code with this one. At each checkpoint c (an episode, counted from 0):

- ``returns`` and ``action_entropy``: mean and standard error over runs of each run's mean over the
  last ``window`` episodes up to c, fewer where there are fewer;
- ``state_entropy``: mean and standard error of the entropy of all visits so far, at c;

and over the last window of all: the fraction of episodes that ended in each goal, or in none, and
``runs_on_best``, the fraction of runs in which more than nine of ten of them reached the best goal.

Numbers agree if they differ by less than four combined standard errors. Its rows share their
random numbers, so that all of them begin with the same deviation at checkpoint 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Baseline, Estimator, Update

ROWS = json.loads((Path(__file__).parent.parent / "data" / "gridworld_curves.json").read_text())
SIGMAS = 4.0
RUNS = 400
MOSTLY = 0.9
# Below this many runs of a kind, a mean over runs has no trustworthy error of its own.
FEW = 20

Counts = Callable[[int, int, int, int], float]


def experiment_of(row: dict[str, Any]) -> cm.Experiment:
    """The experiment that a row describes, recording what is compared."""
    eps, alpha = row["eps"], row["step_size"]
    baselines: dict[str, Baseline] = {
        "mv_grad": cm.MinVariance() + eps,
        "mv_nat": cm.MinVariance("natural") + eps,
        "mv_grad_relative": cm.MinVariance().relative(eps),
        "constant": cm.Constant(eps),
    }
    kinds: dict[str, tuple[Update, Estimator]] = {
        "npg_q": (cm.Natural(alpha), cm.ExactQ()),
        "vpg_q": (cm.Vanilla(alpha), cm.ExactQ()),
        "reinforce": (cm.Vanilla(alpha), cm.Reinforce()),
    }
    update, estimator = kinds[row["estimator"]]
    windows = {t for c in row["checkpoints"] for t in range(max(0, c - row["window"] + 1), c + 1)}
    return cm.Experiment(
        problem=cm.gridworld(row["grid"]["rows"], row["grid"]["goals"], limit=row["limit"]),
        policy=cm.Softmax(),
        update=update,
        baseline=baselines[row["baseline"]],
        estimator=estimator,
        # The episode at time t comes before update t + 1: the last one needs no update.
        steps=row["episodes"] - 1,
        record=cm.Record("return", "goal", "action_entropy", "state_entropy", at=sorted(windows)),
    )


@lru_cache(maxsize=6)  # two rows, five apart, are one experiment
def recorded(experiment: cm.Experiment) -> Any:
    return cm.run(experiment, runs=RUNS, rng=2008_13773)


def sigmas(x: np.ndarray, want: float, want_error: float) -> float:
    """How many combined standard errors the mean of x over runs is from a reported mean."""
    error = math.hypot(float(x.std(ddof=1)) / math.sqrt(len(x)), want_error)
    # The first policy is uniform: there is no error, but there is rounding.
    return float(abs(x.mean() - want) / max(error, 1e-12))


def sigmas_of_fractions(x: np.ndarray, want: float, runs: int) -> float:
    """The same for fractions in [0, 1] per run, whose error was not reported."""
    pooled = (len(x) * float(x.mean()) + runs * want) / (len(x) + runs)
    variance = float(x.var(ddof=1))
    if min(pooled, 1.0 - pooled) * (len(x) + runs) < FEW:
        # Runs that end there are too few to estimate a variance: each is at most a coin.
        variance = max(variance, pooled * (1.0 - pooled))
    error = math.sqrt(variance * (1.0 / len(x) + 1.0 / runs))
    return float(abs(x.mean() - want) / max(error, 1e-12))


def distances(row: dict[str, Any], data: Any, between_counts: Counts) -> dict[str, float]:
    """How far everything is from the reference, in standard errors, by name."""
    window = row["window"]
    apart: dict[str, float] = {}
    for c, *wanted in zip(
        row["checkpoints"],
        row["returns"],
        row["action_entropy"],
        row["state_entropy"],
        strict=True,
    ):
        recent = data.sel(time=slice(max(0, c - window + 1), c))
        columns = (
            recent["return"].mean("time"),
            recent["action_entropy"].mean("time"),
            data["state_entropy"].sel(time=c),
        )
        names = ("return", "action_entropy", "state_entropy")
        for name, column, (mean, error) in zip(names, columns, wanted, strict=True):
            apart[f"{name} at {c}"] = sigmas(column.to_numpy(), mean, error)

    problem = cm.experiment_of(data).problem
    assert isinstance(problem, cm.Gridworld)
    last = data["goal"].isel(time=slice(-window, None))
    fractions = {
        name: (last == index).mean("time").to_numpy()
        for index, name in (*enumerate(problem.goals), (-1, "none"))
    }
    for name, want in row["goal_fraction_last_window"].items():
        apart[f"ended in {name}"] = sigmas_of_fractions(fractions[name], want, row["runs"])
    rewards = row["grid"]["goals"]
    on_best = int(np.sum(fractions[max(rewards, key=rewards.get)] > MOSTLY))
    reported = round(row["runs_on_best"] * row["runs"])
    apart["runs on best"] = between_counts(on_best, RUNS, reported, row["runs"])
    return apart


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['name']} {row['eps']:+g}" for row in ROWS])
def test_curves_agree_with_an_independent_implementation(
    row: dict[str, Any], sigmas_between_counts: Counts
) -> None:
    apart = distances(row, recorded(experiment_of(row)), sigmas_between_counts)
    assert len(apart) == 3 * len(row["checkpoints"]) + len(row["grid"]["goals"]) + 2
    assert max(apart.values()) < SIGMAS, {k: round(v, 2) for k, v in apart.items()}


def row_of(eps: float) -> dict[str, Any]:
    return next(row for row in ROWS if row["name"] == "4rooms npg mv_grad" and row["eps"] == eps)


# A goal paid when it is reached and not one step later: gamma^(n - 1) instead of gamma^n.
EARLY = {"rows": row_of(0)["grid"]["rows"], "goals": {"A": 0.6 / 0.99, "B": 0.3 / 0.99, "C": 1.01}}


@pytest.mark.parametrize(
    ("eps", "bug"),
    [
        (0.5, {"eps": -0.5}),
        (0.5, {"baseline": "mv_nat"}),
        (0.5, {"estimator": "vpg_q"}),
        (0, {"step_size": 0.105}),
        (0, {"grid": EARLY}),
        (1, {"limit": 90}),
    ],
    ids=["wrong sign", "wrong metric", "missing 1/pi", "step size", "off by one", "limit"],
)
def test_a_planted_mistake_is_seen(
    eps: float, bug: dict[str, Any], sigmas_between_counts: Counts
) -> None:
    row = row_of(eps)
    apart = distances(row, recorded(experiment_of(row | bug)), sigmas_between_counts)
    assert max(apart.values()) > SIGMAS
