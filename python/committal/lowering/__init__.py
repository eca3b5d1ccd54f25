"""From an experiment, in words, to a plan, in numbers.

The fields of a plan are the arguments of a simulator of the core, by the same names. The names of
parts come from the parts themselves.
"""

from __future__ import annotations

from committal.config import (
    MDP_RECORDABLE,
    RECORDABLE,
    Bandit,
    Baseline,
    Behaviour,
    Estimator,
    ExactQ,
    Experiment,
    Group,
    OneSample,
    Policy,
    Reinforce,
    TabularMDP,
    Update,
    kinds,
    spelled_out,
)
from committal.config.bandit import NOISES
from committal.config.estimators import SOLVERS
from committal.errors import CombinationError, ConfigTypeError
from committal.lowering.bandit import BanditPlan, lower_bandit
from committal.lowering.mdp import MdpPlan, lower_mdp

__all__ = ["BanditPlan", "MdpPlan", "core_names", "lower"]


def lower(experiment: Experiment) -> BanditPlan | MdpPlan:
    """Turn an experiment into the numbers that the core needs.

    Parameters
    ----------
    experiment
        An experiment with a bandit or an MDP.

    Returns
    -------
    BanditPlan or MdpPlan
        Their arrays are read-only.

    Examples
    --------
    >>> from committal.config import Natural, Softmax
    >>> lower(Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), steps=9)).arms
    2
    """
    if not isinstance(experiment, Experiment):
        raise ConfigTypeError("experiment", experiment, "an Experiment")
    experiment = spelled_out(experiment)
    if isinstance(experiment.problem, TabularMDP):
        return lower_mdp(experiment, experiment.problem)
    if isinstance(experiment.problem, Bandit):
        return lower_bandit(experiment, experiment.problem)
    raise CombinationError("Experiment.problem", experiment.problem, "a Bandit or a TabularMDP")


def core_names() -> dict[str, tuple[str, ...]]:
    """Return every name that Python may send to the core, by concern.

    Examples
    --------
    >>> core_names()["policies"]
    ('direct', 'softmax')
    """
    in_episodes = (ExactQ, Reinforce)
    in_bandits = (Group, OneSample)
    estimators = kinds(Estimator).values()
    found = {
        "baselines": [name for cls in kinds(Baseline).values() for name in cls.core_names()],
        "behaviours": [cls.core_name for cls in kinds(Behaviour).values()],
        "noises": ["deterministic", *NOISES],
        "updates": [cls.core_name for cls in kinds(Update).values()],
        "mdp_updates": [cls.core_name for cls in kinds(Update).values() if cls.in_mdps],
        "policies": [cls.core_name for cls in kinds(Policy).values()],
        "estimators": [cls.core_name for cls in estimators if cls not in in_episodes],
        "recorders": RECORDABLE,
        "mdp_estimators": [cls.core_name for cls in estimators if cls not in in_bandits],
        "mdp_recorders": MDP_RECORDABLE,
        "solvers": SOLVERS,
    }
    return {concern: tuple(sorted(set(names))) for concern, names in found.items()}
