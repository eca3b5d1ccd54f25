"""Rules of formulas: which of them go with which other parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from committal.config.behaviours import OnPolicy
from committal.config.estimators import OneSample, Reinforce
from committal.config.formula_baseline import FormulaBaseline
from committal.config.formula_quantity import DRAWN
from committal.config.formula_update import FormulaUpdate
from committal.config.groups import Group
from committal.config.links import FormulaPolicy
from committal.config.mdp import TabularMDP
from committal.config.optimisers import Plain
from committal.config.policies import Direct, Sigmoid
from committal.config.rules.refusal import Refusal, Rule
from committal.config.snapshot import Snapshot
from committal.formula.formula import Formula
from committal.formula.tree import INPUT, NUMBER

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["FORMULA_RULES", "formulas_of"]


def formulas_of(e: Experiment) -> Iterator[tuple[str, object, Formula]]:
    """The formulas of an experiment: where, which part, and the formula itself."""
    for atom in e.baseline.atoms:
        if isinstance(atom, FormulaBaseline):
            yield "baseline", atom, atom.tree
    weight = getattr(e.estimator, "weight", None)
    if weight is not None:
        yield "estimator.weight", weight, weight.tree
    if isinstance(e.update, FormulaUpdate):
        yield "update", e.update, e.update.tree
    if isinstance(e.policy, FormulaPolicy):
        yield "policy", e.policy, e.policy.tree
    optimiser = e.optimiser.tree
    if optimiser is not None:
        yield "optimiser", e.optimiser, optimiser
    for quantity in e.record.formulas:
        yield "record.names", quantity, quantity.tree


def _arms_exist(e: Experiment) -> Refusal | None:
    for where, part, formula in formulas_of(e):
        for node in formula.nodes():
            if node.op not in ("gather", "onehot") or node.operands[-1].op == INPUT:
                continue
            index = node.operands[-1]
            arm = index.value if index.op == NUMBER else dict(formula.parameters)[index.name]
            if not (arm == int(arm) and 0 <= arm < e.problem.arms):
                allowed = f"whole numbers of arms from 0 to {e.problem.arms - 1} (here {arm:g})"
                return Refusal(where, part, allowed)
    return None


def _groups_have_others(e: Experiment) -> Refusal | None:
    samples = e.estimator.samples if isinstance(e.estimator, OneSample) else 1
    arms = e.problem.arms
    for where, part, formula in formulas_of(e):
        for node in formula.nodes():
            if node.op != "others_mean":
                continue
            if node.over == "samples" and samples < 2:
                return Refusal(where, part, "two samples or more: one has no others")
            if node.over == "arms" and arms < 2 and where != "optimiser":
                return Refusal(where, part, "two arms or more: one has no others")
    return None


def _sigmoid_has_no_vector_of_parameters(e: Experiment) -> Refusal | None:
    if not isinstance(e.policy, Sigmoid):
        return None
    for where, part, formula in formulas_of(e):
        if {"theta", "theta0", "g"} & set(formula.names):
            return Refusal(where, part, "Softmax([theta, 0]) with it: a Sigmoid has one parameter")
    if isinstance(e.optimiser, Plain):
        return None
    return Refusal("optimiser", e.optimiser, "Plain with a Sigmoid policy; use Softmax([theta, 0])")


def _rho_is_one_thing(e: Experiment) -> Refusal | None:
    """With implicit exploration the weight of a sample is not pi / mu."""
    implicit = getattr(e.estimator, "implicit", 0.0)
    if implicit == 0.0:
        return None
    for where, part, formula in formulas_of(e):
        if "rho" in formula.names:
            allowed = "a formula without rho where OneSample(implicit=...) is not 0: pi[a] / mu[a]"
            return Refusal(where, part, allowed)
    return None


def _direct_is_projected(e: Experiment) -> Refusal | None:
    if not isinstance(e.policy, Direct):
        return None
    if not isinstance(e.optimiser, Plain):
        return Refusal("optimiser", e.optimiser, "Plain with a Direct policy, which is projected")
    weight = getattr(e.estimator, "weight", None)
    if weight is not None:
        return Refusal("estimator.weight", weight, "None with a Direct policy; use Softmax")
    return None


def _link_starts_as_a_policy(e: Experiment) -> Refusal | None:
    if not isinstance(e.policy, FormulaPolicy):
        return None
    scored = not isinstance(e.update, FormulaUpdate) or "score" in e.update.names
    why = e.policy.refusal_at_start(e.problem.arms, slopes=scored)
    if why:
        return Refusal("policy.theta0", e.policy.theta0, why)
    if isinstance(e.update, FormulaUpdate) and "natural" in e.update.names:
        return Refusal("update", e.update, "an update without `natural`, which is for Softmax")
    tau = getattr(e.update, "entropy", 0.0)
    if tau != 0.0:
        return Refusal("update.entropy", tau, "0 with a link; it is for Softmax and Sigmoid")
    return None


def _states_are_of_mdps(e: Experiment) -> Refusal | None:
    for quantity in e.record.formulas:
        if quantity.states is not None and not e.problem.by_state:
            allowed = "None with a Bandit, which has no states"
            return Refusal(f"record.{quantity.name}.states", quantity.states, allowed)
    return None


def _episodes_know_what_they_use(e: Experiment) -> Refusal | None:
    """In an MDP a state has no batch, and REINFORCE knows no Q."""
    if not isinstance(e.problem, TabularMDP):
        return None
    for where, part, formula in formulas_of(e):
        if where == "record.names":
            drawn = sorted(DRAWN & set(formula.names))
            if drawn:
                allowed = (
                    "a formula of pi, r, theta, theta0, mu, t and K with an MDP: "
                    f"{drawn[0]} is of a visit, and it is looked at in every state"
                )
                return Refusal(where, part, allowed)
            continue
        if where == "baseline" or where == "optimiser":
            continue
        names = set(formula.names)
        if isinstance(e.estimator, Reinforce | Group) and "r" in names:
            return Refusal(where, part, "a formula without r: returns know no Q; use ExactQ")
    if isinstance(e.estimator, Reinforce) and not isinstance(e.behaviour, OnPolicy | Snapshot):
        if e.estimator.weight is not None:
            return Refusal(
                "behaviour", e.behaviour, "OnPolicy or Snapshot with a weight of Reinforce"
            )
        if isinstance(e.update, FormulaUpdate):
            return Refusal(
                "behaviour", e.behaviour, "OnPolicy or Snapshot with a formula and Reinforce"
            )
    return None


def _formulas_weigh_themselves(e: Experiment) -> Refusal | None:
    weight = getattr(e.estimator, "weight", None)
    if weight is None or not isinstance(e.update, FormulaUpdate):
        return None
    allowed = "None with an update that is a formula: it is the whole step, the weight included"
    return Refusal("estimator.weight", weight, allowed)


def _variance_is_that_of_a_product(e: Experiment) -> Refusal | None:
    if "variance" not in e.record.names:
        return None
    for where, part, _ in formulas_of(e):
        if where in ("optimiser", "record.names"):
            continue
        if isinstance(part, FormulaBaseline) and not part.looks_at_batch:
            continue
        allowed = f"names without 'variance' while {where} is a formula of the sample"
        return Refusal("record.names", e.record.names, allowed)
    return None


FORMULA_RULES: tuple[Rule, ...] = (
    _formulas_weigh_themselves,
    _variance_is_that_of_a_product,
    _arms_exist,
    _groups_have_others,
    _sigmoid_has_no_vector_of_parameters,
    _rho_is_one_thing,
    _direct_is_projected,
    _link_starts_as_a_policy,
    _states_are_of_mdps,
    _episodes_know_what_they_use,
)
