"""A small study: baselines of equal variance that do not learn alike.

Three arms pay (1, 0.7, 0), and natural policy gradient starts at θ₀ = (0, 3, 5), where it takes
the worst arm 88 % of the time. The baselines b* − ½ and b* + ½ lie equally far from the
minimum-variance baseline b*, so their vanilla gradient estimates have the same variance; their
natural ones, which the runs follow, do not. The lower one
is *committal*: it rewards whatever was tried, and about half of the runs end on a suboptimal
arm. The higher one makes the agent doubt itself, and nearly every run finds the best arm.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from committal.analysis import FailureRate, failure_rate
from committal.config import (
    Bandit,
    Baseline,
    Expected,
    Experiment,
    MinVariance,
    Natural,
    Record,
    Softmax,
    Update,
    Value,
    Vanilla,
)
from committal.simulation.run import Progress, run

if TYPE_CHECKING:
    import xarray as xr

    from committal.simulation.streams import RNGLike

BELOW = 0.9
SIMPLEX_RUNS = 15
CURVE_RUNS = 40


@dataclass(frozen=True, slots=True)
class Setting:
    """One panel of the demonstration."""

    label: str
    latex: str
    baseline: Baseline
    steps: int

    @property
    def experiment(self) -> Experiment:
        """The experiment; only final values and policies are kept."""
        return Experiment(
            problem=Bandit([1.0, 0.7, 0.0]),
            policy=Softmax([0.0, 3.0, 5.0]),
            update=Natural(step_size=0.025),
            baseline=self.baseline,
            steps=self.steps,
        )


# The value baseline learns slowly from here: the paper gives it twice the time.
SETTINGS = (
    Setting("b* - 1/2", r"$b^* - 1/2$", MinVariance() - 0.5, 1000),
    Setting("b*", r"$b^*$", MinVariance(), 1000),
    Setting("b* + 1/2", r"$b^* + 1/2$", MinVariance() + 0.5, 1000),
    Setting("V", r"$V$", Value(), 2000),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the demonstration found for one setting.

    Attributes
    ----------
    variance : float
        Exact variance of the vanilla gradient estimate at θ₀, the one that b* minimises.
    natural_variance : float
        That of the natural one, which the runs follow.
    rate : FailureRate
        How often the final value stayed below 0.9.
    value, value_sem : float
        Mean final value and its standard error.
    seconds : float
        Wall time of all runs.
    curves : xarray.Dataset
        The first runs, in detail.
    """

    setting: Setting
    variance: float
    natural_variance: float
    rate: FailureRate
    value: float
    value_sem: float
    seconds: float
    curves: xr.Dataset

    @property
    def updates_per_second(self) -> float:
        """Speed of all threads together."""
        return self.rate.runs * self.setting.steps / max(self.seconds, 1e-9)


def outcomes(
    *,
    runs: int,
    rng: RNGLike,
    threads: int | None,
    progress: dict[str, Progress] | None = None,
) -> Iterator[Outcome]:
    """Run the settings one after the other.

    Parameters
    ----------
    runs, rng, threads
        See :func:`committal.run`. All settings see the same random numbers.
    progress : dict, optional
        By label, whom to tell about progress.
    """
    for setting in SETTINGS:
        experiment = setting.experiment
        report = progress[setting.label] if progress else False
        variance = start_variance(experiment)  # first: it also loads what the clock must not see
        start = time.perf_counter()
        data = run(experiment, runs=runs, rng=rng, threads=threads, progress=report)
        seconds = time.perf_counter() - start
        final = data["value"].values[:, -1]
        detailed = experiment.replace(record=Record("value", "policy", every=2))
        yield Outcome(
            setting=setting,
            variance=variance,
            natural_variance=start_variance(experiment, Natural(step_size=1.0)),
            rate=failure_rate(data, BELOW),
            value=float(final.mean()),
            value_sem=float(final.std(ddof=1) / len(final) ** 0.5) if runs > 1 else float("nan"),
            seconds=seconds,
            curves=run(detailed, runs=min(runs, CURVE_RUNS), rng=rng, threads=threads),
        )


def start_variance(experiment: Experiment, update: Update | None = None) -> float:
    """Compute the variance of a gradient estimate, the vanilla one, before the first update."""
    first = experiment.replace(
        update=update or Vanilla(step_size=1.0), steps=0, record=Record("variance")
    )
    return float(run(first, runs=1, rng=0)["variance"].values[0, 0])


def true_gradient(setting: Setting) -> xr.Dataset:
    """Follow the exact gradient, which no baseline changes."""
    experiment = setting.experiment.replace(
        baseline=0.0, estimator=Expected(), record=Record("policy", every=2)
    )
    return run(experiment, runs=1, rng=0)
