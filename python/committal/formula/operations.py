"""The operations that the core has, one row each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from committal.errors import FormulaError
from committal.formula.rows import (
    AND,
    COMPARE,
    COUNTS,
    OR,
    POWER,
    PRODUCT,
    SIGN,
    SUM,
    Adjoints,
    Floats,
    Row,
    apply,
)
from committal.formula.shapes import axes_of
from committal.formula.tree import INPUT, NUMBER, Node, name, number
from committal.support.simplex import others, tsallis

__all__ = ["OPERATIONS"]

# -- NumPy -----------------------------------------------------------------------------------------


def _truth(x: Any) -> Floats:
    return np.asarray(x, dtype=np.float64)


def _where(c: Floats, x: Floats, y: Floats) -> Floats:
    return np.where(c != 0.0, x, y)


def _reduction(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis: f(x, axis=axis, keepdims=True)


def _others_sum(x: Floats, axis: int) -> Floats:
    return np.moveaxis(others(np.moveaxis(x, axis, -1)), -1, axis)


def _others_mean(x: Floats, axis: int) -> Floats:
    return _others_sum(x, axis) / (np.float64(x.shape[axis]) - 1.0)


def _tsallis(x: Floats, axis: int) -> Floats:
    return np.moveaxis(tsallis(np.moveaxis(x, axis, -1)), -1, axis)


def _power(x: Floats, y: Floats) -> Floats:
    return np.asarray(np.power(x, y))


def _gather(x: Floats, index: Floats, arms: int) -> Floats:
    hot = _onehot(index, arms)
    # Zeros times what is not finite would be NaN; the other arms are not looked at.
    return np.asarray(np.sum(np.where(hot != 0.0, x, 0.0), axis=-1, keepdims=True))


def _onehot(index: Floats, arms: int) -> Floats:
    return _truth(np.arange(arms) == index)


# -- derivatives -----------------------------------------------------------------------------------


def times(d: Node, x: Node) -> Node:
    """d x, without what multiplies by one."""
    if d.op == NUMBER and d.value == 1.0:
        return x
    return d if x.op == NUMBER and x.value == 1.0 else apply("mul", d, x)


def none(node: Node, d: Node) -> Adjoints:
    del d
    return (None,) * len(node.operands)


def _d_div(n: Node, d: Node) -> Adjoints:
    x, y = n.operands
    return apply("div", d, y), apply("neg", times(d, apply("div", x, apply("mul", y, y))))


def _d_pow(n: Node, d: Node) -> Adjoints:
    x, y = n.operands
    lower = number(y.value - 1.0) if y.op == NUMBER else apply("sub", y, number(1))
    slope = apply("mul", y, apply("pow", x, lower))
    # The exponent is mostly a number, of which nobody asks; log x may not exist.
    in_y = None if y.op == NUMBER else times(d, apply("mul", n, apply("log", x)))
    return times(d, slope), in_y


def _d_where(n: Node, d: Node) -> Adjoints:
    c, nothing = n.operands[0], number(0)
    return None, apply("where", c, d, nothing), apply("where", c, nothing, d)


def _d_extreme(op: str) -> Callable[[Node, Node], Adjoints]:
    def adjoint(n: Node, d: Node) -> Adjoints:
        first = apply(op, *n.operands)
        return apply("where", first, d, number(0)), apply("where", first, number(0), d)

    return adjoint


def _count(n: Node) -> Node:
    return name(INPUT, COUNTS[n.over])


def _d_std(n: Node, d: Node) -> Adjoints:
    (x,) = n.operands
    centred = apply("sub", x, apply("mean", x, over=n.over))
    return (times(d, apply("div", centred, apply("mul", _count(n), n))),)


def _d_end(n: Node, d: Node) -> Adjoints:
    return (apply("where", apply("eq", n.operands[0], n), d, number(0)),)


def _d_median(n: Node, d: Node) -> Adjoints:
    del d
    raise FormulaError("derivative", n.op, "a formula without a median: none is taken of it")


def _d_tsallis(n: Node, d: Node) -> Adjoints:
    """p^1.5, of the difference from their mean."""
    q = apply("pow", n, number(1.5))
    mean = apply("div", apply("sum", apply("mul", q, d), over=n.over), apply("sum", q, over=n.over))
    return (apply("mul", q, apply("sub", d, mean)),)


def _d_others_sum(n: Node, d: Node) -> Adjoints:
    if n.over in axes_of(d.shape):
        return (apply("others_sum", d, over=n.over),)
    return (times(d, apply("sub", _count(n), number(1))),)


def _d_others_mean(n: Node, d: Node) -> Adjoints:
    if n.over not in axes_of(d.shape):
        return (d,)
    rest = apply("sub", _count(n), number(1))
    return (apply("div", apply("others_sum", d, over=n.over), rest),)


# -- the rows --------------------------------------------------------------------------------------


def _infix(
    name: str, infix: str, binding: int, numpy: Callable[..., Any], adjoint: Any, **more: Any
) -> Row:
    latex = more.pop("latex", "{0} " + infix + " {1}")
    return Row(name, 2, numpy, adjoint, latex, infix=infix, binding=binding, **more)


def _comparison(name: str, infix: str, numpy: Callable[..., Any], swapped: str, latex: str) -> Row:
    return _infix(
        *(name, infix, COMPARE, lambda x, y: _truth(numpy(x, y)), none),
        words="1 where it is true, 0 elsewhere",
        swapped=swapped,
        truth=True,
        latex=f"{{0}} {latex} {{1}}",
    )


def reduced(name: str, numpy: Any, adjoint: Any, latex: str, words: str, **more: Any) -> Row:
    return Row(name, 1, numpy, adjoint, latex, words, kind=more.pop("kind", "reduction"), **more)


OPERATIONS = (
    _infix(
        *("add", "+", SUM, np.add, lambda n, d: (d, d)), words="sum of two numbers", swapped="add"
    ),
    _infix(
        *("sub", "-", SUM, np.subtract, lambda n, d: (d, apply("neg", d))),
        words="difference",
    ),
    _infix(
        *("mul", "*", PRODUCT, np.multiply),
        lambda n, d: (times(d, n.operands[1]), times(d, n.operands[0])),
        words="product",
        swapped="mul",
        latex=r"{0} \, {1}",
    ),
    _infix("div", "/", PRODUCT, np.divide, _d_div, words="quotient", latex=r"\frac{{{0}}}{{{1}}}"),
    Row(
        *("neg", 1, np.negative, lambda n, d: (apply("neg", d),), "-{0}", "the opposite"),
        infix="-",
        binding=SIGN,
    ),
    _infix(
        *("pow", "**", POWER, _power, _d_pow),
        words="power",
        latex="{0}^{{{1}}}",
        exact=False,
    ),
    _comparison("lt", "<", np.less, "gt", "<"),
    _comparison("le", "<=", np.less_equal, "ge", r"\le"),
    _comparison("gt", ">", np.greater, "lt", ">"),
    _comparison("ge", ">=", np.greater_equal, "le", r"\ge"),
    _comparison("eq", "==", np.equal, "eq", "="),
    _comparison("ne", "!=", np.not_equal, "ne", r"\ne"),
    _infix(
        *("and", "&", AND, lambda x, y: _truth((x != 0.0) & (y != 0.0)), none),
        words="both",
        swapped="and",
        truth=True,
        truths=(0, 1),
        latex=r"{0} \wedge {1}",
    ),
    _infix(
        *("or", "|", OR, lambda x, y: _truth((x != 0.0) | (y != 0.0)), none),
        words="one of them, or both",
        swapped="or",
        truth=True,
        truths=(0, 1),
        latex=r"{0} \vee {1}",
    ),
    Row(
        *("not", 1, lambda x: _truth(x == 0.0), none, r"\neg {0}", "true where x is false"),
        infix="~",
        binding=SIGN,
        truth=True,
        truths=(0,),
    ),
    Row(
        *("where", 3, _where, _d_where),
        r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
        "x where the condition holds, y elsewhere",
        truths=(0,),
    ),
    Row(
        *(
            "minimum",
            2,
            np.minimum,
            _d_extreme("le"),
            r"\min\left({0}, {1}\right)",
            "the smaller of two",
        ),
        swapped="minimum",
        core="min",
    ),
    Row(
        *(
            "maximum",
            2,
            np.maximum,
            _d_extreme("ge"),
            r"\max\left({0}, {1}\right)",
            "the larger of two",
        ),
        swapped="maximum",
        core="max",
    ),
    Row(
        *("abs", 1, np.abs, lambda n, d: (times(d, apply("sign", n.operands[0])),)),
        r"\left|{0}\right|",
        "magnitude",
    ),
    Row("sign", 1, np.sign, none, r"\operatorname{{sign}}\left({0}\right)", "-1, 0 or 1"),
    Row(
        *("exp", 1, np.exp, lambda n, d: (times(d, n),), r"\exp\left({0}\right)", "exponential"),
        exact=False,
    ),
    Row(
        *("log", 1, np.log, lambda n, d: (apply("div", d, n.operands[0]),)),
        r"\log\left({0}\right)",
        "natural logarithm",
        exact=False,
    ),
    Row(
        *("sqrt", 1, np.sqrt, lambda n, d: (apply("div", d, apply("mul", number(2), n)),)),
        r"\sqrt{{{0}}}",
        "square root",
    ),
    reduced(
        *("sum", _reduction(np.sum), lambda n, d: (d,), r"\sum_{{{i}}} {0}", "sum over an axis")
    ),
    reduced(
        *("mean", _reduction(np.mean), lambda n, d: (apply("div", d, _count(n)),)),
        r"\operatorname{{mean}}_{{{i}}} {0}",
        "mean over an axis",
    ),
    reduced("min", _reduction(np.min), _d_end, r"\min_{{{i}}} {0}", "smallest of an axis"),
    reduced("max", _reduction(np.max), _d_end, r"\max_{{{i}}} {0}", "largest of an axis"),
    reduced(
        *("median", _reduction(np.median), _d_median, r"\operatorname{{median}}_{{{i}}} {0}"),
        "middle of an axis, or the mean of the two in the middle",
    ),
    reduced(
        *("std", _reduction(np.std), _d_std, r"\operatorname{{std}}_{{{i}}} {0}"),
        "standard deviation over an axis, divided by the count",
    ),
    reduced(
        *("others_sum", _others_sum, _d_others_sum, r"\sum_{{{i} \ne {own}}} {0}"),
        "sum of all the others, for each",
        kind="along",
    ),
    reduced(
        *("others_mean", _others_mean, _d_others_mean),
        r"\operatorname{{mean}}_{{{i} \ne {own}}} {0}",
        "mean of all the others, for each",
        kind="along",
    ),
    reduced(
        *("tsallis", _tsallis, _d_tsallis, r"\operatorname{{tsallis}}_{{{own}}}\left({0}\right)"),
        "4 / (z - x)^2 over an axis, with the z that makes them add up to 1",
        kind="along",
        exact=False,
    ),
    Row(
        "gather",
        2,
        _gather,
        lambda n, d: (apply("mul", d, apply("onehot", n.operands[1])), None),
        r"{0}[{1}]",
        "the entry of an arm: x[a]",
        kind="gather",
    ),
    Row(
        *("onehot", 1, _onehot, none, r"e_{{{0}}}", "1 for the arm a, 0 for the others"),
        kind="onehot",
    ),
)
