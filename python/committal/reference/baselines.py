"""Baselines: what is subtracted from a reward, and what a running mean remembers for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from committal.config import (
    Baseline,
    Constant,
    FormulaBaseline,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    RunningMean,
    Value,
)
from committal.reference.arrays import Floats
from committal.reference.formulas import Given, formula_value, known, next_states, with_states
from committal.reference.policies import others
from committal.support.simplex import SMALLEST_PROBABILITY

__all__ = ["Memory", "baseline_value", "baselines_of_samples", "initial_memory", "remember"]


@dataclass(frozen=True)
class Memory:
    """What a running mean remembers: its current value and how many rewards made it."""

    mean: float = 0.0
    count: int = 0
    #: The states of formulas, by the part that has them; empty before the first update.
    states: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    #: In an MDP: those of a baseline, by state of the MDP and part; empty where nobody was yet.
    learned: Mapping[int, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict, repr=False)

    def at(self, s: int) -> Memory:
        """What is remembered in a state of an MDP.

        Examples
        --------
        >>> Memory(learned={2: {"b": {"v": 1.0}}}).at(2).states
        {'b': {'v': 1.0}}
        """
        return replace(self, states={**self.states, **self.learned.get(s, {})})


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


def remember(
    baseline: Baseline, memory: Memory, rewards: Floats, given: Given | None = None
) -> Memory:
    """m <- m + rate (R - m) for each reward in turn; rate = 1/n for the plain average.

    The states of formulas follow their own texts, from what is `given`.

    Examples
    --------
    >>> import committal as cm
    >>> remember(cm.RunningMean(), Memory(5.0, 0), np.array([1.0, 2.0]))
    Memory(mean=1.5, count=2)
    """
    for atom in baseline.atoms:
        if isinstance(atom, FormulaBaseline) and atom.state and given is not None:
            values = with_states(atom.tree, given, memory.states.get(repr(atom)))
            after = next_states("baseline", atom.tree, values)
            memory = replace(memory, states={**memory.states, repr(atom): after})
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
    return replace(memory, mean=mean, count=count)


def baseline_value(
    baseline: Baseline,
    pi: Floats,
    r: Floats,
    memory: Memory | None = None,
    given: Given | None = None,
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
    given : dict, optional
        What a formula looks at; the policy and the mean rewards by default. A formula with a
        value for every sample gives their mean.

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
                coefficient * baseline_value(atom, pi, r, memory, given)
                for coefficient, atom in baseline.terms
            )
        case FormulaBaseline():
            return float(_formula(baseline, pi, r, memory, given).mean())
    # What the paper does not have says itself what it is.
    return float(baseline.at(pi, r))


def _formula(
    baseline: FormulaBaseline,
    pi: Floats,
    r: Floats,
    memory: Memory | None,
    given: Given | None,
) -> Floats:
    values = known(pi, pi, pi, r, 0) if given is None else given
    states = None if memory is None else memory.states.get(repr(baseline))
    return formula_value("baseline", baseline.tree, with_states(baseline.tree, values, states))


def baselines_of_samples(
    baseline: Baseline, pi: Floats, r: Floats, memory: Memory | None, given: Given
) -> Floats:
    """b of every sample: mostly one number for all of them.

    Examples
    --------
    >>> import committal as cm
    >>> pi, R = np.array([0.5, 0.5]), np.array([1.0, 2.0, 6.0])
    >>> given = {"R": R, "N": 3.0, "K": 2.0}
    >>> baselines_of_samples(cm.baseline("others(R, 'mean')") + 1, pi, pi, None, given)
    array([5. , 4.5, 2.5])
    """
    total = np.zeros(len(given["R"]))
    linear = baseline if isinstance(baseline, Linear) else Linear([(1.0, baseline)])
    for coefficient, atom in linear.terms:
        if isinstance(atom, FormulaBaseline):
            total = total + coefficient * _formula(atom, pi, r, memory, given)
        else:
            total = total + coefficient * baseline_value(atom, pi, r, memory)
    return total + linear.offset


def _weighted_mean(w: Floats, pi: Floats, r: Floats) -> float:
    """sum w r / sum w; the value where no arm has any weight (a certain policy, one arm)."""
    total = w.sum()
    return float(w @ r / total) if total > 0.0 else float(pi @ r)
