"""Rules: which parts of an experiment go together.

Each rule looks at one experiment and returns None, or why it is refused: the argument (a dotted
path), its value and what is allowed. Those that hold for every problem, for bandits and for MDPs
have a file each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from committal.config.mdp import TabularMDP
from committal.config.rules.bandit import BANDIT_RULES, UNDRAWN_RULES
from committal.config.rules.common import COMMON_RULES
from committal.config.rules.formulas import FORMULA_RULES
from committal.config.rules.mdp import MDP_RULES
from committal.config.rules.named import NAMED_RULES
from committal.config.rules.refusal import Refusal
from committal.config.spelled import has_names, spelled_out
from committal.errors import CombinationError

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["refusal_of"]


def refusal_of(e: Experiment) -> Refusal | None:
    """Return why an experiment is refused, None if its parts go together."""
    found = next((found for rule in NAMED_RULES if (found := rule(e))), None)
    if found is not None or not has_names(e):
        return found or _refusal_of_plain(e)
    if not e.estimator.draws:  # what it is spelled out as draws, for nobody to see
        found = next((found for rule in UNDRAWN_RULES if (found := rule(e))), None)
        if found is not None:
            return found
    # The rest is as for the parts that it is spelled out in, by the names that were given.
    try:
        spelled_out(e)
    except CombinationError as error:
        path = error.argument.removeprefix("Experiment.")
        return Refusal(path, _given(e, path, error.value), error.allowed)
    return None


def _refusal_of_plain(e: Experiment) -> Refusal | None:
    rules = MDP_RULES if isinstance(e.problem, TabularMDP) else BANDIT_RULES
    every = (*rules, *COMMON_RULES, *FORMULA_RULES)
    return next((found for rule in every if (found := rule(e))), None)


def _given(e: Experiment, path: str, value: object) -> object:
    """What an experiment has at a path; the value itself if it has nothing there."""
    part: object = e
    for key in path.split("."):
        if not hasattr(part, key):
            return value
        part = getattr(part, key)
    return part
