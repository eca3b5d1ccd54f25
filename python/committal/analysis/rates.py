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
from typing import TYPE_CHECKING

from committal.analysis.failures import failure_counts
from committal.analysis.select import checked
from committal.errors import ConfigError
from committal.inference.intervals import proportion_interval
from committal.support import check, html, limits, text

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["FailureRate", "failure_rate", "wilson_interval"]


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
    runs = check.integer("runs", runs, 0, limits.RUNS)
    failures = check.integer("failures", failures, 0, runs)
    low, high = proportion_interval(failures, runs, level)
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class FailureRate:
    """The fraction of runs that failed, with its interval.

    Attributes
    ----------
    estimate : float
        `failures / runs`; NaN without runs.
    low, high : float
        The interval, Wilson's unless another one was asked for.
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
        cls,
        failures: int,
        runs: int,
        *,
        below: float,
        time: int,
        level: float = 0.95,
        method: str = "wilson",
    ) -> FailureRate:
        """Estimate the rate from counts."""
        runs = check.integer("runs", runs, 0, limits.RUNS)
        failures = check.integer("failures", failures, 0, runs)
        below = check.number("below", below)
        time = check.integer("time", time, 0, limits.DRAWS)
        low, high = map(float, proportion_interval(failures, runs, level, method))
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

    def _repr_html_(self) -> str:
        what = f"runs with a value below {self.below:g} after {text.grouped(self.time)} updates"
        level = f"{100 * self.level:g} % interval"
        words = html.joined([html.Html("<div>"), f"{what}; {level}", html.Html("</div>")])
        return html.page(self, _interval_drawn(self), words)


# The whole bar is all runs; a rate of almost nothing is still to be seen.
_WIDTH, _HEIGHT, _THIN = 200.0, 12.0, 1.0


def _interval_drawn(rate: FailureRate) -> html.Html:
    """Draw the interval between no run and all of them, and the estimate as a line."""
    low, high = _WIDTH * rate.low, _WIDTH * rate.high
    parts = [
        f'<rect width="{_WIDTH:g}" height="{_HEIGHT:g}" fill-opacity="0.12"/>',
        f'<rect x="{low:.1f}" width="{max(high - low, _THIN):.1f}" height="{_HEIGHT:g}" '
        'fill-opacity="0.4"/>',
    ]
    if rate.runs:
        at = min(_WIDTH * rate.estimate, _WIDTH - _THIN)
        parts.append(f'<rect x="{at:.1f}" width="{_THIN:g}" height="{_HEIGHT:g}"/>')
    return html.Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="the interval" '
        f'width="{_WIDTH:g}" height="{_HEIGHT:g}" fill="currentColor" '
        f'style="display:block;margin:0.3em 0">{"".join(parts)}</svg>'
    )


def failure_rate(
    data: xr.Dataset,
    below: float | None = None,
    *,
    time: int | None = None,
    level: float = 0.95,
    method: str = "wilson",
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
    method : {"wilson", "clopper-pearson", "sequential"}, optional
        The interval, see :func:`committal.analysis.proportion_interval`.

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
    checked(data)
    if below is not None:
        below = check.number("below", below)
    failures, runs, below = failure_counts(data, below, time)
    if failures.ndim:
        raise ConfigError(
            "data",
            dict(failures.sizes),
            "one configuration, such as data.sel(...); failure_rates is for all of them",
        )
    at = time if time is not None else data.get("final_time", data["time"]).values.max()
    return FailureRate.of(
        int(failures), int(runs), below=below, time=int(at), level=level, method=method
    )


def _places(half_width: float) -> int:
    """Decimals that show two digits of the uncertainty."""
    return max(0, 1 - math.floor(math.log10(half_width)))


def _significant(x: float) -> str:
    return f"{x:.{_places(x)}f}"
