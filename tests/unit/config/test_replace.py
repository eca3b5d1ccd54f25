"""Configurations cannot be changed, only replaced: `replace` reaches into their parts."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Config
from committal.errors import ConfigError


def test_immutable_and_hashable(example: Config) -> None:
    assert {example: 1}[example.replace()] == 1
    for field in dataclasses.fields(example):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(example, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(example, field.name)
    # A frozen class with slots refuses new names too, with one error or the other.
    with pytest.raises((AttributeError, TypeError)):
        example.anything_else = 1  # type: ignore[attr-defined]
    assert not hasattr(example, "__dict__")


def test_what_was_given_can_be_changed_without_harm() -> None:
    means = np.array([1.0, 0.0])
    theta0 = [0.0, 1.0]
    bandit, policy = cm.Bandit(means), cm.Softmax(theta0)
    means[0], theta0[0] = 5.0, 5.0
    assert bandit.means == (1.0, 0.0)
    assert policy.theta0 == (0.0, 1.0)


def test_replace_reaches_into_parts(three_arms: cm.Experiment) -> None:
    exp = three_arms.replace(
        **{"update.step_size": 0.5, "steps": 7, "problem.names": ["a", "b", "c"]}
    )
    assert exp.update == cm.Natural(step_size=0.5)
    assert exp.steps == 7
    assert exp.problem.names == ("a", "b", "c")  # type: ignore[attr-defined]
    assert three_arms.steps == 1000


def test_replace_reaches_two_levels_down(three_arms: cm.Experiment) -> None:
    exp = three_arms.replace(update=cm.Natural(step_size=cm.Decay(1, 0.5)))
    assert exp.replace(**{"update.step_size.power": 1}).update == cm.Natural(
        step_size=cm.Decay(1, 1)
    )


def test_replace_takes_whole_parts_first(three_arms: cm.Experiment) -> None:
    exp = three_arms.replace(
        **{"update.step_size": 0.5, "update": cm.Vanilla(step_size=1, entropy=0.1)}
    )
    assert exp.update == cm.Vanilla(step_size=0.5, entropy=0.1)


def test_replace_collapses_baselines(three_arms: cm.Experiment) -> None:
    assert three_arms.replace(**{"baseline.offset": 0}).baseline == cm.MinVariance()
    assert three_arms.replace(baseline=2).baseline == cm.Constant(2.0)


def test_replace_may_change_the_number_of_arms() -> None:
    bandit = cm.Bandit([1, 0], "gaussian", sigma=2)
    wider = bandit.replace(means=[1, 2, 3])
    assert wider.names == ("arm 1", "arm 2", "arm 3")
    assert wider.sigma == (2.0, 2.0, 2.0)


def test_replace_validates_again(three_arms: cm.Experiment) -> None:
    with pytest.raises(ConfigError, match=r"^Natural.step_size = -1 is not allowed"):
        three_arms.replace(**{"update.step_size": -1})
    with pytest.raises(ConfigError, match=r"^Experiment.update = Projected"):
        three_arms.replace(update=cm.Projected(step_size=0.1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stepz": 1}, r"^Experiment.stepz = 1 .* one of the arguments .*; did you mean 'steps'\?"),
        ({"update.stepsize": 1}, r"^Natural.stepsize = 1 .*; did you mean 'step_size'\?"),
        ({"nothing.at.all": 1}, r"^Experiment.nothing = 1 "),
        ({"steps.power": 1}, r"^Experiment.steps.power = 1 .* steps is 1000, which has no parts"),
        ({"update__step_size": 1}, r"^Experiment.update__step_size = 1 "),
    ],
    ids=str,
)
def test_replace_refuses_unknown_paths(
    three_arms: cm.Experiment, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        three_arms.replace(**changes)
