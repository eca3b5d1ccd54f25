"""What a formula costs before the first update: tracing, reading, checking and lowering."""

from __future__ import annotations

import time
from typing import Any

import committal as cm
from committal.simulation.engine import Engine

BASE = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=9)


def ready(number: int) -> float:
    """Seconds from a function that was never seen to an engine."""
    begun = time.perf_counter()

    @cm.optimiser(state={"m": 0.0, "v": 0.0})
    def adam(
        g: Any, t: Any, m: Any, v: Any, *, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8
    ) -> Any:
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        m_hat, v_hat = m / (1 - b1 ** (t + 1)), v / (1 - b2 ** (t + number))
        return m_hat / (cm.sqrt(v_hat) + eps), {"m": m, "v": v}

    Engine(BASE.replace(optimiser=adam))
    return time.perf_counter() - begun


def test_adam_is_ready_soon() -> None:
    ready(1)
    # About 2 ms; the least of some, for other tests run beside.
    assert min(ready(number) for number in range(2, 22)) < 0.005


def test_values_of_parameters_are_not_read_again() -> None:
    made = cm.baseline("sum(pi**c * r) / sum(pi**c)", c=2)
    assert made(c=3).tree.result is made.tree.result
