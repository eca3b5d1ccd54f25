"""The laboratory: what is asked for, how often it is run, and what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import committal as cm
from committal.paper import cache
from committal.paper.lab import Lab

EXP = cm.Experiment(
    cm.Bandit([1.0, 0.0]),
    cm.Sigmoid(-1.0),
    cm.Natural(0.1),
    -1.0,
    steps=50,
    record=cm.Record("value", every=10),
)
REDUCED = EXP.replace(record=cm.Record("value", every=10, reduce=cm.Reduce(below=0.5)))


def files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.chunk"))


def test_results_are_those_of_run(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rng=3)
    for exp in (EXP, REDUCED):
        expected = cm.run(exp, runs=20, rng=3)
        assert lab.sample(exp, 20).identical(expected)
        assert Lab(tmp_path, rng=3).sample(exp, 20).identical(expected)  # from the file


def test_nothing_is_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Lab(tmp_path, rng=3).sample(EXP, 20)
    (file,) = files(tmp_path)
    before = file.stat().st_mtime_ns

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("committal.simulation.engine.Engine.compute", refuse)
    Lab(tmp_path, rng=3).sample(EXP, 20)
    assert file.stat().st_mtime_ns == before
    for other in (Lab(tmp_path, rng=4), Lab(tmp_path, rng=3, runs=10)):
        with pytest.raises(AssertionError, match="computed again"):
            other.sample(EXP, 20)


def test_damaged_results_are_computed_again(tmp_path: Path) -> None:
    expected = Lab(tmp_path, rng=3).sample(EXP, 20)
    (file,) = files(tmp_path)
    for damaged in (b"", file.read_bytes()[:-5], b"x" * 1000):
        file.write_bytes(damaged)
        assert Lab(tmp_path, rng=3).sample(EXP, 20).identical(expected)


def test_a_file_of_another_experiment_is_not_believed(tmp_path: Path) -> None:
    store = cache.Cache(tmp_path)
    Lab(tmp_path, rng=3).sample(EXP, 20)
    (file,) = files(tmp_path)
    other = EXP.replace(baseline=-2.0)
    key = Lab(tmp_path, rng=3).key
    file.rename(tmp_path / f"{other.hash[:20]}-{key:016x}-20.chunk")
    assert store.get(other, key, 20) is None


@pytest.mark.parametrize(
    ("options", "sample", "ensemble"),
    [
        ({}, 40, 1000),
        ({"precise": False}, 40, 40),
        ({"scale": 0.5}, 40, 500),
        ({"scale": 1e-6}, 40, 1),
        ({"runs": 7}, 7, 7),
        ({"runs": 70}, 40, 70),
        ({"runs": 70, "scale": 2.0}, 40, 70),
    ],
)
def test_how_often_it_is_run(
    tmp_path: Path, options: dict[str, float], sample: int, ensemble: int
) -> None:
    lab = Lab(tmp_path, **options)  # type: ignore[arg-type]
    assert lab.sample(EXP, 40).sizes["run"] == sample
    assert int(lab.ensemble(REDUCED, 1000, 40)["count"]) == ensemble


@pytest.mark.parametrize("options", [{"runs": 0}, {"scale": 0.0}, {"scale": -1.0}, {"threads": 0}])
def test_mistakes_are_named(tmp_path: Path, options: dict[str, float]) -> None:
    (name,) = options
    with pytest.raises(cm.ConfigError, match=name):
        Lab(tmp_path, **options)  # type: ignore[arg-type]


def test_the_committal_probability_is_kept_and_solved_where_it_can_be(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    found = lab.committal(EXP)
    assert found is not None
    assert found.estimate == pytest.approx(0.1277, abs=1e-4)
    assert len(files(tmp_path)) == 1
    assert Lab(tmp_path).committal(EXP) == found
    assert lab.committal(EXP.replace(update=cm.Vanilla(0.1))) is None
    assert Lab(tmp_path, precise=False).committal(EXP) is None


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(cm.StoreError, match="file"):
        Lab(tmp_path / "file" / "data").sample(EXP, 2)
