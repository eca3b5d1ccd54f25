"""The command line, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import committal as cm


def committal(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "committal", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )


def test_help_lists_the_commands() -> None:
    done = committal("--help")
    assert done.returncode == 0
    assert "info" in done.stdout
    assert "demo" in done.stdout


def test_info() -> None:
    done = committal("info")
    assert done.returncode == 0, done.stderr
    assert cm.__version__ in done.stdout
    assert "threads" in done.stdout
    facts = json.loads(committal("info", "--json").stdout)
    assert facts["committal"] == cm.__version__
    assert facts["threads"] >= 1


def test_demo(tmp_path: Path) -> None:
    out = tmp_path / "new" / "demo"
    done = committal("demo", "--out", str(out), "--runs", "500", "--rng", "1")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # not a terminal: no bar
    for label in ("b* - 1/2", "b*", "b* + 1/2", "V"):
        assert f"\n{label} " in done.stdout
    for name in ("simplex.png", "learning_curves.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")


def test_demo_as_json(tmp_path: Path) -> None:
    arguments = ("demo", "--out", str(tmp_path), "--runs", "2000", "--json", "--threads", "1")
    done = committal(*arguments)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    low, best, high, value = found["settings"]
    # Equal variance on either side of the minimum, and very different outcomes.
    assert low["start_variance"] == pytest.approx(high["start_variance"], rel=1e-9)
    assert best["start_variance"] < low["start_variance"]
    # The known rates; the tolerances are four standard errors at 2,000 runs.
    assert low["failure_rate"] == pytest.approx(0.480, abs=0.045)
    assert best["failure_rate"] == pytest.approx(0.047, abs=0.019)
    assert high["failure_rate"] < 0.005
    assert value["failure_rate"] < 0.005
    assert all(each["low"] <= each["failure_rate"] <= each["high"] for each in found["settings"])
    assert set(map(Path, found["pictures"])) == set(tmp_path.glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo",), "--out"),
        (("demo", "--out", ".", "--runs", "0"), "--runs"),
        (("demo", "--out", ".", "--runs", "many"), "--runs"),
        (("demo", "--out", ".", "--rng", "-1"), "--rng"),
        (("demo", "--out", ".", "--threads", "0"), "--threads"),
        (("demo", "--out", __file__), "--out"),
        (("nothing",), "nothing"),
    ],
)
def test_mistakes_are_named(arguments: tuple[str, ...], message: str) -> None:
    done = committal(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_errors_of_ours_are_one_line(tmp_path: Path) -> None:
    done = committal("demo", "--out", str(tmp_path), "--runs", "1000000000000000")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("committal: runs = 1000000000000000 is not allowed")
