r"""What N independent samples may be, by how often each kind of sample occurs.

A sample is one of T kinds, an arm with one of its rewards. Rules are symmetric in the samples, so
that only the counts :math:`c_1 + \dots + c_T = N` matter: there are :math:`\binom{N + T - 1}{N}` of
them, not :math:`T^N`, and their probabilities are multinomial. Two arms with binary rewards have
366,145 for N = 128.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError
from committal.support.simplex import Floats, compositions

__all__ = ["MOST_OUTCOMES", "count_vectors", "multinomial"]

Counts = npt.NDArray[np.int64]

#: Outcomes of one update beyond this are refused: they would not be listed but sampled.
MOST_OUTCOMES = 1_000_000

#: Up to here binomial coefficients are doubles; beyond, their logarithms are.
_LARGEST = 1000


@functools.lru_cache(maxsize=8)
def count_vectors(kinds: int, samples: int) -> Counts:
    """All (c_1, ..., c_T) that sum to N, (M, T), those with many of the first kind first.

    Examples
    --------
    >>> count_vectors(2, 2)
    array([[2, 0],
           [1, 1],
           [0, 2]])
    >>> len(count_vectors(4, 128))
    366145
    >>> count_vectors(6, 128)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: experiment.estimator.samples = 128 is not allowed; expected few \
enough samples for 1000000 outcomes: 6 kinds of samples (an arm with one of its rewards) have \
321402081
    """
    count = math.comb(kinds + samples - 1, samples)
    if count > MOST_OUTCOMES:
        raise ConfigError(
            "experiment.estimator.samples",
            samples,
            f"few enough samples for {MOST_OUTCOMES} outcomes: {kinds} kinds of samples (an arm "
            f"with one of its rewards) have {_written(count)}",
        )
    made = compositions(samples, kinds)
    made.flags.writeable = False
    return made


def _written(count: int) -> str:
    return str(count) if count < 10**15 else f"about 10**{len(str(count)) - 1}"


def multinomial(counts: Counts, p: Floats) -> Floats:
    """N! / (c_1! ... c_T!) p_1^c_1 ... p_T^c_T, (..., M), for probabilities (..., T).

    As a product of binomial probabilities: of the first kind among all, of the second among what
    is left, ... Each is at most 1, so nothing overflows.

    Examples
    --------
    >>> multinomial(count_vectors(2, 2), np.array([0.25, 0.75]))
    array([0.0625, 0.375 , 0.5625])
    >>> many = multinomial(count_vectors(2, 100_000), np.array([0.1, 0.9]))
    >>> round(float(many.sum()), 12)
    1.0
    """
    samples = int(counts[0].sum())
    left = np.full(len(counts), samples)
    rest = np.cumsum(p[..., ::-1], axis=-1)[..., ::-1]  # p_i + ... + p_T, without differences
    total: Floats = np.ones((*p.shape[:-1], len(counts)))
    for i in range(counts.shape[1] - 1):
        c = counts[:, i]
        here = rest[..., i]
        safe = np.where(here > 0.0, here, 1.0)
        one, other = p[..., i] / safe, rest[..., i + 1] / safe
        total = total * _binomial(samples, left, c, one, other)
        left = left - c
    if samples > _LARGEST:
        total = total / total.sum(axis=-1, keepdims=True)
    return total


def _binomial(samples: int, n: Counts, c: Counts, p: Floats, q: Floats) -> Floats:
    """C(n, c) p^c q^(n - c), (..., M), for n up to the number of samples and p, q (...)."""
    powers = np.arange(samples + 1)
    if samples <= _LARGEST:
        with np.errstate(under="ignore"):
            high, low = p[..., None] ** powers, q[..., None] ** powers
            return np.asarray(_coefficients(samples)[n, c] * high[..., c] * low[..., n - c])
    factorial = _log_factorials(samples)
    log = factorial[n] - factorial[c] - factorial[n - c]
    with np.errstate(divide="ignore", under="ignore"):
        log_p, log_q = np.log(p)[..., None], np.log(q)[..., None]
        # 0 log 0 = 0: nothing is drawn of a kind that cannot be.
        high = np.where(c > 0, c * np.where(c > 0, log_p, 0.0), 0.0)
        low = np.where(n > c, (n - c) * np.where(n > c, log_q, 0.0), 0.0)
        return np.asarray(np.exp(log + high + low))


@functools.lru_cache(maxsize=8)
def _coefficients(samples: int) -> Floats:
    """C(n, c) for n, c up to N, correctly rounded."""
    table = np.zeros((samples + 1, samples + 1))
    row = [1]
    for n in range(samples + 1):
        table[n, : n + 1] = row
        row = [1, *(row[i] + row[i + 1] for i in range(n)), 1]
    return table


@functools.lru_cache(maxsize=8)
def _log_factorials(samples: int) -> Floats:
    return np.array([math.lgamma(n + 1) for n in range(samples + 1)])
