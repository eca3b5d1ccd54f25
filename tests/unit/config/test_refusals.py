"""What an experiment refuses when it is made, and not only when it is run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Baseline
from committal.support import limits

TWO = cm.Bandit([1.0, 0.0])


def experiment(**changes: Any) -> cm.Experiment:
    parts: dict[str, Any] = {
        "problem": TWO,
        "policy": cm.Softmax(),
        "update": cm.Natural(0.1),
        "steps": 10,
    }
    return cm.Experiment(**(parts | changes))


MAGNITUDES: dict[str, Any] = {
    "Softmax.theta0": lambda x: cm.Softmax([x, 0.0]),
    "Sigmoid.theta0": cm.Sigmoid,
    "Constant.c": cm.Constant,
    "Bandit.means": lambda x: cm.Bandit([x, 0.0]),
    "Bandit.sigma": lambda x: cm.Bandit([1.0, 0.0], noise="gaussian", sigma=x),
    "Bandit.half_width": lambda x: cm.Bandit([1.0, 0.0], noise="uniform", half_width=x),
    "Bandit.table": lambda x: cm.Bandit.from_table([[(x, 1.0)], [(0.0, 1.0)]]),
    "Natural.step_size": cm.Natural,
    "Natural.entropy": lambda x: cm.Natural(0.1, entropy=x),
    "OneSample.implicit": lambda x: cm.OneSample(implicit=x),
    "MinVariance.lam": lambda x: cm.MinVariance("natural", lam=x),
    "RunningMean.initial": lambda x: cm.RunningMean(initial=x),
    "Baseline.factor": lambda x: x * cm.Value(),
    "Baseline.term": lambda x: cm.Value() + x,
    "Decay.scale": lambda x: cm.Decay(x, 0.5),
    "TabularMDP.R": lambda x: cm.TabularMDP(
        [(0, 0, 1, 1.0, x)], gamma=0.5, start=0, terminal=[1], limit=5
    ),
}


@pytest.mark.parametrize("argument", MAGNITUDES)
@pytest.mark.parametrize("x", [1.01e50, 1e60, 1e300])
def test_magnitudes_are_bounded_by_one_limit(argument: str, x: float) -> None:
    with pytest.raises(cm.ConfigError, match=r"1e\+50") as refused:
        MAGNITUDES[argument](x)
    assert refused.value.argument.startswith(argument)


@pytest.mark.parametrize("argument", MAGNITUDES)
def test_what_passes_the_configuration_passes_the_core(argument: str) -> None:
    part = MAGNITUDES[argument](1e50)
    axis = {
        "Softmax": "policy",
        "Sigmoid": "policy",
        "Bandit": "problem",
        "Natural": "update",
        "OneSample": "estimator",
        "Decay": "update.step_size",
        "TabularMDP": "",
    }.get(argument.split(".")[0], "baseline")
    if not axis:
        assert np.isfinite(cm.evaluate(part).V).all()
        return
    made = experiment(record=cm.Record("value")).replace(**{axis: part})
    # One update of this size is more than the kernels promise to survive: none is made.
    assert np.isfinite(cm.run(made.replace(steps=0), runs=2, rng=0)["value"]).all()


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("update.step_size", {"update": cm.Natural(cm.Values([0.1] * 9))}),
        ("update.entropy", {"update": cm.Vanilla(0.1, entropy=cm.Values([0.1] * 9))}),
        ("behaviour.gamma", {"behaviour": cm.UniformMixture(cm.Values([0.1] * 9))}),
        ("behaviour.epsilon", {"behaviour": cm.EpsilonGreedy(cm.Values([0.1] * 9))}),
        ("estimator.implicit", {"estimator": cm.OneSample(implicit=cm.Values([0.1] * 9))}),
    ],
)
def test_a_table_shorter_than_the_experiment(path: str, changes: dict[str, Any]) -> None:
    experiment(**changes, steps=9)
    with pytest.raises(cm.CombinationError, match=r"for steps = 10 \(there are 9\)") as refused:
        experiment(**changes)
    assert refused.value.argument == f"Experiment.{path}"


def test_a_schedule_that_would_not_fit_into_memory() -> None:
    with pytest.raises(cm.CombinationError, match=str(limits.SCHEDULE)):
        experiment(update=cm.Natural(cm.Decay(0.1, 0.5)), steps=limits.SCHEDULE + 1)


def test_numbers_that_only_the_problem_makes_large() -> None:
    with pytest.raises(cm.CombinationError, match=r"at most 1e\+50 in magnitude \(here 5e\+59\)"):
        experiment(problem=cm.Bandit([1e30, 0.0]), baseline=1e30 * cm.Gap())


def test_as_many_times_as_fit_into_memory() -> None:
    with pytest.raises(cm.CombinationError, match=r"fewer than 2\*\*28 times"):
        experiment(record=cm.Record(every=1), steps=2**40)


@pytest.mark.parametrize("samples", [1, 3, 1000])
def test_python_and_the_core_draw_the_same_line(samples: int) -> None:
    most = (limits.DRAWS - 1) // samples
    parts = {"estimator": cm.OneSample(samples=samples), "record": cm.Record("value", at=0)}
    cm.run(experiment(**parts, steps=most), runs=1, rng=0)
    with pytest.raises(cm.ConfigError, match="steps"):
        experiment(**parts, steps=most + 1)


def test_python_and_the_core_draw_the_same_line_for_episodes() -> None:
    maze = cm.gridworld("S.A", goals={"A": 1.0}, limit=7)
    most = (limits.DRAWS - 1) // 7 - 1
    parts = {"problem": maze, "estimator": cm.Reinforce(), "record": cm.Record("value", at=0)}
    cm.run(experiment(**parts, steps=most), runs=1, rng=0)
    with pytest.raises(cm.CombinationError, match="steps"):
        experiment(**parts, steps=most + 1)


def test_a_schedule_that_underflows_is_zero_everywhere() -> None:
    decay = cm.Decay(0.1, 400.0)
    assert decay.at(0) == decay.values(1)[0]
    assert decay.at(10) == decay.values(11)[10] == 0.0


class MySchedule(cm.Decay):
    """Would have the hash of a Decay."""


class MyReduce(cm.Reduce):
    """Would have the hash of a Reduce."""


@pytest.mark.parametrize(
    ("argument", "make"),
    [
        ("Natural.step_size", lambda: cm.Natural(MySchedule(0.1, 0.5))),
        ("UniformMixture.gamma", lambda: cm.UniformMixture(MySchedule(0.1, 0.5))),
        ("Record.reduce", lambda: cm.Record("value", reduce=MyReduce())),
    ],
)
def test_a_subclass_inside_of_a_part_is_refused_too(argument: str, make: Any) -> None:
    with pytest.raises(cm.ConfigTypeError, match="derived from") as refused:
        make()
    assert refused.value.argument == argument


class MyPolicy(cm.Softmax):
    """Not a part: nothing tells the core what it changes."""


class MyUpdate(cm.Natural):
    """Not a part either."""


class MyValue(cm.Value):
    """Nor this."""


class MyBaseline(Baseline):
    """Nor this, which derives from the family itself."""


@pytest.mark.parametrize(
    ("axis", "part", "parent"),
    [
        ("policy", MyPolicy(), "Softmax"),
        ("update", MyUpdate(0.1), "Natural"),
        ("baseline", MyValue(), "Value"),
        ("baseline", MyValue() - 0.5, "Value"),
        ("baseline", MyBaseline(), "Baseline"),
    ],
    ids=lambda x: str(x),
)
def test_a_subclass_of_a_part_is_refused_by_name(axis: str, part: Any, parent: str) -> None:
    with pytest.raises(cm.ConfigTypeError, match=f"derived from {parent}.*CONTRIBUTING") as refused:
        experiment(**{axis: part})
    assert refused.value.argument == f"Experiment.{axis}"


def test_a_baseline_without_bounds_of_its_own_is_looked_at() -> None:
    shares, r = np.array([0.3, 0.0, 0.7]), np.array([1.0, 0.7, 0.0])
    observed = Baseline.enclose(cm.MinVariance(), 1, shares, 1e-3, r)
    proved = cm.MinVariance().enclose(1, shares, 1e-3, r)
    assert proved.proved
    assert not observed.proved
    assert observed.low <= proved.high
    assert proved.low <= observed.high
    assert observed.high - observed.low < 0.1
