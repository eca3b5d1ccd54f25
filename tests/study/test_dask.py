"""Workers in other processes, some of which are killed: the bytes stay the same."""

from __future__ import annotations

import logging
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import committal as cm
from committal.cli.app import main
from committal.study.executors import DaskExecutor
from committal.study.flight import InFlight

distributed = pytest.importorskip("distributed")

Contents = Callable[[Path], dict[str, bytes]]

# Dask warns about what it does to itself, and about dead workers, in many ways.
pytestmark = pytest.mark.filterwarnings("ignore")


@contextmanager
def cluster_of(workers: int) -> Iterator[tuple[Any, Any]]:
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


@pytest.fixture(scope="module")
def one_worker() -> Iterator[tuple[Any, Any]]:
    with cluster_of(1) as both:
        yield both


def study(three_arms: cm.Experiment, runs: int) -> cm.Study:
    base = three_arms.replace(steps=1000, record=cm.Record("value", "policy", every=100))
    baselines = [cm.MinVariance(), cm.Value(), 0.5, 0.0]
    return cm.Study(base, {"baseline": baselines}, runs=runs, rng=0)


class Killer:
    """Kills a worker that works, again and again."""

    def __init__(self, cluster: Any, seconds: float, most: int = 10**6) -> None:
        self.kills = 0
        self._most = most
        self._cluster = cluster
        self._seconds = seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        dice = random.Random(0)
        while self.kills < self._most and not self._stop.wait(self._seconds):
            # Those that are still starting would not be started again.
            registered = set(self._cluster.scheduler.workers)
            working = [
                nanny.pid
                for nanny in list(self._cluster.workers.values())
                if nanny.pid and nanny.worker_address in registered
            ]
            if working:
                os.kill(dice.choice(working), signal.SIGKILL)
                self.kills += 1

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()


def test_two_workers_killed_once_or_twice(
    three_arms: cm.Experiment, tmp_path: Path, contents: Contents
) -> None:
    made = study(three_arms, 8_192)
    here = made.run(tmp_path / "here", threads=2, chunk=256, progress=False)
    with cluster_of(2) as (cluster, client), Killer(cluster, 0.25, most=2) as killer:
        executor = client.get_executor()
        there = made.run(tmp_path / "there", executor, chunk=256, progress=False)
    assert killer.kills > 0
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert there.identical(here)


@pytest.mark.slow
def test_four_workers_one_killed_every_two_seconds(
    three_arms: cm.Experiment, tmp_path: Path, contents: Contents
) -> None:
    made = study(three_arms, 204_800)
    made.run(tmp_path / "here", threads=2, chunk=1024, progress=False)
    expected = contents(tmp_path / "here")
    with cluster_of(4) as (cluster, client), Killer(cluster, 2.0) as killer:
        for attempt in range(8):  # a fast machine is done before the third worker is dead
            there = tmp_path / f"there{attempt}"
            made.run(there, client.get_executor(), chunk=1024, progress=False)
            assert contents(there) == expected
            if killer.kills >= 3:
                break
    assert killer.kills >= 3


def test_errors_of_tasks_are_not_tried_again(one_worker: tuple[Any, Any]) -> None:
    _, client = one_worker
    flight: InFlight[Any, int] = InFlight(DaskExecutor(client), int.bit_length, window=4)
    flight.submit("seven")
    with pytest.raises(TypeError, match="bit_length"):
        flight.collect(30)


def test_formulas_travel_without_their_functions(one_worker: tuple[Any, Any]) -> None:
    _, client = one_worker
    collision = cm.baseline(lambda pi, r, *, c=1.0: c * (pi**2 * r).sum() / (pi**2).sum())
    largest = cm.quantity(lambda pi: pi.max(), name="largest")
    base = cm.Experiment(
        cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Vanilla(0.3), collision, steps=30,
        optimiser=cm.Adam(), record=cm.Record("value", largest),
    )  # fmt: skip
    study = cm.Study(base, {"baseline.c": [0.5, 1]}, runs=20, rng=0)
    there = study.run(executor=client.get_executor(), progress=False)
    assert there.equals(study.run(progress=False))


def test_the_command_line_uses_a_scheduler(
    one_worker: tuple[Any, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    contents: Contents,
) -> None:
    file = Path(__file__).parents[2] / "examples" / "baselines.toml"
    study, _ = cm.read_study(file)
    study.replace(runs=50).run(tmp_path / "here", progress=False)
    options = ["--runs", "50", "--scheduler", one_worker[0].scheduler_address, "--json"]
    arguments = ["committal", "run", str(file), "--out", str(tmp_path / "there"), *options]
    monkeypatch.setattr(sys, "argv", arguments)
    with suppress(SystemExit):
        main()
    assert '"total_runs": 400' in capsys.readouterr().out
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
