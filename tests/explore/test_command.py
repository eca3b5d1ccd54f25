"""``committal explore``: it serves until it is interrupted, what a file or a link says."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import committal as cm
from committal.cli.explore import _opened, _shown_of

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "committal", "explore", "--no-browser", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_it_serves_until_it_is_interrupted() -> None:
    with started("--rng", "3") as (process, address):
        assert address.endswith("#seed=3")
        with urllib.request.urlopen(address.partition("#")[0], timeout=20) as reply:
            assert b"main.js" in reply.read()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 0
        assert "Traceback" not in said


@pytest.mark.parametrize("name", ["two_arms.toml", "baselines.toml", "phase_diagram.toml"])
def test_a_study_file_is_an_experiment(name: str) -> None:
    experiment, seed = _shown_of(EXAMPLES / name)
    assert isinstance(experiment, cm.Experiment)
    assert seed == 0


def test_a_link_is_opened_again() -> None:
    options = {"rng": None, "below": None, "port": 0, "show": False}
    with _opened("http://127.0.0.1:1/old/#seed=4&below=0.8", **options) as page:  # type: ignore[arg-type]
        assert page.address.endswith("/#seed=4&below=0.8")
        assert "/old/" not in page.address
    with pytest.raises(cm.ConfigError, match=r"--rng = 3.*a link, which has its own"):
        _opened("http://127.0.0.1:1/old/#seed=4", **{**options, "rng": 3})  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match=r"FILE = 'nothing\.toml'"):
        _opened("nothing.toml", **options)  # type: ignore[arg-type]
