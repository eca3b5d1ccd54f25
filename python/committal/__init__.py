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
    MDP_RECORDABLE,
    RECORDABLE,
    Bandit,
    Constant,
    Decay,
    Direct,
    EpsilonGreedy,
    ExactQ,
    Expected,
    Experiment,
    Fixed,
    Gap,
    Gridworld,
    Maximum,
    MinVariance,
    Natural,
    OneSample,
    OnPolicy,
    Projected,
    Record,
    Reduce,
    Reinforce,
    RunningMean,
    Sigmoid,
    Softmax,
    TabularMDP,
    UniformMixture,
    Value,
    Values,
    Vanilla,
    grids,
    gridworld,
    keeps_exploring,
    robbins_monro,
)
from committal.errors import (
    CombinationError,
    CommittalError,
    ConfigError,
    ConfigTypeError,
    ExecutorError,
    StoreError,
    StoreWarning,
)

# Not lazily: these functions must replace the modules of the same names for good.
from committal.evaluate import Evaluation, evaluate, optimal
from committal.results import experiment_of
from committal.run import run
from committal.sequential import Precision
from committal.study import Study, study_of
from committal.study import open_store as open  # cm.open, as in other libraries
from committal.studyfile import read_study

if TYPE_CHECKING:
    from committal import analysis, exact, paper, plot, reference, theory
    from committal.analysis import FailureRate, compare, failure_rate, failure_rates
    from committal.exports import export
    from committal.gym import from_gymnasium, to_gymnasium

__all__ = [
    "MDP_RECORDABLE",
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
    "Evaluation",
    "ExactQ",
    "ExecutorError",
    "Expected",
    "Experiment",
    "FailureRate",
    "Fixed",
    "Gap",
    "Gridworld",
    "Maximum",
    "MinVariance",
    "Natural",
    "OnPolicy",
    "OneSample",
    "Precision",
    "Projected",
    "Record",
    "Reduce",
    "Reinforce",
    "RunningMean",
    "Sigmoid",
    "Softmax",
    "StoreError",
    "StoreWarning",
    "Study",
    "TabularMDP",
    "UniformMixture",
    "Value",
    "Values",
    "Vanilla",
    "__version__",
    "analysis",
    "compare",
    "errors",
    "evaluate",
    "exact",
    "experiment_of",
    "export",
    "failure_rate",
    "failure_rates",
    "from_gymnasium",
    "grids",
    "gridworld",
    "keeps_exploring",
    "open",
    "optimal",
    "paper",
    "plot",
    "read_study",
    "reference",
    "robbins_monro",
    "run",
    "study_of",
    "theory",
    "to_gymnasium",
]

# What is loaded on first use: name → (module, attribute), or the module itself.
_LAZY: dict[str, tuple[str, str | None]] = {
    "FailureRate": ("committal.analysis", "FailureRate"),
    "compare": ("committal.analysis", "compare"),
    "export": ("committal.exports", "export"),
    "failure_rate": ("committal.analysis", "failure_rate"),
    "failure_rates": ("committal.analysis", "failure_rates"),
    "from_gymnasium": ("committal.gym", "from_gymnasium"),
    "to_gymnasium": ("committal.gym", "to_gymnasium"),
    "analysis": ("committal.analysis", None),
    "exact": ("committal.exact", None),
    "paper": ("committal.paper", None),
    "plot": ("committal.plot", None),
    "reference": ("committal.reference", None),
    "theory": ("committal.theory", None),
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
