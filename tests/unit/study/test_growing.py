"""A store that grows: by values of an axis, by axes, by runs, and only by what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import committal as cm
from committal.study.tasks import Task

Contents = Callable[[Path], dict[str, bytes]]

SMALL = {"update.step_size": [0.1, 0.4]}


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The chunks that were computed."""
    places: list[Any] = []
    original = Task.arrays

    def note(task: Task, *others: Any) -> Any:
        places.append(task.place)
        return original(task, *others)

    monkeypatch.setattr(Task, "arrays", note)
    return places


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(
    ("grid", "runs", "new"),
    [
        ({"update.step_size": [0.05, 0.1, 0.2, 0.4]}, 128, 2 * 2),
        ({"update.step_size": [0.4, 0.1]}, 128, 0),
        ({"steps": [60, 30], "update.step_size": [0.1, 0.4]}, 128, 2 * 2),
        ({"update.step_size": [0.1, 0.4]}, 200, 2 * 2),
        ({"update.step_size": [0.1]}, 64, 0),
    ],
    ids=["values", "order", "an axis", "runs", "less"],
)
def test_only_what_is_missing_is_computed(
    base: cm.Experiment,
    tmp_path: Path,
    contents: Contents,
    computed: list[Any],
    grid: dict[str, Any],
    runs: int,
    new: int,
    independent: bool,
) -> None:
    small = cm.Study(base, SMALL, runs=128, rng=0, independent=independent)
    small.run(tmp_path / "small", chunk=64, progress=False)
    before = contents(tmp_path / "small")
    large = cm.Study(base, grid, runs=runs, rng=0, independent=independent)
    computed.clear()
    data = large.run(tmp_path / "large", progress=False, reuse=tmp_path / "small")
    assert len(computed) == new
    large.run(tmp_path / "fresh", chunk=64, progress=False)
    assert contents(tmp_path / "large") == contents(tmp_path / "fresh")
    assert contents(tmp_path / "small") == before
    assert data.identical(cm.open(tmp_path / "fresh"))
    assert large.run(progress=False, reuse=tmp_path / "small").identical(data.load())


def test_damage_is_not_taken_over(base: cm.Experiment, tmp_path: Path, computed: list[Any]) -> None:
    small = cm.Study(base, SMALL, runs=128, rng=0)
    small.run(tmp_path / "small", chunk=64, progress=False)
    file = sorted((tmp_path / "small" / "chunks").iterdir())[0]
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    computed.clear()
    with pytest.warns(cm.StoreWarning, match=r"checksum is wrong .*not taken over"):
        small.run(tmp_path / "large", progress=False, reuse=tmp_path / "small")
    assert len(computed) == 1


def test_nothing_to_take_over(base: cm.Experiment, tmp_path: Path) -> None:
    small = cm.Study(base, SMALL, runs=128, rng=0)
    small.run(tmp_path / "small", chunk=64, progress=False)
    for other in (
        cm.Study(base, SMALL, runs=128, rng=1),
        cm.Study(base, {"update.step_size": [0.3]}, runs=128, rng=0),
    ):
        with pytest.raises(cm.ConfigError, match=r"reuse = .* same experiments and the same seed"):
            other.run(tmp_path / "large", progress=False, reuse=tmp_path / "small")
    with pytest.raises(cm.ConfigError, match=r"a store with 32 runs per chunk, not 64"):
        small.run(tmp_path / "other", chunk=32, progress=False, reuse=tmp_path / "small")
    with pytest.raises(cm.StoreError, match="does not exist"):
        small.run(tmp_path / "more", progress=False, reuse=tmp_path / "nothing")
