"""Rules of the bandits: which parts go together when arms are drawn one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committal.config.bandit import Bandit
from committal.config.baselines import Gap
from committal.config.estimators import ExactQ, OneSample, Reinforce
from committal.config.formula_baseline import FormulaBaseline
from committal.config.links import FormulaPolicy
from committal.config.policies import Direct, Sigmoid, Softmax
from committal.config.quantities import BANDIT_QUANTITIES
from committal.config.rules.refusal import Refusal, Rule
from committal.config.updates import Vanilla
from committal.support import limits

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["BANDIT_RULES", "UNDRAWN_RULES"]


def _arms_draw_samples(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, ExactQ | Reinforce):
        return None
    name = type(e.estimator).__name__
    return Refusal(
        "estimator", e.estimator, f"OneSample or Expected with a Bandit ({name} is for MDPs)"
    )


def _direct_has_no_entropy(e: Experiment) -> Refusal | None:
    if isinstance(e.policy, Direct) and isinstance(e.update, Vanilla) and e.update.entropy != 0.0:
        return Refusal(
            "update.entropy",
            e.update.entropy,
            "0 with a Direct policy; entropy regularisation needs a Softmax or Sigmoid policy",
        )
    return None


def _start_has_one_entry_per_arm(e: Experiment) -> Refusal | None:
    names = {Softmax: "theta0", FormulaPolicy: "theta0", Direct: "probabilities"}
    name = names.get(type(e.policy))
    start = getattr(e.policy, name) if name else None
    if start is None:
        return None
    if isinstance(start[0], tuple):
        return Refusal(f"policy.{name}", start, "one number per arm, without states")
    if len(start) == e.problem.arms:
        return None
    return Refusal(
        f"policy.{name}", start, f"{e.problem.arms} numbers, one per arm (there are {len(start)})"
    )


def _sigmoid_has_two_arms(e: Experiment) -> Refusal | None:
    if isinstance(e.policy, Sigmoid) and e.problem.arms != 2:
        return Refusal(
            "policy", e.policy, f"Softmax for {e.problem.arms} arms; Sigmoid is for two arms"
        )
    return None


def _gap_exists(e: Experiment) -> Refusal | None:
    if not any(isinstance(atom, Gap) for atom in e.baseline.atoms):
        return None
    if isinstance(e.problem, Bandit) and e.problem.arms >= 2 and e.problem.gap > 0.0:
        return None
    return Refusal(
        "baseline",
        e.baseline,
        "a problem with two arms or more and a single best one, to use Gap; "
        "otherwise use Maximum or Constant",
    )


def _expected_draws_nothing(e: Experiment) -> Refusal | None:
    if e.estimator.draws:
        return None
    if not all(atom.depends_on_theta_only for atom in e.baseline.atoms):
        return Refusal(
            "baseline",
            e.baseline,
            f"a baseline that depends on theta only: Expected draws no rewards, and {_named(e)} "
            "looks at them; use Value, or OneSample and exact.expected_path for its expectation",
        )
    known = {
        **BANDIT_QUANTITIES,
        **{formula.name: formula.row_in(e.problem) for formula in e.record.formulas},
    }
    quantities = [known[name] for name in e.record.names if name in known]
    drawn = [quantity.name for quantity in quantities if quantity.drawn]
    if drawn:
        return Refusal(
            "record.names",
            e.record.names,
            f"names without {' and '.join(map(repr, drawn))}: Expected draws nothing; "
            "use 'policy' and 'value', or OneSample",
        )
    return None


def _named(e: Experiment) -> str:
    """The first part of a baseline that needs what is drawn."""
    atom = next(atom for atom in e.baseline.atoms if not atom.depends_on_theta_only)
    return repr(atom) if isinstance(atom, FormulaBaseline) else type(atom).__name__


def _draws_fit_the_stream(e: Experiment) -> Refusal | None:
    samples = e.estimator.samples if isinstance(e.estimator, OneSample) else 1
    if e.steps * samples < limits.DRAWS:
        return None
    most = limits.written(limits.DRAWS)
    return Refusal("steps", e.steps, f"steps * samples < {most} (samples is {samples})")


def _offset_is_of_moderate_size(e: Experiment) -> Refusal | None:
    assert isinstance(e.problem, Bandit)
    offset = e.baseline.folded(np.array(e.problem.means))
    if abs(offset) <= limits.MAGNITUDE:
        return None
    return Refusal(
        "baseline",
        e.baseline,
        f"numbers that add up to at most {limits.MAGNITUDE:g} in magnitude (here {offset:g})",
    )


#: What holds where nothing is drawn, however that is spelled out.
UNDRAWN_RULES: tuple[Rule, ...] = (_expected_draws_nothing,)

BANDIT_RULES: tuple[Rule, ...] = (
    _arms_draw_samples,
    _direct_has_no_entropy,
    _start_has_one_entry_per_arm,
    _sigmoid_has_two_arms,
    _gap_exists,
    _offset_is_of_moderate_size,
    _expected_draws_nothing,
    _draws_fit_the_stream,
)
