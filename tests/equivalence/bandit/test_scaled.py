"""Policies with a scale, against follow-the-leader as it is written in books.

The core keeps other coordinates; the oracle here keeps the sum of all estimates, multiplies it by
the scale of the day and looks for the policy by bisection. It is given what was drawn, no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.errors import CombinationError
from committal.support.simplex import tsallis, tsallis_roots

FIVE = cm.Bandit([0.6, 0.5, 0.4, 0.3, 0.2], noise="bernoulli")
STEPS = 60


def bisected(x: np.ndarray) -> np.ndarray:
    """4 / (z - x)^2 that add up to 1."""
    below = x.max() - x
    low, high = 2.0, 2.0 * math.sqrt(len(x))
    for _ in range(60):
        z = 0.5 * (low + high)
        if (4.0 / (z + below) ** 2).sum() > 1.0:
            low = z
        else:
            high = z
    p = 4.0 / (z + below) ** 2
    return np.asarray(p / p.sum())


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return np.asarray(e / e.sum())


LINKS: dict[type, Callable[[np.ndarray], np.ndarray]] = {
    cm.Tsallis: bisected,
    cm.ScaledSoftmax: softmax,
}
IMPLICIT = cm.Decay(0.3, 0.5)


def plain(pi: np.ndarray, a: int, R: float, t: int) -> np.ndarray:
    u = np.zeros(len(pi))
    u[a] = (R - 1.0) / pi[a]
    return u


def implicit(pi: np.ndarray, a: int, R: float, t: int) -> np.ndarray:
    u = np.zeros(len(pi))
    u[a] = (R - 1.0) / (pi[a] + IMPLICIT.at(t))
    return u


def mixed(pi: np.ndarray, a: int, R: float, t: int) -> np.ndarray:
    u = np.zeros(len(pi))
    u[a] = (R - 1.0) / (0.7 * pi[a] + 0.3 / len(pi))
    return u


def reduced(pi: np.ndarray, a: int, R: float, t: int) -> np.ndarray:
    """-((loss - B_a) / pi_a if drawn, + B_a)."""
    B = np.where(pi >= 16.0 / (t + 1), 0.5, 0.0)
    loss = B.copy()
    loss[a] += (1.0 - R - B[a]) / pi[a]
    return -loss


RV = cm.update(
    "(A + where(pi >= 16 / (t + 1), 0.5, 0)) * natural - where(pi >= 16 / (t + 1), 0.5, 0)"
)
RULES: dict[str, tuple[dict[str, Any], Any]] = {
    "plain": ({"update": cm.Natural(1)}, plain),
    "implicit": ({"update": cm.Natural(1), "estimator": cm.OneSample(implicit=IMPLICIT)}, implicit),
    "reduced": ({"update": RV(1)}, reduced),
    "mixed": ({"behaviour": cm.UniformMixture(0.3)}, mixed),
}
EXP = cm.Experiment(
    FIVE,
    cm.Tsallis(),
    cm.Natural(1),
    baseline=1.0,
    steps=STEPS,
    record=cm.Record("policy", "action", "reward", every=1),
)


@pytest.mark.parametrize("start", [None, [0, 1, -2, 0.5, 0]], ids=["uniform", "start"])
@pytest.mark.parametrize("scale", [0.7, cm.Decay(2, 0.5), cm.Decay(1, 0.3, 4)], ids=repr)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", LINKS)
def test_runs_follow_the_leader(kind: Any, rule: str, scale: Any, start: Any) -> None:
    parts, step = RULES[rule]
    exp = EXP.replace(policy=kind(start, scale=scale), **parts)
    data = cm.run(exp, runs=3, rng=1)
    policy, action, reward = (data[x].to_numpy() for x in ("policy", "action", "reward"))
    for run in range(3):
        theta = np.zeros(5) if start is None else np.array(start, dtype=float)
        for t in range(STEPS):
            eta = scale.at(t) if isinstance(scale, cm.Decay) else scale
            pi = LINKS[kind](eta * theta)
            np.testing.assert_allclose(policy[run, t], pi, rtol=1e-10)
            theta += step(pi, int(action[run, t]), float(reward[run, t]), t)


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize("rule", RULES)
def test_the_core_is_the_oracle(kind: Any, rule: str) -> None:
    exp = EXP.replace(policy=kind(scale=cm.Decay(2, 0.5)), **RULES[rule][0])
    data = cm.run(exp, runs=3, rng=3)
    for run in range(3):
        want = reference.simulate(exp, key=int(data.attrs["key"], 16), run=run)
        assert (data["action"].to_numpy()[run] == want["action"][:, 0]).all()
        np.testing.assert_allclose(data["policy"].to_numpy()[run], want["policy"], rtol=1e-11)


@pytest.mark.parametrize("kind", LINKS)
def test_groups_and_expectations_go_through_a_scale(kind: Any) -> None:
    exp = EXP.replace(policy=kind(scale=cm.Decay(2, 0.5)), update=cm.Natural(cm.Decay(0.5, 0.5)))
    expected = exp.replace(estimator=cm.Expected(), record=cm.Record("policy", every=1))
    got = cm.run(expected, runs=1, rng=0)["policy"].to_numpy()[0]
    theta, r = np.zeros(5), np.array(FIVE.means)
    for t in range(STEPS):
        np.testing.assert_allclose(got[t], LINKS[kind](2 / math.sqrt(t + 1) * theta), rtol=1e-10)
        theta += 0.5 / math.sqrt(t + 1) * r
    group = exp.replace(estimator=cm.Group(samples=4), baseline=0.0)
    data = cm.run(group, runs=1, rng=0)
    want = reference.simulate(group, key=int(data.attrs["key"], 16), run=0)
    np.testing.assert_allclose(data["policy"].to_numpy()[0], want["policy"], rtol=1e-11)


@pytest.mark.parametrize("arms", [1, 2, 3, 10, 11, 100, 1000])
def test_enough_steps_of_newton(arms: int) -> None:
    rng = np.random.default_rng(arms)
    apart = [np.where(np.arange(arms) < m, 0.0, -d)
             for d in (0.0, *np.geomspace(1e-9, 1e9, 37))
             for m in {1, max(arms // 2, 1), max(arms - 1, 1)}]  # fmt: skip
    x = np.concatenate([apart, np.exp(3.0 * rng.normal(size=(50, arms)))])
    total = (4.0 * tsallis_roots(x) ** -2.0).sum(axis=-1)
    np.testing.assert_allclose(total, 1.0, rtol=0, atol=2e-14)
    for row in x[:: max(1, len(x) // 20)]:
        np.testing.assert_allclose(tsallis(row), bisected(row), rtol=1e-12)


def test_parameters_of_a_policy() -> None:
    pi = np.array([0.5, 0.3, 0.2])
    for policy in (cm.Tsallis(scale=cm.Decay(3, 0.5)), cm.ScaledSoftmax(scale=3)):
        np.testing.assert_allclose(policy.probabilities_at(policy.parameters_at(pi)), pi)
        np.testing.assert_allclose(np.exp(policy.log_probabilities_at(np.zeros((2, 3)))), 1 / 3)


def test_exact_answers_name_the_policy() -> None:
    for answer in (cm.exact.one_step_law, cm.exact.flow, cm.exact.gradient_variance):
        with pytest.raises(CombinationError, match=r"experiment.policy = Tsallis.*simulate"):
            answer(EXP)
