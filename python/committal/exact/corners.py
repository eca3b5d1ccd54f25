r"""What happens where one arm is nearly certain: does a run stay, and for how long?

Let arm k be nearly certain, j a rare arm of probability p, and :math:`x = \log(\pi_j / \pi_k)`, so
that :math:`p \approx e^x`. An update draws k only, with probability close to 1, or j once, with a
probability of order p. What these two do to x as p goes to 0 decides everything.

*The drift does not vanish* (natural gradients, fixed behaviours): every update moves x by a random
amount of mean d. If d < 0, p shrinks geometrically, j may never be drawn again: the corner
**attracts**. If d > 0 it **repels**.

*The drift is of order p* (vanilla gradients). In the clock :math:`d\tau = p\,dt`, which counts
draws of j, x is a Lévy process: a drift d and jumps J at rate :math:`\nu`, those of an update with
j in it. Its exponent and its mean are

.. math:: \Lambda(s) = s d + \nu (E e^{sJ} - 1), \qquad m = \Lambda'(0) = d + \nu E J .

If m < 0 then :math:`x \to -\infty`: the corner **attracts**. Otherwise x comes back, but it may
first fall by D, with probability :math:`\approx e^{-\kappa D}`, where :math:`\kappa > 0` is the
Cramér root :math:`\Lambda(-\kappa) = 0`. At depth D one unit of the clock takes :math:`e^D`
updates, so :math:`P(\text{still there after } t) \approx t^{-\kappa}`. The corner **releases** if
draws of k lead into it (d <= 0), it **repels** if they lead away.

A vanilla softmax has :math:`d = -2\eta(r_k - b)` and :math:`J = 2\eta(R_j - b)`. With
:math:`u = 2\eta\kappa` the root solves

.. math:: (r_k - b) u = 1 - E e^{-u(R_j - b)} ,

whatever :math:`\eta` is. With K arms every rare one has such a process of its own, in its own
clock, and all those that lead away must be kept down together:
:math:`\kappa = \sum_j u_j / (K \eta)` over the better arms. The page ``docs/corners.md`` has the
derivation and what it explains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from committal.config import Bandit, Experiment, Sigmoid, Softmax, Vanilla
from committal.config.schedules import Schedule
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics, formulas
from committal.exact.clocks import clock_of
from committal.exact.counts import Counts, count_vectors, multinomial
from committal.exact.law import batches_of
from committal.support import check, limits
from committal.support.simplex import Floats

__all__ = ["Corner", "Edge", "corner", "critical_step_size"]

#: Two depths: what grows from one to the other has no limit. Their squares are still numbers.
_DEPTHS = (-240.0, -320.0)
#: The log-odds of arms that are not looked at.
_ABSENT = -640.0
#: Points that stand for rewards of a continuous law.
_POINTS = 16
#: Numbers below this, relative to the largest, are rounding.
_ZERO = 1e-10


@dataclass(frozen=True, eq=False)
class Edge:
    r"""What one rare arm does near a corner.

    Attributes
    ----------
    arm : int
        The rare arm j.
    kind : str
        ``"attracts"``, ``"repels"`` or ``"releases"``.
    clock : str
        ``"updates"`` if every update moves the log-odds, ``"draws"`` if they move as often as the
        rare arm is drawn.
    drift : float
        What updates that do not draw j move the log-odds of j by, per unit of the clock; infinite
        if it grows with the depth.
    mean : float or None
        All that moves them, per unit of the clock; None if it grows with the depth.
    jumps, rates : ndarray
        How far, and how often per unit of the clock, updates that draw j once move them; empty in
        the clock of updates.
    exponent : float or None
        kappa: :math:`P(\text{still there after } t) \approx t^{-\kappa}`. 0 where a run may stay
        for ever, infinite where it leaves faster than by any power, None where it is not known.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.5]), cm.Softmax(), cm.Vanilla(4), steps=1)
    >>> edge, = corner(e, arm=1).edges
    >>> edge.drift, edge.jumps, round(edge.mean, 9)
    (-4.0, array([8.]), 4.0)
    """

    arm: int
    kind: str
    clock: str
    drift: float
    mean: float | None
    jumps: Floats
    rates: Floats
    exponent: float | None


@dataclass(frozen=True, eq=False)
class Corner:
    r"""What happens where one arm is nearly certain.

    Attributes
    ----------
    arm : int
        The arm that is nearly certain.
    kind : str
        ``"attracts"``: a run may stay for ever. ``"repels"``: draws of the arm itself lead away.
        ``"releases"``: they do not, but other arms are drawn again and again, and lead away on
        average.
    root : float or None
        u = :math:`K\eta\kappa` for a softmax of K arms, :math:`\eta\kappa` for a sigmoid. It does
        not depend on the step size.
    exponent : float or None
        kappa: :math:`P(\text{still there after } t) \approx t^{-\kappa}`; 0 where a run may stay
        for ever, infinite where it leaves faster than by any power. None where it is not known,
        and with more than two arms for other updates than `Vanilla`.
    edges : tuple of Edge
        One for each of the other arms, as if only that one were left.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.5]), cm.Softmax(), cm.Vanilla(4), steps=1)
    >>> stuck = corner(e, arm=1)
    >>> stuck.kind, round(stuck.root, 7), round(stuck.exponent, 4)
    ('releases', 1.5936243, 0.1992)
    """

    arm: int
    kind: str
    root: float | None
    exponent: float | None
    edges: tuple[Edge, ...]


@dynamics.no_overflow
def corner(experiment: Experiment, arm: int) -> Corner:
    r"""What happens where one arm is nearly certain: attracts, repels or releases, and how fast.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit, with a `Softmax` or a `Sigmoid`, a constant step size, and any rule without a
        state. Rewards have finitely many values, unless there is one sample and no formula.
    arm : int
        The arm that is nearly certain.

    Returns
    -------
    Corner

    Examples
    --------
    Gradients clipped to a norm below :math:`\sqrt 2 r_2` never leave the second arm for sure:

    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.5]), cm.Softmax(), cm.Vanilla(0.1), steps=1)
    >>> [corner(e.replace(optimiser=cm.ClipNorm(c)), 1).kind for c in (0.70, 0.71)]
    ['attracts', 'releases']

    Natural gradients with a low baseline attract, with a high one they repel:

    >>> [corner(e.replace(update=cm.Natural(0.1), baseline=b), 1).kind for b in (0.4, 0.6)]
    ['attracts', 'repels']
    """
    problem = _checked(experiment)
    arm = check.integer("arm", arm, 0)
    if arm >= problem.arms:
        raise ConfigError("arm", arm, f"an arm, 0 to {problem.arms - 1}")
    edges = tuple(_edge(experiment, arm, j) for j in range(problem.arms) if j != arm)
    kinds = {edge.kind for edge in edges}
    kind = "attracts" if kinds == {"attracts"} else "repels" if "repels" in kinds else "releases"
    exponent = _together(experiment, edges)
    root = None if exponent is None else exponent * _per_advantage(experiment)
    return Corner(arm, kind, root, exponent, edges)


def _together(experiment: Experiment, edges: tuple[Edge, ...]) -> float | None:
    """The exponent of a corner from those of its edges."""
    if len(edges) == 1:
        return edges[0].exponent
    if all(edge.kind == "attracts" for edge in edges):
        return 0.0
    each = [edge.exponent for edge in edges if edge.kind != "attracts"]
    own_clocks = all(edge.clock == "draws" and edge.mean is not None for edge in edges)
    if not isinstance(experiment.update, Vanilla) or not own_clocks:
        return None
    # Each edge alone has u_j / (2 eta), all of them together have sum u_j / (K eta).
    return 2.0 / (len(edges) + 1) * sum(one for one in each if one is not None)


@dynamics.no_overflow
def critical_step_size(experiment: Experiment) -> float:
    r"""The step size at which regret turns polynomial: :math:`\kappa = 1` at some wrong arm.

    All moves near a corner are proportional to :math:`\eta`, so :math:`\kappa = \eta_c / \eta` for
    the wrong arm that holds runs longest. Runs on it cost :math:`\sum_t t^{-\kappa}`: for
    :math:`\eta < \eta_c` that is finite, and regret grows like :math:`\log T`; for
    :math:`\eta > \eta_c` it grows like :math:`T^{1 - \eta_c / \eta}`.

    Parameters
    ----------
    experiment : Experiment
        As for :func:`corner`, with at most a hundred arms; the step size is not used.

    Returns
    -------
    float
        Infinite where no step size is too large, 0 where none is small enough.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0.5]), cm.Softmax(), cm.Vanilla(1), steps=1)
    >>> round(critical_step_size(e), 8)
    0.79681213
    >>> critical_step_size(e.replace(baseline=cm.Value()))
    inf
    >>> round(critical_step_size(e.replace(problem=cm.Bandit([1, 0.5, 0]))), 8)
    0.53120809
    """
    problem = _checked(experiment)
    wrong = [a for a, r in enumerate(problem.means) if r < max(problem.means)]
    if not wrong:
        raise CombinationError("experiment.problem", problem, "arms with different means")
    if problem.arms > limits.CORNER_ARMS:
        allowed = f"at most {limits.CORNER_ARMS} arms; exact.corner looks at one corner of more"
        raise ConfigError("experiment.problem.arms", problem.arms, allowed)
    least = math.inf
    for arm in wrong:
        exponent = corner(experiment, arm).exponent
        if exponent is None:
            allowed = f"a rule whose exponent at arm {arm} is known, such as Vanilla"
            raise CombinationError("experiment.update", experiment.update, allowed)
        least = min(least, exponent)
    return least * float(experiment.update.step_size)  # type: ignore[arg-type]


# -- one rare arm ----------------------------------------------------------------------------------


class _Moves(NamedTuple):
    """What updates do to the log-odds of the rare arm at one depth."""

    probability: Floats  # of the updates that do not draw it, if it vanishes
    by: Floats
    rate: Floats  # of those that draw it once, divided by p
    jump: Floats


def _edge(experiment: Experiment, arm: int, rare: int) -> Edge:
    near, far = (_moves(experiment, arm, rare, depth) for depth in _DEPTHS)
    scale = _scale(experiment)
    none = np.zeros(0)

    # Every update moves it.
    drift, before = (float(x.probability @ x.by) for x in (far, near))
    if abs(drift) > _ZERO * scale:
        kind = "attracts" if drift < 0.0 else "repels"
        if abs(drift) > 1.05 * abs(before):
            endless = math.copysign(math.inf, drift)
            return Edge(rare, kind, "updates", endless, None, none, none, _end(kind))
        return Edge(rare, kind, "updates", drift, drift, none, none, _end(kind))
    if float(np.abs(far.by).max(initial=0.0)) > _ZERO * scale:
        # A random walk without drift: it comes back, and not by any power that is known here.
        return Edge(rare, "releases", "updates", 0.0, 0.0, none, none, None)

    # It moves as often as it is drawn.
    before, drift = (
        float(x.probability @ x.by) / math.exp(depth)
        for x, depth in zip((near, far), _DEPTHS, strict=True)
    )
    drift = 0.0 if abs(drift) <= _ZERO * scale else drift
    jump, rate = far.jump, far.rate
    grows = np.abs(jump) > np.maximum(1.05 * np.abs(near.jump), _ZERO * scale)
    if abs(drift) > 1.05 * max(abs(before), _ZERO * scale):
        kind = "attracts" if drift < 0.0 else "repels"
        endless = math.copysign(math.inf, drift)
        return Edge(rare, kind, "draws", endless, None, jump, rate, _end(kind))
    if grows.any():
        # Jumps without a limit: one that leads into the corner is never made good again.
        kind = "attracts" if (jump[grows] < 0.0).any() else "releases"
        exponent = 0.0 if kind == "attracts" else None
        return Edge(rare, kind, "draws", drift, None, jump, rate, exponent)
    jump = np.where(np.abs(jump) <= _ZERO * scale, 0.0, jump)
    mean = drift + float(rate @ jump)
    if mean < -_ZERO * scale:
        return Edge(rare, "attracts", "draws", drift, mean, jump, rate, 0.0)
    kind = "repels" if drift > 0.0 else "releases"
    clock = clock_of(_smooth_noise(experiment), drift, jump, rate)
    exponent = clock.exponent() if mean > _ZERO * scale else 0.0
    return Edge(rare, kind, "draws", drift, mean, jump, rate, exponent)


def _end(kind: str) -> float:
    """The exponent where everything is decided by a drift that does not vanish."""
    return 0.0 if kind == "attracts" else math.inf


def _moves(experiment: Experiment, arm: int, rare: int, depth: float) -> _Moves:
    theta = _theta(experiment, arm, rare, depth)
    pi = experiment.policy.probabilities_at(theta)
    mu = experiment.behaviour.at(pi, 0)
    p = math.exp(depth)
    vanishing = mu < 1e-20
    if mu[rare] < 1e-20 and not 1e-3 < mu[rare] / p < 1e3:
        allowed = "a behaviour that draws a rare arm in proportion to its probability, or always"
        raise CombinationError("experiment.behaviour", experiment.behaviour, allowed)
    arms, values, q = _atoms(experiment)
    often = ~vanishing[arms]
    samples = dynamics.samples_of(experiment)

    def counts(of: int) -> tuple[Floats, Counts]:
        """The outcomes of some samples of what is drawn often, as counts of all atoms."""
        drawn = count_vectors(int(often.sum()), of)
        full = np.zeros((len(drawn), len(arms)), dtype=np.int64)
        full[:, often] = drawn
        share = (mu[arms] * q)[often]
        return multinomial(drawn, share / share.sum()), full

    probability, common = counts(samples)
    by = _log_odds(experiment, theta, arm, rare, arms, values, common)
    if not vanishing[rare]:
        return _Moves(probability, by, np.zeros(0), np.zeros(0))
    # N samples may be the rare one.
    rest, others = counts(samples - 1)
    rate, drawn = [], []
    for i in np.flatnonzero(arms == rare):
        one = others.copy()
        one[:, i] += 1
        drawn.append(one)
        rate.append(samples * float(mu[rare] / p) * q[i] * rest)
    jump = _log_odds(experiment, theta, arm, rare, arms, values, np.concatenate(drawn))
    return _Moves(probability, by, np.concatenate(rate), jump)


def _atoms(experiment: Experiment) -> tuple[Counts, Floats, Floats]:
    """Arms, rewards and probabilities given the arm of all that one sample may be.

    Where the rule is linear in the rewards, those that are normal or uniform are replaced by the
    points and weights of Gauss, which have their mean and their variance.
    """
    problem = _checked(experiment)
    noise = _smooth_noise(experiment)
    if noise == "gaussian":
        x, w = np.polynomial.hermite_e.hermegauss(_POINTS)
        spread = np.sqrt(np.array(problem.reward_variances))
    elif noise == "uniform":
        x, w = np.polynomial.legendre.leggauss(_POINTS)
        spread = np.sqrt(3.0 * np.array(problem.reward_variances))
    else:
        atoms = [
            (a, value, q)
            for a in range(problem.arms)
            for value, q in dynamics.reward_atoms(problem, a)
            if q > 0.0
        ]
        arm, value, share = (np.array(column) for column in zip(*atoms, strict=True))
        return arm, value, share
    values = np.array(problem.means)[:, None] + spread[:, None] * x
    arms = np.repeat(np.arange(problem.arms), len(x))
    return arms, values.ravel(), np.tile(w / w.sum(), problem.arms)


def _smooth_noise(experiment: Experiment) -> str | None:
    """The noise, if it has a density and the rule is linear in the rewards."""
    linear = not formulas.has_formulas(experiment) and dynamics.samples_of(experiment) == 1
    noise = _checked(experiment).noise
    return noise if linear and noise in ("gaussian", "uniform") else None


def _log_odds(
    experiment: Experiment,
    theta: Floats,
    arm: int,
    rare: int,
    arms: Counts,
    values: Floats,
    counts: Counts,
) -> Floats:
    """What outcomes do to log(pi_rare / pi_arm), (M,)."""
    pi = experiment.policy.probabilities_at(theta)
    mu = experiment.behaviour.at(pi, 0)
    if formulas.has_formulas(experiment):
        g = formulas.directions(experiment, theta, pi, mu, batches_of(arms, values, counts), 0)
    else:
        r = np.array(_checked(experiment).means)
        weight = dynamics.importance_weights(mu, dynamics.implicit_of(experiment, 0))
        rows = weight[:, None] * experiment.update.rows(experiment.policy, pi)
        each = (values - experiment.baseline.at(pi, r))[:, None] * rows[arms]
        g = (counts / counts[0].sum()) @ each
    tau = experiment.update.temperature(0)
    if tau > 0.0:
        g = g + tau * dynamics.entropy_direction(experiment, theta)
    alpha = float(experiment.update.step_size)  # type: ignore[arg-type]
    if isinstance(experiment.policy, Sigmoid):
        return np.asarray(alpha * g[:, 0] * (1.0 if rare == 0 else -1.0))
    return np.asarray(alpha * (g[:, rare] - g[:, arm]))


def _theta(experiment: Experiment, arm: int, rare: int, depth: float) -> Floats:
    if isinstance(experiment.policy, Sigmoid):
        return np.array([depth if rare == 0 else -depth])
    theta = np.full(_checked(experiment).arms, _ABSENT)
    theta[arm], theta[rare] = 0.0, depth
    return theta


def _per_advantage(experiment: Experiment) -> float:
    """What the exponent is multiplied by, so that the step size cancels."""
    alpha = float(experiment.update.step_size)  # type: ignore[arg-type]
    sigmoid = isinstance(experiment.policy, Sigmoid)
    return alpha if sigmoid else alpha * _checked(experiment).arms


def _scale(experiment: Experiment) -> float:
    """The size of a step of unit advantage, times that of the rewards."""
    largest = float(np.abs(_atoms(experiment)[1]).max())
    return _per_advantage(experiment) * (largest or 1.0)


def _checked(experiment: Experiment) -> Bandit:
    problem = dynamics.bandit_of(experiment, formulas=True)
    if not isinstance(experiment.policy, Softmax | Sigmoid):
        allowed = "Softmax or Sigmoid, whose parameters are log-odds"
        raise CombinationError("experiment.policy", experiment.policy, allowed)
    if problem.arms < 2:
        raise CombinationError("experiment.problem", problem, "two arms or more")
    for name in ("step_size", "entropy"):
        value = getattr(experiment.update, name, 0.0)
        if isinstance(value, Schedule):
            allowed = "a number: near a corner nothing changes but the policy"
            raise CombinationError(f"experiment.update.{name}", value, allowed)
    if isinstance(experiment.behaviour.exploration, Schedule):
        allowed = "an exploration that stays as it is"
        raise CombinationError("experiment.behaviour", experiment.behaviour, allowed)
    if dynamics.samples_of(experiment) == 0:
        allowed = "OneSample: without noise nothing is rare; see exact.stationary"
        raise CombinationError("experiment.estimator", experiment.estimator, allowed)
    if formulas.has_formulas(experiment):
        formulas.refuse_states(experiment)
    else:
        dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    return problem
