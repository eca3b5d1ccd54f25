"""Operations that the core does not have: what they expand to is as precise as NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core
from committal.formula.derivative import gradient
from committal.formula.derived import DERIVED
from committal.formula.evaluate import evaluate
from committal.formula.parse import parse

SMALL = 10.0 ** np.linspace(-300, 0, 1500)
X = np.concatenate([-SMALL, SMALL, np.linspace(-45, 45, 2000), [-700.0, 700.0, 0.0, -0.0]])


def by_numpy(name: str) -> Callable[[Any], Any]:
    own = {
        "sigmoid": lambda x: np.exp(-np.logaddexp(0.0, -x)),
        "softplus": lambda x: np.logaddexp(0.0, x),
    }
    return own.get(name) or getattr(np, name)  # type: ignore[no-any-return]


@pytest.mark.parametrize("isa", _core.available()["isas"])
@pytest.mark.parametrize("name", [row.name for row in DERIVED if row.kind == "elementwise"])
def test_within_a_few_ulps(name: str, isa: str) -> None:
    x = X[X > -0.999] if name == "log1p" else X
    e = cm.Experiment(
        cm.Bandit(np.full(len(x), 0.5)),
        cm.Softmax(x),
        cm.Vanilla(0.1),
        steps=0,
        record=cm.Record(cm.quantity(f"{name}(theta)", name="f")),
    )
    got = cm.run(e, runs=1, rng=0, isa=isa)["f"].values.ravel()
    want = by_numpy(name)(x)
    # exp(-log(1 + exp)) of NumPy itself loses some where its argument is large.
    spacing = np.spacing(np.abs(want)) * (1.0 + (np.abs(x) if name == "sigmoid" else 0.0))
    assert np.max(np.abs(got - want) / spacing) < 4.0
    assert np.isfinite(got).all()


@pytest.mark.parametrize("name", ["logsumexp", "softmax"])
def test_nothing_overflows(name: str) -> None:
    x = np.array([-2000.0, 1500.0, 1499.0])
    quantity = cm.quantity(f"{name}(theta)", name="f")
    e = cm.Experiment(
        *(cm.Bandit([1, 0.5, 0]), cm.Softmax(x), cm.Vanilla(0.1)),
        steps=0,
        record=cm.Record(quantity),
    )
    got = cm.run(e, runs=1, rng=0)["f"].values.ravel()
    total = 1500.0 + np.log1p(np.exp(-1.0))
    want = [total] if name == "logsumexp" else np.exp(x - total)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    by_numpy = np.ravel(evaluate(quantity.tree.result, {"theta": x}))
    np.testing.assert_allclose(by_numpy, want, rtol=1e-13)


@pytest.mark.parametrize("name", [row.name for row in DERIVED])
def test_slopes(name: str) -> None:
    text = f"sum({name}(theta)**2 * r)" if name != "logsumexp" else "logsumexp(theta)**2"
    tree = parse(text, {"theta": "arm", "r": "arm"})
    at = {"theta": np.array([-0.7, 0.0, 1.3]), "r": np.array([1.0, 0.7, -0.4])}
    exact = np.broadcast_to(evaluate(gradient(tree, "theta"), at), 3)
    for k in range(3):
        h = np.zeros(3)
        h[k] = 1e-6
        up, down = (evaluate(tree, {**at, "theta": at["theta"] + s * h}) for s in (1, -1))
        assert exact[k] == pytest.approx((up - down) / 2e-6, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize(
    "text", ["sigmoid(theta) + 0.01", "softplus(3 * theta)", "1.5 + tanh(theta)"]
)
def test_links(text: str) -> None:
    e = cm.Experiment(
        *(cm.Bandit([1, 0.5, 0]), cm.link(text)([0, 0, 0]), cm.Vanilla(0.4), cm.Value()),
        steps=200,
        record=cm.Record("theta", "value"),
    )
    first = cm.run(e, runs=9, rng=0, isa=_core.available()["isas"][0])
    assert first.equals(cm.run(e, runs=9, rng=0))
    assert float(first["value"].mean()) > 0.5
