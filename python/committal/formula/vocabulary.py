"""The vocabulary: everything that a formula may do, one row each.

A row says all that anybody needs to know of an operation: its name, how many operands it takes,
what shape it has, its value in NumPy, how a derivative passes through it, how it is written as text
and as LaTeX, and what the core calls it. Arrays are laid out (..., samples, arms), with length 1
where a number has no such axis, so that elementwise operations broadcast by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.errors import FormulaError
from committal.formula.shapes import WORDS, axes_of, joined, shape_of
from committal.formula.tree import INPUT, NUMBER, PARAMETER, Node, name, number

__all__ = ["COUNTS", "ROWS", "Row", "apply"]

Floats: TypeAlias = npt.NDArray[np.float64]
Adjoints: TypeAlias = tuple[Node | None, ...]

#: Where the axes are in arrays.
AXIS = {"samples": -2, "arms": -1}
#: The input that counts them.
COUNTS = {"samples": "N", "arms": "K"}

# How tightly infix operations bind, as in Python.
COMPARE, OR, AND, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 9)


@dataclass(frozen=True, slots=True)
class Row:
    """One operation.

    Attributes
    ----------
    name : str
        In trees, and of the function in texts.
    arity : int
    numpy : callable
        From arrays to an array; of a reduction from an array and its axis.
    adjoint : callable
        From the node and the derivative with respect to it to those with respect to its operands.
    latex : str
        With {0}, {1}, ... for the operands, {i} for the index that a reduction goes over, {own}
        for that of the entry whose others are meant.
    words : str
        For people.
    kind : str
        How its shape follows: ``"elementwise"``, ``"reduction"`` (loses its axis), ``"along"``
        (keeps it), ``"gather"``, ``"onehot"``.
    infix, binding : str, int
        How it is written between its operands, and how tightly; empty for a function.
    swapped : str
        What it is called with its two operands exchanged; empty if that is something else.
    truth, truths : bool, tuple of int
        Whether it is true or false, and which operands must be.
    exact : bool
        Whether every machine gives the same bits, so that constants may be folded anywhere.
    core : str
        The operation of the core; ``_arms`` or ``_samples`` follows where it has an axis.
    """

    name: str
    arity: int
    numpy: Callable[..., Any]
    adjoint: Callable[[Node, Node], Adjoints]
    latex: str
    words: str
    kind: str = "elementwise"
    infix: str = ""
    binding: int = ATOM
    swapped: str = ""
    truth: bool = False
    truths: tuple[int, ...] = ()
    exact: bool = True
    core: str = ""

    def opcode(self, over: str = "") -> str:
        """What the core calls it.

        Examples
        --------
        >>> ROWS["sum"].opcode("arms"), ROWS["minimum"].opcode()
        ('sum_arms', 'min')
        """
        stem = self.core or self.name
        return f"{stem}_{over}" if over else stem


def apply(op: str, *operands: Node, over: str = "") -> Node:
    """Make a node, with the shape that follows from its operands.

    Examples
    --------
    >>> pi = name(INPUT, "pi", "arm")
    >>> apply("sum", apply("mul", pi, pi)).over
    'arms'
    >>> apply("sum", number(2))
    Traceback (most recent call last):
        ...
    committal.errors.FormulaError: sum = '2' is not allowed; expected a vector over arms or \
samples: this is one number
    """
    row = ROWS[op]
    if not isinstance(over, str):
        raise FormulaError(f"{op}.over", over, _no_axis(op))
    for place in row.truths:
        if not operands[place].truth:
            raise FormulaError(
                op,
                _text(operands[place]),
                f"a comparison, such as A > 0, in {_USE[op]}; comparisons that are joined need "
                "parentheses: (A > 0) & (rho < 1)",
            )
    shape = joined(*(node.shape for node in operands))
    if row.kind in ("reduction", "along"):
        over = _axis(op, operands[0], over)
        if row.kind == "reduction":
            shape = shape_of(axes_of(shape) - {over})
    elif over:
        raise FormulaError(op, over, f"no over=: {op} works on every number by itself")
    elif row.kind == "gather":
        shape = _gathered(operands[0], operands[1])
    elif row.kind == "onehot":
        _refuse_vectors_as_index(operands[0])
        shape = joined(shape, "arm")
    return Node(op, operands, over=over, shape=shape, truth=row.truth)


_USE = {"where": "where(condition, x, y)", "and": "x & y", "or": "x | y", "not": "~x"}


def _text(node: Node) -> str:
    from committal.formula.text import text_of

    return text_of(node)


def _no_axis(op: str) -> str:
    two = f"; cm.{op}imum(x, y) is of two" if op in ("min", "max") else ""
    return "'arms' or 'samples'" + two


def _axis(op: str, operand: Node, over: str) -> str:
    axes = axes_of(operand.shape)
    if not axes:
        allowed = f"a vector over arms or samples: this is {WORDS[operand.shape]}"
        raise FormulaError(op, _text(operand), allowed)
    if not over:
        if len(axes) == 1:
            return next(iter(axes))
        raise FormulaError(
            op, _text(operand), f'over="arms" or over="samples": this is {WORDS[operand.shape]}'
        )
    if over not in AXIS:
        raise FormulaError(f"{op}.over", over, _no_axis(op))
    if over not in axes:
        allowed = f"a vector over {over}: this is {WORDS[operand.shape]}"
        raise FormulaError(op, _text(operand), allowed)
    return over


def _refuse_vectors_as_index(index: Node) -> None:
    is_a = index.op == INPUT and index.name == "a"
    if not is_a and index.op not in (NUMBER, PARAMETER):
        allowed = "the drawn arm a, or the number of an arm (0 is the first)"
        raise FormulaError("index", _text(index), allowed)
    if index.op == NUMBER and not (index.value >= 0.0 and index.value == int(index.value)):
        allowed = "a whole number of an arm from 0: arms are not counted from the end"
        raise FormulaError("index", _text(index), allowed)


def _gathered(x: Node, index: Node) -> str:
    _refuse_vectors_as_index(index)
    if "arms" not in axes_of(x.shape):
        allowed = f"a vector over arms in front of [...]: this is {WORDS[x.shape]}"
        raise FormulaError("index", _text(x), allowed)
    return shape_of(axes_of(x.shape) - {"arms"} | axes_of(index.shape))


# -- NumPy -----------------------------------------------------------------------------------------


def _truth(x: Any) -> Floats:
    return np.asarray(x, dtype=np.float64)


def _where(c: Floats, x: Floats, y: Floats) -> Floats:
    return np.where(c != 0.0, x, y)


def _reduction(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis: f(x, axis=axis, keepdims=True)


def _others_sum(x: Floats, axis: int) -> Floats:
    """The sum of the others, without subtracting anything from a total that it may dominate."""
    x = np.moveaxis(x, axis, -1)
    out = np.zeros(x.shape)
    out[..., 1:] += np.cumsum(x, axis=-1)[..., :-1]
    out[..., :-1] += np.cumsum(x[..., ::-1], axis=-1)[..., :-1][..., ::-1]
    return np.moveaxis(out, -1, axis)


def _others_mean(x: Floats, axis: int) -> Floats:
    return _others_sum(x, axis) / (np.float64(x.shape[axis]) - 1.0)


def _power(x: Floats, y: Floats) -> Floats:
    return np.asarray(np.power(x, y))


def _gather(x: Floats, index: Floats, arms: int) -> Floats:
    hot = _onehot(index, arms)
    # Zeros times what is not finite would be NaN; the other arms are not looked at.
    return np.asarray(np.sum(np.where(hot != 0.0, x, 0.0), axis=-1, keepdims=True))


def _onehot(index: Floats, arms: int) -> Floats:
    return _truth(np.arange(arms) == index)


# -- derivatives -----------------------------------------------------------------------------------


def _times(d: Node, x: Node) -> Node:
    """d x, without what multiplies by one."""
    if d.op == NUMBER and d.value == 1.0:
        return x
    return d if x.op == NUMBER and x.value == 1.0 else apply("mul", d, x)


def _none(node: Node, d: Node) -> Adjoints:
    del d
    return (None,) * len(node.operands)


def _d_div(n: Node, d: Node) -> Adjoints:
    x, y = n.operands
    return apply("div", d, y), apply("neg", _times(d, apply("div", x, apply("mul", y, y))))


def _d_pow(n: Node, d: Node) -> Adjoints:
    x, y = n.operands
    lower = number(y.value - 1.0) if y.op == NUMBER else apply("sub", y, number(1))
    slope = apply("mul", y, apply("pow", x, lower))
    # The exponent is mostly a number, of which nobody asks; log x may not exist.
    in_y = None if y.op == NUMBER else _times(d, apply("mul", n, apply("log", x)))
    return _times(d, slope), in_y


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
    return (_times(d, apply("div", centred, apply("mul", _count(n), n))),)


def _d_end(n: Node, d: Node) -> Adjoints:
    return (apply("where", apply("eq", n.operands[0], n), d, number(0)),)


def _d_others_sum(n: Node, d: Node) -> Adjoints:
    if n.over in axes_of(d.shape):
        return (apply("others_sum", d, over=n.over),)
    return (_times(d, apply("sub", _count(n), number(1))),)


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
        *(name, infix, COMPARE, lambda x, y: _truth(numpy(x, y)), _none),
        words="1 where it is true, 0 elsewhere",
        swapped=swapped,
        truth=True,
        latex=f"{{0}} {latex} {{1}}",
    )


def _reduced(name: str, numpy: Any, adjoint: Any, latex: str, words: str, **more: Any) -> Row:
    return Row(name, 1, numpy, adjoint, latex, words, kind=more.pop("kind", "reduction"), **more)


_ROWS = (
    _infix(
        *("add", "+", SUM, np.add, lambda n, d: (d, d)), words="sum of two numbers", swapped="add"
    ),
    _infix(
        *("sub", "-", SUM, np.subtract, lambda n, d: (d, apply("neg", d))),
        words="difference",
    ),
    _infix(
        *("mul", "*", PRODUCT, np.multiply),
        lambda n, d: (_times(d, n.operands[1]), _times(d, n.operands[0])),
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
        *("and", "&", AND, lambda x, y: _truth((x != 0.0) & (y != 0.0)), _none),
        words="both",
        swapped="and",
        truth=True,
        truths=(0, 1),
        latex=r"{0} \wedge {1}",
    ),
    _infix(
        *("or", "|", OR, lambda x, y: _truth((x != 0.0) | (y != 0.0)), _none),
        words="one of them, or both",
        swapped="or",
        truth=True,
        truths=(0, 1),
        latex=r"{0} \vee {1}",
    ),
    Row(
        *("not", 1, lambda x: _truth(x == 0.0), _none, r"\neg {0}", "true where x is false"),
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
        *("abs", 1, np.abs, lambda n, d: (_times(d, apply("sign", n.operands[0])),)),
        r"\left|{0}\right|",
        "magnitude",
    ),
    Row("sign", 1, np.sign, _none, r"\operatorname{{sign}}\left({0}\right)", "-1, 0 or 1"),
    Row(
        *("exp", 1, np.exp, lambda n, d: (_times(d, n),), r"\exp\left({0}\right)", "exponential"),
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
    _reduced(
        *("sum", _reduction(np.sum), lambda n, d: (d,), r"\sum_{{{i}}} {0}", "sum over an axis")
    ),
    _reduced(
        *("mean", _reduction(np.mean), lambda n, d: (apply("div", d, _count(n)),)),
        r"\operatorname{{mean}}_{{{i}}} {0}",
        "mean over an axis",
    ),
    _reduced("min", _reduction(np.min), _d_end, r"\min_{{{i}}} {0}", "smallest of an axis"),
    _reduced("max", _reduction(np.max), _d_end, r"\max_{{{i}}} {0}", "largest of an axis"),
    _reduced(
        *("std", _reduction(np.std), _d_std, r"\operatorname{{std}}_{{{i}}} {0}"),
        "standard deviation over an axis, divided by the count",
    ),
    _reduced(
        *("others_sum", _others_sum, _d_others_sum, r"\sum_{{{i} \ne {own}}} {0}"),
        "sum of all the others, for each",
        kind="along",
    ),
    _reduced(
        *("others_mean", _others_mean, _d_others_mean),
        r"\operatorname{{mean}}_{{{i} \ne {own}}} {0}",
        "mean of all the others, for each",
        kind="along",
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
        *("onehot", 1, _onehot, _none, r"e_{{{0}}}", "1 for the arm a, 0 for the others"),
        kind="onehot",
    ),
)

#: By name.
ROWS: dict[str, Row] = {row.name: row for row in _ROWS}
