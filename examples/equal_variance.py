"""Two baselines whose vanilla gradient estimates have the same variance, and what becomes of them.

Both lie one half away from the minimum-variance baseline b*. The lower one rewards whatever was
tried, and half of its runs end on a suboptimal arm. The higher one makes the agent doubt. The runs
follow the natural gradient, whose estimates have different variances: both are printed.
"""

from __future__ import annotations

from pathlib import Path

import committal as cm
from committal import exact


def main(out: Path = Path(), runs: int = 20_000) -> None:
    """Compare the two."""
    exp = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax([0, 3, 5]),  # a start that favours the worst arm
        update=cm.Natural(step_size=0.025),
        baseline=cm.MinVariance() - 0.5,
        steps=1000,
    )
    settings = {"b* - 1/2": exp, "b* + 1/2": exp.replace(baseline=cm.MinVariance() + 0.5)}

    # b* minimises the variance of the vanilla gradient: on either side of it, it is the same.
    vanilla = {name: each.replace(update=cm.Vanilla(1.0)) for name, each in settings.items()}
    true = exp.replace(baseline=0, estimator=cm.Expected(), record=cm.Record("policy", every=10))
    gradient = cm.run(true, runs=1)

    figure, axes = cm.plot.panels(2, "simplex")
    for ax, (name, each) in zip(axes, settings.items(), strict=True):
        variance = float(exact.gradient_variance(vanilla[name]))
        rate = cm.failure_rate(cm.run(each, runs=runs, rng=0), below=0.9)
        natural = float(exact.gradient_variance(each))
        print(
            f"{name}: variance at the start {variance:.4f} (vanilla estimate), {natural:.4f} "
            f"(natural), runs below 0.9 at the end {rate}"
        )

        record = cm.Record("policy", every=10)
        cm.plot.simplex(
            cm.run(each.replace(record=record), runs=15, rng=0),
            ax,
            true_gradient=gradient,
            power=0.4,  # the same colours of time in both
            colorbar=ax is axes[-1],
        )
        ax.set_title(f"{name}: {str(rate).split(' %')[0]} % below 0.9", fontsize="medium")
    key = axes[0].get_legend_handles_labels()
    figure.legend(*key, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.set_size_inches(6.4, 3.2)
    figure.suptitle("natural gradient; equal variance of the vanilla estimate", fontsize="small")
    figure.savefig(out / "equal_variance.png", dpi=200)


if __name__ == "__main__":
    main()
