"""Expected paths and gradient flows."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal import exact

THREE = cm.Bandit([1.0, 0.7, 0.0])
UPDATES = {
    "natural": (cm.Softmax([0, 3, 5]), cm.Natural(0.025)),
    "natural entropy": (cm.Softmax([0, 3, 5]), cm.Natural(0.025, entropy=0.3)),
    "vanilla": (cm.Softmax([0, 1, 2]), cm.Vanilla(0.5)),
    "vanilla entropy": (cm.Softmax([0, 1, 2]), cm.Vanilla(cm.Decay(0.5, 0.5), entropy=0.1)),
    "direct": (cm.Direct([0.1, 0.2, 0.7]), cm.Projected(0.05)),
}


@pytest.mark.parametrize("name", UPDATES)
def test_expected_path_is_the_engines(name: str) -> None:
    policy, update = UPDATES[name]
    e = cm.Experiment(THREE, policy, update, steps=40)
    path = exact.expected_path(e)
    record = cm.Record("policy", "value", every=1)
    data = cm.run(e.replace(estimator=cm.Expected(), record=record), runs=1)
    np.testing.assert_allclose(path.policy, data.policy.values[0], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(path.value, data.value.values[0], rtol=1e-10)
    some = exact.expected_path(e, [0, 7, 31])
    np.testing.assert_array_equal(some.theta, path.theta[[0, 7, 31]])


@pytest.mark.parametrize("name", UPDATES)
def test_the_flow_is_the_limit_of_small_steps(name: str) -> None:
    policy, update = UPDATES[name]
    times = np.array([0.0, 0.5, 2.0])
    e = cm.Experiment(THREE, policy, update.replace(step_size=0.1), steps=1)
    flow = exact.gradient_flow(e, times)
    errors = []
    for n in (100, 200):
        small = e.replace(**{"update.step_size": 1.0 / n})
        path = exact.expected_path(small, np.rint(times * n))
        errors.append(np.abs(path.policy - flow.policy).max())
    assert errors[1] < 0.01
    # Euler's method is of first order: half the step, half the error.
    assert errors[1] < 0.6 * errors[0] + 1e-12


def test_two_arms_in_closed_form() -> None:
    # dtheta/ds = p (1 - p) integrates to e^theta + 2 theta - e^-theta = s + constant.
    e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1.0), cm.Vanilla(0.1), steps=1)
    flow = exact.gradient_flow(e, np.linspace(0.0, 50.0, 11))
    theta = flow.theta[:, 0]
    left = np.exp(theta) + 2.0 * theta - np.exp(-theta)
    np.testing.assert_allclose(left - left[0], flow.time, rtol=1e-8, atol=1e-8)


def test_direct_flow_reaches_the_corner_in_pieces() -> None:
    e = cm.Experiment(THREE, cm.Direct([0.1, 0.3, 0.6]), cm.Projected(0.1), steps=1)
    flow = exact.gradient_flow(e, [0.0, 0.5, 1.0, 2.0, 10.0])
    np.testing.assert_allclose(flow.policy.sum(axis=1), 1.0)
    # Velocity (1, .7, 0) - 1.7/3 at first.
    np.testing.assert_allclose(
        flow.policy[1], np.array([0.1, 0.3, 0.6]) + 0.5 * (np.array([1, 0.7, 0]) - 1.7 / 3)
    )
    np.testing.assert_array_equal(flow.policy[-1], [1.0, 0.0, 0.0])
    # An arm of probability 0 comes back if it pays more than the mean of the others.
    back = exact.gradient_flow(e.replace(policy=cm.Direct([0.0, 0.5, 0.5])), [0.0, 0.3])
    assert back.policy[1, 0] > 0.0


def test_with_entropy_the_flow_ends_at_the_boltzmann_policy() -> None:
    for update in (cm.Natural(0.1, entropy=0.5), cm.Vanilla(0.1, entropy=0.5)):
        e = cm.Experiment(THREE, cm.Softmax([0, 1, 2]), update, steps=1)
        end = exact.gradient_flow(e, [0.0, 400.0]).policy[-1]
        boltzmann = np.exp(np.array(THREE.means) / 0.5)
        np.testing.assert_allclose(end, boltzmann / boltzmann.sum(), rtol=1e-6)


def test_refusals() -> None:
    e = cm.Experiment(THREE, cm.Softmax(), cm.Natural(0.1), steps=1)
    with pytest.raises(cm.ConfigError, match="increasing"):
        exact.gradient_flow(e, [1.0, 0.0])
    with pytest.raises(cm.ConfigError, match="whole"):
        exact.expected_path(e, [0.5])
    tempered = cm.Vanilla(0.1, entropy=cm.Decay(1.0, 1.0))
    with pytest.raises(cm.CombinationError, match="constant"):
        exact.gradient_flow(e.replace(update=tempered), [1.0])


# -- rules that have an expectation of their own ---------------------------------------------------

BINARY = cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli")
RULE = cm.Experiment(BINARY, cm.Softmax([0, 1, 0.5]), cm.Vanilla(0.3), cm.Value(), steps=12)
EXPECTED = {
    "weight": {"estimator": cm.OneSample(weight=cm.Delightful(0.5))},
    "old data": {
        "estimator": cm.OneSample(weight=cm.Tapered()),
        "behaviour": cm.Fixed([0.2, 0.3, 0.5]),
        "baseline": 0.5,
    },
    "update": {"update": cm.update("maximum(A, 0) * score")(0.3)},
    "link": {"policy": cm.Escort([0.5, 1, 0.7], 3)},
    "adam": {"optimiser": cm.Adam(), "update": cm.Vanilla(cm.Decay(0.1, 0.5))},
    "clipped": {"optimiser": cm.ClipNorm(0.05), "regulariser": cm.Entropy(0.2)},
    "sampled KL": {"regulariser": cm.KL("start", 0.3, form="k3")},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_of_one_sample_it_is_the_engine_s(name: str) -> None:
    e = RULE.replace(**EXPECTED[name])
    path = exact.expected_path(e)
    weight = getattr(e.estimator, "weight", None)
    expected = e.replace(
        estimator=cm.Expected(weight=weight), record=cm.Record("policy", "theta", every=1)
    )
    data = cm.run(expected, runs=1, rng=0)
    np.testing.assert_allclose(path.policy, data["policy"].to_numpy()[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(path.theta, data["theta"].to_numpy()[0], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "group",
    [
        cm.Group(2, scale="std"),
        cm.Group(4, "leave_one_out"),
        cm.Group(3, "median", scale="std", eps=0.1, weight=cm.Asymmetric()),
    ],
    ids=repr,
)
def test_of_a_group_it_is_the_mean_of_many_runs_of_one_update(group: cm.Group) -> None:
    e = RULE.replace(estimator=group, steps=1, record=cm.Record("theta"))
    path = exact.expected_path(e.replace(steps=2))
    np.testing.assert_allclose(
        np.diff(path.theta, axis=0)[1],
        exact.one_step_law(e, theta=path.theta[1]).mean(),
        rtol=1e-12,
    )
    drawn = cm.run(e, runs=40_000, rng=0)["theta"].to_numpy()[:, -1]
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - path.theta[1]) < 4 * error).all()


def test_leave_one_out_follows_the_true_gradient() -> None:
    one_out = exact.expected_path(RULE.replace(estimator=cm.Group(4, "leave_one_out")))
    np.testing.assert_allclose(one_out.theta, exact.expected_path(RULE).theta, rtol=1e-12)
    itself = exact.expected_path(RULE.replace(estimator=cm.Group(4), update=cm.Vanilla(0.4)))
    np.testing.assert_allclose(itself.theta, one_out.theta, rtol=1e-12)


def test_implicit_exploration_is_a_bias() -> None:
    e = RULE.replace(estimator=cm.OneSample(implicit=0.2))
    assert np.abs(exact.expected_path(e).policy - exact.expected_path(RULE).policy).max() > 0.01


def test_epochs_and_groups_as_weights_are_named() -> None:
    with pytest.raises(cm.ConfigError, match=r"epochs = 3"):
        exact.expected_path(RULE.replace(estimator=cm.Group(4, epochs=3)))
    with pytest.raises(cm.ConfigError, match=r"expected_path"):
        cm.Expected(weight=cm.Group(4))  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match=r"expected_path"):
        RULE.replace(estimator=cm.Expected(), baseline=cm.baseline("mean(R)"))
