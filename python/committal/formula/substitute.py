"""Trees with other leaves: one formula put into another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from committal.formula.formula import Formula
from committal.formula.tree import INPUT, PARAMETER, Node, number, walk
from committal.formula.vocabulary import ROWS, apply

__all__ = ["renamed", "settled", "substituted", "with_numbers"]


def substituted(root: Node, leaf: Callable[[Node], Node]) -> Node:
    """A tree in which every leaf is what `leaf` makes of it.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> from committal.formula.text import text_of
    >>> tree = parse("2 * A", {"A": "sample"})
    >>> text_of(substituted(tree, lambda x: number(3) if x.name == "A" else x))
    '2 * 3'
    """
    made: dict[Node, Node] = {}
    for node in walk(root):
        if node.op in ROWS:
            made[node] = apply(node.op, *(made[x] for x in node.operands), over=node.over)
        else:
            made[node] = leaf(node)
    return made[root]


def settled(formula: Formula) -> Node:
    """The result of a formula, with numbers in place of its parameters.

    Examples
    --------
    >>> import committal as cm
    >>> from committal.formula.text import text_of
    >>> text_of(settled(cm.weight("minimum(rho, top)", top=2).tree))
    'minimum(rho, 2)'
    """
    return with_numbers(formula.result, dict(formula.parameters))


def with_numbers(root: Node, parameters: Mapping[str, float]) -> Node:
    """A tree with numbers in place of its parameters.

    Examples
    --------
    >>> from committal.formula.text import text_of
    >>> text_of(with_numbers(Node(PARAMETER, name="p"), {"p": 2.0}))
    '2'
    """
    return substituted(root, lambda x: number(parameters[x.name]) if x.op == PARAMETER else x)


def renamed(root: Node, inputs: Mapping[str, Node]) -> Node:
    """A tree with other trees in place of some of its inputs.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> from committal.formula.text import text_of
    >>> shapes = {"A": "sample", "R": "sample"}
    >>> text_of(renamed(parse("A > 0", shapes), {"A": parse("R - 1", shapes)}))
    'R - 1 > 0'
    """
    return substituted(root, lambda x: inputs.get(x.name, x) if x.op == INPUT else x)
