"""Six ideas of one's own, each a formula of a few words against what it should improve on."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

import committal as cm

BASE = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Vanilla(0.5), cm.Value(), steps=1000
)
NATURAL = BASE.replace(update=cm.Natural(0.1))
UNIFORM = BASE.replace(behaviour=cm.Fixed([1 / 3] * 3), baseline=0.8)


def weighted(text: str) -> cm.Experiment:
    """Uniform draws with a weight."""
    return UNIFORM.replace(estimator=cm.OneSample(weight=cm.weight(text)))


CRITIC = cm.baseline("v", state={"v": ("start", "v + 0.01 * (mean(R) - v)")}, start=0)
POSITIVE = cm.update("maximum(A, 0) * rho * score")
ESCORT = cm.link("abs(theta)**p", p=2)
KL = cm.quantity("sum(pi * log(pi / (exp(theta0) / sum(exp(theta0)))))", name="kl_to_start")
IDEAS: dict[str, dict[str, cm.Experiment]] = {
    "a learned baseline": {
        "the true value": NATURAL,
        "learned from 0": NATURAL.replace(baseline=CRITIC),
        "learned from 1": NATURAL.replace(baseline=CRITIC(start=1)),
    },
    "a clipped weight": {
        "1": weighted("1"),
        "1 if A > 0, else min(ρ, 1)": weighted("where(A > 0, 1, minimum(rho, 1))"),
    },
    "good news only": {"A": BASE, "max(A, 0)": BASE.replace(update=POSITIVE(step_size=0.5))},
    "Adam": {
        "plain, α = 0.5": BASE,
        "Adam, α = 0.05": BASE.replace(update=cm.Vanilla(0.05), optimiser=cm.Adam()),
    },
    "an escort link": {
        "exp(θ)": BASE,
        "θ²": BASE.replace(policy=ESCORT([0.08, 0.37, 1.0]), update=cm.Vanilla(0.1)),
    },
    "KL to the start": {"vanilla": BASE, "natural": NATURAL},
}


def main(out: Path = Path(), runs: int = 2000) -> None:
    """Draw the mean of the value, or of the formula that is recorded, against time."""
    figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
    for ax, (title, experiments) in zip(axes.flat, IDEAS.items(), strict=True):
        name, quantity = ("kl_to_start", KL) if "KL" in title else ("value", "value")
        for label, experiment in experiments.items():
            record = cm.Record(quantity, log=40, reduce=cm.Reduce())
            data = cm.run(experiment.replace(record=record), runs=runs, rng=0)
            mean = data[f"{name}_mean"]
            print(f"{title:<18} {label:<26} mean {name} at the end: {float(mean[-1]):.4f}")
            ax.plot(data["time"][1:], mean[1:], label=label)
        ax.set(xscale="log", xlabel="update", ylabel=f"mean {name}".replace("_", " "), title=title)
        ax.legend(fontsize=7, loc="upper left" if "KL" in title else "lower right")
    figure.savefig(out / "your_ideas.png", dpi=150)


if __name__ == "__main__":
    main()
