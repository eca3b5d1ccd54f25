"""Policies: from parameters to probabilities, and what is said of probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committal.config.bandit import Bandit
from committal.config.escort import Escort
from committal.config.experiment import Experiment
from committal.config.links import FormulaPolicy
from committal.config.mdp import TabularMDP
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.errors import NonFiniteError
from committal.formula.evaluate import culprit
from committal.reference.arrays import Floats
from committal.reference.problems import problem_of

__all__ = [
    "entropy",
    "initial_theta",
    "log_policy",
    "log_softmax",
    "optimal_distance",
    "policy_probabilities",
    "softmax",
]


def softmax(theta: npt.ArrayLike) -> Floats:
    """pi_i = exp(theta_i) / sum_j exp(theta_j), shifted so that nothing overflows.

    Examples
    --------
    >>> softmax([700.0, 700.0])
    array([0.5, 0.5])
    """
    logits: Floats = np.asarray(theta, dtype=np.float64)
    e: Floats = np.exp(logits - logits.max())
    return e / float(e.sum())


def log_softmax(theta: npt.ArrayLike) -> Floats:
    """log pi_i = theta_i - log sum_j exp(theta_j): finite where pi_i underflows.

    Examples
    --------
    >>> log_softmax([0.0, -2000.0])
    array([    0., -2000.])
    """
    logits: Floats = np.asarray(theta, dtype=np.float64)
    largest = int(logits.argmax())
    shifted: Floats = logits - logits[largest]
    # log1p of the sum of the others keeps log pi of a nearly certain arm accurate.
    return shifted - float(np.log1p(np.exp(np.delete(shifted, largest)).sum()))


def initial_theta(experiment: Experiment) -> Floats:
    """theta_0: a number per arm (per state and action), one for the sigmoid, or probabilities.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.1), steps=1)
    >>> initial_theta(e)
    array([0., 0.])
    >>> maze = e.replace(problem=cm.gridworld("SA", goals={"A": 1}), estimator=cm.ExactQ())
    >>> initial_theta(maze.replace(policy=cm.Softmax([1, 0, 0, 0])))
    array([[1., 0., 0., 0.],
           [1., 0., 0., 0.]])
    """
    policy, problem = experiment.policy, experiment.problem
    if isinstance(policy, Sigmoid):
        return np.array([policy.theta0])
    if isinstance(problem, TabularMDP):
        theta: Floats = np.zeros((problem.n_states, problem.n_actions))
    else:
        theta = np.zeros(problem_of(experiment, Bandit).arms)
    if isinstance(policy, Direct):
        probabilities = policy.probabilities
        theta[:] = 1.0 / len(theta) if probabilities is None else probabilities
    elif isinstance(policy, Escort):
        theta[:] = policy.start(theta.shape[-1])
    elif isinstance(policy, Softmax | FormulaPolicy) and policy.theta0 is not None:
        theta[:] = policy.theta0
    return theta


def log_policy(policy: Policy, theta: Floats) -> Floats:
    """log pi for each arm (minus infinity where a direct policy has a zero).

    Examples
    --------
    >>> import committal as cm
    >>> np.exp(log_policy(cm.Sigmoid(), np.array([0.0])))
    array([0.5, 0.5])
    """
    if isinstance(policy, Sigmoid):
        return log_softmax([theta[0], 0.0])
    if isinstance(policy, Direct):
        with np.errstate(divide="ignore"):
            return np.log(theta)
    if isinstance(policy, FormulaPolicy | Escort):
        return policy.log_probabilities_at(theta)
    return log_softmax(theta)


def policy_probabilities(policy: Policy, theta: Floats) -> Floats:
    """pi_theta for each arm.

    Examples
    --------
    >>> import committal as cm
    >>> policy_probabilities(cm.Sigmoid(), np.array([0.0]))
    array([0.5, 0.5])
    """
    if isinstance(policy, Sigmoid):
        return softmax([theta[0], 0.0])
    if isinstance(policy, Direct):
        return theta
    if isinstance(policy, Escort):
        policy = policy.link(len(theta))
    if isinstance(policy, FormulaPolicy):
        return _linked(policy, theta)
    return softmax(theta)


def _linked(policy: FormulaPolicy, theta: Floats) -> Floats:
    """f(theta) / sum f(theta), where f is finite, not negative and not 0 everywhere."""
    f = policy.weights_at(theta)
    if np.isfinite(f).all() and (f >= 0.0).all() and f.sum() > 0.0:
        return np.asarray(f / f.sum())
    found = policy.tree.culprit({"theta": theta})
    if found is not None:
        raise NonFiniteError(0, 0, "policy", *found)
    # Each number is finite; together they may be too large.
    wrong = "is negative" if (f < 0.0).any() else "is 0 for every arm"
    problem = wrong if np.isfinite(f.sum()) else "adds up to more than the largest number"
    raise NonFiniteError(0, 0, "policy", policy.formula, _of_arms(policy, theta, f), problem)


def _of_arms(policy: FormulaPolicy, theta: Floats, f: Floats) -> dict[str, object]:
    """theta and f, of the worst arm where there are many."""
    if len(f) <= 6:
        return {"theta": theta.tolist(), policy.formula: f.tolist()}
    k = int(f.argmin())
    return {f"theta (arm {k})": float(theta[k]), f"{policy.formula} (arm {k})": float(f[k])}


def require_slopes(policy: FormulaPolicy, theta: Floats) -> None:
    """Refuse parameters where the derivative of a link is not finite.

    Examples
    --------
    >>> import committal as cm
    >>> require_slopes(cm.link("1 + sqrt(theta)"), np.array([0.0, 1.0]))
    Traceback (most recent call last):
        ...
    committal.errors.NonFiniteError: run 0, update 0: the formula of policy has a slope that is \
not finite: 1 / (2 * sqrt(theta)) with 2 * sqrt(theta) = [0.0, 2.0]
    """
    if np.isfinite(policy.slopes_at(theta)).all():
        return
    found = culprit(policy.slope, policy.tree.values({"theta": theta}))
    assert found is not None
    raise NonFiniteError(0, 0, "policy", *found, problem="has a slope that is not finite")


def entropy(pi: Floats, log_pi: Floats) -> float:
    """H = -sum_i pi_i log pi_i in nats, with 0 log 0 = 0.

    Examples
    --------
    >>> entropy(np.array([1.0, 0.0]), np.array([0.0, -np.inf]))
    0.0
    """
    seen = pi > 0.0
    return float(np.sum(pi[seen] * -log_pi[seen]))


def optimal_distance(pi: Floats, best: int) -> float:
    """||pi - e_best||, with 1 - pi_best taken as the sum of the others.

    Examples
    --------
    >>> optimal_distance(np.array([0.0, 1.0]), 1)
    0.0
    """
    others = np.delete(pi, best)
    return float(np.sqrt(others.sum() ** 2 + np.sum(others**2)))


def others(x: Floats) -> Floats:
    """Sum over j != i of x_j, without subtracting x_i from a total that it may dominate."""
    total = np.zeros(len(x))
    total[1:] += np.cumsum(x)[:-1]
    total[:-1] += np.cumsum(x[::-1])[:-1][::-1]
    return total
