"""The same loop, written plainly: what one would write without this package.

`numba_loop` is the scalar loop over updates, compiled by Numba and parallel over runs;
`numpy_loop` is vectorised over runs, with the runs along the contiguous axis. Both are written as
a reader of the paper would write them: double precision, the library's own random numbers, no
tricks. Both return the final value of every run. What an expert would write is in experts.py.

The pieces of the Numba loop are small functions chosen when the loop is made; the compiler
inlines them, so that choosing costs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: means, theta0, step size, updates, runs: the final value of every run
Loop = Callable[[Floats, Floats, float, int, int], Floats]

TINY = 1e-150  # keeps 1/pi finite where a probability underflowed


@dataclass(frozen=True, slots=True)
class Choice:
    """What the loop does: the parts that the experiments of the benchmark choose from."""

    update: str  # "natural", "vanilla", "direct"
    baseline: str  # "constant", "value", "min_variance_gradient", "min_variance_natural"
    gamma: float = 0.0  # mixture with the uniform distribution
    noise: str | None = None  # None, "bernoulli", "gaussian" (of standard deviation 1)
    constant: float = 0.0  # the constant baseline
    every: int = 0  # keep the policy every so many updates


# ------------------------------------------------------------------------------------- Numba


@numba.njit
def softmax(theta: Floats, pi: Floats) -> None:
    largest = theta.max()
    total = 0.0
    for i in range(theta.size):
        pi[i] = np.exp(theta[i] - largest)
        total += pi[i]
    for i in range(theta.size):
        pi[i] /= total


@numba.njit
def _identity(theta: Floats, pi: Floats) -> None:
    for i in range(theta.size):
        pi[i] = theta[i]


@numba.njit
def value(pi: Floats, r: Floats) -> float:
    total = 0.0
    for i in range(pi.size):
        total += pi[i] * r[i]
    return total


@numba.njit
def _min_variance_gradient(pi: Floats, r: Floats) -> float:
    squares = 0.0
    for i in range(pi.size):
        squares += pi[i] * pi[i]
    above = 0.0
    below = 0.0
    for i in range(pi.size):
        w = pi[i] * ((1.0 - pi[i]) ** 2 + squares - pi[i] * pi[i])
        above += w * r[i]
        below += w
    return above / below if below > 0.0 else value(pi, r)


@numba.njit
def _min_variance_natural(pi: Floats, r: Floats) -> float:
    above = 0.0
    below = 0.0
    for i in range(pi.size):
        w = 1.0 / max(pi[i], TINY)
        above += w * r[i]
        below += w
    return above / below


@numba.njit
def _project(theta: Floats) -> None:
    descending = np.sort(theta)[::-1]
    total = 0.0
    shift = 0.0
    for i in range(theta.size):
        total += descending[i]
        candidate = (total - 1.0) / (i + 1)
        if descending[i] > candidate:
            shift = candidate
    for i in range(theta.size):
        theta[i] = max(theta[i] - shift, 0.0)


@functools.cache  # compiling takes longer than running
def numba_loop(choice: Choice) -> Loop:
    """Compile the loop over updates, parallel over runs."""
    gamma, constant, every = choice.gamma, choice.constant, choice.every
    bernoulli, gaussian = choice.noise == "bernoulli", choice.noise == "gaussian"
    natural, vanilla = choice.update == "natural", choice.update == "vanilla"
    policy = _identity if choice.update == "direct" else softmax

    @numba.njit
    def fixed(pi: Floats, r: Floats) -> float:
        return constant

    baseline = {
        "constant": fixed,
        "value": value,
        "min_variance_gradient": _min_variance_gradient,
        "min_variance_natural": _min_variance_natural,
    }[choice.baseline]

    @numba.njit(parallel=True)
    def loop(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
        arms = r.size
        final = np.empty(runs)
        kept = np.empty((runs, steps // every + 1 if every else 0, arms))
        for run in numba.prange(runs):
            theta = theta0.copy()
            pi = np.empty(arms)
            for t in range(steps):
                policy(theta, pi)
                if every and t % every == 0:
                    kept[run, t // every] = pi
                b = baseline(pi, r)
                # Draw an arm from the mixture of the policy and the uniform distribution.
                u = np.random.random()  # noqa: NPY002
                a = 0
                cumulative = (1.0 - gamma) * pi[0] + gamma / arms
                while u >= cumulative and a < arms - 1:
                    a += 1
                    cumulative += (1.0 - gamma) * pi[a] + gamma / arms
                mu = (1.0 - gamma) * pi[a] + gamma / arms
                reward = r[a]
                if bernoulli:
                    reward = 1.0 if np.random.random() < r[a] else 0.0  # noqa: NPY002
                if gaussian:
                    reward += np.random.normal()  # noqa: NPY002
                step = alpha * (reward - b) / mu
                if natural:
                    theta[a] += step
                elif vanilla:
                    step *= pi[a]
                    for i in range(arms):
                        theta[i] -= step * pi[i]
                    theta[a] += step
                else:
                    theta[a] += step
                    _project(theta)
            policy(theta, pi)
            if every and steps % every == 0:
                kept[run, steps // every] = pi
            final[run] = value(pi, r)
        return final, kept

    compiled: Any = loop

    def final_values(r: Floats, theta0: Floats, alpha: float, steps: int, runs: int) -> Floats:
        final: Floats = compiled(r, theta0, alpha, steps, runs)[0]
        return final

    return final_values


# ------------------------------------------------------------------------------------- NumPy


def _cumulative(rows: Floats) -> Floats:
    """Sums from the first row on. np.cumsum along this axis takes many times as long."""
    sums = rows.copy()
    for k in range(1, len(rows)):
        sums[k] += sums[k - 1]
    return sums


def numpy_loop(choice: Choice) -> Loop:
    """Make the loop over updates, vectorised over runs: arrays are [arm, run]."""

    def policy(theta: Floats) -> Floats:
        if choice.update == "direct":
            return theta
        pi = np.exp(theta - theta.max(axis=0))
        pi /= pi.sum(axis=0)
        return pi

    def baseline(pi: Floats, r: Floats) -> Floats | float:
        if choice.baseline == "constant":
            return choice.constant
        if choice.baseline == "value":
            return np.asarray(r @ pi)
        if choice.baseline == "min_variance_gradient":
            w = pi * ((1.0 - pi) ** 2 + (pi * pi).sum(axis=0) - pi * pi)
            total = w.sum(axis=0)
            return np.where(total > 0, (r @ w) / np.where(total > 0, total, 1.0), r @ pi)
        w = 1.0 / np.maximum(pi, TINY)
        return np.asarray((r @ w) / w.sum(axis=0))

    def project(theta: Floats) -> Floats:
        descending = -np.sort(-theta, axis=0)
        count = np.arange(1, len(theta) + 1)[:, None]
        candidates = (np.cumsum(descending, axis=0) - 1.0) / count
        last = (descending > candidates).sum(axis=0) - 1
        shift = np.take_along_axis(candidates, last[None], axis=0)
        return np.asarray(np.maximum(theta - shift, 0.0))

    def loop(r: Floats, theta0: Floats, alpha: float, steps: int, runs: int) -> Floats:
        rng = np.random.default_rng()
        arms = len(r)
        theta = np.repeat(theta0[:, None], runs, axis=1)
        each = np.arange(runs)
        for _ in range(steps):
            pi = policy(theta)
            b = baseline(pi, r)
            mu = (1.0 - choice.gamma) * pi + choice.gamma / arms if choice.gamma else pi
            cumulative = _cumulative(mu)
            a = np.minimum((rng.random(runs) >= cumulative).sum(axis=0), arms - 1)
            reward = r[a]
            if choice.noise == "bernoulli":
                reward = (rng.random(runs) < reward).astype(np.float64)
            elif choice.noise == "gaussian":
                reward = reward + rng.standard_normal(runs)
            step = alpha * (reward - b) / mu[a, each]
            if choice.update == "vanilla":
                step *= pi[a, each]
                theta -= step * pi
                theta[a, each] += step
            else:
                theta[a, each] += step
                if choice.update == "direct":
                    theta = project(theta)
        return np.asarray(r @ policy(theta))

    return loop
