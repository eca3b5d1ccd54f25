"""Rules of the MDPs: which parts go together when there are states and episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committal.config.base import called, kinds
from committal.config.baselines import RunningMean
from committal.config.escort import Escort
from committal.config.estimators import ExactQ, Expected, Reinforce
from committal.config.formula_baseline import FormulaBaseline
from committal.config.groups import Group
from committal.config.links import FormulaPolicy
from committal.config.mdp import TabularMDP
from committal.config.policies import Softmax
from committal.config.rules.refusal import Refusal, Rule
from committal.config.updates import Update
from committal.support import limits

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["MDP_RULES"]


_POLICIES = (Softmax, Escort, FormulaPolicy)


def _mdp(e: Experiment) -> TabularMDP:
    assert isinstance(e.problem, TabularMDP)
    return e.problem


def _policy_is_of_one_parameter_per_action(e: Experiment) -> Refusal | None:
    if isinstance(e.policy, _POLICIES):
        return None
    return Refusal("policy", e.policy, "Softmax, Escort or a link with an MDP")


def _start_has_one_entry_per_pair(e: Experiment) -> Refusal | None:
    assert isinstance(e.policy, _POLICIES)
    S, A = _mdp(e).n_states, _mdp(e).n_actions
    shape = () if e.policy.theta0 is None else np.shape(e.policy.theta0)
    if shape in ((), (A,), (S, A)):
        return None
    return Refusal(
        "policy.theta0",
        e.policy.theta0,
        f"{A} numbers, one per action, or {S} rows of them, one per state (the shape is {shape})",
    )


def _episodes_are_estimated(e: Experiment) -> Refusal | None:
    if isinstance(e.estimator, ExactQ | Reinforce | Group | Expected):
        return None
    return Refusal("estimator", e.estimator, "ExactQ, Reinforce, Group or Expected with an MDP")


def _update_is_for_episodes(e: Experiment) -> Refusal | None:
    if e.update.in_mdps:
        return None
    legal = [called(cls) for cls in kinds(Update).values() if cls.in_mdps]
    return Refusal("update", e.update, f"{' or '.join(legal)} with an MDP")


def _no_entropy(e: Experiment) -> Refusal | None:
    tau = getattr(e.update, "entropy", 0.0)
    if tau == 0.0:
        return None
    return Refusal("update.entropy", tau, "0 with an MDP: it is for bandits only")


def _baseline_is_known(e: Experiment) -> Refusal | None:
    found = e.baseline.atoms
    for atom in found:
        if atom.not_in_mdps:
            return Refusal("baseline", e.baseline, f"a baseline for MDPs: {atom.not_in_mdps}")
    if sum(isinstance(atom, FormulaBaseline) and bool(atom.state) for atom in found) > 1:
        allowed = (
            "one term with a state (Critic, or a formula) in an MDP: two states in one formula"
        )
        return Refusal("baseline", e.baseline, allowed)
    if isinstance(e.estimator, Reinforce | Group):
        if not any(atom.needs_values for atom in found):
            return None
        return Refusal(
            "baseline",
            e.baseline,
            "Constant, RunningMean or Critic with Reinforce, or a formula without r: it knows no "
            "Q; the others are for ExactQ",
        )
    if any(isinstance(atom, RunningMean) for atom in found):
        return Refusal(
            "baseline",
            e.baseline,
            "a baseline without RunningMean, which is of returns; use Critic, Value, or Reinforce",
        )
    return None


def _moves_fit_the_stream(e: Experiment) -> Refusal | None:
    limit, most = _mdp(e).limit, limits.written(limits.DRAWS)
    samples = e.estimator.episodes(_mdp(e)) if isinstance(e.estimator, Group) else 1
    if samples > limits.SAMPLES:
        allowed = f"at most {limits.SAMPLES} episodes of an update (here {samples})"
        return Refusal("estimator", e.estimator, allowed)
    if (e.steps + 1) * limit * samples < limits.DRAWS:
        return None
    if samples == 1:
        return Refusal("steps", e.steps, f"(steps + 1) * limit < {most} (limit is {limit})")
    allowed = f"(steps + 1) * limit * samples < {most} (limit is {limit}, samples are {samples})"
    return Refusal("steps", e.steps, allowed)


MDP_RULES: tuple[Rule, ...] = (
    _policy_is_of_one_parameter_per_action,
    _start_has_one_entry_per_pair,
    _episodes_are_estimated,
    _update_is_for_episodes,
    _no_entropy,
    _baseline_is_known,
    _moves_fit_the_stream,
)
