"""Bounds of a formula by interval arithmetic, with the facts that hold for policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from committal.formula.tree import INPUT, NUMBER, Node, walk
from committal.formula.vocabulary import ROWS

__all__ = ["bounds"]

Interval: TypeAlias = tuple[float, float]

_ANYWHERE = (-math.inf, math.inf)


def bounds(root: Node, given: Mapping[str, Interval], arms: int) -> Interval:
    """Bounds of a formula from bounds of its names.

    Of a policy it is known that it sums to 1: a mean under it lies between what it is a mean of,
    and so does any weighted mean whose weights are not negative.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> inputs = {"pi": "arm", "r": "arm"}
    >>> given = {"pi": (0.0, 1.0), "r": (0.0, 1.0)}
    >>> bounds(parse("sum(pi**2 * r) / sum(pi**2) - 0.5", inputs), given, 3)
    (-0.5, 0.5)
    >>> bounds(parse("sum(pi * r) + max(r)", inputs), given, 3)
    (0.0, 2.0)
    """
    made: dict[Node, Interval] = {}
    for node in walk(root):
        made[node] = _bounded(node, made, given, arms)
    return made[root]


def _bounded(
    node: Node, made: Mapping[Node, Interval], given: Mapping[str, Interval], arms: int
) -> Interval:
    if node.op == NUMBER:
        return node.value, node.value
    if node.op not in ROWS:
        return given.get(node.name, _ANYWHERE)
    mean = _mean(node, made)
    if mean is not None:
        return mean
    x = [made[below] for below in node.operands]
    if node.over:
        return _reduced(node, x[0], arms)
    if node.op in _RULES:
        found = _RULES[node.op](*x)
        return found if not any(map(math.isnan, found)) else _ANYWHERE
    return (0.0, 1.0) if node.truth else _ANYWHERE


def _mean(node: Node, made: Mapping[Node, Interval]) -> Interval | None:
    """The bounds of a mean: sum(pi * x), or sum(w * x) / sum(w) with w >= 0."""
    if node.op == "sum" and node.over == "arms":
        if node.operands[0].op == INPUT and node.operands[0].name == "pi":
            return 1.0, 1.0
        for w, x in _factors(node.operands[0]):
            if w.op == INPUT and w.name == "pi":
                return made[x]
    if node.op == "div" and all(x.op == "sum" and x.over == "arms" for x in node.operands):
        weights = node.operands[1].operands[0]
        for w, x in _factors(node.operands[0].operands[0]):
            if w == weights and made[w][0] >= 0.0:
                return made[x]
    return None


def _factors(node: Node) -> tuple[tuple[Node, Node], ...]:
    if node.op != "mul":
        return ()
    x, y = node.operands
    return (x, y), (y, x)


def _reduced(node: Node, x: Interval, arms: int) -> Interval:
    if node.op in ("mean", "median", "min", "max", "others_mean"):
        return x
    if node.op in ("softmax", "tsallis"):
        return 0.0, 1.0
    if node.op == "std":
        return 0.0, (x[1] - x[0]) / 2.0
    if node.over != "arms":
        return _ANYWHERE
    if node.op == "logsumexp":
        return x[0] + math.log(arms), x[1] + math.log(arms)
    count = arms if node.op == "sum" else arms - 1
    return count * x[0], count * x[1]


def _products(x: Interval, y: Interval) -> Interval:
    ends = [0.0 if 0.0 in (a, b) else a * b for a in x for b in y]
    return min(ends), max(ends)


def _quotient(x: Interval, y: Interval) -> Interval:
    if y[0] <= 0.0 <= y[1]:
        return _ANYWHERE
    return _products(x, (1.0 / y[1], 1.0 / y[0]))


def _power(x: Interval, y: Interval) -> Interval:
    if y[0] != y[1]:
        return (0.0, math.inf) if x[0] >= 0.0 else _ANYWHERE
    n = y[0]
    if n == int(n) and int(n) % 2 == 0 and n > 0.0:
        x = _magnitude(x)
    elif x[0] < 0.0 and not (n == int(n) and n > 0.0):
        return _ANYWHERE
    if n < 0.0 and x[0] <= 0.0:
        return (0.0, math.inf) if x[0] >= 0.0 else _ANYWHERE
    try:
        ends = sorted((math.pow(x[0], n), math.pow(x[1], n)))
    except (OverflowError, ValueError):
        return _ANYWHERE
    return ends[0], ends[1]


def _magnitude(x: Interval) -> Interval:
    low = 0.0 if x[0] <= 0.0 <= x[1] else min(abs(x[0]), abs(x[1]))
    return low, max(abs(x[0]), abs(x[1]))


def _exponential(x: Interval) -> Interval:
    return math.exp(min(x[0], 700.0)), math.exp(x[1]) if x[1] < 700.0 else math.inf


def _sigmoid(x: float) -> float:
    return 0.5 + 0.5 * math.tanh(0.5 * x)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _increasing(f: Callable[[float], float], x: Interval) -> Interval:
    return f(x[0]), f(x[1])


def _logarithm(x: Interval) -> Interval:
    low = math.log(x[0]) if x[0] > 0.0 else -math.inf
    return low, math.log(x[1]) if 0.0 < x[1] < math.inf else math.inf


_RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "sub": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "mul": _products,
    "div": _quotient,
    "neg": lambda x: (-x[1], -x[0]),
    "pow": _power,
    "where": lambda c, x, y: (min(x[0], y[0]), max(x[1], y[1])),
    "minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "abs": _magnitude,
    "sign": lambda x: (float((x[0] > 0) - (x[0] < 0)), float((x[1] > 0) - (x[1] < 0))),
    "exp": _exponential,
    "log": _logarithm,
    "sigmoid": lambda x: _increasing(_sigmoid, x),
    "tanh": lambda x: _increasing(math.tanh, x),
    "softplus": lambda x: _increasing(_softplus, x),
    "log1p": lambda x: _logarithm((x[0] + 1.0, x[1] + 1.0)),
    "expm1": lambda x: (_exponential(x)[0] - 1.0, _exponential(x)[1] - 1.0),
    "sqrt": lambda x: (math.sqrt(max(x[0], 0.0)), math.sqrt(max(x[1], 0.0))),
    "gather": lambda x, a: x,
    "onehot": lambda a: (0.0, 1.0),
}
