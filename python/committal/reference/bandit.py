r"""The oracle: every experiment, one run at a time, as plainly as the paper writes it.

Nothing here is fast. The compiled engine is checked against this file step by step, so each
function is one formula, read straight from the :class:`~committal.Experiment` and not from the
plan that the engine is given. Bandits are here; MDPs, which need the same policies, baselines,
behaviours and streams, continue in :mod:`committal.reference.mdp`.

One run
-------
:math:`\theta_0` is given. For t = 0, 1, 2, ... with :math:`\pi = \pi_{\theta_t}`,
:math:`r_i` the mean reward of arm i and :math:`V = \sum_i \pi_i r_i`:

1. the baseline :math:`b_t` is computed from :math:`\pi`, r, or the rewards seen so far;
2. the behaviour :math:`\mu_t` is computed from :math:`\pi`;
3. for each of N samples: :math:`a \sim \mu_t`, a reward R is drawn from arm a, and
   :math:`A = R - b_t`, :math:`w = 1 / (\mu_t(a) + \gamma^{IX}_t)`;
4. the direction g is the mean over the samples of

   ==================  =====================================================
   vanilla, softmax    :math:`A\,\pi(a) w\,(e_a - \pi)`
   vanilla, sigmoid    :math:`A\,\pi(1) w\,\pi(2)`, or :math:`-A\,\pi(2) w\,\pi(1)`
   natural, softmax    :math:`A\,w\,e_a`
   natural, sigmoid    :math:`A\,w`, or :math:`-A\,w`
   direct              :math:`A\,w\,e_a`
   ==================  =====================================================

   (sigmoid: first arm, or second arm) plus the entropy term :math:`\tau_t \nabla H` in the same
   geometry, :math:`-\pi \odot (\log\pi + H)` for vanilla and :math:`-\log\pi` for natural;
5. :math:`\theta_{t+1} = \theta_t + \alpha_t g`, projected onto the simplex when
   :math:`\theta` is the probability vector itself.

With the expected estimator nothing is drawn, and g is the expectation of step 4 for b = 0:
:math:`\pi \odot (r - V)`, r, or r.

Baselines
---------
A weighted mean of the mean rewards, :math:`b = \sum_i w_i r_i / \sum_i w_i`, with

* value: :math:`w_i = \pi_i`;
* minimum variance, gradient metric: :math:`w_i = \pi_i \|e_i - \pi\|^2`;
* minimum variance, natural metric: :math:`w_i = 1 / \pi_i`, and for a fixed
  :math:`\lambda`, :math:`w_i = \pi_i [(K-1)\lambda^2 + (\lambda + 1/\pi_i)^2]`;

or a number: a constant, the largest mean reward, a number inside the gap of the two best arms, a
running mean of the rewards seen. Sums and multiples of these are baselines too.

The two natural ones minimise the *second moment* of the update, as the paper does: the mean of
that update moves along :math:`e = (1, ..., 1)` with b, which no softmax policy can see.

What is measured
----------------
At time t everything describes :math:`\theta_t`: value V, entropy :math:`H = -\sum \pi\log\pi`,
regret :math:`\sum_{s<t} (\max r - V_s)`, distance :math:`\|\pi - e_{best}\|`, and the trace of the
covariance of g, by enumeration of the arms. Softmax and simplex do not see the direction e, so
the variance of natural and direct steps is that of g without its component along e. The action
and reward at time t are those drawn *from* :math:`\theta_t`; the last ones are drawn but never
used. Schedules have one value per update; that last draw uses the last of them.

Streams
-------
Uniform number d of slot s of a run is a pure function of (key, run, s, d): Philox4x32-10 at the
counter (d/2, s, run). Action and reward of sample j of update t both use d = tN + j, in slots
:data:`ACTION` and :data:`REWARD`.

Examples
--------
>>> import committal as cm
>>> from committal import reference
>>> experiment = cm.Experiment(
...     problem=cm.Bandit([1.0, 0.7, 0.0]),
...     policy=cm.Softmax([0, 3, 5]),
...     update=cm.Natural(step_size=0.025),
...     baseline=cm.MinVariance() + 0.5,
...     steps=10,
... )
>>> record = reference.simulate(experiment, key=0, run=0)
>>> record["theta"].shape, record["value"].shape
((11, 3), (11,))
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.config import (
    Baseline,
    Constant,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    RunningMean,
    Value,
)
from committal.config.bandit import Bandit
from committal.config.behaviours import (
    Behaviour,
    EpsilonGreedy,
    Fixed,
    OnPolicy,
    UniformMixture,
)
from committal.config.estimators import OneSample
from committal.config.experiment import Experiment
from committal.config.mdp import TabularMDP
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.schedules import Schedule
from committal.config.updates import Natural, Update, Vanilla

__all__ = [
    "ACTION",
    "REWARD",
    "Memory",
    "Outcome",
    "baseline_value",
    "behaviour_probabilities",
    "draw_action",
    "draw_reward",
    "entropy",
    "entropy_direction",
    "expected_direction",
    "gradient_variance",
    "initial_memory",
    "initial_theta",
    "log_policy",
    "log_softmax",
    "next_theta",
    "one_step_law",
    "optimal_distance",
    "philox4x32",
    "policy_probabilities",
    "project_onto_simplex",
    "remember",
    "reward_table",
    "reward_variance",
    "scheduled",
    "simulate",
    "softmax",
    "uniforms",
    "update_direction",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ACTION = 0
REWARD = 1

#: 1/pi is not taken of anything smaller, so that weights and their sums stay finite.
SMALLEST_PROBABILITY = 1e-150


def _bandit(experiment: Experiment) -> Bandit:
    if not isinstance(experiment.problem, Bandit):
        raise TypeError(f"the oracle knows bandits, not {type(experiment.problem).__name__}")
    return experiment.problem


# --------------------------------------------------------------------------------------------------
# Streams
# --------------------------------------------------------------------------------------------------


def philox4x32(counter: npt.ArrayLike, key: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """Philox4x32-10: four 32-bit words from a 128-bit counter and a 64-bit key.

    One round multiplies words 0 and 2 by two constants and mixes the high halves with the other
    two words and with the key; the key moves by a Weyl sequence between rounds.

    Parameters
    ----------
    counter : array_like of uint32, shape (..., 4)
    key : array_like of uint32, shape (2,)

    Returns
    -------
    ndarray of uint32, shape (..., 4)

    Examples
    --------
    >>> [f"{x:08x}" for x in philox4x32([0, 0, 0, 0], [0, 0])]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c0, c1, c2, c3 = np.moveaxis(np.asarray(counter, dtype=np.uint64), -1, 0)
    k0, k1 = np.asarray(key, dtype=np.uint64)
    for _ in range(10):
        product0 = np.uint64(0xD2511F53) * c0
        product1 = np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (product1 >> shift) ^ c1 ^ k0,
            product1 & low,
            (product0 >> shift) ^ c3 ^ k1,
            product0 & low,
        )
        k0 = (k0 + np.uint64(0x9E3779B9)) & low
        k1 = (k1 + np.uint64(0xBB67AE85)) & low
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)


def uniforms(key: int, run: int, slot: int, first: int, count: int) -> Floats:
    """u(d) = k / 2^52 in [0, 1) for d = first, ..., first + count - 1.

    One Philox block holds two uniform numbers: d even takes words 0 and 1, d odd words 2 and 3,
    and the upper 52 bits of the 64 are kept.

    Examples
    --------
    >>> u = uniforms(key=7, run=3, slot=ACTION, first=0, count=100)
    >>> bool(np.array_equal(u[40:60], uniforms(key=7, run=3, slot=ACTION, first=40, count=20)))
    True
    """
    low = np.uint64(0xFFFFFFFF)
    d = np.uint64(first) + np.arange(count, dtype=np.uint64)
    block = d >> np.uint64(1)
    counter = np.empty((count, 4), dtype=np.uint64)
    counter[:, 0] = block & low
    counter[:, 1] = ((block >> np.uint64(32)) << np.uint64(8)) | np.uint64(slot)
    counter[:, 2] = run & 0xFFFFFFFF
    counter[:, 3] = run >> 32
    words = philox4x32(counter, [key & 0xFFFFFFFF, key >> 32]).astype(np.uint64)
    even = (d & np.uint64(1)) == 0
    bits = np.where(
        even,
        words[:, 0] | (words[:, 1] << np.uint64(32)),
        words[:, 2] | (words[:, 3] << np.uint64(32)),
    )
    return (bits >> np.uint64(12)).astype(np.float64) * 2.0**-52


def draw_action(mu: Floats, u: float) -> int:
    """The first a with u·(mu_1 + ... + mu_K) < mu_1 + ... + mu_a.

    An arm of probability exactly 0 is never drawn: its cumulative sum equals the one before it.

    Examples
    --------
    >>> draw_action(np.array([0.5, 0.0, 0.5]), 0.5)
    2
    """
    cumulative = np.cumsum(mu)
    return int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))


def draw_reward(problem: Bandit, a: int, v: float) -> float:
    """The reward of arm a at quantile v of its law.

    Examples
    --------
    >>> import committal as cm
    >>> draw_reward(cm.Bandit([0.2, 0.8], noise="bernoulli"), 1, 0.75)
    1.0
    """
    r = problem.means[a]
    if problem.sigma is not None:
        # v is a multiple of 2^-52: half a step up keeps it inside (0, 1).
        return r + problem.sigma[a] * NormalDist().inv_cdf(v + 2.0**-53)
    if problem.half_width is not None:
        return r + problem.half_width[a] * (2.0 * v - 1.0)
    values, probabilities = zip(*reward_table(problem, a), strict=True)
    cumulative = np.cumsum(probabilities)
    cumulative[-1] = 1.0
    return float(values[int(np.searchsorted(cumulative, v, side="right"))])


def reward_table(problem: Bandit, a: int) -> list[tuple[float, float]]:
    """The atoms (value, probability) of the reward of arm a.

    Examples
    --------
    >>> import committal as cm
    >>> reward_table(cm.Bandit([0.25, 0.75], noise="bernoulli"), 0)
    [(1.0, 0.25), (0.0, 0.75)]
    """
    r = problem.means[a]
    if problem.noise is None:
        return [(r, 1.0)]
    if problem.noise == "bernoulli":
        return [(1.0, r), (0.0, 1.0 - r)]
    if problem.table is not None:
        return list(problem.table[a])
    raise ValueError(f"{problem.noise} rewards have no finite table of values")


def reward_variance(problem: Bandit, a: int) -> float:
    """Var[R | a].

    Examples
    --------
    >>> import committal as cm
    >>> reward_variance(cm.Bandit([0.25, 0.75], noise="bernoulli"), 0)
    0.1875
    """
    if problem.sigma is not None:
        return problem.sigma[a] ** 2
    if problem.half_width is not None:
        return problem.half_width[a] ** 2 / 3.0
    r = problem.means[a]
    return sum(probability * (value - r) ** 2 for value, probability in reward_table(problem, a))


# --------------------------------------------------------------------------------------------------
# Policies
# --------------------------------------------------------------------------------------------------


def _others(x: Floats) -> Floats:
    """Sum over j != i of x_j, without subtracting x_i from a total that it may dominate."""
    total = np.zeros(len(x))
    total[1:] += np.cumsum(x)[:-1]
    total[:-1] += np.cumsum(x[::-1])[:-1][::-1]
    return total


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
    """theta_0: one number per arm, one for the sigmoid, the probabilities for a direct policy.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.1), steps=1)
    >>> initial_theta(e)
    array([0., 0.])
    """
    policy, arms = experiment.policy, _bandit(experiment).arms
    if isinstance(policy, Sigmoid):
        return np.array([policy.theta0])
    if isinstance(policy, Direct):
        if policy.probabilities is None:
            return np.full(arms, 1.0 / arms)
        return np.array(policy.probabilities)
    assert isinstance(policy, Softmax)
    return np.zeros(arms) if policy.theta0 is None else np.array(policy.theta0)


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
    return softmax(theta)


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


# --------------------------------------------------------------------------------------------------
# Baselines
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """What a running mean remembers: its current value and how many rewards made it."""

    mean: float = 0.0
    count: int = 0


def _running_mean(baseline: Baseline) -> RunningMean | None:
    atoms = [atom for _, atom in baseline.terms] if isinstance(baseline, Linear) else [baseline]
    return next((atom for atom in atoms if isinstance(atom, RunningMean)), None)


def initial_memory(baseline: Baseline) -> Memory:
    """The memory before any reward.

    Examples
    --------
    >>> import committal as cm
    >>> initial_memory(cm.RunningMean(initial=0.5))
    Memory(mean=0.5, count=0)
    """
    running = _running_mean(baseline)
    return Memory(running.initial) if running is not None else Memory()


def remember(baseline: Baseline, memory: Memory, rewards: Floats) -> Memory:
    """m <- m + rate (R - m) for each reward in turn; rate = 1/n for the plain average.

    Examples
    --------
    >>> import committal as cm
    >>> remember(cm.RunningMean(), Memory(5.0, 0), np.array([1.0, 2.0]))
    Memory(mean=1.5, count=2)
    """
    running = _running_mean(baseline)
    if running is None:
        return memory
    mean, count = memory.mean, memory.count
    for reward in rewards:
        count += 1
        if running.rate is not None:
            mean += running.rate * (float(reward) - mean)
        else:
            # The first reward replaces the initial value, whatever that was.
            mean = float(reward) if count == 1 else mean + (float(reward) - mean) / count
    return Memory(mean, count)


def _weighted_mean(w: Floats, pi: Floats, r: Floats) -> float:
    """sum w r / sum w; the value where no arm has any weight (a certain policy, one arm)."""
    total = w.sum()
    return float(w @ r / total) if total > 0.0 else float(pi @ r)


def baseline_value(
    baseline: Baseline, pi: Floats, r: Floats, memory: Memory | None = None
) -> float:
    """b(pi, r): the number subtracted from the reward.

    Parameters
    ----------
    baseline : Baseline
    pi : ndarray, shape (K,)
        The target policy, whatever the behaviour is.
    r : ndarray, shape (K,)
        Mean rewards.
    memory : Memory, optional
        Needed by :class:`RunningMean` once a reward has been seen.

    Examples
    --------
    >>> import committal as cm
    >>> pi, r = np.full(3, 1 / 3), np.array([1.0, 0.7, 0.0])
    >>> round(baseline_value(cm.MinVariance() + 0.5, pi, r), 12)
    1.066666666667
    """
    arms = len(pi)
    match baseline:
        case Constant():
            return baseline.c
        case Value():
            return float(pi @ r)
        case MinVariance(metric="gradient"):
            # ||e_i - pi||^2 = (1 - pi_i)^2 + sum over the others of pi_j^2, all positive terms.
            return _weighted_mean(pi * (_others(pi) ** 2 + _others(pi**2)), pi, r)
        case MinVariance(lam=None):
            return _weighted_mean(1.0 / np.maximum(pi, SMALLEST_PROBABILITY), pi, r)
        case MinVariance():
            assert baseline.lam is not None
            p, lam = np.maximum(pi, SMALLEST_PROBABILITY), baseline.lam
            return _weighted_mean(p * ((arms - 1) * lam**2 + (lam + 1.0 / p) ** 2), pi, r)
        case Maximum():
            return float(r.max())
        case Gap():
            second, best = np.sort(r)[-2:]
            return float(second + baseline.fraction * (best - second))
        case RunningMean():
            return memory.mean if memory is not None else baseline.initial
        case Linear():
            return baseline.offset + sum(
                coefficient * baseline_value(atom, pi, r, memory)
                for coefficient, atom in baseline.terms
            )
    raise TypeError(f"no formula for the baseline {baseline!r}")


# --------------------------------------------------------------------------------------------------
# Behaviours and schedules
# --------------------------------------------------------------------------------------------------


def scheduled(x: float | Schedule, t: int, steps: int) -> float:
    """x_t for update t; the draw after the last update uses the last value.

    Examples
    --------
    >>> import committal as cm
    >>> scheduled(cm.Decay(1.0, 0.5), 3, 10)
    0.5
    """
    if isinstance(x, Schedule):
        last = max(steps, 1) - 1
        return float(x.values(min(t, last) + 1)[-1])
    return x


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
    raise TypeError(f"no formula for the behaviour {behaviour!r}")


# --------------------------------------------------------------------------------------------------
# Updates
# --------------------------------------------------------------------------------------------------


def project_onto_simplex(x: npt.ArrayLike) -> Floats:
    """The point of the simplex nearest to x: max(x - s, 0), with s such that it sums to 1.

    With x sorted downwards and n the largest number such that
    x_(n) > (x_(1) + ... + x_(n) - 1) / n, the shift s is the right-hand side.

    Examples
    --------
    >>> project_onto_simplex([0.5, 0.25, 2.0])
    array([0., 0., 1.])
    """
    point: Floats = np.asarray(x, dtype=np.float64)
    # Measured from the largest entry, so that a far-away x keeps its small differences.
    point = point - point.max()
    descending = np.sort(point)[::-1]
    shifts = (np.cumsum(descending) - 1.0) / np.arange(1, len(point) + 1)
    support = np.flatnonzero(descending > shifts)[-1]
    projected: Floats = np.maximum(point - shifts[support], 0.0)
    return projected


def update_direction(
    policy: Policy,
    update: Update,
    pi: Floats,
    mu: Floats,
    a: int,
    advantage: float,
    implicit: float = 0.0,
) -> Floats:
    """The direction of one sample: A w times pi(a) grad log pi(a) in the geometry of the update.

    w = 1 / (mu(a) + implicit). For natural updates pi(a) F^+ grad log pi(a) is e_a (softmax, up
    to a shift along e) or +1, -1 (sigmoid).

    Returns
    -------
    ndarray
        Of the shape of theta, without the step size.

    Examples
    --------
    >>> import committal as cm
    >>> pi = np.array([0.5, 0.5])
    >>> update_direction(cm.Softmax(), cm.Natural(step_size=1.0), pi, pi, a=0, advantage=1.0)
    array([2., 0.])
    >>> update_direction(cm.Softmax(), cm.Vanilla(step_size=1.0), pi, pi, a=0, advantage=1.0)
    array([ 0.5, -0.5])
    """
    w = 1.0 / (float(mu[a]) + implicit)
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        sign = 1.0 if a == 0 else -1.0
        return np.array([sign * advantage * w * (1.0 if natural else pi[0] * pi[1])])
    if natural or isinstance(policy, Direct):
        direction = np.zeros(len(pi))
        direction[a] = advantage * w
        return direction
    score = -pi
    score[a] = _others(pi)[a]
    return advantage * (float(pi[a]) * w) * score


def expected_direction(policy: Policy, update: Update, pi: Floats, r: Floats) -> Floats:
    """E[g] on-policy without baseline: the exact gradient in the geometry of the update.

    Examples
    --------
    >>> import committal as cm
    >>> pi, r = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    >>> expected_direction(cm.Softmax(), cm.Vanilla(step_size=1.0), pi, r)
    array([ 0.25, -0.25])
    """
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        return np.array([(r[0] - r[1]) * (1.0 if natural else pi[0] * pi[1])])
    if natural or isinstance(policy, Direct):
        return r
    return pi * (r - pi @ r)


def entropy_direction(policy: Policy, update: Update, theta: Floats) -> Floats:
    """The gradient of H in the geometry of the update.

    vanilla: -pi (log pi + H), sigmoid -pi_1 pi_2 theta; natural: -log pi, sigmoid -theta.

    Examples
    --------
    >>> import committal as cm
    >>> entropy_direction(cm.Sigmoid(), cm.Natural(step_size=1.0), np.array([2.0]))
    array([-2.])
    """
    pi, log_pi = policy_probabilities(policy, theta), log_policy(policy, theta)
    natural = isinstance(update, Natural)
    if isinstance(policy, Sigmoid):
        return -theta * (1.0 if natural else pi[0] * pi[1])
    return -log_pi if natural else -pi * (log_pi + entropy(pi, log_pi))


def next_theta(
    experiment: Experiment,
    theta: Floats,
    t: int,
    b: float,
    actions: npt.ArrayLike = (),
    rewards: npt.ArrayLike = (),
) -> Floats:
    """theta_{t+1} = theta_t + alpha_t g: one update from given draws.

    Parameters
    ----------
    experiment : Experiment
    theta : ndarray
    t : int
        Number of updates already done.
    b : float
        The baseline at theta.
    actions, rewards : array_like, shape (N,)
        The samples of this update; not used by the expected estimator.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.5), steps=1)
    >>> next_theta(e, np.zeros(2), t=0, b=0.0, actions=[0], rewards=[1.0])
    array([1., 0.])
    """
    policy, update, steps = experiment.policy, experiment.update, experiment.steps
    estimator = experiment.estimator
    pi = policy_probabilities(policy, theta)
    if isinstance(estimator, OneSample):
        mu = behaviour_probabilities(experiment.behaviour, pi, t, steps)
        implicit = scheduled(estimator.implicit, t, steps)
        samples = zip(np.asarray(actions), np.asarray(rewards), strict=True)
        g: Floats = np.mean(
            [update_direction(policy, update, pi, mu, int(a), R - b, implicit) for a, R in samples],
            axis=0,
        )
    else:
        g = expected_direction(policy, update, pi, np.array(_bandit(experiment).means))
    if isinstance(update, Natural | Vanilla) and not isinstance(policy, Direct):
        tau = scheduled(update.entropy, t, steps)
        if tau > 0.0:
            g = g + tau * entropy_direction(policy, update, theta)
    theta = theta + scheduled(update.step_size, t, steps) * g
    return project_onto_simplex(theta) if isinstance(policy, Direct) else theta


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
    policy, update, problem = experiment.policy, experiment.update, _bandit(experiment)
    estimator = experiment.estimator
    if not isinstance(estimator, OneSample):
        return 0.0
    r, steps = np.array(problem.means), experiment.steps
    pi = policy_probabilities(policy, theta)
    mu = behaviour_probabilities(experiment.behaviour, pi, t, steps)
    b = baseline_value(experiment.baseline, pi, r, memory)
    implicit = scheduled(estimator.implicit, t, steps)

    # An arm whose probability has underflowed is never drawn.
    drawn = [a for a in range(problem.arms) if mu[a] > np.finfo(np.float64).tiny]
    g = np.array([update_direction(policy, update, pi, mu, a, 1.0, implicit) for a in drawn])
    if isinstance(policy, Direct) or (isinstance(policy, Softmax) and isinstance(update, Natural)):
        # The policy does not see the component along e = (1, ..., 1).
        g = g - g.mean(axis=1, keepdims=True)

    mean_given_a = (r[drawn] - b)[:, None] * g
    mean = mu[drawn] @ mean_given_a
    noise = np.sqrt([reward_variance(problem, a) for a in drawn])[:, None] * g
    # The root of mu goes inside the squares: (1/mu)^2 alone may overflow.
    root_mu = np.sqrt(mu[drawn])[:, None]
    trace = np.sum((root_mu * noise) ** 2) + np.sum((root_mu * (mean_given_a - mean)) ** 2)
    return float(trace) / estimator.samples


# --------------------------------------------------------------------------------------------------
# Whole runs, and exact laws
# --------------------------------------------------------------------------------------------------


def simulate(
    experiment: Experiment,
    *,
    key: int,
    run: int,
    actions: npt.ArrayLike | None = None,
    rewards: npt.ArrayLike | None = None,
) -> dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int64]]:
    """One run, with everything recorded at every time 0, 1, ..., steps.

    Parameters
    ----------
    experiment : Experiment
        Its ``record`` is not read.
    key, run : int
        Name the stream: the same numbers as the compiled engine draws.
    actions, rewards : array_like, shape (steps, N) or (steps + 1, N), optional
        Replay these instead of drawing (teacher forcing): given actions, or given both.

    Returns
    -------
    dict of ndarray
        ``value``, ``baseline``, ``entropy``, ``regret``, ``variance``, ``distance`` of shape
        (steps + 1,), ``policy`` and ``theta`` with one column per arm (one for the sigmoid's
        theta), ``action`` and ``reward`` with one column per sample (absent for the expected
        estimator, which draws nothing). Of an MDP, see
        :func:`committal.reference.mdp.simulate`.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([0.9, 0.1], noise="bernoulli"),
    ...     cm.Softmax(),
    ...     cm.Vanilla(step_size=0.5),
    ...     steps=20,
    ... )
    >>> first = simulate(e, key=1, run=0)
    >>> again = simulate(e, key=1, run=0, actions=first["action"], rewards=first["reward"])
    >>> bool(np.array_equal(first["theta"], again["theta"]))
    True
    """
    if isinstance(experiment.problem, TabularMDP):
        # Here and not above: that file needs this one.
        from committal.reference import mdp as reference_mdp

        if actions is not None or rewards is not None:
            raise TypeError("the episodes of an MDP cannot be given")
        return reference_mdp.simulate(experiment, key=key, run=run)

    problem, policy, steps = _bandit(experiment), experiment.policy, experiment.steps
    estimator = experiment.estimator
    sampled = isinstance(estimator, OneSample)
    samples = estimator.samples if isinstance(estimator, OneSample) else 0
    r = np.array(problem.means)

    draws = (steps + 1) * samples
    u = uniforms(key, run, ACTION, 0, draws).reshape(steps + 1, samples)
    v = uniforms(key, run, REWARD, 0, draws).reshape(steps + 1, samples)
    given_actions = None if actions is None else np.asarray(actions).reshape(-1, samples)
    given_rewards = None if rewards is None else np.asarray(rewards).reshape(-1, samples)

    theta = initial_theta(experiment)
    memory = initial_memory(experiment.baseline)
    regret = 0.0
    record: dict[str, list[npt.ArrayLike]] = {name: [] for name in _RECORDED}

    for t in range(steps + 1):
        pi = policy_probabilities(policy, theta)
        mu = behaviour_probabilities(experiment.behaviour, pi, t, steps)
        b = baseline_value(experiment.baseline, pi, r, memory)
        value = float(pi @ r)

        if given_actions is not None and t < len(given_actions):
            a_t = given_actions[t]
        else:
            a_t = np.array([draw_action(mu, u[t, j]) for j in range(samples)], dtype=np.int64)
        if given_rewards is not None and t < len(given_rewards):
            r_t = given_rewards[t]
        else:
            r_t = np.array([draw_reward(problem, a_t[j], v[t, j]) for j in range(samples)])

        record["value"].append(value)
        record["policy"].append(pi)
        record["theta"].append(theta)
        record["baseline"].append(b)
        record["entropy"].append(entropy(pi, log_policy(policy, theta)))
        record["action"].append(a_t)
        record["reward"].append(r_t)
        record["regret"].append(regret)
        record["variance"].append(gradient_variance(experiment, theta, t, memory))
        record["distance"].append(optimal_distance(pi, problem.best))

        if t < steps:
            theta = next_theta(experiment, theta, t, b, a_t, r_t)
            memory = remember(experiment.baseline, memory, r_t)
            regret += float(r.max()) - value

    names = [name for name in _RECORDED if sampled or name not in ("action", "reward")]
    return {name: np.array(record[name]) for name in names}


_RECORDED = (
    "value",
    "policy",
    "theta",
    "baseline",
    "entropy",
    "action",
    "reward",
    "regret",
    "variance",
    "distance",
)


class Outcome(NamedTuple):
    """One atom of the law of an update: with `probability`, these N samples and this theta."""

    probability: float
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    theta: Floats


def one_step_law(
    experiment: Experiment, theta: Floats, t: int = 0, memory: Memory | None = None
) -> list[Outcome]:
    """The exact law of theta_{t+1} given theta_t: all actions times all reward atoms.

    Parameters
    ----------
    experiment : Experiment
        With deterministic, Bernoulli or table rewards. N samples give the N-fold product.
    theta : ndarray
    t : int
        Number of updates already done.
    memory : Memory, optional
        For a :class:`RunningMean` that has seen rewards.

    Returns
    -------
    list of Outcome
        Atoms of positive probability; probabilities sum to 1.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([0.75, 0.25], noise="bernoulli"),
    ...     cm.Softmax(),
    ...     cm.Natural(step_size=0.5),
    ...     steps=1,
    ... )
    >>> for outcome in one_step_law(e, np.zeros(2)):
    ...     print(outcome.probability, outcome.actions, outcome.rewards, outcome.theta)
    0.375 (0,) (1.0,) [1. 0.]
    0.125 (0,) (0.0,) [0. 0.]
    0.125 (1,) (1.0,) [0. 1.]
    0.375 (1,) (0.0,) [0. 0.]
    """
    problem, estimator = _bandit(experiment), experiment.estimator
    pi = policy_probabilities(experiment.policy, theta)
    mu = behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
    b = baseline_value(experiment.baseline, pi, np.array(problem.means), memory)
    if not isinstance(estimator, OneSample):
        return [Outcome(1.0, (), (), next_theta(experiment, theta, t, b))]
    atoms = [
        (float(mu[a]) * probability, a, reward)
        for a in range(problem.arms)
        for reward, probability in reward_table(problem, a)
        if mu[a] * probability > 0.0
    ]
    law = []
    for draw in itertools.product(atoms, repeat=estimator.samples):
        probabilities, actions, rewards = zip(*draw, strict=True)
        theta_next = next_theta(experiment, theta, t, b, actions, rewards)
        law.append(Outcome(float(np.prod(probabilities)), actions, rewards, theta_next))
    return law
