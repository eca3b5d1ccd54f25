"""Whole runs by hand, replayed, and at the ends of what is allowed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import committal as cm
from committal import reference


def test_every_quantity_is_measured(experiment: cm.Experiment) -> None:
    assert tuple(reference.simulate(experiment, key=0, run=0)) == cm.RECORDABLE


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


def test_expected_updates_draw_nothing_and_ignore_the_baseline(experiment: cm.Experiment) -> None:
    e = experiment.replace(estimator=cm.Expected(), baseline=cm.Constant(5.0))
    got = reference.simulate(e, key=0, run=0)
    assert not {"action", "reward"} & set(got)
    theta0 = reference.initial_theta(e)
    np.testing.assert_allclose(got["theta"][-1], theta0 + 10 * 0.1 * np.array([0.9, 0.6, 0.1]))
    np.testing.assert_array_equal(got["variance"], 0.0)
    np.testing.assert_array_equal(got["baseline"], 5.0)


def test_replaying_a_run_gives_the_run(experiment: cm.Experiment) -> None:
    e = experiment.replace(
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


def test_a_shift_of_rewards_and_constant_baseline_together_changes_nothing(
    experiment: cm.Experiment,
) -> None:
    def run(shift: float) -> dict[str, np.ndarray]:
        problem = cm.Bandit([1.0 + shift, 0.5 + shift, shift])
        e = experiment.replace(problem=problem, baseline=cm.Constant(0.25 + shift))
        return reference.simulate(e, key=5, run=0)

    here, there = run(0.0), run(8.0)
    np.testing.assert_array_equal(here["action"], there["action"])
    np.testing.assert_allclose(here["theta"], there["theta"], rtol=1e-12)


def test_zero_steps_and_one_arm_are_defined(experiment: cm.Experiment) -> None:
    got = reference.simulate(experiment.replace(steps=0), key=0, run=0)
    assert got["theta"].shape == (1, 3)
    assert got["action"].shape == (1, 1)
    lonely = cm.Experiment(cm.Bandit([0.5]), cm.Softmax(), cm.Natural(step_size=0.1), steps=3)
    got = reference.simulate(lonely, key=0, run=0)
    np.testing.assert_array_equal(got["value"], 0.5)
    np.testing.assert_array_equal(got["variance"], 0.0)
    np.testing.assert_array_equal(got["distance"], 0.0)
