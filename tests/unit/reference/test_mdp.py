"""The oracle for MDPs on numbers that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal import reference

# 0 -> 1 -> goal; staying costs nothing.
CHAIN = cm.TabularMDP(
    [(0, 0, 0, 1, 0), (0, 1, 1, 1, 1), (1, 0, 1, 1, 0), (1, 1, 2, 1, 4)],
    gamma=0.5, start=0, terminal=[2], limit=6,
)  # fmt: skip
UNIFORM = np.full((3, 2), 0.5)
STRAIGHT = reference.Episode((0, 1), (1, 1), (1.0, 4.0), 2)
SLOW = reference.Episode((0, 0, 1), (0, 1, 1), (0.0, 1.0, 4.0), 2)


def experiment(**parts: object) -> cm.Experiment:
    given = {"update": cm.Vanilla(1.0), "estimator": cm.Reinforce(), "steps": 4} | parts
    return cm.Experiment(CHAIN, cm.Softmax(), **given)  # type: ignore[arg-type]


def direction(e: cm.Experiment, episode: reference.Episode, **options: object) -> np.ndarray:
    Q = reference.solve(CHAIN, UNIFORM)[1]
    return reference.episode_direction(e, UNIFORM, Q, episode, **options)  # type: ignore[arg-type]


def test_values_by_hand() -> None:
    # V1 = (V1/2 + 4)/2 = 8/3;  V0 = (V0/2 + 1 + V1/2)/2 = 14/9.
    V, Q = reference.solve(CHAIN, UNIFORM)
    np.testing.assert_allclose(V, [14 / 9, 8 / 3, 0])
    np.testing.assert_allclose(Q, [[7 / 9, 7 / 3], [4 / 3, 4], [0, 0]])
    np.testing.assert_allclose(reference.state_distribution(CHAIN, UNIFORM), [4 / 3, 4 / 9, 0])
    # Two successes within six throws of a coin.
    np.testing.assert_allclose(reference.goal_probability(CHAIN, UNIFORM), [57 / 64])
    V_swept, _ = reference.sweep(CHAIN, UNIFORM, np.zeros(3), 1e-12)
    np.testing.assert_allclose(V_swept, V, rtol=1e-11)


def test_returns_are_discounted() -> None:
    assert reference.returned(CHAIN, STRAIGHT) == 1 + 0.5 * 4
    assert reference.returned(CHAIN, SLOW) == 0.5 + 0.25 * 4


def test_reinforce_by_hand() -> None:
    g = direction(experiment(baseline=1.0), SLOW)  # G - b = 0.5
    np.testing.assert_allclose(g, [[0, 0], [-0.25, 0.25], [0, 0]])
    g = direction(experiment(baseline=1.0, update=cm.Natural(1.0)), SLOW)
    np.testing.assert_allclose(g, [[1, 1], [0, 1], [0, 0]])


def test_exact_q_by_hand() -> None:
    e = experiment(baseline=cm.Value(), estimator=cm.ExactQ())
    advantages = np.array([7 / 3 - 14 / 9, 4 - 8 / 3])
    g = direction(e, STRAIGHT)
    np.testing.assert_allclose(g[:2], 0.5 * advantages[:, None] * [[-1, 1], [-1, 1]])
    discounted = direction(e.replace(estimator=cm.ExactQ(discounted=True)), STRAIGHT)
    np.testing.assert_allclose(discounted[:2], g[:2] * [[1], [0.5]])


def test_importance_weights_by_hand() -> None:
    # pi = 1/2 everywhere, mu = (1/5, 4/5): every step forward has rho = 5/8, every other 5/2.
    behaviour = cm.Fixed([0.2, 0.8])
    e = experiment(baseline=1.0, behaviour=behaviour)
    forward, stay = 5 / 8, 5 / 2
    # Step 0 stays: nothing earned before, then 1/2 after one ratio and 1 after two.
    m0 = stay * (-1.0 + 0.0 + forward * 0.5 + forward**2 * 1.0)
    m1 = stay * forward * (-1.0 + 0.5 + forward * 1.0)
    m2 = stay * forward**2 * (-1.0 + 0.5 + 1.0)
    want = 0.5 * np.array([[m0 - m1, m1 - m0], [-m2, m2], [0, 0]])
    np.testing.assert_allclose(direction(e, SLOW), want)
    exact = experiment(behaviour=behaviour, estimator=cm.ExactQ(), update=cm.Natural(1.0))
    Q = reference.solve(CHAIN, UNIFORM)[1]
    g = direction(exact, STRAIGHT)
    np.testing.assert_allclose(g[0], [0, Q[0, 1] / 0.8])
    np.testing.assert_allclose(g[1], [0, forward * Q[1, 1] / 0.8])


def test_running_means_are_of_returns() -> None:
    e = experiment(baseline=cm.RunningMean(initial=7.0), steps=3)
    record = reference.simulate(e, key=5, run=1)
    pi = reference.policy_table(CHAIN, record["theta"][1])
    episode = reference.draw_episode(e, pi, 1, key=5, run=1)
    memory = reference.Memory(float(record["return"][0]), 1)
    want = reference.theta_after_episode(e, record["theta"][1], 1, episode, memory=memory)
    np.testing.assert_allclose(record["theta"][2], want)


def test_episodes_use_their_own_stretch_of_the_streams() -> None:
    e = experiment(update=cm.Vanilla(1e-300))  # the policy stays as it is
    u = reference.uniforms(9, 2, reference.ACTION, 0, 5 * CHAIN.limit).reshape(5, CHAIN.limit)
    record = reference.simulate(e, key=9, run=2)
    for t in range(5):
        forward = np.flatnonzero(u[t] >= 0.5)
        length = forward[1] + 1 if len(forward) > 1 else CHAIN.limit
        assert record["length"][t] == length
        assert record["goal"][t] == (0 if len(forward) > 1 else -1)


def test_starts_and_transitions_use_their_slots() -> None:
    coin = cm.TabularMDP(
        [(0, 0, 2, 0.25, 1), (0, 0, 3, 0.75, 2), (1, 0, 3, 1, 3)],
        gamma=0.5, start=[0.5, 0.5, 0, 0], terminal=[2, 3], limit=3,
    )  # fmt: skip
    e = cm.Experiment(
        coin, cm.Softmax(), cm.Vanilla(1.0), estimator=cm.Reinforce(), steps=50,
    )  # fmt: skip
    record = reference.simulate(e, key=3, run=0)
    first = reference.uniforms(3, 0, reference.START, 0, 51) >= 0.5
    v = reference.uniforms(3, 0, reference.TRANSITION, 0, 51 * coin.limit)[:: coin.limit]
    want = np.where(first, 3.0, np.where(v < 0.25, 1.0, 2.0))
    np.testing.assert_array_equal(record["return"], want)


def test_what_is_recorded() -> None:
    record = reference.simulate(experiment(steps=6), key=1, run=0)
    assert tuple(record) == cm.MDP_RECORDABLE
    np.testing.assert_array_equal(record["visits"].sum(-1), np.cumsum(record["length"]))
    assert not record["visits"][:, 2].any()
    frequencies = record["visits"][-1, :2] / record["visits"][-1].sum()
    assert record["state_entropy"][-1] == pytest.approx(-np.sum(frequencies * np.log(frequencies)))
    assert record["action_entropy"][0] == pytest.approx(np.log(2))
    assert record["value"][0] == pytest.approx(14 / 9)


def test_the_two_oracles_refuse_each_others_problems() -> None:
    bandit = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    with pytest.raises(cm.ConfigTypeError, match=r"problem = Bandit.* a TabularMDP"):
        next(reference.run_mdp(bandit, key=0, run=0))
    with pytest.raises(cm.ConfigTypeError, match=r"problem = TabularMDP.* a Bandit"):
        reference.next_theta(experiment(), np.zeros(2), 0, 0.0)
    with pytest.raises(cm.ConfigTypeError, match=r"^actions = \[\[0\]\] .*episodes"):
        reference.simulate(experiment(), key=0, run=0, actions=[[0]])
