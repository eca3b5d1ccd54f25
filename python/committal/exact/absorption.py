r"""Where a Markov chain ends: the smallest solution of a sparse linear system.

A chain on nodes n leaves node n for node m at rate :math:`A_{nm} \ge 0` and ends with outcome k
at rate :math:`c_{nk} \ge 0`. The probabilities h of the outcomes solve

.. math:: \sum_m A_{nm} (h_m - h_n) + c_n - \Big(\sum_k c_{nk}\Big) h_n = 0 .

Only ratios of rates matter, so rows may have any scale. Where the rates are those of a monotone
scheme (linear interpolation), the matrix is an M-matrix. Its incomplete factors exist and
precondition the same system with high-order interpolation, which has negative weights and may
make an iteration oscillate; the answer is that of the high order. Rows of both are divided by the
diagonal of the monotone one.

Nodes from which no outcome can be reached get 0: this makes the solution the smallest one, which
is the probability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph
import scipy.sparse.linalg as spla

from committal.errors import CommittalError
from committal.support.simplex import Floats

__all__ = ["NotConvergedError"]

#: Up to this many unknowns the system is factorised as it stands.
MOST_DIRECT = 6_000

_RELATIVE_RESIDUAL = 1e-9
_RESTART = 80
_MOST_CYCLES = 12


class Rates(NamedTuple):
    """Rates between nodes, row by row as triplets, and rates of the outcomes.

    ``source``, ``target`` and ``rate`` are flat arrays of the same length; entries of a node to
    itself are ignored. ``outcomes`` has shape (nodes, outcomes).
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    rate: Floats
    outcomes: Floats


class NotConvergedError(CommittalError):
    """The linear system of a committal map was not solved.

    Examples
    --------
    >>> issubclass(NotConvergedError, CommittalError)
    True
    """


def absorption_probabilities(
    rates: Rates, monotone: Rates, guess: Floats | None = None
) -> tuple[Floats, float]:
    """Solve for the probabilities of the outcomes.

    Parameters
    ----------
    rates
        The chain whose probabilities are wanted; its rates may be slightly negative.
    monotone
        A chain on the same nodes with non-negative rates, close to it.
    guess
        A first guess, shape (nodes, outcomes).

    Returns
    -------
    ndarray, shape (nodes, outcomes)
    float
        The largest residual, relative to the diagonal: a bound of the error per node and step.

    Examples
    --------
    Gambler's ruin with four pounds in all:

    >>> source, target = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    >>> outcomes = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> rates = Rates(source, target, np.ones(4), outcomes)
    >>> absorption_probabilities(rates, rates)[0][:, 1].round(12)
    array([0.25, 0.5 , 0.75])
    """
    nodes, count = rates.outcomes.shape
    values = np.zeros((nodes, count))
    possible = np.flatnonzero(rates.outcomes.any(axis=0))
    if possible.size == 0:
        return values, 0.0
    live = _reaching(monotone)
    _, scale = _off_diagonal(monotone)
    scale = np.divide(1.0, scale, out=np.zeros(nodes), where=live & (scale > 0.0))
    matrix, right = _system(rates, scale)
    # Where every node ends somewhere the outcomes sum to one, and the last is what is left.
    certain = bool(live.all())
    wanted = possible[:-1] if certain else possible
    solve = _solver(matrix, _system(monotone, scale)[0])
    for k in wanted:
        values[:, k] = solve(right[:, k], None if guess is None else guess[:, k])
    if certain:
        values[:, possible[-1]] = 1.0 - values[:, wanted].sum(axis=1)
    residual = float(np.abs(matrix @ values - right).max())
    return values, residual


def _off_diagonal(rates: Rates) -> tuple[Any, Floats]:
    """Rates to other nodes as a sparse matrix, and the total rate of each node."""
    nodes = len(rates.outcomes)
    moves = rates.source != rates.target
    matrix = sp.coo_matrix(
        (rates.rate[moves], (rates.source[moves], rates.target[moves])), shape=(nodes, nodes)
    ).tocsr()
    return matrix, np.asarray(matrix.sum(axis=1)).ravel() + rates.outcomes.sum(axis=1)


def _system(rates: Rates, scale: Floats) -> tuple[Any, Floats]:
    """The matrix and the right sides, rows scaled; rows of scale 0 say h = 0."""
    matrix, total = _off_diagonal(rates)
    diagonal = np.where(scale > 0.0, scale * total, 1.0)
    system = (sp.diags(diagonal) - sp.diags(scale) @ matrix).tocsr()
    return system, scale[:, None] * rates.outcomes


def _reaching(rates: Rates) -> npt.NDArray[np.bool_]:
    """Which nodes can end at all: a search against the arrows from all outcomes at once."""
    nodes = len(rates.outcomes)
    ends = np.flatnonzero(rates.outcomes.sum(axis=1) > 0.0)
    source = np.concatenate([rates.target[rates.rate > 0.0], np.full(len(ends), nodes)])
    target = np.concatenate([rates.source[rates.rate > 0.0], ends])
    graph = sp.coo_matrix(
        (np.ones(len(source), dtype=np.int8), (source, target)), shape=(nodes + 1, nodes + 1)
    ).tocsr()
    found = csgraph.breadth_first_order(graph, nodes, return_predecessors=False)
    live = np.zeros(nodes + 1, dtype=bool)
    live[found] = True
    return live[:nodes]


def _solver(matrix: Any, near: Any) -> Any:
    if matrix.shape[0] <= MOST_DIRECT:
        factor = spla.splu(matrix.tocsc())
        return lambda right, guess: factor.solve(right)
    # An M-matrix needs no pivoting. What is dropped is put on the diagonal ("modified"): rows keep
    # their sums, as probabilities must. Without that, sets that the chain hardly ever leaves
    # would leak, and the iteration would stall on them.
    factor = spla.spilu(
        near.tocsc(),
        drop_tol=1e-2,
        fill_factor=10,
        diag_pivot_thresh=0.0,
        options={"ILU_MILU": "SMILU_1"},
    )

    def solve(right: Floats, guess: Floats | None) -> Floats:
        x, reached = _gmres(matrix, factor.solve, right, guess)
        if not reached:
            raise NotConvergedError(f"no solution after {_MOST_CYCLES * _RESTART} iterations")
        return x

    return solve


def _gmres(
    matrix: Any, precondition: Any, right: Floats, guess: Floats | None
) -> tuple[Floats, bool]:
    """Restarted GMRES, preconditioned from the left; says whether the residual is small.

    Written out, rather than SciPy's, to keep BLAS out: its threads spin where other processes
    compete for the cores, and the sums of a pinned order below are the same on every machine.
    """
    x = np.zeros_like(right) if guess is None else guess.copy()
    goal = _RELATIVE_RESIDUAL * _norm(precondition(right))
    basis = np.empty((_RESTART + 1, len(right)))
    for _ in range(_MOST_CYCLES):
        residual = precondition(right - matrix @ x)
        size = _norm(residual)
        if size <= goal:
            return x, True
        basis[0] = residual / size
        hessenberg = np.zeros((_RESTART + 1, _RESTART))
        # The least-squares problem is kept triangular by Givens rotations.
        rotations: list[tuple[float, float]] = []
        rest = [size]
        for j in range(_RESTART):
            w = precondition(matrix @ basis[j])
            for i in range(j + 1):
                hessenberg[i, j] = np.einsum("n,n->", basis[i], w)
                w -= hessenberg[i, j] * basis[i]
            length = _norm(w)
            column = hessenberg[:, j]
            for i, (c, s) in enumerate(rotations):
                column[i], column[i + 1] = (
                    c * column[i] + s * column[i + 1],
                    c * column[i + 1] - s * column[i],
                )
            radius = float(np.hypot(column[j], length))
            c, s = (1.0, 0.0) if radius == 0.0 else (column[j] / radius, length / radius)
            column[j] = radius
            rotations.append((c, s))
            rest[j : j + 1] = [c * rest[j], -s * rest[j]]
            if abs(rest[-1]) <= goal or length == 0.0:
                break
            basis[j + 1] = w / length
        count = len(rotations)
        y = np.zeros(count)
        for i in reversed(range(count)):
            known = float((hessenberg[i, i + 1 : count] * y[i + 1 :]).sum())
            y[i] = (rest[i] - known) / hessenberg[i, i] if hessenberg[i, i] != 0.0 else 0.0
        for i in range(count):
            x += y[i] * basis[i]
    # Not quite there, but good enough for a probability.
    return x, bool(np.abs(matrix @ x - right).max() <= 1e-6)


def _norm(x: Floats) -> float:
    return float(np.sqrt(np.einsum("n,n->", x, x)))
