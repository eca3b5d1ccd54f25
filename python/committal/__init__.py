"""A microscope for policy-gradient dynamics.

Describe an experiment, run it many times, look at what happened:

>>> import committal as cm
>>> exp = cm.Experiment(
...     problem=cm.Bandit([1.0, 0.7, 0.0]),
...     policy=cm.Softmax([0, 3, 5]),
...     update=cm.Natural(step_size=0.025),
...     baseline=cm.MinVariance() + 0.5,
...     steps=1000,
... )
>>> data = cm.run(exp, runs=200, rng=0)
>>> float(cm.failure_rate(data, below=0.9)) < 0.05
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from committal import errors
from committal._version import __version__
from committal.config import (
    RECORDABLE,
    Bandit,
    Constant,
    Decay,
    Direct,
    EpsilonGreedy,
    Expected,
    Experiment,
    Fixed,
    Gap,
    Maximum,
    MinVariance,
    Natural,
    OneSample,
    OnPolicy,
    Projected,
    Record,
    Reduce,
    RunningMean,
    Sigmoid,
    Softmax,
    UniformMixture,
    Value,
    Values,
    Vanilla,
    keeps_exploring,
    robbins_monro,
)
from committal.errors import CombinationError, CommittalError, ConfigError, ConfigTypeError
from committal.results import experiment_of

# Not lazily: the function must replace the module of the same name for good.
from committal.run import run

if TYPE_CHECKING:
    from committal import analysis, plot, reference
    from committal.analysis import FailureRate, failure_rate

__all__ = [
    "RECORDABLE",
    "Bandit",
    "CombinationError",
    "CommittalError",
    "ConfigError",
    "ConfigTypeError",
    "Constant",
    "Decay",
    "Direct",
    "EpsilonGreedy",
    "Expected",
    "Experiment",
    "FailureRate",
    "Fixed",
    "Gap",
    "Maximum",
    "MinVariance",
    "Natural",
    "OnPolicy",
    "OneSample",
    "Projected",
    "Record",
    "Reduce",
    "RunningMean",
    "Sigmoid",
    "Softmax",
    "UniformMixture",
    "Value",
    "Values",
    "Vanilla",
    "__version__",
    "analysis",
    "errors",
    "experiment_of",
    "failure_rate",
    "keeps_exploring",
    "plot",
    "reference",
    "robbins_monro",
    "run",
]

# What is loaded on first use: name → (module, attribute), or the module itself.
_LAZY: dict[str, tuple[str, str | None]] = {
    "FailureRate": ("committal.analysis", "FailureRate"),
    "failure_rate": ("committal.analysis", "failure_rate"),
    "analysis": ("committal.analysis", None),
    "plot": ("committal.plot", None),
    "reference": ("committal.reference", None),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LAZY[name]
    found: Any = importlib.import_module(module)
    if attribute is not None:
        found = getattr(found, attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
