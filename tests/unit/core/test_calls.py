"""Malformed calls of the compiled core: each is refused by name, none crashes."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core
from committal.lowering import lower


def plan_arguments(**changes: Any) -> dict[str, Any]:
    experiment = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        steps=10,
    )
    return {**lower(experiment).core_arguments(), **changes}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("means", np.array([1.0, np.nan, 0.0])),
        ("means", np.array([1.0, np.inf, 0.0])),
        ("means", np.zeros(4)),
        ("means", np.zeros((3, 1))),
        ("theta0", np.zeros(2)),
        ("theta0", np.array([0.0, -np.inf, 0.0])),
        ("steps", -1),
        ("steps", 2**62),
        ("arms", 0),
        ("samples", 0),
        ("step_size", np.array([-0.1])),
        ("step_size", np.array([])),
        ("step_size", np.full(3, 0.1)),
        ("exploration", np.array([1.5])),
        ("policy", "hardmax"),
        ("update", "projected"),
        ("noise", "table"),
        ("behaviour", "fixed"),
        ("times", np.array([5, 3])),
        ("times", np.array([11])),
        ("baseline_terms", [("magic", 1.0, 0.0)]),
        ("baseline_terms", [("value", np.nan, 0.0)]),
        ("contrast", True),
        ("contrast", 1),
        ("arms", 3.0),
        ("arms", "3"),
        ("steps", 2**70),
        ("samples", 2**40),
        ("policy", b"softmax"),
        ("theta0", [0.0, 0.0, 0.0]),
        ("theta0", np.zeros(3, complex)),
        ("times", np.array([1.5])),
        ("baseline_offset", "0.5"),
        ("baseline_terms", [("value", 1.0)]),
        ("baseline_terms", 3),
        ("baseline_terms", [("running_mean", 1.0, 2.0)]),
    ],
)
def test_a_bad_plan_names_the_field(name: str, value: object) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        _core.BanditSimulator(**plan_arguments(**{name: value}))
    blamed = {"noise": "table", "behaviour": "behaviour_probabilities"}.get(name, name)
    assert blamed in str(caught.value)


def test_missing_and_unknown_fields_are_named() -> None:
    arguments = plan_arguments()
    del arguments["means"], arguments["arms"]
    with pytest.raises(TypeError, match="misses arms, means"):
        _core.BanditSimulator(**arguments)
    with pytest.raises(TypeError, match="has no 'armz'; expected arms, steps"):
        _core.BanditSimulator(**plan_arguments(), armz=3)
    with pytest.raises(TypeError):
        _core.BanditSimulator(3)  # type: ignore[call-arg,misc]


def test_what_has_a_default_may_be_left_out() -> None:
    arguments = plan_arguments()
    needed = {"arms", "steps", "theta0", "step_size", "means", "spread", "reward_variance", "times"}
    values = np.empty((2, 5, 1))
    for out, given in zip(values, (arguments, {n: arguments[n] for n in needed}), strict=True):
        simulator = _core.BanditSimulator(**given)
        _core.simulate(simulator, {"value": out}, key=0, first_run=0, runs=5)
    np.testing.assert_array_equal(values[0], values[1])


def test_integers_of_another_width_are_taken_as_they_are() -> None:
    made = [
        _core.BanditSimulator(**plan_arguments(times=times, arms=arms))
        for times, arms in ((np.array([3], np.int16), np.int32(3)), (np.array([3]), 3))
    ]
    assert made[0].describe("policy") == made[1].describe("policy")


@pytest.mark.parametrize("kind", [_core.Simulator, _core.BanditSimulator, _core.MdpSimulator])
def test_a_simulator_without_init_is_refused(kind: type[_core.Simulator]) -> None:
    empty = kind.__new__(kind)
    with pytest.raises(TypeError, match="made by its constructor"):
        _core.simulate(empty, {"value": np.empty((1, 1))}, key=0, first_run=0, runs=1)
    with pytest.raises(TypeError, match="made by its constructor"):
        _core.reduce(empty, key=0, first_run=0, runs=1, moments={})
    with pytest.raises(TypeError, match="made by its constructor"):
        empty.describe("value")


def test_a_model_without_init_is_refused() -> None:
    empty = _core.MdpModel.__new__(_core.MdpModel)
    for call in (lambda: empty.fill, lambda: empty.evaluate(np.ones((1, 1, 1)))):
        with pytest.raises(TypeError, match="made by its constructor"):
            call()


@pytest.mark.parametrize("other", [None, 3, "plan", object()])
def test_only_simulators_are_simulated(other: Any) -> None:
    with pytest.raises(TypeError, match=r"simulator = .* expected a Simulator"):
        _core.simulate(other, {}, key=0, first_run=0, runs=1)


@pytest.mark.parametrize(
    ("outputs", "complaint"),
    [
        ({"value": np.empty((5, 2))}, "shape"),
        ({"value": np.empty((5, 1), np.float32)}, "dtype"),
        ({"value": np.empty((5, 2))[:, :1]}, "contiguous"),
        ({"value": [0.0]}, "NumPy array"),
        ({"velocity": np.empty((5, 1))}, "velocity"),
    ],
)
def test_bad_outputs(outputs: dict[str, Any], complaint: str) -> None:
    plan = _core.BanditSimulator(**plan_arguments())
    with pytest.raises((ValueError, TypeError), match=complaint):
        _core.simulate(plan, outputs, key=0, first_run=0, runs=5)


def test_read_only_output() -> None:
    frozen = np.empty((5, 1))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _core.simulate(
            _core.BanditSimulator(**plan_arguments()), {"value": frozen}, key=0, first_run=0, runs=5
        )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"threads": 0}, "threads"),
        ({"threads": 10**6}, "threads"),
        ({"isa": "neon9"}, "isa"),
        ({"block": 5}, "block"),
        ({"first_run": 2**64 - 3}, "first_run"),
        ({"key": 2**64}, "incompatible"),
        ({"key": -1}, "incompatible"),
    ],
)
def test_bad_options(options: dict[str, Any], complaint: str) -> None:
    plan = _core.BanditSimulator(**plan_arguments())
    arguments = {"key": 0, "first_run": 0, "runs": 5, **options}
    with pytest.raises((ValueError, TypeError, OverflowError), match=complaint):
        _core.simulate(plan, {"value": np.empty((5, 1))}, **arguments)


def test_a_progress_callback_may_cancel() -> None:
    class EnoughError(Exception):
        pass

    def cancel(updates: int) -> None:
        raise EnoughError

    plan = _core.BanditSimulator(**plan_arguments(steps=10**9, times=np.array([10**9])))
    with pytest.raises(EnoughError):
        _core.simulate(
            plan, {"value": np.empty((640, 1))}, key=0, first_run=0, runs=640, progress=cancel
        )


def test_outputs_are_held_while_they_are_written() -> None:
    class EnoughError(Exception):
        pass

    outputs = {"value": np.empty((640, 1))}
    array = weakref.ref(outputs["value"])
    alive: list[bool] = []

    def let_go(updates: int) -> None:
        outputs.clear()
        gc.collect()
        alive.append(array() is not None)
        raise EnoughError

    simulator = _core.BanditSimulator(**plan_arguments(steps=10**9, times=np.array([10**9])))
    with pytest.raises(EnoughError):
        _core.simulate(simulator, outputs, key=0, first_run=0, runs=640, progress=let_go)
    assert alive == [True]
    assert array() is None
