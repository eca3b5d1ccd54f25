"""Time committal against the same loop in Numba and NumPy, side by side.

The contestants take turns, several times, and the best time of each counts: whatever disturbs
the machine disturbs all of them, and a minimum is what the code can do. Compilation and imports
happen before the clock starts. Every contestant returns the final value of every run and the
means must agree, so nobody wins by computing something else.

    python bench/compare.py                        the table of the README
    python bench/compare.py --all                  every combination
    python bench/compare.py --match direct --json out.json
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt
from peers import Choice, numba_loop, numpy_loop

import committal as cm

Floats = npt.NDArray[np.float64]

BASELINES = ("constant", "value", "min_variance_gradient", "min_variance_natural")
ARMS = (2, 3, 10, 100, 1000)
# Updates per measurement, by number of arms: about half a second for Numba.
RUNS_AND_STEPS = {
    2: (32_000, 500),
    3: (32_000, 500),
    10: (16_000, 500),
    100: (4_000, 250),
    1000: (2_000, 100),
}
STEP_SIZES = {"natural": 0.025, "vanilla": 0.5, "direct": 0.1}


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table."""

    choice: Choice
    arms: int

    @property
    def name(self) -> str:
        parts = [self.choice.update, self.choice.baseline.replace("_", " ")]
        if self.choice.gamma:
            parts.append("uniform mixture")
        if self.choice.bernoulli:
            parts.append("Bernoulli")
        return ", ".join([*parts, f"K={self.arms}"])

    @property
    def means(self) -> Floats:
        return np.array([1.0, 0.7, 0.0]) if self.arms == 3 else np.linspace(1.0, 0.0, self.arms)

    @property
    def start(self) -> Floats:
        if self.choice.update == "direct":
            return np.full(self.arms, 1.0 / self.arms)
        return np.array([0.0, 3.0, 5.0]) if self.arms == 3 else np.zeros(self.arms)

    @property
    def alpha(self) -> float:
        # A natural step grows like 1/pi: keep it the same size for many arms.
        alpha = STEP_SIZES[self.choice.update]
        return alpha if self.choice.update == "vanilla" else alpha * min(1.0, 3 / self.arms)

    def experiment(self, steps: int) -> cm.Experiment:
        choice = self.choice
        baseline = {
            "constant": cm.Constant(choice.constant),
            "value": cm.Value(),
            "min_variance_gradient": cm.MinVariance(),
            "min_variance_natural": cm.MinVariance(metric="natural"),
        }[choice.baseline]
        direct = choice.update == "direct"
        update = cm.Natural(self.alpha) if choice.update == "natural" else cm.Vanilla(self.alpha)
        return cm.Experiment(
            problem=cm.Bandit(self.means, noise="bernoulli" if choice.bernoulli else None),
            policy=cm.Direct(self.start) if direct else cm.Softmax(self.start),
            update=update,
            baseline=baseline,
            behaviour=cm.UniformMixture(choice.gamma) if choice.gamma else cm.OnPolicy(),
            steps=steps,
            record=cm.Record("value"),
        )


def usual_cases() -> Iterator[Case]:
    """List the cases of the README."""
    for baseline in BASELINES:
        yield Case(Choice("natural", baseline), 3)
    for baseline in BASELINES:
        yield Case(Choice("vanilla", baseline), 3)
    for update in ("natural", "vanilla"):
        yield Case(Choice(update, "value", gamma=0.1, bernoulli=True), 3)
    yield Case(Choice("direct", "constant"), 3)
    for arms in ARMS:
        if arms != 3:
            yield Case(Choice("natural", "value"), arms)


def all_cases() -> Iterator[Case]:
    """List every combination that the peers can do."""
    kinds = ((0.0, False), (0.0, True), (0.1, False), (0.1, True))
    updates = ("natural", "vanilla", "direct")
    for update, baseline, (gamma, bernoulli), arms in itertools.product(
        updates, BASELINES, kinds, ARMS
    ):
        yield Case(Choice(update, baseline, gamma=gamma, bernoulli=bernoulli), arms)


def take_turns(
    contestants: dict[str, Callable[[], Floats]], repeats: int
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Time the contestants one after the other, several times: best seconds, last answers."""
    best = dict.fromkeys(contestants, float("inf"))
    answers: dict[str, Floats] = {}
    for _ in range(repeats):
        for name, contestant in contestants.items():
            start = time.perf_counter()
            answers[name] = contestant()
            best[name] = min(best[name], time.perf_counter() - start)
    return best, answers


def measure(case: Case, *, threads: int, repeats: int, scale: float) -> dict[str, object]:
    """Time all contestants on one case; nanoseconds per run and update."""
    runs, steps = RUNS_AND_STEPS[case.arms]
    runs = max(int(runs * scale), 64)
    experiment = case.experiment(steps)
    compiled, vectorised = numba_loop(case.choice), numpy_loop(case.choice)
    arguments = (case.means, case.start, case.alpha, steps)

    def ours() -> Floats:
        data = cm.run(experiment, runs=runs, rng=0, threads=threads)
        return np.asarray(data["value"].values[:, -1])

    contestants: dict[str, Callable[[], Floats]] = {
        "committal": ours,
        "numba": lambda: compiled(*arguments, runs),
        "numpy": lambda: vectorised(*arguments, runs),
    }
    compiled(*arguments, 2)
    cm.run(experiment, runs=2, rng=0)
    best, values = take_turns(contestants, repeats)
    return {
        "case": case.name,
        "runs": runs,
        "steps": steps,
        **{f"{name}_ns": seconds / (runs * steps) * 1e9 for name, seconds in best.items()},
        "over_numba": best["numba"] / best["committal"],
        "over_numpy": best["numpy"] / best["committal"],
        "agree": _agree(values),
    }


def _agree(values: dict[str, Floats]) -> bool:
    """Compare mean final values, within five standard errors of the difference."""
    reference = values["committal"]
    for other in values.values():
        error = np.sqrt((reference.var() + other.var()) / len(reference))
        if not abs(reference.mean() - other.mean()) <= 5 * error + 1e-9:
            return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of runs")
    parser.add_argument("--all", action="store_true", help="every combination")
    parser.add_argument("--match", default="", help="only cases whose name contains this")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    numba.set_num_threads(options.threads)

    cases = all_cases() if options.all else usual_cases()
    print(f"ns per run and update, {options.threads} threads (NumPy: one), best of "
          f"{options.repeats}\n")  # fmt: skip
    print(f"| {'case':<52} | committal | Numba | NumPy | Numba / ours | NumPy / ours |")
    print(f"|{'-' * 54}|----------:|------:|------:|-------------:|-------------:|")
    rows = []
    for case in cases:
        if options.match not in case.name:
            continue
        row = measure(case, threads=options.threads, repeats=options.repeats, scale=options.scale)
        rows.append(row)
        warning = "" if row["agree"] else "  <- results differ"
        print(
            f"| {case.name:<52} | {row['committal_ns']:9.2f} | {row['numba_ns']:5.0f} "
            f"| {row['numpy_ns']:5.0f} | {row['over_numba']:11.1f}× "
            f"| {row['over_numpy']:11.1f}× |{warning}",
            flush=True,
        )
    if options.json:
        machine = {"machine": platform.machine(), "python": platform.python_version()}
        versions = {"committal": cm.__version__, "numba": numba.__version__,
                    "numpy": np.__version__}  # fmt: skip
        report = {**machine, **versions, "threads": options.threads, "rows": rows}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if all(row["agree"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
