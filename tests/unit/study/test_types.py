"""Type checkers accept what the README and the documentation write."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import committal

README = Path(__file__).parents[3] / "README.md"

FORMS = """
import numpy as np
import committal as cm

exp = cm.Experiment(cm.Bandit([1.0, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=10)
values = {"update.step_size": [0.1, 0.2]}
labels = {"start": {"bad": {"policy.theta0": [0, 5]}}}
cm.Study(exp, runs=1)
cm.Study(exp, values, runs=1)
cm.Study(exp, labels, runs=1)
cm.Study(exp, {"update.step_size": np.linspace(0.1, 0.2, 3), "steps": (1, 2)}, runs=1)
cm.Study(exp, {("update.step_size", "steps"): [(0.1, 200), (0.2, 100)]}, runs=1)
cm.Study(exp, {("update.step_size", "steps"): [(0.1, 200)], "baseline": [cm.Value()]}, runs=1)
"""


WRONG = 'cm.Study(exp, ["steps"], runs=1)'


def complaints(code: str, directory: Path) -> list[str]:
    """What mypy says about some code, strictly, one line each."""
    (directory / "snippet.py").write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "snippet.py"]
    # In the package it looks for types, not for mistakes.
    command += ["--follow-imports", "silent", "--cache-dir", str(directory / "cache")]
    path = Path(committal.__file__).parents[1]
    # What is installed mypy finds by itself, and it wants to be told of nothing else.
    where = {} if path.name == "site-packages" else {"MYPYPATH": str(path)}
    done = subprocess.run(
        [*command, "--no-error-summary"],
        cwd=directory,
        env={**os.environ, **where},
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).splitlines()


def test_mypy_accepts_the_readme_and_every_form_of_a_grid(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy comes with the dev extra")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert any("cm.Study(" in block for block in blocks)
    found = complaints("\n".join([*blocks, FORMS, WRONG]), tmp_path)
    # What is wrong is found, so that it is known to have looked; nothing else is.
    assert [line for line in found if 'expected "Axis"' not in line] == []
    assert len(found) == 1
