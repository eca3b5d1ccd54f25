"""Who has no compiler is told so in one line."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not shutil.which("cmake"), reason="needs cmake")
@pytest.mark.skipif(not (shutil.which("make") or shutil.which("ninja")), reason="needs make")
def test_no_compiler_is_one_line(tmp_path: Path) -> None:
    env = os.environ | {"CXX": str(tmp_path / "no-such-compiler")}
    if not shutil.which("make"):
        env["CMAKE_GENERATOR"] = "Ninja"
    done = subprocess.run(
        ["cmake", "-S", str(ROOT), "-B", str(tmp_path / "build")],
        capture_output=True, text=True, env=env, check=False,
    )  # fmt: skip
    assert done.returncode
    said = [line for line in done.stderr.splitlines() if "committal:" in line]
    assert len(said) == 1
    assert "install GCC 11 or Clang 14" in said[0]
    assert said[0].endswith("or set CXX")
    assert "Call Stack" not in done.stderr
