"""What bandits and MDPs lower in the same way: schedules, baselines, behaviours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config import Baseline, Behaviour, Linear, RunningMean, Schedule, Snapshot
from committal.config.quantities import Quantity
from committal.lowering.programs import core_programs

__all__ = ["AnyPlan", "Lowered", "lower_baseline", "lower_behaviour", "scheduled"]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


class AnyPlan(Protocol):
    """What everybody above may ask of a plan, whatever the problem."""

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

    @property
    def programs(self) -> Mapping[str, Any]:
        """Formulas as programs of the core, by what they are for."""

    def quantity(self, name: str) -> Quantity:
        """Return a quantity as it is recorded here."""

    def core_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of the core's simulator."""


class Lowered:
    """Base of the plans: frozen dataclasses whose arrays are read-only.

    Their fields are the arguments of the core's simulator, by the same names.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def core_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of the core's simulator.

        Examples
        --------
        >>> from committal.config import Bandit, Experiment, Natural, Softmax
        >>> from committal.lowering import lower
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), steps=9)
        >>> lower(exp).core_arguments()["policy"]
        'softmax'
        """
        arguments = {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
        }
        arguments["baseline_terms"] = list(arguments["baseline_terms"])
        arguments["programs"] = core_programs(arguments["programs"])
        return arguments


def scheduled(value: float | Schedule, steps: int) -> Floats:
    """Return the table of a schedule, one entry per update, or one entry for a constant.

    Examples
    --------
    >>> from committal.config import Decay
    >>> scheduled(Decay(1.0, 1.0), 4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """
    if not isinstance(value, Schedule):
        return np.array([value], dtype=np.float64)
    # Without steps nothing reads the table, but the core wants one entry.
    return value.values(max(steps, 1))


class Baselined(NamedTuple):
    """A lowered baseline: b = offset + sum of coefficient * B(parameter) over its terms."""

    terms: tuple[tuple[str, float, float], ...]  #: (name, coefficient, parameter)
    offset: float
    initial: float  #: of the running mean


def lower_baseline(baseline: Baseline, r: Floats) -> Baselined:
    """Return the terms, the offset and the initial running mean.

    Parameters
    ----------
    baseline
        In normal form.
    r
        The mean rewards of a bandit, from which some baselines are numbers: they go into the
        offset.

    Examples
    --------
    >>> from committal.config import Gap, Value
    >>> lower_baseline(0.9 * Value() - 0.1, np.zeros(2)).terms
    (('value', 0.9, 0.0),)
    >>> lower_baseline(Gap(), np.array([1.0, 0.5])).offset
    0.75
    """
    linear = baseline if isinstance(baseline, Linear) else Linear([(1.0, baseline)])
    terms = []
    initial = 0.0
    for coefficient, atom in linear.terms:
        term = atom.core_term()
        if term is not None:
            name, parameter = term
            terms.append((name, coefficient, parameter))
        if isinstance(atom, RunningMean):
            initial = atom.initial
    return Baselined(tuple(terms), linear.folded(r), initial)


class Behaved(NamedTuple):
    """A lowered behaviour: its name, gamma_t or epsilon_t, and fixed probabilities or none."""

    name: str
    exploration: Floats
    probabilities: Floats


def lower_behaviour(behaviour: Behaviour, steps: int) -> Behaved:
    """Return the name, the exploration and the probabilities of a behaviour.

    Examples
    --------
    >>> from committal.config import EpsilonGreedy
    >>> lower_behaviour(EpsilonGreedy(0.1), 10)[:2]
    ('epsilon_greedy', array([0.1]))
    """
    if isinstance(behaviour, Snapshot):
        # More than 0 where mu becomes the policy.
        times = np.arange(max(steps, 1) if behaviour.every > 1 else 1)
        taken = np.where(times % behaviour.every == 0, 1.0, 0.0)
        return Behaved(behaviour.core_name, taken, np.zeros(0))
    return Behaved(
        behaviour.core_name,
        scheduled(behaviour.exploration, steps),
        np.array(behaviour.fixed, dtype=np.float64),
    )
