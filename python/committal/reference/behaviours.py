"""Behaviours: the distribution that actions are drawn from."""

from __future__ import annotations

import numpy as np

from committal.config.behaviours import (
    Behaviour,
    EpsilonGreedy,
    Fixed,
    OnPolicy,
    UniformMixture,
)
from committal.config.experiment import Experiment
from committal.reference.arrays import Floats
from committal.reference.schedules import scheduled

__all__ = ["behaviour_probabilities", "behaviour_table"]


def behaviour_probabilities(behaviour: Behaviour, pi: Floats, t: int = 0, steps: int = 1) -> Floats:
    """mu_t: the distribution that actions are drawn from.

    Examples
    --------
    >>> import committal as cm
    >>> behaviour_probabilities(cm.EpsilonGreedy(0.5), np.array([0.1, 0.9]))
    array([0.25, 0.75])
    """
    arms = len(pi)
    match behaviour:
        case OnPolicy():
            return pi
        case UniformMixture():
            gamma = scheduled(behaviour.gamma, t, steps)
            return (1.0 - gamma) * pi + gamma / arms
        case EpsilonGreedy():
            epsilon = scheduled(behaviour.epsilon, t, steps)
            greedy = np.zeros(arms)
            greedy[pi.argmax()] = 1.0  # the lowest index among equals
            return (1.0 - epsilon) * greedy + epsilon / arms
        case Fixed():
            return np.array(behaviour.probabilities)
    # What the paper does not have says itself what it is; schedules keep their last value.
    return behaviour.at(pi, min(t, max(steps, 1) - 1))


def behaviour_table(experiment: Experiment, pi: Floats, t: int) -> Floats:
    """mu_t of every row of a table: of every state of an MDP.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}), cm.Softmax(), cm.Natural(1),
    ...     behaviour=cm.UniformMixture(1.0), estimator=cm.ExactQ(), steps=1,
    ... )
    >>> behaviour_table(e, np.array([[0.7, 0.3, 0.0, 0.0]]), 0)
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    own = experiment.behaviour, experiment.steps
    return np.array([behaviour_probabilities(own[0], row, t, own[1]) for row in pi])
