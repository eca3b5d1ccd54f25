"""Bandit experiments that everybody can do, and who does them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from experts import covers, jax_loop, numba_expert_loop
from peers import Choice, Floats, numba_loop, numpy_loop
from timing import Contestant

import committal as cm

BASELINES = ("constant", "value", "min_variance_gradient", "min_variance_natural")
UPDATES = ("natural", "vanilla", "direct")
KINDS = ((0.0, None), (0.0, "bernoulli"), (0.1, None), (0.1, "bernoulli"))
ARMS = (2, 3, 10, 100, 1000)
STEP_SIZES = {"natural": 0.025, "vanilla": 0.5, "direct": 0.1}

# Updates per run, and runs of a peer: a tenth of a second for plain Numba, short enough to fall
# between the disturbances of a machine that others use too.
STEPS_AND_RUNS = ((10, 500, 8_192), (30, 500, 2_048), (100, 250, 1_024), (1000, 100, 512))
ALL_RUNS = 32_768  # of an experiment, for those who do not cut them up
# We are given more runs, so that a measurement takes us about as long.
OUR_RUNS = {"generic": 0.25, "avx2": 8.0, "avx512": 8.0}


@dataclass(frozen=True, slots=True)
class Case:
    """A choice of parts, and a number of arms."""

    choice: Choice
    arms: int

    @property
    def name(self) -> str:
        parts = [self.choice.update, self.choice.baseline.replace("_", " ")]
        if self.choice.gamma:
            parts.append("uniform mixture")
        if self.choice.noise:
            parts.append(self.choice.noise.capitalize())
        if self.choice.every:
            parts.append(f"policy every {self.choice.every}")
        return ", ".join([*parts, f"K={self.arms}"])

    @property
    def means(self) -> Floats:
        return np.array([1.0, 0.7, 0.0]) if self.arms == 3 else np.linspace(1.0, 0.0, self.arms)

    @property
    def start(self) -> Floats:
        if self.choice.update == "direct":
            return np.full(self.arms, 1.0 / self.arms)
        return np.array([0.0, 3.0, 5.0]) if self.arms == 3 else np.zeros(self.arms)

    @property
    def alpha(self) -> float:
        # A natural step grows like 1/pi: keep it the same size for many arms.
        alpha = STEP_SIZES[self.choice.update]
        return alpha if self.choice.update == "vanilla" else alpha * min(1.0, 3 / self.arms)

    @property
    def size(self) -> tuple[int, int]:
        """Updates of a run, and runs of a peer."""
        return next((steps, runs) for most, steps, runs in STEPS_AND_RUNS if self.arms <= most)

    def experiment(self) -> cm.Experiment:
        choice = self.choice
        baseline = {
            "constant": cm.Constant(choice.constant),
            "value": cm.Value(),
            "min_variance_gradient": cm.MinVariance(),
            "min_variance_natural": cm.MinVariance(metric="natural"),
        }[choice.baseline]
        direct = choice.update == "direct"
        record = cm.Record("policy", every=choice.every) if choice.every else cm.Record("value")
        return cm.Experiment(
            problem=cm.Bandit(
                self.means,
                noise=choice.noise,
                sigma=1.0 if choice.noise == "gaussian" else None,
            ),
            policy=cm.Direct(self.start) if direct else cm.Softmax(self.start),
            update=cm.Natural(self.alpha) if choice.update == "natural" else cm.Vanilla(self.alpha),
            baseline=baseline,
            behaviour=cm.UniformMixture(choice.gamma) if choice.gamma else cm.OnPolicy(),
            steps=self.size[0],
            record=record,
        )

    def ours(self, *, isa: str, threads: int, scale: float) -> Contestant:
        """Committal, on an instruction set."""
        experiment, (steps, runs) = self.experiment(), self.size
        # Whole blocks for every thread; what is kept of every run must fit into memory.
        factor = min(OUR_RUNS[isa], 1.0) if self.choice.every else OUR_RUNS[isa]
        runs = max(round(runs * factor * scale / 256), 1) * 256

        def work() -> Floats:
            data = cm.run(experiment, runs=runs, rng=0, threads=threads, isa=isa)
            if self.choice.every:
                return np.asarray(data["policy"].values[:, -1] @ self.means)
            return np.asarray(data["value"].values[:, -1])

        return Contestant(work, runs * steps, threads)

    def peer(self, name: str, *, threads: int, scale: float) -> Contestant | None:
        """One of the others, None if it does not know this case."""
        steps, runs = self.size
        runs = max(int(runs * scale), 64)
        arguments = (self.means, self.start, self.alpha, steps)
        if name == "NumPy":
            loop = numpy_loop(self.choice)
        elif name == "Numba":
            loop = numba_loop(self.choice)
        elif not covers(self.choice):
            return None
        elif name == "Numba expert":
            loop = numba_expert_loop(self.choice)
        else:
            loop = jax_loop(self.choice, blocks=name == "JAX in blocks")
            if name == "JAX" and self.arms <= 10:
                runs = ALL_RUNS  # at once, as one would write it
        alone = name == "NumPy"
        return Contestant(lambda: loop(*arguments, runs), runs * steps, 1 if alone else threads)


def all_cases() -> Iterator[Case]:
    """Every combination that plain Numba can do."""
    for update, baseline, (gamma, noise), arms in itertools.product(
        UPDATES, BASELINES, KINDS, ARMS
    ):
        yield Case(Choice(update, baseline, gamma=gamma, noise=noise), arms)
