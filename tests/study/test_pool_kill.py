"""A process of a pool that is killed while it sends a result hangs nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import committal as cm
from committal.study.store.store import Store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SCRIPT = """
import os, signal, struct, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Value
from multiprocessing.connection import Connection

import committal as cm

left = Value("i", 5)

def sabotage():
    whole = Connection._send_bytes

    def half(self, data):
        with left.get_lock():
            left.value -= 1
            last = left.value == 0
        if not last:
            return whole(self, data)
        os.write(self.fileno(), struct.pack("!i", len(data)) + bytes(data[: len(data) // 2]))
        os.kill(os.getpid(), signal.SIGKILL)

    Connection._send_bytes = half

if __name__ == "__main__":
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.1), steps=50
    )
    study = cm.Study(exp, runs=1280, rng=0)
    try:
        with ProcessPoolExecutor(2, initializer=sabotage) as pool:
            study.run(sys.argv[1], pool, chunk=64, progress=False)
    except cm.errors.ExecutorError as error:
        print(error)
        sys.exit(4)
"""


def test_half_a_result_hangs_nobody(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    store = tmp_path / "store"
    done = subprocess.run(
        [sys.executable, str(script), str(store)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    assert "a worker of the pool died while it sent a result (process " in done.stdout
    assert "what is finished is kept in the store" in done.stdout
    kept = Store.open(store).inventory(verify=True)
    assert kept.damaged == {}
    assert 1 <= len(kept.chunks) <= 4
    assert int(cm.open(store)["count"]) == 64 * len(kept.chunks)
