"""The problem of an experiment, if it is of the kind that a formula is for."""

from __future__ import annotations

from typing import TypeVar

from committal.config.experiment import Experiment
from committal.config.problem import Problem
from committal.errors import ConfigTypeError

__all__ = ["problem_of"]

P = TypeVar("P", bound=Problem)


def problem_of(experiment: Experiment, kind: type[P]) -> P:
    """The problem of an experiment, which must be of this kind.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=0.1), steps=1)
    >>> problem_of(e, cm.Bandit)
    Bandit((1.0, 0.0))
    >>> problem_of(e, cm.TabularMDP)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigTypeError: Experiment.problem = Bandit((1.0, 0.0)) is not allowed; \
expected a TabularMDP, which this formula is for
    """
    if not isinstance(experiment.problem, kind):
        allowed = f"a {kind.__name__}, which this formula is for"
        raise ConfigTypeError("Experiment.problem", experiment.problem, allowed)
    return experiment.problem
