r"""The oracle for MDPs: one run at a time, one episode after the other, with dense matrices.

Nothing here is fast. The compiled engine is replayed against this file, so each function is one
formula, read straight from the :class:`~committal.Experiment`.

One run
-------
:math:`\theta_0[s,a]` is given. For t = 0, 1, 2, ... with
:math:`\pi(\cdot|s) = \mathrm{softmax}(\theta_t[s])`:

1. an episode :math:`s_0, a_0, r_0, s_1, \dots` is drawn from :math:`\mu_t(\cdot|s)`, until a
   terminal state or the limit; :math:`G = \sum_i \gamma^i r_i` is its return;
2. everything below is computed at the old :math:`\theta` and summed over the episode; with
   :math:`\rho_i = \pi(a_i|s_i)/\mu(a_i|s_i)` and :math:`\rho_{0:i} = \rho_0 \cdots \rho_i`, step i
   adds :math:`m_i` times a direction in the row of :math:`s_i`:

   ==========  ===================================  ==========================================
   estimator   :math:`m_i`                          direction
   ==========  ===================================  ==========================================
   exact Q     :math:`\rho_{0:i}(Q - b(s_i))`       vanilla :math:`e_a - \pi(\cdot|s_i)`
   REINFORCE   :math:`\rho_{0:i}(C_i - b + W_i)`    natural :math:`e_a / \pi(a|s_i)`
   ==========  ===================================  ==========================================

   where :math:`Q = Q^\pi(s_i, a_i)`, times :math:`\gamma^i` if it is discounted,
   :math:`C_i = \sum_{k<i}\gamma^k r_k` is what was earned before and
   :math:`W_i = \sum_{k\ge i}\gamma^k r_k\, \rho_{i+1}\cdots\rho_k` what came afterwards, weighted
   by the ratios in between. On-policy all :math:`\rho` are 1 and :math:`C_i + W_i = G`;
3. :math:`\theta_{t+1} = \theta_t + \alpha_t g`.

With the expected estimator :math:`g[s,a] = d(s)\,\pi(a|s)\,(Q(s,a) - V(s))`, or
:math:`Q(s,a) - V(s)` in the states that the start can lead to (natural).

V, Q and d are those of the infinite horizon; the limit cuts sampled episodes only. Baselines are
those of the bandits, of :math:`\pi(\cdot|s)` and :math:`Q(s,\cdot)`, state by state.

Streams
-------
Step i of episode t uses number d = t·limit + i of the slots ``ACTION`` and :data:`TRANSITION`; the
first state uses number d = t of slot :data:`START`.

Examples
--------
>>> import committal as cm
>>> from committal import reference
>>> experiment = cm.Experiment(
...     cm.gridworld("S..A", goals={"A": 1.0}), cm.Softmax(), cm.Natural(0.1), cm.Value(),
...     estimator=cm.ExactQ(), steps=5,
... )
>>> record = reference.simulate(experiment, key=0, run=0)
>>> record["return"].shape, record["theta"].shape
((6,), (6, 4, 4))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.config import Baseline
from committal.config.estimators import ExactQ, Expected
from committal.config.experiment import Experiment
from committal.config.mdp import TabularMDP
from committal.config.policies import Softmax
from committal.config.updates import Natural, Update
from committal.reference.bandit import (
    ACTION,
    Memory,
    baseline_value,
    behaviour_probabilities,
    draw_action,
    entropy,
    initial_memory,
    log_softmax,
    remember,
    scheduled,
    softmax,
    uniforms,
)

__all__ = [
    "START",
    "TRANSITION",
    "Episode",
    "baseline_by_state",
    "draw_episode",
    "enumerate_episodes",
    "episode_direction",
    "expected_direction",
    "goal_probability",
    "initial_theta",
    "next_theta",
    "policy_table",
    "returned",
    "simulate",
    "solve",
    "state_distribution",
    "sweep",
    "value_within",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TRANSITION = 2
START = 3


class Episode(NamedTuple):
    """What happened: the states acted in, the actions, the rewards and the last state."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    last: int


def _mdp(experiment: Experiment) -> TabularMDP:
    if not isinstance(experiment.problem, TabularMDP):
        raise TypeError(f"this oracle knows MDPs, not {type(experiment.problem).__name__}")
    return experiment.problem


def outcomes(mdp: TabularMDP, s: int, a: int) -> list[tuple[int, float, float]]:
    """The (s', p, r) of a pair, in the order in which they are drawn.

    Examples
    --------
    >>> import committal as cm
    >>> outcomes(cm.gridworld("SA", goals={"A": 1}, gamma=0.5), 0, 1)
    [(1, 1.0, 0.5)]
    """
    pair = s * mdp.n_actions + a
    own = slice(int(mdp.row_offsets[pair]), int(mdp.row_offsets[pair + 1]))
    columns = (mdp.next_state[own], mdp.probability[own], mdp.reward[own])
    return list(zip(*(column.tolist() for column in columns), strict=True))


# --------------------------------------------------------------------------------------------------
# Policies and their values
# --------------------------------------------------------------------------------------------------


def initial_theta(experiment: Experiment) -> Floats:
    """theta_0[s, a].

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}), cm.Softmax([1, 0, 0, 0]), cm.Natural(1),
    ...     estimator=cm.ExactQ(), steps=1,
    ... )
    >>> initial_theta(e)
    array([[1., 0., 0., 0.],
           [1., 0., 0., 0.]])
    """
    mdp, policy = _mdp(experiment), experiment.policy
    assert isinstance(policy, Softmax)
    theta = np.zeros((mdp.n_states, mdp.n_actions))
    if policy.theta0 is not None:
        theta[:] = policy.theta0
    return theta


def policy_table(mdp: TabularMDP, theta: Floats) -> Floats:
    """pi(a|s) = softmax(theta[s])_a; uniform in terminal states, where nobody acts.

    Examples
    --------
    >>> import committal as cm
    >>> policy_table(cm.gridworld("SA", goals={"A": 1}), np.zeros((2, 4)))[0]
    array([0.25, 0.25, 0.25, 0.25])
    """
    pi = np.array([softmax(row) for row in theta])
    pi[mdp.is_terminal] = 1.0 / mdp.n_actions
    return pi


def _matrices(mdp: TabularMDP, pi: Floats) -> tuple[Floats, Floats]:
    """P_pi[s, s'] and R_pi[s]; both 0 in terminal states."""
    return np.einsum("sa,sat->st", pi, mdp.P), np.einsum("sa,sa->s", pi, mdp.R)


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


def baseline_by_state(baseline: Baseline, pi: Floats, Q: Floats) -> Floats:
    """b(s) from pi(.|s) and Q(s, .).

    Examples
    --------
    >>> import committal as cm
    >>> baseline_by_state(cm.Value() + 1, np.full((1, 2), 0.5), np.array([[1.0, 3.0]]))
    array([3.])
    """
    return np.array([baseline_value(baseline, *rows) for rows in zip(pi, Q, strict=True)])


# --------------------------------------------------------------------------------------------------
# Episodes
# --------------------------------------------------------------------------------------------------


def draw_episode(experiment: Experiment, pi: Floats, t: int, *, key: int, run: int) -> Episode:
    """Episode t of a run, drawn from mu_t.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.ExactQ(), steps=1,
    ... )
    >>> draw_episode(e, np.full((2, 4), 0.25), 0, key=0, run=0).last
    1
    """
    mdp = _mdp(experiment)
    u = uniforms(key, run, ACTION, t * mdp.limit, mdp.limit)
    v = uniforms(key, run, TRANSITION, t * mdp.limit, mdp.limit)
    s = draw_action(mdp.start_distribution, float(uniforms(key, run, START, t, 1)[0]))
    states, actions, rewards = [], [], []
    for i in range(mdp.limit):
        a = draw_action(_mu(experiment, pi[s], t), u[i])
        after, p, r = zip(*outcomes(mdp, s, a), strict=True)
        # The last outcome gets what rounding left of the sum of probabilities.
        drawn = min(int(np.searchsorted(np.cumsum(p), v[i], side="right")), len(p) - 1)
        states.append(s)
        actions.append(a)
        rewards.append(float(r[drawn]))
        s = int(after[drawn])
        if s in mdp.terminal:
            break
    return Episode(tuple(states), tuple(actions), tuple(rewards), s)


def enumerate_episodes(
    experiment: Experiment, pi: Floats, t: int = 0
) -> Iterator[tuple[float, Episode]]:
    """All episodes of positive probability, with their probabilities under mu_t.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, limit=3), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.ExactQ(), steps=1,
    ... )
    >>> law = list(enumerate_episodes(e, np.full((2, 4), 0.25)))
    >>> len(law), sum(probability for probability, _ in law)
    (40, 1.0)
    """
    mdp = _mdp(experiment)

    def continued(probability: float, done: Episode) -> Iterator[tuple[float, Episode]]:
        s = done.last
        if s in mdp.terminal or len(done.states) == mdp.limit:
            yield probability, done
            return
        for a, mu_a in enumerate(_mu(experiment, pi[s], t).tolist()):
            for after, p, r in outcomes(mdp, s, a) if mu_a > 0.0 else ():
                longer = Episode((*done.states, s), (*done.actions, a), (*done.rewards, r), after)
                yield from continued(probability * mu_a * p, longer)

    for s, rho in enumerate(mdp.start_distribution.tolist()):
        if rho > 0.0:
            yield from continued(rho, Episode((), (), (), s))


def returned(mdp: TabularMDP, episode: Episode) -> float:
    """G = sum_i gamma^i r_i.

    Examples
    --------
    >>> import committal as cm
    >>> returned(cm.gridworld("SA", goals={"A": 1}, gamma=0.5), Episode((0, 0), (0, 1), (0, 1), 1))
    0.5
    """
    return float(sum(mdp.gamma**i * r for i, r in enumerate(episode.rewards)))


def _mu(experiment: Experiment, pi_s: Floats, t: int) -> Floats:
    return behaviour_probabilities(experiment.behaviour, pi_s, t, experiment.steps)


# --------------------------------------------------------------------------------------------------
# Updates
# --------------------------------------------------------------------------------------------------


def episode_direction(
    experiment: Experiment,
    pi: Floats,
    Q: Floats,
    episode: Episode,
    t: int = 0,
    memory: Memory | None = None,
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
        Of a running mean of returns.

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
    mdp, estimator = _mdp(experiment), experiment.estimator
    steps = list(zip(episode.states, episode.actions, episode.rewards, strict=True))
    mu = [float(_mu(experiment, pi[s], t)[a]) for s, a, _ in steps]
    rho = [float(pi[s, a]) / m for (s, a, _), m in zip(steps, mu, strict=True)]
    discounted = [mdp.gamma**i * r for i, (_, _, r) in enumerate(steps)]
    earned = np.concatenate(([0.0], np.cumsum(discounted)))  # C_i
    later = np.zeros(len(steps) + 1)  # W_i
    for i in reversed(range(len(steps))):
        after = rho[i + 1] * later[i + 1] if i + 1 < len(steps) else 0.0
        later[i] = discounted[i] + after

    exact = isinstance(estimator, ExactQ)
    b = baseline_by_state(experiment.baseline, pi, Q) if exact else np.zeros(mdp.n_states)
    constant = 0.0 if exact else baseline_value(experiment.baseline, pi[0], Q[0], memory)

    g = np.zeros_like(pi)
    before = 1.0  # rho_0 ... rho_(i-1)
    for i, (s, a, _) in enumerate(steps):
        signal = Q[s, a] - b[s] if exact else earned[i] - constant + later[i]
        if isinstance(estimator, ExactQ) and estimator.discounted:
            signal *= mdp.gamma**i
        if isinstance(experiment.update, Natural):
            g[s, a] += before / mu[i] * signal
        else:
            score = -pi[s]
            score[a] += 1.0
            g[s] += before * rho[i] * signal * score
        before *= rho[i]
    return g


def expected_direction(mdp: TabularMDP, update: Update, pi: Floats) -> Floats:
    """The exact gradient: d(s) pi(a|s) (Q - V), or Q - V where the start can lead (natural).

    Examples
    --------
    >>> import committal as cm
    >>> mdp = cm.gridworld("SA", goals={"A": 1}, gamma=0.5)
    >>> expected_direction(mdp, cm.Natural(1), np.full((2, 4), 0.25))[0].round(6)
    array([-0.1,  0.3, -0.1, -0.1])
    """
    V, Q = solve(mdp, pi)
    advantage = Q - V[:, None]
    if isinstance(update, Natural):
        return advantage * (mdp.reachable & ~mdp.is_terminal)[:, None]
    return state_distribution(mdp, pi)[:, None] * pi * advantage


def next_theta(
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
        Of a running mean of returns.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("SA", goals={"A": 1}, gamma=0.5), cm.Softmax(), cm.Natural(1),
    ...     estimator=cm.Reinforce(), steps=1,
    ... )
    >>> next_theta(e, np.zeros((2, 4)), 0, Episode((0,), (1,), (0.5,), 1))[0]
    array([0., 2., 0., 0.])
    """
    mdp = _mdp(experiment)
    pi = policy_table(mdp, theta)
    if isinstance(experiment.estimator, Expected):
        g = expected_direction(mdp, experiment.update, pi)
    else:
        assert episode is not None
        if Q is None:
            Q = solve(mdp, pi)[1]
        g = episode_direction(experiment, pi, Q, episode, t, memory)
    return theta + scheduled(experiment.update.step_size, t, experiment.steps) * g


# --------------------------------------------------------------------------------------------------
# Whole runs
# --------------------------------------------------------------------------------------------------


def simulate(
    experiment: Experiment, *, key: int, run: int
) -> dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int64]]:
    """One run, with everything recorded at every time 0, 1, ..., steps.

    Parameters
    ----------
    experiment : Experiment
        Its ``record`` is not read.
    key, run : int
        Name the stream: the same numbers as the compiled engine draws.

    Returns
    -------
    dict of ndarray
        By the names of :data:`committal.MDP_RECORDABLE`, with the time first.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.gridworld("S.A", goals={"A": 1}), cm.Softmax(), cm.Vanilla(0.5), cm.MinVariance(),
    ...     estimator=cm.ExactQ(), steps=20,
    ... )
    >>> bool((simulate(e, key=1, run=0)["goal"] == 0).all())
    True
    """
    mdp, steps, estimator = _mdp(experiment), experiment.steps, experiment.estimator
    theta = initial_theta(experiment)
    memory = initial_memory(experiment.baseline)
    visits = np.zeros(mdp.n_states, np.int64)
    V = np.zeros(mdp.n_states)
    record: dict[str, list[npt.ArrayLike]] = {name: [] for name in mdp.quantities}

    for t in range(steps + 1):
        pi = policy_table(mdp, theta)
        if isinstance(estimator, ExactQ) and estimator.solver == "iterative":
            V, Q = sweep(mdp, pi, V, estimator.tolerance)  # from where the last sweeps ended
        else:
            V, Q = solve(mdp, pi)
        episode = draw_episode(experiment, pi, t, key=key, run=run)
        G = returned(mdp, episode)
        np.add.at(visits, list(episode.states), 1)
        entropies = [entropy(pi[s], log_softmax(theta[s])) for s in episode.states]
        frequencies = visits[visits > 0] / visits.sum()

        record["return"].append(G)
        record["length"].append(len(episode.states))
        goal = mdp.terminal.index(episode.last) if episode.last in mdp.terminal else -1
        record["goal"].append(goal)
        record["action_entropy"].append(float(np.mean(entropies)))
        record["state_entropy"].append(entropy(frequencies, np.log(frequencies)))
        record["value"].append(float(mdp.start_distribution @ solve(mdp, pi)[0]))
        record["goal_probability"].append(goal_probability(mdp, pi))
        record["policy"].append(pi)
        record["theta"].append(theta)
        record["visits"].append(visits.copy())

        if t < steps:
            theta = next_theta(experiment, theta, t, episode, Q=Q, memory=memory)
            memory = remember(experiment.baseline, memory, np.array([G]))

    return {name: np.array(column) for name, column in record.items()}
