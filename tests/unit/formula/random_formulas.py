"""Random formulas, and a naive evaluator of them: loops over arms and samples."""

from __future__ import annotations

import math
import statistics
from typing import Any

from hypothesis import strategies as st

from committal.errors import FormulaError
from committal.formula.shapes import axes_of
from committal.formula.tree import INPUT, NUMBER, Node, name, number, walk
from committal.formula.vocabulary import ROWS, apply

K, N = 3, 2
INPUTS = {
    **dict.fromkeys(("pi", "r", "theta", "mu"), "arm"),
    **dict.fromkeys(("a", "R", "A", "rho"), "sample"),
    **dict.fromkeys(("t", "K", "N"), "run"),
    "score": "sample_arm",
}
LEAVES = [name(INPUT, key, shape) for key, shape in INPUTS.items()]
#: Operations that are smooth and finite for positive operands of moderate size.
SMOOTH = ("add", "mul", "div", "exp", "log", "sqrt", "sum", "mean", "gather", "others_sum")


def _numbers() -> st.SearchStrategy[Node]:
    return st.sampled_from([0.5, 2.0, -1.0, 3.0, 0.25, 1e-3, -7.5, 1.0, 0.0, -0.0]).map(number)


def _made(op: str, operands: tuple[Node, ...], over: str) -> Node | None:
    row = ROWS[op]
    try:
        if row.truths:
            operands = tuple(
                apply("gt", x, number(0)) if i in row.truths and not x.truth else x
                for i, x in enumerate(operands)
            )
        if row.kind in ("gather", "onehot"):
            operands = (*operands[:-1], name(INPUT, "a", "sample"))
        both = row.kind in ("reduction", "along") and len(axes_of(operands[0].shape)) == 2
        return apply(op, *operands, over=over if both else "")
    except FormulaError:
        return None


@st.composite
def formulas(draw: Any, ops: tuple[str, ...] = tuple(ROWS), steps: int = 8) -> Node:
    """A tree that was built in a few random steps from names and numbers."""
    made = [draw(st.sampled_from(LEAVES)), draw(_numbers()), draw(st.sampled_from(LEAVES))]
    for _ in range(draw(st.integers(1, steps))):
        op = draw(st.sampled_from(ops))
        operands = tuple(draw(st.sampled_from(made)) for _ in range(ROWS[op].arity))
        new = _made(op, operands, draw(st.sampled_from(("arms", "samples"))))
        if new is not None:
            made.append(new)
    return made[-1]


def values(scale: float = 1.0) -> dict[str, Any]:
    """One value for every input; positive, so that most formulas are finite."""
    return {
        "pi": [0.2, 0.3, 0.5],
        "r": [1.0, 0.7 * scale, 0.25],
        "theta": [0.5, 3.0, -1.0],
        "mu": [0.4, 0.4, 0.2],
        "a": [2, 0],
        "R": [0.25, 1.0 * scale],
        "A": [0.5, 0.75],
        "rho": [2.5, 0.5],
        "t": 7.0,
        "K": float(K),
        "N": float(N),
        "score": [[0.7, 0.1, 0.2], [0.3, 0.4, 0.8]],
    }


def signed_zeros() -> dict[str, Any]:
    """Zeros of both signs, and what is the opposite of what `values` has."""
    return {
        **values(),
        "pi": [0.0, 1.0, -0.0],
        "r": [-0.0, -1.0, 0.0],
        "theta": [0.0, -0.0, 1.0],
        "mu": [-0.0, 0.0, -2.0],
        "R": [0.0, -0.0],
        "A": [-0.0, 0.0],
        "rho": [-0.0, -0.0],
        "t": 0.0,
        "score": [[0.0, -0.0, 1.0], [-0.0, 0.0, -1.0]],
    }


def naive(root: Node, given: dict[str, Any]) -> dict[tuple[int, int], float]:
    """The value of a tree for every (sample, arm), by plain Python floats."""
    made: dict[Node, dict[tuple[int, int], float]] = {}
    for node in walk(root):
        made[node] = {
            (i, k): _naive_one(node, made, given, i, k) for i in range(N) for k in range(K)
        }
    return made[root]


def _entry(value: Any, shape: str, i: int, k: int) -> float:
    if shape == "run":
        return float(value)
    if shape == "sample_arm":
        return float(value[i][k])
    return float(value[k] if shape == "arm" else value[i])


def _naive_tsallis(line: list[float], own: int) -> float:
    """By bisection for what makes them add up to 1."""
    if not all(map(math.isfinite, line)):
        return math.nan
    low, high = max(line) + 2.0, max(line) + 2.0 * math.sqrt(len(line))
    for _ in range(100):
        middle = 0.5 * (low + high)
        above = sum(4.0 / (middle - x) ** 2 for x in line) > 1.0
        low, high = (middle, high) if above else (low, middle)
    return 4.0 / (low - line[own]) ** 2


def _naive_one(node: Node, made: Any, given: dict[str, Any], i: int, k: int) -> float:
    if node.op == NUMBER:
        return node.value
    if node.op not in ROWS:
        return _entry(given[node.name], node.shape, i, k)
    x = [made[below][i, k] for below in node.operands]
    if node.over:
        row = made[node.operands[0]]
        line = (
            [row[i, j] for j in range(K)] if node.over == "arms" else [row[j, k] for j in range(N)]
        )
        own = k if node.over == "arms" else i
        if node.op == "softmax":
            return math.exp(line[own]) / sum(math.exp(x) for x in line)
        if node.op == "tsallis":
            return _naive_tsallis(line, own)
        return _REDUCE[node.op](line, line[:own] + line[own + 1 :])
    if node.op == "gather":
        return float(made[node.operands[0]][i, int(x[1])])
    if node.op == "onehot":
        return float(int(x[0]) == k)
    return float(_PLAIN[node.op](*x))


def _std(line: list[float]) -> float:
    mean = sum(line) / len(line)
    return math.sqrt(sum((x - mean) ** 2 for x in line) / len(line))


_REDUCE: dict[str, Any] = {
    "sum": lambda line, rest: sum(line),
    "mean": lambda line, rest: sum(line) / len(line),
    "min": lambda line, rest: min(line),
    "max": lambda line, rest: max(line),
    "median": lambda line, rest: statistics.median(line),
    "std": lambda line, rest: _std(line),
    "others_sum": lambda line, rest: sum(rest),
    "logsumexp": lambda line, rest: math.log(sum(math.exp(x) for x in line)),
    "others_mean": lambda line, rest: sum(rest) / len(rest),
}
_PLAIN: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "pow": lambda x, y: math.pow(x, y),
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "and": lambda x, y: bool(x) and bool(y),
    "or": lambda x, y: bool(x) or bool(y),
    "not": lambda x: not x,
    "where": lambda c, x, y: x if c else y,
    "minimum": min,
    "maximum": max,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "tanh": math.tanh,
    "log1p": math.log1p,
    "expm1": math.expm1,
}
