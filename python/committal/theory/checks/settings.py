"""The experiments that the claims are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committal.config import (
    Bandit,
    Baseline,
    Decay,
    Experiment,
    Natural,
    Record,
    Reduce,
    Sigmoid,
    Softmax,
)
from committal.support.check import Number
from committal.support.simplex import Floats

TWO = Bandit([1.0, 0.0])
THREE = Bandit([1.0, 0.7, 0.0])


def two_arms(
    baseline: Baseline | Number, alpha: float | Decay = 0.1, theta0: float = -1.0, **parts: Any
) -> Experiment:
    parts.setdefault("steps", 1)
    update = parts.pop("update", Natural(step_size=alpha))
    return Experiment(TWO, Sigmoid(theta0), update, baseline, **parts)


def three_arms(
    baseline: Baseline | Number, alpha: float = 0.025, start: Sequence[float] | None = None
) -> Experiment:
    return Experiment(THREE, Softmax(start), Natural(step_size=alpha), baseline, steps=1)


def simulated_stuck(experiment: Experiment, steps: int, runs: int, rng: int) -> tuple[float, float]:
    """The simulated fraction of runs whose value is below 1/2, and its standard error."""
    from committal.simulation.run import run

    record = Record("value", reduce=Reduce(below=0.5))
    data = run(experiment.replace(steps=steps, record=record), runs=runs, rng=rng)
    rate = float(data["failures"].values[-1]) / runs
    return rate, float(np.sqrt(max(rate * (1.0 - rate), 1.0 / runs) / runs))


def random_policies(count: int) -> Floats:
    return np.random.default_rng(0).dirichlet(np.ones(3), count)
