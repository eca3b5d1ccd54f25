"""Exploration rescues a committal baseline, unless it stops too soon.

EXP3 draws from a mixture of the policy and the uniform distribution and corrects for it. With
exploration eps_t such that t * eps_t**2 goes to infinity, natural policy gradient converges
whatever the baseline; with exploration that decays faster it may choose the wrong arm for ever.
"""

from __future__ import annotations

from pathlib import Path

import committal as cm

SCHEDULES = {
    "on-policy": None,
    "t^-1/4": cm.Decay(0.5, 0.25),
    "t^-0.45": cm.Decay(0.5, 0.45),
    "t^-1": cm.Decay(0.5, 1.0),
    "t^-3/2": cm.Decay(0.5, 1.5),
}


def main(out: Path = Path(), runs: int = 4000) -> None:
    """Compare schedules on both sides of the condition."""
    exp = cm.Experiment(
        problem=cm.Bandit([1.0, 0.0]),
        policy=cm.Sigmoid(-1.0),
        update=cm.Natural(step_size=0.15),
        baseline=-1.0,  # committal: every reward looks good
        steps=10_000,
        record=cm.Record("value", log=60, reduce=cm.Reduce(below=0.5)),
    )
    figure, (ax,) = cm.plot.panels(1, "curves")
    figure.set_size_inches(4.5, 3.2)
    for name, schedule in SCHEDULES.items():
        behaviour = cm.OnPolicy() if schedule is None else cm.UniformMixture(schedule)
        lasts = schedule is not None and cm.keeps_exploring(schedule)
        word = "yes" if lasts else "no"
        data = cm.run(exp.replace(behaviour=behaviour), runs=runs, rng=0)
        rate = cm.failure_rate(data)
        print(f"{name:<9} t·eps² → ∞: {word:<3}  below one half after {exp.steps} updates: {rate}")

        later = data.isel(time=slice(1, None))
        low, high = cm.analysis.proportion_interval(later["failures"].values, runs)
        times, stuck = later["time"].values, later["failures"].values / runs
        label = name if schedule is None else f"${name.replace('^', '^{')}}}$"
        (line,) = ax.plot(times, stuck, "-" if lasts else "--", label=f"{label}  ({word})")
        ax.fill_between(times, low, high, color=line.get_color(), alpha=0.25, linewidth=0)
    ax.set(xscale="log", xlabel="update", ylabel="runs below one half (fraction)", ylim=(0, None))
    ax.text(0.98, 0.02, "bands: 95 % intervals", transform=ax.transAxes, ha="right", fontsize=7)
    title = r"exploration $\epsilon_t \propto$ (does $t\,\epsilon_t^2 \to \infty$?)"
    ax.legend(title=title, fontsize=7, title_fontsize=7)
    figure.savefig(out / "exp3_rescue.png", dpi=200)


if __name__ == "__main__":
    main()
