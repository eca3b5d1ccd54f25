"""Records: names, times, and reductions over runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from committal.config import (
    RECORDABLE,
    Bandit,
    Experiment,
    Natural,
    Record,
    Reduce,
    Softmax,
)
from committal.errors import ConfigError, ConfigTypeError
from committal.support import limits


def test_by_default_the_end_of_value_and_policy() -> None:
    exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=100)
    assert exp.record == Record("value", "policy")
    assert exp.record.times(100).tolist() == [100]
    assert exp.replace(record=Record(every=50)).record == Record("value", "policy", every=50)
    assert Record().named(["theta"]) == Record("theta")
    assert Record("value").named(["theta"]) == Record("value")


def test_names_have_one_order() -> None:
    assert Record(*reversed(RECORDABLE)).names == RECORDABLE
    assert Record("theta", "value") == Record("value", "theta")


@pytest.mark.parametrize(
    ("record", "steps", "times"),
    [
        (Record(every=10), 30, [0, 10, 20, 30]),
        (Record(every=10), 35, [0, 10, 20, 30, 35]),
        (Record(every=10), 5, [0, 5]),
        (Record(every=10), 0, [0]),
        (Record(every=1), 3, [0, 1, 2, 3]),
        (Record(at=7), 10, [7]),
        (Record(at=[7, 0, 3, 7]), 10, [0, 3, 7]),
        (Record(at=np.array([2, 1])), 2, [1, 2]),
        (Record(at=range(3)), 2, [0, 1, 2]),
        (Record(log=2), 1000, [0, 1000]),
        (Record(log=5), 1000, [0, 1, 10, 100, 1000]),
        (Record(log=50), 3, [0, 1, 2, 3]),
        (Record(log=5), 1, [0, 1]),
        (Record(log=5), 0, [0]),
        (Record(log=3), 2**55 + 1, [0, 1, 2**55 + 1]),
        (Record(), 0, [0]),
    ],
)
def test_times(record: Record, steps: int, times: list[int]) -> None:
    found = record.times(steps)
    assert found.dtype == np.int64
    assert found.tolist() == times


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 300))
def test_logarithmic_times(steps: int, count: int) -> None:
    times = Record(log=count).times(steps)
    assert times[0] == 0
    assert times[-1] == steps
    assert len(times) <= count
    assert (np.diff(times) > 0).all()
    if steps > 10**5:
        assert len(times) > count / 2
        late = np.diff(np.log(times[times > 1000]))
        assert late.size < 2 or late.max() / late.min() < 1.1


def test_reduce_normalises() -> None:
    assert Reduce(quantiles=[0.9, 0.1, 0.9]).quantiles == (0.1, 0.9)
    assert Reduce(quantiles=[0.5]).bins == 1024
    assert Reduce(quantiles=[0.5]) == Reduce(quantiles=(0.5,), bins=1024)
    assert Reduce().bins is None
    assert Reduce(bins=3, range=[0, 1]).range == (0.0, 1.0)
    both = Reduce(bins=3, range={"theta": (-1, 1), "value": (0, 2)})
    assert both == Reduce(bins=3, range={"value": [0, 2], "theta": [-1, 1]})
    assert both.hash == Reduce(bins=3, range={"value": [0, 2], "theta": [-1, 1]}).hash


def test_ranges() -> None:
    exp = Experiment(Bandit([3, 1]), Softmax(), Natural(step_size=1), steps=1)
    named = Reduce(bins=3, range={"theta": (-1, 1), "value": (0, 9)})
    assert named.range_of("theta", exp) == (-1.0, 1.0)
    assert named.range_of("value", exp) == (0.0, 9.0)
    assert named.range_of("policy", exp) == pytest.approx((0, 1), abs=1e-8)
    assert named.given_range("policy") is None
    assert Reduce(bins=3).range_of("value", exp) == pytest.approx((1, 3), abs=1e-8)
    assert Reduce(bins=3, range=(5, 6)).range_of("regret", exp) == (5.0, 6.0)
    with pytest.raises(ConfigError, match=r"^Reduce.range = .*the ends \(lo, hi\) for 'regret'"):
        named.range_of("regret", exp)


VALUES: list[tuple[str, Callable[[], object]]] = [
    ("Record.names", lambda: Record("valu")),
    ("Record.names", lambda: Record("value", "value")),
    ("Record.every", lambda: Record(every=0)),
    ("Record.every", lambda: Record(every=1).times(2**40)),
    ("Record.at", lambda: Record(at=[])),
    ("Record.at", lambda: Record(at=np.ma.masked)),
    ("Record.at", lambda: Record(at=[1, np.ma.masked])),
    ("Record.at", lambda: Record(at=[1, -1])),
    ("Record.at", lambda: Record(at=[11]).times(10)),
    ("Record.log", lambda: Record(log=1)),
    ("Record.at", lambda: Record(every=2, at=[1])),
    ("Record.log", lambda: Record(every=2, log=5)),
    ("Record.log", lambda: Record(at=2, log=5)),
    ("Record.names", lambda: Record("action", reduce=Reduce())),
    ("Record.reduce", lambda: Record("reward", reduce=Reduce(bins=3))),
    (
        "Record.reduce.range",
        lambda: Record("value", reduce=Reduce(bins=3, range={"theta": (0, 1)})),
    ),
    ("Reduce.below", lambda: Reduce(below=float("nan"))),
    ("Reduce.quantiles", lambda: Reduce(quantiles=[1.5])),
    ("Reduce.bins", lambda: Reduce(bins=0)),
    ("Reduce.range", lambda: Reduce(range=(0, 1))),
    ("Reduce.range", lambda: Reduce(bins=2, range=(1, 0))),
    ("Reduce.range", lambda: Reduce(bins=2, range=(0, 0))),
    ("Reduce.range", lambda: Reduce(bins=2, range=(0, 1, 2))),
    ("Reduce.range", lambda: Reduce(bins=2, range={})),
    ("Reduce.range", lambda: Reduce(bins=2, range={"not a name": (0, 1)})),
    ("Record.reduce.range", lambda: Record("theta", reduce=Reduce(bins=2, range={"thta": (0, 1)}))),
    ("Reduce.range['theta']", lambda: Reduce(bins=2, range={"theta": (1, 0)})),
]
TYPES: list[tuple[str, Callable[[], object]]] = [
    ("Record.names", lambda: Record(3)),  # type: ignore[arg-type]
    ("Record.names", lambda: Record(["value"])),  # type: ignore[arg-type]
    ("Record.every", lambda: Record(every=1.0)),  # type: ignore[arg-type]
    ("Record.every", lambda: Record(every=True)),
    ("Record.at", lambda: Record(at=1.5)),  # type: ignore[arg-type]
    ("Record.at", lambda: Record(at="1")),  # type: ignore[arg-type]
    ("Record.at", lambda: Record(at=[[1]])),  # type: ignore[list-item]
    ("Record.at", lambda: Record(at=[1.0])),  # type: ignore[list-item]
    ("Record.reduce", lambda: Record(reduce="mean")),  # type: ignore[arg-type]
    ("Record.reduce", lambda: Record(reduce=True)),  # type: ignore[arg-type]
    ("Reduce.bins", lambda: Reduce(bins=1.5)),  # type: ignore[arg-type]
    ("Reduce.range", lambda: Reduce(bins=2, range=3)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("argument", "call"), VALUES)
def test_wrong_values_are_refused_by_name(argument: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize(("argument", "call"), TYPES)
def test_wrong_types_are_refused_by_name(argument: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigTypeError) as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize("names", [("reward",), ("value", "reward")])
def test_rewards_reduce_to_their_mean(names: Any) -> None:
    assert Record(*names, reduce=Reduce(below=0.5)).names == names


def test_did_you_mean() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'policy'\?"):
        Record("polcy")


def test_times_are_bounded() -> None:
    with pytest.raises(ConfigError, match=r"Record\.log = 1000000000 .* integer in \[2, 1048576\]"):
        Record(log=10**9)
    times = Record(log=limits.LOG_TIMES).times(1000)
    np.testing.assert_array_equal(times, np.arange(1001))


@pytest.mark.parametrize("steps", [-1, 1.5, "3", None, True, 10**30, [3]])
@pytest.mark.parametrize("record", [Record(), Record(every=2), Record(at=0), Record(log=3)])
def test_times_of_a_wrong_number_of_steps(record: Record, steps: Any) -> None:
    with pytest.raises(ConfigError, match=r"^steps = "):
        record.times(steps)
