"""What people may think of: many formulas, each a short run of the core against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference

BASE = cm.Experiment(
    cm.Bandit([0.9, 0.7, 0.1], noise="bernoulli"), cm.Softmax([0, 0.5, 1]), cm.Vanilla(0.3),
    cm.Value() - 0.1, cm.UniformMixture(0.3), cm.OneSample(samples=3), steps=12,
    record=cm.Record("theta", "action", every=3),
)  # fmt: skip

BASELINES = [
    "mean(r)",
    "max(r) - 0.1 * t / (1 + t)",
    "sum(pi * r) + 0.5 * std(R)",
    "mean(R)",
    "min(R) + 0.1 * (max(R) - min(R))",
    "sum(where(pi > 1 / K, pi * r, 0))",
    "(sum(R) - R) / (N - 1)",
    "r[0]",
    "mean(r[a])",
    "sum(pi**1.5 * r) / sum(pi**1.5)",
    "sum(sqrt(pi) * r) / sum(sqrt(pi))",
    "sum(exp(theta) * r) / sum(exp(theta))",
    "minimum(maximum(sum(mu * r), 0.2), 0.8)",
    "others(R).mean() / 2 + 0 * abs(sign(t))",
    "clip(sum(pi * r), 0.25, 0.75)",
    "std(R, ddof=1) + R @ R / N",
    "where((max(pi) > 0.5) | (t < 3), 0.5, max(r))",
    "sum(others(pi) * r) / (K - 1)",
    "sum(onehot(1) * r)",
    "log(sum(exp(5 * r))) / 5",
]
WEIGHTS = [
    "1",
    "clip(rho, 0.8, 1.2)",
    "where(((A > 0) & (rho > 1.2)) | ((A < 0) & (rho < 0.8)), 0, rho)",
    "pi[a] / (mu[a] + 0.05)",
    "exp(-t / 100) * rho",
    "rho / mean(rho)",
    "rho * (1 - pi[a])",
    "1 / (1 + exp(A * log(pi[a]) / 0.5))",
    "where(~(A > 0), 0.5, 1) * rho**0.5",
    "minimum(rho, 1 + b**2)",
    "(R == max(R)) * rho",
    "rho * (theta[a] > mean(theta))",
    "others(rho, 'mean')",
]
UPDATES = [
    "R * score",
    "sum(A * rho * score, over='samples') / N",
    "onehot(a) * (R - r[a])",
    "sign(A) * natural * pi[a]",
    "A * rho * score - 0.01 * theta",
    "mean(A * score, over='samples') + 0.1 * pi * (log(pi) * -1 - sum(pi * -log(pi)))",
    "(R - mean(R)) / (std(R) + 1e-3) * score",
    "pi * (r - sum(pi * r))",
    "score * where(A > 0, A, 0.1 * A)",
    "natural * A * rho / (1 + sqrt(t))",
    "max(score, over='samples') * mean(A)",
    "score * score[a] * A",
]
LINKS = [
    "exp(theta / 2)",
    "log(1 + exp(theta))",
    "theta**2 + 0.01",
    "1 / (1 + exp(-theta))",
    "maximum(theta, 0) + 0.1",
    "where(theta > 0, 1 + theta, exp(theta))",
    "abs(theta)**1.5 + 0.1",
    "sqrt(1 + theta**2)",
]
OPTIMISERS: dict[str, Any] = {
    "sign": cm.optimiser("sign(g)"),
    "centred": cm.optimiser("g - g.mean()"),
    "decay": cm.optimiser("g - 0.01 * theta"),
    "clipped": cm.optimiser("clip(g, -0.1, 0.1)"),
    "rmsprop": cm.optimiser(
        lambda g, v, *, rho=0.9: (
            g / (cm.sqrt(rho * v + (1 - rho) * g**2) + 1e-3),
            {"v": rho * v + (1 - rho) * g**2},
        ),
        state={"v": 0.0},
    ),
    "adagrad": cm.optimiser(
        lambda g, s: (g / cm.sqrt(s + g**2 + 1e-3), {"s": s + g**2}), state={"s": 0.0}
    ),
    "nesterov": cm.optimiser(
        lambda g, m, *, beta=0.9: (g + beta * (beta * m + g), {"m": beta * m + g}), state={"m": 0.0}
    ),
    "lion": cm.optimiser(
        lambda g, m: (cm.sign(0.9 * m + 0.1 * g), {"m": 0.99 * m + 0.01 * g}), state={"m": 0.0}
    ),
    "averaged norm": cm.optimiser(
        lambda g, n: (g / cm.sqrt(n + 1), {"n": 0.9 * n + 0.1 * (g**2).sum()}), state={"n": 0.0}
    ),
    # The second moment is one of the first, which is new by then.
    "moment of a moment": cm.optimiser(
        "(b1 * m + (1 - b1) * g) / (1 - b1**(t + 1)) "
        "/ (sqrt((b2 * v + (1 - b2) * (b1 * m + (1 - b1) * g)**2) / (1 - b2**(t + 1))) + 1e-3)",
        state={
            "m": (0.0, "b1 * m + (1 - b1) * g"),
            "v": (0.0, "b2 * v + (1 - b2) * (b1 * m + (1 - b1) * g)**2"),
        },
        b1=0.9,
        b2=0.99,
    ),
    # The next state is read from several arms of the old one: it cannot be made in its place.
    "others": cm.optimiser("g * m", state={"m": (1.0, "others(m, 'mean')")}),
    "swapped": cm.optimiser(
        "g + 0.1 * m", state={"m": (0.0, "n"), "n": (0.0, "others(m, 'mean') / 2 + g")}
    ),
}
QUANTITIES = [
    "min(pi)",
    "pi[0]",
    "sum(pi**2)",
    "sum(abs(pi - 1 / K))",
    "max(theta) - min(theta)",
    "mean(R)",
    "std(A)",
    "max(rho)",
    "mean(a)",
    "theta - theta0",
    "pi / mu",
    "sum(pi * log(pi / mu))",
    "mean(b) * t",
    "mean(onehot(a), over='samples')",
    "r - sum(pi * r)",
]


def agrees(e: cm.Experiment) -> None:
    data = cm.run(e, runs=2, rng=3)
    key, times = int(data.attrs["key"], 16), data["time"].values
    for run in range(2):
        want = reference.simulate(e, key=key, run=run)
        for name in data.data_vars:
            got = data[name].values[run]
            np.testing.assert_allclose(
                got, want[str(name)][times], rtol=1e-9, atol=1e-10, err_msg=str(name)
            )


@pytest.mark.parametrize("text", BASELINES)
def test_baselines(text: str) -> None:
    agrees(BASE.replace(baseline=cm.baseline(text) - 0.1))


@pytest.mark.parametrize("text", WEIGHTS)
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.05)], ids=repr)
def test_weights(text: str, update: Any) -> None:
    agrees(BASE.replace(update=update, **{"estimator.weight": cm.weight(text)}))


@pytest.mark.parametrize("text", UPDATES)
def test_updates(text: str) -> None:
    agrees(BASE.replace(update=cm.update(text)(0.2)))


@pytest.mark.parametrize("text", LINKS)
def test_links(text: str) -> None:
    policy = cm.link(text)([0.5, 1.0, 2.0])
    agrees(BASE.replace(policy=policy))
    agrees(BASE.replace(policy=policy, update=cm.update("A * rho * score")(0.2)))


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers(name: str) -> None:
    agrees(BASE.replace(optimiser=OPTIMISERS[name]))


@pytest.mark.parametrize("text", QUANTITIES)
def test_quantities(text: str) -> None:
    own = cm.quantity(text, name="own")
    agrees(BASE.replace(record=cm.Record("theta", own, every=3)))
