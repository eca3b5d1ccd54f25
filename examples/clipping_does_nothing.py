"""When clipping does nothing: with one epoch always, and for a likely arm with any number of them.

PPO's clip stops a sample whose ratio rho = pi / pi_old has left [1 - low, 1 + high]. With one epoch
rho is 1, so nothing is ever clipped: all bits are equal. And no ratio exceeds 1 / pi_old, so an arm
with pi_old > 1 / (1 + high) is never clipped upwards: the clip does not keep a policy from
committing. On this problem it only makes several epochs slower.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import committal as cm

CLIP = cm.Clip(0.2, 0.2)


def main(out: Path = Path(), runs: int = 1000) -> None:
    """Compare one and four epochs, with and without the clip."""
    exp = cm.Experiment(
        problem=cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli"),
        policy=cm.Softmax([0, 3, 3]),
        update=cm.Vanilla(step_size=0.5),
        estimator=cm.Group(samples=8, scale="std", eps=1e-6),
        steps=500,
        record=cm.Record("value", log=60),
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.2), layout="constrained")
    found = {}
    for epochs, weight, line in ((1, None, "-"), (1, CLIP, "--"), (4, None, "-"), (4, CLIP, "-")):
        name = f"{epochs} epoch{'s' * (epochs > 1)}, {'clipped' if weight else 'not clipped'}"
        changes = {"estimator.epochs": epochs, "estimator.weight": weight}
        found[name] = data = cm.run(exp.replace(**changes), runs=runs, rng=0)
        print(f"{name:<22} J < 0.85 in {cm.failure_rate(data, below=0.85)}")
        failed = (data["value"] < 0.85).mean("run").isel(time=slice(1, None))
        right.plot(failed["time"], failed, line, label=name)
    one, clipped = (found[f"1 epoch, {x}"]["value"] for x in ("not clipped", "clipped"))
    print(f"one epoch, with and without the clip: equal bits: {bool((one == clipped).all())}")
    p = np.linspace(0.5, 1.0, 200)
    left.plot(p, 1 / p, color="black", label="largest possible ratio, $1 / \\pi_{old}$")
    for high in (0.2, 0.28):
        left.axhline(1 + high, color="0.6", linewidth=0.8)
        left.plot(
            1 / (1 + high), 1 + high, "o", label=f"clip {high:g}: never above {1 / (1 + high):.3f}"
        )
    left.fill_between(p, 1, 1 / p, alpha=0.15, linewidth=0)
    left.set(xlabel="$\\pi_{old}$ of the arm", ylabel="ratio", xlim=(0.5, 1), ylim=(1, 2))
    right.set(xscale="log", xlabel="batch", ylabel="share of runs with J < 0.85", ylim=(0, 1.02))
    left.legend(fontsize=7)
    right.legend(fontsize=7, loc="lower left")
    figure.savefig(out / "clipping_does_nothing.png", dpi=200)


if __name__ == "__main__":
    main()
