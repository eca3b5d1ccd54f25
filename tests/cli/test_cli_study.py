"""Studies on the command line, as a user runs them."""

from __future__ import annotations

import io
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

import committal as cm
from committal.cli.app import main

STUDY = """\
runs = 400
rng = 0

[experiment]
steps = 50
problem = {kind = "bandit", means = [1.0, 0.0]}
policy = {kind = "sigmoid", theta0 = -1.0}
update = {kind = "natural", step_size = 0.1}
baseline = {kind = "constant", c = -1.0}
record = {names = ["value"], every = 10}

[grid]
"update.step_size" = [0.05, 0.1, 0.15]
"baseline.c" = [-1.0, 0.0]
"""


@dataclass
class Done:
    """How a command ended and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def committal(*arguments: str | Path) -> Done:
    """Run a command in this process: starting another one takes longer than most commands."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["committal", *map(str, arguments)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    else:
        code = 0
    finally:
        sys.argv = before
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("made")
    (directory / "study.toml").write_text(STUDY, encoding="utf-8")
    study, _ = cm.read_study(directory / "study.toml")
    study.run(directory / "results", progress=False, chunk=100)
    return directory / "results"


def test_run_and_run_again(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = committal("run", file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # not a terminal: no bar
    assert done.stdout.startswith("6 configurations of 400 runs")
    assert "2400 runs, 6 new chunks" in done.stdout
    again = json.loads(committal("run", file, "--out", out, "--json").stdout)
    assert again["new_chunks"] == 0
    assert again["total_runs"] == 2400
    study, _ = cm.read_study(file)
    assert cm.open(out).identical(study.run(progress=False))
    more = json.loads(committal("run", file, "--out", out, "--runs", "500", "--json").stdout)
    assert more["total_runs"] == 3000


def test_dry_run(file: Path) -> None:
    done = committal("run", file, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "updates  120 000" in done.stdout
    facts = json.loads(committal("run", file, "--dry-run", "--json").stdout)
    assert facts["configurations"] == 6
    assert facts["updates"] == 120_000
    assert facts["axes"]["step_size"] == [0.05, 0.1, 0.15]


def test_until(file: Path, tmp_path: Path) -> None:
    text = STUDY.replace("runs = 400", "runs = 20000")
    file.write_text(text + '[until]\nquantity = "failure"\nhalf_width = 0.05\nbelow = 0.5\n')
    done = committal("run", file, "--out", tmp_path / "results", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["stopped_early"] == 6
    assert summary["not_precise"] == 0
    assert summary["total_runs"] < 20_000
    done = committal("resume", tmp_path / "results")
    assert "6 of 6 configurations stopped early" in done.stdout
    assert " 0 new chunks" in done.stdout


def test_resume_repairs(store: Path) -> None:
    chunks = sorted((store / "chunks").iterdir())
    chunks[0].unlink()
    chunks[1].write_bytes(b"garbage")
    done = committal("info", store, "--json")
    about = json.loads(done.stdout)
    assert done.returncode == 1
    assert committal("info", store).returncode == 1
    assert list(about["damaged"]) == [f"chunks/{chunks[1].name}"]
    assert about["total_runs"] == 2200
    assert about["wanted_runs"] == 2400
    done = committal("resume", store, "--quiet")
    assert done.returncode == 0
    assert "2 new chunks" in done.stdout
    assert f"{chunks[1].name}: it is truncated (what is damaged is computed again)" in done.stderr
    assert "Warning" not in done.stderr
    done = committal("info", store)
    assert done.returncode == 0
    assert "total_runs" in done.stdout


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ((), "curves"),
        (("--kind", "heatmap", "--below", "0.5"), "heatmap"),
        (("--kind", "survival", "--above", "0.9", "--select", "c=-1", "--log-time"), "survival"),
        (("--kind", "curves", "--select", "step_size=0.1"), "curves"),
    ],
)
def test_plot(store: Path, tmp_path: Path, options: tuple[str, ...], kind: str) -> None:
    out = tmp_path / "picture.png"
    done = committal("plot", store, "--out", out, "--json", *options)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["picture"], facts["kind"]) == (str(out), kind)
    assert out.read_bytes().startswith(b"\x89PNG")


def test_export(store: Path, tmp_path: Path) -> None:
    import xarray as xr

    done = committal("export", store, tmp_path / "data.nc")
    assert done.returncode == 0, done.stderr
    with xr.open_dataset(tmp_path / "data.nc") as loaded:
        assert loaded.sizes["run"] == 400
    done = committal("export", store, tmp_path / "data.nc")
    assert done.returncode == 3
    assert "exists already" in done.stderr


def test_schema(tmp_path: Path) -> None:
    printed = json.loads(committal("schema").stdout)
    assert printed["title"] == "committal study"
    assert committal("schema", tmp_path / "schema.json").returncode == 0
    assert json.loads((tmp_path / "schema.json").read_text()) == printed


def test_mistakes_are_named(
    file: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("committal.study.executors._CONNECT_SECONDS", 0.2)
    file.write_text(STUDY.replace("step_size = 0.1}", "step_size = -1}"))
    for arguments, code, message in (
        (("run", file, "--out", tmp_path / "x"), 2, "study.toml:8: experiment.update.step_size"),
        (("run", tmp_path / "nothing.toml", "--out", tmp_path), 2, "No such file"),
        (("resume", tmp_path / "nothing"), 3, "it does not exist"),
        (("resume", tmp_path), 3, "there is no store here"),
        (("resume", store, "--scheduler", "tcp://127.0.0.1:1"), 4, "scheduler"),
        (("plot", store, "--out", tmp_path / "x.png", "--select", "no=1"), 2, "axis=label"),
        (("plot", store, "--out", tmp_path / "x.unknown"), 2, "ending in .png"),
        (("plot", store, "--out", tmp_path / "x.png", "--quantity", "theta"), 2, "theta"),
        (("export", store, tmp_path / "x.csv"), 2, ".nc or .zarr"),
    ):
        if "--scheduler" in arguments:
            pytest.importorskip("distributed")
        done = committal(*arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    file.write_text(STUDY)
    done = committal("run", file)
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_another_study_is_refused(file: Path, store: Path) -> None:
    file.write_text(STUDY.replace("rng = 0", "rng = 1"))
    done = committal("run", file, "--out", store)
    assert done.returncode == 3
    assert "another study" in done.stderr


@pytest.mark.parametrize("again", [None, 0.0, 0.05, 0.2, 0.4])
def test_interrupting(file: Path, tmp_path: Path, again: float | None) -> None:
    long = STUDY.replace("steps = 50", "steps = 20000").replace("runs = 400", "runs = 20000")
    file.write_text(long.replace(", every = 10", ""))
    out = tmp_path / "results"
    command = [sys.executable, "-m", "committal", "run", str(file), "--out", str(out), "-q"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            time.sleep(0.05)
            if (out / "chunks").is_dir() and len(list((out / "chunks").iterdir())) > 1:
                break
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        if again is not None:
            time.sleep(again)
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert time.monotonic() - begin < 5
    assert process.returncode == 130, errors
    assert f"committal resume {out}" in errors
    assert "Traceback" not in errors
    assert int(cm.open(out, verify=True)["count"].sum()) > 0


def test_a_terminal_gets_a_bar(file: Path, tmp_path: Path) -> None:
    file.write_text(STUDY.replace("runs = 400", "runs = 200000"))
    terminal, theirs = pty.openpty()
    command = [sys.executable, "-m", "committal", "run", str(file), "--out", str(tmp_path / "r")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            drawn += piece
    os.close(terminal)
    assert process.returncode == 0
    assert b"updates/s" in drawn
    assert b"left" in drawn


@pytest.mark.parametrize("command", ["run", "resume", "plot", "export", "info"])
def test_help_is_worth_reading(command: str) -> None:
    done = committal(command, "--help")
    assert done.returncode == 0
    assert len(done.stdout) > 300
    if command != "info":
        assert f"committal {command} " in done.stdout


def test_the_version() -> None:
    done = committal("--version")
    assert done.returncode == 0
    assert done.stdout == f"committal {cm.__version__}\n"


def test_errors_are_json_where_json_is_asked_for(file: Path, tmp_path: Path) -> None:
    done = committal("info", tmp_path / "nothing", "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert told["exit_code"] == 3
    assert told["error"]["type"] == "StoreError"
    assert told["error"]["path"] == str(tmp_path / "nothing")
    assert "does not exist" in told["error"]["problem"]
    assert "Traceback" not in done.stderr

    file.write_text(STUDY.replace("step_size = 0.1", "step_size = -1"))
    done = committal("run", file, "--out", tmp_path / "results", "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)["error"]
    assert told["argument"].endswith(":8: experiment.update.step_size")
    assert told["value"] == "-1"

    done = committal("run", file, "--threads", "many", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["type"] == "UsageError"
    assert "--threads" in json.loads(done.stdout)["error"]["message"]


def test_damage_is_an_exit_code_in_json_too(store: Path, tmp_path: Path) -> None:
    store = shutil.copytree(store, tmp_path / "copy")
    manifest = json.loads((store / "manifest.json").read_text())
    (store / "manifest.json").write_text(json.dumps(manifest | {"chunk": 107}))
    done = committal("info", store, "--json")
    assert done.returncode == 3
    assert "checksum" in json.loads(done.stdout)["error"]["message"]


def test_watching(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert committal("run", file, "--out", out, "-q").returncode == 0
    done = committal("info", out, "--watch")
    assert done.returncode == 0
    assert done.stdout.startswith("6 of 6 configurations done, 2 400 of 2 400 runs\n")

    chunks = sorted((out / "chunks").iterdir())
    now = time.time()
    for age, chunk in enumerate(chunks):
        os.utime(chunk, (now - age, now - age))
    chunks[0].unlink()
    command = [sys.executable, "-m", "committal", "info", str(out), "--watch", "--json"]
    with subprocess.Popen([*command, "--every", "0.2"], stdout=subprocess.PIPE, text=True) as seen:
        assert seen.stdout is not None
        first = json.loads(seen.stdout.readline())["configurations"]
        assert [one["wanted"] for one in first] == [400] * 6
        assert first[0]["runs"] < 400
        assert first[1]["left"] == 0.0
        assert committal("resume", out, "-q").returncode == 0
        *_, last, facts = map(json.loads, seen.stdout.read().splitlines())
    assert seen.returncode == 0
    assert all(one["runs"] == 400 for one in last["configurations"])
    assert facts["total_runs"] == 2400


def test_extending(file: Path, store: Path, tmp_path: Path) -> None:
    larger = tmp_path / "larger.toml"
    larger.write_text(STUDY.replace("[0.05, 0.1, 0.15]", "[0.05, 0.1, 0.15, 0.2]"))
    done = committal("extend", store, larger, "--out", tmp_path / "larger", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["configurations"] == 8
    assert found["total_runs"] == 8 * 400
    assert committal("info", tmp_path / "larger").returncode == 0
    larger.write_text(STUDY.replace("rng = 0", "rng = 1"))
    done = committal("extend", store, larger, "--out", tmp_path / "other")
    assert done.returncode == 2
    assert "the same seed" in done.stderr
    assert not (tmp_path / "other").exists()
