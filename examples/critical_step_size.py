"""The step size at which regret turns from a logarithm into a power of time.

Stochastic gradient bandits, theta += eta R (e_a - pi), on two arms that pay 1 and 0.5. Near the
wrong arm log-odds are a drift and jumps, in a clock that counts draws of the right arm. The
exponent of that process is kappa = eta_c / eta: runs leave the wrong arm like t^-kappa, so regret
grows like T^(1 - kappa) if kappa < 1, and like log T else. No run is needed to know eta_c.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import committal as cm

TIMES = (1000, 10_000)


def main(out: Path = Path(), runs: int = 8000) -> None:
    """Measure the growth of regret on both sides of the critical step size."""
    exp = cm.Experiment(
        problem=cm.Bandit([1.0, 0.5]),
        policy=cm.Softmax(),
        update=cm.Vanilla(step_size=1.0),
        steps=TIMES[-1],
        record=cm.Record("regret", at=TIMES),
    )
    critical = cm.exact.critical_step_size(exp)
    print(f"critical step size {critical:.6f}")
    rates = critical * np.geomspace(0.25, 8, 11)
    slopes = []
    for eta in rates:
        regret = cm.run(exp.replace(update=cm.Vanilla(eta)), runs=runs, rng=0)["regret"].values
        # The error of the slope from ten parts of the runs.
        parts = np.log10(np.array([x.mean(axis=0) for x in np.array_split(regret, 10)]))
        each = parts[:, 1] - parts[:, 0]
        slopes.append((each.mean(), each.std(ddof=1) / 10**0.5))
        theory = max(0.0, 1 - critical / eta)
        print(f"eta {eta:6.3f}: regret grows like T^{slopes[-1][0]:.3f}, in theory T^{theory:.3f}")
    figure, ax = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
    fine = np.geomspace(rates[0], rates[-1], 200)
    ax.plot(fine, np.maximum(0.0, 1 - critical / fine), label=r"theory: $\max(0, 1 - \eta_c/\eta)$")
    mean, error = np.array(slopes).T
    ax.errorbar(rates, mean, 2 * error, fmt="o", markersize=4, label="runs, two standard errors")
    looks = np.log10(np.log(TIMES[1]) / np.log(TIMES[0]))
    ax.plot(rates[[0, 4]], [looks, looks], "--", color="0.5", label=r"what $\log T$ looks like")
    ax.axvline(critical, color="0.5", linestyle=":", linewidth=1)
    ax.annotate(r"$\eta_c$", (critical, 0.9), xytext=(4, 0), textcoords="offset points")
    ax.set(xscale="log", xlabel=r"step size $\eta$", ylabel="exponent of regret", ylim=(-0.05, 1))
    ax.set_xticks([0.2, 0.4, 0.8, 1.6, 3.2, 6.4], ["0.2", "0.4", "0.8", "1.6", "3.2", "6.4"])
    ax.minorticks_off()
    ax.legend(fontsize=7, loc="lower right")
    figure.savefig(out / "critical_step_size.png", dpi=200)


if __name__ == "__main__":
    main()
