"""Studies: every configuration is what `run` makes of it, however the work is cut and done."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import committal as cm
from committal.study import costs

ConfigError = cm.errors.ConfigError
Contents = Callable[[Path], dict[str, bytes]]


GRID = {"baseline": [cm.Value(), 0.5], "update.step_size": [0.05, 0.1, 0.2]}


def same_as_run(data: xr.Dataset, study: cm.Study, runs: int) -> None:
    for configuration in study:
        one = cm.run(configuration.experiment, runs=runs, rng=0)
        here = data.sel(configuration.labels)
        for name, variable in one.data_vars.items():
            np.testing.assert_array_equal(here[name].values, variable.values)
            assert here[name].dims == variable.dims


@pytest.mark.parametrize("chunk", [None, 64, 7])
def test_is_what_run_makes(base: cm.Experiment, chunk: int | None) -> None:
    study = cm.Study(base, GRID, runs=100, rng=0)
    data = study.run(chunk=chunk, progress=False)
    assert data["value"].dims == ("baseline", "step_size", "run", "time")
    assert data["action"].dtype == np.int32
    assert (data["count"] == 100).all()
    same_as_run(data, study, 100)


@pytest.mark.parametrize("chunk", [None, 64, 7])
def test_reduced_is_what_run_makes(reduced: cm.Experiment, chunk: int | None) -> None:
    study = cm.Study(reduced, GRID, runs=100, rng=0)
    data = study.run(chunk=chunk, progress=False)
    assert data["value_mean"].dims == ("baseline", "step_size", "time")
    same_as_run(data, study, 100)


def test_markov_decision_processes_too() -> None:
    base = cm.Experiment(
        problem=cm.maps.five_by_five(),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(),
        baseline=cm.MinVariance(),
        steps=5,
        record=cm.Record("return", "policy", "goal", every=5),
    )
    study = cm.Study(base, {"baseline": [cm.Value(), cm.MinVariance() - 0.5]}, runs=20, rng=0)
    same_as_run(study.run(progress=False, chunk=8), study, 20)


def test_common_and_independent_random_numbers(base: cm.Experiment) -> None:
    grid = {"start": {"a": {"steps": 60}, "b": {"steps": 80}}}
    at_start = base.replace(record=cm.Record("action", at=[0]))
    common = cm.Study(at_start, grid, runs=50, rng=0).run(progress=False)["action"]
    assert (common.isel(start=0) == common.isel(start=1)).all()
    study = cm.Study(at_start, grid, runs=50, rng=0, independent=True)
    own = study.run(progress=False)["action"]
    assert not (own.isel(start=0) == own.isel(start=1)).all()
    for i in range(2):
        one = cm.run(study[i].experiment, runs=50, rng=0, independent=True)
        np.testing.assert_array_equal(own.isel(start=i).values, one["action"].values)


def test_no_axes_is_one_configuration(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, runs=10, rng=0)
    data = study.run(tmp_path, progress=False)
    assert data["value"].dims == ("run", "time")
    same_as_run(data, study, 10)


# -- different shapes ------------------------------------------------------------------------------


def test_times_may_differ(base: cm.Experiment, tmp_path: Path) -> None:
    grid = {"setting": {"short": {"steps": 40}, "long": {"steps": 90}}}
    study = cm.Study(base, grid, runs=20, rng=0)
    data = study.run(tmp_path, progress=False).load()
    assert data["time"].values.tolist() == [0, 20, 40, 60, 80, 90]
    assert data["final_time"].values.tolist() == [40, 90]
    assert np.isnan(data["value"].sel(setting="short", time=60)).all()
    assert (data["action"].sel(setting="short", time=60) == -1).all()
    for configuration in study:
        one = cm.run(configuration.experiment, runs=20, rng=0)
        here = data.sel(configuration.labels).sel(time=one["time"])
        np.testing.assert_array_equal(here["value"].values, one["value"].values)
    rates = cm.failure_rates(data, below=0.9)
    for configuration in study:
        one = cm.run(configuration.experiment, runs=20, rng=0)
        expected = cm.failure_rate(one, 0.9)
        assert float(rates["estimate"].sel(configuration.labels)) == float(expected)
        assert cm.failure_rate(data.sel(configuration.labels), 0.9) == expected


def test_reduced_times_may_differ(reduced: cm.Experiment) -> None:
    grid = {"setting": {"short": {"steps": 40}, "long": {"steps": 90}}}
    data = cm.Study(reduced, grid, runs=20, rng=0).run(progress=False)
    assert np.isnan(data["value_mean"].sel(setting="short", time=60))
    assert int(data["failures"].sel(setting="short", time=60)) == -1
    rates = cm.failure_rates(data)
    assert (rates["count"] == 20).all()
    assert int(cm.failure_rates(data, time=60)["count"].sel(setting="short")) == 0


def test_problems_may_differ(base: cm.Experiment) -> None:
    problems = [cm.Bandit([1.0, 0.7, 0.0]), cm.Bandit([1.0, 0.2, 0.0], names=["a", "b", "c"])]
    reduce = cm.Reduce(bins=8)
    record = cm.Record("value", "policy", reduce=reduce)
    study = cm.Study(base.replace(record=record), {"problem": problems}, runs=5, rng=0)
    data = study.run(progress=False)
    assert data["arm"].values.tolist() == [0, 1, 2]
    assert data["value_bin_left"].dims == ("problem", "bin") or (
        data["value_bin_left"].dims == ("bin",)
    )
    two = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=5)
    grid = {"problem": [cm.Bandit([1, 0]), cm.Bandit([1, 0.5, 0])]}
    with pytest.raises(ConfigError, match=r"grid at .*: policy = .* the shape of the first"):
        cm.Study(two, grid, runs=5, rng=0).run(progress=False)
    values = two.replace(record=cm.Record("value"))
    assert cm.Study(values, grid, runs=5, rng=0).run(progress=False)["value"].shape == (2, 5, 1)


def test_records_may_not_differ(base: cm.Experiment) -> None:
    grid = {"record": [cm.Record("value"), cm.Record("policy")]}
    with pytest.raises(ConfigError, match="the same quantities"):
        cm.Study(base, grid, runs=5, rng=0)


# -- the object ------------------------------------------------------------------------------------


def test_iterates_and_prints(base: cm.Experiment) -> None:
    study = cm.Study(base, GRID, runs=100, rng=0)
    assert len(study) == 6
    assert [c.index for c in study] == list(range(6))
    assert study[-1].labels == {"baseline": "0.5", "step_size": 0.2}
    assert study[4].experiment.update == cm.Natural(0.1)
    text = str(study)
    assert text.startswith("6 configurations of 100 runs")
    for part in (
        "baseline",
        "Value(), 0.5",
        "updates  36 000",
        "time     about",
        "memory",
        "store",
    ):
        assert part in text
    assert "6 configurations (baseline: 2, step_size: 3) × 100 runs" in repr(study)


def test_estimates_are_of_the_right_size(base: cm.Experiment) -> None:
    long = base.replace(steps=1000, record=cm.Record("value"))
    study = cm.Study(long, GRID, runs=4000, rng=0)
    cost = study.estimate(threads=1)
    assert cost.updates == 6 * 4000 * 1000
    assert cost.memory == 6 * 4000 * 8
    begin = time.perf_counter()
    study.run(threads=1, progress=False)
    assert 1 / 8 < cost.seconds / (time.perf_counter() - begin) < 8
    assert study.estimate(threads=1) is cost


def test_large_tables_are_cut() -> None:
    exp = cm.Experiment(
        cm.Bandit([1, 0]),
        cm.Softmax(),
        cm.Natural(0.1),
        steps=10,
        record=cm.Record("value", at=[3]),
    )
    study = cm.Study(exp, {"update.step_size": np.linspace(0.1, 1, 100)}, runs=5, rng=0)
    assert str(study).count("\n") < 40
    assert "…" in str(study)


def test_chunks_do_not_depend_on_the_machine(base: cm.Experiment) -> None:
    from committal.config.grid import Grid

    long = base.replace(steps=1000)
    assert costs.chunk_size(Grid(long), 10**6) % 64 == 0
    assert costs.chunk_size(Grid(long), 10) == 10
    assert costs.chunk_size(Grid(long), 10**5, 64) == 1536
    heavy = cm.Experiment(
        cm.maps.four_rooms(), cm.Softmax(), cm.Natural(0.1), estimator=cm.ExactQ(), steps=1000
    )
    assert costs.chunk_size(Grid(heavy), 10**6) == 64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "runs = 0"),
        ({"runs": 1.5}, r"runs = 1\.5"),
        ({"runs": True}, "runs = True"),
        ({"runs": 10, "rng": -1}, "rng = -1"),
        ({"runs": 10, "independent": 1}, "independent = 1"),
    ],
)
def test_refuses_by_name(base: cm.Experiment, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        cm.Study(base, GRID, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0}, "threads = 0"),
        ({"executor": 3}, "executor = 3"),
        ({"until": 0.1}, r"until = 0\.1"),
        ({"chunk": 0}, "chunk = 0"),
        ({"progress": "yes"}, "progress = 'yes'"),
    ],
)
def test_run_refuses_by_name(base: cm.Experiment, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        cm.Study(base, GRID, runs=10, rng=0).run(**{"progress": False, **arguments})


def test_refuses_what_does_not_fit_into_memory(
    base: cm.Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("committal.study.study.available_memory", lambda: 10_000)
    with pytest.raises(ConfigError, match=r"store = None .* a directory"):
        cm.Study(base, GRID, runs=1000, rng=0).run(progress=False)


def test_the_way_back(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, GRID, runs=7, rng=[1, 2, 3])
    data = study.run(progress=False)
    assert cm.study_of(data) == study
    data.to_netcdf(tmp_path / "data.nc")
    with xr.open_dataset(tmp_path / "data.nc") as loaded:
        again = cm.study_of(loaded)
    assert again == study
    assert again.stream == study.stream
    assert again.run(progress=False).identical(data)
    for configuration in study:
        one = data.sel(configuration.labels)
        assert cm.experiment_of(one) == configuration.experiment
    with pytest.raises(ConfigError, match=r"step_size = None .* one point"):
        cm.experiment_of(data.isel(baseline=0))
    with pytest.raises(ConfigError, match="attribute 'study'"):
        cm.study_of(xr.Dataset())
    with pytest.raises(ConfigError, match="data = 3"):
        cm.study_of(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="study"):
        cm.Study.from_dict({"kind": "study"})


@pytest.mark.parametrize("reuse", [3, "x\0y"])
def test_a_store_to_reuse_is_blamed_by_its_name(reuse: Any, three_arms: cm.Experiment) -> None:
    study = cm.Study(three_arms.replace(steps=5), {"steps": [5, 6]}, runs=2, rng=0)
    with pytest.raises(cm.ConfigError, match=r"^reuse = "):
        study.run(reuse=reuse)


def test_shared_and_independent_numbers_make_two(base: cm.Experiment, tmp_path: Path) -> None:
    shared, independent = (
        cm.Study(base, GRID, runs=10, rng=0, independent=choice) for choice in (False, True)
    )
    assert shared != independent
    assert shared.hash != independent.hash
    shared.run(tmp_path, progress=False)
    with pytest.raises(cm.StoreError, match="independent"):
        independent.run(tmp_path, progress=False)
