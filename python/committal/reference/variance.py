"""The variance of an update's direction, by enumeration of the arms."""

from __future__ import annotations

import numpy as np

from committal.config.bandit import Bandit
from committal.config.estimators import OneSample
from committal.config.experiment import Experiment
from committal.config.snapshot import Snapshot
from committal.config.spelled import spelled_out
from committal.reference.arrays import Floats
from committal.reference.baselines import Memory, baseline_value
from committal.reference.behaviours import behaviour_probabilities
from committal.reference.formulas import known
from committal.reference.policies import policy_probabilities
from committal.reference.problems import problem_of
from committal.reference.rewards import reward_variance
from committal.reference.schedules import scheduled
from committal.reference.updates import has_formula, update_direction

__all__ = ["gradient_variance", "has_variance"]


def has_variance(experiment: Experiment) -> bool:
    """Whether the direction of an arm is its advantage times something of the policy.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.1), steps=1)
    >>> has_variance(e), has_variance(e.replace(baseline=cm.baseline("mean(R)")))
    (True, False)
    """
    experiment = spelled_out(experiment)
    batch = any(getattr(atom, "looks_at_batch", False) for atom in experiment.baseline.atoms)
    lags = isinstance(experiment.behaviour, Snapshot)
    return not batch and not lags and not has_formula(experiment)


def gradient_variance(
    experiment: Experiment, theta: Floats, t: int = 0, memory: Memory | None = None
) -> float:
    """tr Cov[g] / N at theta, over a ~ mu_t and the rewards, by enumeration of the arms.

    With g = A g_a for arm a, and E[A^2 | a] = Var[R | a] + (r_a - b)^2:

    tr Cov[g] = sum_a mu_a ( Var[R|a] ||g_a||^2 + ||(r_a - b) g_a - E[g]||^2 ).

    Examples
    --------
    Two arms paying 1 and 0, natural sigmoid: the paper's (1 - p - b)^2 / (p (1 - p)).

    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(step_size=0.1), baseline=-1.0, steps=1
    ... )
    >>> round(gradient_variance(e, np.array([0.0])), 12)
    9.0
    """
    experiment = spelled_out(experiment)
    policy, update, problem = experiment.policy, experiment.update, problem_of(experiment, Bandit)
    estimator = experiment.estimator
    if not isinstance(estimator, OneSample):
        return 0.0
    r, steps = np.array(problem.means), experiment.steps
    pi = policy_probabilities(policy, theta)
    mu = behaviour_probabilities(experiment.behaviour, pi, t, steps)
    given = {**known(theta, pi, mu, r, t), "N": float(estimator.samples)}
    b = baseline_value(experiment.baseline, pi, r, memory, given)
    implicit = scheduled(estimator.implicit, t, steps)

    # An arm whose probability has underflowed is never drawn.
    drawn = [a for a in range(problem.arms) if mu[a] > np.finfo(np.float64).tiny]
    g = np.array([update_direction(policy, update, pi, mu, a, 1.0, implicit) for a in drawn])
    if policy.ignores_shifts:
        # The component along e = (1, ..., 1) changes nothing; a score has none.
        g = g - g.mean(axis=1, keepdims=True)

    mean_given_a = (r[drawn] - b)[:, None] * g
    mean = mu[drawn] @ mean_given_a
    noise = np.sqrt([reward_variance(problem, a) for a in drawn])[:, None] * g
    # The root of mu goes inside the squares: (1/mu)^2 alone may overflow.
    root_mu = np.sqrt(mu[drawn])[:, None]
    trace = np.sum((root_mu * noise) ** 2) + np.sum((root_mu * (mean_given_a - mean)) ** 2)
    return float(trace) / estimator.samples
