"""The text of a tree, which :mod:`committal.formula.parse` reads back."""

from __future__ import annotations

import functools

from committal.formula.shapes import axes_of
from committal.formula.tree import NUMBER, Node, walk
from committal.formula.vocabulary import ATOM, COMPARE, POWER, ROWS, SIGN

__all__ = ["text_of", "written"]


def written(value: float) -> str:
    """Write a number as short as it can be read back.

    Examples
    --------
    >>> written(2.0), written(0.1), written(1e300)
    ('2', '0.1', '1e+300')
    """
    whole = value == int(value) and abs(value) < 1e15 and (value != 0.0 or str(value) == "0.0")
    return str(int(value)) if whole else repr(value)


@functools.lru_cache(maxsize=4096)
def text_of(node: Node) -> str:
    """Write a tree as text.

    Examples
    --------
    >>> from committal.formula.vocabulary import apply
    >>> from committal.formula.tree import name, number
    >>> pi, r = name("input", "pi", "arm"), name("input", "r", "arm")
    >>> text_of(apply("sum", apply("mul", apply("pow", pi, number(2)), r)))
    'sum(pi**2 * r)'
    """
    made: dict[Node, tuple[str, int]] = {}
    for below in walk(node):
        made[below] = _text(below, [made[operand] for operand in below.operands])
    return made[node][0]


def _wrapped(text: str, binding: int, at_least: int) -> str:
    return text if binding >= at_least else f"({text})"


def _text(node: Node, operands: list[tuple[str, int]]) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    if node.op == NUMBER:
        text = written(node.value)
        return text, SIGN if text.startswith("-") else ATOM
    if node.op not in ROWS:
        return node.name, ATOM
    row = ROWS[node.op]
    if node.op == "gather":
        return f"{_wrapped(*operands[0], ATOM)}[{operands[1][0]}]", ATOM
    if row.infix and row.arity == 1:
        return f"{row.infix}{_wrapped(*operands[0], SIGN)}", SIGN
    if row.infix:
        left, right = operands
        if row.binding == POWER:  # binds to the right, and a sign may follow
            return f"{_wrapped(*left, ATOM)}**{_wrapped(*right, SIGN)}", POWER
        first = row.binding + (row.binding == COMPARE)  # comparisons do not follow each other
        text = f"{_wrapped(*left, first)} {row.infix} {_wrapped(*right, row.binding + 1)}"
        return text, row.binding
    inner = [text for text, _ in operands]
    name = row.name
    if name.startswith("others_"):
        name, how = "others", name.removeprefix("others_")
        inner += [f'"{how}"'] if how != "sum" else []
    if node.over and len(axes_of(node.operands[0].shape)) > 1:
        inner.append(f'over="{node.over}"')
    return f"{name}({', '.join(inner)})", ATOM
