"""Groups and regularisers as plainly as they are said: what their formulas are checked against."""

from __future__ import annotations

import numpy as np

from committal.config.groups import Group
from committal.config.regularisers import KL, Entropy, LogBarrier, Regulariser, ReverseKL
from committal.reference.arrays import Floats, Ints

__all__ = ["group_advantages", "regulariser_direction"]


def group_advantages(
    group: Group, X: Floats, actions: Ints, pi: Floats, norms: Floats | None = None
) -> Floats:
    """A of every sample of a group, from its rewards less what was subtracted first.

    Weighted centres take `norms` as weights, where they are given: those of whole episodes.

    Examples
    --------
    >>> import committal as cm
    >>> pi, a = np.array([0.5, 0.5]), np.array([0, 1, 1])
    >>> group_advantages(cm.Group(samples=3), np.array([1.0, 0.0, 2.0]), a, pi)
    array([ 0., -1.,  1.])
    >>> group_advantages(cm.Group(samples=3, scale="std"), np.full(3, 0.1), a, pi)
    array([0., 0., 0.])
    """
    if (group.centre or group.scale) and len(set(X.tolist())) == 1:
        return np.zeros(len(X))
    A = X - np.array([_centre(group.centre, X, actions, pi, i, norms) for i in range(len(X))])
    if group.scale is None:
        return np.asarray(A)
    return np.asarray(A / (X.std(ddof=group.ddof) + group.eps))


def _centre(
    centre: str | None, X: Floats, actions: Ints, pi: Floats, i: int, norms: Floats | None
) -> float:
    """What is subtracted from sample i."""
    if centre is None:
        return 0.0
    if centre == "median":
        return float(np.median(X))
    v = np.ones(len(X))
    if centre.startswith("weighted"):
        v = np.sum((np.eye(len(pi))[actions] - pi) ** 2, axis=1) if norms is None else norms
    seen = np.arange(len(X)) != i if centre.endswith("leave_one_out") else np.full(len(X), True)
    if not v[seen].any():
        v = np.ones(len(X))  # no score, no weight: all count the same
    return float(v[seen] @ X[seen] / v[seen].sum())


def regulariser_direction(
    regulariser: Regulariser, natural: bool, pi: Floats, reference: Floats, a: int | None = None
) -> Floats:
    """What a regulariser adds to the gradient; of sampled forms, after arm a was drawn.

    Examples
    --------
    >>> import committal as cm
    >>> pi = np.array([0.5, 0.5])
    >>> regulariser_direction(cm.ReverseKL([0.25, 0.75], 1.0), False, pi, np.array([0.25, 0.75]))
    array([-0.25,  0.25])
    >>> regulariser_direction(cm.KL([0.25, 0.75], 1.0, "k3"), False, pi, np.array([0.25, 0.75]), 0)
    array([-0.25,  0.25])
    """
    assert isinstance(regulariser.strength, float)
    beta, ratio = regulariser.strength, np.log(pi / reference)
    match regulariser:
        case Entropy():
            minus = np.log(pi)
            return -beta * minus if natural else -beta * pi * (minus - pi @ minus)
        case KL(form="exact"):
            return -beta * ratio if natural else -beta * pi * (ratio - pi @ ratio)
        case KL(form="k1" | "k2" | "k3"):
            assert a is not None
            one = np.eye(len(pi))[a]
            c = {"k1": 1.0, "k2": ratio[a], "k3": 1.0 - reference[a] / pi[a]}[regulariser.form]
            return np.asarray(-beta * c * (one / pi[a] if natural else one - pi))
        case ReverseKL():
            return beta * (reference / pi - 1.0) if natural else beta * (reference - pi)
        case LogBarrier():
            K = len(pi)
            return beta * (1.0 / (K * pi) - 1.0) if natural else beta * (1.0 / K - pi)
    raise NotImplementedError(regulariser)
