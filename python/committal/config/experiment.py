"""The experiment: one choice of every part, checked to go together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from committal.config import check
from committal.config.base import Config, config, kinds
from committal.config.baselines import (
    Baseline,
    Constant,
    Gap,
    Linear,
    RunningMean,
    as_baseline,
)
from committal.config.behaviours import Behaviour, Fixed, OnPolicy
from committal.config.estimators import Estimator, Expected, OneSample
from committal.config.policies import Direct, Policy, Sigmoid, Softmax
from committal.config.problems import Bandit, Problem
from committal.config.record import Record
from committal.config.updates import Natural, Projected, Update, Vanilla
from committal.errors import CombinationError, ConfigTypeError

__all__ = ["Experiment"]

#: steps * samples stays below this: the counters of the random streams hold no more.
MOST_DRAWS = 2**56


@config
class Experiment(Config):
    """theta_(t+1) = theta_t + alpha_t g_t, for t = 0, ..., steps - 1: everything that defines g_t.

    Parameters
    ----------
    problem
        What pays the rewards.
    policy
        How parameters become probabilities, and the start.
    update
        The geometry of the step, and its size.
    baseline
        A baseline, or a number for a constant one.
    behaviour
        The distribution that actions are drawn from.
    estimator
        Which signal the update receives.
    steps
        The number of updates.
    record
        What is kept; by default the value and the policy at the end.

    Raises
    ------
    CombinationError
        If the parts do not go together; the message says what to use instead.

    Examples
    --------
    >>> from committal.config import Bandit, Experiment, MinVariance, Natural, Softmax
    >>> exp = Experiment(
    ...     problem=Bandit([1.0, 0.7, 0.0]),
    ...     policy=Softmax([0, 3, 5]),
    ...     update=Natural(step_size=0.025),
    ...     baseline=MinVariance() + 0.5,
    ...     steps=1000,
    ... )
    >>> print(exp)
    Experiment
      problem    Bandit((1.0, 0.7, 0.0))
      policy     Softmax((0.0, 3.0, 5.0))
      update     Natural(step_size=0.025)
      baseline   MinVariance() + 0.5
      behaviour  OnPolicy()
      estimator  OneSample()
      steps      1000
      record     Record()
    >>> exp == Experiment.from_toml(exp.to_toml())
    True
    """

    problem: Problem
    policy: Policy
    update: Update
    baseline: Baseline
    behaviour: Behaviour
    estimator: Estimator
    steps: int
    record: Record

    def __init__(
        self,
        problem: Problem,
        policy: Policy,
        update: Update,
        baseline: Baseline | check.Number = Constant(0.0),  # noqa: B008  # immutable
        behaviour: Behaviour = OnPolicy(),  # noqa: B008
        estimator: Estimator = OneSample(),  # noqa: B008
        *,
        steps: check.Integer,
        record: Record = Record(),  # noqa: B008
    ) -> None:
        for name, value, family in (
            ("problem", problem, Problem),
            ("policy", policy, Policy),
            ("update", update, Update),
            ("behaviour", behaviour, Behaviour),
            ("estimator", estimator, Estimator),
            ("record", record, Record),
        ):
            if not isinstance(value, family):
                classes = ", ".join(cls.__name__ for cls in kinds(family).values())
                raise ConfigTypeError(f"Experiment.{name}", value, f"an instance of {classes}")
        self._set(
            problem=problem,
            policy=policy,
            update=update,
            baseline=as_baseline("Experiment.baseline", baseline),
            behaviour=behaviour,
            estimator=estimator,
            steps=check.integer("Experiment.steps", steps, 0, MOST_DRAWS - 1),
            record=record,
        )
        for rule in _RULES:
            refusal = rule(self)
            if refusal is not None:
                argument, refused, allowed = refusal
                raise CombinationError(f"Experiment.{argument}", refused, allowed)

    def __str__(self) -> str:
        parts = self._arguments()
        width = max(map(len, parts))
        lines = (f"  {name:<{width}}  {_short(value)}" for name, value in parts.items())
        return "\n".join(("Experiment", *lines))


def _short(value: object) -> str:
    """Write a part on one line: as its repr, or abbreviated when that is very long."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:160]} ... {text[-20:]}"


# -- rules: what goes together ---------------------------------------------------------------------
#
# Each rule looks at one experiment and returns None, or (argument, its value, what is allowed).


class Refusal(NamedTuple):
    """Why an experiment is refused: the argument (a dotted path), its value, what is allowed."""

    argument: str
    value: object
    allowed: str


Rule: TypeAlias = Callable[[Experiment], Refusal | None]

#: Which updates go with which policy, and why not the others.
LEGAL_UPDATES: dict[type[Policy], tuple[tuple[type[Update], ...], str]] = {
    Softmax: ((Natural, Vanilla), "its parameters are not probabilities to be projected"),
    Sigmoid: ((Natural, Vanilla), "its parameter is not a probability to be projected"),
    Direct: ((Vanilla, Projected), "its parameters are probabilities and must be projected"),
}


def _name(part: object) -> str:
    return type(part).__name__


def _update_suits_policy(e: Experiment) -> Refusal | None:
    legal, reason = LEGAL_UPDATES.get(type(e.policy), ((Update,), ""))
    if isinstance(e.update, legal):
        return None
    names = " or ".join(cls.__name__ for cls in legal)
    return Refusal("update", e.update, f"{names} with a {_name(e.policy)} policy ({reason})")


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
    if start is None or len(start) == e.problem.arms:
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


def _fixed_has_one_entry_per_arm(e: Experiment) -> Refusal | None:
    if not isinstance(e.behaviour, Fixed) or len(e.behaviour.probabilities) == e.problem.arms:
        return None
    mu = e.behaviour.probabilities
    return Refusal(
        "behaviour.probabilities",
        mu,
        f"{e.problem.arms} numbers, one per arm (there are {len(mu)})",
    )


def _atoms(baseline: Baseline) -> tuple[Baseline, ...]:
    if isinstance(baseline, Linear):
        return tuple(atom for _, atom in baseline.terms)
    return (baseline,)


def _gap_exists(e: Experiment) -> Refusal | None:
    if not any(isinstance(atom, Gap) for atom in _atoms(e.baseline)):
        return None
    if isinstance(e.problem, Bandit) and e.problem.arms >= 2 and 0.0 < e.problem.gap < math.inf:
        return None
    return Refusal(
        "baseline",
        e.baseline,
        "a problem with two arms or more and a single best one, to use Gap; "
        "otherwise use Maximum or Constant",
    )


def _one_running_mean(e: Experiment) -> Refusal | None:
    if sum(isinstance(atom, RunningMean) for atom in _atoms(e.baseline)) < 2:
        return None
    return Refusal("baseline", e.baseline, "at most one kind of RunningMean in a baseline")


def _expected_draws_nothing(e: Experiment) -> Refusal | None:
    if not isinstance(e.estimator, Expected):
        return None
    if any(isinstance(atom, RunningMean) for atom in _atoms(e.baseline)):
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


def _times_are_reached(e: Experiment) -> Refusal | None:
    if e.record.at is None or e.record.at[-1] <= e.steps:
        return None
    return Refusal("record.at", e.record.at, f"times in [0, {e.steps}], for steps = {e.steps}")


def _histograms_have_ranges(e: Experiment) -> Refusal | None:
    reduce = e.record.reduce
    if reduce is None or reduce.bins is None:
        return None
    for name in e.record.names:
        if reduce.given_range(name) is None and e.problem.range_of(name) is None:
            return Refusal(
                "record.reduce.range",
                reduce._arguments()["range"],
                f"the ends of the histogram of {name!r}, as in range={{{name!r}: (lo, hi)}}",
            )
    return None


def _draws_fit_the_stream(e: Experiment) -> Refusal | None:
    samples = e.estimator.samples if isinstance(e.estimator, OneSample) else 1
    if e.steps * samples < MOST_DRAWS:
        return None
    return Refusal("steps", e.steps, f"steps * samples < 2**56 (samples is {samples})")


_RULES: tuple[Rule, ...] = (
    _update_suits_policy,
    _direct_has_no_entropy,
    _start_has_one_entry_per_arm,
    _sigmoid_has_two_arms,
    _fixed_has_one_entry_per_arm,
    _gap_exists,
    _one_running_mean,
    _expected_draws_nothing,
    _times_are_reached,
    _histograms_have_ranges,
    _draws_fit_the_stream,
)
