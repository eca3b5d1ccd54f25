"""Experiments: which parts go together, and what the refusal of the others says."""

from __future__ import annotations

from typing import Any

import pytest

import committal as cm
from committal.config import Policy, Update
from committal.config.base import kinds
from committal.errors import CombinationError, ConfigError, ConfigTypeError

TWO = cm.Bandit([1.0, 0.0])
THREE = cm.Bandit([1.0, 0.7, 0.0])


def experiment(**changes: Any) -> cm.Experiment:
    parts: dict[str, Any] = {
        "problem": THREE,
        "policy": cm.Softmax(),
        "update": cm.Natural(step_size=0.1),
        "steps": 10,
    }
    return cm.Experiment(**(parts | changes))


def test_defaults() -> None:
    exp = experiment()
    assert exp.baseline == cm.Constant(0.0)
    assert exp.behaviour == cm.OnPolicy()
    assert exp.estimator == cm.OneSample()
    assert exp.record == cm.Record("value", "policy")


def test_order_of_arguments() -> None:
    exp = cm.Experiment(
        THREE,
        cm.Softmax(),
        cm.Natural(0.1),
        cm.Value(),
        cm.EpsilonGreedy(0.1),
        cm.OneSample(2),
        steps=3,
    )
    assert exp.baseline == cm.Value()
    assert exp.behaviour == cm.EpsilonGreedy(0.1)
    assert exp.estimator == cm.OneSample(2)
    with pytest.raises(TypeError, match="positional"):
        cm.Experiment(  # type: ignore[call-arg]
            THREE, cm.Softmax(), cm.Natural(0.1), cm.Value(), cm.OnPolicy(), cm.OneSample(), 3
        )
    with pytest.raises(TypeError, match="steps"):
        cm.Experiment(THREE, cm.Softmax(), cm.Natural(0.1))  # type: ignore[call-arg]


def test_numbers_are_baselines() -> None:
    assert experiment(baseline=-1).baseline == cm.Constant(-1.0)


LEGAL: list[dict[str, Any]] = [
    {},
    {"steps": 0},
    {"problem": cm.Bandit([1.0])},
    {"problem": TWO, "policy": cm.Sigmoid(-1)},
    {"problem": TWO, "policy": cm.Sigmoid(-1), "update": cm.Vanilla(step_size=1, entropy=0.1)},
    {"policy": cm.Direct(), "update": cm.Vanilla(step_size=0.1)},
    {"policy": cm.Direct([0, 0.5, 0.5]), "update": cm.Projected(step_size=0.1)},
    {"policy": cm.Direct(), "update": cm.Projected(step_size=0.1), "estimator": cm.Expected()},
    {"update": cm.Natural(step_size=cm.Decay(1, 1), entropy=cm.Decay(1, 1))},
    {"baseline": cm.Gap(0.1) + cm.Value()},
    {"baseline": cm.RunningMean(0.1) + cm.Value()},
    {"baseline": cm.MinVariance(), "estimator": cm.Expected()},
    {"behaviour": cm.Fixed([0.2, 0.3, 0.5])},
    {"behaviour": cm.UniformMixture(0), "estimator": cm.OneSample(3, 0.1)},
    {"record": cm.Record("action", "reward", every=1)},
    {"record": cm.Record("value", at=[0, 10])},
    {"record": cm.Record("value", "entropy", "distance", reduce=cm.Reduce(quantiles=[0.5]))},
    {"record": cm.Record("theta", reduce=cm.Reduce(bins=3, range=(0, 1)))},
    {"record": cm.Record("regret", "reward", reduce=cm.Reduce())},
    {"steps": 2**56 - 1},
    {"steps": 2**54, "estimator": cm.OneSample(3)},
]


@pytest.mark.parametrize("changes", LEGAL, ids=str)
def test_legal_combinations(changes: dict[str, Any]) -> None:
    exp = experiment(**changes)
    for name, value in changes.items():
        assert getattr(exp, name) == value


ILLEGAL: list[tuple[dict[str, Any], str, str]] = [
    # (parts, the argument that is named, what to use instead)
    (
        {"policy": cm.Direct()},
        "update",
        "Vanilla or Projected with a Direct policy",
    ),
    (
        {"update": cm.Projected(step_size=1)},
        "update",
        "Natural or Vanilla",
    ),
    (
        {"problem": TWO, "policy": cm.Sigmoid(), "update": cm.Projected(step_size=1)},
        "update",
        "Natural or Vanilla",
    ),
    (
        {"policy": cm.Direct(), "update": cm.Vanilla(step_size=1, entropy=0.1)},
        "update.entropy",
        "0 with a Direct policy",
    ),
    (
        {"policy": cm.Direct(), "update": cm.Vanilla(step_size=1, entropy=cm.Decay(1, 1))},
        "update.entropy",
        "Softmax or Sigmoid",
    ),
    ({"policy": cm.Softmax([0, 1])}, "policy.theta0", "3 numbers, one per arm (there are 2)"),
    (
        {"policy": cm.Direct([0.5, 0.5]), "update": cm.Vanilla(step_size=1)},
        "policy.probabilities",
        "3 numbers, one per arm (there are 2)",
    ),
    ({"policy": cm.Sigmoid()}, "policy", "Softmax for 3 arms"),
    (
        {"behaviour": cm.Fixed([0.5, 0.5])},
        "behaviour.probabilities",
        "3 numbers, one per arm (there are 2)",
    ),
    ({"problem": cm.Bandit([1, 1, 0]), "baseline": cm.Gap()}, "baseline", "Maximum or Constant"),
    ({"problem": cm.Bandit([1]), "baseline": cm.Gap() + 1}, "baseline", "two arms or more"),
    (
        {"baseline": cm.RunningMean(0.1) - cm.RunningMean(0.2)},
        "baseline",
        "at most one kind of RunningMean",
    ),
    (
        {"baseline": cm.RunningMean() + 1, "estimator": cm.Expected()},
        "baseline",
        "use Value, or OneSample",
    ),
    (
        {"record": cm.Record("value", "action"), "estimator": cm.Expected()},
        "record.names",
        "names without 'action'",
    ),
    (
        {"record": cm.Record("reward", "action"), "estimator": cm.Expected()},
        "record.names",
        "names without 'action' and 'reward'",
    ),
    ({"record": cm.Record(at=[11])}, "record.at", "times in [0, 10], for steps = 10"),
    (
        {"record": cm.Record("value", "theta", reduce=cm.Reduce(bins=3))},
        "record.reduce.range",
        "range={'theta': (lo, hi)}",
    ),
    (
        {"record": cm.Record("value", "regret", reduce=cm.Reduce(bins=3, range={"value": (0, 1)}))},
        "record.reduce.range",
        "range={'regret': (lo, hi)}",
    ),
    ({"steps": 2**55, "estimator": cm.OneSample(2)}, "steps", "steps * samples < 2**56"),
]


@pytest.mark.parametrize(("changes", "argument", "instead"), ILLEGAL)
def test_illegal_combinations(changes: dict[str, Any], argument: str, instead: str) -> None:
    with pytest.raises(CombinationError) as caught:
        experiment(**changes)
    assert caught.value.argument == f"Experiment.{argument}"
    assert instead in caught.value.allowed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem": [1, 0]}, "Experiment.problem = [1, 0] is not allowed; expected an instance"),
        ({"policy": "softmax"}, "Experiment.policy = 'softmax' is not allowed; expected an inst"),
        ({"policy": cm.Softmax}, "Experiment.policy = <class"),
        ({"update": 0.1}, "Experiment.update = 0.1 is not allowed; expected an instance of Natur"),
        ({"update": cm.Softmax()}, "Experiment.update = Softmax() is not allowed"),
        ({"baseline": "value"}, "Experiment.baseline = 'value' is not allowed; expected a finite"),
        ({"baseline": cm.Softmax()}, "Experiment.baseline = Softmax() is not allowed"),
        ({"behaviour": None}, "Experiment.behaviour = None is not allowed; expected an instance"),
        ({"estimator": 4}, "Experiment.estimator = 4 is not allowed; expected an instance of One"),
        ({"record": "value"}, "Experiment.record = 'value' is not allowed; expected an instance"),
        ({"steps": 10.0}, "Experiment.steps = 10.0 is not allowed; expected an integer in [0, "),
        ({"steps": True}, "Experiment.steps = True is not allowed"),
    ],
)
def test_wrong_types(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigTypeError) as caught:
        experiment(**changes)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("steps", [-1, 2**56])
def test_wrong_steps(steps: int) -> None:
    with pytest.raises(ConfigError, match=rf"^Experiment.steps = {steps} is not allowed"):
        experiment(steps=steps)


def test_every_policy_says_which_updates_it_takes() -> None:
    moved = {policy for update in kinds(Update).values() for policy in update.policies}
    assert moved == set(kinds(Policy).values())


def test_experiments_differ_by_each_part() -> None:
    others = [
        experiment(problem=cm.Bandit([1, 0.7, 0.1])),
        experiment(policy=cm.Softmax([0, 0, 1])),
        experiment(update=cm.Vanilla(step_size=0.1)),
        experiment(baseline=cm.Maximum()),
        experiment(behaviour=cm.UniformMixture(0.1)),
        experiment(estimator=cm.Expected()),
        experiment(steps=11),
        experiment(record=cm.Record(every=1)),
    ]
    assert len({experiment().hash, *(e.hash for e in others)}) == 9
    assert len({experiment(), *others}) == 9
