"""Whoever computes, and whatever happens to them: the bytes of a store are the same."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.simulation.engine import Engine
from committal.study.flight import InFlight
from committal.study.store.store import Store

ConfigError = cm.errors.ConfigError
Contents = Callable[[Path], dict[str, bytes]]

GRID = {"baseline": [cm.Value(), 0.5], "update.step_size": [0.05, 0.1, 0.2]}


@pytest.mark.parametrize("kind", ["per run", "reduced"])
def test_bytes_do_not_depend_on_who_computes(
    base: cm.Experiment, reduced: cm.Experiment, kind: str, tmp_path: Path, contents: Contents
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


def test_resuming_computes_only_what_is_missing(
    base: cm.Experiment, tmp_path: Path, contents: Contents
) -> None:
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


def test_a_store_can_be_extended(base: cm.Experiment, tmp_path: Path, contents: Contents) -> None:
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


def test_a_coarse_map_is_there_early(
    base: cm.Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    original = Store.packed

    def note(store: Store, place: Any, *others: Any) -> bytes:
        written.append(place.configuration)
        return original(store, place, *others)

    monkeypatch.setattr(Store, "packed", note)
    cm.Study(base, GRID, runs=64 * 5, rng=0).run(tmp_path, threads=1, chunk=64, progress=False)
    assert written[:6] == written[6:12] == list(range(6))
    assert written[12:16] == [0, 0, 1, 1]


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


def test_lost_chunks_are_computed_again(
    base: cm.Experiment, tmp_path: Path, contents: Contents
) -> None:
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


def test_what_is_finished_when_something_goes_wrong_is_handed_over() -> None:
    def work(task: int) -> int:
        if task == 1:
            raise ValueError("a task that failed is not a result")
        return 10 * task

    begun = threading.Event()
    end = threading.Event()

    def held() -> None:
        begun.set()
        assert end.wait(30)

    with ThreadPoolExecutor(1) as pool:
        flight = InFlight(pool, work, window=9)
        for task in range(3):
            flight.submit(task)
        wait(flight._tasks)
        pool.submit(held)
        assert begun.wait(30)
        flight.submit(3)  # has not begun, and never will
        assert sorted(flight.drain()) == [(0, 0), (2, 20)]
        assert len(flight) == 0
        end.set()


def test_what_is_drained_is_written(
    base: cm.Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two chunks are done before anybody looks; then nobody can look any more."""

    def collect(self: InFlight[Any, Any], timeout: float) -> Any:
        wait(self._tasks)
        raise KeyboardInterrupt

    monkeypatch.setattr(InFlight, "collect", collect)
    study = cm.Study(base, runs=100, rng=0)
    with ThreadPoolExecutor(2) as pool, pytest.raises(KeyboardInterrupt):
        study.run(tmp_path, executor=pool, chunk=50, progress=False)
    assert len(Store.open(tmp_path).inventory(verify=True).chunks) == 2


def test_interrupting_is_quick(base: cm.Experiment) -> None:
    long = cm.Study(base.replace(steps=10**6, record=cm.Record("value")), GRID, runs=1000, rng=0)
    begin = time.monotonic()

    def stop(done: int, total: int) -> None:
        if time.monotonic() > begin + 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        long.run(progress=stop)
    assert time.monotonic() - begin < 2.0
