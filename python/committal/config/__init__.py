"""What to simulate: validated, immutable descriptions that print, compare, hash and serialise."""

from committal.config import grids
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
from committal.config.estimators import Estimator, ExactQ, Expected, OneSample, Reinforce
from committal.config.experiment import Experiment
from committal.config.gridworld import Gridworld, gridworld
from committal.config.mdp import TabularMDP
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.problems import Bandit, Problem
from committal.config.record import MDP_RECORDABLE, RECORDABLE, Record, Reduce
from committal.config.schedules import (
    Decay,
    Schedule,
    Values,
    keeps_exploring,
    robbins_monro,
)
from committal.config.updates import Natural, Projected, Update, Vanilla

__all__ = [
    "MDP_RECORDABLE",
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
    "ExactQ",
    "Expected",
    "Experiment",
    "Fixed",
    "Gap",
    "Gridworld",
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
    "Reinforce",
    "RunningMean",
    "Schedule",
    "Sigmoid",
    "Softmax",
    "TabularMDP",
    "UniformMixture",
    "Update",
    "Value",
    "Values",
    "Vanilla",
    "grids",
    "gridworld",
    "keeps_exploring",
    "kinds",
    "robbins_monro",
]
