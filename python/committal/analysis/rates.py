r"""How often runs fail, and how well that is known.

With k failures in n runs and the normal quantile z of the level, Wilson's interval is

.. math:: \frac{\hat p + z^2/2n}{1 + z^2/n} \pm
          \frac{z}{1 + z^2/n} \sqrt{\frac{\hat p(1 - \hat p)}{n} + \frac{z^2}{4n^2}},
          \qquad \hat p = k/n.

It is the set of all p that a score test does not reject. Unlike p̂ ± z·se it does not collapse
where no run failed, or all of them did: zero failures in n runs bound the rate by z²/(n + z²),
about 3.84/n at 95 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from committal.errors import ConfigError, ConfigTypeError

if TYPE_CHECKING:
    import xarray as xr


def wilson_interval(failures: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion.

    Parameters
    ----------
    failures, runs : int
        Failures among runs.
    level : float, optional
        Coverage, in (0, 1).

    Returns
    -------
    tuple of float
        Lower and upper end, in [0, 1]; without runs nothing is known and they are 0 and 1.

    Examples
    --------
    >>> low, high = wilson_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.037)
    """
    if not 0 < level < 1:
        raise ConfigError("level", level, "a number in (0, 1)")
    if not 0 <= failures <= runs:
        raise ConfigError("failures", failures, f"a number from 0 to runs = {runs}")
    if runs == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = failures + z2 / 2
    half = math.sqrt(z2 * failures * (runs - failures) / runs + z2 * z2 / 4)
    # The ends are exact where they are 0 and 1; rounding would leave them at 1e-18.
    low = 0.0 if failures == 0 else (centre - half) / (runs + z2)
    high = 1.0 if failures == runs else (centre + half) / (runs + z2)
    return low, high


@dataclass(frozen=True, slots=True)
class FailureRate:
    """The fraction of runs that failed, with its interval.

    Attributes
    ----------
    estimate : float
        `failures / runs`; NaN without runs.
    low, high : float
        Wilson's interval.
    failures, runs : int
        What was counted.
    below : float
        A run failed if its value was less than this.
    time : int
        After how many updates.
    level : float
        Coverage of the interval.

    Examples
    --------
    >>> rate = FailureRate.of(4690, 100_000, below=0.9, time=1000)
    >>> print(rate)
    4.69 % [4.56, 4.82] (4690 of 100000)
    >>> float(rate)
    0.0469

    Where nothing failed the interval is a bound:

    >>> print(FailureRate.of(0, 100_000, below=0.9, time=1000))
    < 0.0038 % (0 of 100000)
    """

    estimate: float
    low: float
    high: float
    failures: int
    runs: int
    below: float
    time: int
    level: float = 0.95

    @classmethod
    def of(
        cls, failures: int, runs: int, *, below: float, time: int, level: float = 0.95
    ) -> FailureRate:
        """Estimate the rate from counts."""
        low, high = wilson_interval(failures, runs, level)
        estimate = failures / runs if runs else math.nan
        return cls(estimate, low, high, failures, runs, below, time, level)

    def __float__(self) -> float:
        return self.estimate

    def __str__(self) -> str:
        counts = f"({self.failures} of {self.runs})"
        if self.runs == 0:
            return f"unknown {counts}"
        if self.failures == 0:
            return f"< {_significant(100 * self.high)} % {counts}"
        if self.failures == self.runs:
            places = _places(100 * (1 - self.low))
            return f"> {100 * self.low:.{places}f} % {counts}"
        places = _places(50 * (self.high - self.low))
        estimate, low, high = (
            f"{100 * x:.{places}f}" for x in (self.estimate, self.low, self.high)
        )
        return f"{estimate} % [{low}, {high}] {counts}"


def failure_rate(
    data: xr.Dataset,
    below: float | None = None,
    *,
    time: int | None = None,
    level: float = 0.95,
) -> FailureRate:
    """Estimate how often the value ends up below a level.

    Parameters
    ----------
    data : xarray.Dataset
        A result of :func:`committal.run` that recorded the value per run, or one that was
        reduced with ``Reduce(below=...)``.
    below : float, optional
        A run failed if its value is less than this. Reduced data know it already.
    time : int, optional
        After how many updates; one of the recorded times, the last by default.
    level : float, optional
        Coverage of the interval.

    Returns
    -------
    FailureRate
        Converts to `float`, prints with its interval.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(
    ...     cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), cm.Constant(-1.0), steps=200
    ... )
    >>> rate = cm.failure_rate(cm.run(exp, runs=1000, rng=0), below=0.5)
    >>> rate.low < 0.13 < rate.high
    True
    """
    if not hasattr(data, "data_vars"):
        raise ConfigTypeError("data", data, "a dataset made by committal.run")
    if below is not None and not _is_number(below):
        raise ConfigTypeError("below", below, "a number")
    if "failures" in data and "run" not in data.dims:
        recorded = float(data["failures"].attrs["below"])
        if below is not None and float(below) != recorded:
            raise ConfigError(
                "below", below, f"{recorded}, the level at which these data were reduced"
            )
        at = _time_index(data, time)
        return FailureRate.of(
            int(data["failures"].values[at]),
            int(data["failures"].attrs["runs"]),
            below=recorded,
            time=int(data["time"].values[at]),
            level=level,
        )
    if "value" not in data or data["value"].dims != ("run", "time"):
        raise ConfigError(
            "data",
            sorted(map(str, data.data_vars)),
            "the value of every run, Record('value'), or failures counted while running, "
            "Record('value', reduce=Reduce(below=...))",
        )
    if below is None:
        raise ConfigError("below", below, "a number: a run failed if its value is less than it")
    at = _time_index(data, time)
    values = data["value"].values[:, at]
    # Written so that a value that is not a number would count as a failure.
    failures = values.size - int(np.count_nonzero(values >= below))
    return FailureRate.of(
        failures,
        values.size,
        below=float(below),
        time=int(data["time"].values[at]),
        level=level,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not (
        isinstance(value, bool) or math.isnan(value)
    )


def _time_index(data: xr.Dataset, time: int | None) -> int:
    times = data["time"].values
    if time is None:
        return len(times) - 1
    found = np.flatnonzero(times == time)
    if found.size != 1:
        known = ", ".join(map(str, times[:10])) + (", …" if len(times) > 10 else "")
        raise ConfigError("time", time, f"one of the recorded times {known}")
    return int(found[0])


def _places(half_width: float) -> int:
    """Decimals that show two digits of the uncertainty."""
    return max(0, 1 - math.floor(math.log10(half_width)))


def _significant(x: float) -> str:
    return f"{x:.{_places(x)}f}"
