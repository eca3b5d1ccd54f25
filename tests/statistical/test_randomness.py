"""The random streams in the orders in which simulations use them; docs/randomness.md has more."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

_FILE = Path(__file__).with_name("randomness.py")
spec = importlib.util.spec_from_file_location("randomness", _FILE)
assert spec is not None
assert spec.loader is not None
randomness: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(randomness)

COUNT = 1 << 17


def p_values(u: Any) -> list[float]:
    return [test(u) for test in randomness.TESTS]


def test_every_order_passes_every_test() -> None:
    found = {order: p_values(randomness.sample(order, COUNT)) for order in randomness.ORDERS}
    together = np.concatenate(list(found.values()))
    assert together.min() > randomness.SMALLEST, found
    assert together.max() < 1.0 - randomness.SMALLEST, found
    assert stats.kstest(together, "uniform").pvalue > 1e-4


def test_one_bit_of_the_counter_changes_everything() -> None:
    assert min(randomness.avalanche(8).values()) > randomness.SMALLEST


def bad(kind: str) -> Any:
    """What mistakes in a counter would make."""
    u = randomness.sample("runs", COUNT)
    if kind == "two slots share their numbers":
        return np.repeat(u[::2], 2)
    if kind == "the first draw of every run is the same":
        rows = u.reshape(-1, 64).copy()
        rows[:, 0] = rows[0, 0]
        return rows.ravel()
    if kind == "a run is the one before, shifted":
        return (np.repeat(u[::2], 2) + np.tile([0.0, 0.1], COUNT // 2)) % 1.0
    if kind == "draws repeat after 100":
        return np.tile(u[:100], COUNT // 100)
    if kind == "the last bit is lost":
        return np.floor(u * 2.0**51) * 2.0**-51
    assert kind == "never above 0.99"
    return u * 0.99


@pytest.mark.parametrize(
    "kind",
    [
        "two slots share their numbers",
        "the first draw of every run is the same",
        "a run is the one before, shifted",
        "draws repeat after 100",
        "the last bit is lost",
        "never above 0.99",
    ],
)
def test_a_bad_stream_is_seen(kind: str) -> None:
    assert min(p_values(bad(kind))) < randomness.SMALLEST
