"""A Python without a global lock stays one, and many threads may run experiments at once."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig

import pytest

pytestmark = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python"
)

# In a process of its own, as what else the tests import may bring the lock back.
IMPORTS = """
import sys
import committal._core
assert not sys._is_gil_enabled()
"""

RUNS = """
import sys
import threading
import committal as cm

exp = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025),
    cm.MinVariance() - 0.5, steps=200, record=cm.Record("value", "policy", every=10),
)
alone = [cm.run(exp, runs=300, rng=seed, threads=2) for seed in range(8)]
together = [None] * 8
start = threading.Barrier(8)

def work(seed):
    start.wait()
    for _ in range(3):
        together[seed] = cm.run(exp, runs=300, rng=seed, threads=2)

threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(a.equals(b) for a, b in zip(alone, together, strict=True))
assert not sys._is_gil_enabled()
"""


@pytest.mark.parametrize("program", [IMPORTS, RUNS], ids=["import", "eight threads"])
def test_the_lock_stays_off(program: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    command = [sys.executable, "-W", "error:The global interpreter lock:RuntimeWarning"]
    done = subprocess.run(
        [*command, "-c", program], capture_output=True, text=True, timeout=120, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
