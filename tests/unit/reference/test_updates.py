"""Updates against enumeration, finite differences and the closed forms of the paper."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import committal as cm
from committal import reference
from committal.config import Baseline, Behaviour, Policy, Update

PI = np.array([0.5, 0.3, 0.15, 0.05])
R = np.array([1.0, 0.7, 0.2, 0.0])


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=6))
def test_projection_is_the_nearest_point_of_the_simplex(x: list[float]) -> None:
    point = np.array(x)
    p = reference.project_onto_simplex(point)
    assert np.all(p >= 0.0)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    # Optimality: (x - p) has no inner product with any feasible direction e_i - p.
    assert np.max(point - p) <= (point - p) @ p + 1e-10


def test_a_point_of_the_simplex_projects_to_itself() -> None:
    np.testing.assert_allclose(reference.project_onto_simplex(PI), PI, rtol=1e-15)


UPDATES: list[tuple[Policy, Update]] = [
    (cm.Softmax([0.3, -0.2, 0.5]), cm.Natural(step_size=0.1)),
    (cm.Softmax([0.3, -0.2, 0.5]), cm.Vanilla(step_size=0.1)),
    (cm.Direct([0.5, 0.3, 0.2]), cm.Projected(step_size=0.001)),
    (cm.Direct([0.5, 0.3, 0.2]), cm.Vanilla(step_size=0.001)),
    (cm.Sigmoid(-0.4), cm.Natural(step_size=0.1)),
    (cm.Sigmoid(-0.4), cm.Vanilla(step_size=0.1)),
]
PROBLEMS = [
    cm.Bandit([0.9, 0.6, 0.1]),
    cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli"),
    cm.Bandit.from_table([[(2.0, 0.5), (0.0, 0.5)], [(0.5, 1.0)], [(-1.0, 0.2), (0.3, 0.8)]]),
]
BEHAVIOURS = [cm.OnPolicy(), cm.UniformMixture(0.3), cm.EpsilonGreedy(0.4)]


def fit(problem: cm.Bandit, policy: Policy) -> cm.Bandit:
    """The first two arms of `problem` for a sigmoid."""
    if not isinstance(policy, cm.Sigmoid):
        return problem
    if problem.table is not None:
        return cm.Bandit.from_table(problem.table[:2])
    return cm.Bandit(problem.means[:2], noise=problem.noise)


def seen(e: cm.Experiment, directions: np.ndarray) -> np.ndarray:
    """`directions` without what the policy cannot see."""
    blind = isinstance(e.policy, cm.Direct) or (
        isinstance(e.policy, cm.Softmax) and isinstance(e.update, cm.Natural)
    )
    return directions - directions.mean(axis=-1, keepdims=True) if blind else directions


@pytest.mark.parametrize(("policy", "update"), UPDATES)
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("baseline", [cm.Constant(0.4), cm.Value(), cm.MinVariance() - 0.5])
@pytest.mark.parametrize("samples", [1, 2])
def test_mean_and_variance_of_the_update_by_enumeration(
    policy: Policy,
    update: Update,
    problem: cm.Bandit,
    behaviour: Behaviour,
    baseline: Baseline,
    samples: int,
) -> None:
    bandit = fit(problem, policy)
    estimator = cm.OneSample(samples=samples)
    e = cm.Experiment(bandit, policy, update, baseline, behaviour, estimator, steps=10)
    theta = reference.initial_theta(e)
    law = reference.one_step_law(e, theta)
    probability = np.array([outcome.probability for outcome in law])
    assert probability.sum() == pytest.approx(1.0, abs=1e-14)
    assert isinstance(update.step_size, float)
    directions = (np.array([outcome.theta for outcome in law]) - theta) / update.step_size
    directions = seen(e, directions)
    mean = probability @ directions

    r = np.array(bandit.means)
    pi = reference.policy_probabilities(policy, theta)
    analytic = seen(e, reference.expected_direction(policy, update, pi, r))
    np.testing.assert_allclose(mean, analytic, atol=1e-12)

    variance = probability @ np.sum((directions - mean) ** 2, axis=1)
    assert reference.gradient_variance(e, theta) == pytest.approx(variance, rel=1e-10)


def test_expected_directions_are_the_closed_forms() -> None:
    jacobian = np.diag(PI) - np.outer(PI, PI)
    g = reference.expected_direction(cm.Softmax(), cm.Vanilla(step_size=1.0), PI, R)
    np.testing.assert_allclose(g, jacobian @ R, rtol=1e-13)
    g = reference.expected_direction(cm.Softmax(), cm.Natural(step_size=1.0), PI, R)
    np.testing.assert_allclose(jacobian @ g, jacobian @ R, rtol=1e-13)


@pytest.mark.parametrize("update", [cm.Natural(step_size=1.0), cm.Vanilla(step_size=1.0)])
@pytest.mark.parametrize("policy", [cm.Softmax(), cm.Sigmoid()])
def test_entropy_direction_is_the_gradient_of_the_entropy(policy: Policy, update: Update) -> None:
    theta = np.array([0.7]) if isinstance(policy, cm.Sigmoid) else np.array([0.7, -0.3, 1.1])

    def h(x: np.ndarray) -> float:
        return reference.entropy(
            reference.policy_probabilities(policy, x), reference.log_policy(policy, x)
        )

    step = 1e-6 * np.eye(len(theta))
    gradient = np.array([(h(theta + d) - h(theta - d)) / 2e-6 for d in step])
    direction = reference.entropy_direction(policy, update, theta)
    if isinstance(update, cm.Natural):
        pi = reference.policy_probabilities(policy, theta)
        sigmoid = isinstance(policy, cm.Sigmoid)
        fisher = np.array([[pi[0] * pi[1]]]) if sigmoid else np.diag(pi) - np.outer(pi, pi)
        direction = fisher @ direction
    np.testing.assert_allclose(direction, gradient, atol=1e-9)


def test_sigmoid_is_the_difference_of_two_softmax_parameters() -> None:
    parts: dict[str, Any] = {
        "problem": cm.Bandit([0.8, 0.3], noise="bernoulli"),
        "baseline": cm.MinVariance() - 0.3,
        "behaviour": cm.UniformMixture(0.2),
        "steps": 40,
    }
    for update, softmax_update in [
        (cm.Natural(step_size=0.1, entropy=0.2), cm.Natural(step_size=0.1, entropy=0.2)),
        # (e_a - pi) moves both parameters, so their difference moves twice as far.
        (cm.Vanilla(step_size=0.1, entropy=0.2), cm.Vanilla(step_size=0.05, entropy=0.2)),
    ]:
        one = cm.Experiment(policy=cm.Sigmoid(-0.5), update=update, **parts)
        two = cm.Experiment(policy=cm.Softmax([-0.5, 0.0]), update=softmax_update, **parts)
        single = reference.simulate(one, key=3, run=1)
        double = reference.simulate(two, key=3, run=1)
        np.testing.assert_array_equal(single["action"], double["action"])
        difference = double["theta"][:, 0] - double["theta"][:, 1]
        np.testing.assert_allclose(single["theta"][:, 0], difference, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(single["policy"], double["policy"], rtol=1e-12)


def test_two_arm_variance_of_the_paper() -> None:
    for theta, b in itertools.product((-3.0, 0.0, 2.0), (-1.0, 0.2, 1.0)):
        e = cm.Experiment(
            cm.Bandit([1.0, 0.0]),
            cm.Sigmoid(theta),
            cm.Natural(step_size=0.1),
            baseline=cm.Constant(b),
            steps=1,
        )
        p = 1.0 / (1.0 + math.exp(-theta))
        expected = (1.0 - p - b) ** 2 / (p * (1.0 - p))
        got = reference.gradient_variance(e, np.array([theta]))
        assert got == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("policy", "update"), UPDATES[:2])
def test_perturbing_b_star_both_ways_gives_equal_second_moments(
    experiment: cm.Experiment, policy: Policy, update: Update
) -> None:
    metric = "natural" if isinstance(update, cm.Natural) else "gradient"
    star = cm.MinVariance(metric=metric)
    theta = np.array([0.3, -0.2, 0.5])

    def second_moment(baseline: Baseline) -> float:
        e = experiment.replace(policy=policy, update=update, baseline=baseline)
        law = reference.one_step_law(e, theta)
        return sum(o.probability * float(np.sum((o.theta - theta) ** 2)) for o in law)

    assert second_moment(star + 0.5) == pytest.approx(second_moment(star - 0.5), rel=1e-12)
    assert second_moment(star) < second_moment(star + 0.01)


def test_implicit_exploration_replaces_the_weight() -> None:
    pi = mu = np.array([0.25, 0.75])
    g = reference.update_direction(
        cm.Softmax(), cm.Natural(step_size=1.0), pi, mu, a=0, advantage=1.0, implicit=0.25
    )
    np.testing.assert_array_equal(g, [2.0, 0.0])
