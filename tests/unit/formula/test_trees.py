"""Trees: text, normal form, values and derivatives agree with what they say."""

from __future__ import annotations

import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from committal.errors import FormulaError
from committal.formula.derivative import gradient
from committal.formula.evaluate import culprit, evaluate
from committal.formula.formula import from_function, from_text
from committal.formula.latex import latex_of
from committal.formula.normal import normal
from committal.formula.parse import FUNCTIONS, parse
from committal.formula.text import text_of
from committal.formula.tree import INPUT, NUMBER, Node, name, number, walk
from committal.formula.vocabulary import ROWS, apply
from committal.support import limits

sys.path.insert(0, str(Path(__file__).parent))
from random_formulas import INPUTS, SMOOTH, K, N, formulas, naive, signed_zeros, values

EASY = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def _normal(tree: Node) -> Node:
    try:
        return normal(tree)
    except FormulaError:  # a constant that is not finite, such as 1 / 0
        assume(False)
        raise


@EASY
@given(formulas())
def test_text_is_read_back(tree: Node) -> None:
    final = _normal(tree)
    assert normal(parse(text_of(final), INPUTS)) == final
    assert normal(final) == final
    assert text_of(normal(parse(text_of(tree), INPUTS))) == text_of(final)
    assert latex_of(final).count("{") == latex_of(final).count("}")


@EASY
@given(formulas())
def test_numpy_agrees_with_loops(tree: Node) -> None:
    try:
        want = naive(tree, values())
    except (ValueError, ZeroDivisionError, OverflowError):
        assume(False)
    assume(all(math.isfinite(x) and abs(x) < 1e100 for x in want.values()))
    got = evaluate(tree, values())
    shape = {"run": (), "arm": (K,), "sample": (N,), "sample_arm": (N, K)}[tree.shape]
    assert np.broadcast_to(got, shape).shape == shape
    full = {"run": (1, 1), "arm": (1, K), "sample": (N, 1), "sample_arm": (N, K)}[tree.shape]
    table = np.broadcast_to(np.broadcast_to(got, shape).reshape(full), (N, K))
    expected = np.array([[want[i, k] for k in range(K)] for i in range(N)])
    np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-12)


@EASY
@given(formulas())
def test_the_normal_form_changes_no_bit(tree: Node) -> None:
    # These two by definition: which of 0 and -0 is the smaller, and that of -0 the root is -0.
    operations = {node.op for node in walk(tree)}
    rooted = any(node.op == "pow" and _is_half(node.operands[1]) for node in walk(tree))
    if not rooted and not operations & {"minimum", "maximum"}:
        assert_same_bits(tree, _normal(tree))


def assert_same_bits(tree: Node, final: Node) -> None:
    for numbers in (values(), signed_zeros()):
        before, after = evaluate(tree, numbers), evaluate(final, numbers)
        same = before.view(np.int64) == after.view(np.int64)
        assert (same | (np.isnan(before) & np.isnan(after))).all(), (text_of(tree), text_of(final))


def test_the_normal_form_of_everything_small_changes_no_bit() -> None:
    leaves = [name(INPUT, key, "arm") for key in ("theta", "r")]
    leaves += [number(x) for x in (0.0, -0.0, 1.0, -1.0, 2.0)]
    binary, unary = ("add", "sub", "mul", "div", "pow"), ("neg", "abs", "sqrt", "sign")
    one = [apply(op, x, y) for op in binary for x in leaves for y in leaves]
    one += [apply(op, x) for op in unary for x in leaves]
    two = [apply("neg", x) for x in one]
    two += [apply(op, *pair) for op in binary for x in one for y in leaves[:3]
            for pair in ((x, y), (y, x))]  # fmt: skip
    for tree in (*one, *two):
        assert_same_bits(tree, normal(tree, strict=False))


def _is_half(node: Node) -> bool:
    final = normal(node, strict=False)
    return final.op == NUMBER and final.value == 0.5


def test_signs_of_zeros() -> None:
    zeros = {"theta": [0.0, -0.0], "r": [-0.0, 0.0]}
    names = dict.fromkeys(zeros, "arm")
    for text, want in (
        ("theta + -r", [0.0, -0.0]),  # 0 - -0 is 0, -0 - 0 is -0
        ("-1 * theta", [-0.0, 0.0]),
        ("0 - theta", [0.0, 0.0]),  # which -theta is not
        ("theta * 1 - -r", [0.0, 0.0]),
        ("theta**0.5", [0.0, -0.0]),  # the root
    ):
        made = evaluate(normal(parse(text, names)), zeros)
        assert np.signbit(made).tolist() == np.signbit(want).tolist(), text
    one, other = (normal(parse(f"minimum({x})", names)) for x in ("theta, r", "r, theta"))
    assert one == other


@EASY
@given(formulas())
def test_who_is_to_blame_is_not_finite(tree: Node) -> None:
    numbers = signed_zeros()
    found = culprit(tree, numbers)
    if np.isfinite(evaluate(tree, numbers)).all():
        assert found is None
        return
    assert found is not None
    blamed = parse(found.expression, INPUTS)
    assert not np.isfinite(evaluate(blamed, numbers)).all()
    # Its own operands are numbers where it is not: elsewhere they need not be.
    operands = [evaluate(x, numbers) for x in blamed.operands]
    assert any(np.isfinite(x).any() for x in operands)


def test_samples_may_be_something_else() -> None:
    # Counted samples, say: each stands for as many as its weight.
    tree = parse("sum(A * rho) + mean(pi) + logsumexp(R)", INPUTS)
    twice = {"A": [0.5, 0.5], "rho": [2.0, 2.0], "R": [0.25, 0.25], "pi": [0.2, 0.3, 0.5]}
    once = {"A": [0.5], "rho": [2.0], "R": [0.25], "pi": [0.2, 0.3, 0.5]}

    def doubled(op: str, x: Any) -> Any:
        return x.max(-2, keepdims=True) if op == "max" else 2.0 * x.sum(-2, keepdims=True)

    assert evaluate(tree, once, doubled) == pytest.approx(evaluate(tree, twice), rel=1e-14)


@EASY
@given(formulas())
def test_the_normal_form_changes_no_number(tree: Node) -> None:
    before, after = evaluate(tree, values()), evaluate(_normal(tree), values())
    np.testing.assert_array_equal(*np.broadcast_arrays(before, after))


@EASY
@given(formulas(ops=SMOOTH, steps=6))
def test_derivatives_agree_with_differences(tree: Node) -> None:
    for target in ("pi", "R", "t"):
        d, base = gradient(tree, target), values()
        exact = np.broadcast_to(evaluate(d, base), np.shape(base[target]))
        differences = np.zeros(exact.shape)
        for index in np.ndindex(exact.shape):
            sums = []
            for h in (1e-5, -1e-5):
                moved = np.array(base[target], dtype=float)
                moved[index] += h
                shape = {"run": (), "arm": (K,), "sample": (N,), "sample_arm": (N, K)}[tree.shape]
                value = evaluate(tree, {**base, target: moved})
                sums.append(float(np.broadcast_to(value, shape).sum()))
            assume(all(math.isfinite(s) and abs(s) < 1e4 for s in sums))
            differences[index] = (sums[0] - sums[1]) / 2e-5
        assume(np.abs(differences).max() < 1e4)
        np.testing.assert_allclose(exact, differences, rtol=1e-3, atol=2e-4)


def test_kinks_have_one_of_their_slopes() -> None:
    for text, at, slope in (
        ("sum(minimum(theta, 1))", [0.0, 2.0], [1.0, 0.0]),
        ("sum(maximum(theta, 1))", [0.0, 2.0], [0.0, 1.0]),
        ("sum(abs(theta)**3)", [-2.0, 1.0], [-12.0, 3.0]),
        ("max(theta)", [0.0, 2.0], [0.0, 1.0]),
        ("std(theta)", [0.0, 2.0], [-0.5, 0.5]),
        ("sum(where(theta > 1, theta**2, -theta))", [0.0, 2.0], [-1.0, 4.0]),
        ('sum(others(theta, "mean") * theta)', [1.0, 2.0], [4.0, 2.0]),
        ("theta[1]", [5.0, 6.0], [0.0, 1.0]),
        ("sum(theta - theta.sum() * 2)", [5.0, 6.0], [-3.0, -3.0]),
    ):
        d = gradient(parse(text, INPUTS), "theta")
        got = evaluate(d, {"theta": at, "K": 2.0})
        np.testing.assert_allclose(np.broadcast_to(got, 2), slope, err_msg=text)


def test_values_over_arrays_of_policies() -> None:
    tree = parse("sum(pi**2 * r) / sum(pi**2)", INPUTS)
    pi = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 5))
    r = np.array([1.0, 0.7, 0.0])
    want = (pi**2 * r).sum(-1) / (pi**2).sum(-1)
    np.testing.assert_allclose(evaluate(tree, {"pi": pi, "r": r}), want, rtol=1e-14)


def test_one_formula_written_in_many_ways() -> None:
    ways = ["2 * pi - 1", "pi * 2 - 1", "-1 + pi * (1 + 1)", "pi*2+-1", "2*pi.clip(-9,9)*1-1"]
    trees = [normal(parse(text, INPUTS)) for text in ways]
    assert len({tree.digest for tree in trees[:4]}) == 1
    assert trees[4] != trees[0]
    assert normal(parse("1 < pi", INPUTS)) == normal(parse("pi > 1", INPUTS))
    # Regrouping would round differently: it stays as it is.
    assert normal(parse("(pi + r) + mu", INPUTS)) != normal(parse("pi + (r + mu)", INPUTS))


def test_functions_and_texts_are_one() -> None:
    def collision(pi: Any, r: Any) -> Any:
        w = pi**2
        return (w * r).sum() / w.sum()

    one, other = from_function(collision, INPUTS), from_text("sum(pi**2*r)/sum(pi**2)", INPUTS)
    assert one == other
    assert one.text == "sum(pi**2 * r) / sum(pi**2)"
    assert one.latex == (r"\frac{\sum_{k} \pi_{k}^{2} \, r_{k}}{\sum_{k} \pi_{k}^{2}}")
    assert pickle.loads(pickle.dumps(one.text)) == other.text


def test_states_take_the_shape_that_comes_out() -> None:
    def momentum(g: Any, m: Any, *, beta: float = 0.9) -> Any:
        m = beta * m + g
        return m, {"m": m}

    made = from_function(momentum, {"g": "arm"}, {"m": 0.0})
    assert made.shapes == {"g": "arm", "m": "arm", "beta": "run"}
    assert made.initial("m") == 0.0
    after = made.next_states({"g": [1.0, 2.0], "m": [1.0, 0.0]})
    np.testing.assert_allclose(after["m"], [1.9, 2.0])
    text = from_text(made.text, {"g": "arm"}, {"beta": 0.9}, {"m": (0.0, made.state_texts[0][2])})
    assert text == made


def test_the_culprit_is_named_with_its_operands() -> None:
    tree = parse("1 + sum(pi / (R.mean() - 1))", INPUTS)
    found = culprit(tree, {"pi": [0.5, 0.5], "R": [1.0, 1.0]})
    assert found is not None
    assert found.expression == "pi / (mean(R) - 1)"
    assert found.operands == {"pi": [0.5, 0.5], "mean(R) - 1": 0.0}
    assert culprit(tree, {"pi": [0.5, 0.5], "R": [2.0, 1.0]}) is None


def test_every_row_can_be_said() -> None:
    named = set(FUNCTIONS) | {row.name for row in ROWS.values() if row.infix}
    assert {row.name.split("_")[0] for row in ROWS.values()} - named == {"gather"}
    for row in ROWS.values():
        assert row.words
        assert row.latex


def _doubled(times: int) -> Node:
    """A tree that doubles, though every step is short."""
    tree = parse("pi + 1", INPUTS)
    for _ in range(times):
        tree = parse("pi * pi", INPUTS, {"pi": tree})
    return tree


def _deepened(times: int) -> Node:
    tree = parse("pi", INPUTS)
    for _ in range(times):
        tree = parse("exp(pi)", {}, {"pi": tree})
    return tree


def test_trees_stay_small() -> None:
    with pytest.raises(FormulaError, match=f"at most {limits.FORMULA_SIZE}"):
        _doubled(60)
    with pytest.raises(FormulaError, match=f"at most {limits.FORMULA_DEPTH} levels"):
        _deepened(limits.FORMULA_DEPTH)
    with pytest.raises(FormulaError, match="never changes"):
        number(2).op = "add"
    assert number(1) != 1


def test_the_slope_of_tsallis_is_that_of_differences() -> None:
    tree, x = parse("sum(tsallis(theta) * r)", INPUTS), np.array([0.0, 1.0, -2.0])
    r = [1.0, 0.7, 0.25]

    def value(theta: Any) -> float:
        return float(evaluate(tree, {"theta": theta, "r": r}))

    want = [(value(x + h) - value(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    got = evaluate(gradient(tree, "theta"), {"theta": x, "r": r, "K": 3.0})
    np.testing.assert_allclose(got, want, rtol=1e-7)
    assert np.abs(want).min() > 1e-3
