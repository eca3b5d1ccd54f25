"""Bounds of formulas hold everything that a formula can be, and for simple ones nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from committal.formula.bounds import bounds
from committal.formula.evaluate import evaluate
from committal.formula.parse import parse

INPUTS = {"x": "run", "y": "run", "pi": "arm", "r": "arm"}
SIGNS = [(-2.0, 1.5), (0.25, 3.0), (-3.0, -0.5)]  # across 0, above it, below it

# Every name once: interval arithmetic is exact.
SHARP = [
    "x + y", "x - y", "y - x", "x * y", "-x", "x**2", "x**3", "abs(x)", "sign(x)", "exp(x)",
    "minimum(x, y)", "maximum(x, y)", "sigmoid(x)", "tanh(x)",
    "softplus(x)", "expm1(x)", "sqrt(abs(x))", "x**2 - y", "exp(-x) * y", "3 - 2 * x",
    "sum(r)", "mean(r)", "min(r)", "max(r)", "sum(pi * r)", "sum(pi * r) - x",
]  # fmt: skip
# The divisor, or what the logarithm is taken of, must stay on one side of 0.
ONE_SIDE = ["y / x", "1 / x", "log(abs(x))", "log1p(abs(x))"]
# Only that nothing lies outside.
WIDE = [
    "x * (1 - x)", "x - x * y", "sum(pi**2 * r)", "sum(pi**2 * r) / sum(pi**2)", "std(r)",
    "logsumexp(r)", "max(softmax(r))", "sum(others(r))", "r[0] - r[2]", "max(onehot(1) * r)",
    "sum(r * pi) / sum(r)", "x**-1", "x**-2", "where(x > 0, y, -1)", "x**y", "abs(x)**y", "x**0.5",
    "where((x > y) & (y > 0), x, y)", "clip(x, -1, y)",
]  # fmt: skip


def inside(x: tuple[float, float], y: tuple[float, float], text: str) -> np.ndarray:
    """What the formula is at many places, corners included."""
    generator = np.random.default_rng(0)
    count = 4000

    def between(low: float, high: float, *shape: int) -> np.ndarray:
        u = generator.uniform(0.0, 1.0, (count, *shape))
        u[: count // 2] = np.rint(u[: count // 2])
        return low + (high - low) * u

    pi = generator.dirichlet(np.full(3, 0.3), count)
    pi[:90] = np.eye(3)[np.arange(90) % 3]
    given = {"x": between(*x), "y": between(*y), "pi": pi, "r": between(*y, 3), "K": 3.0}
    given["r"][:90] = np.where(np.arange(90)[:, None] % 2, y[0], y[1])
    given["x"][:90:3], given["x"][1:90:3] = x
    if x[0] < 0.0 < x[1]:
        given["x"][2:90:3] = 0.0
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(parse(text, INPUTS), given))


@pytest.mark.parametrize("x", SIGNS, ids=str)
@pytest.mark.parametrize("text", [*SHARP, *ONE_SIDE, *WIDE])
def test_nothing_lies_outside(text: str, x: tuple[float, float]) -> None:
    for y in SIGNS:
        given = {"x": x, "y": y, "r": y, "pi": (0.0, 1.0)}
        low, high = bounds(parse(text, INPUTS), given, 3)
        assert low <= high
        found = inside(x, y, text)
        found = found[~np.isnan(found)]
        if found.size == 0:
            continue
        slack = 1e-12 * max(1.0, abs(found[np.isfinite(found)]).max(initial=1.0))
        assert low - slack <= found.min()
        assert found.max() <= high + slack
        across = x[0] < 0.0 < x[1]
        if text in SHARP or (text in ONE_SIDE and not across):
            assert math.isfinite(low)
            assert math.isfinite(high)
            room = 0.02 * max(found.max() - found.min(), 1e-9)
            assert found.min() <= low + room
            assert high - room <= found.max()
