"""Exact sums, quantiles and labelled datasets."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import committal as cm
from committal.inference.exact_sums import Histogram, exact_sums, moments

BASE = -2176
LIMBS = 140


def limbs_of(numbers: list[float]) -> npt.NDArray[np.int64]:
    """Accumulate Σx and Σx² digit by digit, without ever carrying: int64[2, limb]."""
    result = np.zeros((2, LIMBS), np.int64)
    for number in numbers:
        for row, x in enumerate((Fraction(number), Fraction(number) ** 2)):
            scaled = abs(x) * Fraction(2) ** -BASE
            assert scaled.denominator == 1
            digits, i = int(scaled), 0
            while digits:
                digit = digits & 0xFFFF_FFFF
                result[row, i] += digit if x > 0 else -digit
                digits >>= 32
                i += 1
    return result


finite = st.floats(-1e150, 1e150, allow_nan=False)


@given(st.lists(finite, min_size=2, max_size=20))
@settings(max_examples=60, deadline=None)
def test_moments_are_the_exact_ones_rounded(numbers: list[float]) -> None:
    found = moments(limbs_of(numbers), len(numbers), BASE)
    exact = [Fraction(x) for x in numbers]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / (len(exact) - 1)
    assert float(found.mean) == float(mean)
    if variance == 0:
        assert float(found.std) == 0.0
    else:
        assert Fraction(float(found.std)) ** 2 / variance == pytest.approx(1, rel=1e-14)
    assert float(found.sem) == pytest.approx(float(found.std) / math.sqrt(len(numbers)), rel=1e-15)


def test_no_digit_is_lost_to_cancellation() -> None:
    numbers = [1e9 + x for x in (1e-6, 2e-6, 3e-6)]
    found = moments(limbs_of(numbers), 3, BASE)
    assert float(found.std) == pytest.approx(
        float(np.std(np.array(numbers) - 1e9, ddof=1)), rel=1e-9
    )
    # The mean of 0.1 three times is 0.1, which floating-point sums miss.
    assert float(moments(limbs_of([0.1] * 3), 3, BASE).mean) == 0.1
    assert float(moments(limbs_of([0.1] * 3), 3, BASE).std) == 0.0


def test_tiny_and_huge_deviations_survive() -> None:
    assert float(moments(limbs_of([3e-200, -3e-200]), 2, BASE).std) == pytest.approx(
        3e-200 * math.sqrt(2)
    )
    assert float(moments(limbs_of([3e149, -3e149]), 2, BASE).std) == pytest.approx(
        3e149 * math.sqrt(2)
    )


def test_sums_add_in_any_order() -> None:
    rng = np.random.default_rng(0)
    numbers = list(rng.normal(size=50) * 10.0 ** rng.integers(-30, 30, 50))
    whole = limbs_of(numbers)
    assert_array_equal(whole, limbs_of(numbers[30:]) + limbs_of(numbers[:30]))
    assert exact_sums(whole).tolist() == exact_sums(limbs_of(numbers[::-1])).tolist()


def test_limbs_may_use_all_bits() -> None:
    most, least = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    for limbs in ([most] * 3, [least] * 3, [most, least, most], [-1, -1, -1], [0, 0, least]):
        expected = sum(int(limb) << (32 * i) for i, limb in enumerate(limbs))
        assert exact_sums(np.array([limbs], np.int64)).tolist() == [expected]


def test_few_runs_have_no_deviation() -> None:
    none = moments(limbs_of([]), 0, BASE)
    assert np.isnan([none.mean, none.std, none.sem]).all()
    one = moments(limbs_of([2.5]), 1, BASE)
    assert float(one.mean) == 2.5
    assert np.isnan([one.std, one.sem]).all()


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_quantiles_are_within_a_bin(numbers: list[float], probabilities: list[float]) -> None:
    bins = 64
    x = np.array(numbers)
    cell = np.where(x == 1.0, bins, np.floor(x * bins).astype(int) + 1)
    counts = np.bincount(cell, minlength=bins + 2).reshape(1, 1, -1)
    found = Histogram(counts, 0.0, 1.0).quantiles(probabilities)[:, 0, 0]
    for q, p in zip(found, probabilities, strict=True):
        # The order statistics on either side of p·n, a bin's width apart from the quantile.
        ordered = np.sort(x)
        lower = ordered[max(math.ceil(p * len(x) - 1e-9) - 1, 0)]
        upper = ordered[min(math.floor(p * len(x) + 1e-9), len(x) - 1)]
        assert lower - 1 / bins - 1e-12 <= q <= upper + 1 / bins + 1e-12


def test_quantiles_outside_of_the_range_are_infinite() -> None:
    counts = np.array([[[3, 0, 2, 0, 5]]])
    below, inside, above = Histogram(counts, 0.0, 3.0).quantiles([0.2, 0.4, 0.9])[:, 0, 0]
    assert below == -np.inf
    assert 1 <= inside <= 2
    assert above == np.inf
    assert np.isnan(Histogram(np.zeros((1, 1, 4), np.int64), 0, 1).quantiles([0.5])).all()


# --------------------------------------------------------------------------------- datasets

ALL = ("value", "policy", "theta", "baseline", "entropy", "action", "reward", "regret",
       "variance", "distance")  # fmt: skip


@pytest.fixture(scope="module")
def experiment() -> cm.Experiment:
    return cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0], names=["best", "second", "worst"]),
        policy=cm.Softmax([0, 3, 5]),
        update=cm.Natural(step_size=0.025),
        baseline=cm.MinVariance() + 0.5,
        steps=20,
        record=cm.Record("value", "policy", every=10),
    )


def test_labels(experiment: cm.Experiment) -> None:
    data = cm.run(experiment.replace(record=cm.Record(*ALL, every=10)), runs=4, rng=0, first_run=7)
    assert dict(data.sizes) == {"run": 4, "time": 3, "arm": 3}
    assert data["run"].values.tolist() == [7, 8, 9, 10]
    assert data["time"].values.tolist() == [0, 10, 20]
    assert data["arm"].values.tolist() == ["best", "second", "worst"]
    for name in ALL:
        expected = ("run", "time", "arm") if name in ("policy", "theta") else ("run", "time")
        assert data[name].dims == expected, name
        assert data[name].attrs["long_name"], name
    assert data["action"].dtype == np.int32


def test_by_default_only_the_end_is_kept(experiment: cm.Experiment) -> None:
    data = cm.run(experiment.replace(record=cm.Record()), runs=2, rng=0)
    assert set(data.data_vars) == {"value", "policy"}
    assert data["time"].values.tolist() == [20]


def test_samples_have_a_dimension_when_there_are_several(experiment: cm.Experiment) -> None:
    batch = experiment.replace(
        estimator=cm.OneSample(samples=4), record=cm.Record("action", "reward", every=5)
    )
    data = cm.run(batch, runs=2, rng=0)
    assert data["action"].dims == data["reward"].dims == ("run", "time", "sample")
    assert data.sizes["sample"] == 4


def test_sigmoid_has_one_parameter() -> None:
    two = cm.Experiment(
        cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), cm.Constant(-1.0),
        steps=5, record=cm.Record("theta", "policy", every=1),
    )  # fmt: skip
    data = cm.run(two, runs=3, rng=0)
    assert data["theta"].dims == ("run", "time")
    assert data["theta"].values[:, 0].tolist() == [-1.0] * 3
    reduced = cm.run(
        two.replace(record=cm.Record("theta", every=1, reduce=cm.Reduce())), runs=3, rng=0
    )
    assert reduced["theta_mean"].dims == ("time",)


def test_attributes_rebuild_the_experiment(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=2, rng=5)
    assert cm.experiment_of(data) == experiment
    assert data.attrs["experiment_hash"] == experiment.hash
    assert data.attrs["committal_version"] == cm.__version__
    assert all(isinstance(value, str | int) for value in data.attrs.values())
    with pytest.raises(cm.errors.ConfigError, match="experiment"):
        cm.experiment_of(data.drop_attrs())
    with pytest.raises(cm.errors.ConfigTypeError, match="data = 3"):
        cm.experiment_of(3)  # type: ignore[arg-type]


REDUCE = cm.Reduce(below=0.9, quantiles=(0.1, 0.5, 0.9))


def test_reduced_runs_match_runs(experiment: cm.Experiment) -> None:
    names = ("value", "policy", "entropy")
    data = cm.run(experiment.replace(record=cm.Record(*names, every=10)), runs=40, rng=0)
    record = cm.Record(*names, every=10, reduce=REDUCE)
    reduced = cm.run(experiment.replace(record=record), runs=40, rng=0)
    assert "run" not in reduced.dims
    assert int(reduced["count"]) == reduced.attrs["runs"] == 40
    for name in names:
        values = data[name].values
        exact = np.vectorize(math.fsum, signature="(n)->()")(np.moveaxis(values, 0, -1)) / 40
        np.testing.assert_allclose(reduced[f"{name}_mean"].values, exact, rtol=3e-16)
        std = values.std(axis=0, ddof=1)
        np.testing.assert_allclose(reduced[f"{name}_std"].values, std, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(
            reduced[f"{name}_sem"].values, std / math.sqrt(40), rtol=1e-10, atol=1e-15
        )
        histogram = reduced[f"{name}_histogram"]
        assert (histogram.sum("bin") == 40).all()
    assert reduced["policy_mean"].dims == ("time", "arm")
    assert reduced["value_quantile"].dims == ("quantile", "time")
    assert reduced["policy_quantile"].dims == ("quantile", "time", "arm")
    assert reduced["policy_histogram"].dims == ("time", "arm", "bin")
    assert reduced["quantile"].values.tolist() == [0.1, 0.5, 0.9]
    assert reduced["value_bin_left"].values[1] == pytest.approx(0.0, abs=1e-8)
    assert reduced["value_bin_right"].values[-2] == pytest.approx(1.0, abs=1e-8)
    assert_array_equal(reduced["failures"].values, (data["value"].values < 0.9).sum(axis=0))
    assert reduced["failures"].attrs["below"] == 0.9
    assert reduced["failures"].attrs["runs"] == 40


def test_reduced_quantiles_are_within_a_bin(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=200, rng=0)
    record = cm.Record("value", every=10, reduce=cm.Reduce(quantiles=(0.1, 0.5, 0.9)))
    reduced = cm.run(experiment.replace(record=record), runs=200, rng=0)
    expected = np.quantile(data["value"].values, [0.1, 0.5, 0.9], axis=0, method="inverted_cdf")
    found = reduced["value_quantile"].values
    assert np.abs(found - expected).max() < 2 / 1024 + 5e-3


@pytest.mark.parametrize(("theta", "cell"), [([0, 800], 1), ([800, 0], 4), ([0, 0], 3)])
def test_the_ends_of_a_range_are_inside_of_it(theta: list[float], cell: int) -> None:
    """Values of exactly 0 and 1, and at an edge between two cells, in four cells of [0, 1]."""
    record = cm.Record("value", reduce=cm.Reduce(bins=4, range=(0.0, 1.0)))
    certain = cm.Experiment(
        cm.Bandit([1, 0]), cm.Softmax(theta), cm.Natural(0.1), steps=0, record=record
    )
    counts = cm.run(certain, runs=70, rng=0)["value_histogram"].values[0]
    assert counts.tolist() == [70 * (i == cell) for i in range(6)]


def test_nothing_to_reduce(experiment: cm.Experiment) -> None:
    record = cm.Record("value", every=10, reduce=REDUCE)
    empty = cm.run(experiment.replace(record=record), runs=0, rng=0)
    assert np.isnan(empty["value_mean"].values).all()
    assert empty["failures"].values.tolist() == [0, 0, 0]
    assert int(empty["count"]) == 0


@pytest.mark.parametrize("reduce", [None, REDUCE], ids=["runs", "reduced"])
def test_survives_netcdf(
    experiment: cm.Experiment, reduce: cm.Reduce | None, tmp_path: Path
) -> None:
    pytest.importorskip("netCDF4")
    xr = pytest.importorskip("xarray")
    record = cm.Record("value", "policy", every=10, reduce=reduce)
    data = cm.run(experiment.replace(record=record), runs=3, rng=0)
    data.to_netcdf(tmp_path / "data.nc")
    with xr.open_dataset(tmp_path / "data.nc") as stored:
        loaded = stored.load()
    xr.testing.assert_equal(loaded, data)
    assert cm.experiment_of(loaded) == cm.experiment_of(data)
    assert loaded.attrs == data.attrs
    assert cm.failure_rate(loaded, 0.9) == cm.failure_rate(data, 0.9)


@pytest.mark.parametrize("reduce", [None, REDUCE], ids=["runs", "reduced"])
def test_survives_zarr(experiment: cm.Experiment, reduce: cm.Reduce | None, tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    xr = pytest.importorskip("xarray")
    record = cm.Record("value", "policy", every=10, reduce=reduce)
    data = cm.run(experiment.replace(record=record), runs=3, rng=0)
    data.to_zarr(tmp_path / "data.zarr", consolidated=False)
    loaded = xr.open_zarr(tmp_path / "data.zarr", consolidated=False).load()
    xr.testing.assert_equal(loaded, data)
    assert cm.experiment_of(loaded) == cm.experiment_of(data)
