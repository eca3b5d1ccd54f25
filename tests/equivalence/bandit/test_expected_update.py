"""E[theta_1 - theta_0] of the engine, by enumeration, against the analytic gradient to 1e-12.

The engine takes one step in many runs; runs that drew the same action and reward end at the same
theta_1, so weighting one of each by its exact probability gives the exact expectation of what the
engine computes. No sampling error is left.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import committal as cm
from committal.config import Baseline, Behaviour, Policy, Update

Floats = npt.NDArray[np.float64]

ATOL = 1e-12
RUNS = 4096

THETA0 = np.array([0.4, -0.3, 0.1])
PI0 = np.array([0.5, 0.2, 0.3])
FIXED = np.array([0.2, 0.5, 0.3])

PROBLEMS = {
    "deterministic": cm.Bandit([0.9, 0.6, 0.2]),
    "bernoulli": cm.Bandit([0.9, 0.6, 0.2], noise="bernoulli"),
    "table": cm.Bandit.from_table(
        [
            [(2.0, 0.25), (0.5, 0.5), (-1.0, 0.25)],
            [(0.4, 1.0)],
            [(-1.0, 0.4), (0.3, 0.6)],
        ]
    ),
}
UPDATES = ["natural", "vanilla", "projected", "sigmoid natural", "sigmoid vanilla"]
BASELINES: dict[str, Baseline] = {
    "constant": cm.Constant(-1.0),
    "value": cm.Value(),
    "b*": cm.MinVariance(),
    "natural b*": cm.MinVariance("natural"),
    "fixed lambda": cm.MinVariance("natural", lam=0.5),
    "maximum": cm.Maximum(),
    "gap": cm.Gap(),
    "running mean": cm.RunningMean(initial=0.3),
    "moving mean": cm.RunningMean(rate=0.1, initial=-0.2),
    "perturbed": cm.MinVariance() + 0.5,
    "relative": cm.MinVariance().relative(0.5),
    "mixed": 0.9 * cm.Value() - 2.0 * cm.MinVariance("natural") - 0.1,
}
BEHAVIOURS = ["on-policy", "mixture", "greedy", "fixed"]


def two_arms(problem: cm.Bandit) -> cm.Bandit:
    if problem.table is not None:
        return cm.Bandit.from_table(problem.table[:2])
    return cm.Bandit(problem.means[:2], noise=problem.noise)


def make(
    update: str, baseline: Baseline, behaviour: str, problem: cm.Bandit, **parts: Any
) -> cm.Experiment:
    sigmoid = update.startswith("sigmoid")
    policy: Policy
    rule: Update
    if update == "projected":
        # Small enough for the projection to touch no bound.
        policy, rule = cm.Direct(PI0), cm.Projected(step_size=0.002)
    else:
        policy = cm.Sigmoid(0.4) if sigmoid else cm.Softmax(THETA0)
        rule = (cm.Natural if "natural" in update else cm.Vanilla)(step_size=0.3)
    fixed = FIXED[:2] / FIXED[:2].sum() if sigmoid else FIXED
    choices: dict[str, Behaviour] = {
        "on-policy": cm.OnPolicy(),
        "mixture": cm.UniformMixture(0.25),
        "greedy": cm.EpsilonGreedy(0.4),
        "fixed": cm.Fixed(fixed),
    }
    return cm.Experiment(
        problem=two_arms(problem) if sigmoid else problem,
        policy=policy,
        update=rule,
        baseline=baseline,
        behaviour=choices[behaviour],
        steps=1,
        record=cm.Record("theta", "policy", "baseline", "action", "reward", every=1),
        **parts,
    )


def reward_atoms(problem: cm.Bandit) -> list[dict[float, float]]:
    """Per arm, {value: probability}, from the definition of the problem."""
    if problem.table is not None:
        return [dict(arm) for arm in problem.table]
    if problem.noise == "bernoulli":
        return [{1.0: r, 0.0: 1.0 - r} for r in problem.means]
    return [{r: 1.0} for r in problem.means]


def behaviour_law(behaviour: Behaviour, pi: Floats) -> Floats:
    """mu, written out once more: nothing of the oracle is used in this file."""
    arms = len(pi)
    if isinstance(behaviour, cm.UniformMixture):
        assert isinstance(behaviour.gamma, float)
        return (1 - behaviour.gamma) * pi + behaviour.gamma / arms
    if isinstance(behaviour, cm.EpsilonGreedy):
        assert isinstance(behaviour.epsilon, float)
        greedy = np.zeros(arms)
        greedy[np.argmax(pi)] = 1.0
        return (1 - behaviour.epsilon) * greedy + behaviour.epsilon / arms
    return np.array(behaviour.probabilities) if isinstance(behaviour, cm.Fixed) else pi


def means(experiment: cm.Experiment) -> Floats:
    assert isinstance(experiment.problem, cm.Bandit)
    return np.array(experiment.problem.means)


def alpha(experiment: cm.Experiment) -> float:
    assert isinstance(experiment.update.step_size, float)
    return experiment.update.step_size


def softmax(theta: Floats) -> Floats:
    e: Floats = np.exp(theta)
    return e / float(e.sum())


def start(experiment: cm.Experiment) -> Floats:
    if isinstance(experiment.policy, cm.Sigmoid):
        return softmax(np.array([0.4, 0.0]))
    return PI0 if isinstance(experiment.policy, cm.Direct) else softmax(THETA0)


def enumerated_step(
    experiment: cm.Experiment, runs: int = RUNS
) -> tuple[Floats, Floats, Floats, float]:
    """E[theta_1] - theta_0 of the engine, with pi, mu and the engine's b at theta_0."""
    data = cm.run(experiment, runs=runs, rng=7)
    theta = data["theta"].to_numpy().reshape(runs, 2, -1)
    action = data["action"].to_numpy().reshape(runs, 2, -1)[:, 0]
    reward = data["reward"].to_numpy().reshape(runs, 2, -1)[:, 0]
    pi = start(experiment)
    np.testing.assert_allclose(data["policy"].to_numpy()[:, 0], pi[None].repeat(runs, 0), rtol=ATOL)
    mu = behaviour_law(experiment.behaviour, pi)
    assert isinstance(experiment.problem, cm.Bandit)
    atoms = [
        (a, value, mu[a] * probability)
        for a, arm in enumerate(reward_atoms(experiment.problem))
        for value, probability in arm.items()
    ]
    mean, total = np.zeros(theta.shape[2]), 0.0
    for draw in itertools.product(atoms, repeat=action.shape[1]):
        actions, rewards, probabilities = (np.array(x) for x in zip(*draw, strict=True))
        here = np.all((action == actions) & (reward == rewards), axis=1)
        assert here.any(), f"no run drew actions {actions} with rewards {rewards}"
        ends = theta[here, 1]
        assert np.all(ends == ends[0]), "equal draws from an equal start end differently"
        mean += np.prod(probabilities) * ends[0]
        total += np.prod(probabilities)
    assert total == pytest.approx(1.0, abs=1e-14)
    b = data["baseline"].to_numpy()[:, 0]
    assert np.all(b == b[0])
    return mean - theta[0, 0], pi, mu, float(b[0])


def gradient(update: str, pi: Floats, r: Floats, b: float) -> Floats:
    """The mean direction of each rule; only the shift along e of natural steps depends on b."""
    directions: dict[str, Floats] = {
        "natural": r - b,
        "vanilla": (np.diag(pi) - np.outer(pi, pi)) @ r,
        "projected": r - float(r.mean()),
        "sigmoid natural": np.array([r[0] - r[1]]),
        "sigmoid vanilla": np.array([pi[0] * pi[1] * (r[0] - r[1])]),
    }
    return directions[update]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("update", UPDATES)
def test_expected_step_is_the_gradient(
    update: str, baseline: str, behaviour: str, problem: str
) -> None:
    experiment = make(update, BASELINES[baseline], behaviour, PROBLEMS[problem])
    step, pi, _, b = enumerated_step(experiment)
    r = means(experiment)
    np.testing.assert_allclose(
        step, alpha(experiment) * gradient(update, pi, r, b), rtol=0, atol=ATOL
    )


@pytest.mark.parametrize("update", UPDATES)
def test_the_expected_estimator_takes_that_step(update: str) -> None:
    experiment = make(update, cm.Constant(0.0), "on-policy", PROBLEMS["deterministic"])
    record = cm.Record("theta", every=1)
    data = cm.run(experiment.replace(estimator=cm.Expected(), record=record), runs=1, rng=0)
    theta = data["theta"].to_numpy().reshape(2, -1)
    r = means(experiment)
    g = gradient(update, start(experiment), r, 0.0)
    np.testing.assert_allclose(theta[1] - theta[0], alpha(experiment) * g, rtol=0, atol=ATOL)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_batch_has_the_same_expected_step(update: str, behaviour: str) -> None:
    experiment = make(
        update, cm.MinVariance() - 0.5, behaviour, PROBLEMS["bernoulli"],
        estimator=cm.OneSample(samples=2),
    )  # fmt: skip
    step, pi, _, b = enumerated_step(experiment, runs=30_000)
    r = means(experiment)
    np.testing.assert_allclose(
        step, alpha(experiment) * gradient(update, pi, r, b), rtol=0, atol=ATOL
    )


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("update", ["natural", "vanilla"])
def test_implicit_exploration_biases_the_step_by_its_formula(update: str, behaviour: str) -> None:
    gamma = 0.2
    experiment = make(
        update, cm.Value() - 0.5, behaviour, PROBLEMS["table"],
        estimator=cm.OneSample(implicit=gamma),
    )  # fmt: skip
    step, pi, mu, b = enumerated_step(experiment)
    r = means(experiment)
    coefficients = mu / (mu + gamma) * (r - b)
    if update == "vanilla":
        coefficients = coefficients * pi
        coefficients = coefficients - pi * coefficients.sum()
    np.testing.assert_allclose(step, alpha(experiment) * coefficients, rtol=0, atol=ATOL)


@pytest.mark.parametrize("update", ["natural", "vanilla", "sigmoid natural", "sigmoid vanilla"])
def test_entropy_adds_its_gradient(update: str) -> None:
    tau = 0.7
    plain = make(update, cm.Constant(0.2), "mixture", PROBLEMS["bernoulli"])
    step, pi, _, _ = enumerated_step(plain.replace(**{"update.entropy": tau}))
    without, _, _, _ = enumerated_step(plain)
    log_pi = np.log(pi)
    h = -(pi @ log_pi)
    expected = {
        "natural": -log_pi,
        "vanilla": -pi * (log_pi + h),
        "sigmoid natural": np.array([-0.4]),
        "sigmoid vanilla": np.array([-0.4 * pi[0] * pi[1]]),
    }[update]
    np.testing.assert_allclose(step - without, alpha(plain) * tau * expected, rtol=0, atol=ATOL)
