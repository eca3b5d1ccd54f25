"""A bandit of your own: four advertisements, clicked or not.

Rewards are Bernoulli, the baseline is whatever you like, and everything else is compared with it
under the same random numbers.
"""

from __future__ import annotations

from pathlib import Path

import committal as cm

CLICKS = {"cat": 0.8, "dog": 0.6, "car": 0.3, "sofa": 0.1}
BASELINES = {
    "none": cm.Constant(0.0),
    "value": cm.Value(),
    "average so far": cm.RunningMean(),
    "minimum variance": cm.MinVariance(),
    "optimistic": cm.Value() + 0.2,
}


def main(out: Path = Path(), runs: int = 1000) -> None:
    """Compare baselines on the advertisements."""
    exp = cm.Experiment(
        problem=cm.Bandit(list(CLICKS.values()), noise="bernoulli", names=list(CLICKS)),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.05),
        steps=1500,
        record=cm.Record("value", every=15),
    )
    named = {name: {"baseline": baseline} for name, baseline in BASELINES.items()}
    study = cm.Study(exp, {"baseline": named}, runs=runs, rng=0)
    data = study.run()
    rates = cm.failure_rates(data, below=0.75)
    for name in BASELINES:
        one = rates.sel(baseline=name)
        print(
            f"{name:<17} not on the best advertisement: {100 * float(one.estimate):5.1f} % "
            f"[{100 * float(one.low):.1f}, {100 * float(one.high):.1f}]"
        )
    ax = cm.plot.bands(data)
    ax.set_ylabel("expected clicks")
    ax.figure.savefig(out / "your_bandit.png", dpi=200)


if __name__ == "__main__":
    main()
