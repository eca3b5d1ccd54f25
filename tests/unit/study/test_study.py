"""Studies: every configuration is what `run` makes of it, however the work is cut and done."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import committal as cm
from committal.simulation.engine import Engine
from committal.study import costs
from committal.study.store.store import Store

ConfigError = cm.errors.ConfigError
ConfigTypeError = cm.errors.ConfigTypeError


@pytest.fixture(scope="module")
def base() -> cm.Experiment:
    return cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax([0, 3, 5]),
        update=cm.Natural(step_size=0.025),
        baseline=cm.MinVariance() + 0.5,
        steps=60,
        record=cm.Record("value", "policy", "theta", "action", every=20),
    )


@pytest.fixture(scope="module")
def reduced(base: cm.Experiment) -> cm.Experiment:
    reduce = cm.Reduce(below=0.9, quantiles=(0.5,), bins=32)
    return base.replace(record=cm.Record("value", "policy", every=20, reduce=reduce))


GRID: dict[Any, Any] = {"baseline": [cm.Value(), 0.5], "update.step_size": [0.05, 0.1, 0.2]}


def contents(store: Path) -> dict[str, bytes]:
    files = (file for file in store.rglob("*") if file.is_file())
    return {str(file.relative_to(store)): file.read_bytes() for file in files}


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


# -- stores and executors --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["per run", "reduced"])
def test_bytes_do_not_depend_on_who_computes(
    base: cm.Experiment, reduced: cm.Experiment, kind: str, tmp_path: Path
) -> None:
    study = cm.Study(base if kind == "per run" else reduced, GRID, runs=100, rng=0)
    in_memory = study.run(chunk=64, progress=False)
    study.run(tmp_path / "one", threads=1, chunk=64, progress=False)
    expected = contents(tmp_path / "one")
    study.run(tmp_path / "three", threads=3, chunk=64, progress=False)
    with ThreadPoolExecutor(2) as threads:
        study.run(tmp_path / "threads", threads, chunk=64, progress=False)
    with ProcessPoolExecutor(2) as processes:
        data = study.run(tmp_path / "processes", processes, 2, chunk=64, progress=False)
    for name in ("three", "threads", "processes"):
        assert contents(tmp_path / name) == expected, name
        assert cm.open(tmp_path / name).identical(in_memory)
    assert data.identical(in_memory)


def test_resuming_computes_only_what_is_missing(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, GRID, runs=100, rng=0)
    study.run(tmp_path, chunk=64, progress=False)
    expected = contents(tmp_path)
    chunks = sorted((tmp_path / "chunks").iterdir())
    chunks[3].unlink()
    before = {file: file.stat().st_mtime_ns for file in chunks if file.exists()}
    half = cm.open(tmp_path)
    assert int(half["count"].min()) in (36, 64)
    assert np.isnan(half["value"].values).any()
    assert (half["action"].values == -1).any()
    heard: list[tuple[int, int]] = []
    study.run(tmp_path, progress=lambda *both: heard.append(both))
    assert contents(tmp_path) == expected
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert heard[-1] == (heard[-1][1], heard[-1][1])
    assert heard[-1][1] in (36 * 60, 64 * 60)  # progress is about what was missing


def test_a_store_can_be_extended(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, GRID, runs=100, rng=0)
    study.run(tmp_path, chunk=64, progress=False)
    longer = study.replace(runs=150)
    assert longer.hash == study.hash
    data = longer.run(tmp_path, progress=False)
    assert data.identical(longer.run(chunk=64, progress=False))
    assert cm.open(tmp_path).identical(data)
    whole = tmp_path / "whole"
    longer.run(whole, chunk=64, progress=False)
    mine = contents(tmp_path)
    assert {k: mine[k] for k in contents(whole)} == contents(whole)
    with pytest.raises(cm.StoreError, match=r"made for 150 runs .* more than 100"):
        study.run(tmp_path, progress=False)
    with pytest.raises(ConfigError, match=r"chunk = 32 .* 64"):
        longer.run(tmp_path, chunk=32, progress=False)


def test_results_are_read_when_they_are_looked_at(
    base: cm.Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = cm.Study(base, GRID, runs=200, rng=0)
    whole = study.run(tmp_path, chunk=64, progress=False).load()
    read: list[Any] = []
    original = Store.read
    monkeypatch.setattr(Store, "read", lambda s, place: read.append(place) or original(s, place))  # type: ignore[func-returns-value]
    data = cm.open(tmp_path)
    assert read == []
    some = data["value"].isel(baseline=1, step_size=0, run=slice(70, 100)).values
    assert len(read) == 1
    np.testing.assert_array_equal(
        some, whole["value"].isel(baseline=1, step_size=0, run=slice(70, 100)).values
    )
    for chosen in (
        {"run": 3},
        {"run": [5, 199, 64], "time": -1},
        {"baseline": [1, 0], "step_size": 2, "arm": slice(None, None, -1)},
        {"time": np.array([0, 2]), "run": slice(None, None, 50)},
    ):
        np.testing.assert_array_equal(
            data["policy"].isel(chosen).values, whole["policy"].isel(chosen).values
        )


def test_no_axes_is_one_configuration(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, runs=10, rng=0)
    data = study.run(tmp_path, progress=False)
    assert data["value"].dims == ("run", "time")
    same_as_run(data, study, 10)


class Unreliable(Executor):
    """An executor whose workers die: every third task is lost, in some way."""

    def __init__(self, ways: list[BaseException]) -> None:
        self._ways = ways
        self._count = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._count += 1
        if self._count % 3 == 0:
            future.set_exception(self._ways[self._count % len(self._ways)])
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_lost_chunks_are_computed_again(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base, GRID, runs=100, rng=0)
    study.run(tmp_path / "good", chunk=16, progress=False)
    bad = Unreliable([ConnectionError("gone"), ValueError("too many values to unpack")])
    study.run(tmp_path / "bad", bad, chunk=16, progress=False)
    assert contents(tmp_path / "bad") == contents(tmp_path / "good")


def test_an_executor_that_never_works(base: cm.Experiment, tmp_path: Path) -> None:
    class Broken(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(ConnectionError("gone"))
            return future

    study = cm.Study(base, GRID, runs=10, rng=0)
    with pytest.raises(cm.ExecutorError, match=r"workers were lost .* ConnectionError: gone"):
        study.run(executor=Broken(), progress=False)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(cm.ExecutorError, match="takes no more work"):
        study.run(tmp_path, pool, progress=False)


def test_a_pool_whose_process_was_killed(
    base: cm.Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = cm.Study(base, GRID, runs=10, rng=0)
    with ProcessPoolExecutor(1) as pool:
        pool.submit(os.getpid).result()
        process = next(iter(pool._processes.values()))
        process.kill()
        process.join()
        with pytest.raises(cm.ExecutorError, match="kept in the store"):
            study.run(tmp_path, pool, progress=False)
    study.run(tmp_path, progress=False)  # the store is fine


def test_errors_of_chunks_come_through(
    base: cm.Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(self: Engine, **options: Any) -> Any:
        raise ConfigError("record.reduce", None, "numbers that can be summed")

    monkeypatch.setattr(Engine, "compute", compute)
    study = cm.Study(base, GRID, runs=10, rng=0)
    with pytest.raises(ConfigError, match=r"record\.reduce"):
        study.run(progress=False)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ConfigError, match=r"record\.reduce"):
        study.run(executor=pool, progress=False)


def test_interrupting_keeps_what_is_finished(base: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(base.replace(steps=2000), GRID, runs=3000, rng=0)

    def stop(done: int, total: int) -> None:
        if done > total / 4:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        study.run(tmp_path, chunk=256, progress=stop)
    assert threading.active_count() == before
    kept = Store.open(tmp_path).inventory(verify=True)
    assert 0 < len(kept.chunks) < 72
    assert kept.damaged == {}


def test_interrupting_is_quick(base: cm.Experiment) -> None:
    long = cm.Study(base.replace(steps=10**6, record=cm.Record("value")), GRID, runs=1000, rng=0)
    begin = time.monotonic()

    def stop(done: int, total: int) -> None:
        if time.monotonic() > begin + 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        long.run(progress=stop)
    assert time.monotonic() - begin < 2.0


# -- precision -------------------------------------------------------------------------------------


def test_stops_where_it_is_precise(reduced: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(reduced.replace(steps=400), GRID, runs=20_000, rng=0)
    until = cm.Precision("failure", half_width=0.05)
    data = study.run(tmp_path, until=until, progress=False)
    assert (data["until_reached"] == 1).all()
    assert (data["until_high"] - data["until_low"] <= 0.1).all()
    counts = data["count"].values
    assert counts.max() < 20_000
    assert counts.min() < counts.max()
    # The estimates are those of the runs that were made.
    for configuration in study:
        here = data.sel(configuration.labels)
        one = cm.run(configuration.experiment, runs=int(here["count"]), rng=0)
        assert float(here["until_estimate"]) == float(cm.failure_rate(one))
        np.testing.assert_array_equal(here["failures"].values, one["failures"].values)
    assert cm.open(tmp_path).identical(data)
    assert cm.failure_rates(data).attrs["method"] == "sequential"
    with ProcessPoolExecutor(2) as processes:
        study.run(tmp_path / "other", processes, until=until, progress=False)
    mine = contents(tmp_path)
    assert {k: mine[k] for k in contents(tmp_path / "other")} == contents(tmp_path / "other")


def test_resuming_until_precise_decides_the_same(reduced: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(reduced.replace(steps=400), GRID, runs=20_000, rng=0)
    until = cm.Precision("failure", half_width=0.05)
    study.run(tmp_path, until=until, progress=False)
    expected = contents(tmp_path)
    (tmp_path / "outcome.json").unlink()
    for chunk in sorted((tmp_path / "chunks").iterdir())[::3]:
        chunk.unlink()
    unfinished = cm.open(tmp_path)
    assert "until_reached" not in unfinished
    study.run(tmp_path, until=until, progress=False)
    assert contents(tmp_path) == expected
    # A narrower question to the same store adds to it.
    narrower = study.run(tmp_path, until=cm.Precision("failure", half_width=0.03), progress=False)
    assert int(narrower["count"].sum()) > sum(json.loads(expected["outcome.json"])["runs"])


@pytest.mark.parametrize("kind", ["per run", "reduced"])
def test_precision_of_means(base: cm.Experiment, reduced: cm.Experiment, kind: str) -> None:
    experiment = (base if kind == "per run" else reduced).replace(steps=200)
    study = cm.Study(experiment, {"baseline": [cm.Value(), 0.5]}, runs=20_000, rng=0)
    data = study.run(until=cm.Precision("value", half_width=0.02), progress=False)
    assert (data["until_reached"] == 1).all()
    for configuration in study:
        here = data.sel(configuration.labels)
        assert int(here["count"]) < 20_000
        assert float(here["until_low"]) < float(here["until_estimate"])
        exact = cm.run(configuration.experiment, runs=20_000, rng=1)
        mean = exact["value"].mean("run") if kind == "per run" else exact["value_mean"]
        assert float(here["until_low"]) < float(mean[-1]) < float(here["until_high"])


def test_relative_precision_that_cannot_be_reached(reduced: cm.Experiment) -> None:
    study = cm.Study(reduced, {}, runs=500, rng=0)
    until = cm.Precision("failure", half_width=0.001, relative=True)
    data = study.run(until=until, progress=False)
    assert int(data["count"]) == 500
    assert int(data["until_reached"]) == 0


@pytest.mark.parametrize(
    ("record", "until", "message"),
    [
        (cm.Record("value"), cm.Precision("failure", 0.1), r"until\.below = None"),
        (cm.Record("policy"), cm.Precision("failure", 0.1, below=0.9), r"until\.below .*Record"),
        (cm.Record("value", reduce=cm.Reduce()), cm.Precision("failure", 0.1), "Reduce"),
        (
            cm.Record("value", reduce=cm.Reduce(below=0.9)),
            cm.Precision("failure", 0.1, below=0.8),
            r"until\.below = 0\.8 .* 0\.9",
        ),
        (cm.Record("value"), cm.Precision("entropy", 0.1), r"until\.quantity = 'entropy'"),
        (cm.Record("policy"), cm.Precision("policy", 0.1), r"until\.quantity = 'policy'"),
        (cm.Record("regret"), cm.Precision("regret", 0.1), "known bounds"),
    ],
)
def test_precision_of_what_is_not_known(
    base: cm.Experiment, record: cm.Record, until: cm.Precision, message: str
) -> None:
    study = cm.Study(base.replace(record=record), runs=100, rng=0)
    with pytest.raises(ConfigError, match=message):
        study.run(until=until, progress=False)


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


@pytest.mark.parametrize("name", ["data.nc", "data.zarr"])
def test_export(base: cm.Experiment, tmp_path: Path, name: str) -> None:
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    study = cm.Study(base, GRID, runs=7, rng=0)
    data = study.run(tmp_path / "store", until=cm.Precision("value", 0.5), progress=False)
    cm.export(data, tmp_path / name)
    engine = "zarr" if name.endswith("zarr") else None
    options = {"consolidated": False} if engine else {}
    with xr.open_dataset(tmp_path / name, engine=engine, **options) as loaded:  # type: ignore[arg-type]
        xr.testing.assert_equal(loaded.load(), data.load())
        assert cm.study_of(loaded) == study
    with pytest.raises(cm.StoreError, match="exists already"):
        cm.export(data, tmp_path / name)


def test_export_in_pieces(
    base: cm.Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask")
    monkeypatch.setattr("committal.interop.export.available_memory", lambda: 10_000)
    data = cm.Study(base, GRID, runs=70, rng=0).run(tmp_path / "store", progress=False)
    cm.export(data, tmp_path / "data.nc")
    with xr.open_dataset(tmp_path / "data.nc") as loaded:
        xr.testing.assert_equal(loaded.load(), data.load())


def test_export_refuses(base: cm.Experiment, tmp_path: Path) -> None:
    data = cm.run(base, runs=2, rng=0)
    with pytest.raises(ConfigError, match=r"\.nc or \.zarr"):
        cm.export(data, tmp_path / "data.csv")
    with pytest.raises(cm.StoreError):
        cm.export(data, tmp_path / "nowhere" / "data.nc")
