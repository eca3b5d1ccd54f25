"""How often runs end on the worse side, by baseline and by step size: a phase diagram.

Two arms pay 1 and 0. A baseline below 0 calls every reward good, and commits; one between 0 and 1
tells the arms apart. The line is where one run in twenty is below one half at the end: stuck, or,
with small steps, not finished. The exact answer, after infinitely many updates, tells which.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import committal as cm
from committal import exact


def main(out: Path = Path(), runs: int = 1000, points: int = 25) -> None:
    """Draw the diagram."""
    exp = cm.Experiment(
        problem=cm.Bandit([1.0, 0.0]),
        policy=cm.Sigmoid(-1.0),
        update=cm.Natural(step_size=0.1),
        baseline=cm.Constant(0.0),
        steps=1000,
        record=cm.Record("value", reduce=cm.Reduce(below=0.5)),
    )
    baselines = np.linspace(-2.0, 1.0, points).round(4).tolist()
    step_sizes = np.geomspace(0.02, 0.5, points).round(5).tolist()
    grid = {"baseline.c": baselines, "update.step_size": step_sizes}
    rates = cm.failure_rates(cm.Study(exp, grid, runs=runs, rng=0).run())

    # One point of the diagram without sampling, after infinitely many updates:
    b, alpha = baselines[points // 3], step_sizes[points // 2]
    found = float(rates["estimate"].sel(c=b, step_size=alpha))
    there = exp.replace(baseline=b, update=cm.Natural(alpha))
    print(f"b = {b}, step size {alpha}: {100 * found:.1f} % of {runs} runs are below one half,")
    print(f"exactly {100 * exact.committal_probability(there):.3f} % never leave the worse arm")

    ax = cm.plot.heatmap(rates, contours=[0.05])
    ax.set_title(f"runs below ½ after {exp.steps} updates (line: 5 %)", fontsize="medium")
    ax.set(xlabel="step size α", ylabel="baseline b")
    ax.figure.savefig(out / "phase_diagram.png", dpi=200)


if __name__ == "__main__":
    main()
