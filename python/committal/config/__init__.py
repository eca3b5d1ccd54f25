"""What to simulate: validated, immutable descriptions that print, compare, hash and serialise."""

from committal.config.base import Config, kinds
from committal.config.baselines import (
    Baseline,
    Constant,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    RunningMean,
    Value,
)
from committal.config.behaviours import Behaviour, EpsilonGreedy, Fixed, OnPolicy, UniformMixture
from committal.config.estimators import Estimator, Expected, OneSample
from committal.config.experiment import Experiment
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.problems import Bandit, Problem
from committal.config.record import RECORDABLE, Record, Reduce
from committal.config.schedules import (
    Decay,
    Schedule,
    Values,
    keeps_exploring,
    robbins_monro,
)
from committal.config.updates import Natural, Projected, Update, Vanilla

__all__ = [
    "RECORDABLE",
    "Bandit",
    "Baseline",
    "Behaviour",
    "Config",
    "Constant",
    "Decay",
    "Direct",
    "EpsilonGreedy",
    "Estimator",
    "Expected",
    "Experiment",
    "Fixed",
    "Gap",
    "Linear",
    "Maximum",
    "MinVariance",
    "Natural",
    "OnPolicy",
    "OneSample",
    "Policy",
    "Problem",
    "Projected",
    "Record",
    "Reduce",
    "RunningMean",
    "Schedule",
    "Sigmoid",
    "Softmax",
    "UniformMixture",
    "Update",
    "Value",
    "Values",
    "Vanilla",
    "keeps_exploring",
    "kinds",
    "robbins_monro",
]
