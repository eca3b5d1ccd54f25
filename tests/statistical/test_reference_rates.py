"""The paper's bandit experiments against an independent implementation.

``data/bandit_rates.json`` holds, per experiment, the numbers of an implementation that shares no
code with this one: the failure rate (final value below a threshold), mean final value, mean regret,
and the fraction of runs that end with pi_i > 0.9 for each arm i.

Numbers agree if they differ by less than four standard errors. A rate is compared by the exact
form of that test, which stays meaningful where hardly any run fails: given the failures of both
samples together, how they divide between two samples of one law is hypergeometric.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Baseline, Update

ROWS = json.loads((Path(__file__).parent.parent / "data" / "bandit_rates.json").read_text())
SIGMAS = 4.0
NATURAL, VANILLA, DIRECT = 0, 1, 2
DECIDED = 0.9

Counts = Callable[[int, int, int, int], float]


def experiment_of(config: dict[str, Any]) -> cm.Experiment:
    """The experiment that a row describes."""
    baselines: dict[int, Baseline] = {
        0: cm.Constant(0.0),
        1: cm.Value(),
        2: cm.MinVariance(),
        3: cm.MinVariance("natural"),
    }
    updates: dict[int, Update] = {
        NATURAL: cm.Natural(step_size=config["alpha"]),
        VANILLA: cm.Vanilla(step_size=config["alpha"]),
        DIRECT: cm.Projected(step_size=config["alpha"]),
    }
    start = config["th0"]
    return cm.Experiment(
        problem=cm.Bandit(config["r"]),
        policy=cm.Direct(start) if config["method"] == DIRECT else cm.Softmax(start),
        update=updates[config["method"]],
        baseline=baselines[config["base"]] + config["eps"],
        steps=config["T"],
        record=cm.Record("value", "policy", "regret"),
    )


def sigmas_between_means(x: float, x_se: float, y: float, y_se: float) -> float:
    return abs(x - y) / math.hypot(x_se, y_se)


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_rates_agree_with_an_independent_implementation(
    row: dict[str, Any], sigmas_between_counts: Counts
) -> None:
    config, want = row["config"], row["result"]
    runs = config.get("n", 100_000)
    data = cm.run(experiment_of(config), runs=runs, rng=2008_13773)
    value = data["value"].to_numpy()[:, -1]
    regret = data["regret"].to_numpy()[:, -1]
    policy = data["policy"].to_numpy()[:, -1]

    def error(x: np.ndarray) -> float:
        return float(x.std(ddof=1)) / math.sqrt(runs)

    apart = {
        "value": sigmas_between_means(value.mean(), error(value), want["value"], want["value_se"]),
        "regret": sigmas_between_means(
            regret.mean(), error(regret), want["regret"], want["regret_se"]
        ),
    }
    counts = {"fail": (int(np.sum(value < config.get("thr", 0.9))), want["fail"])}
    for i, rate in enumerate(want["arms"]):
        counts[f"arm {i + 1}"] = (int(np.sum(policy[:, i] > DECIDED)), rate)
    for name, (count, rate) in counts.items():
        apart[name] = sigmas_between_counts(count, runs, round(rate * runs), runs)
    assert max(apart.values()) < SIGMAS, apart


def test_the_comparison_of_counts_is_four_standard_errors_and_exact_for_rare_failures(
    sigmas_between_counts: Counts,
) -> None:
    n = 100_000
    # Plenty of failures: the usual difference of proportions.
    p, q = 0.10, 0.106
    usual = (q - p) / math.sqrt((p + q) / 2 * (1 - (p + q) / 2) * 2 / n)
    assert sigmas_between_counts(10_000, n, 10_600, n) == pytest.approx(usual, abs=0.05)
    # None against a few is no contradiction, none against twenty is.
    assert sigmas_between_counts(0, n, 5, n) < SIGMAS
    assert sigmas_between_counts(0, n, 20, n) > SIGMAS
    assert sigmas_between_counts(0, n, 0, n) <= 0.0


@pytest.mark.parametrize(
    "bug",
    [
        {"eps": +0.45, "instead_of": -0.5},
        {"base": 3, "instead_of": 2},
        {"alpha": 0.026, "instead_of": 0.025},
    ],
    ids=["wrong baseline", "wrong metric", "wrong step size"],
)
def test_a_planted_mistake_is_seen(bug: dict[str, Any], sigmas_between_counts: Counts) -> None:
    row = next(row for row in ROWS if row["name"] == "npg (0, 3, 5) mv_grad-0.5")
    mistaken = row["config"] | {key: bug[key] for key in bug if key != "instead_of"}
    runs = 100_000
    value = cm.run(experiment_of(mistaken), runs=runs, rng=0)["value"].to_numpy()[:, -1]
    failures = int(np.sum(value < 0.9))
    want = round(row["result"]["fail"] * runs)
    assert sigmas_between_counts(failures, runs, want, runs) > SIGMAS
