"""The vocabulary: everything that a formula may do, by name."""

from __future__ import annotations

from collections.abc import Mapping

from committal.formula.derived import DERIVED
from committal.formula.operations import OPERATIONS
from committal.formula.rows import (
    ATOM,
    AXIS,
    COMPARE,
    COUNTS,
    POWER,
    PRODUCT,
    ROWS,
    SIGN,
    SUM,
    Floats,
    Row,
    apply,
)
from committal.formula.tree import Node, walk

__all__ = [
    "ATOM",
    "AXIS",
    "COMPARE",
    "COUNTS",
    "POWER",
    "PRODUCT",
    "ROWS",
    "SIGN",
    "SUM",
    "Floats",
    "Row",
    "apply",
    "core_tree",
]

ROWS.update({row.name: row for row in (*OPERATIONS, *DERIVED)})


def core_tree(root: Node, leaves: Mapping[Node, Node] | None = None) -> Node:
    """A tree of operations that the core has; other leaves may take the place of some.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> from committal.formula.text import text_of
    >>> text_of(core_tree(parse("softmax(theta)", {"theta": "arm"})))
    'exp(theta - max(theta)) / sum(exp(theta - max(theta)))'
    """
    made: dict[Node, Node] = {}
    for node in walk(root):
        row = ROWS.get(node.op)
        if row is None:
            made[node] = node if leaves is None else leaves.get(node, node)
        elif row.expansion is not None:
            made[node] = row.expansion(made[node.operands[0]], node.over)
        else:
            made[node] = apply(node.op, *(made[x] for x in node.operands), over=node.over)
    return made[root]
