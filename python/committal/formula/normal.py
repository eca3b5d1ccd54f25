"""The normal form: two ways of writing one formula give one tree, with the same bits.

What is computed is the normal form, everywhere. It leaves every bit of what was written: constants
are folded where every machine rounds alike, the operands of commuting operations are put in one
order, and signs are written in one way. Nothing is regrouped, for that would round differently.

Two things are so by definition. Which zero the minimum or the maximum of 0 and -0 is follows from
the order of the normal form, for it commutes in writing only. And x**0.5 is the square root, with
-0 for -0 where a power would give 0.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from committal.errors import FormulaError
from committal.formula.text import text_of
from committal.formula.tree import INPUT, NUMBER, PARAMETER, STATE, Node, number, walk
from committal.formula.vocabulary import ROWS, apply

__all__ = ["normal"]

_Key: TypeAlias = tuple[tuple[int, str], ...]

#: In this order names are written in products and sums; numbers come before or after all of them.
_ORDER = (
    *("score", "natural", "pi", "r", "theta", "mu", "theta0", "g"),
    *("a", "R", "A", "b", "rho", "t", "K", "N"),
)
_RANK = {name: rank for rank, name in enumerate(_ORDER)}


def normal(root: Node, *, strict: bool = True) -> Node:
    """Bring a tree to normal form.

    A constant that is not finite is refused, or left as it is written where `strict` is False.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> pi = {"pi": "arm"}
    >>> text_of(normal(parse("pi * (3 - 1) + -1", pi)))
    '2 * pi - 1'
    >>> normal(parse("1 < pi", pi)) == normal(parse("pi > 1", pi))
    True
    """
    made: dict[Node, Node] = {}
    keys: dict[Node, _Key] = {}
    for node in walk(root):
        operands = tuple(made[x] for x in node.operands)
        if node.op in ROWS:
            made[node] = _made(node.op, operands, node.over, keys, strict)
        else:
            made[node] = node
    return made[root]


def _key(root: Node, keys: dict[Node, _Key]) -> _Key:
    """The leaves in their order, then the operation: by this commuting operands are sorted."""
    if root not in keys:
        for node in walk(root):
            if node not in keys:
                keys[node] = _own_key(node, keys)
    return keys[root]


def _own_key(node: Node, keys: dict[Node, _Key]) -> _Key:
    if node.op == NUMBER:
        return ((99, f"{node.value:+.17e}"),)
    if node.op == INPUT:
        return ((_RANK.get(node.name, 50), node.name),)
    if node.op in (STATE, PARAMETER):
        return ((60 if node.op == STATE else 70, node.name),)
    leaves = [leaf for below in node.operands for leaf in keys[below]]
    # The first leaves are enough to order by; the digest settles what they leave open.
    return (*leaves[:16], (100, node.op + node.over + node.digest.hex()))


def _made(
    op: str, operands: tuple[Node, ...], over: str, keys: dict[Node, _Key], strict: bool
) -> Node:
    """One operation on operands in normal form."""
    row = ROWS[op]
    if row.kind == "elementwise" and all(x.op == NUMBER for x in operands):
        folded = _folded(op, operands, strict)
        if folded is not None:
            return folded
    if op == "div" and strict and _is(operands[1], 0.0):
        raise FormulaError("formula", text_of(apply(op, *operands)), "a divisor other than 0")
    other = _rewritten(op, operands)
    if isinstance(other, Node):
        return other
    if other is not None:
        return _made(*other, over, keys, strict)
    if row.swapped and _after(op, operands[0], operands[1], keys):
        return apply(row.swapped, operands[1], operands[0])
    return apply(op, *operands, over=over)


def _after(op: str, x: Node, y: Node, keys: dict[Node, _Key]) -> bool:
    """Whether x is written after y: numbers stand first in a product and last elsewhere."""
    ranks = _IN_PRODUCTS if op == "mul" else _ELSEWHERE
    first, second = ranks.get(x.op, 2), ranks.get(y.op, 2)
    return first > second if first != second else _key(x, keys) > _key(y, keys)


_IN_PRODUCTS = {NUMBER: 0, PARAMETER: 1}
_ELSEWHERE = {STATE: 1, PARAMETER: 3, NUMBER: 4}


def _is(node: Node, value: float) -> bool:
    return node.op == NUMBER and node.value == value


def _rewritten(op: str, operands: tuple[Node, ...]) -> Node | tuple[str, tuple[Node, ...]] | None:
    """Signs, ones and roots in one way; None if they are."""
    first, last = operands[0], operands[-1]
    if op in ("add", "sub"):
        other = "sub" if op == "add" else "add"
        if last.op == "neg":
            return other, (first, last.operands[0])
        if last.op == NUMBER and last.value < 0.0:
            return other, (first, number(-last.value))
        if op == "add" and first.op == "neg":
            return "sub", (last, first.operands[0])
        if op == "add" and first.op == NUMBER and first.value < 0.0:
            return "sub", (last, number(-first.value))
    elif op == "neg" and first.op == "neg":
        return first.operands[0]
    elif op == "mul":
        for one, rest in ((first, last), (last, first)):
            if _is(one, 1.0):
                return rest
            if _is(one, -1.0):
                return "neg", (rest,)
    elif op in ("div", "pow") and _is(last, 1.0):
        return first
    elif op == "pow" and _is(last, 0.5):
        return "sqrt", (first,)
    return None


def _folded(op: str, operands: tuple[Node, ...], strict: bool) -> Node | None:
    """The number that an operation of numbers is; None where machines may round differently."""
    if not ROWS[op].exact or ROWS[op].truth:
        # A truth stays as it is written: a number is none.
        return None
    with np.errstate(all="ignore"):
        value = float(ROWS[op].numpy(*(np.float64(x.value) for x in operands)))
    if not math.isfinite(value) and not strict:
        return None
    if not math.isfinite(value):
        raise FormulaError("formula", text_of(apply(op, *operands)), "a finite number")
    return number(value)
