"""Intervals of proportions and means: what their ends solve, in forty digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import committal as cm
from committal.analysis import mean_interval, proportion_interval
from committal.inference.quantiles import normal_quantile, student_quantile

LEVELS = (0.5, 0.95, 0.999)


@pytest.fixture(autouse=True)
def forty_digits() -> None:
    mp.mp.dps = 40


@pytest.mark.parametrize("level", LEVELS)
def test_normal_quantiles(level: float) -> None:
    inside = mp.erf(mp.mpf(normal_quantile(level)) / mp.sqrt(2))
    assert float(abs(inside - mp.mpf(level))) < 1e-15


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("degrees", [1, 2, 5, 399, 9_999, 10_001, 10**7])
def test_student_quantiles(level: float, degrees: int) -> None:
    t = mp.mpf(float(student_quantile(level, degrees)))
    outside = mp.betainc(mp.mpf(degrees) / 2, 0.5, 0, degrees / (degrees + t * t), regularized=True)
    assert float(abs(1 - outside - mp.mpf(level))) < 1e-15


def test_nothing_is_known_without_degrees_of_freedom() -> None:
    assert student_quantile(0.95, [0, -1]).tolist() == [math.inf, math.inf]
    low, high = mean_interval([1.0, 1.0], [0.5, np.nan], [1, 0])
    assert low[0] == -math.inf
    assert high[0] == math.inf
    assert np.isnan([low[1], high[1]]).all()


def tail(k: int, n: int, p: float) -> float:
    """P(Bin(n, p) >= k), from exact integers."""
    q = Fraction(p)
    return float(sum(math.comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(k, n + 1)))


@pytest.mark.parametrize(("k", "n"), [(1, 10), (5, 10), (39, 40), (3, 200)])
def test_the_ends_of_clopper_and_pearson_are_tails(k: int, n: int) -> None:
    low, high = map(float, proportion_interval(k, n, 0.99, "clopper-pearson"))
    assert tail(k, n, low) == pytest.approx(0.005, rel=1e-11)
    assert 1 - tail(k + 1, n, high) == pytest.approx(0.005, rel=1e-10)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (5, 10), (40, 40), (3, 100_000)])
def test_the_ends_of_wilson_are_where_a_score_test_rejects(k: int, n: int, level: float) -> None:
    z2 = normal_quantile(level) ** 2
    for p in map(float, proportion_interval(k, n, level)):
        if p not in (0.0, 1.0):
            assert (k / n - p) ** 2 == pytest.approx(z2 * p * (1.0 - p) / n, rel=1e-9)


def test_without_failures_and_without_runs() -> None:
    for method in ("wilson", "clopper-pearson", "sequential"):
        low, high = proportion_interval([0, 10, 0], [10, 10, 0], method=method)
        assert low.tolist()[0] == 0.0
        assert high.tolist()[1] == 1.0
        assert (low[2], high[2]) == (0.0, 1.0)
        assert high[0] < 0.6


@pytest.mark.parametrize("level", [0, 1, True, "0.95"])
def test_levels_are_checked(level: object) -> None:
    with pytest.raises(cm.ConfigError, match="level"):
        mean_interval(0.0, 1.0, 10, level)  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match="level"):
        proportion_interval(1, 2, level)  # type: ignore[arg-type]
