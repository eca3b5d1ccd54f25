r"""Where a rule leads on average: its expected direction, and where that vanishes.

The expected direction :math:`h(\theta) = E[g]` of any rule (weights, groups, clipping, entropy)
moves the logits, :math:`\dot\theta = h`, and so the policy of a softmax by

.. math:: \dot\pi_a = \pi_a \Big( h_a - \sum_i \pi_i h_i \Big) .

An arm that has no probability gets none. So the stationary points lie on the *faces* of the
simplex: on the face of the arms S, those where all :math:`h_a`, a in S, are equal. Such a point is
stable if it is so within its face, and if every other arm has a negative rate
:math:`h_j - \sum_i \pi_i h_i`.

Without bias :math:`h_a \propto \pi_a` near a vertex, and all rates vanish there: how fast an arm
comes back is then of the order of its own probability, and its sign is taken just off the face.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committal.config import Experiment, Sigmoid, Softmax
from committal.config.schedules import at_time
from committal.errors import CombinationError
from committal.exact import dynamics, formulas
from committal.exact.law import law_from
from committal.exact.lumped import can_lump, lumped
from committal.support.simplex import Floats

__all__ = ["StationaryPoint", "flow", "stationary"]

#: Faces of more arms are too many to search: then only ends of the flow are.
MANY_ARMS = 6
#: The flow of more arms would take too long to follow.
MOST_ARMS = 100

#: The log-odds of an arm that is absent: far below all, and its square is still a number.
_ABSENT = -300.0
#: The log-odds of an arm that is about to be absent.
_NEARLY = -14.0
#: Log-odds beyond these are not searched, on faces of more than two arms and on others.
_REACH = 25.0
_FAR = 40.0
#: Rates below this, relative to the largest direction, are 0.
_ZERO = 1e-9

#: Numbers of the law of one update that are computed at once.
_AT_ONCE = 2**22

_Drift = Callable[[Floats], Floats]


@dynamics.no_overflow
def flow(
    experiment: Experiment,
    *,
    theta: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    t: int = 0,
) -> Floats:
    r"""E[g], what an update moves the parameters by on average, per unit of step size: (..., D).

    Parameters
    ----------
    experiment : Experiment
        Of a bandit, with any rule without a state. Where there are formulas of the samples the
        rewards have finitely many values.
    theta, policy : array_like, optional
        Where: parameters or probabilities; by default the start of the experiment.
    t : int, optional
        The number of updates already done, for schedules.

    Returns
    -------
    ndarray, shape (..., D)

    Examples
    --------
    Arm 0 pays 6 once in ten times, arm 1 always pays 0.5. Divided by their standard deviation, the
    advantages of two samples lead to the worse arm:

    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]]), cm.Softmax(), cm.Vanilla(1),
    ...     baseline=cm.baseline("mean(R)"), estimator=cm.OneSample(samples=2), steps=1,
    ... )
    >>> std = cm.weight("where(max(R) > min(R), rho / std(R), 0)")
    >>> flow(e.replace(**{"estimator.weight": std})).round(12)
    array([-0.2,  0.2])
    >>> flow(e.replace(baseline=cm.baseline("others(R, 'mean')"))).round(12)
    array([ 0.025, -0.025])
    """
    dynamics.bandit_of(experiment, formulas=True)
    t = dynamics.updates_done(t)
    states = dynamics.states_of(experiment, theta, policy)
    _refuse_projection(experiment)
    return expected_gradient(experiment, states, t)


def _refuse_projection(experiment: Experiment) -> None:
    if experiment.policy.core_name == "direct":
        allowed = "Softmax or Sigmoid: the projection of a Direct policy depends on the step size"
        raise CombinationError("experiment.policy", experiment.policy, allowed)


def expected_gradient(experiment: Experiment, states: Floats, t: int) -> Floats:
    """E[g] from parameters (..., D); see `flow`, which checks its arguments."""
    problem = dynamics.bandit_of(experiment, formulas=True)
    r = np.array(problem.means)
    if formulas.has_formulas(experiment):
        formulas.refuse_states(experiment)
        flat = states.reshape(-1, states.shape[-1])
        piece = max(1, _AT_ONCE // (_outcomes(experiment) * states.shape[-1]))
        pieces = [flat[i : i + piece] for i in range(0, max(len(flat), 1), piece)]
        found = [_by_outcomes(experiment, x, t) for x in pieces]
        return np.concatenate(found).reshape(states.shape)
    dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    pi = experiment.policy.probabilities_at(states)
    b = experiment.baseline.at(pi, r)
    if dynamics.samples_of(experiment) == 0:
        h = dynamics.expected_direction(experiment, pi)
    else:
        mu = experiment.behaviour.at(pi, t)
        weight = mu * dynamics.importance_weights(mu, dynamics.implicit_of(experiment, t))
        rows = experiment.update.rows(experiment.policy, pi)
        h = np.einsum("...a,...ad->...d", weight * (r - b[..., None]), rows)
    tau = experiment.update.temperature(t)
    if tau > 0.0:
        h = h + tau * dynamics.entropy_direction(experiment, states)
    return np.asarray(h)


def _by_outcomes(experiment: Experiment, theta: Floats, t: int) -> Floats:
    """E[g] where there are formulas."""
    if not can_lump(experiment):
        alpha = at_time(experiment.update.step_size, t)
        return law_from(experiment, theta, np.zeros(len(theta)), t).mean() / alpha
    probability, g, _ = lumped(experiment, theta, t)
    h = np.einsum("...m,...md->...d", probability, g)
    tau = experiment.update.temperature(t)
    return np.asarray(h + tau * dynamics.entropy_direction(experiment, theta) if tau > 0.0 else h)


def _outcomes(experiment: Experiment) -> int:
    problem = dynamics.bandit_of(experiment, formulas=True)
    atoms = [value for a in range(problem.arms) for value, _ in dynamics.reward_atoms(problem, a)]
    kinds = len(set(atoms)) if can_lump(experiment) else len(atoms)
    samples = dynamics.samples_of(experiment)
    return math.comb(kinds + samples - 1, samples)


@dataclass(frozen=True, eq=False)
class StationaryPoint:
    r"""A policy that the expected direction leaves as it is.

    Attributes
    ----------
    policy : ndarray, shape (K,)
    arms : tuple of int
        The arms that it has.
    kind : str
        ``"stable"``; ``"unstable"``, if everything leads away; ``"saddle"``, if something does;
        ``"marginal"``, if nothing does and something neither leads away nor back.
    rates : ndarray
        The real parts of the rates of log-odds, per unit of step size: of those within the face,
        then those of the absent arms. A rate that vanishes with the probability of its arm is given
        per unit of that.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(1, entropy=0.5), steps=1)
    >>> point, = [p for p in stationary(e) if p.stable]
    >>> point.policy.round(4), point.arms
    (array([0.8808, 0.1192]), (0, 1))
    """

    policy: Floats
    arms: tuple[int, ...]
    kind: str
    rates: Floats

    @property
    def stable(self) -> bool:
        """Whether everything leads back."""
        return self.kind == "stable"


@dynamics.no_overflow
def stationary(experiment: Experiment, *, t: int = 0) -> tuple[StationaryPoint, ...]:
    r"""The stationary points of the expected direction, stable ones first.

    On every face of the simplex the expected direction is computed on a grid of log-odds from -25
    to 25, between two arms from -40 to 40; where it may vanish it is solved for by Newton's method.
    What is closer together than the grid, or beyond it, may be missed. More than six arms have too
    many faces: then only the ends of the flow are looked for, from the uniform policy and from near
    every vertex.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit of two arms or more, with a `Softmax` or a `Sigmoid`; as for :func:`flow`.
    t : int, optional
        The number of updates already done, for schedules.

    Returns
    -------
    tuple of StationaryPoint

    Examples
    --------
    With probability 1/2 arm 1 pays 1; arm 0 always pays 0.6. A gate on the surprise of a sample
    has a stable point inside:

    >>> import committal as cm
    >>> gate = cm.weight("1 / (1 + exp(A * log(pi[a])))")
    >>> e = cm.Experiment(
    ...     cm.Bandit.from_table([[(0.6, 1)], [(1, 0.5), (0, 0.5)]]), cm.Softmax(), cm.Vanilla(1),
    ...     cm.Value(), estimator=cm.OneSample(weight=gate), steps=1,
    ... )
    >>> for point in stationary(e):
    ...     print(point.policy.round(4), point.kind)
    [0.5535 0.4465] stable
    [1. 0.] unstable
    [0. 1.] unstable
    """
    problem = dynamics.bandit_of(experiment, formulas=True)
    t = dynamics.updates_done(t)
    if not isinstance(experiment.policy, Softmax | Sigmoid):
        allowed = "Softmax or Sigmoid, whose parameters are log-odds"
        raise CombinationError("experiment.policy", experiment.policy, allowed)
    arms = problem.arms
    if not 2 <= arms <= MOST_ARMS:
        raise CombinationError("experiment.problem", problem, f"two to {MOST_ARMS} arms")

    def drift(x: Floats) -> Floats:
        """How the K log-odds move, (..., K)."""
        if isinstance(experiment.policy, Sigmoid):
            h = expected_gradient(experiment, x[..., :1] - x[..., 1:], t)
            return np.concatenate([h, np.zeros_like(h)], axis=-1)
        return expected_gradient(experiment, x, t)

    scale = float(np.abs(drift(np.zeros(arms))).max()) or 1.0
    found: list[StationaryPoint] = []
    if arms > MANY_ARMS:
        found = _ends(drift, arms, scale)
    else:
        for size in range(arms, 0, -1):
            for face in itertools.combinations(range(arms), size):
                roots = _roots(experiment, drift, face, scale) if size > 1 else np.zeros((1, 0))
                found += [_point(drift, arms, face, z, scale) for z in roots]
    r = np.array(problem.means)
    order = {"stable": 0, "marginal": 1, "saddle": 2, "unstable": 3}
    return tuple(sorted(found, key=lambda p: (order[p.kind], -float(p.policy @ r))))


def _ends(drift: _Drift, arms: int, scale: float) -> list[StationaryPoint]:
    """Where the flow leads, from the uniform policy and from near every vertex."""
    found: list[StationaryPoint] = []
    for start in np.concatenate([np.zeros((1, arms)), 4.0 * np.eye(arms)]):
        x = _followed(drift, start, scale)
        # What is that rare either stands still there or is about to be absent.
        for least in (2.0 * _NEARLY + 2.0, _NEARLY):
            face = tuple(np.flatnonzero(x > least).tolist())
            z: Floats | None = np.array([x[a] - x[face[-1]] for a in face[:-1]])
            if len(face) > 1:
                z = _newton(_field(drift, arms, face), np.array(z))
            if z is None:
                continue
            point = _point(drift, arms, face, z, scale)
            if all(np.abs(point.policy - other.policy).max() > 1e-6 for other in found):
                found.append(point)
            break
    return found


def _followed(drift: _Drift, start: Floats, scale: float) -> Floats:
    """Log-odds after following the flow for long, by implicit steps that become longer."""

    def velocity(x: Floats) -> Floats:
        h = drift(x)  # along (1, ..., 1) nothing is seen
        return np.asarray((h - h.mean(axis=-1, keepdims=True)) / scale)

    x, step, one = np.array(start), 0.1, np.eye(len(start))
    for _ in range(300):
        f, jacobian = _linearised(velocity, x)
        while step > 1e-9:
            move = _solved(one / step - jacobian, f)
            if move is not None:
                move = move - move[np.argmax(x)]
                # Arms that are down already may fall as far as they like.
                seen = (x > 2.0 * _NEARLY) | (move > 0.0)
                if np.abs(move[seen]).max() < 1.0:
                    break
            step *= 0.25
        else:
            return x  # a flow that is not smooth stands still there
        x = np.maximum(x + move, 2.0 * _NEARLY)
        x = x - x.max()
        step *= 2.0
        if step > 1e12 or (step > 1e6 and np.abs(move[seen]).max() < 1e-9):
            break
    return np.asarray(x)


# -- faces -----------------------------------------------------------------------------------------


def _on_face(arms: int, face: tuple[int, ...], z: Floats, absent: float = _ABSENT) -> Floats:
    """Log-odds of all arms from those on a face, (..., m - 1); the last of the face has 0."""
    x = np.full((*z.shape[:-1], arms), absent)
    x[..., face[-1]] = 0.0
    for i, a in enumerate(face[:-1]):
        x[..., a] = z[..., i]
    # Absent is relative to the most likely one.
    top = np.maximum(z.max(axis=-1, initial=0.0), 0.0)
    outside = [a for a in range(arms) if a not in face]
    x[..., outside] += top[..., None]
    return x


def _field(drift: _Drift, arms: int, face: tuple[int, ...]) -> _Drift:
    """How the log-odds on a face move, (..., m - 1)."""
    last, others = face[-1], list(face[:-1])

    def field(z: Floats) -> Floats:
        h = drift(_on_face(arms, face, z))
        return np.asarray(h[..., others] - h[..., [last]])

    return field


def _axis(points: int, reach: float) -> Floats:
    """Log-odds from one end to the other, dense in the middle."""
    u = np.linspace(-1.0, 1.0, points)
    return np.asarray(reach * np.sinh(3.0 * u) / np.sinh(3.0))


def _roots(experiment: Experiment, drift: _Drift, face: tuple[int, ...], scale: float) -> Floats:
    """Where the log-odds of a face stand still, (n, m - 1)."""
    arms, dimension = dynamics.bandit_of(experiment, formulas=True).arms, len(face) - 1
    field = _field(drift, arms, face)
    if dimension == 1:
        starts = _crossings(experiment, field, face, scale)
    elif dimension == 2:
        starts = _triangles(field)
    else:
        rng = np.random.default_rng(0)  # the same starts always
        starts = np.concatenate([rng.normal(size=(60, dimension)) * s for s in (1.0, 4.0)])
    roots: list[Floats] = []
    for start in starts:
        root = _newton(field, start)
        if root is not None and all(np.abs(root - other).max() > 1e-6 for other in roots):
            roots.append(root)
    return np.array(roots).reshape(-1, dimension)


def _crossings(
    experiment: Experiment, field: _Drift, face: tuple[int, ...], scale: float
) -> Floats:
    """Between two arms: where the sign changes, by bisection."""
    x = _axis(401, _FAR)
    f = field(x[:, None])[:, 0]
    if np.abs(f).max() <= 1e-13 * scale:
        allowed = f"arms that the rule tells apart: between {face[0]} and {face[1]} nothing moves"
        raise CombinationError("experiment.problem", experiment.problem, allowed)
    exact = x[f == 0.0]
    change = np.flatnonzero(f[:-1] * f[1:] < 0.0)
    low, high, sign = x[change], x[change + 1], np.sign(f[change])
    for _ in range(30):
        middle = 0.5 * (low + high)
        same = np.sign(field(middle[:, None])[:, 0]) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(np.concatenate([exact, 0.5 * (low + high)])[:, None])


def _triangles(field: _Drift) -> Floats:
    """Of three arms: where the field, made linear on triangles, vanishes."""
    axis = _axis(61, _REACH)
    z = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    f = field(z)
    starts = []
    for corner, step in (((0, 0), 1), ((1, 1), -1)):
        # Triangles of one corner and its two neighbours, of both orientations.
        i = slice(corner[0], None) if step < 0 else slice(None, -1)
        n = slice(None, -1) if step < 0 else slice(1, None)
        z0, z1, z2 = z[i, i], z[n, i], z[i, n]
        f0, f1, f2 = f[i, i], f[n, i], f[i, n]
        matrix = np.stack([f1 - f0, f2 - f0], axis=-1)
        size = np.abs(matrix).max(axis=(-2, -1)) ** 2
        determinant = matrix[..., 0, 0] * matrix[..., 1, 1] - matrix[..., 0, 1] * matrix[..., 1, 0]
        regular = np.abs(determinant) > 1e-12 * size
        safe = np.where(regular[..., None, None], matrix, np.eye(2))
        share = np.linalg.solve(safe, -f0[..., None])[..., 0]
        # A little beyond its sides: a root on a side belongs to some triangle.
        inside = regular & (share > -0.1).all(axis=-1) & (share.sum(axis=-1) < 1.1)
        point = z0 + share[..., :1] * (z1 - z0) + share[..., 1:] * (z2 - z0)
        starts.append(point[inside])
    return np.concatenate(starts)


def _newton(field: _Drift, start: Floats) -> Floats | None:
    """The root that Newton's method finds; None where it leads nowhere."""
    z: Floats = np.array(start)
    for _ in range(60):
        f, jacobian = _linearised(field, z)
        if not f.any():
            return z
        step = _solved(jacobian, -f)
        if step is None:
            return None
        longest = np.abs(step).max()
        z = z + step * min(1.0, 1.0 / longest)
        if np.abs(z).max() > (_FAR if len(z) == 1 else _REACH):
            return None
        if longest < 1e-11:
            return z
    return None


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    """The solution of linear equations; None if they have none that is finite."""
    try:
        found: Floats = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def _linearised(field: _Drift, z: Floats) -> tuple[Floats, Floats]:
    """The field and its derivatives, by central differences."""
    d = 1e-5
    steps = d * np.eye(len(z))
    f = field(np.concatenate([z[None], z + steps, z - steps]))
    n = len(z)
    return f[0], ((f[1 : n + 1] - f[n + 1 :]) / (2.0 * d)).T


def _point(
    drift: _Drift, arms: int, face: tuple[int, ...], z: Floats, scale: float
) -> StationaryPoint:
    x = _on_face(arms, face, z)
    weight = np.exp(x - x.max())
    weight[[a for a in range(arms) if a not in face]] = 0.0
    pi = weight / weight.sum()
    rates: list[float] = []
    if len(face) > 1:
        _, jacobian = _linearised(_field(drift, arms, face), z)
        rates += sorted(np.linalg.eigvals(jacobian).real.tolist())
    h = drift(x)
    for j in range(arms):
        if j in face:
            continue
        rate = float(h[j] - pi @ h)
        if abs(rate) <= _ZERO * scale:
            rate = _slow_rate(drift, arms, face, z, j, scale)
        rates.append(rate)
    up, down = (sum(1 for rate in rates if s * rate > 0.0) for s in (1.0, -1.0))
    if up:
        kind = "saddle" if down else "unstable"
    else:
        kind = "stable" if down == len(rates) else "marginal"
    return StationaryPoint(pi, face, kind, np.array(rates))


def _slow_rate(
    drift: _Drift, arms: int, face: tuple[int, ...], z: Floats, j: int, scale: float
) -> float:
    """The rate of an arm that is about to be absent, per unit of its probability."""

    def place(inner: Floats) -> Floats:
        x = _on_face(arms, face, inner)
        x[..., j] = np.maximum(inner.max(axis=-1, initial=0.0), 0.0) + _NEARLY
        return x

    last = face[-1]
    if len(face) > 1:
        # The others give way a little: at their balance they all move alike.
        def field(inner: Floats) -> Floats:
            h = drift(place(inner))
            return np.asarray(h[..., list(face[:-1])] - h[..., [last]])

        moved = _newton(field, z)
        z = z if moved is None else moved
    x = place(z)
    h = drift(x)
    weight = np.exp(x - x.max())
    own = float(weight[j] / weight.sum())
    rate = float(h[j] - h[last]) / own
    return rate if abs(rate) > 1e-6 * scale else 0.0
