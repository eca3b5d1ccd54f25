"""What is kept is used again only if the code that made it is the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import committal as cm
from committal.paper import cache, runner
from committal.paper.fingerprint import CORE, ONLOOKERS, PACKAGE, fingerprint
from committal.paper.lab import Lab

EXP = cm.Experiment(cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=10)


@pytest.fixture
def copy(tmp_path: Path) -> tuple[Path, Path]:
    """Return a package and its core that may be changed."""
    package = tmp_path / "committal"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", CORE.name))
    return package, Path(shutil.copy(CORE, tmp_path))


def both(copy: tuple[Path, Path]) -> tuple[str, str]:
    """Return the fingerprints of results and of entries."""
    fingerprint.cache_clear()
    package, core = copy
    return (
        fingerprint("results", package=package, core=core),
        fingerprint("entries", package=package, core=core),
    )


def change_core(package: Path, core: Path) -> None:
    data = bytearray(core.read_bytes())
    data[len(data) // 2] ^= 1
    core.write_bytes(data)


def change_map(package: Path, core: Path) -> None:
    maps = package / "config" / "maps.py"
    text = maps.read_text(encoding="utf-8")
    moved = text.replace("#S...#...#", "#.S..#...#", 1)
    assert moved != text
    maps.write_text(moved, encoding="utf-8")


def append_to(*parts: str) -> Callable[[Path, Path], None]:
    def change(package: Path, core: Path) -> None:
        file = package.joinpath(*parts)
        file.write_text(file.read_text(encoding="utf-8") + "\nX = 1\n", encoding="utf-8")

    change.__name__ = "/".join(parts)
    return change


def add_module(package: Path, core: Path) -> None:
    (package / "lowering" / "planted.py").write_text("")


def rename_module(package: Path, core: Path) -> None:
    (package / "exact" / "vertices.py").rename(package / "exact" / "corners.py")


def test_the_copy_has_the_fingerprint_of_the_package(copy: tuple[Path, Path]) -> None:
    assert both(copy) == (fingerprint("results"), fingerprint("entries"))


@pytest.mark.parametrize(
    "change",
    [
        change_core,
        change_map,
        append_to("simulation", "engine.py"),
        append_to("exact", "committal.py"),
        append_to("support", "check.py"),
        append_to("errors.py"),
        add_module,
        rename_module,
    ],
    ids=lambda change: change.__name__,
)
def test_what_computes_changes_results_and_entries(
    copy: tuple[Path, Path], change: Callable[[Path, Path], None]
) -> None:
    before = both(copy)
    change(*copy)
    after = both(copy)
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    "change",
    [
        append_to("plot", "maze.py"),
        append_to("paper", "figures", "natural.py"),
        append_to("theory", "bounds.py"),
        append_to("analysis", "rates.py"),
    ],
    ids=lambda change: change.__name__,
)
def test_what_judges_and_draws_changes_entries_only(
    copy: tuple[Path, Path], change: Callable[[Path, Path], None]
) -> None:
    before = both(copy)
    change(*copy)
    after = both(copy)
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_a_folder_counts_unless_it_only_looks_on() -> None:
    folders = {file.name for file in PACKAGE.iterdir() if (file / "__init__.py").is_file()}
    assert set(ONLOOKERS) < folders
    assert {"config", "lowering", "simulation", "inference", "exact"} <= folders - set(ONLOOKERS)


def test_other_libraries_make_other_results(
    copy: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = both(copy)
    monkeypatch.setattr("committal.paper.fingerprint.version", lambda library: f"{library} 0")
    assert all(a != b for a, b in zip(before, both(copy), strict=True))


def test_results_of_other_code_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path, rng=3)
    lab.sample(EXP, 5)
    store = cache.Cache(tmp_path)
    assert store.get(EXP, lab.key, 5) is not None
    monkeypatch.setattr(cache, "fingerprint", lambda scope: "another core")
    assert store.get(EXP, lab.key, 5) is None
    expected = Lab(tmp_path, rng=3).sample(EXP, 5)
    assert store.get(EXP, lab.key, 5) is not None
    assert len(list(tmp_path.iterdir())) == 1  # in the place of the old one
    assert expected.identical(cm.run(EXP, runs=5, rng=3))


def test_entries_of_other_code_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = runner.reproduce(["figA9"], out=tmp_path, runs=2)
    (kept,) = runner.reproduce(["figA9"], out=tmp_path, runs=2)
    monkeypatch.setattr(runner, "fingerprint", lambda scope: "another map")
    (again,) = runner.reproduce(["figA9"], out=tmp_path, runs=2)
    assert (first.stored, kept.stored, again.stored) == (False, True, False)
