r"""Where rules end, in closed form: regularised policies, and learning from a fixed behaviour."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError
from committal.exact import dynamics
from committal.support import check, limits
from committal.support.simplex import Floats, softmax

__all__ = ["off_policy_limit", "regularised_policy"]

_DIVERGENCES = ("forward", "reverse")
_RULES = ("asymmetric", "tapered")


@dynamics.no_overflow
def regularised_policy(
    means: npt.ArrayLike,
    strength: float,
    *,
    reference: npt.ArrayLike | None = None,
    divergence: str = "forward",
) -> Floats:
    r"""The policy that maximises J minus a divergence from a reference, with shape (K,).

    ``"forward"`` is :math:`\beta\,\mathrm{KL}(\pi \| \mathrm{ref})`, whose maximiser is
    :math:`\pi_a \propto \mathrm{ref}_a e^{r_a / \beta}`; with a uniform reference that of entropy
    regularisation. ``"reverse"`` is :math:`\beta\,\mathrm{KL}(\mathrm{ref} \| \pi)`: then
    :math:`\pi_a = \beta\,\mathrm{ref}_a / (\lambda - r_a)`, with :math:`\lambda > \max r` such that
    it sums to 1. That is where the sampled estimate k3 leads, and with a uniform reference the log
    barrier.

    Parameters
    ----------
    means : array_like, shape (K,)
    strength : float
        beta > 0.
    reference : array_like, shape (K,), optional
        Positive probabilities; uniform by default.
    divergence : {"forward", "reverse"}, optional

    Examples
    --------
    >>> ref = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    >>> regularised_policy([1, 0.7, 0], 0.2, reference=ref).round(4)
    array([0.6037, 0.3662, 0.0301])
    >>> regularised_policy([1, 0.7, 0], 0.2, reference=ref, divergence="reverse").round(4)
    array([0.7196, 0.1506, 0.1298])
    """
    r = check.array("means", means, least=1, noun="arm")
    beta = check.number("strength", strength, check.POSITIVE)
    check.choice("divergence", divergence, _DIVERGENCES)
    ref = np.full(len(r), 1.0 / len(r)) if reference is None else _law("reference", reference, r)
    if reference is not None and (ref == 0.0).any():
        raise ConfigError("reference", reference, "probabilities > 0")
    if divergence == "forward":
        return softmax(r / beta + np.log(ref))
    # sum beta ref / (lambda - r) falls from infinity to 0; with y = lambda - max r it is at least 1
    # at y = beta times the reference of the best, and at most 1 at y = beta.
    below = r.max() - r
    low, high = beta * float(ref[below == 0.0].sum()), beta
    for _ in range(200):
        y = 0.5 * (low + high)
        low, high = (y, high) if float((beta * ref / (y + below)).sum()) > 1.0 else (low, y)
    pi = beta * ref / (0.5 * (low + high) + below)
    return np.asarray(pi / pi.sum())


@dynamics.no_overflow
def off_policy_limit(
    means: npt.ArrayLike, behaviour: npt.ArrayLike, value: float, *, rule: str = "asymmetric"
) -> Floats | None:
    r"""Where vanilla steps with A = R - V lead that draw from a fixed behaviour, with shape (K,).

    Let :math:`c_a = \mu_a (r_a - V)` and C their sum. ``"asymmetric"`` weighs every sample by 1
    (AsymRE, 2506.20520): the logits follow :math:`c_a - C \pi_a`, which for C > 0 ends at
    :math:`\pi_a = (c_a - v)_+ / C`, with v such that it sums to 1. For C <= 0 it ends at a vertex
    that depends on the start: None. ``"tapered"`` weighs those with A < 0 by
    :math:`\min(\pi/\mu, 1)` (TOPR, 2503.14286): what they say fades with their probability, and the
    end is :math:`\pi_a \propto (c_a)_+`; None if no arm is better than V.

    Parameters
    ----------
    means : array_like, shape (K,)
    behaviour : array_like, shape (K,)
        mu, probabilities.
    value : float
        V, what rewards are compared with.
    rule : {"asymmetric", "tapered"}, optional

    Returns
    -------
    ndarray or None

    Examples
    --------
    >>> uniform = [1 / 3, 1 / 3, 1 / 3]
    >>> off_policy_limit([1, 0.7, 0], uniform, 0.3)
    array([0.6875, 0.3125, 0.    ])
    >>> off_policy_limit([1, 0.7, 0], uniform, 0.3, rule="tapered").round(4)
    array([0.6364, 0.3636, 0.    ])
    >>> off_policy_limit([1, 0.7, 0], uniform, 0.8) is None
    True
    """
    r = check.array("means", means, least=1, noun="arm")
    mu = _law("behaviour", behaviour, r)
    V = check.number("value", value)
    check.choice("rule", rule, _RULES)
    c = mu * (r - V)
    if rule == "tapered":
        positive = np.maximum(c, 0.0)
        return np.asarray(positive / positive.sum()) if positive.any() else None
    total = float(c.sum())
    if total <= 1e-14 * float(np.abs(c).sum()):  # rounding of the sum
        return None
    # The arms that are left are the largest: as many as keep all of them positive.
    order = np.sort(c)[::-1]
    v = (np.cumsum(order) - total) / np.arange(1, len(c) + 1)
    left = int(np.flatnonzero(order > v)[-1])
    pi = np.maximum(c - v[left], 0.0) / total
    return np.asarray(pi / pi.sum())


def _law(argument: str, value: npt.ArrayLike, r: Floats) -> Floats:
    law = dynamics.policies(argument, value, len(r))
    if law.ndim != 1:
        raise ConfigError(argument, value, f"{len(r)} probabilities")
    if abs(float(law.sum()) - 1.0) > limits.SUM:
        raise ConfigError(argument, value, "probabilities that sum to 1")
    return law
