r"""Intervals of proportions and means, for whole arrays.

Wilson's interval is described in :mod:`committal.analysis.rates`. Clopper and Pearson's is

.. math:: [B^{-1}(\alpha/2;\ k, n - k + 1),\ B^{-1}(1 - \alpha/2;\ k + 1, n - k)],

with the quantiles B⁻¹ of the beta distribution: it covers at least as often as it says for every
rate, and is wider for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committal.inference.quantiles import normal_quantile, student_quantile
from committal.inference.sequences import rate_sequence
from committal.support import arrays, check

__all__ = ["mean_interval", "proportion_interval"]

Floats = npt.NDArray[np.float64]

METHODS = ("wilson", "clopper-pearson", "sequential")


def proportion_interval(
    failures: npt.ArrayLike, runs: npt.ArrayLike, level: float = 0.95, method: str = "wilson"
) -> tuple[Floats, Floats]:
    """Return the interval of a proportion.

    Parameters
    ----------
    failures, runs : array of int
        Failures among runs.
    level : float, optional
        Coverage.
    method : {"wilson", "clopper-pearson", "sequential"}, optional
        The last one stays valid however the number of runs was chosen, see
        :mod:`committal.inference.sequences`.

    Returns
    -------
    low, high : float64[...]
        In [0, 1]; 0 and 1 without runs.

    Examples
    --------
    >>> low, high = proportion_interval([0, 5], [10, 10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237], [0.278, 0.763])
    >>> low, high = proportion_interval([0, 5], [10, 10], method="clopper-pearson")
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    level = check.level(level)
    check.choice("method", method, METHODS)
    k, n = arrays.failures(failures, runs)
    if method == "sequential":
        low, high = rate_sequence(k, n, level)
    elif method == "clopper-pearson":
        from scipy.special import betaincinv

        tail = (1 - level) / 2
        low = betaincinv(np.maximum(k, 0.5), n - k + 1, tail)
        high = betaincinv(k + 1, np.maximum(n - k, 0.5), 1 - tail)
    else:
        z2 = normal_quantile(level) ** 2
        half = np.sqrt(z2 * k * (n - k) / np.maximum(n, 1) + z2 * z2 / 4)
        with np.errstate(invalid="ignore"):  # 0/0 without runs at a level of almost 0
            low, high = (k + z2 / 2 - half) / (n + z2), (k + z2 / 2 + half) / (n + z2)
    # Exact where they are 0 and 1; rounding would leave them at 1e-18.
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def mean_interval(
    mean: npt.ArrayLike, sem: npt.ArrayLike, count: npt.ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return mean ± t·sem with Student's t, which is the normal quantile for many runs.

    Examples
    --------
    >>> low, high = mean_interval(1.0, 0.1, 10**9)
    >>> round(float(low), 3), round(float(high), 3)
    (0.804, 1.196)
    """
    level = check.level(level)
    # Where there are no runs there is no mean, and it is NaN.
    centre, error, n = (
        arrays.tensor(argument, value, finite=False)
        for argument, value in (("mean", mean), ("sem", sem), ("count", count))
    )
    arrays.same_shape(mean=centre, sem=error, count=n)
    with np.errstate(invalid="ignore", over="ignore"):
        half = student_quantile(level, n - 1) * error
        return centre - half, centre + half
