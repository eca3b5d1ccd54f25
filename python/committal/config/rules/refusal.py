"""What a rule is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["Refusal", "Rule"]


class Refusal(NamedTuple):
    """Why an experiment is refused: the argument (a dotted path), its value, what is allowed."""

    argument: str
    value: object
    allowed: str


Rule: TypeAlias = "Callable[[Experiment], Refusal | None]"
