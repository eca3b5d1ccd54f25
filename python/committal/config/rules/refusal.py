"""What a rule answers, and what rules look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from committal.config.baselines import Baseline, Linear

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["Refusal", "Rule", "atoms"]


class Refusal(NamedTuple):
    """Why an experiment is refused: the argument (a dotted path), its value, what is allowed."""

    argument: str
    value: object
    allowed: str


Rule: TypeAlias = "Callable[[Experiment], Refusal | None]"


def atoms(baseline: Baseline) -> tuple[Baseline, ...]:
    """Return the baselines that a sum is made of.

    Examples
    --------
    >>> from committal.config import Maximum, Value
    >>> atoms(0.5 * Value() + 0.5 * Maximum() - 1)
    (Maximum(), Value())
    """
    if isinstance(baseline, Linear):
        return tuple(atom for _, atom in baseline.terms)
    return (baseline,)
