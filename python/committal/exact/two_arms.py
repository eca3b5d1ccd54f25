r"""Where two arms end: the committal probability on a line.

With two arms the policy is one number, :math:`\theta = \theta_1 - \theta_2`, and natural policy
gradient is a Markov chain on the line. The probability h of ending on an arm solves

.. math:: h(\theta) = \sum_m p_m(\theta)\, h(\theta + u_m(\theta)),

with the finitely many updates :math:`u_m` of one step; for deterministic rewards
:math:`h(\theta) = p\, h(\theta^+) + (1 - p)\, h(\theta^-)`.

The line is cut where the answer is known (see `vertices`): beyond an attracting end h is 1 up to
:math:`e^{-L} / (1 - e^{-\alpha s})`, from a repelling end the run comes back by steps of equal
length, a borderline end holds it or sends it to the other end. Between the cuts h is smooth, and
is interpolated to eighth order on finer and finer grids until two of them agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from committal.config import Experiment
from committal.config.schedules import at_time
from committal.errors import CombinationError
from committal.exact import dynamics, vertices
from committal.exact.absorption import Rates, absorption_probabilities
from committal.exact.interpolation import lagrange, remaining
from committal.exact.law import law_from
from committal.support.simplex import Floats, softmax

_ORDER = 8
_COARSEST = 0.2
_MOST_NODES = 60_000
#: exp(-600) is still a normal number.
_DEEPEST = 600.0


class End(NamedTuple):
    """One end of the line, where `arm` is certain.

    `kind` is "attracts", "repels", "holds" or "releases"; `depth` is where the line is cut;
    `pace` is the length of the steps there; `neglected` is the probability left out by the cut.
    """

    arm: int
    kind: str
    depth: float
    pace: float
    neglected: float


@dataclass(frozen=True, eq=False)
class Line:
    """h on the nodes of the finest grid, with an estimate of its error.

    Attributes
    ----------
    first, spacing
        The nodes are first + n spacing.
    values : ndarray, shape (nodes, 2)
        Probabilities of ending on either arm.
    error : float
        The estimated error, of all of them.
    ends
        The ends of the line: of the first arm (high theta) and of the second (low theta).
    """

    first: float
    spacing: float
    values: Floats
    error: float
    ends: tuple[End, End]

    def at(self, theta: Floats) -> tuple[Floats, Floats]:
        """Probabilities (n, 2) and errors (n,) at parameters (n,)."""
        count = len(self.values)
        last = self.first + (count - 1) * self.spacing
        x, known = theta.copy(), np.full((len(theta), 2), np.nan)
        for outside, end in ((theta > last, self.ends[0]), (theta < self.first, self.ends[1])):
            kind = self.ends[1 - end.arm] if end.kind == "releases" else end
            if kind.kind in ("attracts", "holds"):
                known[outside] = np.eye(2)[kind.arm]
            elif end.kind == "repels" and end.arm == 0:
                x[outside] = last - np.mod(theta[outside] - last, end.pace)
            elif end.kind == "repels":
                x[outside] = self.first + np.mod(self.first - theta[outside], end.pace)
        s = np.clip((x - self.first) / self.spacing, 0.0, count - 1.0)
        offsets, weights = lagrange(s, 0, count - 1, _ORDER)
        inside = np.einsum("no,nok->nk", weights, self.values[offsets])
        values = np.where(np.isnan(known), np.clip(inside, 0.0, 1.0), known)
        return values, np.full(len(theta), self.error)


def solve_line(experiment: Experiment, tolerance: float) -> Line:
    """Solve h = P h on finer and finer grids until two of them agree to the tolerance.

    Parameters
    ----------
    experiment
        Two arms, natural updates with constant rates, drawn on-policy.
    tolerance
        The error aimed at.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
    >>> values, error = solve_line(e, 1e-8).at(np.array([-1.0]))
    >>> values.round(4), bool(error[0] < 1e-6)
    (array([[0.8723, 0.1277]]), True)
    """
    ends = (_end(experiment, 0, tolerance), _end(experiment, 1, tolerance))
    neglected = sum(end.neglected for end in ends) + 1e-14
    spacing = _COARSEST
    coarse, before = _solve_on(experiment, ends, spacing), math.inf
    while True:
        spacing /= 2.0
        fine = _solve_on(experiment, ends, spacing)
        # Node 2n of the finer grid is node n of the coarser one. The largest change counts
        # everywhere: a value is a mean of values elsewhere, and inherits their errors.
        change = float(np.abs(fine[::2] - coarse).max())
        error = remaining(change, before) + neglected
        if error <= tolerance or len(fine) * 2 > _MOST_NODES:
            return Line(-ends[1].depth, spacing, fine, error, ends)
        coarse, before = fine, change


def _end(experiment: Experiment, arm: int, tolerance: float) -> End:
    problem = dynamics.bandit_of(experiment)
    r = np.array(problem.means)
    shares = np.eye(2)[1 - arm]
    s = float(vertices.pull(experiment.baseline, arm, shares, r))
    alpha = at_time(experiment.update.step_size, 0)
    alpha /= 1.0 + dynamics.implicit_of(experiment, 0)
    goal = 0.01 * tolerance
    if s == 0.0:
        if problem.reward_variances[arm] > 0.0:
            raise CombinationError(
                "experiment.baseline",
                experiment.baseline,
                f"one that differs from the mean reward of {problem.names[arm]!r} where it is "
                "certain: otherwise theta is a random walk there, and does not converge",
            )
        # Only a return from depth L to the middle is neglected. 1/epsilon moves by alpha times
        # the slope of r - b, so that has probability exp(-L / (alpha slope)).
        near = softmax(16.0 * (2.0 * np.eye(2)[arm] - 1.0))
        drift = r[arm] - float(experiment.baseline.at(near, r))
        slope = abs(drift) / near[1 - arm]
        depth = min(max(36.0, -alpha * slope * math.log(goal)), _DEEPEST)
        neglected = math.exp(-depth / max(alpha * slope, 1e-3))
        return End(arm, vertices.kind(s, bool(r[1 - arm] > r[arm])), depth, 0.0, neglected)
    decay, leak = _hazard(experiment, arm, s, alpha)
    depth = min(max(12.0, -math.log(goal * leak) / decay), _DEEPEST)
    # A whole number of the coarsest spacings, so that all grids share their nodes.
    depth = math.ceil(depth / _COARSEST) * _COARSEST
    neglected = math.exp(-decay * depth) / leak
    return End(arm, vertices.kind(s, bool(r[1 - arm] > r[arm])), depth, alpha * abs(s), neglected)


def _hazard(experiment: Experiment, arm: int, s: float, alpha: float) -> tuple[float, float]:
    r"""How fast, and with which factor, the chance of another draw of the other arm decays.

    For deterministic rewards it is :math:`e^{-L} / (1 - e^{-\alpha |s|})`. Random rewards make
    the depth a random walk; with :math:`\phi(\lambda) = E[e^{-\lambda\,\mathrm{step}}]` the chance
    is of order :math:`e^{-\lambda L}` for every :math:`\lambda \le 1` with
    :math:`\phi(\lambda) < 1`.
    """
    problem, samples = dynamics.bandit_of(experiment), dynamics.samples_of(experiment)
    towards = math.copysign(1.0, s)
    mean = problem.means[arm]
    steps = [
        (towards * alpha * (value - mean + s) / samples, q)
        for value, q in dynamics.reward_atoms(problem, arm)
    ]

    def log_phi(decay: float) -> float:
        phi = sum(q * math.exp(-decay * step) for step, q in steps)
        # One step beyond where doubles tell the other arm's probability from 0.
        return samples * math.log(phi) if phi > 0.0 else -math.inf

    decay = 1.0
    while log_phi(decay) >= -0.1 * decay * alpha * abs(s) and decay > 1e-3:
        decay *= 0.8
    return decay, -math.expm1(log_phi(decay))


def _solve_on(experiment: Experiment, ends: tuple[End, End], spacing: float) -> Floats:
    first, last = -ends[1].depth, ends[0].depth
    count = round((last - first) / spacing) + 1
    theta = first + spacing * np.arange(count, dtype=np.float64)
    probability, update = _transitions(experiment, theta)
    rates = {order: _rates(ends, probability, update, spacing, order) for order in (2, _ORDER)}
    return absorption_probabilities(rates[_ORDER], rates[2])[0]


def _transitions(experiment: Experiment, theta: Floats) -> tuple[Floats, Floats]:
    """Probabilities and changes of theta_1 - theta_2, both (nodes, outcomes)."""
    states = theta[:, None]
    if len(dynamics.start_of(experiment)) == 2:
        # Measured from the larger of the two, so that nothing overflows.
        states = np.stack([np.minimum(theta, 0.0), -np.maximum(theta, 0.0)], axis=-1)
    pi = experiment.policy.probabilities_at(states)
    r = np.array(dynamics.bandit_of(experiment).means)
    law = law_from(experiment, states, experiment.baseline.at(pi, r), 0)
    change = law.update[..., 0] - (law.update[..., 1] if law.update.shape[-1] == 2 else 0.0)
    return law.probability, change


def _rates(
    ends: tuple[End, End], probability: Floats, update: Floats, spacing: float, order: int
) -> Rates:
    steps = update / spacing
    count, outcomes = steps.shape
    node = np.arange(count)
    high, low = ends
    sources, targets, values = [], [], []
    ended = np.zeros((count, 2))
    for m in range(outcomes):
        p, s = probability[:, m], steps[:, m]
        above, below = node + s > count - 1, node + s < 0.0
        for outside, end in ((above, high), (below, low)):
            final = ends[1 - end.arm] if end.kind == "releases" else end
            if final.kind in ("attracts", "holds"):
                ended[outside, final.arm] += p[outside]
                continue
            # Back inside: the way back has steps of equal length, so it ends in the same phase.
            beyond = node[outside] + s[outside] - (count - 1 if end.arm == 0 else 0)
            phase = np.mod(np.abs(beyond), final.pace / spacing) if final is end else 0.0 * beyond
            back = count - 1 - phase if final.arm == 0 else phase
            offsets, weights = lagrange(back, 0, count - 1, order)
            sources.append(np.repeat(node[outside], order))
            targets.append(offsets.ravel())
            values.append((p[outside, None] * weights).ravel())
        inside = np.flatnonzero(~(above | below))
        offsets, weights = lagrange(s[inside], -inside, count - 1 - inside, order)
        sources.append(np.repeat(inside, order))
        targets.append((inside[:, None] + offsets).ravel())
        values.append((p[inside, None] * weights).ravel())
    return Rates(np.concatenate(sources), np.concatenate(targets), np.concatenate(values), ended)
