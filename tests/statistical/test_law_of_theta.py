"""The exact law of theta after a few steps against a million runs of the engine.

With few arms and finitely many rewards, theta_T takes finitely many values: all paths are
enumerated with the oracle's one-step law and paths that meet are merged. A million runs of the
engine must then fall on exactly these values, as often as their probabilities say: Pearson's
chi-square at a fixed seed, rejected below a p-value of 1e-6. Planted mistakes are put through the
same test and must be rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chi2

import committal as cm
from committal import reference
from committal.config import Behaviour, Policy, Update

Floats = npt.NDArray[np.float64]
Law = tuple[Floats, Floats]  # the values of theta, one per row, and their probabilities
OneStep = Callable[[cm.Experiment, Floats, int], list[reference.Outcome]]

RUNS = 1_000_000
ERROR = 1e-6
MERGE = 1e-9  # values closer than this are one value; the engine agrees far better than this
FEWEST = 10.0  # cells with a smaller expected count are pooled


# The exact law ------------------------------------------------------------------------------------


def label(theta: Floats) -> Floats:
    """One number per row of theta that tells different rows apart."""
    directions = np.sqrt([2.0, 3.0, 5.0, 7.0])[: theta.shape[1]]
    return np.asarray(theta @ directions)


def merged(theta: Floats, probability: Floats) -> Law:
    order = np.argsort(label(theta), kind="stable")
    theta, probability = theta[order], probability[order]
    starts = np.flatnonzero(np.diff(label(theta), prepend=-np.inf) > MERGE)
    return theta[starts], np.add.reduceat(probability, starts)


def law_after(
    experiment: cm.Experiment, steps: int, one_step: OneStep = reference.one_step_law
) -> Law:
    """All values of theta after `steps` updates, with their probabilities."""
    theta, probability = reference.initial_theta(experiment)[None], np.ones(1)
    for t in range(steps):
        following = [
            (p * outcome.probability, outcome.theta)
            for p, start in zip(probability, theta, strict=True)
            for outcome in one_step(experiment, start, t)
        ]
        theta, probability = merged(
            np.array([end for _, end in following]), np.array([p for p, _ in following])
        )
    assert probability.sum() == pytest.approx(1.0, abs=1e-12)
    return theta, probability


# The test -----------------------------------------------------------------------------------------


def p_value(law: Law, theta: Floats, count: Floats) -> float:
    """Pearson's chi-square of `count` observations of each row of `theta` against the law.

    An observation on no value of the law is impossible under it: the p-value is 0.
    """
    values, probability = law
    known = label(values)
    seen = label(theta)
    cell = np.clip(np.searchsorted(known, seen), 1, len(known) - 1)
    cell = np.where(np.abs(known[cell - 1] - seen) < np.abs(known[cell] - seen), cell - 1, cell)
    if np.any(np.abs(known[cell] - seen) > MERGE):
        return 0.0
    observed = np.bincount(cell, weights=count, minlength=len(known))
    expected = probability * count.sum()
    rare = expected < FEWEST
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    statistic = np.sum((observed - expected) ** 2 / expected)
    return float(chi2.sf(statistic, len(expected) - 1))


def sample(law: Law, seed: int) -> tuple[Floats, Floats]:
    """A million observations of a law: values and counts."""
    theta, probability = law
    count = np.random.default_rng(seed).multinomial(RUNS, probability / probability.sum())
    return theta[count > 0], count[count > 0].astype(np.float64)


def engine_sample(experiment: cm.Experiment) -> tuple[Floats, Floats]:
    data = cm.run(experiment.replace(record=cm.Record("theta")), runs=RUNS, rng=314159)
    theta = data["theta"].to_numpy().reshape(RUNS, -1)
    return theta, np.ones(RUNS)


# Experiments --------------------------------------------------------------------------------------


def make(
    policy: Policy, update: Update, behaviour: Behaviour, steps: int, **parts: Any
) -> cm.Experiment:
    means = [0.7, 0.4] if isinstance(policy, cm.Sigmoid) else [0.7, 0.4, 0.2]
    if isinstance(policy, cm.Softmax) and policy.theta0 is not None:
        means = means[: len(policy.theta0)]
    return cm.Experiment(
        problem=cm.Bandit(means, noise="bernoulli"),
        policy=policy,
        update=update,
        behaviour=behaviour,
        steps=steps,
        **parts,
    )


CASES = {
    "natural, 2 arms": make(
        cm.Softmax([0.2, -0.1]), cm.Natural(step_size=0.2), cm.OnPolicy(), 6,
        baseline=cm.MinVariance() - 0.5,
    ),
    "natural, 3 arms": make(
        cm.Softmax([0.2, -0.1, 0.4]), cm.Natural(step_size=0.1), cm.OnPolicy(), 4,
        baseline=cm.MinVariance() + 0.1,
    ),
    "natural, mixture": make(
        cm.Softmax([0.2, -0.1, 0.4]), cm.Natural(step_size=0.1),
        cm.UniformMixture(cm.Decay(0.8, 0.5)), 4,
        baseline=cm.MinVariance("natural"),
    ),
    "vanilla, 2 arms": make(
        cm.Softmax([0.5, -0.5]), cm.Vanilla(step_size=cm.Decay(0.8, 0.5)), cm.OnPolicy(), 6,
        baseline=cm.Constant(0.3),
    ),
    "vanilla, mixture": make(
        cm.Softmax([0.5, -0.5, 0.0]), cm.Vanilla(step_size=0.5, entropy=0.1),
        cm.UniformMixture(0.4), 4,
        baseline=cm.MinVariance(),
    ),
    "sigmoid": make(
        cm.Sigmoid(-1.0), cm.Natural(step_size=0.1), cm.EpsilonGreedy(0.5), 6,
        baseline=cm.Constant(-1.0),
    ),
    "direct": make(
        cm.Direct([0.5, 0.3, 0.2]), cm.Projected(step_size=0.1), cm.OnPolicy(), 4,
        baseline=cm.Constant(0.5),
    ),
    "two samples": make(
        cm.Softmax([0.2, -0.1]), cm.Natural(step_size=0.2), cm.UniformMixture(0.2), 3,
        baseline=cm.Value(), estimator=cm.OneSample(samples=2, implicit=0.05),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_million_runs_follow_the_exact_law(name: str) -> None:
    experiment = CASES[name]
    law = law_after(experiment, experiment.steps)
    assert len(law[1]) > 20
    assert p_value(law, *engine_sample(experiment)) > ERROR


# Planted mistakes ---------------------------------------------------------------------------------


def changed(**changes: Any) -> OneStep:
    """The law of another experiment."""

    def one_step(experiment: cm.Experiment, theta: Floats, t: int) -> list[reference.Outcome]:
        return reference.one_step_law(experiment.replace(**changes), theta, t)

    return one_step


def moved(step: Callable[[reference.Outcome, Floats, Floats, Floats], Floats]) -> OneStep:
    """The right draws, but theta moves by `step(outcome, pi, mu, right_step)`."""

    def one_step(experiment: cm.Experiment, theta: Floats, t: int) -> list[reference.Outcome]:
        pi = reference.policy_probabilities(experiment.policy, theta)
        mu = reference.behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
        return [
            outcome._replace(theta=theta + step(outcome, pi, mu, outcome.theta - theta))
            for outcome in reference.one_step_law(experiment, theta, t)
        ]

    return one_step


def drawn(
    weigh: Callable[[cm.Experiment, Floats, int, reference.Outcome], float],
) -> OneStep:
    """The right steps, but each with its probability times `weigh(experiment, pi, t, outcome)`."""

    def one_step(experiment: cm.Experiment, theta: Floats, t: int) -> list[reference.Outcome]:
        pi = reference.policy_probabilities(experiment.policy, theta)
        law = reference.one_step_law(experiment, theta, t)
        weights = [o.probability * weigh(experiment, pi, t, o) for o in law]
        return [o._replace(probability=w / sum(weights)) for o, w in zip(law, weights, strict=True)]

    return one_step


def on_policy_draws(
    experiment: cm.Experiment, pi: Floats, t: int, outcome: reference.Outcome
) -> float:
    """Draws from pi where mu is meant."""
    mu = reference.behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
    return float(np.prod([pi[a] / mu[a] for a in outcome.actions]))


def late_exploration(experiment: cm.Experiment, theta: Floats, t: int) -> list[reference.Outcome]:
    """gamma of the update after this one."""
    return reference.one_step_law(experiment, theta, min(t + 1, experiment.steps - 1))


def biased_rewards(
    experiment: cm.Experiment, pi: Floats, t: int, outcome: reference.Outcome
) -> float:
    """Odds of a reward of 1 that are three per cent too high."""
    return 1.03 if outcome.rewards[0] == 1.0 else 1.0


def normalised_step(outcome: reference.Outcome, pi: Floats, mu: Floats, right: Floats) -> Floats:
    """Cut at zero and divided by the sum, instead of projected."""
    (a,), (reward,) = outcome.actions, outcome.rewards
    point = pi.copy()
    point[a] = max(point[a] + 0.1 * (reward - 0.5) / pi[a], 0.0)
    return np.asarray(point / point.sum() - pi)


MISTAKES: dict[str, tuple[str, OneStep]] = {
    "sign of the baseline": ("natural, 2 arms", changed(baseline=0.5 - cm.MinVariance())),
    # With two arms both metrics have the same b*: it takes three to see this one.
    "metric of the baseline": (
        "natural, 3 arms", changed(baseline=cm.MinVariance("natural") + 0.1),
    ),
    "no 1/pi": ("natural, 3 arms", moved(lambda o, pi, mu, step: step * pi[o.actions[0]])),
    "weight 1/pi where 1/mu is meant": (
        "natural, mixture",
        moved(lambda o, pi, mu, step: step * mu[o.actions[0]] / pi[o.actions[0]]),
    ),
    "metric of the update": (
        "natural, 3 arms", changed(update=cm.Vanilla(step_size=0.1)),
    ),
    "normalised, not projected": ("direct", moved(normalised_step)),
    "gamma of the next update": ("natural, mixture", late_exploration),
    "draws from pi": ("natural, mixture", drawn(on_policy_draws)),
    "draws from pi, vanilla": ("vanilla, mixture", drawn(on_policy_draws)),
    "biased rewards": ("vanilla, 2 arms", drawn(biased_rewards)),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_rejected(mistake: str) -> None:
    name, one_step = MISTAKES[mistake]
    experiment = CASES[name]
    law = law_after(experiment, experiment.steps)
    wrong = law_after(experiment, experiment.steps, one_step)
    assert p_value(law, *sample(wrong, seed=1)) < ERROR


@pytest.mark.parametrize("name", CASES)
def test_the_test_accepts_what_it_should(name: str) -> None:
    """The p-value of the law's own samples is uniform: not small for a handful of seeds."""
    law = law_after(CASES[name], CASES[name].steps)
    assert min(p_value(law, *sample(law, seed)) for seed in range(5)) > 1e-4
