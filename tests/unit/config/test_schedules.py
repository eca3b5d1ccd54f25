"""Schedules: their values, and the two conditions of the theory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from committal.config import Decay, Values, keeps_exploring, robbins_monro
from committal.config.schedules import rate
from committal.errors import ConfigError, ConfigTypeError
from committal.support.check import Interval


@pytest.mark.parametrize("power", [0, 0.3, 0.5, 1, 1.7, 2, 5])
@pytest.mark.parametrize("offset", [1, 0.25, 10])
def test_decay(power: float, offset: float) -> None:
    values = Decay(0.7, power, offset).values(50)
    expected = [0.7 * (t + offset) ** -power for t in range(50)]
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, expected, rtol=1e-15 * 4)
    one_by_one = [Decay(0.7, power, offset).at(t) for t in range(50)]
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-15 * 4)


def test_decay_begins_at_its_scale() -> None:
    assert Decay(0.3, 0.6).values(1).tolist() == [0.3]
    assert Decay(0.3, 0.6).values(0).shape == (0,)


def test_decay_underflows_quietly() -> None:
    values = Decay(1, 200).values(100)
    assert values[0] == 1.0
    assert values[-1] == 0.0
    assert np.isfinite(values).all()
    assert Decay(1e-300, 1.5, 1e-200).values(2).tolist() == [
        1e-300 / math.pow(1e-200, 1.5),
        1e-300,
    ]


def test_values() -> None:
    schedule = Values(np.array([3, 2, 1]))
    assert schedule.values(2).tolist() == [3.0, 2.0]
    assert schedule.values(0).tolist() == []
    assert Values(values=[1]).table == (1.0,)
    with pytest.raises(ConfigError, match=r"^Values.values = .* at least 4 numbers \(there are 3"):
        schedule.values(4)


def test_every_value_of_a_schedule_is_checked() -> None:
    upper_half = Interval(0.5, 1.0)
    assert rate("x", Decay(0.7, 0), upper_half) == Decay(0.7, 0)
    assert rate("x", Values([0.7, 0.5]), upper_half) == Values([0.7, 0.5])
    for schedule in (Decay(0.7, 1), Decay(0.4, 0), Values([0.7, 0.4]), Values([0.7, 1.1])):
        with pytest.raises(ConfigError, match=r"^x = .* a schedule of numbers in \[0.5, 1\]"):
            rate("x", schedule, upper_half)


@pytest.mark.parametrize(
    ("power", "steps_suffice", "explores"),
    [
        (0, False, True),
        (0.25, False, True),
        (0.49, False, True),
        (0.5, False, False),
        (0.51, True, False),
        (1, True, False),
        (1.01, False, False),
    ],
)
def test_conditions_of_decay(power: float, steps_suffice: bool, explores: bool) -> None:
    schedule = Decay(0.1, power, 3)
    assert schedule.robbins_monro() is steps_suffice
    assert robbins_monro(schedule) is steps_suffice
    assert schedule.keeps_exploring() is explores
    assert keeps_exploring(schedule) is explores


def test_conditions_of_constants_and_tables() -> None:
    assert robbins_monro(0.1) is False
    assert keeps_exploring(np.float64(0.1)) is True
    assert keeps_exploring(0) is False
    assert robbins_monro(Values([1.0])) is None
    assert keeps_exploring(Values([1.0])) is None


@pytest.mark.parametrize("condition", [robbins_monro, keeps_exploring])
def test_conditions_refuse_by_name(condition: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^{condition.__name__}.x = -1 "):
        condition(-1)
    with pytest.raises(ConfigTypeError, match=rf"^{condition.__name__}.x = 'a' "):
        condition("a")
