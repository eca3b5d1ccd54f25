"""Whole runs: everything that can be measured, at every time."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.experiment import Experiment
from committal.config.mdp import TabularMDP
from committal.config.quantities import BANDIT_QUANTITIES
from committal.errors import ConfigTypeError
from committal.reference.arrays import Floats, Ints
from committal.reference.bandit import run_bandit
from committal.reference.formulas import quantities
from committal.reference.mdp import run_mdp
from committal.reference.mdp_quantities import quantity_of_states
from committal.reference.measures import MDP_MEASURES, MEASURES
from committal.reference.variance import has_variance

__all__ = ["simulate"]

Record: TypeAlias = dict[str, Floats | Ints]


def simulate(
    experiment: Experiment,
    *,
    key: int,
    run: int,
    actions: npt.ArrayLike | None = None,
    rewards: npt.ArrayLike | None = None,
) -> Record:
    """One run, with everything recorded at every time 0, 1, ..., steps.

    Parameters
    ----------
    experiment : Experiment
        Of its ``record`` only formulas are read.
    key, run : int
        Name the stream: the same numbers as the compiled engine draws.
    actions, rewards : array_like, shape (steps, N) or (steps + 1, N), optional
        Of a bandit: replay these instead of drawing (teacher forcing): given actions, or given
        both.

    Returns
    -------
    dict of ndarray
        With the time first. Of a bandit by the names of :data:`committal.RECORDABLE`: ``policy``
        and ``theta`` have one column per arm (one for the sigmoid's theta), ``action`` and
        ``reward`` one per sample (absent for the expected estimator, which draws nothing). Of an
        MDP by the names of :data:`committal.MDP_RECORDABLE`.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([0.9, 0.1]), cm.Softmax(), cm.Vanilla(step_size=0.5), steps=9)
    >>> first = simulate(e, key=1, run=0)
    >>> again = simulate(e, key=1, run=0, actions=first["action"], rewards=first["reward"])
    >>> bool(np.array_equal(first["theta"], again["theta"]))
    True
    """
    if isinstance(experiment.problem, TabularMDP):
        for name, given in (("actions", actions), ("rewards", rewards)):
            if given is not None:
                raise ConfigTypeError(name, given, "None: the episodes of an MDP cannot be given")
        episodes = list(run_mdp(experiment, key=key, run=run))
        measured: Record = {
            name: np.array([of(now) for now in episodes]) for name, of in MDP_MEASURES.items()
        }
        return measured | {
            one.name: np.array(
                [quantity_of_states(experiment, one, now.theta, now.t) for now in episodes]
            )
            for one in experiment.record.formulas
        }
    moments = list(run_bandit(experiment, key=key, run=run, actions=actions, rewards=rewards))
    found: Record = {
        name: np.array([of(now) for now in moments])
        for name, of in MEASURES.items()
        if experiment.estimator.draws or not BANDIT_QUANTITIES[name].drawn
        if name != "variance" or has_variance(experiment)
    }
    own = [dict(quantities(experiment, now.given)) for now in moments]
    return found | {f.name: np.array([x[f.name] for x in own]) for f in experiment.record.formulas}
