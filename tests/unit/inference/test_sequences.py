"""Confidence sequences: what they cover when one stops as soon as they are narrow."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import betaln

import committal as cm
from committal.inference.sequences import _lambdas, mean_sequence, rate_sequence

ConfigError = cm.errors.ConfigError


# -- rates -----------------------------------------------------------------------------------------


def test_the_ends_are_where_the_martingale_reaches_its_level() -> None:
    for k, n in ((1, 10), (50, 100), (3, 100_000), (99_999, 100_000)):
        for p in rate_sequence(k, n):
            log_m = float(betaln(k + 0.5, n - k + 0.5)) - math.log(math.pi)
            log_m -= k * math.log(float(p)) + (n - k) * math.log1p(-float(p))
            assert log_m == pytest.approx(math.log(20), abs=1e-6)


def test_no_failures_are_an_upper_bound() -> None:
    low, high = rate_sequence([0, 100, 0], [100, 100, 0])
    assert low.tolist()[0] == 0.0
    assert 0.03 < high[0] < 0.08
    assert high[1] == 1.0
    assert (low[2], high[2]) == (0.0, 1.0)


def test_wider_than_one_look_and_not_by_much() -> None:
    low, high = rate_sequence(500, 10_000)
    wilson = cm.analysis.proportion_interval(500, 10_000)
    ratio = float((high - low) / (wilson[1] - wilson[0]))
    assert 1.2 < ratio < 2.2


def rate_coverage(problems: int, half_width: float, rng: np.random.Generator) -> float:
    """How often the interval at which one stops covers, looking every 50 runs."""
    p = rng.uniform(0, 1, problems) ** 2
    failures, runs = np.zeros(problems), np.zeros(problems)
    low, high = np.zeros(problems), np.ones(problems)
    going = np.ones(problems, bool)
    for _ in range(400):
        failures[going] += rng.binomial(50, p[going])
        runs[going] += 50
        low[going], high[going] = rate_sequence(failures[going], runs[going])
        going &= (high - low) / 2 > half_width
        if not going.any():
            break
    return float(((low <= p) & (p <= high)).mean())


def test_rates_are_covered_under_stopping() -> None:
    assert rate_coverage(1000, 0.05, np.random.default_rng(1)) >= 0.95


def test_stopping_at_the_worst_moment() -> None:
    # Who stops whenever the true rate is outside, and only then, succeeds in 5 % of the cases.
    rng = np.random.default_rng(2)
    p, problems = 0.3, 400
    failures = np.cumsum(rng.binomial(5, p, (problems, 150)), axis=1)
    runs = 5 * np.arange(1, 151)
    low, high = rate_sequence(failures, np.broadcast_to(runs, failures.shape))
    assert ((low <= p) & (p <= high)).all(axis=1).mean() >= 0.95
    # Wilson's interval, looked at as often, does not keep what it promises for one look.
    low, high = cm.analysis.proportion_interval(failures, np.broadcast_to(runs, failures.shape))
    assert ((low <= p) & (p <= high)).all(axis=1).mean() < 0.8


# -- means -----------------------------------------------------------------------------------------


def draw(kind: int, size: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], float]:
    """Numbers in [0, 1] and their mean, of quite different kinds."""
    if kind == 0:
        return rng.uniform(0, 1, size), 0.5
    if kind == 1:
        return rng.beta(20, 1, size), 20 / 21
    if kind == 2:
        return (rng.uniform(0, 1, size) < 0.02).astype(float), 0.02
    return np.full(size, 0.7) + rng.uniform(-1e-3, 1e-3, size), 0.7


def mean_coverage(problems: int, half_width: float, rng: np.random.Generator) -> float:
    covered = 0
    for problem in range(problems):
        counts, sums, squares = [], [], []
        for _ in range(60):
            x, mean = draw(problem % 4, 100, rng)
            counts.append(100)
            sums.append(3 * float(x.sum()) - 100)  # scaled to [-1, 2]
            squares.append(float(((3 * x - 1) ** 2).sum()))
            _, low, high = mean_sequence(counts, sums, squares, (-1.0, 2.0), half_width=half_width)
            if (high - low) / 2 <= half_width:
                break
        covered += low <= 3 * mean - 1 <= high
    return covered / problems


@pytest.mark.parametrize("half_width", [None, 0.05])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_ends_of_a_mean_are_where_the_average_reaches_its_level(
    half_width: float | None, level: float
) -> None:
    """The supermartingale of the module's text, term by term, at either end."""
    rng = np.random.default_rng(7)
    lo, hi = -1.0, 2.0
    batches = [rng.beta(2, 3, size) for size in (40, 100, 60, 300)]  # in [0, 1]
    seen = [lo + (hi - lo) * x for x in batches]
    estimate, low, high = mean_sequence(
        [len(x) for x in seen],
        [float(x.sum()) for x in seen],
        [float((x**2).sum()) for x in seen],
        (lo, hi),
        level,
        half_width=half_width,
    )
    predicted = [float(np.concatenate(batches[:i]).mean()) for i in range(1, len(batches))]
    V = sum(float(((x - p) ** 2).sum()) for x, p in zip(batches[1:], predicted, strict=True))
    x = np.concatenate(batches[1:])
    assert estimate == pytest.approx(lo + (hi - lo) * x.mean())
    lambdas = _lambdas(None if half_width is None else half_width / (hi - lo))
    assert len(lambdas) > 2
    psi = -np.log(1 - lambdas) - lambdas
    for end, sign in ((low, 1.0), (high, -1.0)):
        excess = sign * float((x - (end - lo) / (hi - lo)).sum())
        average = np.mean(np.exp(lambdas * excess - psi * V))
        assert average == pytest.approx(2.0 / (1.0 - level), rel=1e-6)


def test_means_are_covered_under_stopping() -> None:
    assert mean_coverage(200, 0.1, np.random.default_rng(3)) >= 0.95


@pytest.mark.slow
def test_a_thousand_means_are_covered_under_stopping() -> None:
    assert mean_coverage(1000, 0.1, np.random.default_rng(4)) >= 0.95
    assert rate_coverage(10_000, 0.02, np.random.default_rng(5)) >= 0.95


def test_adapts_to_the_variance() -> None:
    def width(spread: float) -> float:
        rng = np.random.default_rng(6)
        x = 0.5 + spread * rng.uniform(-1, 1, (40, 500))
        _, low, high = mean_sequence(
            [500] * 40, x.sum(axis=1).tolist(), (x**2).sum(axis=1).tolist(), (0.0, 1.0)
        )
        return high - low

    assert width(0.01) < width(0.5) / 10
    # At full spread it costs about twice an interval for one look.
    sd = 0.5 / math.sqrt(3)
    assert width(0.5) < 2.5 * 2 * 1.96 * sd / math.sqrt(20_000)


def test_little_is_known_of_little() -> None:
    assert math.isnan(mean_sequence([], [], [], (0.0, 1.0))[0])
    assert mean_sequence([10], [5.0], [3.0], (0.0, 1.0)) == (0.5, 0.0, 1.0)
    assert math.isnan(mean_sequence([10, 0], [5.0, 0.0], [3.0, 0.0], (0.0, 1.0))[0])


def test_levels_are_checked() -> None:
    with pytest.raises(ConfigError, match="level = 1"):
        rate_sequence(1, 2, 1)
    with pytest.raises(ConfigError, match="level = 0"):
        mean_sequence([1], [1.0], [1.0], (0.0, 1.0), 0)
