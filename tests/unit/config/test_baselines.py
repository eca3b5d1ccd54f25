"""The algebra of baselines: laws, normal form, printing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from committal.config import (
    Baseline,
    Constant,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    RunningMean,
    Value,
)
from committal.config.linear import as_baseline
from committal.errors import ConfigError, ConfigTypeError

# Multiples of 1/8 of moderate size: sums and products are exact, so the laws hold exactly.
numbers = st.integers(-64, 64).map(lambda n: n / 8)
nonzero = st.sampled_from([-4.0, -0.5, 0.25, 1.0, 2.0])
atoms = st.sampled_from(
    [Value(), Maximum(), MinVariance(), MinVariance("natural", 1.0), Gap(), RunningMean(0.5)]
)
simple = st.one_of(atoms, numbers.map(Constant))
baselines = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner), st.builds(lambda a, c: a * c, inner, nonzero)
    ),
    max_leaves=5,
)
laws = settings(max_examples=100, deadline=None, derandomize=True)


@laws
@given(baselines, baselines, baselines)
def test_addition(x: Baseline, y: Baseline, z: Baseline) -> None:
    assert x + y == y + x
    assert (x + y) + z == x + (y + z)
    assert x - y == x + (-y)
    assert x - x == Constant(0)
    assert x + 0 == x
    assert +x == x
    assert (-x) * -1 == x
    assert 0 - (-x) == x
    assert (x + y).hash == (y + x).hash
    assert repr(x + y) == repr(y + x)


@laws
@given(baselines, baselines, numbers, numbers)
def test_scaling(x: Baseline, y: Baseline, a: float, b: float) -> None:
    assert a * x == x * a
    assert a * (x + y) == a * x + a * y
    assert (a + b) * x == a * x + b * x
    assert a * (b * x) == (a * b) * x
    assert 1 * x == x
    assert 0 * x == Constant(0)


@laws
@given(baselines, numbers, nonzero)
def test_numbers(x: Baseline, a: float, c: float) -> None:
    assert x + a == a + x == x + Constant(a)
    assert a - x == -(x - a)
    assert x / c == x * (1 / c)


@laws
@given(baselines, numbers)
def test_relative(x: Baseline, c: float) -> None:
    assert x.relative(c) == (1 - c) * x + c * Maximum()
    assert x.relative(0) == x
    assert x.relative(1) == Maximum()


@laws
@given(baselines)
def test_normal_form(x: Baseline) -> None:
    if isinstance(x, Linear):
        listed = [atom for _, atom in x.terms]
        assert listed
        assert len(set(listed)) == len(listed)
        assert not any(isinstance(atom, (Linear, Constant)) for atom in listed)
        assert all(c != 0 for c, _ in x.terms)
        assert x.offset != 0 or len(listed) > 1 or x.terms[0][0] != 1
    assert as_baseline("b", x) == x


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (MinVariance() + 0.5, "MinVariance() + 0.5"),
        (0.9 * Value() - 0.1, "0.9 * Value() - 0.1"),
        (-Value(), "-Value()"),
        (-0.5 * Value() + 2, "-0.5 * Value() + 2.0"),
        (Value() - MinVariance(), "-MinVariance() + Value()"),
        (Maximum() - 2 * Value(), "Maximum() - 2.0 * Value()"),
        (MinVariance("natural") / 4, "0.25 * MinVariance(metric='natural')"),
        (MinVariance().relative(0.25), "0.25 * Maximum() + 0.75 * MinVariance()"),
        (Constant(1) + 2, "Constant(3.0)"),
        (Value() + Value(), "2.0 * Value()"),
        (Linear([]), "Linear((), offset=0.0)"),
        (Linear([(1, Value())]), "Linear(((1.0, Value()),))"),
    ],
    ids=str,
)
def test_repr(x: Baseline, text: str) -> None:
    assert repr(x) == text


def test_collapse() -> None:
    assert type(Value() + 1 - 1) is Value
    assert type(Value() - Value() + 2) is Constant
    assert type(2 * Value() / 2) is Value
    assert RunningMean(0.5) + RunningMean(0.25) != 2 * RunningMean(0.5)


def test_linear_by_hand_is_normalised() -> None:
    inner = Linear([(2, Value()), (1, Constant(3))], 1)
    assert inner.terms == ((2.0, Value()),)
    assert inner.offset == 4.0
    outer = Linear([(0.5, inner), (1, Maximum()), (-1, Value()), (0, Gap())])
    assert outer.terms == ((1.0, Maximum()),)
    assert outer.offset == 2.0
    assert as_baseline("b", Linear([(1, Value())])) == Value()
    assert as_baseline("b", Linear([], 3)) == Constant(3)


@pytest.mark.parametrize("half", [0.5, np.float64(0.5), np.float32(0.5)])
def test_numpy_numbers_on_either_side(half: Any) -> None:
    for x in (half + Value(), Value() + half):
        assert x == Value() + 0.5
    assert half * Value() == Value() * half == 0.5 * Value()
    assert half - Value() == 0.5 - Value()
    assert type(half + Value()) is Linear
    assert Value() + np.int64(2) == Value() + 2


@pytest.mark.parametrize("other", [True, "1", None, [1.0], np.array([1.0, 2.0]), 1j])
def test_other_operands_are_type_errors(other: Any) -> None:
    operations: list[Callable[[], object]] = [
        lambda: Value() + other,
        lambda: other + Value(),
        lambda: Value() - other,
        lambda: other - Value(),
        lambda: Value() * other,
        lambda: other * Value(),
        lambda: Value() / other,
    ]
    for operation in operations:
        with pytest.raises(TypeError):
            operation()


def test_products_of_baselines_are_type_errors() -> None:
    with pytest.raises(TypeError):
        Value() * Value()  # type: ignore[operator]
    with pytest.raises(TypeError):
        1 / Value()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("operation", "argument"),
    [
        (lambda: Value() + float("nan"), "Baseline.term"),
        (lambda: float("inf") - Value(), "Baseline.term"),
        (lambda: Value() * float("inf"), "Baseline.factor"),
        (lambda: Value() / 0, "Baseline.divisor"),
        (lambda: (1e50 * Value()) * 10, "Linear.terms"),
        (lambda: Value() + 1e50 + 1e50, "Linear.offset"),
        (lambda: Value().relative(float("nan")), "Baseline.relative.c"),
    ],
)
def test_wrong_numbers_are_refused_by_name(operation: Any, argument: str) -> None:
    with pytest.raises(ConfigError) as caught:
        operation()
    assert caught.value.argument == argument


def test_numbers_stand_for_baselines() -> None:
    assert as_baseline("Experiment.baseline", np.int64(2)) == Constant(2)
    with pytest.raises(ConfigTypeError, match=r"^Experiment.baseline = None .*or a Baseline"):
        as_baseline("Experiment.baseline", None)
