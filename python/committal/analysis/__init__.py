"""Answers from results: rates, and the intervals that say how well they are known."""

from committal.analysis.rates import FailureRate, failure_rate, wilson_interval

__all__ = ["FailureRate", "failure_rate", "wilson_interval"]
