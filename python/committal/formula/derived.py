"""Operations that are made of others: the core computes what they expand to.

Each expansion is within a few units in the last place wherever its result is a number, and none
overflows on the way; a test compares them with NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from committal.formula.operations import times
from committal.formula.rows import Floats, Row, apply
from committal.formula.tree import Node, number

__all__ = ["DERIVED"]

_ONE, _TWO, _ZERO = number(1), number(2), number(0)


# -- expansions ------------------------------------------------------------------------------------


def _sigmoid(x: Node, over: str = "") -> Node:
    """e = exp(-|x|): 1 / (1 + e), or e / (1 + e) where x < 0."""
    e = apply("exp", apply("neg", apply("abs", x)))
    return apply("div", apply("where", apply("ge", x, _ZERO), _ONE, e), apply("add", e, _ONE))


def _expm1(x: Node, over: str = "") -> Node:
    """(u - 1) x / log u with u = exp x near 0, where the rounding of u cancels; u - 1 elsewhere."""
    u = apply("exp", x)
    less = apply("sub", u, _ONE)
    near = apply("div", apply("mul", less, x), apply("log", u))
    near = apply("where", apply("eq", u, _ONE), x, near)
    return apply("where", apply("lt", apply("abs", x), number(0.5)), near, less)


def _log1p(x: Node, over: str = "") -> Node:
    """log u x / (u - 1) with u = 1 + x, where the rounding of u cancels."""
    u = apply("add", x, _ONE)
    ratio = apply("div", x, apply("sub", u, _ONE))
    return apply("where", apply("eq", u, _ONE), x, apply("mul", apply("log", u), ratio))


def _softplus(x: Node, over: str = "") -> Node:
    """max(x, 0) + log(1 + exp(-|x|))."""
    small = _log1p(apply("exp", apply("neg", apply("abs", x))))
    return apply("add", apply("maximum", x, _ZERO), small)


def _tanh(x: Node, over: str = "") -> Node:
    """-e / (e + 2) with e = exp(-2 |x|) - 1, and the sign of x."""
    e = _expm1(apply("neg", apply("mul", _TWO, apply("abs", x))))
    ratio = apply("div", apply("neg", e), apply("add", e, _TWO))
    return apply("mul", apply("sign", x), ratio)


def _logsumexp(x: Node, over: str) -> Node:
    """m + log(sum exp(x - m)) with m = max x."""
    m = apply("max", x, over=over)
    powers = apply("exp", apply("sub", x, m))
    return apply("add", m, apply("log", apply("sum", powers, over=over)))


def _softmax(x: Node, over: str) -> Node:
    """exp(x - m) / sum exp(x - m) with m = max x."""
    powers = apply("exp", apply("sub", x, apply("max", x, over=over)))
    return apply("div", powers, apply("sum", powers, over=over))


# -- NumPy -----------------------------------------------------------------------------------------


def _numpy_sigmoid(x: Floats) -> Floats:
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0.0, 1.0, e) / (1.0 + e))


def _numpy_softplus(x: Floats) -> Floats:
    return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def _numpy_logsumexp(x: Floats, axis: int) -> Floats:
    m = np.max(x, axis=axis, keepdims=True)
    return np.asarray(m + np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True)))


def _numpy_softmax(x: Floats, axis: int) -> Floats:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(e / np.sum(e, axis=axis, keepdims=True))


# -- the rows --------------------------------------------------------------------------------------


def _row(name: str, expansion: Any, numpy: Any, slope: Any, latex: str, words: str) -> Row:
    def adjoint(n: Node, d: Node) -> tuple[Node | None, ...]:
        return (times(d, slope(n, n.operands[0])),)

    return Row(name, 1, numpy, adjoint, latex, words, exact=False, expansion=expansion)


def _along(
    name: str, expansion: Callable[[Node, str], Node], numpy: Any, latex: str, words: str, kind: str
) -> Row:
    def adjoint(n: Node, d: Node) -> tuple[Node | None, ...]:
        (x,) = n.operands
        if n.op == "logsumexp":
            return (times(d, apply("softmax", x, over=n.over)),)
        mean = apply("sum", apply("mul", n, d), over=n.over)
        return (apply("mul", n, apply("sub", d, mean)),)

    return Row(name, 1, numpy, adjoint, latex, words, kind=kind, exact=False, expansion=expansion)


DERIVED = (
    _row(
        *("sigmoid", _sigmoid, _numpy_sigmoid),
        lambda n, x: apply("mul", n, apply("sigmoid", apply("neg", x))),
        r"\sigma\left({0}\right)",
        "1 / (1 + exp(-x))",
    ),
    _row(
        *("tanh", _tanh, np.tanh),
        lambda n, x: apply("sub", _ONE, apply("mul", n, n)),
        r"\tanh\left({0}\right)",
        "hyperbolic tangent",
    ),
    _row(
        *("softplus", _softplus, _numpy_softplus),
        lambda n, x: apply("sigmoid", x),
        r"\log\left(1 + \exp\left({0}\right)\right)",
        "log(1 + exp(x))",
    ),
    _row(
        *("log1p", _log1p, np.log1p),
        lambda n, x: apply("div", _ONE, apply("add", x, _ONE)),
        r"\log\left(1 + {0}\right)",
        "log(1 + x), precise near 0",
    ),
    _row(
        *("expm1", _expm1, np.expm1),
        lambda n, x: apply("exp", x),
        r"\left(\exp\left({0}\right) - 1\right)",
        "exp(x) - 1, precise near 0",
    ),
    _along(
        *("logsumexp", _logsumexp, _numpy_logsumexp, r"\log \sum_{{{i}}} \exp\left({0}\right)"),
        "log of the sum of exponentials over an axis",
        "reduction",
    ),
    _along(
        *("softmax", _softmax, _numpy_softmax),
        r"\operatorname{{softmax}}_{{{own}}}\left({0}\right)",
        "exponentials over an axis, divided by their sum",
        "along",
    ),
)
