"""``committal bench``: numbers for every instruction set, on any machine."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import committal as cm
from committal import _core
from committal.cli import bench
from committal.support.machine import processor


def committal(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "committal", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )


def test_the_table_names_the_machine_and_every_instruction_set() -> None:
    done = committal("bench", "--quick", "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert processor() in done.stdout
    assert cm.__version__ in done.stdout
    for isa in _core.available()["isas"]:
        assert f"{isa}, 1 thread " in done.stdout
        assert f"{isa}, 2 threads" in done.stdout
    for setting in bench.settings(quick=True):
        assert f"\n  {setting.name} " in done.stdout


def test_json_is_one_line_of_a_history() -> None:
    done = committal("bench", "--quick", "--threads", "1", "--json")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    found = json.loads(line)
    assert found["processor"] == processor()
    assert found["committal"] == cm.__version__
    isas = _core.available()["isas"]
    names = [setting.name for setting in bench.settings(quick=True)]
    pairs = [(row["setting"], row["isa"]) for row in found["rows"]]
    assert pairs == [(name, isa) for name in names for isa in isas]
    assert {row["threads"] for row in found["rows"]} == {1}
    # A step is at least an exponential and a random number: between an instant and a second.
    assert all(0.05 < row["ns"] < 1e9 for row in found["rows"])


@pytest.mark.parametrize("setting", bench.settings(quick=False), ids=lambda s: s.name)
def test_every_setting_runs(setting: bench.Setting) -> None:
    (ns,) = bench.measured(setting.experiment(), [("auto", 1)], rounds=1, seconds=1e-4)
    assert ns > 0.0


class _Steady:
    """An engine on which every run and update takes 3 ns of a clock of its own."""

    now = 0.0

    def __init__(self, experiment: cm.Experiment) -> None:
        self.steps = experiment.steps

    def compute(self, *, runs: int, **_: object) -> None:
        _Steady.now += 3e-9 * runs * self.steps


def test_times_are_per_run_and_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "Engine", _Steady)
    monkeypatch.setattr(bench.time, "perf_counter", lambda: _Steady.now)
    columns = [("generic", 1), ("avx2", 7)]
    for exp in (bench.bandit(3), bench.bandit(100), bench.four_rooms()):
        times = bench.measured(exp, columns, rounds=2, seconds=0.01)
        assert times == pytest.approx([3.0, 3.0])


def test_no_threads_are_refused_by_name() -> None:
    done = committal("bench", "--threads", "0")
    assert done.returncode == 2
    assert "--threads" in done.stderr
