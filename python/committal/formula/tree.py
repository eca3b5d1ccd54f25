"""Trees: a formula as data.

A node is a number, a name, or an operation of the vocabulary on other nodes. Nodes never change,
are equal when they say the same, and know their shape, their depth and their size, so that nothing
that is built from them can grow out of bounds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

from committal.errors import FormulaError
from committal.formula.shapes import RUN
from committal.support import limits

__all__ = ["INPUT", "NUMBER", "PARAMETER", "STATE", "Node", "name", "number", "walk"]

#: What a leaf is.
NUMBER, INPUT, PARAMETER, STATE = "number", "input", "parameter", "state"


class Node:
    """One node of a tree.

    Attributes
    ----------
    op : str
        ``"number"``, ``"input"``, ``"parameter"``, ``"state"``, or a name of the vocabulary.
    operands : tuple of Node
    value : float
        Of a number.
    name : str
        Of an input, a parameter or a state.
    over : str
        The axis of a reduction: ``"arms"`` or ``"samples"``.
    shape : str
        See :mod:`committal.formula.shapes`.
    truth : bool
        Whether it is true or false (1 or 0).

    Examples
    --------
    >>> number(2) == number(2.0), number(2) == number(3)
    (True, False)
    """

    __slots__ = (
        *("op", "operands", "value", "name", "over", "shape", "truth"),
        *("depth", "size", "digest"),
    )

    op: str
    operands: tuple[Node, ...]
    value: float
    name: str
    over: str
    shape: str
    truth: bool
    #: The longest way to a leaf, and the nodes that the whole text has.
    depth: int
    size: int
    #: Of everything that it says.
    digest: bytes

    def __init__(
        self,
        op: str,
        operands: tuple[Node, ...] = (),
        *,
        value: float = 0.0,
        name: str = "",
        over: str = "",
        shape: str = RUN,
        truth: bool = False,
    ) -> None:
        depth = 1 + max((node.depth for node in operands), default=0)
        size = 1 + sum(node.size for node in operands)
        for what, count, most in (
            ("deep", depth, limits.FORMULA_DEPTH),
            ("large", size, limits.FORMULA_SIZE),
        ):
            if count > most:
                words = "levels" if what == "deep" else "numbers, names and operations, written out"
                raise FormulaError("formula", f"{op}(...)", f"a formula of at most {most} {words}")
        text = f"{op}|{value!r}|{name}|{over}|{shape}|{len(operands)}|"
        digest = hashlib.blake2b(text.encode(), digest_size=16)
        for node in operands:
            digest.update(node.digest)
        store = object.__setattr__  # nodes are made by the hundred
        store(self, "op", op)
        store(self, "operands", operands)
        store(self, "value", value)
        store(self, "name", name)
        store(self, "over", over)
        store(self, "shape", shape)
        store(self, "truth", truth)
        store(self, "depth", depth)
        store(self, "size", size)
        store(self, "digest", digest.digest())

    def __setattr__(self, name: str, value: object) -> None:
        raise FormulaError("formula", name, "a formula that is left as it is: it never changes")

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Node) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        what = self.name or (repr(self.value) if self.op == NUMBER else "")
        inner = ", ".join(map(repr, self.operands))
        return f"{self.op}({what or inner})"


def number(value: float) -> Node:
    """A number.

    Examples
    --------
    >>> number(3).value
    3.0
    """
    value = float(value)
    if not math.isfinite(value):
        raise FormulaError("formula", value, "finite numbers")
    return Node(NUMBER, value=value)


def name(kind: str, name: str, shape: str = RUN) -> Node:
    """A leaf with a name: an input, a parameter or a state.

    Examples
    --------
    >>> name("input", "pi", "arm").shape
    'arm'
    """
    return Node(kind, name=name, shape=shape)


def walk(*roots: Node) -> Iterator[Node]:
    """Every different node below some roots once, operands before what they are operands of.

    Examples
    --------
    >>> from committal.formula.vocabulary import apply
    >>> two = number(2)
    >>> [node.op for node in walk(apply("mul", two, two))]
    ['number', 'mul']
    """
    seen: set[bytes] = set()
    for root in roots:
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, done = stack.pop()
            if node.digest in seen:
                continue
            if done:
                seen.add(node.digest)
                yield node
            else:
                stack.append((node, True))
                stack.extend((below, False) for below in reversed(node.operands))
