"""Rules: which parts of an experiment go together.

Each rule looks at one experiment and returns None, or why it is refused: the argument (a dotted
path), its value and what is allowed. Those that hold for every problem, for bandits and for MDPs
have a file each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from committal.config.mdp import TabularMDP
from committal.config.rules.bandit import BANDIT_RULES
from committal.config.rules.common import COMMON_RULES
from committal.config.rules.formulas import FORMULA_RULES
from committal.config.rules.mdp import MDP_RULES
from committal.config.rules.refusal import Refusal

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["refusal_of"]


def refusal_of(e: Experiment) -> Refusal | None:
    """Return why an experiment is refused, None if its parts go together."""
    rules = MDP_RULES if isinstance(e.problem, TabularMDP) else BANDIT_RULES
    every = (*rules, *COMMON_RULES, *FORMULA_RULES)
    return next((found for rule in every if (found := rule(e))), None)
