"""Replaying one run, to find which formula left the numbers, where and why."""

from __future__ import annotations

import numpy as np

from committal.config.estimators import OneSample
from committal.config.experiment import Experiment
from committal.config.formula_baseline import FormulaBaseline
from committal.config.mdp import TabularMDP
from committal.config.snapshot import Snapshot
from committal.config.spelled import spelled_out
from committal.errors import NonFiniteError
from committal.reference.arrays import Floats
from committal.reference.bandit import run_bandit
from committal.reference.formulas import quantities
from committal.reference.mdp import run_mdp

__all__ = ["remembers", "why_not_finite"]

#: Samples that a replay goes through at most: a minute or so.
_LONGEST = 200_000


def remembers(experiment: Experiment) -> bool:
    """Whether a run depends on more than theta: then it is replayed from its beginning.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=9)
    >>> remembers(e), remembers(e.replace(optimiser=cm.Adam()))
    (False, True)
    """
    experiment = spelled_out(experiment)
    tree = experiment.optimiser.tree
    if tree is not None and tree.states:
        return True
    if isinstance(experiment.behaviour, Snapshot):
        return True
    atoms = experiment.baseline.atoms
    return any(
        bool(atom.state) if isinstance(atom, FormulaBaseline) else not atom.depends_on_theta_only
        for atom in atoms
    )


def why_not_finite(
    experiment: Experiment,
    *,
    key: int,
    run: int,
    update: int,
    start: tuple[int, Floats] | None = None,
) -> NonFiniteError | None:
    """The formula, the sub-expression and its operands that made a run leave the numbers.

    Parameters
    ----------
    experiment : Experiment
    key, run : int
        Name the stream.
    update : int
        After how many updates the run was seen not to be finite.
    start : (int, ndarray), optional
        Of a bandit: a time not long before, and theta there. Without it the whole run is replayed.

    Returns
    -------
    NonFiniteError or None
        None if no formula is to blame, or if the run is too long to be replayed.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), cm.baseline("1 / (t - 2)"), steps=9
    ... )
    >>> print(why_not_finite(e, key=0, run=3, update=9))
    run 3, update 2: the formula of baseline is not finite: 1 / (t - 2) with 1 = 1.0, t - 2 = 0.0
    """
    experiment = spelled_out(experiment)
    estimator = experiment.estimator
    samples = estimator.samples if isinstance(estimator, OneSample) else 1
    if (update - (start[0] if start else 0)) * samples > _LONGEST:
        return None
    ends = {"every": None, "at": None, "log": None}
    short = experiment.replace(
        steps=min(experiment.steps, update), record=experiment.record.replace(**ends)
    )
    try:
        with np.errstate(all="ignore"):
            if isinstance(experiment.problem, TabularMDP):
                for _ in run_mdp(short, key=key, run=run):
                    pass
            else:
                for now in run_bandit(short, key=key, run=run, start=start):
                    dict(quantities(short, now.given))
    except NonFiniteError as error:
        if error.expression.isidentifier():
            return None  # what the formula was given had left the numbers before
        return NonFiniteError(run, error.update, error.part, error.expression, error.operands)
    except (ArithmeticError, ValueError):
        return None  # the parameters themselves have left the numbers
    return None
