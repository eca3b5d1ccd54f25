"""Experiments: which parts go together, and what the refusal of the others says."""

from __future__ import annotations

from typing import Any

import pytest

from committal.config import (
    Bandit,
    Baseline,
    Behaviour,
    Constant,
    Decay,
    Direct,
    EpsilonGreedy,
    Estimator,
    Expected,
    Experiment,
    Fixed,
    Gap,
    Maximum,
    MinVariance,
    Natural,
    OneSample,
    OnPolicy,
    Policy,
    Projected,
    Record,
    Reduce,
    RunningMean,
    Sigmoid,
    Softmax,
    UniformMixture,
    Update,
    Value,
    Vanilla,
)
from committal.config.base import kinds
from committal.errors import CombinationError, ConfigError, ConfigTypeError

TWO = Bandit([1.0, 0.0])
THREE = Bandit([1.0, 0.7, 0.0])


def experiment(**changes: Any) -> Experiment:
    parts: dict[str, Any] = {
        "problem": THREE,
        "policy": Softmax(),
        "update": Natural(step_size=0.1),
        "steps": 10,
    }
    return Experiment(**(parts | changes))


def test_defaults() -> None:
    exp = experiment()
    assert exp.baseline == Constant(0.0)
    assert exp.behaviour == OnPolicy()
    assert exp.estimator == OneSample()
    assert exp.record == Record("value", "policy")


def test_order_of_arguments() -> None:
    exp = Experiment(
        THREE, Softmax(), Natural(0.1), Value(), EpsilonGreedy(0.1), OneSample(2), steps=3
    )
    assert exp.baseline == Value()
    assert exp.behaviour == EpsilonGreedy(0.1)
    assert exp.estimator == OneSample(2)
    with pytest.raises(TypeError, match="positional"):
        Experiment(  # type: ignore[call-arg]
            THREE, Softmax(), Natural(0.1), Value(), OnPolicy(), OneSample(), 3
        )
    with pytest.raises(TypeError, match="steps"):
        Experiment(THREE, Softmax(), Natural(0.1))  # type: ignore[call-arg]


def test_numbers_are_baselines() -> None:
    assert experiment(baseline=-1).baseline == Constant(-1.0)


LEGAL: list[dict[str, Any]] = [
    {},
    {"steps": 0},
    {"problem": Bandit([1.0])},
    {"problem": TWO, "policy": Sigmoid(-1)},
    {"problem": TWO, "policy": Sigmoid(-1), "update": Vanilla(step_size=1, entropy=0.1)},
    {"policy": Direct(), "update": Vanilla(step_size=0.1)},
    {"policy": Direct([0, 0.5, 0.5]), "update": Projected(step_size=0.1)},
    {"policy": Direct(), "update": Projected(step_size=0.1), "estimator": Expected()},
    {"update": Natural(step_size=Decay(1, 1), entropy=Decay(1, 1))},
    {"baseline": Gap(0.1) + Value()},
    {"baseline": RunningMean(0.1) + Value()},
    {"baseline": MinVariance(), "estimator": Expected()},
    {"behaviour": Fixed([0.2, 0.3, 0.5])},
    {"behaviour": UniformMixture(0), "estimator": OneSample(3, 0.1)},
    {"record": Record("action", "reward", every=1)},
    {"record": Record("value", at=[0, 10])},
    {"record": Record("value", "entropy", "distance", reduce=Reduce(quantiles=[0.5]))},
    {"record": Record("theta", reduce=Reduce(bins=3, range=(0, 1)))},
    {"record": Record("regret", "reward", reduce=Reduce())},
    {"steps": 2**56 - 1},
    {"steps": 2**54, "estimator": OneSample(3)},
]


@pytest.mark.parametrize("changes", LEGAL, ids=str)
def test_legal_combinations(changes: dict[str, Any]) -> None:
    exp = experiment(**changes)
    for name, value in changes.items():
        assert getattr(exp, name) == value


ILLEGAL: list[tuple[dict[str, Any], str, str]] = [
    # (parts, the argument that is named, what to use instead)
    (
        {"policy": Direct()},
        "update",
        "Vanilla or Projected with a Direct policy",
    ),
    (
        {"update": Projected(step_size=1)},
        "update",
        "Natural or Vanilla with a Softmax policy",
    ),
    (
        {"problem": TWO, "policy": Sigmoid(), "update": Projected(step_size=1)},
        "update",
        "Natural or Vanilla with a Sigmoid policy",
    ),
    (
        {"policy": Direct(), "update": Vanilla(step_size=1, entropy=0.1)},
        "update.entropy",
        "0 with a Direct policy",
    ),
    (
        {"policy": Direct(), "update": Vanilla(step_size=1, entropy=Decay(1, 1))},
        "update.entropy",
        "Softmax or Sigmoid",
    ),
    ({"policy": Softmax([0, 1])}, "policy.theta0", "3 numbers, one per arm (there are 2)"),
    (
        {"policy": Direct([0.5, 0.5]), "update": Vanilla(step_size=1)},
        "policy.probabilities",
        "3 numbers, one per arm (there are 2)",
    ),
    ({"policy": Sigmoid()}, "policy", "Softmax for 3 arms"),
    (
        {"behaviour": Fixed([0.5, 0.5])},
        "behaviour.probabilities",
        "3 numbers, one per arm (there are 2)",
    ),
    ({"problem": Bandit([1, 1, 0]), "baseline": Gap()}, "baseline", "Maximum or Constant"),
    ({"problem": Bandit([1]), "baseline": Gap() + 1}, "baseline", "two arms or more"),
    (
        {"baseline": RunningMean(0.1) - RunningMean(0.2)},
        "baseline",
        "at most one kind of RunningMean",
    ),
    (
        {"baseline": RunningMean() + 1, "estimator": Expected()},
        "baseline",
        "use Value or OneSample",
    ),
    (
        {"record": Record("value", "action"), "estimator": Expected()},
        "record.names",
        "names without 'action'",
    ),
    (
        {"record": Record("reward", "action"), "estimator": Expected()},
        "record.names",
        "names without 'action' and 'reward'",
    ),
    ({"record": Record(at=[11])}, "record.at", "times in [0, 10], for steps = 10"),
    (
        {"record": Record("value", "theta", reduce=Reduce(bins=3))},
        "record.reduce.range",
        "range={'theta': (lo, hi)}",
    ),
    (
        {"record": Record("value", "regret", reduce=Reduce(bins=3, range={"value": (0, 1)}))},
        "record.reduce.range",
        "range={'regret': (lo, hi)}",
    ),
    ({"steps": 2**55, "estimator": OneSample(2)}, "steps", "steps * samples < 2**56"),
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
        ({"policy": Softmax}, "Experiment.policy = <class"),
        ({"update": 0.1}, "Experiment.update = 0.1 is not allowed; expected an instance of Natur"),
        ({"update": Softmax()}, "Experiment.update = Softmax() is not allowed"),
        ({"baseline": "value"}, "Experiment.baseline = 'value' is not allowed; expected a finite"),
        ({"baseline": Softmax()}, "Experiment.baseline = Softmax() is not allowed"),
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


def test_families_are_complete() -> None:
    # A new one must be lowered by the plan, too.
    assert {c.__name__ for c in kinds(Baseline).values()} == {
        "Constant",
        "Gap",
        "Linear",
        "Maximum",
        "MinVariance",
        "RunningMean",
        "Value",
    }
    assert {c.__name__ for c in kinds(Behaviour).values()} == {
        "EpsilonGreedy",
        "Fixed",
        "OnPolicy",
        "UniformMixture",
    }
    assert {c.__name__ for c in kinds(Estimator).values()} == {
        "ExactQ",
        "Expected",
        "OneSample",
        "Reinforce",
    }


def test_experiments_differ_by_each_part() -> None:
    others = [
        experiment(problem=Bandit([1, 0.7, 0.1])),
        experiment(policy=Softmax([0, 0, 1])),
        experiment(update=Vanilla(step_size=0.1)),
        experiment(baseline=Maximum()),
        experiment(behaviour=UniformMixture(0.1)),
        experiment(estimator=Expected()),
        experiment(steps=11),
        experiment(record=Record(every=1)),
    ]
    assert len({experiment().hash, *(e.hash for e in others)}) == 9
    assert len({experiment(), *others}) == 9
