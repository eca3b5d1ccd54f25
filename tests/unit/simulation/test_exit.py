"""The interpreter may end while the core is at work."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import threading, time
    import committal as cm

    experiment = cm.Experiment(
        cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.1), steps=10**7,
        record=cm.Record("value"),
    )
    started = threading.Event()

    def work():
        cm.run(experiment, runs=10_000, rng=0, threads=2, progress=lambda *_: started.set())

    threading.Thread(target=work, daemon=True).start()
    assert started.wait(30)
    time.sleep({delay})
"""


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.06, 0.09])
def test_exit_while_another_thread_runs(delay: float) -> None:
    program = textwrap.dedent(PROGRAM).format(delay=delay)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
