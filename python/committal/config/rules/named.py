"""Rules of the parts that have a name: what they are refused for before they are spelled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committal.config.behaviours import Fixed, OnPolicy
from committal.config.critic import Critic
from committal.config.estimators import Expected, Reinforce
from committal.config.formula_baseline import FormulaBaseline
from committal.config.formula_update import FormulaUpdate
from committal.config.groups import Group
from committal.config.mdp import TabularMDP
from committal.config.optimisers import Plain
from committal.config.policies import Direct, Sigmoid, Softmax
from committal.config.regularisers import Entropy
from committal.config.rules.formulas import formulas_of
from committal.config.rules.refusal import Refusal, Rule
from committal.config.scaled import ScaledPolicy
from committal.config.schedules import Decay, Schedule
from committal.config.snapshot import Snapshot
from committal.config.spelled import reference_of
from committal.config.updates import Natural, Projected, Vanilla
from committal.formula.shapes import SAMPLE
from committal.support import limits

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["NAMED_RULES"]


def _groups_of_episodes(e: Experiment) -> Refusal | None:
    group = e.estimator
    if not isinstance(group, Group):
        return None
    if not isinstance(e.problem, TabularMDP):
        if group.starts == "drawn":
            return None
        allowed = "'drawn' with a Bandit, which has one start; contexts() makes an MDP of several"
        return Refusal("estimator.starts", group.starts, allowed)
    if group.starts == "each" and len(set(e.problem.start_distribution.tolist()) - {0.0}) > 1:
        allowed = "'drawn' where starts are not equally probable"
        return Refusal("estimator.starts", group.starts, allowed)
    if not isinstance(e.behaviour, OnPolicy | Snapshot):
        allowed = "OnPolicy or Snapshot with a Group and an MDP; use Reinforce"
        return Refusal("behaviour", e.behaviour, allowed)
    if group.centre is None and group.scale is None:
        return None
    for atom in e.baseline.atoms:
        if isinstance(atom, Critic | FormulaBaseline):
            allowed = (
                "Constant or RunningMean with a centre or a scale and an MDP: a return is of no "
                "single state; use Group(centre=None)"
            )
            return Refusal("baseline", atom, allowed)
    return None


def _epochs_move_a_softmax(e: Experiment) -> Refusal | None:
    epochs = getattr(e.estimator, "epochs", 1)
    if epochs == 1:
        return None
    if isinstance(e.policy, Direct | Sigmoid):
        instead = "Softmax([theta, 0])" if isinstance(e.policy, Sigmoid) else "Softmax"
        return Refusal("estimator.epochs", epochs, f"1 with this policy; use {instead}")
    if isinstance(e.behaviour, Fixed):
        allowed = "OnPolicy or Snapshot with more than one epoch: no policy of ours drew these"
        return Refusal("behaviour", e.behaviour, allowed)
    if isinstance(e.update.step_size, Schedule):
        allowed = "a constant with more than one epoch"
        return Refusal("update.step_size", e.update.step_size, allowed)
    tau = getattr(e.update, "entropy", 0.0) or getattr(e.regulariser, "strength", 0.0)
    if isinstance(tau, Schedule):
        return Refusal("update.entropy", tau, "a constant with more than one epoch")
    implicit = getattr(e.estimator, "implicit", 0.0)
    if isinstance(implicit, Schedule):
        return Refusal("estimator.implicit", implicit, "a constant with more than one epoch")
    return None


def _snapshots_are_weighed_by_action(e: Experiment) -> Refusal | None:
    if not isinstance(e.behaviour, Snapshot):
        return None
    if isinstance(e.problem, TabularMDP):
        weighed = isinstance(e.update, FormulaUpdate) or getattr(e.estimator, "weight", None)
        if not (isinstance(e.estimator, Group) or (isinstance(e.estimator, Reinforce) and weighed)):
            allowed = (
                "OnPolicy or UniformMixture with an MDP and this estimator: a Snapshot is for "
                "Group and Reinforce(weight=...), whose weights are those of single actions"
            )
            return Refusal("behaviour", e.behaviour, allowed)
        for quantity in e.record.formulas:
            if "mu" in quantity.names:
                allowed = "a formula without mu with a Snapshot and an MDP"
                return Refusal("record.names", quantity, allowed)
    if e.steps > limits.SCHEDULE:
        return Refusal("steps", e.steps, f"at most {limits.SCHEDULE} with a Snapshot")
    if "variance" in e.record.names:
        return Refusal("record.names", e.record.names, "names without 'variance' with a Snapshot")
    return None


def _weights_are_of_products(e: Experiment) -> Refusal | None:
    weight = getattr(e.estimator, "weight", None)
    if weight is None or not isinstance(e.update, FormulaUpdate):
        return None
    if not isinstance(e.estimator, Group | Expected):
        return None
    allowed = "None with an update that is a formula: it says itself what a sample weighs"
    return Refusal("estimator.weight", weight, allowed)


def _scales_are_of_products(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, Group) or e.estimator.scale is None:
        return None
    if isinstance(e.update, FormulaUpdate) and not isinstance(e.problem, TabularMDP):
        allowed = "None with an update that is a formula: A / std(R) in it says the same"
        return Refusal("estimator.scale", e.estimator.scale, allowed)
    if isinstance(e.policy, Direct):
        allowed = "None with a Direct policy; use Softmax"
        return Refusal("estimator.scale", e.estimator.scale, allowed)
    return None


def _centres_have_no_states(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, Group) or e.estimator.centre is None:
        return None
    for atom in e.baseline.atoms:
        if isinstance(atom, FormulaBaseline) and atom.state and atom.tree.result.shape == SAMPLE:
            allowed = "one without a state, or Group(centre=None): a centre takes numbers out"
            return Refusal("baseline", atom, allowed)
    return None


def _expected_weights_are_of_bandits(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, Expected) or e.estimator.weight is None:
        return None
    if isinstance(e.problem, TabularMDP):
        return Refusal("estimator.weight", e.estimator.weight, "None with an MDP; use ExactQ")
    if isinstance(e.policy, Direct | Sigmoid):
        return Refusal("estimator.weight", e.estimator.weight, "None, or a Softmax policy")
    return None


def _expected_formulas_are_of_bandits(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, Expected):
        return None
    in_states = isinstance(e.problem, TabularMDP)
    if isinstance(e.update, FormulaUpdate) and in_states:
        allowed = "ExactQ or Reinforce: the expectation of a formula is taken in bandits only"
        return Refusal("estimator", e.estimator, allowed)
    atoms = [atom for atom in e.baseline.atoms if isinstance(atom, FormulaBaseline)]
    if atoms and (in_states or isinstance(e.policy, Direct | Sigmoid)):
        allowed = (
            "one of theta only that is no formula, such as Value(), with Expected(): no baseline "
            "changes its direction"
        )
        return Refusal("baseline", atoms[0], allowed)
    return None


def _scales_are_of_natural_steps(e: Experiment) -> Refusal | None:
    """A policy with a scale is kept in coordinates of its own, which nobody else may look at."""
    if not isinstance(e.policy, ScaledPolicy):
        return None
    called, arms = type(e.policy).__name__, e.problem.arms
    if isinstance(e.problem, TabularMDP):
        return Refusal("policy", e.policy, f"Softmax with an MDP ({called} is for bandits)")
    if e.policy.theta0 is not None and len(e.policy.theta0) != arms:
        allowed = f"{arms} numbers, one per arm (there are {len(e.policy.theta0)})"
        return Refusal("policy.theta0", e.policy.theta0, allowed)
    if not isinstance(e.update, Natural | FormulaUpdate):
        allowed = f"Natural or cm.update(...) with a {called} policy; Vanilla is for Softmax"
        return Refusal("update", e.update, allowed)
    if not isinstance(e.optimiser, Plain):
        return Refusal("optimiser", e.optimiser, f"Plain with a {called} policy; use Softmax")
    if getattr(e.estimator, "epochs", 1) > 1:
        allowed = f"1 with a {called} policy; use Softmax"
        return Refusal("estimator.epochs", e.estimator.epochs, allowed)  # type: ignore[attr-defined]
    if e.regulariser is not None:
        allowed = f"None with a {called} policy, which is regularised by its scale"
        return Refusal("regulariser", e.regulariser, allowed)
    tau = getattr(e.update, "entropy", 0.0)
    if tau != 0.0:
        allowed = f"0 with a {called} policy, which is regularised by its scale"
        return Refusal("update.entropy", tau, allowed)
    for where, x in (
        ("policy.scale", e.policy.scale),
        ("update.step_size", e.update.step_size),
        ("estimator.implicit", getattr(e.estimator, "implicit", 0.0)),
    ):
        if isinstance(x, Schedule) and not isinstance(x, Decay):
            allowed = f"a number or Decay with a {called} policy: it becomes a formula of t"
            return Refusal(where, x, allowed)
    if "theta" in e.record.names:
        allowed = f"names without 'theta' with a {called} policy, of which 'policy' says all"
        return Refusal("record.names", e.record.names, allowed)
    for where, part, formula in formulas_of(e):
        seen = sorted({"theta", "theta0", "score"} & set(formula.names))
        if seen:
            allowed = f"a formula without {seen[0]} with a {called} policy; pi is known"
            return Refusal(where, part, allowed)
    return None


def _regulariser_suits(e: Experiment) -> Refusal | None:
    regulariser = e.regulariser
    if regulariser is None:
        return None
    entropy = isinstance(regulariser, Entropy)
    in_reward = getattr(regulariser, "form", "") == "reward"
    if isinstance(e.update, FormulaUpdate) and not in_reward:
        allowed = "None with an update that is a formula: its term can be written there"
        return Refusal("regulariser", regulariser, allowed)
    if isinstance(e.update, Projected) or isinstance(e.policy, Direct):
        return Refusal("regulariser", regulariser, "None with a Direct policy; use Softmax")
    if not isinstance(e.policy, Softmax | Sigmoid) and isinstance(regulariser.strength, Schedule):
        return Refusal("regulariser.strength", regulariser.strength, "a number with a link")
    if isinstance(e.policy, Sigmoid) and not entropy and not in_reward:
        return Refusal("regulariser", regulariser, "Entropy, or Softmax([theta, 0]) for Sigmoid")
    if isinstance(e.update, Natural | Vanilla) and e.update.entropy != 0.0:
        return Refusal("update.entropy", e.update.entropy, "0 with a regulariser, or Entropy")
    implicit = getattr(e.estimator, "implicit", 0.0)
    if isinstance(implicit, Schedule) and not entropy:
        return Refusal("estimator.implicit", implicit, "a number with a regulariser")
    if isinstance(e.problem, TabularMDP):
        return _regulariser_suits_episodes(e)
    return None


def _regulariser_suits_episodes(e: Experiment) -> Refusal | None:
    regulariser = e.regulariser
    assert regulariser is not None
    if isinstance(e.estimator, Expected):
        return Refusal("regulariser", regulariser, "None with Expected and an MDP; use ExactQ")
    if not isinstance(e.behaviour, OnPolicy):
        return Refusal("behaviour", e.behaviour, "OnPolicy with a regulariser and an MDP")
    if isinstance(regulariser.strength, Schedule):
        return Refusal("regulariser.strength", regulariser.strength, "a number with an MDP")
    if getattr(regulariser, "form", "") == "reward":
        return Refusal("regulariser.form", "reward", "'exact', 'k1', 'k2' or 'k3' with an MDP")
    by_state = np.ndim(getattr(e.policy, "theta0", None) or ()) == 2
    if by_state and getattr(regulariser, "reference", "") == "start":
        allowed = "probabilities, or a start that is the same in every state"
        return Refusal("regulariser.reference", "start", allowed)
    return None


def _reference_has_one_entry_per_arm(e: Experiment) -> Refusal | None:
    given = getattr(e.regulariser, "reference", None)
    if given is None or given == "uniform":
        return None
    if isinstance(given, str) or len(given) == e.problem.arms:
        if e.problem.arms <= limits.REFERENCE or len(set(reference_of(e).tolist())) == 1:
            return None
        allowed = f"'uniform', or at most {limits.REFERENCE} arms (there are {e.problem.arms})"
        return Refusal("regulariser.reference", given, allowed)
    noun = "action" if isinstance(e.problem, TabularMDP) else "arm"
    allowed = f"{e.problem.arms} numbers, one per {noun} (there are {len(given)})"
    return Refusal("regulariser.reference", given, allowed)


NAMED_RULES: tuple[Rule, ...] = (
    _groups_of_episodes,
    _epochs_move_a_softmax,
    _snapshots_are_weighed_by_action,
    _weights_are_of_products,
    _scales_are_of_products,
    _centres_have_no_states,
    _expected_weights_are_of_bandits,
    _expected_formulas_are_of_bandits,
    _scales_are_of_natural_steps,
    _regulariser_suits,
    _reference_has_one_entry_per_arm,
)
