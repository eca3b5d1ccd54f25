"""A gridworld of your own: draw the map, solve it, and watch baselines explore it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import committal as cm

MAP = """
############
#S....#....#
#.....#....#
#..........#
###.####.###
#......#...#
#.T....#..G#
############
"""


def main(out: Path = Path(), runs: int = 100) -> None:
    """Compare a committal and a non-committal baseline on the map."""
    maze = cm.gridworld(MAP, goals={"T": 0.5, "G": 1.0}, gamma=0.98, slip=0.1)
    best = cm.optimal(maze)
    print(f"shortest paths: {maze.shortest_paths()}")
    print(f"the best policy earns {float(best.value):.4f}")

    figure, (first, *others) = cm.plot.panels(3, "grid")
    cm.plot.grid(maze, best.V, best.policy, first, colorbar=True)
    first.set_title("values and actions")
    found = {}
    for shift in (-0.5, 0.5):
        exp = cm.Experiment(
            maze,
            cm.Softmax(),
            cm.Natural(step_size=0.1),
            cm.MinVariance() + shift,  # in every state, from its exact action values
            estimator=cm.ExactQ(),
            steps=400,
            record=cm.Record("value", "visits"),
        )
        data = cm.run(exp, runs=runs, rng=0)
        value = data["value"].values[:, -1]
        error = value.std() / np.sqrt(runs)
        print(f"b* {shift:+g}: value {value.mean():.3f} ± {error:.3f} after {exp.steps} episodes")
        found[shift] = data

    # Maps side by side are compared: their colours have one scale.
    counts = np.array([data["visits"].isel(time=-1).mean("run").values for data in found.values()])
    least, most = counts[counts > 0].min(), counts.max()
    for ax, (shift, data) in zip(others, found.items(), strict=True):
        cm.plot.visits(data, ax, vmin=least, vmax=most)
        ax.set_title(f"visits, $b^* {shift:+g}$")
    figure.savefig(out / "your_map.png", dpi=200)


if __name__ == "__main__":
    main()
