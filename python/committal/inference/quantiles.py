"""Quantiles of the normal and of Student's distribution, by the level of a two-sided interval."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def normal_quantile(level: float) -> float:
    """The z with P(|Z| < z) = level for a standard normal Z.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    # Not scipy's: importing it takes longer than most commands that print a rate.
    upper = (1 + level) / 2
    # Of the other tail where this one rounds to 1, as at the largest level below 1.
    return NormalDist().inv_cdf(upper) if upper < 1.0 else -NormalDist().inv_cdf((1 - level) / 2)


def student_quantile(level: float, degrees: npt.ArrayLike) -> Floats:
    """The t with P(|T| < t) = level for Student's T, by degrees of freedom.

    Parameters
    ----------
    level
        In (0, 1).
    degrees
        Degrees of freedom; infinite where there are none, since nothing is known then.

    Examples
    --------
    >>> student_quantile(0.95, [0, 1, 10, 10**9]).round(4).tolist()
    [inf, 12.7062, 2.2281, 1.96]
    """
    from scipy.special import stdtrit

    nu = np.asarray(degrees, np.float64)
    found = stdtrit(np.maximum(nu, 1.0), (1 + level) / 2)
    return np.asarray(np.where(nu < 1.0, np.inf, found))
