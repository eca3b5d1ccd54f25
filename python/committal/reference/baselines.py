"""Baselines: what is subtracted from a reward, and what a running mean remembers for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committal.config import (
    Baseline,
    Constant,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    RunningMean,
    Value,
)
from committal.reference.arrays import Floats
from committal.reference.policies import others

__all__ = ["Memory", "baseline_value", "initial_memory", "remember"]


#: 1/pi is not taken of anything smaller, so that weights and their sums stay finite.
SMALLEST_PROBABILITY = 1e-150


@dataclass(frozen=True)
class Memory:
    """What a running mean remembers: its current value and how many rewards made it."""

    mean: float = 0.0
    count: int = 0


def _running_mean(baseline: Baseline) -> RunningMean | None:
    return next((atom for atom in baseline.atoms if isinstance(atom, RunningMean)), None)


def initial_memory(baseline: Baseline) -> Memory:
    """The memory before any reward.

    Examples
    --------
    >>> import committal as cm
    >>> initial_memory(cm.RunningMean(initial=0.5))
    Memory(mean=0.5, count=0)
    """
    running = _running_mean(baseline)
    return Memory(running.initial) if running is not None else Memory()


def remember(baseline: Baseline, memory: Memory, rewards: Floats) -> Memory:
    """m <- m + rate (R - m) for each reward in turn; rate = 1/n for the plain average.

    Examples
    --------
    >>> import committal as cm
    >>> remember(cm.RunningMean(), Memory(5.0, 0), np.array([1.0, 2.0]))
    Memory(mean=1.5, count=2)
    """
    running = _running_mean(baseline)
    if running is None:
        return memory
    mean, count = memory.mean, memory.count
    for reward in rewards:
        count += 1
        if running.rate is not None:
            mean += running.rate * (float(reward) - mean)
        else:
            # The first reward replaces the initial value, whatever that was.
            mean = float(reward) if count == 1 else mean + (float(reward) - mean) / count
    return Memory(mean, count)


def baseline_value(
    baseline: Baseline, pi: Floats, r: Floats, memory: Memory | None = None
) -> float:
    """b(pi, r): the number subtracted from the reward.

    Parameters
    ----------
    baseline : Baseline
    pi : ndarray, shape (K,)
        The target policy, whatever the behaviour is.
    r : ndarray, shape (K,)
        Mean rewards.
    memory : Memory, optional
        Needed by :class:`RunningMean` once a reward has been seen.

    Examples
    --------
    >>> import committal as cm
    >>> pi, r = np.full(3, 1 / 3), np.array([1.0, 0.7, 0.0])
    >>> round(baseline_value(cm.MinVariance() + 0.5, pi, r), 12)
    1.066666666667
    """
    arms = len(pi)
    match baseline:
        case Constant():
            return baseline.c
        case Value():
            return float(pi @ r)
        case MinVariance(metric="gradient"):
            # ||e_i - pi||^2 = (1 - pi_i)^2 + sum over the others of pi_j^2, all positive terms.
            return _weighted_mean(pi * (others(pi) ** 2 + others(pi**2)), pi, r)
        case MinVariance(lam=None):
            return _weighted_mean(1.0 / np.maximum(pi, SMALLEST_PROBABILITY), pi, r)
        case MinVariance():
            assert baseline.lam is not None
            p, lam = np.maximum(pi, SMALLEST_PROBABILITY), baseline.lam
            return _weighted_mean(p * ((arms - 1) * lam**2 + (lam + 1.0 / p) ** 2), pi, r)
        case Maximum():
            return float(r.max())
        case Gap():
            second, best = np.sort(r)[-2:]
            return float(second + baseline.fraction * (best - second))
        case RunningMean():
            return memory.mean if memory is not None else baseline.initial
        case Linear():
            return baseline.offset + sum(
                coefficient * baseline_value(atom, pi, r, memory)
                for coefficient, atom in baseline.terms
            )
    # What the paper does not have says itself what it is.
    return float(baseline.at(pi, r))


def _weighted_mean(w: Floats, pi: Floats, r: Floats) -> float:
    """sum w r / sum w; the value where no arm has any weight (a certain policy, one arm)."""
    total = w.sum()
    return float(w @ r / total) if total > 0.0 else float(pi @ r)
