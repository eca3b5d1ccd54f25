"""Intervals cover the truth as often as they say, on a thousand problems whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import xarray as xr

import committal as cm
from committal import analysis

PROBLEMS = 1000


def made_up(**variables: tuple[tuple[str, ...], npt.NDArray[Any]]) -> xr.Dataset:
    """A dataset as a study makes it, with one configuration per problem."""
    data = xr.Dataset(variables)
    return data.assign_coords(problem=np.arange(data.sizes["problem"]))


def covered(found: xr.Dataset, truth: Any, prefix: str = "") -> float:
    inside = (found[f"{prefix}low"] <= truth) & (truth <= found[f"{prefix}high"])
    return float(inside.mean())


def close_to_95(coverage: float) -> bool:
    # 2 % as promised; the standard error of the coverage itself is 0.7 %.
    return abs(coverage - 0.95) <= 0.02


def values(x: npt.NDArray[Any]) -> xr.Dataset:
    """x[problem, run] as the value at the only recorded time, 1."""
    return made_up(value=(("problem", "run", "time"), x[..., None])).assign_coords(time=[1])


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
def test_failure_rates(method: str) -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, PROBLEMS)
    data = values(1.0 - (rng.uniform(0, 1, (PROBLEMS, 1000)) < p[:, None]))
    coverage = covered(analysis.failure_rates(data, 0.5, method=method), p)
    assert close_to_95(coverage), coverage


def test_failure_rates_of_the_engine() -> None:
    # One update of a two-armed bandit from the uniform policy: half of the runs go either way.
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.0]),
        cm.Softmax(),
        cm.Natural(1.0),
        -1.0,
        steps=1,
        record=cm.Record("value"),
    )
    x = cm.run(exp, runs=PROBLEMS * 200, rng=5)["value"].values[:, 0]
    data = values(x.reshape(PROBLEMS, 200))
    assert close_to_95(covered(analysis.failure_rates(data, 0.5), 0.5))
    low, high = np.unique(x)
    assert close_to_95(covered(analysis.mean_curves(data), (low + high) / 2))


@pytest.mark.parametrize("method", ["normal", "bootstrap"])
def test_means(method: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.uniform(0.5, 5, (2, PROBLEMS, 1))
    data = values(rng.beta(a, b, (PROBLEMS, 100)))
    found = analysis.mean_curves(data, method=method, resamples=400)
    assert close_to_95(covered(found, (a / (a + b))))


def test_means_of_few_runs() -> None:
    rng = np.random.default_rng(2)
    data = values(rng.normal(3.0, 2.0, (PROBLEMS, 5)))
    assert close_to_95(covered(analysis.mean_curves(data), 3.0))


def test_quantiles() -> None:
    rng = np.random.default_rng(3)
    scale = rng.uniform(0.1, 10, (PROBLEMS, 1))
    data = values(rng.exponential(scale, (PROBLEMS, 400)))
    found = analysis.quantiles(data, probabilities=[0.1, 0.5, 0.9])
    truth = xr.DataArray(-np.log1p(-found["quantile"].values), dims="quantile") * xr.DataArray(
        scale[:, 0], dims="problem"
    )
    assert close_to_95(covered(found, truth))


def arrival_times(rng: np.random.Generator, rates: npt.NDArray[Any]) -> xr.Dataset:
    """Values that jump to one at a geometric time."""
    times = np.arange(0, 60)
    arrival = rng.geometric(rates[:, None], (PROBLEMS, 300))
    x = (times >= arrival[..., None]).astype(float)
    return made_up(value=(("problem", "run", "time"), x)).assign_coords(time=times)


def test_survival() -> None:
    rng = np.random.default_rng(4)
    rates = rng.uniform(0.02, 0.06, PROBLEMS)
    data = arrival_times(rng, rates)
    found = analysis.survival(data, 0.5)
    for time in (10, 30, 59):
        truth = (1 - rates) ** time
        assert close_to_95(covered(found.sel(time=time), truth))


def test_time_to() -> None:
    rng = np.random.default_rng(5)
    rates = rng.uniform(0.02, 0.06, PROBLEMS)
    found = analysis.time_to(arrival_times(rng, rates), 0.5)
    truth = np.ceil(np.log(0.5) / np.log1p(-rates))  # the median of a geometric distribution
    # Times are whole numbers: the interval covers at least as often as it says.
    assert 0.94 <= covered(found, truth) <= 0.99


def test_committal_rates() -> None:
    rng = np.random.default_rng(6)
    times = np.unique(np.geomspace(1, 1000, 12).astype(int))
    kappa = rng.gamma(4.0, 0.3, (PROBLEMS, 50))
    rest = 0.3 * times ** -kappa[..., None]
    first = rng.uniform(0, 1, kappa.shape)[..., None] < 0.5
    policy = np.stack([np.where(first, 1 - rest, rest), np.where(first, rest, 1 - rest)], axis=-1)
    data = made_up(policy=(("problem", "run", "time", "arm"), policy)).assign_coords(
        time=times, arm=["a", "b"]
    )
    found = analysis.committal_rate(data)
    assert close_to_95(covered(found, 1.2))
    assert close_to_95(covered(found, 1.2, "arm_"))


def test_regret_exponents() -> None:
    rng = np.random.default_rng(7)
    times = np.unique(np.geomspace(1, 1000, 12).astype(int))
    gamma = rng.uniform(0.2, 1.0, (PROBLEMS, 1, 1))
    size = rng.gamma(4.0, 0.25, (PROBLEMS, 80, 1)) * rng.gamma(9.0, 1 / 9, (PROBLEMS, 80, 11))
    data = made_up(regret=(("problem", "run", "time"), size * times**gamma)).assign_coords(
        time=times
    )
    found = analysis.regret_exponent(data)
    assert close_to_95(covered(found, gamma[:, 0, 0]))


def test_policy_histograms() -> None:
    rng = np.random.default_rng(8)
    p = rng.beta(2.0, 1.0, (PROBLEMS, 200))
    policy = np.stack([p, 1 - p], axis=-1)[:, :, None]
    data = made_up(policy=(("problem", "run", "time", "arm"), policy)).assign_coords(
        time=[9], arm=["a", "b"]
    )
    found = analysis.policy_histogram(data, bins=4).sel(arm="a")
    truth = xr.DataArray(np.diff(np.linspace(0, 1, 5) ** 2), dims="bin")
    assert close_to_95(covered(found, truth))


def paired(rng: np.random.Generator, x: npt.NDArray[Any], y: npt.NDArray[Any]) -> xr.Dataset:
    data = xr.Dataset(
        {"value": (("problem", "side", "run", "time"), np.stack([x, y], 1)[..., None])}
    )
    return data.assign_coords(problem=np.arange(PROBLEMS), side=["x", "y"], time=[1])


def test_paired_means() -> None:
    rng = np.random.default_rng(9)
    common = rng.normal(0, 3, (PROBLEMS, 60))
    x = common + rng.normal(0, 0.5, common.shape)
    y = common + rng.normal(0.3, 0.5, common.shape)
    data = paired(rng, x, y)
    found = analysis.compare(data, "side")
    assert close_to_95(covered(found, 0.3))
    apart = analysis.mean_curves(data)
    assert float((found.high - found.low).mean()) < 0.4 * float((apart.high - apart.low).mean())
    assert float(found["correlation"].mean()) > 0.9


@pytest.mark.parametrize("runs", [60, 500])
def test_paired_rates(runs: int) -> None:
    rng = np.random.default_rng(10)
    common = rng.uniform(0, 1, (PROBLEMS, runs))
    p, q = rng.uniform(0.1, 0.6, (2, PROBLEMS, 1))
    mix = rng.uniform(0, 1, common.shape) < 0.7
    other = np.where(mix, common, rng.uniform(0, 1, common.shape))
    data = paired(rng, 1.0 * (common >= p), 1.0 * (other >= q))
    found = analysis.compare(data, "side", "failure", below=0.5)
    # Both Wilson intervals are a little wide, and the correlation is trusted with caution.
    assert 0.93 <= covered(found, (q - p)) <= 0.985
