"""The guard of the kernels' speed: what makes it red, and what does not."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def load(name: str) -> ModuleType:
    """Import a script of bench/, which is no package."""
    path = BENCH / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


guard = load("micro/guard")
counts = load("micro/counts")


def test_a_tenth_more_instructions_are_too_many() -> None:
    stored = {"avx2": {"exp": 10.0, "log": 10.0, "draw": 10.0}}
    found = {("avx2", "exp"): 11.1, ("avx2", "log"): 10.9, ("avx2", "draw"): 5.0}
    (wrong,) = guard.judge_counts(found, stored)
    assert wrong.startswith("exp (avx2): 11.10 instructions per run, 11 % more than the 10.00")


def test_a_kernel_that_nobody_has_counted_is_named() -> None:
    (wrong,) = guard.judge_counts({("avx2", "new"): 1.0}, {"avx2": {}})
    assert "new (avx2) is not in counts.json" in wrong


@pytest.mark.parametrize(
    ("measured", "slow"),
    [
        ([2.1], False),
        ([2.5, 2.4, 2.3, 2.3, 2.4, 2.5], True),
        ([9.0, 9.0, 9.0, 1.9], False),  # the machine was busy
    ],
)
def test_noise_alone_does_not_make_it_red(measured: list[float], slow: bool) -> None:
    left = iter(measured)

    def measure(names: list[str]) -> dict[str, float]:
        assert names in ([], ["exp"])
        return {"exp": next(left)}

    assert bool(guard.judge_ratios(measure)) is slow
    assert next(left, None) is None  # measured no oftener than needed


def test_what_callgrind_writes_is_read(tmp_path: Path) -> None:
    file = tmp_path / "out.1"
    file.write_text(
        "# callgrind format\ndesc: Trigger: Client Request: avx2\tdraw K=3\nevents: Ir\n"
        "summary: 1234\n\nfn=(1) main\n+2 999\n\ntotals: 1240\n"
    )
    assert counts._read(file) == (("avx2", "draw K=3"), 1234.0)


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is not built" in counts.why_not(tmp_path / "nothing")
    monkeypatch.setattr(counts.shutil, "which", lambda _: None)
    assert counts.why_not(Path(__file__)) == "valgrind is not installed"


def test_stored_counts_and_exceptions_name_kernels_of_the_same_list() -> None:
    stored = json.loads((BENCH / "micro" / "counts.json").read_text())
    for sets in stored.values():
        assert sets["avx2"].keys() == sets["generic"].keys()
        assert guard.MORE_BEHIND.keys() <= sets["avx2"].keys()


def test_every_kernel_that_was_asked_for_has_a_file() -> None:
    files = {path.stem for path in (BENCH / "micro").glob("*.hpp")}
    kernels = "uniforms exp log normal_quantile draw baselines updates rebase record reduce limit"
    assert set(kernels.split()) | {"elimination", "episode"} <= files
    listed = (BENCH / "micro" / "micros.cpp").read_text()
    for name in kernels.split():
        assert re.search(rf'#include "{name}.hpp"', listed), name
