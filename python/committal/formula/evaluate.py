"""The value of a tree in NumPy, over arrays of any leading axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.errors import FormulaError
from committal.formula.shapes import ARM, RUN, SAMPLE, SAMPLE_ARM
from committal.formula.text import text_of
from committal.formula.tree import NUMBER, Node, walk
from committal.formula.vocabulary import AXIS, ROWS, Floats

__all__ = ["Culprit", "culprit", "evaluate"]


def evaluate(
    node: Node,
    values: Mapping[str, npt.ArrayLike],
    over_samples: Callable[[str, Floats], Floats] | None = None,
) -> Floats:
    """The value of a tree.

    Parameters
    ----------
    node : Node
    values : dict
        One array for every name in the tree: (...) for one number per run, (..., K) over arms,
        (..., N) over samples, (..., N, K) for arms of every sample.
    over_samples : callable, optional
        What takes the place of an operation over samples, from its name and its operand laid out
        (..., samples, arms), where the axis of samples holds something else.

    Returns
    -------
    ndarray
        In the layout of its shape, with the leading axes of the values.

    Examples
    --------
    >>> from committal.formula.tree import name
    >>> from committal.formula.vocabulary import apply
    >>> pi = name("input", "pi", "arm")
    >>> evaluate(apply("max", pi), {"pi": [[0.2, 0.8], [0.5, 0.5]]})
    array([0.8, 0.5])
    """
    return _natural(_all(node, values, over_samples)[node], node.shape)


class Culprit(NamedTuple):
    """The sub-expression that is not finite, and what it was computed from."""

    expression: str
    operands: dict[str, object]


def culprit(node: Node, values: Mapping[str, npt.ArrayLike]) -> Culprit | None:
    """The first sub-expression that is not finite though its operands are; None if all are.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> tree = parse("1 + log(t - 1)", {"t": "run"})
    >>> culprit(tree, {"t": 1.0})
    Culprit(expression='log(t - 1)', operands={'t - 1': 0.0})
    """
    found = _all(node, values)
    for below, value in found.items():
        if np.isfinite(value).all():
            continue
        operands = {
            text_of(x): _natural(found[x], x.shape).tolist() for x in below.operands or (below,)
        }
        return Culprit(text_of(below), operands)
    return None


def _all(
    root: Node,
    values: Mapping[str, npt.ArrayLike],
    over_samples: Callable[[str, Floats], Floats] | None = None,
) -> dict[Node, Floats]:
    """The value of every node below, laid out (..., samples, arms)."""
    made: dict[Node, Floats] = {}
    with np.errstate(all="ignore"):
        for node in walk(root):
            if over_samples is not None and node.over == "samples":
                made[node] = over_samples(node.op, made[node.operands[0]])
            else:
                made[node] = _value(node, made, values)
    return made


def _value(node: Node, made: dict[Node, Floats], values: Mapping[str, npt.ArrayLike]) -> Floats:
    if node.op == NUMBER:
        return np.full((1, 1), node.value)
    if node.op not in ROWS:
        if node.name not in values:
            raise FormulaError("values", node.name, "a value for every name of the formula")
        return _laid_out(np.asarray(values[node.name], dtype=np.float64), node.shape)
    row = ROWS[node.op]
    operands = [made[x] for x in node.operands]
    if row.kind in ("reduction", "along"):
        return np.asarray(row.numpy(operands[0], AXIS[node.over]))
    if row.kind in ("gather", "onehot"):
        return np.asarray(row.numpy(*operands, arms=_arms(values, operands)))
    return np.asarray(row.numpy(*operands))


def _arms(values: Mapping[str, npt.ArrayLike], operands: list[Floats]) -> int:
    if len(operands) == 2:
        return int(operands[0].shape[-1])
    if "K" not in values:
        raise FormulaError("values", "K", "a value for the number of arms")
    return int(np.asarray(values["K"]).flat[0])


def _laid_out(x: Floats, shape: str) -> Floats:
    if shape == RUN:
        return x[..., None, None]
    if shape == ARM:
        return x[..., None, :]
    return x[..., None] if shape == SAMPLE else x


def _natural(x: Floats, shape: str) -> Floats:
    if shape == SAMPLE_ARM:
        return x
    if shape == ARM:
        return x[..., 0, :]
    return x[..., 0] if shape == SAMPLE else x[..., 0, 0]
