"""Formulas are read, put in order and derived as mathematics is: small cases by hand."""

from __future__ import annotations

import numpy as np
import pytest

from committal.formula.derivative import gradient
from committal.formula.evaluate import evaluate
from committal.formula.normal import normal
from committal.formula.parse import parse
from committal.formula.text import text_of

INPUTS = {"x": "run", "y": "run", "pi": "arm", "r": "arm"}
GIVEN = {"x": 2.0, "y": 3.0, "pi": np.array([0.2, 0.3, 0.5]), "r": np.array([1.0, 0.5, -1.0])}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x**y**x", 2.0**9),
        ("-x**2", -4.0),
        ("x**-2", 0.25),
        ("x - y - 1", -2.0),
        ("x / y / x", 1.0 / 3.0),
        ("x - -1", 3.0),
        ("x + -1", 1.0),
        ("-1 + x", 1.0),
        ("x - (y - 4)", 3.0),
        ("-(-x)", 2.0),
        ("x + -y", -1.0),
        ("-1 * x", -2.0),
        ("x * 1 / 1", 2.0),
        ("y**0.5", 3.0**0.5),
        ("2 * x + y * x", 10.0),
    ],
)
def test_values_before_and_after_the_normal_form(text: str, value: float) -> None:
    tree = parse(text, INPUTS)
    assert float(evaluate(tree, GIVEN)) == pytest.approx(value, rel=1e-15)
    assert float(evaluate(normal(tree), GIVEN)) == pytest.approx(value, rel=1e-15)
    again = parse(text_of(normal(tree)), INPUTS)
    assert float(evaluate(again, GIVEN)) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "target", "slope"),
    [
        ("pi + x", "x", 3.0),  # once for each arm
        ("pi * x", "x", 1.0),
        ("sum(pi * x)", "x", 1.0),
        ("sum(r) * x**2", "x", 2.0),
        ("x - y * x", "x", -2.0),
        ("x / y", "y", -2.0 / 9.0),
        ("mean(r * x)", "x", 1.0 / 6.0),
    ],
)
def test_derivatives(text: str, target: str, slope: float) -> None:
    found = evaluate(gradient(parse(text, INPUTS), target), {**GIVEN, "K": 3.0})
    assert float(found) == pytest.approx(slope, rel=1e-14)
