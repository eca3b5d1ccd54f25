"""Symbolic derivatives, by going backwards through the tree."""

from __future__ import annotations

from committal.formula.normal import normal
from committal.formula.shapes import axes_of
from committal.formula.tree import INPUT, Node, name, number, walk
from committal.formula.vocabulary import COUNTS, ROWS, apply

__all__ = ["gradient"]


def gradient(root: Node, target: str) -> Node:
    """The derivative of a tree, added up over all its axes, with respect to a name.

    Of one number it is the gradient. Of a formula that works on every entry by itself, such as a
    link, it is the derivative of each entry. Where a formula has a kink it is one of its two
    slopes.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> from committal.formula.text import text_of
    >>> tree = parse("sum(pi**2 * r)", {"pi": "arm", "r": "arm"})
    >>> text_of(gradient(tree, "pi"))
    'r * (2 * pi)'
    """
    order = list(walk(root))
    reached = _reached(order, target)
    adjoints: dict[Node, Node] = {root: number(1)}
    for node in reversed(order):
        if node not in adjoints or node not in reached or node.op not in ROWS:
            continue
        below = ROWS[node.op].adjoint(node, adjoints[node])
        for operand, adjoint in zip(node.operands, below, strict=True):
            if adjoint is None or operand not in reached:
                continue
            part = _reduced(adjoint, node, operand)
            before = adjoints.get(operand)
            adjoints[operand] = part if before is None else apply("add", before, part)
    found = [adjoints[leaf] for leaf in reached if leaf.name == target and leaf in adjoints]
    return normal(found[0]) if found else number(0)


def _reached(order: list[Node], target: str) -> set[Node]:
    """The nodes that depend on the name."""
    found: set[Node] = set()
    for node in order:
        if node.name == target or any(below in found for below in node.operands):
            found.add(node)
    return found


def _reduced(adjoint: Node, node: Node, operand: Node) -> Node:
    """Add up over the axes along which an operand was repeated."""
    extra = (axes_of(adjoint.shape) | axes_of(node.shape)) - axes_of(operand.shape)
    for axis in sorted(extra):
        if axis in axes_of(adjoint.shape):
            adjoint = apply("sum", adjoint, over=axis)
        else:  # the same for all of them
            adjoint = apply("mul", adjoint, name(INPUT, COUNTS[axis]))
    return adjoint
