"""What is measured: every quantity by its name, as a function of a moment of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from committal.config.bandit import Bandit
from committal.reference.bandit import BanditMoment
from committal.reference.mdp import MdpMoment
from committal.reference.mdp_episodes import returned
from committal.reference.mdp_evaluation import goal_probability, solve
from committal.reference.policies import entropy, log_policy, optimal_distance
from committal.reference.problems import problem_of
from committal.reference.variance import gradient_variance

__all__ = ["MDP_MEASURES", "MEASURES"]

#: Of a bandit.
MEASURES: Mapping[str, Callable[[BanditMoment], npt.ArrayLike]] = {
    "value": lambda now: now.value,
    "policy": lambda now: now.pi,
    "theta": lambda now: now.theta,
    "baseline": lambda now: now.b,
    "entropy": lambda now: entropy(now.pi, log_policy(now.experiment.policy, now.theta)),
    "action": lambda now: now.actions,
    "reward": lambda now: now.rewards,
    "regret": lambda now: now.regret,
    "variance": lambda now: gradient_variance(now.experiment, now.theta, now.t, now.memory),
    "distance": lambda now: optimal_distance(now.pi, problem_of(now.experiment, Bandit).best),
}


def _goal(now: MdpMoment) -> int:
    """The index among the terminal states, -1 if the episode was cut."""
    ends, last = now.problem.terminal, now.episode.last
    return ends.index(last) if last in ends else -1


def _action_entropy(now: MdpMoment) -> float:
    """The mean of H(pi(.|s_i)) along the episode."""
    states, policy = now.episode.states, now.experiment.policy
    return float(np.mean([entropy(now.pi[s], log_policy(policy, now.theta[s])) for s in states]))


def _state_entropy(now: MdpMoment) -> float:
    """H of the frequencies of the visits so far."""
    frequencies = now.visits[now.visits > 0] / now.visits.sum()
    return entropy(frequencies, np.log(frequencies))


#: Of an MDP.
MDP_MEASURES: Mapping[str, Callable[[MdpMoment], npt.ArrayLike]] = {
    "return": lambda now: returned(now.problem, now.episode),
    "length": lambda now: len(now.episode.states),
    "goal": _goal,
    "action_entropy": _action_entropy,
    "state_entropy": _state_entropy,
    "value": lambda now: float(now.problem.start_distribution @ solve(now.problem, now.pi)[0]),
    "goal_probability": lambda now: goal_probability(now.problem, now.pi),
    "policy": lambda now: now.pi,
    "theta": lambda now: now.theta,
    "visits": lambda now: now.visits,
}
