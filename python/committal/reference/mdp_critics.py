"""MDPs: what a baseline with a memory learns from an episode, state by state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from committal.config.experiment import Experiment
from committal.config.formula_baseline import FormulaBaseline
from committal.config.mdp import TabularMDP
from committal.reference.arrays import Floats
from committal.reference.baselines import Memory, baseline_value
from committal.reference.behaviours import behaviour_table
from committal.reference.formulas import drawn, known, next_states, with_states
from committal.reference.mdp_episodes import Episode
from committal.reference.mdp_evaluation import policy_table
from committal.reference.problems import problem_of

__all__ = ["learn"]


def learn(
    experiment: Experiment,
    memory: Memory,
    theta: Floats,
    t: int,
    episode: Episode,
    mu: Floats | None = None,
) -> Memory:
    """v(s_i) follows its text for every step i in turn, with R = r_i + gamma b(s_(i+1)).

    Parameters
    ----------
    experiment : Experiment
        In plain parts.
    memory : Memory
    theta : ndarray, shape (S, A)
        The parameters that drew the episode.
    t : int
        Number of updates already done.
    episode : Episode
    mu : ndarray, shape (S, A), optional
        What drew it, if that is not a function of the policy.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("S.A", goals={"A": 1}, gamma=0.5), cm.Softmax(), cm.Natural(1),
    ...     cm.Critic(0.5, 2).by_state, estimator=cm.ExactQ(), steps=1,
    ... )
    >>> episode = Episode((0, 1), (1, 1), (0.0, 0.5), 2)
    >>> after = learn(e, Memory(), np.zeros((3, 4)), 0, episode)
    >>> [float(v["v"]) for s in (0, 1) for v in after.at(s).states.values()]
    [1.5, 1.25]
    """
    mdp = problem_of(experiment, TabularMDP)
    pi = policy_table(mdp, theta, experiment.policy)
    if mu is None:
        mu = behaviour_table(experiment, pi, t)
    for atom in experiment.baseline.atoms:
        if not isinstance(atom, FormulaBaseline) or not atom.state:
            continue
        after = (*episode.states[1:], episode.last)
        for s, a, r, then in zip(
            episode.states, episode.actions, episode.rewards, after, strict=True
        ):
            b = 0.0
            if then not in mdp.terminal:
                given = known(theta[then], pi[then], mu[then], None, t)
                b = baseline_value(atom, pi[then], pi[then], memory.at(then), given)
            given = known(theta[s], pi[s], mu[s], None, t)
            own = drawn(given, pi[s], mu[s], [a], np.array([r + mdp.gamma * b]))
            values = with_states(atom.tree, own, memory.at(s).states.get(repr(atom)))
            found = {repr(atom): next_states("baseline", atom.tree, values)}
            learned = {**memory.learned, s: {**memory.learned.get(s, {}), **found}}
            memory = replace(memory, learned=learned)
    return memory
