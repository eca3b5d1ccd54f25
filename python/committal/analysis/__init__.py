"""Answers from results: rates, means, times and slopes, and how well they are known.

Every function takes a dataset of one experiment or of a whole study and returns a dataset with the
variables `estimate`, `low` and `high`, one for each configuration. :func:`failure_rate` is the
exception: it answers for one experiment and prints.
"""

from committal.analysis.curves import mean_curves
from committal.analysis.failures import failure_rates
from committal.analysis.paired import compare
from committal.analysis.policies import policy_histogram
from committal.analysis.quantiles import quantiles
from committal.analysis.rates import FailureRate, failure_rate, wilson_interval
from committal.analysis.slopes import committal_rate, regret_exponent
from committal.analysis.survival import survival, time_to
from committal.inference.intervals import mean_interval, proportion_interval

__all__ = [
    "FailureRate",
    "committal_rate",
    "compare",
    "failure_rate",
    "failure_rates",
    "mean_curves",
    "mean_interval",
    "policy_histogram",
    "proportion_interval",
    "quantiles",
    "regret_exponent",
    "survival",
    "time_to",
    "wilson_interval",
]
