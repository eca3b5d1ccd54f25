"""A grid of policies all over the simplex."""

from __future__ import annotations

import math

import numpy as np

from committal.errors import ConfigError
from committal.support import check, limits
from committal.support.simplex import Floats, compositions

__all__ = ["simplex_grid"]


def simplex_grid(n: int, arms: int = 3, *, margin: float = 0.0) -> Floats:
    r"""The policies :math:`(i + 1/2) / (n - 1 + K/2)` with :math:`i_1 + ... + i_K = n - 1`.

    A regular grid inside of the simplex, n points along each side, with no policy on the boundary.

    Parameters
    ----------
    n : int
        Points along a side; three arms have n (n + 1) / 2 in all.
    arms : int, optional
        The number K of arms.
    margin : float, optional
        Mix this much of the uniform policy into every point.

    Examples
    --------
    >>> simplex_grid(2, arms=2)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> simplex_grid(500).shape
    (125250, 3)
    """
    n = check.integer("n", n, 1, limits.LISTED)
    arms = check.integer("arms", arms, 2, limits.LISTED)
    margin = check.number("margin", margin, check.UNIT)
    # By logarithms: the number itself may have a million digits.
    log_points = math.lgamma(n + arms - 1) - math.lgamma(n) - math.lgamma(arms)
    if log_points + math.log(arms) > math.log(limits.LISTED):
        raise ConfigError("n", n, f"a grid of at most {limits.LISTED} numbers for {arms} arms")
    pi = (compositions(n - 1, arms) + 0.5) / (n - 1 + arms / 2)
    return np.asarray((1.0 - margin) * pi + margin / arms)
