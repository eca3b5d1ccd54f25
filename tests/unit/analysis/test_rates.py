"""Failure rates and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import committal as cm
from committal.analysis import FailureRate, wilson_interval


def binomial_coverage(p: float, n: int, level: float) -> float:
    """Exact coverage of the interval, by summing over all outcomes."""
    total = 0.0
    for k in range(n + 1):
        low, high = wilson_interval(k, n, level)
        if low <= p <= high:
            log_term = (
                math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                + k * math.log(p) + (n - k) * math.log1p(-p)
            )  # fmt: skip
            total += math.exp(log_term)
    return total


def test_wilson_against_the_textbook_quadratic() -> None:
    # The ends solve (p - k/n)^2 = z^2 p (1 - p) / n.
    z2 = 1.959963984540054**2
    for k, n in ((1, 10), (5, 10), (469, 10_000), (9_999, 10_000)):
        for p in wilson_interval(k, n):
            assert (p - k / n) ** 2 == pytest.approx(z2 * p * (1 - p) / n, rel=1e-9)


def test_ends_are_exact() -> None:
    low, high = wilson_interval(0, 100_000)
    assert low == 0.0
    assert high == pytest.approx(3.8415 / 100_000, rel=1e-3)
    low, high = wilson_interval(100_000, 100_000)
    assert high == 1.0
    assert 1 - low == pytest.approx(3.8415 / 100_000, rel=1e-3)
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("p", [0.05, 0.2, 0.48])
@pytest.mark.parametrize("n", [200, 1000])
def test_covers_as_often_as_it_says(p: float, n: int) -> None:
    assert binomial_coverage(p, n, 0.95) == pytest.approx(0.95, abs=0.02)


def test_one_sided_bound_at_zero_failures_is_safe() -> None:
    # If the rate were above the bound, zero failures would have been less likely than 5 %.
    _, high = wilson_interval(0, 1000)
    assert (1 - high) ** 1000 < 0.05


@pytest.mark.parametrize(
    ("failures", "runs", "text"),
    [
        (4690, 100_000, "4.69 % [4.56, 4.82] (4690 of 100000)"),
        (6, 100_000, "0.0060 % [0.0027, 0.0131] (6 of 100000)"),
        (48_006, 100_000, "48.01 % [47.70, 48.32] (48006 of 100000)"),
        (22, 100, "22.0 % [15.0, 31.1] (22 of 100)"),
        (0, 100_000, "< 0.0038 % (0 of 100000)"),
        (100_000, 100_000, "> 99.9962 % (100000 of 100000)"),
        (0, 0, "unknown (0 of 0)"),
    ],
)
def test_prints_nicely(failures: int, runs: int, text: str) -> None:
    assert str(FailureRate.of(failures, runs, below=0.9, time=1000)) == text


def test_is_a_number() -> None:
    rate = FailureRate.of(25, 100, below=0.9, time=10)
    assert float(rate) == 0.25
    assert (rate.failures, rate.runs, rate.below, rate.time) == (25, 100, 0.9, 10)
    assert math.isnan(float(FailureRate.of(0, 0, below=0.9, time=10)))


@pytest.fixture(scope="module")
def experiment() -> cm.Experiment:
    return cm.Experiment(
        problem=cm.Bandit([1.0, 0.0]),
        policy=cm.Sigmoid(-1.0),
        update=cm.Natural(step_size=0.15),
        baseline=cm.Constant(-1.0),
        steps=60,
        record=cm.Record("value", every=20),
    )


def test_of_runs_and_of_reduced_runs_agree(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=300, rng=1)
    record = cm.Record("value", every=20, reduce=cm.Reduce(below=0.5))
    reduced = cm.run(experiment.replace(record=record), runs=300, rng=1)
    for time in (None, 0, 20, 60):
        assert cm.failure_rate(data, 0.5, time=time) == cm.failure_rate(reduced, 0.5, time=time)
    assert cm.failure_rate(reduced) == cm.failure_rate(data, 0.5)
    assert cm.failure_rate(data, 0.5).time == 60
    assert cm.failure_rate(data, 0.5, time=0).failures == 300  # it starts at 0.27


def test_refuses_another_level_than_the_reduced_one(experiment: cm.Experiment) -> None:
    record = cm.Record("value", reduce=cm.Reduce(below=0.5))
    reduced = cm.run(experiment.replace(record=record), runs=3, rng=1)
    with pytest.raises(cm.errors.ConfigError, match=r"below = 0\.9 .* 0\.5"):
        cm.failure_rate(reduced, below=0.9)


def test_a_value_that_is_no_number_is_a_failure(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=4, rng=1)
    data["value"].values[:, -1] = [1.0, np.nan, 0.2, 0.9]
    assert cm.failure_rate(data, 0.5).failures == 2


def test_the_edge_is_not_a_failure(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=2, rng=1)
    data["value"].values[:, -1] = [0.5, np.nextafter(0.5, 0)]
    assert cm.failure_rate(data, 0.5).failures == 1


def test_names_what_is_wrong(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=2, rng=1)
    ConfigError = cm.errors.ConfigError
    with pytest.raises(ConfigError, match="below = None"):
        cm.failure_rate(data)
    with pytest.raises(ConfigError, match="below"):
        cm.failure_rate(data, below=float("nan"))
    with pytest.raises(ConfigError, match="below"):
        cm.failure_rate(data, below="0.9")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"time = 7 .* 0, 20, 40, 60"):
        cm.failure_rate(data, 0.5, time=7)
    with pytest.raises(ConfigError, match="level = 1"):
        cm.failure_rate(data, 0.5, level=1)
    with pytest.raises(ConfigError, match="data"):
        cm.failure_rate(3, 0.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Record"):
        cm.failure_rate(data.drop_vars("value"), 0.5)
    reduced = cm.run(experiment.replace(record=cm.Record(reduce=cm.Reduce())), runs=2, rng=1)
    with pytest.raises(ConfigError, match="Reduce"):
        cm.failure_rate(reduced, 0.5)
    with pytest.raises(ConfigError, match="failures = 3"):
        wilson_interval(3, 2)


def test_no_runs_know_nothing(experiment: cm.Experiment) -> None:
    rate = cm.failure_rate(cm.run(experiment, runs=0, rng=1), 0.5)
    assert (rate.low, rate.high, rate.runs) == (0.0, 1.0, 0)
    assert math.isnan(rate.estimate)
