r"""Where the true gradient of an MDP leads.

The exact policy gradient with the discounted state distribution :math:`d`, and the exact natural
one, of the infinite-horizon discounted return:

.. math:: g(s, a) = d(s)\, \pi(a|s)\, (Q(s, a) - V(s)), \qquad
          g(s, a) = Q(s, a) - V(s) \text{ wherever the start can lead},

each computed by an exact solve at every point of the path.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committal.config import Experiment, Group, Snapshot, TabularMDP
from committal.errors import CombinationError
from committal.exact.evaluation import evaluate
from committal.lowering.mdp import lower_mdp

__all__ = ["direction", "policy_of", "refuse_rules", "start_of", "value_of"]

Floats = npt.NDArray[np.float64]


#: Centres that leave the expected direction as it is.
_UNBIASED = (None, "leave_one_out", "weighted_leave_one_out")


def refuse_rules(experiment: Experiment, *, biased: bool = False) -> None:
    """Refuse groups of episodes that follow another direction than the true gradient.

    With `biased`, centres that shorten it or turn it are allowed.
    """
    group = experiment.estimator
    if isinstance(experiment.behaviour, Snapshot):
        allowed = "OnPolicy: mu of a Snapshot is not a function of the policy"
        raise CombinationError("experiment.behaviour", experiment.behaviour, allowed)
    if not isinstance(group, Group):
        return
    if group.epochs > 1:
        allowed = "1: an exact answer is that of one move of theta"
        raise CombinationError("experiment.estimator.epochs", group.epochs, allowed)
    why = "with an MDP: the answer is the true gradient; use simulation"
    if group.scale is not None:
        raise CombinationError("experiment.estimator.scale", group.scale, f"None {why}")
    if group.centre not in _UNBIASED and not biased:
        allowed = f"'leave_one_out', 'weighted_leave_one_out' or None {why}"
        raise CombinationError("experiment.estimator.centre", group.centre, allowed)


def start_of(experiment: Experiment, mdp: TabularMDP) -> Floats:
    """theta_0, one number per state and action."""
    return lower_mdp(experiment, mdp).theta0.reshape(-1)


def policy_of(mdp: TabularMDP, theta: Floats) -> Floats:
    """pi(a|s) = exp(theta[s, a]) / sum_b exp(theta[s, b]); leading axes are kept."""
    table = theta.reshape(*theta.shape[:-1], mdp.n_states, mdp.n_actions)
    weights = np.exp(table - table.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def direction(experiment: Experiment, mdp: TabularMDP, theta: Floats) -> Floats:
    """The exact direction of the update at theta, flat like theta; 0 in terminal states."""
    pi = policy_of(mdp, theta)
    found = evaluate(mdp, pi, threads=1)
    g = experiment.update.expected_in_states(
        pi, found.advantage, found.state_distribution, mdp.reachable & ~mdp.is_terminal
    )
    return g.reshape(-1)


def value_of(mdp: TabularMDP, policies: Floats) -> Floats:
    """J of each policy."""
    return evaluate(mdp, policies, threads=1).value
