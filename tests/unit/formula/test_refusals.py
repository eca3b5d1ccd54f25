"""What a formula cannot be is told with the place and with what to write instead."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import FormulaError
from committal.formula import functions as f
from committal.formula.formula import from_function, from_text

sys.path.insert(0, str(Path(__file__).parent))
from random_formulas import INPUTS

FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "if": (lambda A: 1 if A > 0 else 2, "where"),
    "and": (lambda A, rho: (A > 0) and (rho < 1), "&"),
    "chain": (lambda A: 0 < A < 1, "&"),
    "min": (lambda A, rho: min(A, rho), "minimum"),
    "numpy": (lambda pi: np.exp(pi), "cm.exp instead of np.exp"),
    "numpy sum": (lambda pi: np.sum(pi), "cm.sum instead of np.sum"),
    "numpy where": (lambda A: np.where(A > 0, 1, 2), "cm.where instead of np.where"),
    "numpy reduce": (lambda pi: np.add.reduce(pi), "vocabulary"),
    "numpy other": (lambda pi: np.tanh(pi), "vocabulary"),
    "array": (lambda pi: pi * np.ones(3), "an array is not"),
    "math": (lambda pi: math.exp(pi), "math"),
    "float": (lambda pi: float(pi), "float"),
    "range": (lambda K: sum(range(K)), "range"),
    "loop": (lambda pi: sum(p for p in pi), r"\.sum\(\)"),
    "len": (lambda pi: len(pi), "K, the number of arms"),
    "in": (lambda pi: 1 in pi, "instead of `in`"),
    "item": (lambda pi: pi.__setitem__(0, 1), "onehot"),
    "attribute": (lambda pi: setattr(pi, "x", 1), "never changes"),
    "slice": (lambda pi: pi[1:], "one arm"),
    "method": (lambda pi: pi.meen(), "did you mean 'mean'"),
    "remainder": (lambda t: t % 2, "no %"),
    "xor": (lambda A: A ^ 2, r"\*\* for powers"),
    "call": (lambda pi: pi(2), "not called"),
    "string": (lambda pi: pi + "1", "numbers"),
    "nan": (lambda pi: pi + math.nan, "finite"),
    "nothing": (lambda pi: None, "return"),
    "two": (lambda pi: (pi, pi), "state="),
    "shape": (lambda t: t.sum(), "one number"),
    "two axes": (lambda score: score.sum(), "over="),
    "wrong axis": (lambda pi: pi.sum(over="samples"), "over samples"),
    "no axis": (lambda pi: pi.sum(over="rows"), "'arms' or 'samples'"),
    "no truth": (lambda A: f.where(A, 1, 2), "comparison"),
    "index": (lambda pi: pi[pi], "number of an arm"),
    "no vector": (lambda t, a: t[a], "vector over arms"),
    "others": (lambda R: R.others("median"), "'sum' or 'mean'"),
    "ddof": (lambda R: R.std(ddof=2), "0 or 1"),
    "unknown": (lambda p: p, "'pi'"),
    "defaults": (lambda pi=1: pi, r"\*"),
    "starred": (lambda *pi: pi, "names"),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_functions(case: str) -> None:
    function, words = FUNCTIONS[case]
    with pytest.raises(FormulaError, match=words) as caught:
        from_function(function, INPUTS)
    assert isinstance(caught.value, TypeError)


def test_the_line_is_named() -> None:
    def clipped(A: Any, rho: Any) -> Any:
        w = rho * 2
        if A > 0:
            w = 1
        return w

    with pytest.raises(FormulaError, match=r"in clipped, line \d+: if A > 0:"):
        from_function(clipped, INPUTS)


def test_parameters_need_defaults_that_are_numbers() -> None:
    def f(pi: Any, *, top: Any) -> Any:
        return pi

    with pytest.raises(FormulaError, match="a default"):
        from_function(f, INPUTS)

    def g(pi: Any, *, top: Any = "x") -> Any:
        return pi

    with pytest.raises(TypeError, match=r"g\.top"):
        from_function(g, INPUTS)


def test_names_are_those_that_texts_have() -> None:
    """A part is stored as its text: a name that cannot be read there would be lost."""
    with pytest.raises(FormulaError, match=r"é.*a letter from a to z"):
        cm.baseline(lambda pi, *, é=1.0: pi.sum() * é)
    with pytest.raises(FormulaError, match=r"ε.*a letter from a to z"):
        cm.baseline("0.5", ε=1.0)
    with pytest.raises(FormulaError, match=r"ν.*a letter from a to z"):
        cm.baseline(lambda ν: (ν, {"ν": ν}), state={"ν": 0.0})


def test_states() -> None:
    for function, words in (
        (lambda v: v, "two results"),
        (lambda v: (v, {"w": v}), "the next state"),
        (lambda v, R: (v, {"v": R}), "one number or a vector over arms"),
    ):
        with pytest.raises(FormulaError, match=words):
            from_function(function, INPUTS, {"v": 0.0})
    with pytest.raises(FormulaError, match="the parameters"):
        from_function(lambda v: (v, {"v": v}), INPUTS, {"v": "start"})
    with pytest.raises(FormulaError, match="already"):
        from_function(lambda pi: (pi, {"pi": pi}), INPUTS, {"pi": 0.0})
    with pytest.raises(FormulaError, match="initial value"):
        from_text("v", INPUTS, None, {"v": 0.0})


TEXTS = {
    "": "at its end",
    "pi +": "at its end",
    "sum(pi": "at its end",
    "pi pi": "operator",
    "__import__('os').system('true')": "functions",
    "pi.__class__": "methods",
    "().__class__": "a number, a name or a bracket",
    "open('x')": "functions",
    "exec": "names",
    "lambda x": "one expression",
    "[pi for pi in r]": "a number, a name or a bracket",
    "sun(pi * r)": "did you mean 'sum'.*'sun', character 1",
    "sum(theeta * r)": "did you mean 'theta'.*'theeta', character 5",
    "pi.summ()": "did you mean 'sum'",
    "sum": "brackets",
    "pi(2)": "functions",
    "2(pi)": r"\* for a product",
    "1 if A > 0 else 2": "where",
    "A > 0 and rho < 1": "&",
    "not A": "~",
    "0 < A < 1": "chain",
    "A > 0 & rho < 1": "parentheses",
    "pi // 2": "/ instead",
    "pi ^ 2": r"\*\*",
    "x := 1": "character",
    "pi = 1": "==",
    "sum(score)": "over=",
    "sum(pi, over='rows')": "'arms' or 'samples'",
    "sum(pi, axis='arms')": "over",
    "sum(pi, r)": "at most 1",
    "where(A > 0, 1)": "3 operands",
    "others(R, 'x')": "'sum' or 'mean'",
    "exp('arms')": "text only",
    "1 / 0": "finite",
    "1e999": "finite",
    "\0": "character",
    "pi\N{SUPERSCRIPT TWO}": "character",
    "std(R, ddof=7)": "ddof is 0 or 1",
    "others(R, 'mean', how='sum')": r"how once \(at 'how', character 19\)",
    "others(R, how='mean', how='sum')": "how once",
    "others(R, how='mean', 'sum')": "operands before options",
    "sum(pi, over='arms', over='arms')": "over once",
    "std(R, ddof=0, ddof=1)": "ddof once",
    "sum(pi * r": "',' or '\\)'",
    "2pi": r"such as \*",
    "w = pi**2\nsum(w)": "without assignments",
    "np.sum(pi)": "without np",
    "sum(\N{GREEK SMALL LETTER PI})": "expected 'pi'",
    "pi \N{MULTIPLICATION SIGN} r": r"expected '\*'",
    "sum(pi) # all": "without comments",
    "quantile(R)": "no sorting",
    "argmax(pi)": r"x == max\(x\)",
    "c * sum(pi)": r"a parameter with a value \(c=\.\.\.\)",
    "sum(over='arms', pi)": r"operands before options \(at 'pi'",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str) -> None:
    with pytest.raises(FormulaError, match=TEXTS[text]):
        from_text(text, INPUTS)


@pytest.mark.parametrize("text", [None, 3, b"pi", ["pi"], object()])
def test_no_texts(text: Any) -> None:
    with pytest.raises(FormulaError, match="text"):
        from_text(text, INPUTS)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10**6,
        "(" * 10**4,
        "(" * 10**4 + "pi" + ")" * 10**4,
        "-" * 10**4 + "pi",
        "exp(" * 10**4 + "pi" + ")" * 10**4,
        "**".join(["pi"] * 10**4),
        "+".join(["pi"] * 6000),
        "pi" + ".sum()" * 2000,
        "pi" + "[a]" * 3000,
        "~" * 200 + "pi",
        "(" * 101 + "pi" + ")" * 101,
        "9" * 19_000,
    ],
    ids=lambda text: text[:8] + str(len(text)),
)
def test_monsters_are_refused_at_once(text: str) -> None:
    begun = time.perf_counter()
    with pytest.raises(FormulaError):
        from_text(text, INPUTS)
    assert time.perf_counter() - begun < 1.0


def test_what_is_nearly_too_deep_is_read() -> None:
    made = from_text("exp(" * 98 + "pi" + ")" * 98, INPUTS)
    assert from_text(made.text, INPUTS) == made
    chain = from_text("1 + (" * 98 + "pi" + ")" * 98, INPUTS)
    assert from_text(chain.text, INPUTS) == chain


@pytest.mark.parametrize("how", [np.ones(3), None, 3, "median"], ids=str)
def test_others_are_summed_or_averaged(how: Any) -> None:
    with pytest.raises(FormulaError, match=r"others\.how .* expected 'sum' or 'mean'"):
        f.others(1.0, how)


@pytest.mark.parametrize("text", ["r[c]", "sum(onehot(c) * r)"])
@pytest.mark.parametrize("c", [2.5, 3.0, -1.0, 1e50])
def test_what_is_the_number_of_no_arm_has_no_entry(text: str, c: float) -> None:
    pi, r = np.full(3, 1 / 3), np.array([1.0, 2.0, 4.0])
    with pytest.raises(FormulaError, match="whole numbers of arms from 0 to 2"):
        cm.baseline(text, c=c).at(pi, r)
    assert cm.baseline(text, c=2).at(pi, r) == 4.0
