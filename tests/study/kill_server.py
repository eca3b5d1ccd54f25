"""A process that starts runs of a study to be killed, quickly: it imports once and forks.

Reads lines from its standard input: ``start PATH`` forks a child that runs the study with its
store at the path and answers with the child's number; ``wait`` answers with the child's status.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import xarray  # noqa: F401  # imported before forking, so that children need not

import committal as cm


def study() -> cm.Study:
    """A study of many chunks that are large enough to be caught in the middle of writing."""
    record = cm.Record("value", "policy", every=5)
    arms, start, update = cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025)
    base = cm.Experiment(arms, start, update, steps=100, record=record)
    return cm.Study(base, {"baseline": [cm.MinVariance(), cm.Value(), 0.5]}, runs=640, rng=0)


def run(path: str) -> None:
    """Run the study."""
    study().run(path, threads=2, chunk=64, progress=False)


def main() -> None:
    """Serve requests until there are no more."""
    for line in sys.stdin:
        request, _, path = line.strip().partition(" ")
        if request == "start":
            child = os.fork()
            if child == 0:
                try:
                    run(path)
                except BaseException:
                    Path(path).with_suffix(".error").write_text(traceback.format_exc())
                    os._exit(1)
                os._exit(0)
            print(child, flush=True)
        else:
            print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
