"""Named parts in the core against plain mathematics: groups, weights, regularisers, expectations.

The core runs formulas; the oracle here does not look at them. Every update of a run is computed
again from the recorded theta, actions and rewards, by the sentences of the documentation.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.config import Regulariser, Weight, spelled_out
from committal.config.spelled import reference_of
from committal.reference import group_advantages, regulariser_direction

THREE = cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli")
NOISY = cm.Bandit([1.0, 0.7, 0.0], noise="gaussian", sigma=0.5)
EVERYTHING = cm.Record("theta", "policy", "action", "reward", every=1)
BASE = cm.Experiment(THREE, cm.Softmax([0, 1, 0.5]), cm.Vanilla(0.3), steps=12, record=EVERYTHING)


def probabilities(theta: np.ndarray) -> np.ndarray:
    e = np.exp(theta - theta.max())
    return np.asarray(e / e.sum())


def weight_of(weight: Weight | None, A: float, rho: float, pi_a: float) -> float:
    match weight:
        case None:
            return rho
        case cm.Asymmetric():
            return 1.0
        case cm.Tapered():
            return 1.0 if A >= 0.0 else min(rho, 1.0)
        case cm.Clip():
            outside = rho > 1.0 + weight.high if A > 0.0 else rho < 1.0 - weight.low
            return 0.0 if A != 0.0 and outside else rho
        case cm.Truncate():
            return min(max(rho, weight.low), weight.high)
        case cm.Delightful():
            return rho / (1.0 + math.exp(A * math.log(pi_a) / weight.temperature))
    raise NotImplementedError(weight)


def gradient(exp: cm.Experiment, theta: np.ndarray, a: np.ndarray, R: np.ndarray) -> np.ndarray:
    """g of an update of a softmax bandit, from what was drawn."""
    estimator = exp.estimator
    pi = probabilities(theta)
    mu = exp.behaviour.at(pi, 0)
    r = np.array(exp.problem.means)  # type: ignore[attr-defined]
    X = R - np.asarray(exp.baseline.at(pi, r))
    A = group_advantages(estimator, X, a, pi) if isinstance(estimator, cm.Group) else X
    natural = isinstance(exp.update, cm.Natural)
    g = np.zeros(len(pi))
    for A_i, arm in zip(A, a, strict=True):
        one = np.eye(len(pi))[arm]
        psi = one / pi[arm] if natural else one - pi
        weight: Weight | None = estimator.weight  # type: ignore[attr-defined]
        w = weight_of(weight, float(A_i), pi[arm] / mu[arm], pi[arm])
        g += w * A_i * psi / len(a)
    if exp.regulariser is not None:
        ref = reference_of(exp)
        sampled = getattr(exp.regulariser, "form", "exact") != "exact"
        for arm in a if sampled else [None]:
            term = regulariser_direction(exp.regulariser, natural, pi, ref, arm)
            g += term / (len(a) if sampled else 1)
    return g


def assert_every_update(exp: cm.Experiment, runs: int = 8) -> None:
    data = cm.run(exp, runs=runs, rng=1)
    theta, action, reward = (data[name].to_numpy() for name in ("theta", "action", "reward"))
    alpha = exp.update.step_size
    assert isinstance(alpha, float)
    for run, t in itertools.product(range(runs), range(exp.steps)):
        a, R = np.atleast_1d(action[run, t]), np.atleast_1d(reward[run, t])
        g = gradient(exp, theta[run, t], a, R)
        np.testing.assert_allclose(
            theta[run, t + 1], theta[run, t] + alpha * g, rtol=1e-11, atol=1e-12
        )


CENTRES = (None, "mean", "leave_one_out", "median", "weighted", "weighted_leave_one_out")
WEIGHTS: tuple[Weight | None, ...] = (
    None,
    cm.Asymmetric(),
    cm.Tapered(),
    cm.Clip(0.2, 0.28),
    cm.Truncate(0.5, 1.5),
    cm.Delightful(0.7),
)


@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("scale", [{}, {"scale": "std"}, {"scale": "std", "ddof": 1, "eps": 1e-3}])
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.05)], ids=["vanilla", "natural"])
def test_groups(centre: str | None, scale: dict[str, Any], update: Any) -> None:
    group = cm.Group(samples=5, centre=centre, **scale)
    assert_every_update(BASE.replace(estimator=group, update=update))
    other = BASE.replace(problem=NOISY, baseline=cm.Value() + 0.25, update=update)
    assert_every_update(other.replace(estimator=group, behaviour=cm.UniformMixture(0.3)))


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.05)], ids=["vanilla", "natural"])
def test_weights(weight: Weight | None, update: Any) -> None:
    off = BASE.replace(update=update, baseline=cm.Value(), behaviour=cm.Fixed([0.2, 0.3, 0.5]))
    assert_every_update(off.replace(estimator=cm.OneSample(samples=3, weight=weight)))
    assert_every_update(off.replace(estimator=cm.Group(4, scale="std", weight=weight)))


@pytest.mark.parametrize(
    "regulariser",
    [
        cm.Entropy(0.2),
        cm.KL([0.2, 0.3, 0.5], 0.2),
        cm.KL("start", 0.2, form="k1"),
        cm.KL([0.2, 0.3, 0.5], 0.2, form="k2"),
        cm.KL([0.2, 0.3, 0.5], 0.2, form="k3"),
        cm.ReverseKL([0.2, 0.3, 0.5], 0.2),
        cm.LogBarrier(0.1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.05)], ids=["vanilla", "natural"])
def test_regularisers(regulariser: Regulariser, update: Any) -> None:
    exp = BASE.replace(update=update, regulariser=regulariser, baseline=cm.Value())
    assert_every_update(exp.replace(estimator=cm.OneSample(2)))
    assert_every_update(exp.replace(estimator=cm.Group(4, scale="std", weight=cm.Clip(0.2))))
    assert_every_update(exp.replace(behaviour=cm.UniformMixture(0.5)))


@pytest.mark.parametrize(
    "regulariser",
    [
        cm.Entropy(0.2),
        cm.KL([0.2, 0.3, 0.5], 0.2),
        cm.ReverseKL([0.2, 0.3, 0.5], 0.2),
        cm.LogBarrier(0.1),
    ],
    ids=repr,
)
def test_regularisers_through_a_link(regulariser: Regulariser) -> None:
    ref, theta = np.array([0.2, 0.3, 0.5]), np.array([0.5, -1.0, 0.7])

    def maximised(x: np.ndarray) -> float:
        pi = np.abs(x) ** 3 / (np.abs(x) ** 3).sum()
        return {
            "Entropy": -0.2 * pi @ np.log(pi),
            "KL": -0.2 * pi @ np.log(pi / ref),
            "ReverseKL": -0.2 * ref @ np.log(ref / pi),
            "LogBarrier": 0.1 * np.log(pi).mean(),
        }[type(regulariser).__name__]

    e = 1e-6 * np.eye(3)
    want = [(maximised(theta + d) - maximised(theta - d)) / 2e-6 for d in e]
    exp = BASE.replace(policy=cm.Escort(theta, 3), regulariser=regulariser, steps=1)
    exp = exp.replace(estimator=cm.Expected(), record=cm.Record("theta"))
    with_it = cm.run(exp, runs=1, rng=0)["theta"].to_numpy()[0, -1]
    without = cm.run(exp.replace(regulariser=None), runs=1, rng=0)["theta"].to_numpy()[0, -1]
    np.testing.assert_allclose((with_it - without) / 0.3, want, atol=1e-8)
    law = reference.one_step_law(exp.replace(estimator=cm.OneSample()), theta)
    mean = sum(outcome.probability * outcome.theta for outcome in law)
    np.testing.assert_allclose(with_it, mean, atol=1e-12)


def test_the_divergence_in_the_reward_is_subtracted_before_the_centre() -> None:
    ref = np.array([0.2, 0.3, 0.5])
    exp = BASE.replace(regulariser=cm.KL(ref, 0.3, form="reward"), estimator=cm.Group(samples=4))
    data = cm.run(exp, runs=4, rng=1)
    theta, action, reward = (data[name].to_numpy() for name in ("theta", "action", "reward"))
    for run, t in itertools.product(range(4), range(exp.steps)):
        pi, a = probabilities(theta[run, t]), action[run, t]
        X = reward[run, t] - 0.3 * np.log(pi[a] / ref[a])
        g = ((X - X.mean())[:, None] * (np.eye(3)[a] - pi)).mean(axis=0)
        np.testing.assert_allclose(theta[run, t + 1], theta[run, t] + 0.3 * g, atol=1e-12)


def test_a_mistake_would_be_seen() -> None:
    wrong = BASE.replace(estimator=cm.Group(samples=5, scale="std", eps=1e-3))
    data = cm.run(wrong, runs=1, rng=1)
    theta, a, R = (data[name].to_numpy()[0] for name in ("theta", "action", "reward"))
    right = wrong.replace(**{"estimator.eps": 0.0})
    g = [gradient(right, theta[t], a[t], R[t]) for t in range(5)]
    assert not np.allclose(theta[1:6], theta[:5] + 0.3 * np.array(g), rtol=1e-11, atol=1e-12)


# -- bit for bit -----------------------------------------------------------------------------------


def same_bits(one: cm.Experiment, other: cm.Experiment, runs: int = 200) -> bool:
    x, y = (cm.run(exp, runs=runs, rng=3)["theta"].to_numpy() for exp in (one, other))
    return x.tobytes() == y.tobytes()


MANY = cm.Bandit(np.linspace(0.9, 0.1, 10), noise="bernoulli")


@pytest.mark.parametrize("problem", [THREE, MANY], ids=["3", "10"])
@pytest.mark.parametrize("update", [cm.Vanilla(0.7), cm.Natural(0.07)], ids=["vanilla", "natural"])
@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.UniformMixture(0.3)], ids=["on", "off"])
def test_two_binary_rewards_divided_by_their_std_are_leave_one_out(
    problem: cm.Bandit, update: Any, behaviour: Any
) -> None:
    exp = BASE.replace(problem=problem, policy=cm.Softmax(), update=update, behaviour=behaviour)
    exp = exp.replace(steps=60, record=cm.Record("theta", every=20))
    grpo, rloo = cm.Group(2, scale="std"), cm.Group(2, centre="leave_one_out")
    assert same_bits(exp.replace(estimator=grpo), exp.replace(estimator=rloo))


@pytest.mark.parametrize("problem", [THREE, NOISY, MANY], ids=["binary", "gaussian", "10"])
@pytest.mark.parametrize("update", [cm.Vanilla(0.7), cm.Natural(0.07)], ids=["vanilla", "natural"])
@pytest.mark.parametrize("scale", [None, "std"])
def test_on_the_policy_clipping_never_acts(
    problem: cm.Bandit, update: Any, scale: str | None
) -> None:
    exp = BASE.replace(problem=problem, policy=cm.Softmax(), update=update)
    exp = exp.replace(steps=60, record=cm.Record("theta", every=20))
    plain, clipped = cm.Group(4, scale=scale), cm.Group(4, scale=scale, weight=cm.Clip(0.2, 0.2))
    assert same_bits(exp.replace(estimator=plain), exp.replace(estimator=clipped))


@pytest.mark.parametrize("centre", CENTRES[1:])
@pytest.mark.parametrize("scale", [None, "std"])
def test_equal_rewards_move_nothing(centre: str, scale: str | None) -> None:
    exp = BASE.replace(problem=cm.Bandit([0.1, 0.1, 0.1]), steps=20)
    for samples in (2, 3, 7):
        for baseline in (0.0, 1.0 / 3.0, cm.baseline("0.3 * R")):
            group = cm.Group(samples, centre=centre, scale=scale)
            data = cm.run(exp.replace(estimator=group, baseline=baseline), runs=5, rng=0)
            assert (data["theta"].to_numpy() == [0.0, 1.0, 0.5]).all()


def test_old_spellings_have_the_same_bits() -> None:
    for new, old in (
        ({"regulariser": cm.Entropy(0.1)}, {"update": cm.Vanilla(0.3, entropy=0.1)}),
        ({"baseline": cm.Critic(0.1, 0.5)}, {"baseline": cm.RunningMean(0.1, 0.5)}),
        ({"baseline": cm.Critic(None)}, {"baseline": cm.RunningMean()}),
        ({"estimator": cm.Group(3, None)}, {"estimator": cm.OneSample(3)}),
    ):
        assert same_bits(BASE.replace(**new), BASE.replace(**old))


# -- expectations ----------------------------------------------------------------------------------

TABLE = cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)], [(1, 0.3), (0.2, 0.3), (0, 0.4)]])


@pytest.mark.parametrize("problem", [cm.Bandit([1, 0.7, 0]), THREE, TABLE], ids=["", "b", "table"])
@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
@pytest.mark.parametrize(
    "parts",
    [
        {"update": cm.Vanilla(0.3)},
        {"update": cm.Natural(0.05)},
        {"update": cm.Natural(0.05), "behaviour": cm.Fixed([0.2, 0.3, 0.5])},
        {"policy": cm.Escort([0.5, 1, 0.2], 3), "behaviour": cm.UniformMixture(0.2)},
        {"regulariser": cm.KL([0.2, 0.3, 0.5], 0.2, form="k3")},
        {"regulariser": cm.KL([0.2, 0.3, 0.5], 0.2, form="reward")},
        {"regulariser": cm.LogBarrier(0.2)},
    ],
    ids=["vanilla", "natural", "off", "escort", "k3", "reward", "barrier"],
)
def test_the_expectation_is_the_mean_over_all_that_may_be_drawn(
    problem: cm.Bandit, weight: Weight | None, parts: dict[str, Any]
) -> None:
    exp = BASE.replace(problem=problem, baseline=cm.Value() + 0.1, steps=1, **parts)
    exp = exp.replace(record=cm.Record("theta"))
    theta = exp.policy.start(3)
    law = reference.one_step_law(exp.replace(estimator=cm.OneSample(weight=weight)), theta)
    want = sum(outcome.probability * outcome.theta for outcome in law)
    data = cm.run(exp.replace(estimator=cm.Expected(weight=weight)), runs=2, rng=0)
    got = data["theta"].to_numpy()[:, -1]
    if weight is None and isinstance(exp.update, cm.Natural):  # b moves along (1, ..., 1)
        got, want = got - got.mean(axis=1, keepdims=True), want - np.mean(want)
    np.testing.assert_allclose(got, [want, want], rtol=1e-12, atol=1e-13)


def test_the_expectation_of_an_update_that_is_a_formula() -> None:
    for text in (
        "maximum(A, 0) * rho * score",
        "(A * rho - 0.1 * log(pi[a])) * score + 0.2 * (1 / K - pi)",
        "mean(rho * A**2 * natural, over='samples') - score * b / 2",
    ):
        exp = BASE.replace(update=cm.update(text)(0.3), baseline=cm.baseline("sum(pi * r)"))
        exp = exp.replace(steps=1, record=cm.Record("theta"))
        law = reference.one_step_law(exp, exp.policy.start(3))
        want = sum(outcome.probability * outcome.theta for outcome in law)
        got = cm.run(exp.replace(estimator=cm.Expected()), runs=1, rng=0)["theta"]
        np.testing.assert_allclose(got.to_numpy()[0, -1], want, rtol=1e-12, atol=1e-13)


def test_a_certain_arm_keeps_the_digits_of_the_rest() -> None:
    exp = BASE.replace(
        problem=cm.Bandit([1, 0.7, 0]),
        policy=cm.Softmax([0, 40, 0]),
        estimator=cm.Expected(weight=cm.Asymmetric()),
        baseline=0.5,
        steps=1,
        record=cm.Record("theta"),
    )
    got = cm.run(exp, runs=1, rng=0)["theta"].to_numpy()[0, -1]
    p = math.exp(-40.0)
    # c = pi (r - b); the step of arm 0 is c_0 (1 - pi_0) - pi_0 (c_1 + c_2)
    assert got[0] == pytest.approx(0.3 * (0.5 * p - p * 0.2), rel=1e-12)


def test_recorded_advantages_are_divided_by_the_scale() -> None:
    square = cm.quantity("mean(A**2)", name="square")
    exp = BASE.replace(
        estimator=cm.Group(4, "mean", scale="std"), record=cm.Record("value", square, every=1)
    )
    data = cm.run(exp, runs=200, rng=0)
    got = data["square"].to_numpy()
    np.testing.assert_allclose(got, np.round(got), atol=1e-12)
    assert set(np.unique(got.round())) == {0.0, 1.0}  # all rewards equal, or not
    own = reference.simulate(exp, key=int(data.attrs["key"], 16), run=3)["square"]
    np.testing.assert_allclose(got[3], own, atol=1e-12)


@pytest.mark.parametrize("centre", ["mean", "leave_one_out", "weighted"])
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.3)], ids=["vanilla", "natural"])
def test_a_group_of_one_arm_is_not_normalised(centre: str, update: Any) -> None:
    """Its terms cancel: what rounding leaves of them must not become a step of length 1."""
    exp = BASE.replace(
        policy=cm.Softmax([0, 9, 0]), update=update, optimiser=cm.Normalised(), steps=1,
        estimator=cm.Group(3, centre), record=cm.Record("theta", every=1),
    )  # fmt: skip
    theta = cm.run(exp, runs=500, rng=0)["theta"].to_numpy()
    moved = (theta[:, 1] != theta[:, 0]).any(axis=-1)
    assert moved.mean() < 0.05


# -- mazes -----------------------------------------------------------------------------------------


def test_regularisers_in_every_state_that_is_visited() -> None:
    maze = cm.Experiment(
        cm.gridworld("S.A", goals={"A": 1}),
        cm.Softmax(),
        cm.Vanilla(0.5),
        cm.Value(),
        estimator=cm.ExactQ(),
        steps=3,
        record=cm.Record("theta", every=1),
    )
    plain = cm.run(maze, runs=3, rng=0)["theta"].to_numpy()
    ref, uniform = np.array([0.1, 0.2, 0.3, 0.4]), np.full(4, 0.25)
    for regulariser in (cm.KL(ref, 0.2), cm.ReverseKL(ref, 0.2)):
        got = cm.run(maze.replace(regulariser=regulariser), runs=3, rng=0)["theta"].to_numpy()
        # The first episode is the same: in every state the term is added as often as it was there.
        term = 0.5 * regulariser_direction(regulariser, False, uniform, ref)
        times = (got[:, 1] - plain[:, 1]) / term
        np.testing.assert_allclose(times, np.round(times), atol=1e-9)
        np.testing.assert_allclose(times, times[..., :1] * np.ones(4), atol=1e-9)
        assert times.max() >= 1.0
    entropy = cm.run(maze.replace(regulariser=cm.Entropy(0.2)), runs=3, rng=0)["theta"].to_numpy()
    assert (entropy[:, 1] == plain[:, 1]).all()  # uniform has the largest
    assert not np.allclose(entropy[:, -1], plain[:, -1])
    assert spelled_out(maze) is maze
