"""Formulas over the last axis of arrays of probabilities, shared by parts and exact answers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

#: 1/pi is not taken of anything smaller, so that weights and their sums stay finite.
SMALLEST_PROBABILITY = 1e-150


def others(x: Floats) -> Floats:
    """Sum over j != i of x_j along the last axis, without subtracting x_i from a total.

    Examples
    --------
    >>> others(np.array([1.0, 1e-30, 0.0]))
    array([1.e-30, 1.e+00, 1.e+00])
    """
    total = np.zeros_like(x)
    total[..., 1:] += np.cumsum(x[..., :-1], axis=-1)
    total[..., :-1] += np.cumsum(x[..., :0:-1], axis=-1)[..., ::-1]
    return total


def softmax(theta: Floats) -> Floats:
    """pi_i = exp(theta_i) / sum_j exp(theta_j) along the last axis.

    Examples
    --------
    >>> softmax(np.array([700.0, 700.0]))
    array([0.5, 0.5])
    """
    e: Floats = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def log_softmax(theta: Floats) -> Floats:
    """log pi_i = theta_i - log sum_j exp(theta_j) along the last axis.

    Examples
    --------
    >>> log_softmax(np.array([0.0, -2000.0]))
    array([    0., -2000.])
    """
    shifted = theta - theta.max(axis=-1, keepdims=True)
    e: Floats = np.exp(shifted)
    # log1p of the sum of all but one largest entry keeps a nearly certain arm accurate.
    largest = np.argmax(shifted, axis=-1)[..., None]
    rest = np.take_along_axis(others(e), largest, axis=-1)
    result: Floats = shifted - np.log1p(rest)
    return result


def tsallis_roots(x: Floats) -> Floats:
    r"""z - x_i along the last axis, with the z > max x for which sum_i 4 / (z - x_i)^2 = 1.

    By Newton's method on :math:`h = (\sum_i (z - x_i)^{-2})^{-1/2}`, which is concave in z, nearly
    straight, and shall be 2. From z = max x + 2, where the largest alone would have probability 1,
    it grows towards the root and never passes it.

    Examples
    --------
    >>> tsallis_roots(np.zeros(4))
    array([4., 4., 4., 4.])
    """
    y: Floats = x.max(axis=-1, keepdims=True) - x + 2.0
    for _ in range(tsallis_steps(x.shape[-1])):
        inverse = 1.0 / y
        square = inverse * inverse
        s = square.sum(axis=-1, keepdims=True)
        y = y + s * (2.0 * np.sqrt(s) - 1.0) / (square * inverse).sum(axis=-1, keepdims=True)
    return y


def tsallis_steps(count: int) -> int:
    """How many of these steps are enough: after them nothing but rounding is left.

    Examples
    --------
    >>> tsallis_steps(3), tsallis_steps(1000)
    (5, 7)
    """
    return 4 + len(str(max(count - 1, 1)))


def tsallis(x: Floats) -> Floats:
    """pi_i = 4 / (z - x_i)^2 along the last axis, with the z that makes them add up to 1.

    Examples
    --------
    >>> tsallis(np.array([0.0, -1e9])).round(21)
    array([1.e+00, 4.e-18])
    """
    f: Floats = tsallis_roots(x) ** -2.0
    return np.asarray(f / f.sum(axis=-1, keepdims=True))


def weighted_mean(w: Floats, pi: Floats, r: Floats) -> Floats:
    """sum w r / sum w along the last axis; the value where no arm has any weight.

    Examples
    --------
    >>> weighted_mean(np.zeros(2), np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    array(0.5)
    """
    total = w.sum(axis=-1)
    certain = total <= 0.0
    mean = (w * r).sum(axis=-1) / np.where(certain, 1.0, total)
    return np.asarray(np.where(certain, (pi * r).sum(axis=-1), mean))


def between_best(r: Floats, fraction: float) -> float:
    """The number at a fraction of the way from the second best reward to the best.

    Examples
    --------
    >>> between_best(np.array([1.0, 0.5, 0.0]), 0.5)
    0.75
    """
    second, best = np.sort(r)[-2:].tolist()
    return float(second + fraction * (best - second))


def near_vertex(arm: int, shares: Floats, epsilon: float) -> Floats:
    """pi with pi_arm = 1 - epsilon and the others in the given shares of epsilon.

    Parameters
    ----------
    arm : int
        The arm that is nearly certain.
    shares : ndarray, shape (..., K)
        Of the others; they sum to 1, and that of `arm` is not read.
    epsilon : float
        In [0, 1).

    Examples
    --------
    >>> near_vertex(1, np.array([0.25, 0.0, 0.75]), 1e-30)
    array([2.5e-31, 1.0e+00, 7.5e-31])
    """
    pi = shares * epsilon
    pi[..., arm] = 1.0 - epsilon
    return pi


def project_onto_simplex(x: Floats) -> Floats:
    """The nearest point of the simplex along the last axis: max(x - s, 0), summing to 1.

    Examples
    --------
    >>> project_onto_simplex(np.array([[0.5, 0.25, 2.0], [0.2, 0.3, 0.5]]))
    array([[0. , 0. , 1. ],
           [0.2, 0.3, 0.5]])
    """
    # From the largest entry, so that a far-away x keeps its small differences.
    point = x - x.max(axis=-1, keepdims=True)
    descending = -np.sort(-point, axis=-1)
    shifts = (np.cumsum(descending, axis=-1) - 1.0) / np.arange(1, x.shape[-1] + 1)
    support = (descending > shifts).sum(axis=-1, keepdims=True) - 1
    zero = point - np.take_along_axis(shifts, support, axis=-1) <= rounding(x.shape[-1])
    total = np.where(zero, 0.0, point).sum(axis=-1, keepdims=True)
    shift = (total - 1.0) / (~zero).sum(axis=-1, keepdims=True)
    projected: Floats = np.where(zero, 0.0, np.maximum(point - shift, 0.0))
    return projected


def rounding(arms: int) -> float:
    """What a projected entry may be off by: the shift is a sum over the arms.

    An entry below it is 0, or 1 / pi would outweigh all others in a baseline.

    Examples
    --------
    >>> rounding(4) == 4 * 2**-50
    True
    """
    return min(arms * 2.0**-50, 0.5 / arms)


def compositions(total: int, parts: int) -> Ints:
    """All (i_1, ..., i_K) >= 0 with the sum `total`, as rows, those with a large i_1 first.

    Examples
    --------
    >>> compositions(2, 2)
    array([[2, 0],
           [1, 1],
           [0, 2]])
    """
    left = np.full(1, total)
    columns: list[Ints] = []
    for _ in range(parts - 1):
        # Every row splits into those with i = left, ..., 0 in the next place.
        sizes = left + 1
        source = np.repeat(np.arange(len(left)), sizes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        i = left[source] - (np.arange(len(source)) - first)
        columns = [column[source] for column in columns]
        columns.append(i)
        left = left[source] - i
    return np.stack([*columns, left], axis=-1)
