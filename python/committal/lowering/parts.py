"""What bandits and MDPs lower in the same way: schedules, baselines, behaviours, updates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config import (
    Baseline,
    Behaviour,
    EpsilonGreedy,
    Fixed,
    Linear,
    Maximum,
    MinVariance,
    Natural,
    OnPolicy,
    Projected,
    RunningMean,
    Schedule,
    UniformMixture,
    Update,
    Value,
    Values,
    Vanilla,
)
from committal.errors import CombinationError

__all__ = [
    "BASELINES",
    "BEHAVIOURS",
    "UPDATES",
    "AnyPlan",
    "Behaved",
    "Floats",
    "Integers",
    "Lowered",
    "lower_baseline",
    "lower_behaviour",
    "scheduled",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

#: A schedule is lowered to a table; this many entries take 2 GiB.
MOST_SCHEDULED_STEPS = 2**28


class AnyPlan(Protocol):
    """What everybody to the right of a plan may ask of it, whatever the problem."""

    @property
    def steps(self) -> int:
        """The number of updates."""

    @property
    def times(self) -> Integers:
        """The recorded times, in increasing order."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """The lengths of the axes that recorded quantities may have."""

    @property
    def draws(self) -> int:
        """The most random draws that one run may make of one kind."""

    def core_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of the core's plan."""


class Lowered:
    """Base of the plans: frozen dataclasses whose arrays are read-only."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def core_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of the core's plan.

        Examples
        --------
        >>> from committal.config import Bandit, Experiment, Natural, Softmax
        >>> from committal.lowering.bandit import lower
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), steps=9)
        >>> lower(exp).core_arguments()["policy"]
        'softmax'
        """
        arguments = {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
        }
        arguments["baseline_terms"] = list(arguments["baseline_terms"])
        return arguments


# -- the names of the core, and what each stands for -----------------------------------------------


class Term(NamedTuple):
    """A baseline of the core: its name, the class it stands for, when, and its parameter."""

    name: str
    cls: type[Baseline]
    when: Callable[[Any], bool] = lambda _: True
    parameter: Callable[[Any], float] = lambda _: 0.0


BASELINES = (
    Term("value", Value),
    Term("min_variance_gradient", MinVariance, lambda b: b.metric == "gradient"),
    Term("min_variance_natural", MinVariance, lambda b: b.metric == "natural" and b.lam is None),
    Term("min_variance_fixed_lambda", MinVariance, lambda b: b.lam is not None, lambda b: b.lam),
    Term("maximum", Maximum),
    Term("running_mean", RunningMean, parameter=lambda b: b.rate or 0.0),
)


class Mu(NamedTuple):
    """A behaviour of the core: its name, its exploration rate and its fixed probabilities."""

    name: str
    exploration: str | None = None
    probabilities: str | None = None


BEHAVIOURS: Mapping[type[Behaviour], Mu] = {
    OnPolicy: Mu("on_policy"),
    UniformMixture: Mu("uniform_mixture", exploration="gamma"),
    EpsilonGreedy: Mu("epsilon_greedy", exploration="epsilon"),
    Fixed: Mu("fixed", probabilities="probabilities"),
}

UPDATES: Mapping[type[Update], str] = {
    Vanilla: "vanilla",
    Natural: "natural",
    Projected: "projected",
}


# -- parts -----------------------------------------------------------------------------------------


def scheduled(argument: str, value: float | Schedule, steps: int) -> Floats:
    """Return the table of a schedule, one entry per update, or one entry for a constant.

    Examples
    --------
    >>> from committal.config import Decay
    >>> scheduled("update.step_size", Decay(1.0, 1.0), 4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """
    if not isinstance(value, Schedule):
        return np.array([value], dtype=np.float64)
    if isinstance(value, Values) and len(value.table) < steps:
        raise CombinationError(
            f"Experiment.{argument}",
            value,
            f"at least one value per update, for steps = {steps} (there are {len(value.table)})",
        )
    if steps > MOST_SCHEDULED_STEPS:
        raise CombinationError(
            f"Experiment.{argument}",
            value,
            f"a constant for steps = {steps}: a table would not fit into memory beyond "
            f"{MOST_SCHEDULED_STEPS} steps",
        )
    # Without steps nothing reads the table, but the core wants one entry.
    return value.values(max(steps, 1))


def lower_baseline(
    baseline: Baseline, folded: Mapping[type[Baseline], Callable[[Any], float]]
) -> tuple[tuple[tuple[str, float, float], ...], float, float]:
    """Return the terms, the offset and the initial running mean.

    Parameters
    ----------
    baseline
        In any form.
    folded
        Baselines that are numbers once the problem is known, and these numbers: they go into
        the offset.

    Examples
    --------
    >>> lower_baseline(0.9 * Value() - 0.1, {})
    ((('value', 0.9, 0.0),), -0.1, 0.0)
    """
    linear = baseline if isinstance(baseline, Linear) else Linear([(1.0, baseline)])
    terms = []
    offsets = [linear.offset]
    initial = 0.0
    for coefficient, atom in linear.terms:
        if type(atom) in folded:
            offsets.append(coefficient * folded[type(atom)](atom))
            continue
        row = next(row for row in BASELINES if type(atom) is row.cls and row.when(atom))
        terms.append((row.name, coefficient, float(row.parameter(atom))))
        if isinstance(atom, RunningMean):
            initial = atom.initial
    return tuple(terms), math.fsum(offsets), initial


class Behaved(NamedTuple):
    """A lowered behaviour: its name, gamma_t or epsilon_t, and fixed probabilities or none."""

    name: str
    exploration: Floats
    probabilities: Floats


def lower_behaviour(behaviour: Behaviour, steps: int) -> Behaved:
    """Return the name, the exploration and the probabilities of a behaviour.

    Examples
    --------
    >>> lower_behaviour(EpsilonGreedy(0.1), 10)[:2]
    ('epsilon_greedy', array([0.1]))
    """
    mu = BEHAVIOURS[type(behaviour)]
    exploration = getattr(behaviour, mu.exploration) if mu.exploration else 0.0
    probabilities = getattr(behaviour, mu.probabilities) if mu.probabilities else ()
    return Behaved(
        mu.name,
        scheduled(f"behaviour.{mu.exploration}", exploration, steps),
        np.array(probabilities, dtype=np.float64),
    )
