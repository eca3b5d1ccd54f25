"""What the machine offers, and how many threads are meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.study.study import Study
from committal.support import limits, machine
from committal.support.machine import available_memory, available_threads, threads_of


def test_threads() -> None:
    assert threads_of("threads", None) == available_threads() >= 1
    assert threads_of("threads", np.int64(limits.THREADS)) == limits.THREADS


@pytest.mark.parametrize("wrong", [0, -1, limits.THREADS + 1, 1.5, True, "2"])
def test_threads_are_refused_alike_everywhere(wrong: Any, tmp_path: Path) -> None:
    exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    study = Study(exp, runs=1, rng=0)
    messages = set()
    for call in (
        lambda: cm.run(exp, runs=1, threads=wrong),
        lambda: cm.evaluate(cm.gridworld("SA", goals={"A": 1}), threads=wrong),
        lambda: study.run(threads=wrong),
        lambda: study.estimate(threads=wrong),
        lambda: next(iter(cm.paper.reproduce(["fig1"], out=tmp_path, threads=wrong))),
    ):
        with pytest.raises(cm.ConfigError, match="threads = ") as found:
            call()
        messages.add(str(found.value))
    (message,) = messages
    assert message.endswith(f"expected an integer in [1, {limits.THREADS}]")


def test_memory_is_the_least_of_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 7 kB\n")
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert available_memory() == 7 * 1024
    (tmp_path / "memory.max").write_text("6000\n")
    (tmp_path / "memory.current").write_text("5000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 2000\n")
    assert available_memory() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() == 7 * 1024
