"""``committal plot``: what is selected is there, and the picture says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

import committal as cm
from committal.cli.app import app


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with numbers and with names, one of which begins with an underscore."""
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), -1.0, steps=20,
        record=cm.Record("value", every=10),
    )  # fmt: skip
    grid = {
        "update.step_size": [0.05, 0.1, 0.1 + 0.2],
        "baseline": {
            "_low": {"baseline": cm.Constant(-1.0)},
            "at $0": {"baseline": cm.Constant(0.0)},
        },
    }
    out = tmp_path_factory.mktemp("made") / "results"
    cm.Study(exp, grid, runs=20, rng=0).run(out, progress=False)
    return out


def plot(store: Path, out: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["plot", str(store), "--out", str(out), *options])


def test_a_value_that_is_not_there_is_refused(store: Path, tmp_path: Path) -> None:
    """It drew the nearest one, 0.3, and said nothing."""
    for choice, allowed in (
        ("step_size=7", "step_size is one of 0.05, 0.1, 0.3"),
        ("step_size=0.1001", "step_size is one of 0.05, 0.1, 0.3"),
        ("step_size=nan", "step_size is one of"),
        ("step_size=much", "expected a number"),
        ("baseline=low", "baseline is one of _low, at $0"),
        ("time=10", "an axis of 'step_size', 'baseline'"),
    ):
        done = plot(store, tmp_path / "x.png", "--select", choice)
        said = " ".join(done.output.replace("│", " ").split())
        assert done.exit_code == 2, said
        assert allowed in said
        assert choice in said
        assert not (tmp_path / "x.png").exists()


def test_rounding_is_forgiven_and_the_picture_says_what_it_shows(
    store: Path, tmp_path: Path
) -> None:
    out = tmp_path / "x.svg"
    options = ("--select", "step_size=0.3", "--select", "baseline=at $0", "--json")
    done = plot(store, out, *options)
    assert done.exit_code == 0, done.output
    facts = json.loads(done.output)
    assert facts["selected"] == {"step_size": 0.1 + 0.2, "baseline": "at $0"}
    assert "step size = 0.3, baseline = at" in out.read_text()


def test_survival_needs_a_level(store: Path, tmp_path: Path) -> None:
    done = plot(store, tmp_path / "x.png", "--kind", "survival")
    assert done.exit_code == 2
    assert "--above" in done.output


def test_the_demo_says_which_variance_is_equal(tmp_path: Path) -> None:
    """The runs are natural ones, and their estimates do not have equal variances."""
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path), "--runs", "20"])
    assert done.exit_code == 0, done.output
    assert "b* minimises that of the vanilla one" in done.output
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path), "--runs", "20", "--json"])
    low, _, high, _ = json.loads(done.stdout)["settings"]
    assert low["start_variance"] == pytest.approx(high["start_variance"], rel=1e-9)
    assert low["start_variance_natural"] > 10 * high["start_variance_natural"]


def test_pictures_are_there_whole_or_not_at_all(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, why in (("x.jpeg2", "ending in .png, .pdf or .svg"), ("no/x.png", "can be written")):
        done = plot(store, tmp_path / name)
        assert isinstance(done.exception, cm.ConfigError)
        assert why in str(done.exception)
    out = tmp_path / "x.png"
    assert plot(store, out).exit_code == 0
    before = out.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("committal.support.files.os.replace", full)
    done = plot(store, out, "--kind", "heatmap", "--below", "0.5")
    assert isinstance(done.exception, cm.ConfigError)
    assert "No space left" in str(done.exception)
    assert out.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.png"]


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that recorded the policy of three arms."""
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=4,
        record=cm.Record("policy", every=2),
    )  # fmt: skip
    out = tmp_path_factory.mktemp("made") / "results"
    grid = {"update.step_size": [0.05, 0.1], "baseline.c": [0.0, 0.5]}
    cm.Study(exp, grid, runs=3, rng=0).run(out, progress=False)
    return out


def test_a_film_of_one_configuration_and_of_an_axis(moving: Path, tmp_path: Path) -> None:
    both = ("--select", "step_size=0.1", "--select", "c=0.5")
    done = plot(moving, tmp_path / "one.gif", *both, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["kind"] == "animation"
    assert (tmp_path / "one.gif").read_bytes().startswith(b"GIF89a")
    done = plot(moving, tmp_path / "two.html", "--select", "c=0.5", "--kind", "animation")
    assert done.exit_code == 0, done.output
    assert "update 4" in (tmp_path / "two.html").read_text(encoding="utf-8")


def test_a_film_that_cannot_be_made_is_refused(moving: Path, store: Path, tmp_path: Path) -> None:
    for study, name, options, why in (
        (moving, "x.gif", (), "up to 4 points of one axis"),
        (moving, "x.png", ("--kind", "animation"), "ending in .gif or .html"),
        (moving, "x.gif", ("--kind", "curves"), "--kind animation or auto"),
        (store, "x.gif", ("--select", "baseline=_low"), "the policy of every run"),
    ):
        done = plot(study, tmp_path / name, *options)
        said = " ".join(done.output.replace("│", " ").split()) + str(done.exception)
        assert done.exit_code != 0
        assert why in said, said
        assert not (tmp_path / name).exists()
