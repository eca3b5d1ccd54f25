"""The oracle against closed forms, known answers and enumeration; nothing compiled is used."""

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


def experiment(**changes: Any) -> cm.Experiment:
    """A three-armed Bernoulli experiment with `changes`."""
    parts: dict[str, Any] = {
        "problem": cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli"),
        "policy": cm.Softmax([0.3, -0.2, 0.5]),
        "update": cm.Natural(step_size=0.1),
        "steps": 10,
    }
    return cm.Experiment(**(parts | changes))


# Streams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000",
         "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
         "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
         "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)  # fmt: skip
def test_philox_gives_the_published_answers(counter: str, key: str, words: str) -> None:
    got = reference.philox4x32(
        [int(x, 16) for x in counter.split()], [int(x, 16) for x in key.split()]
    )
    assert [f"{x:08x}" for x in got] == words.split()


def test_philox_is_elementwise_over_leading_axes() -> None:
    counters = np.arange(24).reshape(2, 3, 4)
    got = reference.philox4x32(counters, [1, 2])
    assert got.dtype == np.uint32
    for i, j in itertools.product(range(2), range(3)):
        np.testing.assert_array_equal(got[i, j], reference.philox4x32(counters[i, j], [1, 2]))


def test_uniform_number_d_is_the_documented_function_of_key_run_slot_d() -> None:
    key, run, slot, d = 0xDEADBEEF_01234567, (5 << 32) | 9, 1, (3 << 33) | (7 << 1)
    words = reference.philox4x32([7, (3 << 8) | 1, 9, 5], [0x01234567, 0xDEADBEEF])
    x0, x1, x2, x3 = (int(x) for x in words)
    expected = [(x0 | x1 << 32) >> 12, (x2 | x3 << 32) >> 12]
    got = reference.uniforms(key, run, slot, d, 2)
    assert [int(u * 2**52) for u in got] == expected
    assert np.all((got >= 0.0) & (got < 1.0))


def test_streams_of_other_runs_slots_and_keys_differ_and_are_uniform() -> None:
    streams = [
        reference.uniforms(key, run, slot, 0, 2000)
        for key, run, slot in itertools.product((0, 1), (0, 1), (0, 1))
    ]
    assert len({stream.tobytes() for stream in streams}) == len(streams)
    # The standard error of the mean of 16,000 uniforms is 0.0023.
    assert abs(np.mean(streams) - 0.5) < 5 * 0.0023


def test_an_arm_of_probability_zero_is_never_drawn() -> None:
    mu = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    drawn = {reference.draw_action(mu, u) for u in (0.0, 0.2, 0.25, 0.5, 1.0 - 2.0**-52)}
    assert drawn == {1, 3}


def test_rewards_are_quantiles_of_their_law() -> None:
    gaussian = cm.Bandit([1.0, 2.0], noise="gaussian", sigma=[0.5, 2.0])
    assert reference.draw_reward(gaussian, 1, 0.5 - 2.0**-53) == 2.0
    above = reference.draw_reward(gaussian, 1, 0.97724986805182079 - 2.0**-53)
    assert above == pytest.approx(2.0 + 2.0 * 2.0, rel=1e-12)
    assert math.isfinite(reference.draw_reward(gaussian, 0, 0.0))
    assert math.isfinite(reference.draw_reward(gaussian, 0, 1.0 - 2.0**-52))

    uniform = cm.Bandit([1.0, 2.0], noise="uniform", half_width=0.5)
    assert [reference.draw_reward(uniform, 0, v) for v in (0.0, 0.5, 0.75)] == [0.5, 1.0, 1.25]

    bernoulli = cm.Bandit([0.25, 1.0], noise="bernoulli")
    assert [reference.draw_reward(bernoulli, 0, v) for v in (0.0, 0.2, 0.25, 0.9)] == [1, 1, 0, 0]
    assert reference.draw_reward(bernoulli, 1, 1.0 - 2.0**-52) == 1.0

    table = cm.Bandit.from_table([[(-1.0, 0.25), (3.0, 0.75)], [(5.0, 1.0)]])
    assert [reference.draw_reward(table, 0, v) for v in (0.0, 0.25, 0.99)] == [-1.0, 3.0, 3.0]
    assert reference.draw_reward(table, 1, 0.5) == 5.0
    assert table.means == (2.0, 5.0)


# Policies -----------------------------------------------------------------------------------------


def test_softmax_and_its_logarithm_are_defined_where_pi_underflows() -> None:
    theta = np.array([700.0, -700.0, 0.0])
    pi, log_pi = reference.softmax(theta), reference.log_softmax(theta)
    assert pi[0] == 1.0
    assert pi[1] == 0.0
    np.testing.assert_array_equal(log_pi[1:], [-1400.0, -700.0])
    assert log_pi[0] == pytest.approx(-math.exp(-700.0), rel=1e-12)
    assert reference.entropy(pi, log_pi) == pytest.approx(700.0 * math.exp(-700.0), rel=1e-12)
    # A nearly certain arm keeps a log pi that is accurate, not merely close to zero.
    assert reference.log_softmax([40.0, 0.0])[0] == pytest.approx(-math.exp(-40.0), rel=1e-12)


def test_distance_does_not_cancel_next_to_the_vertex() -> None:
    pi = np.array([1.0, 1e-20, 0.0])
    assert reference.optimal_distance(pi, 0) == pytest.approx(math.sqrt(2) * 1e-20, rel=1e-12)


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


# Baselines ----------------------------------------------------------------------------------------


def score_norms(pi: np.ndarray) -> np.ndarray:
    """||grad log pi(i)||^2 for a softmax, by its definition."""
    return np.array([np.sum((np.eye(len(pi))[i] - pi) ** 2) for i in range(len(pi))])


def test_each_baseline_is_its_definition() -> None:
    b = reference.baseline_value
    value = PI @ R
    assert b(cm.Constant(-1.5), PI, R) == -1.5
    assert b(cm.Value(), PI, R) == pytest.approx(value, rel=1e-15)
    w = PI * score_norms(PI)
    assert b(cm.MinVariance(), PI, R) == pytest.approx(w @ R / w.sum(), rel=1e-14)
    w = 1.0 / PI
    natural = cm.MinVariance(metric="natural")
    assert b(natural, PI, R) == pytest.approx(w @ R / w.sum(), rel=1e-14)
    for lam in (0.0, 0.3, -4.0):
        # The second moment of (R - b)(lambda e + e_a / pi_a) is minimal.
        updates = lam + np.diag(1.0 / PI)
        w = PI * np.sum(updates**2, axis=1)
        fixed = cm.MinVariance(metric="natural", lam=lam)
        assert b(fixed, PI, R) == pytest.approx(w @ R / w.sum(), rel=1e-13)
    assert b(cm.Maximum(), PI, R) == 1.0
    assert b(cm.Gap(), PI, R) == pytest.approx(0.85, rel=1e-15)
    assert b(cm.Gap(0.25), PI, R) == pytest.approx(0.775, rel=1e-15)


def test_value_baseline_is_b_star_minus_the_covariance_term() -> None:
    norms = score_norms(PI)
    covariance = PI @ (R * norms) - (PI @ R) * (PI @ norms)
    b_star = reference.baseline_value(cm.MinVariance(), PI, R)
    value = float(PI @ R)
    assert value == pytest.approx(b_star - covariance / (PI @ norms), rel=1e-14)


def test_the_algebra_of_baselines() -> None:
    b = reference.baseline_value
    star, value = b(cm.MinVariance(), PI, R), b(cm.Value(), PI, R)
    assert b(cm.MinVariance() + 0.5, PI, R) == pytest.approx(star + 0.5, rel=1e-15)
    assert b(0.9 * cm.Value() - 0.1, PI, R) == pytest.approx(0.9 * value - 0.1, rel=1e-14)
    mixed = cm.MinVariance() - 2 * cm.Value()
    assert b(mixed, PI, R) == pytest.approx(star - 2 * value, rel=1e-14)
    relative = cm.MinVariance().relative(0.25)
    assert b(relative, PI, R) == pytest.approx(star + 0.25 * (1.0 - star), rel=1e-14)


@pytest.mark.parametrize("pi", [[1.0], [1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1e-200, 0.0]])
@pytest.mark.parametrize(
    "baseline",
    [
        cm.MinVariance(),
        cm.MinVariance(metric="natural"),
        cm.MinVariance(metric="natural", lam=0.5),
        cm.MinVariance(metric="natural", lam=-1.0),
    ],
)
def test_minimum_variance_baselines_are_finite_on_the_boundary(
    pi: list[float], baseline: Baseline
) -> None:
    means = np.array([0.3, 0.7, 0.1])[: len(pi)]
    b = reference.baseline_value(baseline, np.array(pi), means)
    assert means.min() <= b <= means.max()


def test_gradient_baseline_of_a_certain_policy_is_its_value() -> None:
    means = np.array([0.3, 0.7, 0.1])
    certain = np.array([0.0, 1.0, 0.0])
    assert reference.baseline_value(cm.MinVariance(), certain, means) == 0.7
    # Before the others underflow it is the mean of the others, weighted by their probabilities.
    nearly = np.array([1e-30, 1.0, 3e-30])
    b = reference.baseline_value(cm.MinVariance(), nearly, means)
    assert b == pytest.approx((0.3 + 3 * 0.1) / 4, rel=1e-12)


def test_running_means() -> None:
    rewards = np.array([2.0, 4.0, 9.0])
    start = reference.initial_memory(cm.RunningMean(initial=-7.0) + 1.0)
    average = reference.remember(cm.RunningMean(initial=-7.0) + 1.0, start, rewards)
    assert (average.mean, average.count) == (5.0, 3)
    b = reference.baseline_value(cm.RunningMean(initial=-7.0) + 1.0, PI, R, average)
    assert b == 6.0
    moving = cm.RunningMean(rate=0.5, initial=0.0)
    assert reference.remember(moving, reference.initial_memory(moving), rewards).mean == 5.75
    assert reference.remember(cm.Value(), reference.Memory(), rewards) == reference.Memory()


# Behaviours and schedules -------------------------------------------------------------------------


def test_each_behaviour_is_its_definition() -> None:
    mu = reference.behaviour_probabilities
    np.testing.assert_array_equal(mu(cm.OnPolicy(), PI), PI)
    np.testing.assert_allclose(mu(cm.UniformMixture(0.2), PI), 0.8 * PI + 0.05, rtol=1e-15)
    np.testing.assert_allclose(mu(cm.EpsilonGreedy(0.2), PI), [0.85, 0.05, 0.05, 0.05], rtol=1e-15)
    tie = np.array([0.2, 0.4, 0.4])
    np.testing.assert_allclose(mu(cm.EpsilonGreedy(0.3), tie), [0.1, 0.8, 0.1], rtol=1e-15)
    np.testing.assert_array_equal(mu(cm.Fixed([0.1, 0.2, 0.3, 0.4]), PI), [0.1, 0.2, 0.3, 0.4])


def test_schedules_hold_one_value_per_update_and_keep_the_last() -> None:
    decay = cm.Decay(0.5, 0.5)
    assert reference.scheduled(0.3, 5, 10) == 0.3
    assert reference.scheduled(decay, 3, 10) == 0.25
    assert reference.scheduled(decay, 10, 10) == reference.scheduled(decay, 9, 10)
    assert reference.scheduled(decay, 0, 0) == 0.5
    assert reference.scheduled(cm.Values([0.4, 0.2]), 1, 2) == 0.2


# Updates ------------------------------------------------------------------------------------------

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
    e = experiment(
        problem=bandit,
        policy=policy,
        update=update,
        behaviour=behaviour,
        baseline=baseline,
        estimator=cm.OneSample(samples=samples),
    )
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
    policy: Policy, update: Update
) -> None:
    metric = "natural" if isinstance(update, cm.Natural) else "gradient"
    star = cm.MinVariance(metric=metric)
    theta = np.array([0.3, -0.2, 0.5])

    def second_moment(baseline: Baseline) -> float:
        e = experiment(policy=policy, update=update, baseline=baseline)
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


# Whole runs ---------------------------------------------------------------------------------------


def test_two_steps_by_hand() -> None:
    e = cm.Experiment(
        cm.Bandit([1.0, 0.0]),
        cm.Sigmoid(0.0),
        cm.Natural(step_size=0.1),
        baseline=cm.Constant(-1.0),
        steps=2,
    )
    got = reference.simulate(e, key=0, run=0, actions=[[0], [1]], rewards=[[1.0], [0.0]])
    p1 = 1.0 / (1.0 + math.exp(-0.4))
    theta2 = 0.4 - 0.1 * 1.0 / (1.0 - p1)
    p2 = 1.0 / (1.0 + math.exp(-theta2))
    np.testing.assert_allclose(got["theta"][:, 0], [0.0, 0.4, theta2], rtol=1e-14)
    np.testing.assert_allclose(got["value"], [0.5, p1, p2], rtol=1e-14)
    np.testing.assert_allclose(got["regret"], [0.0, 0.5, 0.5 + 1.0 - p1], rtol=1e-14)
    np.testing.assert_allclose(got["distance"], np.sqrt(2) * (1.0 - got["value"]), rtol=1e-14)
    np.testing.assert_array_equal(got["baseline"], -1.0)
    assert got["entropy"][0] == pytest.approx(math.log(2.0), rel=1e-15)
    # The draw after the last update is made, and recorded, from the stream.
    assert got["action"].shape == got["reward"].shape == (3, 1)


def test_expected_updates_draw_nothing_and_ignore_the_baseline() -> None:
    e = experiment(estimator=cm.Expected(), baseline=cm.Constant(5.0))
    got = reference.simulate(e, key=0, run=0)
    assert not {"action", "reward"} & set(got)
    theta0 = reference.initial_theta(e)
    np.testing.assert_allclose(got["theta"][-1], theta0 + 10 * 0.1 * np.array([0.9, 0.6, 0.1]))
    np.testing.assert_array_equal(got["variance"], 0.0)
    np.testing.assert_array_equal(got["baseline"], 5.0)


def test_replaying_a_run_gives_the_run() -> None:
    e = experiment(
        baseline=cm.RunningMean(rate=0.1) - 0.2,
        estimator=cm.OneSample(samples=3, implicit=0.05),
        behaviour=cm.EpsilonGreedy(cm.Decay(0.5, 0.25)),
        steps=25,
    )
    free = reference.simulate(e, key=11, run=4)
    forced = reference.simulate(
        e, key=0, run=0, actions=free["action"][:-1], rewards=free["reward"][:-1]
    )
    for name in set(free) - {"action", "reward"}:
        np.testing.assert_array_equal(free[name], forced[name], err_msg=name)
    np.testing.assert_array_equal(free["reward"][:-1], forced["reward"][:-1])


def test_a_shift_of_rewards_and_constant_baseline_together_changes_nothing() -> None:
    def run(shift: float) -> dict[str, np.ndarray]:
        problem = cm.Bandit([1.0 + shift, 0.5 + shift, shift])
        e = experiment(problem=problem, baseline=cm.Constant(0.25 + shift))
        return reference.simulate(e, key=5, run=0)

    here, there = run(0.0), run(8.0)
    np.testing.assert_array_equal(here["action"], there["action"])
    np.testing.assert_allclose(here["theta"], there["theta"], rtol=1e-12)


def test_zero_steps_and_one_arm_are_defined() -> None:
    got = reference.simulate(experiment(steps=0), key=0, run=0)
    assert got["theta"].shape == (1, 3)
    assert got["action"].shape == (1, 1)
    lonely = cm.Experiment(cm.Bandit([0.5]), cm.Softmax(), cm.Natural(step_size=0.1), steps=3)
    got = reference.simulate(lonely, key=0, run=0)
    np.testing.assert_array_equal(got["value"], 0.5)
    np.testing.assert_array_equal(got["variance"], 0.0)
    np.testing.assert_array_equal(got["distance"], 0.0)


def test_law_of_continuous_rewards_is_refused() -> None:
    e = experiment(problem=cm.Bandit([1.0, 0.0, 0.0], noise="gaussian", sigma=1.0))
    with pytest.raises(ValueError, match="gaussian"):
        reference.one_step_law(e, np.zeros(3))
