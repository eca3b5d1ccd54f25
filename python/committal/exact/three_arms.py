r"""Where three arms end: the committal map on the plane.

With three arms the policy is a point of the plane
:math:`(\theta_1 - \theta_3, \theta_2 - \theta_3)`. A natural update moves one parameter,
:math:`\theta_a`, by :math:`u_a = \alpha (R - b)/\pi_a`, and the probabilities h of ending on each
arm solve

.. math:: \sum_a \pi_a(\theta)\, [h(\theta + u_a e_a) - h(\theta)] = 0 .

**Lattice.** The nodes are the points where both coordinates are multiples of one spacing. Moving
one :math:`\theta_a` is then a move along a lattice line, for each of the three arms (for the
third along the diagonal), so interpolation is one-dimensional: six nodes per draw, and exact
offsets however short the step is.

**Domain.** The plane is cut to a hexagon by the depth of the losing arms: each is at least
:math:`e^{-L}` of the leader. What lies outside is brought back so that what matters is kept:

* beyond an *edge* (one arm lost, two alive): the lost arm is put at :math:`e^{-L}`, and the
  difference of the other two stays as it is. It would be drawn once in :math:`e^L` updates.
* beyond a *vertex* (two arms lost) what matters is the ratio of the two, because b may depend on
  it (see `vertices`): the point moves along :math:`\theta_k` of the certain arm k. If that vertex
  attracts in this direction, the chance of ever leaving decays like the probability of the other
  arms, and h is 1 minus that; if it repels, the run comes back along this very line; if it is
  borderline, it stays, or a better arm takes over, chosen by the same ratio.

**Equations.** One sparse linear system (see `absorption`) per lattice, on lattices halved until
the answer settles. The difference of the last two estimates the error, node by node; the same
system on a larger hexagon estimates the error of the cut. Where lost arms come back, as with
baselines above the rewards, the cut is the larger error, and a deeper hexagon is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.config import Experiment
from committal.config.schedules import at_time
from committal.errors import CombinationError
from committal.exact import dynamics, vertices
from committal.exact.absorption import Rates, absorption_probabilities
from committal.exact.interpolation import Integers, lagrange, remaining
from committal.support.simplex import Floats, softmax

_ORDER = 6
_FIRST = 0.25
#: Depths of the hexagon: the usual one, one to compare with, and the one for hard cases.
_DEPTH, _WIDER, _WIDEST = 20.0, 28.0, 40.0
#: Directions in which a vertex is approached are told apart up to this log ratio.
_DIRECTIONS = 6.0
#: The tolerance is asked for where every arm has at least exp(-10) of the leader's probability.
_CORE = 10.0


class Hexagon:
    """The lattice points whose losing arms are at most `size` spacings below the leader.

    Parameters
    ----------
    size
        The depth in units of the spacing.

    Examples
    --------
    >>> hexagon = Hexagon(1)
    >>> hexagon.nodes.tolist()
    [[-1, -1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]
    """

    def __init__(self, size: int) -> None:
        i, j = np.meshgrid(np.arange(-size, size + 1), np.arange(-size, size + 1), indexing="ij")
        inside = np.abs(i - j) <= size
        self.size = size
        self.nodes: Integers = np.stack([i[inside], j[inside], 0 * i[inside]], axis=-1)
        self._index = np.full(inside.shape, -1, dtype=np.int64)
        self._index[inside] = np.arange(len(self.nodes))

    def index(self, points: Integers) -> Integers:
        """The numbers of nodes, from lattice parameters (..., 3)."""
        i, j = points[..., 0] - points[..., 2], points[..., 1] - points[..., 2]
        return np.asarray(self._index[i + self.size, j + self.size])

    def reach(self, points: Integers, arm: int) -> tuple[Integers, Integers]:
        """How far parameter `arm` can move down and up without leaving the hexagon."""
        rest = [a for a in range(3) if a != arm]
        above = points[:, arm, None] - points[:, rest]
        return (-self.size - above).max(axis=1), (self.size - above).min(axis=1)


class Return(NamedTuple):
    """Where points outside of the hexagon are brought back to.

    For each point: `place`, real lattice parameters on the boundary; `along`, the arm whose
    lattice line it lies on; `keep`, the weight of the value there; and `ended` (n, 3), the
    probability that the run has ended on an arm. `keep` and `ended` sum to 1.
    """

    place: Floats
    along: Integers
    keep: Floats
    ended: Floats


@dataclass(frozen=True, eq=False)
class Chain:
    """Natural policy gradient of three arms, as rates on the lattice of a given spacing."""

    experiment: Experiment
    spacing: float
    depth: float

    def coarser(self) -> Chain:
        """The same chain on the lattice of twice the spacing."""
        return Chain(self.experiment, 2.0 * self.spacing, self.depth)

    @property
    def size(self) -> int:
        """The depth in units of the spacing."""
        return round(self.depth / self.spacing)

    def rates(self, hexagon: Hexagon, order: int) -> Rates:
        """Rates between the nodes with interpolation from `order` nodes."""
        problem = dynamics.bandit_of(self.experiment)
        r = np.array(problem.means)
        alpha = at_time(self.experiment.update.step_size, 0)
        implicit = dynamics.implicit_of(self.experiment, 0)
        nodes = hexagon.nodes
        pi = softmax(self.spacing * nodes.astype(np.float64))
        b = self.experiment.baseline.at(pi, r)
        weight = dynamics.importance_weights(pi, implicit)
        sources, targets, values = [], [], []
        ended = np.zeros((len(nodes), 3))
        for a in range(3):
            low, high = hexagon.reach(nodes, a)
            for value, q in dynamics.reward_atoms(problem, a):
                rate = q * pi[:, a]
                step = alpha * (value - b) * weight[:, a] / self.spacing
                inside = np.flatnonzero((step >= low) & (step <= high))
                offsets, weights = lagrange(step[inside], low[inside], high[inside], order)
                points = np.repeat(nodes[inside][:, None, :], order, axis=1)
                points[..., a] += offsets
                sources.append(np.repeat(inside, order))
                targets.append(hexagon.index(points).ravel())
                values.append((rate[inside, None] * weights).ravel())

                outside = np.flatnonzero((step < low) | (step > high))
                point = nodes[outside].astype(np.float64)
                point[:, a] += step[outside]
                back = self.bring_back(point, hexagon.size)
                ended[outside] += rate[outside, None] * back.ended
                for arm in range(3):
                    here = np.flatnonzero(back.along == arm)
                    place = back.place[here]
                    base = np.rint(place).astype(np.int64)
                    base[:, arm] = np.floor(place[:, arm])
                    first, last = hexagon.reach(base, arm)
                    part = place[:, arm] - base[:, arm]
                    offsets, weights = lagrange(part, first, last, order)
                    points = np.repeat(base[:, None, :], order, axis=1)
                    points[..., arm] += offsets
                    sources.append(np.repeat(outside[here], order))
                    targets.append(hexagon.index(points).ravel())
                    share = rate[outside[here]] * back.keep[here]
                    values.append((share[:, None] * weights).ravel())
        return Rates(
            np.concatenate(sources), np.concatenate(targets), np.concatenate(values), ended
        )

    def bring_back(self, points: Floats, size: int) -> Return:
        """Bring points outside of a hexagon back to its boundary."""
        row = np.arange(len(points))
        order = np.argsort(-points, axis=1, kind="stable")
        k, near, far = order.T
        depth = points[row, k, None] - points
        near_depth, far_depth = depth[row, near], depth[row, far]
        directions = _DIRECTIONS / self.spacing
        at_edge = near_depth <= size - directions
        ratio = far_depth - near_depth
        place_depth = np.where(at_edge, near_depth, size - np.minimum(ratio, directions))

        place = np.zeros_like(points)
        place[row, k] = size
        place[row, near] = size - place_depth
        keep, ended = np.ones(len(points)), np.zeros_like(points)

        v = np.flatnonzero(~at_edge)
        shares = np.zeros((len(v), 3))
        log_ratio = ratio[v] * self.spacing
        shares[np.arange(len(v)), near[v]] = 1.0 / (1.0 + np.exp(-log_ratio))
        shares[np.arange(len(v)), far[v]] = np.exp(-log_ratio) / (1.0 + np.exp(-log_ratio))
        problem = dynamics.bandit_of(self.experiment)
        r = np.array(problem.means)
        for arm in range(3):
            here = np.flatnonzero(k[v] == arm)
            if here.size == 0:
                continue
            rows, q = v[here], shares[here]
            s = vertices.pull(self.experiment.baseline, arm, q, r)
            attracts = np.flatnonzero(s > 0.0)
            n = rows[attracts]
            left = self._left(
                arm,
                s[attracts],
                self.spacing * near_depth[n],
                self.spacing * place_depth[n],
                log_ratio[here][attracts],
            )
            keep[n], ended[n, arm] = left, 1.0 - left

            zero = np.flatnonzero(s == 0.0)
            if zero.size and problem.reward_variances[arm] > 0.0:
                raise CombinationError(
                    "experiment.baseline",
                    self.experiment.baseline,
                    f"one that differs from the mean reward of {problem.names[arm]!r} where it is "
                    "certain: otherwise theta is a random walk there, and does not converge",
                )
            # Held where no arm is better. Otherwise a better one takes over, and which one depends
            # on their ratio, which the place has too.
            n = rows[zero][~((r > r[arm]) & (q[zero] > 0.0)).any(axis=1)]
            ended[n, arm], keep[n] = 1.0, 0.0
        return Return(place, np.asarray(near), keep, ended)

    def _left(
        self, arm: int, s: Floats, depth: Floats, place_depth: Floats, log_ratio: Floats
    ) -> Floats:
        """(1 - h) at a point beyond an attracting vertex, relative to that at its place."""
        problem = dynamics.bandit_of(self.experiment)
        alpha = at_time(self.experiment.update.step_size, 0)
        alpha /= 1.0 + dynamics.implicit_of(self.experiment, 0)
        mean = problem.means[arm]
        atoms = dynamics.reward_atoms(problem, arm)

        def phi(decay: Floats) -> Floats:
            return np.asarray(
                sum(q * np.exp(-decay * alpha * (value - mean + s)) for value, q in atoms)
            )

        # Random rewards may bring the run back more often: then the chance decays more slowly.
        decay = np.ones_like(s)
        for _ in range(30):
            slow = phi(decay) >= 1.0 - 0.1 * decay * alpha * s
            if not slow.any():
                break
            decay = np.where(slow, 0.8 * decay, decay)
        # The expected number of draws of other arms from here on; 1 - exp of it is the chance
        # that there is one, also where it is not small.
        draws = (1.0 + np.exp(-log_ratio)) / (1.0 - phi(decay))
        here, there = draws * np.exp(-decay * depth), draws * np.exp(-decay * place_depth)
        small = there < 1e-9
        ratio = np.expm1(-here) / np.expm1(-np.where(small, 1.0, there))
        return np.where(small, np.exp(-decay * (depth - place_depth)), ratio)


@dataclass(frozen=True, eq=False)
class Plane:
    """h on the finest lattice, with a local estimate of its error.

    Attributes
    ----------
    chain
        The chain on that lattice.
    grid, error : ndarray, shape (2 size + 1, 2 size + 1, 3) and (2 size + 1, 2 size + 1)
        Values and errors at (theta_1 - theta_3, theta_2 - theta_3); NaN outside of the hexagon.
    residual
        Of the linear system.
    """

    chain: Chain
    grid: Floats
    error: Floats
    residual: float

    def at(self, theta: Floats) -> tuple[Floats, Floats]:
        """Probabilities (n, 3) and errors (n,) at parameters (n, 3)."""
        spacing, size = self.chain.spacing, self.chain.size
        # A little inside of the hexagon, so that a square of nodes around each point exists.
        inner = size - _ORDER
        points = (theta - theta[:, 2:]) / spacing
        keep, ended = np.ones(len(points)), np.zeros((len(points), 3))
        outside = np.flatnonzero(points.max(axis=1) - points.min(axis=1) > inner)
        if outside.size:
            back = self.chain.bring_back(points[outside], inner)
            points[outside] = back.place - back.place[:, 2:]
            keep[outside], ended[outside] = back.keep, back.ended
        values, _ = self._interpolate(points, _ORDER)
        rougher, around = self._interpolate(points, _ORDER - 2)
        _, corners = self._interpolate(points, 2)
        nearest = np.rint(points[:, :2]).astype(np.int64) + size
        error = self.error[nearest[:, 0], nearest[:, 1]]
        # Where h is smooth two orders agree, and a cell has about a third of the variation of the
        # three by three around it. A jump is in one cell, and there anything between the corners
        # may be right.
        doubt = np.abs(values - rougher).max(axis=1)
        jump, total = (np.ptp(x, axis=(1, 2)).max(axis=1) for x in (corners, around))
        torn = (doubt > 0.03 * jump) | (jump > 0.6 * total)
        error = error + 2.0 * doubt + np.where(torn, jump, 0.0)
        return np.clip(keep[:, None] * values + ended, 0.0, 1.0), keep * error + self.residual

    def _interpolate(self, points: Floats, order: int) -> tuple[Floats, Floats]:
        """Values (n, 3) at points, and those (n, order, order, 3) of the nodes they come from."""
        size = self.chain.size
        i, x = lagrange(points[:, 0] + size, 0, 2 * size, order)
        j, y = lagrange(points[:, 1] + size, 0, 2 * size, order)
        square = self.grid[i[:, :, None], j[:, None, :]]
        return np.asarray(np.einsum("ni,nj,nijk->nk", x, y, square)), square


def solve_plane(experiment: Experiment, tolerance: float, most_nodes: int) -> Plane:
    """Solve for the probabilities of ending on each arm, on finer and finer lattices.

    Parameters
    ----------
    experiment
        Three arms, natural updates with constant rates, drawn on-policy.
    tolerance
        The error aimed at, where no arm is lost yet.
    most_nodes
        Beyond the first lattices none of more nodes is used, whatever the error.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.1), cm.MinVariance() - 0.5, steps=1
    ... )
    >>> values, error = solve_plane(e, 1e-2, 20_000).at(np.zeros((1, 3)))
    >>> bool(0.06 < values[0, 1] < 0.07), bool(error[0] < 1e-2)
    (True, True)
    """
    levels = _first_levels(experiment, _DEPTH)
    wider, _ = _solve_on(Chain(experiment, _FIRST, _WIDER), None)
    cut = _difference(wider, levels.fine)
    # One more halving makes the error of the lattice about ten times smaller, the cut not.
    halved = 0.1 * _worst(_spread(_change(levels.fine, levels.coarse)), levels.chain)
    if _worst(cut, levels.chain) > max(tolerance, halved):
        # Arms that are lost come back, and which of them is the deeper one matters then.
        levels = _first_levels(experiment, _WIDEST)
        cut = _difference(levels.fine, wider)
        margin = (levels.fine.shape[0] - cut.shape[0]) // 2
        cut = np.pad(cut, margin, constant_values=float(np.nanmax(cut)))

    chain, fine, coarse, before, residual = levels
    while True:
        change = _change(fine, coarse)
        largest = _worst(_spread(change), chain)
        factor = remaining(largest, before) / largest if largest > 0.0 else 0.0
        error = _spread(factor * change) + np.nan_to_num(cut)
        enough = _worst(error, chain) <= tolerance
        if enough or 3 * (2 * chain.size) ** 2 > most_nodes:
            return Plane(chain, fine, error, residual)
        coarse, before = fine, largest
        chain = Chain(experiment, chain.spacing / 2.0, chain.depth)
        fine, residual = _solve_on(chain, _refine(coarse))
        cut = np.repeat(np.repeat(cut, 2, axis=0), 2, axis=1)[:-1, :-1]


class Levels(NamedTuple):
    """A solution, that on twice the spacing, how much that had changed, and the residual."""

    chain: Chain
    fine: Floats
    coarse: Floats
    before: float
    residual: float


def _first_levels(experiment: Experiment, depth: float) -> Levels:
    """Solve on the first three lattices of a depth."""
    chain = Chain(experiment, _FIRST, depth)
    coarsest, _ = _solve_on(chain.coarser().coarser(), None)
    coarse, _ = _solve_on(chain.coarser(), _refine(coarsest))
    fine, residual = _solve_on(chain, _refine(coarse))
    before = _worst(_spread(_change(coarse, coarsest)), chain.coarser())
    return Levels(chain, fine, coarse, before, residual)


def _change(fine: Floats, coarse: Floats) -> Floats:
    """The largest change over the arms, at the nodes that two lattices share."""
    return np.asarray(np.abs(fine[::2, ::2] - coarse).max(axis=2))


def _difference(larger: Floats, smaller: Floats) -> Floats:
    """The largest difference over the arms, at the nodes of the smaller hexagon."""
    margin = (larger.shape[0] - smaller.shape[0]) // 2
    return np.asarray(np.abs(larger[margin:-margin, margin:-margin] - smaller).max(axis=2))


def _worst(error: Floats, chain: Chain) -> float:
    """The largest error where every arm has at least exp(-10) of the leader's probability."""
    margin = round((chain.depth - _CORE) / chain.spacing)
    return float(np.nanmax(error[margin:-margin, margin:-margin]))


def _solve_on(chain: Chain, guess: Floats | None) -> tuple[Floats, float]:
    hexagon = Hexagon(chain.size)
    i, j = (hexagon.nodes[:, :2] + chain.size).T
    rates, monotone = chain.rates(hexagon, _ORDER), chain.rates(hexagon, 2)
    first = None if guess is None else guess[i, j]
    values, residual = absorption_probabilities(rates, monotone, first)
    width = 2 * chain.size + 1
    grid = np.full((width, width, 3), np.nan)
    grid[i, j] = values
    return grid, residual


def _refine(grid: Floats) -> Floats:
    """Linear interpolation to half the spacing, along lattice lines."""
    width = 2 * grid.shape[0] - 1
    fine = np.empty((width, width, grid.shape[2]))
    fine[::2, ::2] = grid
    fine[1::2, ::2] = (grid[1:] + grid[:-1]) / 2.0
    fine[::2, 1::2] = (grid[:, 1:] + grid[:, :-1]) / 2.0
    fine[1::2, 1::2] = (grid[1:, 1:] + grid[:-1, :-1]) / 2.0
    return fine


def _spread(error: Floats) -> Floats:
    """From the nodes of a coarse lattice to those of the finer one: the largest nearby."""
    padded = np.nan_to_num(np.pad(error, 1, mode="edge"))
    count = error.shape[0]
    around = np.max(
        [padded[di : di + count, dj : dj + count] for di in range(3) for dj in range(3)], axis=0
    )
    nearest: npt.NDArray[np.int64] = np.arange(2 * count - 1) // 2
    return np.asarray(around[np.ix_(nearest, nearest)])
