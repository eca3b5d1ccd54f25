"""The value of a tree in NumPy, over arrays of any leading axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.errors import FormulaError
from committal.formula.shapes import ARM, AXES, RUN, SAMPLE, SAMPLE_ARM, axes_of
from committal.formula.text import text_of
from committal.formula.tree import NUMBER, Node, walk
from committal.formula.vocabulary import AXIS, ROWS, Floats, core_tree

__all__ = ["Culprit", "culprit", "evaluate"]

Truths: TypeAlias = npt.NDArray[np.bool_]


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
        What takes the place of an operation of the core over samples, from its name and its operand
        laid out (..., samples, arms), where the axis of samples holds something else.

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
    return _natural(_values(node, values, over_samples)[-1], node.shape)


class Culprit(NamedTuple):
    """The sub-expression that is not finite, and what it was computed from."""

    expression: str
    operands: dict[str, object]


def culprit(node: Node, values: Mapping[str, npt.ArrayLike]) -> Culprit | None:
    """The sub-expression that makes a tree not finite though its operands are; None if it is.

    What does not reach the result, such as the branch that `where` does not take or the arms that
    x[a] does not look at, is not blamed.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> tree = parse("1 + log(t - 1)", {"t": "run"})
    >>> culprit(tree, {"t": 1.0})
    Culprit(expression='log(t - 1)', operands={'t - 1': 0.0})
    >>> tree = parse("where(t > 1, log(t - 1), 1 / t)", {"t": "run"})
    >>> culprit(tree, {"t": 0.0})
    Culprit(expression='1 / t', operands={'t': 0.0})
    """
    found = _all(node, values)
    lost = ~np.isfinite(found[node])
    if not lost.any():
        return None
    while True:
        for below, reaches in zip(node.operands, _reaching(node, found, lost), strict=True):
            inside = ~np.isfinite(found[below]) & reaches
            if inside.any():
                node, lost = below, inside
                break
        else:
            return Culprit(text_of(node), _shown(node, found, lost))


def _reaching(node: Node, found: Mapping[Node, Floats], lost: Truths) -> list[Truths]:
    """Which entries of each operand some entries of an operation are made from."""
    row = ROWS.get(node.op)
    if row is None:
        return []
    if row.kind in ("reduction", "along"):
        if row.kind == "along":
            count = lost.sum(axis=AXIS[node.over], keepdims=True)
            # Others are all but the entry itself.
            own = 0 if node.op in ("softmax", "tsallis") else lost
            lost = np.broadcast_to(count > own, lost.shape)
        return [_fitted(lost, found[node.operands[0]])]
    masks = [lost] * len(node.operands)
    if node.op == "where":
        taken = found[node.operands[0]] != 0.0
        masks = [lost, lost & taken, lost & ~taken]
    elif node.op == "gather":
        x, index = (found[below] for below in node.operands)
        masks[0] = lost & (np.arange(x.shape[-1]) == index)
    return [_fitted(mask, found[x]) for mask, x in zip(masks, node.operands, strict=True)]


def _fitted(mask: Truths, x: Floats) -> Truths:
    """A mask for an array: repeated along the axes that only this has, joined along the others."""
    for axis in range(-mask.ndim, 0):
        length = x.shape[axis] if -axis <= x.ndim else 1
        if length == 1:
            mask = np.asarray(mask.any(axis=axis, keepdims=True))
    return np.broadcast_to(mask.reshape(mask.shape[max(mask.ndim - x.ndim, 0) :]), x.shape)


#: Vectors up to this length are shown whole; of longer ones the entry that matters.
_SHOWN = 6


def _shown(node: Node, found: Mapping[Node, Floats], lost: Truths) -> dict[str, object]:
    """The operands that are no numbers of the text, with their values."""
    shown: dict[str, object] = {}
    for below, reaches in zip(
        node.operands or (node,), _reaching(node, found, lost) or (lost,), strict=True
    ):
        value = found[below]
        if below.op == NUMBER:
            continue
        words, axes = text_of(below), axes_of(below.shape)
        if max(value.shape[-2:]) <= _SHOWN:
            shown[words] = _natural(value, below.shape).tolist()
            continue
        seen = np.unravel_index(int(np.flatnonzero(reaches)[0]), reaches.shape)
        named = [f"{axis[:-1]} {int(seen[AXIS[axis]])}" for axis in AXES if axis in axes]
        shown[f"{words} ({', '.join(named)})"] = float(value[seen])
    return shown


# -- tapes -----------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """One operation: where its operands are, and what is done to them."""

    node: Node
    operands: tuple[int, ...]
    #: From arrays, and for some the number of arms, to an array; None for a leaf.
    numpy: Callable[..., Any] | None


@functools.lru_cache(maxsize=4096)
def _tape(root: Node) -> tuple[_Step, ...]:
    """The operations of a tree in their order: it is evaluated many times."""
    places: dict[Node, int] = {}
    steps = []
    for node in walk(root):
        places[node] = len(places)
        row = ROWS.get(node.op)
        made: Callable[..., Any] | None = None if row is None else row.numpy
        if row is not None and row.kind in ("reduction", "along"):
            made = functools.partial(row.numpy, axis=AXIS[node.over])
        steps.append(_Step(node, tuple(places[x] for x in node.operands), made))
    return tuple(steps)


def _all(
    root: Node,
    values: Mapping[str, npt.ArrayLike],
    over_samples: Callable[[str, Floats], Floats] | None = None,
) -> dict[Node, Floats]:
    """The value of every node below, laid out (..., samples, arms)."""
    made = _values(root, values)
    return {step.node: value for step, value in zip(_tape(root), made, strict=True)}


def _values(
    root: Node,
    values: Mapping[str, npt.ArrayLike],
    over_samples: Callable[[str, Floats], Floats] | None = None,
) -> list[Floats]:
    """The same in the order of the tape: that of the root is last."""
    made: list[Floats] = []
    with np.errstate(all="ignore"):
        for node, places, numpy in _tape(root if over_samples is None else core_tree(root)):
            if numpy is None:
                made.append(_leaf(node, values))
                continue
            operands = [made[place] for place in places]
            if over_samples is not None and node.over == "samples":
                made.append(over_samples(node.op, operands[0]))
                continue
            if node.op in ("gather", "onehot"):
                arms = _arms(values, operands)
                _refuse_no_arms(node.operands[-1], operands[-1], arms)
                made.append(np.asarray(numpy(*operands, arms=arms)))
            else:
                made.append(np.asarray(numpy(*operands)))
    return made


def _leaf(node: Node, values: Mapping[str, npt.ArrayLike]) -> Floats:
    if node.op == NUMBER:
        return np.full((1, 1), node.value)
    if node.name not in values:
        raise FormulaError("values", node.name, "a value for every name of the formula")
    return _laid_out(np.asarray(values[node.name], dtype=np.float64), node.shape)


def _arms(values: Mapping[str, npt.ArrayLike], operands: list[Floats]) -> int:
    if len(operands) == 2:
        return int(operands[0].shape[-1])
    if "K" not in values:
        raise FormulaError("values", "K", "a value for the number of arms")
    return int(np.asarray(values["K"]).flat[0])


def _refuse_no_arms(index: Node, given: Floats, arms: int) -> None:
    """What is the number of no arm has no entry: not that of a neighbour, and not 0."""
    wrong = ~((given >= 0.0) & (given < arms) & (given == np.floor(given)))
    if wrong.any():
        allowed = f"whole numbers of arms from 0 to {arms - 1}"
        raise FormulaError(text_of(index), float(given[wrong][0]), allowed)


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
