"""Time the study layer against the bare engine: the same runs, without chunks, store or labels.

Both take turns and the best time of each counts. The engine gets one call per configuration with
all threads; a study cuts, computes, writes to a store on disk and labels. What it returns is read
from the store, checksums and all, when it is looked at: the time for that is given apart.

    python bench/study.py
    python bench/study.py --seconds 4 --directory /path/on/the/disk/to/measure
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray  # noqa: F401  # imported before the clock starts

import committal as cm
from committal.simulation.engine import Engine
from committal.support.machine import available_threads

ROUNDS = 5


def studies(seconds: float) -> dict[str, cm.Study]:
    """Studies of different shapes that take about so long on two cores."""
    base = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax([0, 3, 5]),
        update=cm.Natural(step_size=0.025),
        baseline=cm.MinVariance() + 0.5,
        steps=1000,
        record=cm.Record("value", reduce=cm.Reduce(below=0.9)),
    )
    runs = int(seconds * 300_000)  # 3e8 updates a second
    per_run = base.replace(record=cm.Record("value", "policy"))
    curves = base.replace(record=cm.Record("value", every=10, reduce=cm.Reduce(below=0.9)))

    def grid(count: int) -> dict[str, list[float]]:
        return {"update.step_size": np.geomspace(0.01, 0.1, count).tolist()}

    return {
        "one configuration": cm.Study(base, runs=runs, rng=0),
        "10 configurations": cm.Study(base, grid(10), runs=runs // 10, rng=0),
        "100 configurations": cm.Study(base, grid(100), runs=runs // 100, rng=0),
        "10, every run kept": cm.Study(per_run, grid(10), runs=runs // 10, rng=0),
        "10, 101 times": cm.Study(curves, grid(10), runs=runs // 10, rng=0),
    }


def timed(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare(study: cm.Study, threads: int) -> None:
    """Run the configurations one after the other."""
    for configuration in study:
        Engine(configuration.experiment).compute(
            key=study.stream.key, first_run=0, runs=study.runs, threads=threads
        )


def main() -> None:
    """Print the overheads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    threads = available_threads()
    found = {}
    print(f"{'study':<22} {'engine':>9} {'study':>9} {'overhead':>9} {'reading':>9}")
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        for name, study in studies(options.seconds).items():
            store = Path(directory) / "store"
            engine_times, study_times, reading_times = [], [], []
            for _ in range(options.rounds):
                engine_times.append(timed(lambda study=study: bare(study, threads)))
                study_times.append(
                    timed(lambda study=study, store=store: study.run(store, progress=False))
                )
                reading_times.append(timed(lambda store=store: cm.open(store).load()))
                shutil.rmtree(store)
            one, other, reading = min(engine_times), min(study_times), min(reading_times)
            found[name] = {
                "engine": one,
                "study": other,
                "overhead": other / one - 1,
                "reading": reading,
            }
            print(
                f"{name:<22} {one:>7.2f} s {other:>7.2f} s {other / one - 1:>8.1%} "
                f"{reading:>7.2f} s",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
