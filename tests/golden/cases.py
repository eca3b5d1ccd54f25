"""The golden cases: small runs and evaluations that together use every part of the package.

Everything is built from the public names of `committal`. The larger tables choose their rows by
covering: every pair of levels that may go together (and some triples) occurs in at least one case.
What may not go together is named by a rule. Nothing here is random, and no number depends on a
library whose last bit may differ between machines.
"""

from __future__ import annotations

from collections.abc import Mapping

from golden_bandits import bandit_cases, special_bandit_cases
from golden_forms import Case, Run, digest
from golden_formulas import formula_cases
from golden_mdps import evaluation_cases, mdp_cases, special_mdp_cases, study_cases
from golden_numbers import NUMBERS, close, numbers_of

__all__ = [
    "CASES",
    "FORMULAS",
    "NUMBERS",
    "Run",
    "close",
    "digest",
    "experiment_hashes",
    "numbers_of",
]

# -- all of them -----------------------------------------------------------------------------------


def all_cases() -> dict[str, Case]:
    """Return the cases by name."""
    makers = (
        bandit_cases,
        special_bandit_cases,
        mdp_cases,
        special_mdp_cases,
        evaluation_cases,
        study_cases,
    )
    listed = [case for maker in makers for case in maker()]
    cases = {case.name: case for case in listed}
    if len(cases) < len(listed):
        raise ValueError("two cases have the same name")
    return cases


CASES = all_cases()

#: Those of formulas, with an answers file of their own.
FORMULAS: dict[str, Run] = {case.name: case for case in formula_cases()}


def experiment_hashes(cases: Mapping[str, Case] = CASES) -> dict[str, str]:
    """Return what identifies the experiments in stores, by name of the case."""
    return {
        name: case.experiment.hash[:32] for name, case in cases.items() if isinstance(case, Run)
    }
