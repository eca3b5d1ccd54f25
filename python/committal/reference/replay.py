"""Replaying one run, to find which formula left the numbers, where and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from committal.config.experiment import Experiment
from committal.config.formula_baseline import FormulaBaseline
from committal.config.mdp import TabularMDP
from committal.config.snapshot import Snapshot
from committal.config.spelled import spelled_out
from committal.errors import DivergenceError, NonFiniteError
from committal.reference.arrays import Floats
from committal.reference.bandit import BanditMoment, run_bandit
from committal.reference.formulas import quantity_values
from committal.reference.mdp import MdpMoment, run_mdp
from committal.reference.mdp_quantities import quantity_of_states

__all__ = ["remembers", "why_not_finite", "why_not_recorded"]

#: theta of the run after so many updates; None where it is not finite.
ThetaAt: TypeAlias = Callable[[int], Floats | None]

#: How long a run that must be replayed from its beginning is replayed: seconds.
PATIENCE = 60.0

#: What the oracle can do in one update: it solves dense systems, and draws sample by sample.
STATES = 1000
SAMPLES = 1_000_000

_FINITE = "by NumPy, which rounds differently, it is finite there"


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
    if isinstance(experiment.behaviour, Snapshot):
        return True
    return (tree is not None and bool(tree.states)) or _baseline_remembers(experiment)


def _baseline_remembers(experiment: Experiment) -> bool:
    return any(
        bool(atom.state) if isinstance(atom, FormulaBaseline) else not atom.depends_on_theta_only
        for atom in experiment.baseline.atoms
    )


def why_not_finite(
    experiment: Experiment,
    *,
    key: int,
    run: int,
    update: int,
    theta_at: ThetaAt | None = None,
    patience: float = PATIENCE,
) -> DivergenceError:
    """The formula, the sub-expression and its operands that made a run leave the numbers.

    Parameters
    ----------
    experiment : Experiment
    key, run : int
        Name the stream.
    update : int
        After how many updates the parameters, or a state, were seen not to be finite first.
    theta_at : callable, optional
        theta of the run after so many updates, of which the last one is replayed alone. Not used
        where a run depends on more than theta; then, and without it, all of it is replayed.
    patience : float
        Seconds after which a replay is given up.

    Returns
    -------
    DivergenceError
        A `NonFiniteError` if a formula is to blame; otherwise it says what was looked at.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), cm.baseline("1 / (t - 2)"), steps=9
    ... )
    >>> print(why_not_finite(e, key=0, run=3, update=3))
    run 3, update 2: the formula of baseline is not finite: 1 / (t - 2) with t - 2 = 0.0
    """
    experiment = spelled_out(experiment)
    large = _too_large(experiment)
    if large:
        return DivergenceError(run, update, f"which formula did it was not looked for: {large}")
    start = None
    if theta_at is not None and update > 1 and not remembers(experiment):
        theta = theta_at(update - 1)
        start = None if theta is None else (update - 1, theta)
    deadline, seen = time.monotonic() + patience, 0
    try:
        for now in _replayed(experiment, key, run, update, start):
            seen = now.t
            if time.monotonic() > deadline:
                looked = (
                    f"which formula did it is not known: the replay of the run was given up after "
                    f"{patience:g} s, at update {seen} of {update}; all were finite until there"
                )
                return DivergenceError(run, update, looked)
    except NonFiniteError as error:
        if not error.expression.isidentifier() or error.problem != "is not finite":
            return error
        # What the formula was given had left the numbers before.
        looked = f"{error.expression} was not finite before the formula of {error.part} saw it"
        return DivergenceError(run, update, looked)
    except (ArithmeticError, ValueError, IndexError):
        pass  # the parameters themselves have left the numbers, and no arm can be drawn
    which = "the formulas of its last update were" if start else "all its formulas were"
    return DivergenceError(run, update, f"replayed: {which} finite")


def _too_large(experiment: Experiment) -> str:
    """Why even one update is too much for the oracle; empty if it is not."""
    problem, samples = experiment.problem, getattr(experiment.estimator, "samples", 1)
    if isinstance(problem, TabularMDP) and problem.n_states > STATES:
        return f"the oracle replays MDPs of at most {STATES} states"
    return f"the oracle replays at most {SAMPLES} samples per update" if samples > SAMPLES else ""


def _replayed(
    experiment: Experiment, key: int, run: int, update: int, start: tuple[int, Floats] | None
) -> Iterator[BanditMoment | MdpMoment]:
    ends = {"every": None, "at": None, "log": None}
    short = experiment.replace(
        steps=min(experiment.steps, update), record=experiment.record.replace(**ends)
    )
    with np.errstate(all="ignore"):
        if isinstance(experiment.problem, TabularMDP):
            yield from run_mdp(short, key=key, run=run, start=start)
        else:
            yield from run_bandit(short, key=key, run=run, start=start)


def why_not_recorded(
    experiment: Experiment,
    *,
    key: int,
    run: int,
    update: int,
    theta: Floats,
    name: str = "",
    patience: float = PATIENCE,
) -> NonFiniteError:
    """The recorded formula that is not finite though the parameters are.

    Parameters
    ----------
    experiment : Experiment
    key, run : int
        Name the stream.
    update : int
        After how many updates it was recorded.
    theta : ndarray
        The parameters then.
    name : str
        What was recorded, where that is known.
    patience : float
        Seconds after which a replay is given up.

    Examples
    --------
    >>> import committal as cm
    >>> pole = cm.quantity("1 / (t - 2)", name="pole")
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=9, record=cm.Record(pole)
    ... )
    >>> print(why_not_recorded(e, key=0, run=3, update=2, theta=np.zeros(2)))
    run 3, update 2: the formula of quantity pole is not finite: 1 / (t - 2) with t - 2 = 0.0
    """
    wanted = [one for one in experiment.record.formulas if name in ("", one.name)]
    try:
        looked = _looked_at(experiment, key, run, update, theta, wanted, patience)
    except NonFiniteError as error:
        return error.at(run, update)
    if len(wanted) == 1:
        return NonFiniteError(
            run, update, f"quantity {wanted[0].name}", wanted[0].formula, {}, looked=looked
        )
    names = " or ".join(one.name for one in wanted) or name
    return NonFiniteError(run, update, f"what is recorded as {names}", names, {}, looked=looked)


def _looked_at(
    experiment: Experiment,
    key: int,
    run: int,
    update: int,
    theta: Floats,
    wanted: list[Any],
    patience: float,
) -> str:
    """Look at recorded formulas; what that shows, if none of them raises an error."""
    large = _too_large(experiment)
    if large:
        return f"why was not looked for: {large}"
    if isinstance(experiment.problem, TabularMDP):
        for quantity in wanted:
            quantity_of_states(experiment, quantity, theta, update)
        return _FINITE
    given = _given_then(experiment, key, run, update, theta, wanted, patience)
    if given is None:
        return (
            f"why is not known: the replay of the run was given up after {patience:g} s, for its "
            "baseline remembers more than the parameters"
        )
    for quantity in wanted:
        quantity_values(experiment, quantity, given)
    return _FINITE


def _given_then(
    experiment: Experiment,
    key: int,
    run: int,
    update: int,
    theta: Floats,
    wanted: list[Any],
    patience: float,
) -> Any:
    """What formulas could look at after so many updates; None if that takes too long."""
    # A quantity that looks at no baseline needs nothing but theta.
    looks = any({"b", "A"} & set(one.names) for one in wanted) or not wanted
    if not looks:
        experiment = experiment.replace(baseline=0.0)
    start = None if _baseline_remembers(experiment) else (update, theta)
    deadline = time.monotonic() + patience
    # One more than needed: what is scheduled ends with its last value.
    for now in _replayed(experiment, key, run, update + 1, start):
        if now.t == update:
            assert isinstance(now, BanditMoment)
            return now.given
        if time.monotonic() > deadline:
            return None
    return None
