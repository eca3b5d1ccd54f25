r"""Groups with binary rewards: what the rules of language-model training do to a success rate.

With success probability p and N samples everything depends on the number c of successes. Given c,
the mean of the score of a success is :math:`\nabla p / p`, that of a failure
:math:`-\nabla p / (1 - p)`. So every rule that looks at rewards only follows a multiple of
:math:`\nabla p`, and the multiple is a finite sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError
from committal.exact import dynamics
from committal.exact.counts import count_vectors, multinomial
from committal.support import arrays, check, limits
from committal.support.simplex import Floats

__all__ = [
    "KLFixedPoints",
    "kl_fixed_points",
    "kl_recursion",
    "pass_at_k_advantages",
    "pass_at_k_factor",
    "std_factor",
]

#: Samples beyond this are too many for exact binomial laws.
MOST_SAMPLES = 100_000


@dynamics.no_overflow
def std_factor(p: npt.ArrayLike, samples: int, *, ddof: int = 0, eps: float = 0.0) -> Floats:
    r"""The factor on :math:`\nabla p` of advantages (R - mean) / (std + eps), with shape (...).

    .. math:: \frac{1}{p (1 - p)} E \left[ \frac{\hat p (1 - \hat p)}{\hat s + \epsilon} \right],
              \qquad \hat s^2 = \frac{N}{N - \mathrm{ddof}} \hat p (1 - \hat p) .

    It is 1 for N = 2, grows like :math:`\sqrt{N - 1}` as p goes to 0, and with N becomes
    :math:`1 / \sqrt{p (1 - p)}`: the gradient of :math:`2 \arcsin \sqrt p`.

    Parameters
    ----------
    p : array_like
        Success probabilities, in (0, 1).
    samples : int
        N, at least 2.
    ddof : int, optional
        The variance divides by N - ddof: 0 or 1.
    eps : float, optional
        Added to the standard deviation.

    Examples
    --------
    >>> std_factor([0.01, 0.1, 0.5], 8).round(6)
    array([2.608862, 2.327689, 1.855656])
    >>> std_factor([0.01, 0.1, 0.5], 2)
    array([1., 1., 1.])
    """
    p = arrays.tensor("p", p, check.UNIT_INSIDE)
    n = check.integer("samples", samples, 2, MOST_SAMPLES)
    ddof = check.integer("ddof", ddof, 0, 1)
    eps = check.number("eps", eps, check.NON_NEGATIVE)
    counts = count_vectors(2, n)
    law = multinomial(counts, np.stack([p, 1.0 - p], axis=-1))
    share = counts[:, 0] / n
    variance = share * (counts[:, 1] / n)
    std = np.sqrt(variance * (n / (n - ddof)))
    # Where all are equal there is nothing to divide.
    term = np.where(variance > 0.0, variance / np.where(variance > 0.0, std + eps, 1.0), 0.0)
    return np.asarray((law @ term) / (p * (1.0 - p)))


@dynamics.no_overflow
def pass_at_k_factor(p: npt.ArrayLike, k: int) -> Floats:
    r"""k (1 - p)^(k - 1), the factor on :math:`\nabla p` in the gradient of pass@k: (...).

    Parameters
    ----------
    p : array_like
        Success probabilities, in [0, 1].
    k : int
        How many tries there are; one success is enough.

    Examples
    --------
    >>> pass_at_k_factor([0.1, 0.9], 4).round(4)
    array([2.916, 0.004])
    """
    p = arrays.tensor("p", p, check.UNIT)
    k = check.integer("k", k, 1, MOST_SAMPLES)
    return np.asarray(k * (1.0 - p) ** (k - 1))


@dynamics.no_overflow
def pass_at_k_advantages(samples: int, k: int) -> Floats:
    r"""What successes and failures weigh in an unbiased gradient of pass@k, (N + 1, 2).

    The estimate is :math:`\sum_i s_i \psi_i`, without 1/N. With c successes among n samples a
    success has :math:`s = k / n`, a failure

    .. math:: s = \frac k n \left( 1 - \binom{n - 1 - c}{k - 1} / \binom{n - 1}{k - 1} \right) ,

    which is the chance that the other k - 1 tries already have a success.

    Parameters
    ----------
    samples : int
        n.
    k : int
        At most n.

    Returns
    -------
    ndarray, shape (n + 1, 2)
        For every c the weight of a success and of a failure; 0 where there is none.

    Examples
    --------
    >>> pass_at_k_advantages(4, 2).round(4)
    array([[0.    , 0.    ],
           [0.5   , 0.1667],
           [0.5   , 0.3333],
           [0.5   , 0.5   ],
           [0.5   , 0.    ]])
    """
    n = check.integer("samples", samples, 1, MOST_SAMPLES)
    k = check.integer("k", k, 1, MOST_SAMPLES)
    if k > n:
        raise ConfigError("k", k, f"at most samples = {n}")
    s = np.zeros((n + 1, 2))
    s[1:, 0] = k / n
    none = 1.0  # C(n - 1 - c, k - 1) / C(n - 1, k - 1), from one c to the next
    for c in range(n):
        s[c, 1] = k / n * (1.0 - none)
        left = n - 1 - c
        none *= max(left - k + 1, 0) / left if left else 0.0
    return s


@dynamics.no_overflow
def kl_recursion(
    reference: float, strength: float, steps: int, *, scaled: bool = True, eps: float = 1e-5
) -> Floats:
    r"""The success rates p_0, ..., p_n of groups that are trained to the end, again and again.

    Each round maximises the expected advantage minus :math:`\beta` KL to the reference, with
    advantages measured by the policy of the round before (Mroueh, 2503.06639):

    .. math:: \frac{p_n}{1 - p_n} = \frac{p_{ref}}{1 - p_{ref}}
              \exp \frac{1}{\beta \sqrt{p_{n-1} (1 - p_{n-1}) + \epsilon}} .

    Parameters
    ----------
    reference : float
        p_ref in (0, 1), also the beginning.
    strength : float
        beta > 0.
    steps : int
        How many rounds.
    scaled : bool, optional
        Whether advantages are divided by the standard deviation; else the exponent is 1 / beta.
    eps : float, optional
        Inside of the root.

    Returns
    -------
    ndarray, shape (steps + 1,)

    Examples
    --------
    >>> kl_recursion(0.1, 2.0, 30)[[0, 1, 2, 30]].round(6)
    array([0.1     , 0.370365, 0.238333, 0.258286])
    """
    p_ref = check.number("reference", reference, check.UNIT_INSIDE)
    beta = check.number("strength", strength, check.POSITIVE)
    count = check.integer("steps", steps, 0, limits.TIMES)
    scaled = check.boolean("scaled", scaled)
    eps = check.number("eps", eps, check.NON_NEGATIVE)
    path = np.empty(count + 1)
    path[0] = p_ref
    for n in range(count):
        path[n + 1] = _next(path[n], p_ref, beta, scaled, eps)
    return path


class KLFixedPoints(NamedTuple):
    """The fixed points of :func:`kl_recursion`.

    Attributes
    ----------
    success : ndarray, shape (n,)
        Success rates, in increasing order.
    slope : ndarray, shape (n,)
        By how much the recursion multiplies a small error of the log-odds.
    stable : ndarray of bool, shape (n,)
        Whether it becomes smaller.
    """

    success: Floats
    slope: Floats
    stable: npt.NDArray[np.bool_]


@dynamics.no_overflow
def kl_fixed_points(
    reference: float, strength: float, *, scaled: bool = True, eps: float = 1e-5
) -> KLFixedPoints:
    r"""The success rates that :func:`kl_recursion` leaves as they are, in increasing order.

    Divided by their standard deviation, advantages grow without limit (up to eps) as p goes to 1.
    So there may be three: one that the reference leads to, one near 1, and an unstable one in
    between from which neither is reached.

    Parameters
    ----------
    reference, strength, scaled, eps
        As for :func:`kl_recursion`; eps is at least 1e-12.

    Returns
    -------
    KLFixedPoints

    Examples
    --------
    >>> found = kl_fixed_points(0.1, 2.0)
    >>> found.success.round(6), found.stable
    (array([0.258286, 0.995715, 1.      ]), array([ True, False,  True]))
    >>> kl_fixed_points(0.1, 2.0, scaled=False).success.round(6)
    array([0.154828])
    """
    p_ref = check.number("reference", reference, check.UNIT_INSIDE)
    beta = check.number("strength", strength, check.POSITIVE)
    scaled = check.boolean("scaled", scaled)
    eps = check.number("eps", eps, check.Interval(1e-12))
    # No more is added to the log-odds of the reference than at p = 0 or 1, and something always is.
    start = math.log(p_ref / (1.0 - p_ref))
    most = _gain(0.0, beta, scaled, eps)
    x = start + np.unique(np.concatenate([np.linspace(0, most, 4001), np.linspace(0, 60, 6001)]))
    f = np.array([_excess(one, p_ref, beta, scaled, eps) for one in x])
    found = list(x[f == 0.0])
    for i in np.flatnonzero(f[:-1] * f[1:] < 0.0):
        low, high, sign = x[i], x[i + 1], f[i] > 0.0
        for _ in range(80):
            middle = 0.5 * (low + high)
            same = (_excess(middle, p_ref, beta, scaled, eps) > 0.0) == sign
            low, high = (middle, high) if same else (low, middle)
        found.append(0.5 * (low + high))
    success = np.array([_sigmoid(one) for one in sorted(found)])
    variance = success * (1.0 - success)
    slope = -variance * (1.0 - 2.0 * success) * (variance + eps) ** -1.5 / (2.0 * beta)
    slope = slope if scaled else np.zeros_like(slope)
    return KLFixedPoints(success, slope, np.abs(slope) < 1.0)


def _gain(p: float, beta: float, scaled: bool, eps: float) -> float:
    if not scaled:
        return 1.0 / beta
    spread = math.sqrt(p * (1.0 - p) + eps)
    # A certain policy has no spread if eps is 0: then it stays certain.
    return 1.0 / (beta * spread) if spread > 0.0 else math.inf


def _next(p: float, p_ref: float, beta: float, scaled: bool, eps: float) -> float:
    return _sigmoid(math.log(p_ref / (1.0 - p_ref)) + _gain(p, beta, scaled, eps))


def _excess(x: float, p_ref: float, beta: float, scaled: bool, eps: float) -> float:
    """How much further the next log-odds are than x."""
    return math.log(p_ref / (1.0 - p_ref)) + _gain(_sigmoid(x), beta, scaled, eps) - x


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(x, -700.0)))
