"""Processes started by MPI compute the same bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

Contents = Callable[[Path], dict[str, bytes]]

PROGRAM = """
import sys
import committal as cm
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=50,
        record=cm.Record("value", "policy", every=10),
    )
    study = cm.Study(exp, {"baseline": [0.0, cm.Value()]}, runs=300, rng=0)
    study.run(sys.argv[1] + "/here", chunk=64, progress=False)
    with MPIPoolExecutor() as pool:
        study.run(sys.argv[1] + "/there", pool, chunk=64, progress=False)
"""


def test_mpi(tmp_path: Path, contents: Contents) -> None:
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:/usr/bin:/usr/local/bin")
    if mpiexec is None:
        pytest.skip("needs mpiexec")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", program, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert len(contents(tmp_path / "here")) == 12
