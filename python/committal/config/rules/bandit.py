"""Rules: which parts of an experiment go together.

Each rule looks at one experiment and returns None, or why it is refused: the argument (a dotted
path), its value and what is allowed. Rules that hold for every problem are here, with those of
the bandits; those of the MDPs have a file of their own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from committal.config.bandit import Bandit
from committal.config.baselines import Gap, RunningMean
from committal.config.behaviours import Fixed
from committal.config.estimators import ExactQ, Expected, OneSample, Reinforce
from committal.config.mdp import TabularMDP
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.record import CATEGORICAL
from committal.config.rules.mdp import MDP_RULES
from committal.config.rules.refusal import Refusal, Rule, atoms
from committal.config.updates import Natural, Projected, Update, Vanilla

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["MOST_DRAWS", "refusal_of"]

#: The draws of one run stay below this: the counters of the random streams hold no more.
MOST_DRAWS = 2**56

#: Which updates go with which policy, and why not the others.
LEGAL_UPDATES: dict[type[Policy], tuple[tuple[type[Update], ...], str]] = {
    Softmax: ((Natural, Vanilla), "its parameters are not probabilities to be projected"),
    Sigmoid: ((Natural, Vanilla), "its parameter is not a probability to be projected"),
    Direct: ((Vanilla, Projected), "its parameters are probabilities and must be projected"),
}


def refusal_of(e: Experiment) -> Refusal | None:
    """Return why an experiment is refused, None if its parts go together."""
    rules = MDP_RULES if isinstance(e.problem, TabularMDP) else BANDIT_RULES
    return next((found for rule in (*rules, *COMMON_RULES) if (found := rule(e))), None)


# -- bandits ---------------------------------------------------------------------------------------


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
    name = {Softmax: "theta0", Direct: "probabilities"}.get(type(e.policy))
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
    if not any(isinstance(atom, Gap) for atom in atoms(e.baseline)):
        return None
    if isinstance(e.problem, Bandit) and e.problem.arms >= 2 and 0.0 < e.problem.gap < math.inf:
        return None
    return Refusal(
        "baseline",
        e.baseline,
        "a problem with two arms or more and a single best one, to use Gap; "
        "otherwise use Maximum or Constant",
    )


def _expected_draws_nothing(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, Expected):
        return None
    if any(isinstance(atom, RunningMean) for atom in atoms(e.baseline)):
        return Refusal(
            "baseline",
            e.baseline,
            "a baseline without RunningMean: Expected draws no rewards; use Value or OneSample",
        )
    drawn = [name for name in e.record.names if name in ("action", "reward")]
    if drawn:
        return Refusal(
            "record.names",
            e.record.names,
            f"names without {' and '.join(map(repr, drawn))}: Expected draws nothing; "
            "use 'policy' and 'value', or OneSample",
        )
    return None


def _draws_fit_the_stream(e: Experiment) -> Refusal | None:
    samples = e.estimator.samples if isinstance(e.estimator, OneSample) else 1
    if e.steps * samples < MOST_DRAWS:
        return None
    return Refusal("steps", e.steps, f"steps * samples < 2**56 (samples is {samples})")


# -- every problem ---------------------------------------------------------------------------------


def _update_suits_policy(e: Experiment) -> Refusal | None:
    legal, reason = LEGAL_UPDATES.get(type(e.policy), ((Update,), ""))
    if isinstance(e.update, legal):
        return None
    names = " or ".join(cls.__name__ for cls in legal)
    policy = type(e.policy).__name__
    return Refusal("update", e.update, f"{names} with a {policy} policy ({reason})")


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
    if sum(isinstance(atom, RunningMean) for atom in atoms(e.baseline)) < 2:
        return None
    return Refusal("baseline", e.baseline, "at most one kind of RunningMean in a baseline")


def _names_are_recorded(e: Experiment) -> Refusal | None:
    for name in e.record.names:
        if name not in e.problem.recordable:
            problem = type(e.problem).__name__
            names = ", ".join(map(repr, e.problem.recordable))
            return Refusal("record.names", name, f"what a {problem} records: {names}")
    return None


def _times_are_reached(e: Experiment) -> Refusal | None:
    if e.record.at is None or e.record.at[-1] <= e.steps:
        return None
    return Refusal("record.at", e.record.at, f"times in [0, {e.steps}], for steps = {e.steps}")


def _histograms_have_ranges(e: Experiment) -> Refusal | None:
    reduce = e.record.reduce
    if reduce is None or reduce.bins is None:
        return None
    for name in e.record.names:
        if name in CATEGORICAL:
            continue
        if reduce.given_range(name) is None and e.problem.range_of(name) is None:
            return Refusal(
                "record.reduce.range",
                reduce._arguments()["range"],
                f"the ends of the histogram of {name!r}, as in range={{{name!r}: (lo, hi)}}",
            )
    return None


BANDIT_RULES: tuple[Rule, ...] = (
    _arms_draw_samples,
    _direct_has_no_entropy,
    _start_has_one_entry_per_arm,
    _sigmoid_has_two_arms,
    _gap_exists,
    _expected_draws_nothing,
    _draws_fit_the_stream,
)

COMMON_RULES: tuple[Rule, ...] = (
    _update_suits_policy,
    _fixed_has_one_entry_per_arm,
    _one_running_mean,
    _names_are_recorded,
    _times_are_reached,
    _histograms_have_ranges,
)
