"""Rules of every problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from committal.config.base import Config, called, kinds
from committal.config.baselines import RunningMean
from committal.config.behaviours import Fixed
from committal.config.formula_update import FormulaUpdate
from committal.config.links import FormulaPolicy
from committal.config.mdp import TabularMDP
from committal.config.rules.refusal import Refusal, Rule
from committal.config.schedules import Schedule
from committal.config.updates import Projected, Update
from committal.support import limits

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["COMMON_RULES"]


def _update_suits_policy(e: Experiment) -> Refusal | None:
    if isinstance(e.policy, e.update.policies):
        return None
    legal = [called(c) for c in kinds(Update).values() if isinstance(e.policy, c.policies)]
    reason = "are not" if isinstance(e.update, Projected) else "are"
    policy = "link" if isinstance(e.policy, FormulaPolicy) else f"{type(e.policy).__name__} policy"
    allowed = f"{' or '.join(legal)} with a {policy}"
    if not isinstance(e.policy, FormulaPolicy) and not isinstance(e.update, FormulaUpdate):
        allowed += f" (its parameters {reason} probabilities, which are projected)"
    return Refusal("update", e.update, allowed)


def _schedules_last(e: Experiment) -> Refusal | None:
    for path in ("update", "estimator", "behaviour"):
        for name, value in _schedules(getattr(e, path)):
            if value.length is not None and value.length < e.steps:
                return Refusal(
                    f"{path}.{name}",
                    value,
                    f"at least one value per update, for steps = {e.steps} "
                    f"(there are {value.length})",
                )
            if e.steps > limits.SCHEDULE:
                return Refusal(
                    f"{path}.{name}",
                    value,
                    f"a constant for steps = {e.steps}: a table would not fit into memory beyond "
                    f"{limits.SCHEDULE} steps",
                )
    return None


def _schedules(part: Config) -> list[tuple[str, Schedule]]:
    values = part._arguments()
    return [(name, value) for name, value in values.items() if isinstance(value, Schedule)]


def _fixed_has_one_entry_per_arm(e: Experiment) -> Refusal | None:
    if not isinstance(e.behaviour, Fixed) or len(e.behaviour.probabilities) == e.problem.arms:
        return None
    mu = e.behaviour.probabilities
    noun = "action" if isinstance(e.problem, TabularMDP) else "arm"
    return Refusal(
        "behaviour.probabilities",
        mu,
        f"{e.problem.arms} numbers, one per {noun} (there are {len(mu)})",
    )


def _one_running_mean(e: Experiment) -> Refusal | None:
    if sum(isinstance(atom, RunningMean) for atom in e.baseline.atoms) < 2:
        return None
    return Refusal("baseline", e.baseline, "at most one kind of RunningMean in a baseline")


def _names_are_recorded(e: Experiment) -> Refusal | None:
    for name in e.record.names:
        if name not in e.problem.quantities and name not in {f.name for f in e.record.formulas}:
            problem = type(e.problem).__name__
            names = ", ".join(map(repr, e.problem.quantities))
            return Refusal("record.names", name, f"what a {problem} records: {names}")
    return None


def _times_are_reached(e: Experiment) -> Refusal | None:
    if e.record.at is None or e.record.at[-1] <= e.steps:
        return None
    return Refusal("record.at", e.record.at, f"times in [0, {e.steps}], for steps = {e.steps}")


def _times_fit_into_memory(e: Experiment) -> Refusal | None:
    every = e.record.every
    if every is None or e.steps // every < limits.TIMES:
        return None
    return Refusal(
        "record.every", every, f"fewer than {limits.written(limits.TIMES)} times in {e.steps} steps"
    )


def _histograms_have_ranges(e: Experiment) -> Refusal | None:
    reduce = e.record.reduce
    if reduce is None or reduce.bins is None:
        return None
    for name in e.record.names:
        row = e.record.quantity(name, e.problem)
        if row.reduces == "outcomes":
            continue
        if reduce.given_range(name) is None and row.range_of(e.problem) is None:
            return Refusal(
                "record.reduce.range",
                reduce._arguments()["range"],
                f"the ends of the histogram of {name!r}, as in range={{{name!r}: (lo, hi)}}",
            )
    return None


COMMON_RULES: tuple[Rule, ...] = (
    _update_suits_policy,
    _schedules_last,
    _fixed_has_one_entry_per_arm,
    _one_running_mean,
    _names_are_recorded,
    _times_are_reached,
    _times_fit_into_memory,
    _histograms_have_ranges,
)
