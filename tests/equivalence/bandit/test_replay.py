"""The engine replayed by the oracle: every combination, every step, to 1e-12."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Baseline, Behaviour, Policy, Schedule, Update

GEOMETRIES = ["natural", "vanilla", "sigmoid natural", "sigmoid vanilla", "projected", "direct"]
BASELINES: dict[str, Baseline] = {
    "0": cm.Constant(0.0),
    "-1": cm.Constant(-1.0),
    "value": cm.Value(),
    "b*": cm.MinVariance(),
    "b*+1/2": cm.MinVariance() + 0.5,
    "natural b*": cm.MinVariance("natural") - 0.25,
    "fixed lambda": cm.MinVariance("natural", lam=0.4),
    "negative lambda": cm.MinVariance("natural", lam=-1.5),
    "maximum": cm.Maximum(),
    "gap": cm.Gap(0.3),
    "relative": cm.MinVariance().relative(-0.5),
    "mean": cm.RunningMean(initial=0.5),
    "moving mean": cm.RunningMean(rate=0.2, initial=-0.5),
    "mixed": 0.5 * cm.Value() - 0.75 * cm.MinVariance("natural") + 0.3 * cm.RunningMean() + 0.1,
}
BEHAVIOURS = [
    "on-policy", "mixture", "mixture schedule", "no mixture", "greedy", "greedy schedule", "fixed",
]  # fmt: skip
NOISES = ["deterministic", "bernoulli", "gaussian", "uniform", "table"]
ARMS = [2, 3, 5, 20]
STEPS = [30, 45, 60]


def make_problem(noise: str, arms: int, rng: random.Random) -> cm.Bandit:
    means = [round(rng.uniform(0.05, 0.95), 3) for _ in range(arms)]
    means[rng.randrange(arms)] = 1.0
    if noise == "deterministic":
        return cm.Bandit(means)
    if noise == "bernoulli":
        return cm.Bandit(means, noise="bernoulli")
    if noise == "gaussian":
        return cm.Bandit(means, noise="gaussian", sigma=[0.1 + 0.05 * i for i in range(arms)])
    if noise == "uniform":
        return cm.Bandit(means, noise="uniform", half_width=[0.4 / (i + 1) for i in range(arms)])
    return cm.Bandit.from_table(
        [
            [(m - 0.5, 0.25), (m + 0.25, 0.5), (m, 0.25)] if i % 2 else [(m, 1.0)]
            for i, m in enumerate(means)
        ]
    )


def make_behaviour(name: str, arms: int) -> Behaviour:
    weights = np.arange(1.0, arms + 1.0)
    return {
        "on-policy": cm.OnPolicy(),
        "mixture": cm.UniformMixture(0.3),
        "mixture schedule": cm.UniformMixture(cm.Decay(0.8, 0.3)),
        "no mixture": cm.UniformMixture(0.0),
        "greedy": cm.EpsilonGreedy(0.4),
        "greedy schedule": cm.EpsilonGreedy(cm.Decay(0.9, 0.25, offset=2.0)),
        "fixed": cm.Fixed(weights / weights.sum()),
    }[name]


def make_experiment(
    geometry: str, baseline: Baseline, behaviour: str, noise: str, arms: int, rng: random.Random
) -> cm.Experiment:
    """One experiment; what is not an argument (samples, schedules, entropy, ...) is drawn."""
    if geometry.startswith("sigmoid"):
        arms = 2
    steps = rng.choice(STEPS)
    # Of the order of 1/K: natural steps are multiplied by 1/pi(a) and would leave the range in
    # which a comparison of trajectories, rather than of single steps, is well conditioned.
    size = 0.3 / arms if "natural" in geometry else 0.02 if geometry[0] in "pd" else 0.4
    sizes: list[float | Schedule] = [
        size, cm.Decay(2.0 * size, 0.6), cm.Values(np.linspace(size, 0.1 * size, max(STEPS))),
    ]  # fmt: skip
    temperatures: list[float | Schedule] = [0.0, 0.0, 0.15, cm.Decay(0.5, 0.5)]
    implicits: list[float | Schedule] = [0.0, 0.0, 0.05, cm.Decay(0.2, 0.5)]
    step_size, tau, implicit = map(rng.choice, (sizes, temperatures, implicits))
    policy: Policy
    update: Update
    if geometry in ("projected", "direct"):
        weights = np.array([rng.uniform(0.2, 1.0) for _ in range(arms)])
        policy = cm.Direct(weights / weights.sum()) if rng.random() < 0.7 else cm.Direct()
        update = cm.Projected(step_size) if geometry == "projected" else cm.Vanilla(step_size)
    else:
        kind = cm.Natural if "natural" in geometry else cm.Vanilla
        update = kind(step_size=step_size, entropy=tau)
        if geometry.startswith("sigmoid"):
            policy = cm.Sigmoid(rng.uniform(-2.0, 2.0))
        else:
            policy = cm.Softmax([rng.uniform(-1.0, 1.0) for _ in range(arms)])
    return cm.Experiment(
        problem=make_problem(noise, arms, rng),
        policy=policy,
        update=update,
        baseline=baseline,
        behaviour=make_behaviour(behaviour, arms),
        estimator=cm.OneSample(samples=rng.choice([1, 1, 2, 5]), implicit=implicit),
        steps=steps,
    )


def combinations() -> Iterator[Any]:
    """Every geometry x baseline x behaviour, then every geometry x noise x arms."""
    rng = random.Random(1)
    cases = [
        (geometry, baseline, behaviour, rng.choice(NOISES), rng.choice(ARMS))
        for geometry in GEOMETRIES
        for baseline in BASELINES
        for behaviour in BEHAVIOURS
    ] + [
        (geometry, rng.choice(list(BASELINES)), rng.choice(BEHAVIOURS), noise, arms)
        for geometry in GEOMETRIES
        for noise in NOISES
        for arms in ARMS
        if arms == 2 or not geometry.startswith("sigmoid")
    ]
    for number, (geometry, baseline, behaviour, noise, arms) in enumerate(cases):
        yield pytest.param(
            geometry, baseline, behaviour, noise, arms, number,
            id=f"{number}-{geometry}-{baseline}-{behaviour}-{noise}-{arms}",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("geometry", "baseline", "behaviour", "noise", "arms", "seed"), list(combinations())
)
def test_engine_replays(
    geometry: str, baseline: str, behaviour: str, noise: str, arms: int, seed: int, replay: Any
) -> None:
    rng = random.Random(seed)
    replay.check(make_experiment(geometry, BASELINES[baseline], behaviour, noise, arms, rng))


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("baseline", ["-1", "value"])
def test_engine_takes_the_expected_step(
    geometry: str, arms: int, baseline: str, replay: Any
) -> None:
    experiment = make_experiment(
        geometry, BASELINES[baseline], "on-policy", "bernoulli", arms, random.Random(arms)
    )
    replay.check(experiment.replace(estimator=cm.Expected()), runs=1)
