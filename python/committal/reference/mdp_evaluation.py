"""MDPs: policies of all states, and their values by dense linear algebra."""

from __future__ import annotations

import numpy as np

from committal.config.mdp import TabularMDP
from committal.config.policies import Policy, Softmax
from committal.reference.arrays import Floats
from committal.reference.policies import policy_probabilities

__all__ = [
    "goal_probability",
    "policy_table",
    "solve",
    "state_distribution",
    "sweep",
    "value_within",
]


def policy_table(mdp: TabularMDP, theta: Floats, policy: Policy | None = None) -> Floats:
    """pi(a|s) = softmax(theta[s])_a, or of another policy; uniform where nobody acts.

    Examples
    --------
    >>> import committal as cm
    >>> policy_table(cm.gridworld("SA", goals={"A": 1}), np.zeros((2, 4)))[0]
    array([0.25, 0.25, 0.25, 0.25])
    """
    pi = np.full(theta.shape, 1.0 / mdp.n_actions)
    for s in np.flatnonzero(~mdp.is_terminal):
        pi[s] = policy_probabilities(policy or Softmax(), theta[s])
    return pi


def solve(mdp: TabularMDP, pi: Floats) -> tuple[Floats, Floats]:
    """V = (I - gamma P_pi)^-1 R_pi and Q = R + gamma P V.

    Examples
    --------
    >>> import committal as cm
    >>> V, Q = solve(cm.gridworld("SA", goals={"A": 1}, gamma=0.5), np.full((2, 4), 0.25))
    >>> print(V, Q[0])
    [0.2 0. ] [0.1 0.5 0.1 0.1]
    """
    P_pi, R_pi = _matrices(mdp, pi)
    V = np.linalg.solve(np.eye(mdp.n_states) - mdp.gamma * P_pi, R_pi).astype(np.float64)
    return V, mdp.R + mdp.gamma * mdp.P @ V


def sweep(mdp: TabularMDP, pi: Floats, V: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """V(s) <- R_pi(s) + gamma sum_s' P_pi(s, s') V(s'), in place, until nothing changes much.

    The engine sweeps in an order of its own and stops at other values within the tolerance.

    Examples
    --------
    >>> import committal as cm
    >>> mdp, pi = cm.gridworld("SA", goals={"A": 1}, gamma=0.5), np.full((2, 4), 0.25)
    >>> sweep(mdp, pi, np.zeros(2), 1e-9)[0].round(6)
    array([0.2, 0. ])
    """
    P_pi, R_pi = _matrices(mdp, pi)
    V = V.copy()
    change = np.inf
    while change >= tolerance:
        change = 0.0
        for s in np.flatnonzero(~mdp.is_terminal):
            v = R_pi[s] + mdp.gamma * float(P_pi[s] @ V)
            change = max(change, abs(v - V[s]))
            V[s] = v
    return V, mdp.R + mdp.gamma * mdp.P @ V


def state_distribution(mdp: TabularMDP, pi: Floats) -> Floats:
    """d = (I - gamma P_pi^T)^-1 rho, 0 in terminal states.

    Examples
    --------
    >>> import committal as cm
    >>> mdp = cm.gridworld("SA", goals={"A": 1}, gamma=0.5)
    >>> state_distribution(mdp, np.full((2, 4), 0.25)).round(6)
    array([1.6, 0. ])
    """
    P_pi, _ = _matrices(mdp, pi)
    transposed = np.eye(mdp.n_states) - mdp.gamma * P_pi.T
    d = np.linalg.solve(transposed, mdp.start_distribution).astype(np.float64)
    d[mdp.is_terminal] = 0.0
    return d


def goal_probability(mdp: TabularMDP, pi: Floats) -> Floats:
    """P(the episode ends in g within the limit), by goal.

    Examples
    --------
    >>> import committal as cm
    >>> mdp = cm.gridworld("SA", goals={"A": 1}, limit=2)
    >>> goal_probability(mdp, np.full((2, 4), 0.25))
    array([0.4375])
    """
    P_pi, _ = _matrices(mdp, pi)
    ended = list(mdp.terminal)
    now = mdp.start_distribution
    reached = np.zeros(len(ended))
    for _ in range(mdp.limit):
        now = now @ P_pi
        reached += now[ended]
        now[ended] = 0.0
    return reached


def value_within(mdp: TabularMDP, pi: Floats) -> float:
    """E[G] of episodes that are cut at the limit.

    Examples
    --------
    >>> import committal as cm
    >>> mdp = cm.gridworld("SA", goals={"A": 1}, gamma=0.5, limit=1)
    >>> value_within(mdp, np.full((2, 4), 0.25))
    0.125
    """
    P_pi, R_pi = _matrices(mdp, pi)
    now, total = mdp.start_distribution, 0.0
    for i in range(mdp.limit):
        total += mdp.gamma**i * float(now @ R_pi)
        now = now @ P_pi
    return total


def _matrices(mdp: TabularMDP, pi: Floats) -> tuple[Floats, Floats]:
    """P_pi[s, s'] and R_pi[s]; both 0 in terminal states."""
    return np.einsum("sa,sat->st", pi, mdp.P), np.einsum("sa,sa->s", pi, mdp.R)
