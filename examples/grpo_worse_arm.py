"""Advantages divided by their standard deviation can learn the worse arm.

Arm 0 pays 6 once in ten times and else nothing, 0.6 on average; arm 1 always pays 0.5. Divided by
the spread of its group, a 6 counts hardly more than a 0, which is nine times as frequent. The
expected direction, computed without sampling, leads the wrong way everywhere, and all runs follow.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import committal as cm

GROUPS = {
    "mean, std (GRPO)": cm.Group(samples=8, scale="std"),
    "leave one out (RLOO)": cm.Group(samples=8, centre="leave_one_out"),
}


def main(out: Path = Path(), runs: int = 200) -> None:
    """Compare two groups: by their expected directions, and by what runs do."""
    exp = cm.Experiment(
        problem=cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]]),
        policy=cm.Softmax(),
        update=cm.Vanilla(step_size=0.1),
        steps=2000,
        record=cm.Record("policy", log=60),
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.2), layout="constrained")
    p = np.linspace(0.01, 0.99, 99)
    for name, group in GROUPS.items():
        one = exp.replace(estimator=group)
        drift = cm.exact.flow(one, policy=np.stack([p, 1 - p], axis=-1))
        data = cm.run(one, runs=runs, rng=0)["policy"].isel(arm=0, time=slice(1, None))
        wrong = float((data.isel(time=-1) < 0.5).mean())
        kinds = [cm.exact.corner(one, arm).kind for arm in (0, 1)]
        print(f"{name:<21} {100 * wrong:5.1f} % of {runs} runs end on the worse arm;", end=" ")
        print(f"at the better arm the corner {kinds[0]}, at the worse one it {kinds[1]}")
        left.plot(p, drift[:, 0] - drift[:, 1], label=name)
        (line,) = right.plot(data["time"], data.mean("run"), label=name)
        low, high = data.quantile([0.05, 0.95], "run")
        right.fill_between(data["time"], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    left.axhline(0.0, color="0.5", linewidth=0.8)
    left.set(xlabel="probability of the better arm", ylabel="expected change of its log-odds")
    left.set_title("exact, per unit of step size", fontsize="medium")
    right.set(xscale="log", xlabel="update", ylabel="probability of the better arm", ylim=(0, 1))
    right.set_title(f"mean of {runs} runs, and 5 to 95 %", fontsize="medium")
    right.legend(fontsize=7)
    figure.savefig(out / "grpo_worse_arm.png", dpi=200)


if __name__ == "__main__":
    main()
