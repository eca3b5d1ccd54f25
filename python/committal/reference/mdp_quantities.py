"""MDPs: recorded formulas, of every state or of the policy as a whole."""

from __future__ import annotations

import numpy as np

from committal.config.experiment import Experiment
from committal.config.formula_quantity import FormulaQuantity
from committal.config.mdp import TabularMDP
from committal.config.snapshot import Snapshot
from committal.config.spelled import spelled_out
from committal.reference.arrays import Floats
from committal.reference.behaviours import behaviour_probabilities
from committal.reference.formulas import formula_value, known
from committal.reference.mdp_evaluation import policy_table, solve, state_distribution
from committal.reference.policies import initial_theta
from committal.reference.problems import problem_of

__all__ = ["quantity_of_states"]


def quantity_of_states(
    experiment: Experiment, quantity: FormulaQuantity, theta: Floats, t: int
) -> Floats:
    """A recorded formula in every state, 0 in terminal ones; or its mean over the others.

    Parameters
    ----------
    experiment : Experiment
    quantity : FormulaQuantity
    theta : ndarray, shape (S, A)
    t : int
        Number of updates already done.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, gamma=0.5), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.ExactQ(), steps=1,
    ... )
    >>> quantity_of_states(e, cm.quantity("max(r)", name="best"), np.zeros((2, 4)), 0)
    array([0.5, 0. ])
    """
    experiment = spelled_out(experiment)
    mdp = problem_of(experiment, TabularMDP)
    pi, start = policy_table(mdp, theta, experiment.policy), initial_theta(experiment)
    _, Q = solve(mdp, pi)
    width = (mdp.n_actions,) if "action" in quantity.row_in(mdp).axes else ()
    found = np.zeros((mdp.n_states, *width))
    acting = np.flatnonzero(~mdp.is_terminal)
    for s in acting:
        mu = pi[s]  # of a snapshot nobody asks for it
        if not isinstance(experiment.behaviour, Snapshot):
            mu = behaviour_probabilities(experiment.behaviour, pi[s], t, experiment.steps)
        given = known(theta[s], pi[s], mu, Q[s], t) | {"theta0": start[s]}
        found[s] = formula_value(f"quantity {quantity.name}", quantity.tree, given)
    if quantity.states is None:
        return found
    weights = np.ones(len(acting))
    if quantity.states == "occupancy":
        weights = state_distribution(mdp, pi)[acting]
    return np.asarray(np.average(found[acting], axis=0, weights=weights))
