"""Analyses: known answers, reduced and unfinished data, and refusals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import committal as cm
from committal import analysis
from committal.analysis.paired import _rates

ConfigError = cm.errors.ConfigError


@pytest.fixture(scope="module")
def base(three_arms: cm.Experiment) -> cm.Experiment:
    record = cm.Record("value", "policy", "regret", every=30)
    return three_arms.replace(update=cm.Natural(0.1), baseline=0.0, steps=300, record=record)


GRID = {"baseline": [cm.MinVariance(), 0.0], "update.step_size": [0.05, 0.1]}


@pytest.fixture(scope="module")
def data(base: cm.Experiment) -> xr.Dataset:
    return cm.Study(base, GRID, runs=400, rng=0).run(progress=False)


@pytest.fixture(scope="module")
def reduced(base: cm.Experiment) -> xr.Dataset:
    reduce = cm.Reduce(below=0.9, bins=200)
    record = cm.Record("value", "policy", "regret", every=30, reduce=reduce)
    ranged = record.replace(reduce=cm.Reduce(0.9, (), 200, {"regret": (0, 300)}))
    return cm.Study(base.replace(record=ranged), GRID, runs=400, rng=0).run(progress=False)


def test_runs_and_reduced_runs_agree(data: xr.Dataset, reduced: xr.Dataset) -> None:
    a, b = analysis.failure_rates(data, 0.9), analysis.failure_rates(reduced)
    # Only runs with their policies say how many have not finished.
    assert (a["unfinished"] <= a["failures"]).all()
    xr.testing.assert_identical(a.drop_vars("unfinished"), b)
    a, b = analysis.mean_curves(data), analysis.mean_curves(reduced)
    xr.testing.assert_allclose(a, b, rtol=1e-10)
    a, b = analysis.policy_histogram(data, 200), analysis.policy_histogram(reduced)
    assert int(abs(a["histogram"] - b["histogram"]).sum()) <= 4  # rounding at the edges of cells
    a, b = analysis.quantiles(data, "regret"), analysis.quantiles(reduced, "regret")
    for name in ("estimate", "low", "high"):
        assert float(abs(a[name] - b[name]).max()) <= 300 / 200 + 1e-9
    assert bool((b["low"] <= a["low"]).all())
    assert bool((b["high"] >= a["high"]).all())


def test_one_experiment_is_a_study_without_axes(base: cm.Experiment, data: xr.Dataset) -> None:
    experiment = base.replace(**{"update.step_size": 0.1, "baseline": 0.0})
    one = cm.run(experiment, runs=400, rng=0)
    here = data.sel(step_size=0.1, baseline="0.0")
    for found, expected in (
        (analysis.failure_rates(one, 0.9), analysis.failure_rates(here, 0.9)),
        (analysis.mean_curves(one), analysis.mean_curves(here)),
        (analysis.survival(one, 0.9), analysis.survival(here, 0.9)),
        (analysis.regret_exponent(one), analysis.regret_exponent(here)),
        (analysis.committal_rate(one), analysis.committal_rate(here)),
    ):
        xr.testing.assert_equal(found, expected.drop_vars(["step_size", "baseline"]))
    rate = cm.failure_rate(one, 0.9)
    assert float(analysis.failure_rates(one, 0.9)["low"]) == rate.low
    assert cm.failure_rate(here, 0.9) == rate
    assert cm.failure_rate(one, 0.9, method="clopper-pearson").low < rate.low


def test_clopper_pearson_against_a_library() -> None:
    stats = pytest.importorskip("scipy.stats")
    k, n = np.array([0, 1, 5, 9_990, 10_000]), np.array([10, 10, 10, 10_000, 10_000])
    low, high = analysis.proportion_interval(k, n, 0.99, "clopper-pearson")
    for i in range(5):
        expected = stats.binomtest(int(k[i]), int(n[i])).proportion_ci(0.99, "exact")
        assert low[i] == pytest.approx(expected.low, rel=1e-7, abs=1e-12)
        assert high[i] == pytest.approx(expected.high, rel=1e-7)


def test_survival_by_hand() -> None:
    x = np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1.0]])
    data = xr.Dataset({"value": (("run", "time"), x)}, {"time": [0, 10, 20, 30]})
    curve = analysis.survival(data, 0.5)
    assert curve["estimate"].values.tolist() == [1.0, 0.75, 0.5, 0.25]
    assert curve["arrivals"].values.tolist() == [0, 1, 1, 1]
    found = analysis.time_to(data, 0.5)
    assert float(found["estimate"]) == 20
    assert float(found["high"]) == np.inf
    assert float(analysis.time_to(data, 0.5, probability=0.9)["estimate"]) == np.inf


def test_slopes_by_hand() -> None:
    times = np.array([1, 10, 100, 1000])
    rest = 0.5 * times**-1.5
    policy = np.stack([1 - rest, rest], axis=-1)
    two = np.stack([policy, policy[:, ::-1]])
    data = xr.Dataset(
        {
            "policy": (("run", "time", "arm"), two),
            "regret": (("run", "time"), np.sqrt([times] * 2)),
        },
        {"time": times, "arm": ["a", "b"]},
    )
    found = analysis.committal_rate(data, window=(1, 1000))
    assert float(found["estimate"]) == pytest.approx(1.5, rel=1e-9)
    assert found["arm_count"].values.tolist() == [1, 1]
    assert float(analysis.regret_exponent(data)["estimate"]) == pytest.approx(0.5, rel=1e-12)
    exponential = data.assign(policy=data["policy"] * 0)
    exponential["policy"].values[:] = np.stack([np.ones(4), np.exp(-0.01 * times)], axis=-1)
    found = analysis.committal_rate(exponential, against="time", window=(1, 1000))
    assert float(found["estimate"]) == pytest.approx(0.01, rel=1e-9)


def test_policies_that_underflowed_are_left_out() -> None:
    policy = np.zeros((3, 4, 2))
    policy[..., 0] = 1.0
    policy[0, :, 1] = [1e-1, 1e-2, 0.0, 0.0]
    data = xr.Dataset(
        {"policy": (("run", "time", "arm"), policy)},
        {"time": [1, 10, 100, 1000], "arm": ["a", "b"]},
    )
    found = analysis.committal_rate(data, window=(1, 1000))
    assert int(found["count"]) == 1
    assert float(found["estimate"]) == pytest.approx(1.0)
    assert np.isnan(float(found["low"]))


def test_comparing(data: xr.Dataset) -> None:
    found = cm.compare(data, "step_size", "failure", below=0.9)
    assert found["estimate"].dims == ("baseline", "step_size")
    assert found.sizes["step_size"] == 1
    rates = analysis.failure_rates(data, 0.9)["estimate"]
    np.testing.assert_allclose(
        found["estimate"].isel(step_size=0), rates.isel(step_size=1) - rates.isel(step_size=0)
    )
    other = cm.compare(data, "step_size", "failure", below=0.9, reference=0.1)
    np.testing.assert_allclose(other["estimate"].values, -found["estimate"].values)
    means = cm.compare(data, "baseline", reference="0.0")
    assert means["baseline"].values.tolist() == ["MinVariance()"]
    assert means.attrs["reference"] == "0.0"


def test_pairs_that_never_differ_still_have_an_interval() -> None:
    x = np.ones((2, 50, 1))
    data = xr.Dataset({"value": (("side", "run", "time"), x)}, {"side": ["x", "y"], "time": [1]})
    found = cm.compare(data, "side", "failure", below=0.5)
    assert float(found["low"][0]) < 0 < float(found["high"][0])


def test_unfinished_stores(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, GRID, runs=100, rng=0)
    whole = study.run(tmp_path, chunk=32, progress=False).load()
    for chunk in sorted((tmp_path / "chunks").iterdir())[1:3]:
        chunk.unlink()
    part = cm.open(tmp_path)
    missing = [part["count"].values.ravel()[0], *part["count"].values.ravel()[1:]]
    assert missing == [36, 100, 100, 100]
    rates = analysis.failure_rates(part, 0.9)
    assert int(rates["count"].values.ravel()[0]) == 36
    kept = whole["value"].values[0, 0, [*range(32), *range(96, 100)]]
    assert int(rates["failures"].values.ravel()[0]) == int((kept[:, -1] < 0.9).sum())
    curves = analysis.mean_curves(part)
    np.testing.assert_allclose(curves["estimate"].values[0, 0], kept.mean(axis=0), rtol=1e-12)
    for each in (
        analysis.survival(part, 0.9),
        analysis.mean_curves(part, method="bootstrap", resamples=50),
        analysis.quantiles(part),
        analysis.committal_rate(part),
        analysis.regret_exponent(part),
        analysis.policy_histogram(part),
        cm.compare(part, "baseline"),
    ):
        assert np.isfinite(each["estimate"].values).all()
    for chunk in sorted((tmp_path / "chunks").iterdir())[:2]:
        chunk.unlink()
    nothing = cm.open(tmp_path)
    assert int(nothing["count"].values.ravel()[0]) == 0
    rates = analysis.failure_rates(nothing, 0.9).isel(baseline=0, step_size=0)
    assert np.isnan(float(rates["estimate"]))
    assert (float(rates["low"]), float(rates["high"])) == (0.0, 1.0)
    assert np.isnan(analysis.mean_curves(nothing)["estimate"].values[0, 0]).all()
    assert np.isnan(analysis.survival(nothing, 0.9)["estimate"].values[0, 0]).all()
    assert np.isnan(analysis.quantiles(nothing)["estimate"].values[:, 0, 0]).all()


def test_bootstrap_is_reproducible(data: xr.Dataset) -> None:
    once = analysis.mean_curves(data, method="bootstrap", resamples=100, rng=3)
    again = analysis.mean_curves(data, method="bootstrap", resamples=100, rng=3)
    xr.testing.assert_identical(once, again)
    normal = analysis.mean_curves(data)
    np.testing.assert_allclose(
        (once.high - once.low).values[..., -1], (normal.high - normal.low).values[..., -1], rtol=0.4
    )


def test_answers_say_what_they_are(data: xr.Dataset) -> None:
    for each in (
        analysis.failure_rates(data, 0.9),
        analysis.mean_curves(data),
        analysis.quantiles(data),
        analysis.survival(data, 0.9),
        analysis.time_to(data, 0.9),
        analysis.committal_rate(data),
        analysis.regret_exponent(data),
        analysis.policy_histogram(data),
        cm.compare(data, "baseline"),
    ):
        assert each.attrs["level"] == 0.95
        assert {"estimate", "low", "high"} <= set(each.data_vars)
        assert {"baseline", "step_size"} <= set(each["estimate"].dims)
        assert bool((each["low"] <= each["high"]).all())
        assert each["baseline"].dtype == object


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: analysis.failure_rates(3, 0.9), "data = 3"),
        (lambda d: analysis.failure_rates(d), "below = None"),
        (lambda d: analysis.failure_rates(d, "x"), "below = 'x'"),
        (lambda d: analysis.failure_rates(d, 0.9, time=7), "time = 7 .* 0, 30"),
        (lambda d: analysis.failure_rates(d, 0.9, level=2), "level = 2"),
        (lambda d: analysis.failure_rates(d, 0.9, method="wald"), "method = 'wald'"),
        (lambda d: analysis.mean_curves(d, "entropy"), r"Record\('entropy'"),
        (lambda d: analysis.mean_curves(d, method="x"), "method = 'x'"),
        (lambda d: analysis.mean_curves(d, resamples=0), "resamples = 0"),
        (lambda d: analysis.quantiles(d, probabilities=[1.5]), "probabilities"),
        (lambda d: analysis.survival(d, None), "above = None"),
        (lambda d: analysis.survival(d.isel(time=[0]), 0.9), "at least 2 recorded times"),
        (lambda d: analysis.time_to(d, 0.9, probability=0), "probability = 0"),
        (lambda d: analysis.committal_rate(d, against="t"), "against = 't'"),
        (lambda d: analysis.committal_rate(d, window=(5, 3)), "window"),
        (lambda d: analysis.committal_rate(d, window=(1, 3)), "two recorded times"),
        (lambda d: analysis.regret_exponent(d, window=(1, 3)), "two recorded times"),
        (lambda d: analysis.policy_histogram(d, 0), "bins = 0"),
        (lambda d: cm.compare(d, "run"), "axis = 'run' .* 'baseline', 'step_size'"),
        (lambda d: cm.compare(d, "step_size", reference=7), "reference = 7"),
        (lambda d: cm.compare(d, "step_size", "entropy"), "quantity = 'entropy'"),
        (lambda d: cm.compare(d, "step_size", "failure"), "below = None"),
        (lambda d: cm.failure_rate(d, 0.9), "one configuration"),
    ],
)
def test_refuses_by_name(data: xr.Dataset, call: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        call(data)


def test_what_needs_every_run(reduced: xr.Dataset) -> None:
    for call in (
        lambda: analysis.survival(reduced, 0.9),
        lambda: analysis.committal_rate(reduced),
        lambda: analysis.mean_curves(reduced, method="bootstrap"),
        lambda: analysis.regret_exponent(reduced),
    ):
        with pytest.raises(ConfigError, match="without reduce"):
            call()
    with pytest.raises(ConfigError, match=r"recorded of every run|without reduce"):
        cm.compare(reduced, "baseline")


@pytest.mark.parametrize(
    ("both", "only_here", "only_there", "neither"),
    [(36, 12, 2, 10), (5, 20, 18, 7), (30, 3, 1, 400), (4, 1, 2, 1), (0, 9, 0, 50)],
)
def test_differences_of_paired_rates_by_hand(
    both: int, only_here: int, only_there: int, neither: int
) -> None:
    """Newcombe's interval: Wilson's of both rates, joined by a correlation that is not overdone."""
    here = np.repeat([0.0, 0.0, 1.0, 1.0], [both, only_here, only_there, neither])
    there = np.repeat([0.0, 1.0, 0.0, 1.0], [both, only_here, only_there, neither])
    estimate, low, high, n, _ = _rates(here, there, 0.5, 0.95)
    first, second = both + only_here, both + only_there
    assert n == len(here)
    assert estimate == pytest.approx((first - second) / n)
    p1, p2 = first / n, second / n
    low1, high1 = (float(x) for x in analysis.proportion_interval(first, n))
    low2, high2 = (float(x) for x in analysis.proportion_interval(second, n))
    covariance = both * neither - only_here * only_there
    if covariance > 0:
        covariance = max(covariance - n / 2, 0)
    scale = math.sqrt(first * (n - first) * second * (n - second))
    phi = covariance / scale if scale else 0.0
    down, up = p1 - low1, high1 - p1
    below = math.sqrt(down**2 - 2 * phi * down * (high2 - p2) + (high2 - p2) ** 2)
    above = math.sqrt(up**2 - 2 * phi * up * (p2 - low2) + (p2 - low2) ** 2)
    assert low == pytest.approx(estimate - below, rel=1e-12)
    assert high == pytest.approx(estimate + above, rel=1e-12)


def test_who_is_sure_of_the_best_arm_has_not_failed_for_good() -> None:
    e = cm.Experiment(
        cm.Bandit([1, 0]), cm.Softmax([0, 0]), cm.Natural(0.1), steps=1,
        record=cm.Record("value", "policy", every=1),
    )  # fmt: skip
    policy = np.array([[[0.995, 0.005]] * 2, [[0.005, 0.995]] * 2, [[0.5, 0.5]] * 2])
    data = cm.from_arrays(values=policy[..., 0], policy=policy, time=[0, 1], experiment=e)
    rates = cm.failure_rates(data, below=0.999)
    assert (int(rates["failures"]), int(rates["unfinished"])) == (3, 2)
