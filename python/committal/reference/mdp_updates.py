"""MDPs: the direction of an episode, the exact gradient, and the next theta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from committal.config import Baseline
from committal.config.estimators import ExactQ, Expected
from committal.config.experiment import Experiment
from committal.config.formula_update import FormulaUpdate
from committal.config.groups import Group
from committal.config.links import FormulaPolicy
from committal.config.mdp import TabularMDP
from committal.config.updates import Natural, Update, Vanilla
from committal.reference.arrays import Floats
from committal.reference.baselines import Memory, baseline_value
from committal.reference.behaviours import behaviour_table
from committal.reference.formulas import Given, drawn, known
from committal.reference.groups import group_advantages
from committal.reference.mdp_episodes import Episode, returned
from committal.reference.mdp_evaluation import policy_table, solve, state_distribution
from committal.reference.policies import require_slopes
from committal.reference.problems import problem_of
from committal.reference.updates import (
    formula_direction,
    has_formula,
    moved,
    optimised,
    update_direction,
)

__all__ = [
    "after_epochs",
    "baseline_by_state",
    "direction_after_episodes",
    "episode_direction",
    "exact_gradient",
    "theta_after_episode",
]


def baseline_by_state(
    baseline: Baseline,
    pi: Floats,
    Q: Floats,
    given: list[Given] | None = None,
    memories: list[Memory] | None = None,
) -> Floats:
    """b(s) from pi(.|s) and Q(s, .).

    Examples
    --------
    >>> import committal as cm
    >>> baseline_by_state(cm.Value() + 1, np.full((1, 2), 0.5), np.array([[1.0, 3.0]]))
    array([3.])
    """
    if given is None:
        return np.array([baseline_value(baseline, *rows) for rows in zip(pi, Q, strict=True)])
    rows = zip(pi, Q, memories or [Memory()] * len(pi), given, strict=True)
    return np.array([baseline_value(baseline, *row) for row in rows])


def episode_direction(
    experiment: Experiment,
    pi: Floats,
    Q: Floats,
    episode: Episode,
    t: int = 0,
    memory: Memory | None = None,
    theta: Floats | None = None,
    advantage: float | None = None,
    mu: Floats | None = None,
    b: Sequence[float] | None = None,
) -> Floats:
    """g[s, a]: the sum over the steps of m_i times their directions, without the step size.

    Parameters
    ----------
    experiment : Experiment
    pi, Q : ndarray, shape (S, A)
        The policy and, for exact Q, what its estimator takes for Q.
    episode : Episode
    t : int
        Number of updates already done.
    memory : Memory, optional
        Of a running mean of returns, or of what a baseline has learned.
    theta : ndarray, shape (S, A), optional
        For formulas that look at it.
    advantage : float, optional
        A of all steps, where it comes from a group.
    mu : ndarray, shape (S, A), optional
        What drew the episode, where that is a policy of before: then the weight of a step has the
        ratio of its own action only.
    b : sequence of floats, optional
        The baseline of every step, where that was found before.

    Examples
    --------
    >>> import committal as cm
    >>> mdp = cm.gridworld("SA", goals={"A": 1}, gamma=0.5)
    >>> e = cm.Experiment(
    ...     mdp, cm.Softmax(), cm.Natural(1), baseline=0.25, estimator=cm.Reinforce(), steps=1
    ... )
    >>> pi = np.full((2, 4), 0.25)
    >>> episode_direction(e, pi, np.zeros((2, 4)), Episode((0,), (1,), (0.5,), 1))[0]
    array([0., 1., 0., 0.])
    """
    mdp, estimator = problem_of(experiment, TabularMDP), experiment.estimator
    steps = list(zip(episode.states, episode.actions, episode.rewards, strict=True))
    alone = mu is not None
    mu = behaviour_table(experiment, pi, t) if mu is None else mu
    rho = [float(pi[s, a] / mu[s, a]) for s, a, _ in steps]
    discounted = [mdp.gamma**i * r for i, (_, _, r) in enumerate(steps)]
    earned = np.concatenate(([0.0], np.cumsum(discounted)))  # C_i
    later = np.zeros(len(steps) + 1)  # W_i
    for i in reversed(range(len(steps))):
        ratio = 1.0 if alone or i + 1 == len(steps) else rho[i + 1]
        later[i] = discounted[i] + ratio * later[i + 1]

    exact = isinstance(estimator, ExactQ)
    given = [_given(pi, mu, Q if exact else None, s, t, theta) for s in range(len(pi))]
    # A formula may look at the policy of the state; what is known otherwise is the same in all.
    # Only where the episode was: elsewhere nobody asks for b, and a formula may not have one.
    visited = [int(s) for s in episode.states]
    by_state = np.zeros(mdp.n_states)
    if exact:
        own_given = [given[s] for s in visited]
        memories = [(memory or Memory()).at(s) for s in visited]
        by_state[visited] = baseline_by_state(
            experiment.baseline, pi[visited], Q[visited], own_given, memories
        )
    elif b is None:
        b = episode_baselines(experiment, pi, Q, episode, t, memory, theta, mu)

    g = np.zeros_like(pi)
    before = 1.0  # rho_0 ... rho_(i-1)
    for i, (s, a, _) in enumerate(steps):
        own = by_state[s] if b is None else b[i]
        signal = Q[s, a] - own if exact else earned[i] - own + later[i]
        of_group: dict[str, Floats] = {}
        if advantage is not None:
            of_group = {"A": np.array([advantage])}
            if not has_formula(experiment):
                signal = advantage
        factor = mdp.gamma**i if isinstance(estimator, ExactQ) and estimator.discounted else 1.0
        if has_formula(experiment):
            if before * factor == 0.0:
                break  # neither this visit nor a later one counts
            # On-policy REINFORCE: what was earned before and after is the whole return.
            batch = drawn(given[s], pi[s], mu[s], [a], [signal + own]) | of_group
            rows = given[s]["theta"], pi[s]
            g[s] += before * factor * formula_direction(experiment, batch, *rows, np.array([own]))
            before *= 1.0 if alone else rho[i]
            continue
        signal *= factor
        # A bandit's direction, in the row of the state; it brings the last ratio with it.
        g[s] += update_direction(
            experiment.policy, experiment.update, pi[s], mu[s], a, before * signal
        )
        before *= 1.0 if alone else rho[i]
    return g


def episode_baselines(
    experiment: Experiment,
    pi: Floats,
    Q: Floats,
    episode: Episode,
    t: int,
    memory: Memory | None,
    theta: Floats | None,
    mu: Floats,
) -> list[float]:
    """b of every step of an episode, of baselines that know no Q."""
    return [
        baseline_value(
            experiment.baseline,
            pi[s],
            Q[s],
            None if memory is None else memory.at(s),
            _given(pi, mu, None, s, t, theta),
        )
        for s in episode.states
    ]


def exact_gradient(mdp: TabularMDP, update: Update, pi: Floats) -> Floats:
    """The exact gradient: d(s) pi(a|s) (Q - V), or Q - V where the start can lead (natural).

    Examples
    --------
    >>> import committal as cm
    >>> mdp = cm.gridworld("SA", goals={"A": 1}, gamma=0.5)
    >>> exact_gradient(mdp, cm.Natural(1), np.full((2, 4), 0.25))[0].round(6)
    array([-0.1,  0.3, -0.1, -0.1])
    """
    V, Q = solve(mdp, pi)
    advantage = Q - V[:, None]
    reachable = mdp.reachable & ~mdp.is_terminal
    if isinstance(update, Natural):
        return advantage * reachable[:, None]
    if not isinstance(update, Vanilla):
        visits = state_distribution(mdp, pi)
        return update.expected_in_states(pi, advantage, visits, reachable)
    return state_distribution(mdp, pi)[:, None] * pi * advantage


def _gradient_through_link(
    mdp: TabularMDP, link: FormulaPolicy, pi: Floats, theta: Floats
) -> Floats:
    """d(s) f'(theta[s]) / F(s) (Q - V)."""
    V, Q = solve(mdp, pi)
    acting = ~mdp.is_terminal
    g = np.zeros_like(pi)
    slopes = link.slopes_at(theta[acting]) / link.weights_at(theta[acting]).sum(-1, keepdims=True)
    g[acting] = slopes * (Q - V[:, None])[acting]
    return np.asarray(state_distribution(mdp, pi)[:, None] * g)


def _require_slopes(experiment: Experiment, theta: Floats) -> None:
    """Refuse parameters where a link has no slope, if the update follows it."""
    update, link = experiment.update, experiment.policy
    if not isinstance(link, FormulaPolicy):
        return
    if isinstance(update, FormulaUpdate) and "score" not in update.names:
        return
    for s in np.flatnonzero(~problem_of(experiment, TabularMDP).is_terminal):
        require_slopes(link, theta[s])


def direction_after_episodes(
    experiment: Experiment,
    theta: Floats,
    t: int,
    episodes: Sequence[Episode] = (),
    *,
    Q: Floats | None = None,
    memory: Memory | None = None,
    mu: Floats | None = None,
    judged: Sequence[Judged] | None = None,
) -> Floats:
    """g_t[s, a], the mean over the given episodes of an update, or exact.

    See `theta_after_episode`, which makes a step of it. `mu` is what drew the episodes, where that
    is a policy of before; `judged`, what they were found to be worth before.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, gamma=0.5), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.Group(samples=2), steps=1,
    ... )
    >>> short, long = Episode((0,), (1,), (0.5,), 1), Episode((0, 0), (0, 1), (0.0, 0.5), 1)
    >>> direction_after_episodes(e, np.zeros((2, 4)), 0, [short, long])[0]
    array([-0.25,  0.  ,  0.  ,  0.  ])
    """
    mdp = problem_of(experiment, TabularMDP)
    pi = policy_table(mdp, theta, experiment.policy)
    _require_slopes(experiment, theta)
    if isinstance(experiment.estimator, Expected):
        if isinstance(experiment.policy, FormulaPolicy):
            return _gradient_through_link(mdp, experiment.policy, pi, theta)
        return exact_gradient(mdp, experiment.update, pi)
    Q = solve(mdp, pi)[1] if Q is None else Q
    if judged is None:
        found = _group_advantages(experiment, pi, Q, episodes, memory)
        judged = [Judged(A, None) for A in found]
    each = [
        episode_direction(experiment, pi, Q, episode, t, memory, theta, one.A, mu, one.b)
        for episode, one in zip(episodes, judged, strict=True)
    ]
    return np.asarray(np.mean(each, axis=0))


class Judged(NamedTuple):
    """What an episode is worth: A where it comes from a group, and b of every step."""

    A: float | None
    b: Sequence[float] | None


def after_epochs(
    experiment: Experiment,
    theta: Floats,
    t: int,
    episodes: Sequence[Episode],
    *,
    Q: Floats,
    memory: Memory,
    after: Memory,
    mu: Floats | None = None,
) -> tuple[Floats, Memory]:
    """theta after an update, in as many epochs as it has, and what the optimiser remembers.

    A, b and mu stay as they were; rho and the directions are those of the policy by now, and t
    counts the moves.

    Parameters
    ----------
    experiment : Experiment
    theta : ndarray, shape (S, A)
    t : int
        Number of updates already done.
    episodes : sequence of Episode
    Q : ndarray, shape (S, A)
    memory, after : Memory
        What the baseline has learned before this update, and with it.
    mu : ndarray, shape (S, A), optional
        What drew the episodes, where that is not a function of the policy.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, gamma=0.5), cm.Softmax(), cm.Vanilla(1),
    ...     estimator=cm.Group(samples=1, centre=None, epochs=2), steps=1,
    ... )
    >>> one = [Episode((0,), (1,), (0.5,), 1)]
    >>> memory = Memory()
    >>> plain = cm.config.spelled_out(e)
    >>> theta = np.zeros((2, 4))
    >>> after_epochs(plain, theta, 0, one, Q=theta, memory=memory, after=memory)[0][0].round(4)
    array([-0.2776,  0.8328, -0.2776, -0.2776])
    """
    epochs, judged = getattr(experiment.estimator, "epochs", 1), None
    if epochs > 1:
        pi = policy_table(problem_of(experiment, TabularMDP), theta, experiment.policy)
        mu = pi if mu is None else mu
        judged = [
            Judged(A, episode_baselines(experiment, pi, Q, episode, t, memory, theta, mu))
            for A, episode in zip(
                _group_advantages(experiment, pi, Q, episodes, memory), episodes, strict=True
            )
        ]
    for e in range(epochs):
        time = epochs * t + e if epochs > 1 else t
        g = direction_after_episodes(
            experiment, theta, time, episodes, Q=Q, memory=memory, mu=mu, judged=judged
        )
        step, after = optimised(experiment, g, theta, time, after)
        theta = moved(experiment, theta, t, step)
    return theta, after


def _group_advantages(
    experiment: Experiment,
    pi: Floats,
    Q: Floats,
    episodes: Sequence[Episode],
    memory: Memory | None,
) -> list[float | None]:
    """A of every episode of a group; None where every step has its own."""
    group, mdp = experiment.estimator, problem_of(experiment, TabularMDP)
    if not isinstance(group, Group) or (group.centre is None and group.scale is None):
        return [None] * len(episodes)
    b = baseline_value(experiment.baseline, pi[0], Q[0], memory)
    X = np.array([returned(mdp, episode) for episode in episodes]) - b
    v = np.array([_score_norm(pi, episode) for episode in episodes])
    if group.scale == "batch_std":
        spread = 0.0 if len(set(X.tolist())) == 1 else X.std(ddof=group.ddof) + group.eps
        centred = _in_groups(group.replace(scale=None), X, v)
        return [float(A / spread) if spread > 0.0 else 0.0 for A in centred]
    return [float(A) for A in _in_groups(group, X, v)]


def _in_groups(group: Group, X: Floats, v: Floats) -> Floats:
    """A of groups of as many episodes as a group has."""
    nobody, one = np.zeros(group.samples, np.int64), np.ones(1)
    each = zip(X.reshape(-1, group.samples), v.reshape(-1, group.samples), strict=True)
    return np.concatenate([group_advantages(group, own, nobody, one, norm) for own, norm in each])


def _score_norm(pi: Floats, episode: Episode) -> float:
    """|sum_i (e_(a_i) - pi(s_i))|^2, the states side by side."""
    score = np.zeros_like(pi)
    for s, a in zip(episode.states, episode.actions, strict=True):
        score[s] += np.eye(pi.shape[1])[a] - pi[s]
    return float(np.sum(score**2))


def theta_after_episode(
    experiment: Experiment,
    theta: Floats,
    t: int,
    episode: Episode | None = None,
    *,
    Q: Floats | None = None,
    memory: Memory | None = None,
) -> Floats:
    """theta_{t+1} = theta_t + alpha_t g: one update from a given episode.

    Parameters
    ----------
    experiment : Experiment
    theta : ndarray, shape (S, A)
    t : int
        Number of updates already done.
    episode : Episode, optional
        Not used by the expected estimator.
    Q : ndarray, optional
        What the estimator takes for Q; solved for if it is not given.
    memory : Memory, optional
        Of a running mean of returns, and of an optimiser.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, gamma=0.5), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.Reinforce(), steps=1,
    ... )
    >>> theta_after_episode(e, np.zeros((2, 4)), 0, Episode((0,), (1,), (0.5,), 1))[0]
    array([0., 2., 0., 0.])
    """
    episodes = () if episode is None else (episode,)
    g = direction_after_episodes(experiment, theta, t, episodes, Q=Q, memory=memory)
    step, _ = optimised(experiment, g, theta, t, memory or Memory())
    return moved(experiment, theta, t, step)


def _given(pi: Floats, mu: Floats, Q: Floats | None, s: int, t: int, theta: Floats | None) -> Given:
    """What a formula may look at in a state."""
    own = pi[s] if theta is None else theta[s]
    return known(own, pi[s], mu[s], None if Q is None else Q[s], t)
