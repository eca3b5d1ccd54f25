"""The algebra of baselines: laws, normal form, printing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import committal as cm
from committal.config import Baseline, Linear
from committal.config.linear import as_baseline
from committal.errors import ConfigError, ConfigTypeError

# Multiples of 1/8 of moderate size: sums and products are exact, so the laws hold exactly.
numbers = st.integers(-64, 64).map(lambda n: n / 8)
nonzero = st.sampled_from([-4.0, -0.5, 0.25, 1.0, 2.0])
atoms = st.sampled_from(
    [
        cm.Value(),
        cm.Maximum(),
        cm.MinVariance(),
        cm.MinVariance("natural", 1.0),
        cm.Gap(),
        cm.RunningMean(0.5),
    ]
)
simple = st.one_of(atoms, numbers.map(cm.Constant))
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
    assert x - x == cm.Constant(0)
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
    assert 0 * x == cm.Constant(0)


@laws
@given(baselines, numbers, nonzero)
def test_numbers(x: Baseline, a: float, c: float) -> None:
    assert x + a == a + x == x + cm.Constant(a)
    assert a - x == -(x - a)
    assert x / c == x * (1 / c)


@laws
@given(baselines, numbers)
def test_relative(x: Baseline, c: float) -> None:
    assert x.relative(c) == (1 - c) * x + c * cm.Maximum()
    assert x.relative(0) == x
    assert x.relative(1) == cm.Maximum()


@laws
@given(baselines)
def test_normal_form(x: Baseline) -> None:
    if isinstance(x, Linear):
        listed = [atom for _, atom in x.terms]
        assert listed
        assert len(set(listed)) == len(listed)
        assert not any(isinstance(atom, (Linear, cm.Constant)) for atom in listed)
        assert all(c != 0 for c, _ in x.terms)
        assert x.offset != 0 or len(listed) > 1 or x.terms[0][0] != 1
    assert as_baseline("b", x) == x


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (cm.MinVariance() + 0.5, "MinVariance() + 0.5"),
        (0.9 * cm.Value() - 0.1, "0.9 * Value() - 0.1"),
        (-cm.Value(), "-Value()"),
        (-0.5 * cm.Value() + 2, "-0.5 * Value() + 2.0"),
        (cm.Value() - cm.MinVariance(), "-MinVariance() + Value()"),
        (cm.Maximum() - 2 * cm.Value(), "Maximum() - 2.0 * Value()"),
        (cm.MinVariance("natural") / 4, "0.25 * MinVariance(metric='natural')"),
        (cm.MinVariance().relative(0.25), "0.25 * Maximum() + 0.75 * MinVariance()"),
        (cm.Constant(1) + 2, "Constant(3.0)"),
        (cm.Value() + cm.Value(), "2.0 * Value()"),
        (Linear([]), "Linear((), offset=0.0)"),
        (Linear([(1, cm.Value())]), "Linear(((1.0, Value()),))"),
    ],
    ids=str,
)
def test_repr(x: Baseline, text: str) -> None:
    assert repr(x) == text


def test_collapse() -> None:
    assert type(cm.Value() + 1 - 1) is cm.Value
    assert type(cm.Value() - cm.Value() + 2) is cm.Constant
    assert type(2 * cm.Value() / 2) is cm.Value
    assert cm.RunningMean(0.5) + cm.RunningMean(0.25) != 2 * cm.RunningMean(0.5)


def test_linear_by_hand_is_normalised() -> None:
    inner = Linear([(2, cm.Value()), (1, cm.Constant(3))], 1)
    assert inner.terms == ((2.0, cm.Value()),)
    assert inner.offset == 4.0
    outer = Linear([(0.5, inner), (1, cm.Maximum()), (-1, cm.Value()), (0, cm.Gap())])
    assert outer.terms == ((1.0, cm.Maximum()),)
    assert outer.offset == 2.0
    assert as_baseline("b", Linear([(1, cm.Value())])) == cm.Value()
    assert as_baseline("b", Linear([], 3)) == cm.Constant(3)


@pytest.mark.parametrize("half", [0.5, np.float64(0.5), np.float32(0.5)])
def test_numpy_numbers_on_either_side(half: Any) -> None:
    for x in (half + cm.Value(), cm.Value() + half):
        assert x == cm.Value() + 0.5
    assert half * cm.Value() == cm.Value() * half == 0.5 * cm.Value()
    assert half - cm.Value() == 0.5 - cm.Value()
    assert type(half + cm.Value()) is Linear
    assert cm.Value() + np.int64(2) == cm.Value() + 2


@pytest.mark.parametrize("other", [True, "1", None, [1.0], np.array([1.0, 2.0]), 1j])
def test_other_operands_are_type_errors(other: Any) -> None:
    operations: list[Callable[[], object]] = [
        lambda: cm.Value() + other,
        lambda: other + cm.Value(),
        lambda: cm.Value() - other,
        lambda: other - cm.Value(),
        lambda: cm.Value() * other,
        lambda: other * cm.Value(),
        lambda: cm.Value() / other,
    ]
    for operation in operations:
        with pytest.raises(TypeError):
            operation()


def test_products_of_baselines_are_type_errors() -> None:
    with pytest.raises(TypeError):
        cm.Value() * cm.Value()  # type: ignore[operator]
    with pytest.raises(TypeError):
        1 / cm.Value()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("operation", "argument"),
    [
        (lambda: cm.Value() + float("nan"), "Baseline.term"),
        (lambda: float("inf") - cm.Value(), "Baseline.term"),
        (lambda: cm.Value() * float("inf"), "Baseline.factor"),
        (lambda: cm.Value() / 0, "Baseline.divisor"),
        (lambda: (1e50 * cm.Value()) * 10, "Linear.terms"),
        (lambda: cm.Value() + 1e50 + 1e50, "Linear.offset"),
        (lambda: cm.Value().relative(float("nan")), "Baseline.relative.c"),
    ],
)
def test_wrong_numbers_are_refused_by_name(operation: Any, argument: str) -> None:
    with pytest.raises(ConfigError) as caught:
        operation()
    assert caught.value.argument == argument


def test_numbers_stand_for_baselines() -> None:
    assert as_baseline("Experiment.baseline", np.int64(2)) == cm.Constant(2)
    with pytest.raises(ConfigTypeError, match=r"^Experiment.baseline = None .*or a Baseline"):
        as_baseline("Experiment.baseline", None)
