"""Six ideas of one's own, each a formula of a few words against what it should improve on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import committal as cm

START = [0.0, 3.0, 5.0]
BASE = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(START), cm.Vanilla(0.5), cm.Value(), steps=1000
)
NATURAL = BASE.replace(update=cm.Natural(0.05))
OFF = BASE.replace(behaviour=cm.UniformMixture(0.5))


def weighted(text: str) -> cm.Experiment:
    """The off-policy experiment with a weight."""
    return OFF.replace(estimator=cm.OneSample(weight=cm.weight(text)))


COLLISION = cm.baseline("sum(pi**2 * r) / sum(pi**2)")
POSITIVE = cm.update("maximum(A, 0) * rho * score")
ESCORT = cm.link("abs(theta)**p", p=2)
KL = cm.quantity("sum(pi * log(pi / (exp(theta0) / sum(exp(theta0)))))", name="kl_to_start")
IDEAS: dict[str, dict[str, cm.Experiment]] = {
    "a baseline": {
        "value − ½": NATURAL.replace(baseline=cm.Value() - 0.5),
        "Σπ²r / Σπ² − ½": NATURAL.replace(baseline=COLLISION - 0.5),
    },
    "a clipped weight": {"ρ": OFF, "min(ρ, 1)": weighted("minimum(rho, 1)")},
    "good news only": {"A": BASE, "max(A, 0)": BASE.replace(update=POSITIVE(step_size=0.5))},
    "Adam": {
        "plain": BASE,
        "Adam, α = 0.05": BASE.replace(update=cm.Vanilla(0.05), optimiser=cm.Adam()),
    },
    "an escort link": {
        "softmax": BASE,
        "θ²": BASE.replace(policy=ESCORT([0.08, 0.37, 1.0]), update=cm.Vanilla(0.1)),
    },
    "KL to the start": {"vanilla": BASE, "natural": NATURAL},
}


def main(out: Path = Path(), runs: int = 2000) -> None:
    """Draw the mean of the value, or of the formula that is recorded, against time."""
    figure, axes = cm.plot.panels(len(IDEAS), "curves")
    for ax, (title, experiments) in zip(axes, IDEAS.items(), strict=True):
        quantity: Any = KL if "KL" in title else "value"
        name = "kl_to_start" if "KL" in title else "value"
        for label, experiment in experiments.items():
            record = cm.Record(quantity, log=40, reduce=cm.Reduce())
            data = cm.run(experiment.replace(record=record), runs=runs, rng=0)
            final = float(data[f"{name}_mean"][-1])
            print(f"{title:<17} {label:<16} mean {name} after {experiment.steps}: {final:.4f}")
            ax.plot(data["time"][1:], data[f"{name}_mean"][1:], label=label)
        ax.set(xscale="log", xlabel="update", ylabel=f"mean {name}".replace("_", " "), title=title)
        ax.legend(fontsize=7)
    figure.savefig(out / "your_ideas.png", dpi=150)


if __name__ == "__main__":
    main()
