"""The true gradient of MDPs: against finite differences, the engine, and its own small steps."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal.exact import mdp_paths

GRID = cm.gridworld("S.A\n..#\nB..", goals={"A": 0.5, "B": 1.0}, gamma=0.9, slip=0.1)
UPDATES = [cm.Vanilla(step_size=0.3), cm.Natural(step_size=0.3)]


def experiment(update: cm.config.Update) -> cm.Experiment:
    return cm.Experiment(
        GRID, cm.Softmax([0.5, 0.0, -0.5, 0.2]), update, estimator=cm.Expected(), steps=12
    )


def test_the_vanilla_direction_is_the_gradient_of_the_return() -> None:
    e = experiment(UPDATES[0])
    theta = mdp_paths.start_of(e, GRID)

    def value(x: np.ndarray) -> float:
        return float(mdp_paths.value_of(GRID, mdp_paths.policy_of(GRID, x)))

    h = 1e-5
    numeric = np.array(
        [(value(theta + h * u) - value(theta - h * u)) / (2 * h) for u in np.eye(theta.size)]
    )
    np.testing.assert_allclose(mdp_paths.direction(e, GRID, theta), numeric, atol=1e-9)


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_the_expected_path_is_the_engine_s(update: cm.config.Update) -> None:
    e = experiment(update)
    record = cm.Record("theta", "value", at=[0, 5, 12])
    engine = cm.run(e.replace(record=record), runs=1, rng=0)
    path = cm.exact.expected_path(e, [0, 5, 12])
    acting = ~GRID.is_terminal
    np.testing.assert_allclose(
        path.theta[:, acting], engine["theta"].values[0][:, acting], rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(path.value, engine["value"].values[0], rtol=1e-10)


@pytest.mark.parametrize("update", UPDATES, ids=repr)
def test_small_steps_follow_the_flow(update: cm.config.Update) -> None:
    flow = cm.exact.gradient_flow(experiment(update), [0.0, 1.0, 3.0])
    errors = []
    for n in (100, 200):
        fine = experiment(update.replace(step_size=1.0 / n))
        path = cm.exact.expected_path(fine, [0, n, 3 * n])
        errors.append(np.abs(path.value - flow.value).max())
    assert errors[1] < 0.01
    assert 1.7 < errors[0] / errors[1] < 2.3  # Euler's method: half the step, half the error
    assert (np.diff(flow.value) > 0).all()


def test_groups_that_follow_no_gradient_are_refused() -> None:
    plain = experiment(cm.Vanilla(0.1))
    unbiased = plain.replace(estimator=cm.Group(samples=4, centre="leave_one_out"))
    same = cm.exact.expected_path(unbiased, [0, 3]).theta
    np.testing.assert_array_equal(same, cm.exact.expected_path(plain, [0, 3]).theta)
    refused: dict[str, dict[str, object]] = {
        "epochs = 2": {"estimator": cm.Group(epochs=2)},
        "scale = 'std'": {"estimator": cm.Group(scale="std")},
        "mu of a Snapshot": {"estimator": cm.Group(), "behaviour": cm.Snapshot(2)},
        "centre = 'weighted'": {"estimator": cm.Group(centre="weighted")},
    }
    for text, changes in refused.items():
        e = plain.replace(**changes)
        with pytest.raises(cm.CombinationError, match=text):
            cm.exact.expected_path(e)
        if "centre" not in text:
            with pytest.raises(cm.CombinationError, match=text):
                cm.exact.gradient_flow(e, [0.0, 1.0])
