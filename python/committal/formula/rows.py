"""What an operation is, and how a node is made of one; :mod:`committal.formula.vocabulary` has all.

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
from committal.formula.tree import INPUT, NUMBER, PARAMETER, Node

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
    expansion : callable, optional
        What the core computes instead, from the operand and the axis: it has no such operation.
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
    expansion: Callable[[Node, str], Node] | None = None

    def opcode(self, over: str = "") -> str:
        """What the core calls it.

        Examples
        --------
        >>> from committal.formula.vocabulary import ROWS
        >>> ROWS["sum"].opcode("arms"), ROWS["minimum"].opcode()
        ('sum_arms', 'min')
        """
        stem = self.core or self.name
        return f"{stem}_{over}" if over else stem


#: By name; filled by :mod:`committal.formula.vocabulary`.
ROWS: dict[str, Row] = {}


def apply(op: str, *operands: Node, over: str = "") -> Node:
    """Make a node, with the shape that follows from its operands.

    Examples
    --------
    >>> from committal.formula.tree import name, number
    >>> from committal.formula.vocabulary import apply
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
