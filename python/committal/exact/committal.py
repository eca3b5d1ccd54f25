r"""The committal probability: how likely a run is to end on each arm, for ever.

Natural policy gradient on a bandit is a Markov chain in the policy. Where it ends is a function h
of where it starts that solves :math:`h(\theta) = E[h(\theta_1) \mid \theta_0 = \theta]`. This is
solved on a line for two arms (`two_arms`) and on a plane for three (`three_arms`), without
sampling, for all starts at once.

"Ends" means :math:`t \to \infty`. A run that is thrown to depth D near a vertex that repels it
needs of the order of :math:`D / \alpha` updates to come back, and D has a heavy tail. A simulation
stopped at any time counts such runs as stuck where they are; the probabilities here do not.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from committal.config import (
    Experiment,
    Natural,
    OneSample,
    Record,
    Schedule,
    Sigmoid,
    Softmax,
)
from committal.errors import CombinationError
from committal.exact import dynamics
from committal.exact.grid import simplex_grid
from committal.exact.three_arms import Plane, solve_plane
from committal.exact.two_arms import Line, solve_line
from committal.support import check
from committal.support.simplex import Floats

__all__ = ["CommittalMap", "committal_map", "committal_probability"]

#: Errors aimed at, by the number of arms.
TOLERANCES = {2: 1e-7, 3: 1e-4}

MOST_NODES = 100_000


@dataclass(frozen=True, eq=False)
class Certain:
    """Every run ends on one arm: with exploration that does not stop it is the best one."""

    arm: int
    arms: int

    def at(self, theta: Floats) -> tuple[Floats, Floats]:
        """Probabilities (n, K) and errors (n,) at n parameters."""
        values = np.zeros((len(theta), self.arms))
        values[:, self.arm] = 1.0
        return values, np.zeros(len(theta))


@dataclass(frozen=True, eq=False)
class CommittalMap:
    r"""P(the run ends on arm k | :math:`\theta_0`), for every start.

    Attributes
    ----------
    experiment : Experiment
        What is run; its own start and number of steps do not matter.
    solution : Line, Plane or Certain
        The solved equation.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=200)
    >>> m = committal_map(e)
    >>> m.probabilities([-1.0, 0.0, 1.0]).round(4)
    array([[0.8723, 0.1277],
           [0.9217, 0.0783],
           [0.927 , 0.073 ]])
    >>> bool((m.error([-1.0, 0.0, 1.0]) < 1e-6).all())
    True
    """

    experiment: Experiment
    solution: Line | Plane | Certain

    def probabilities(self, starts: npt.ArrayLike | None = None) -> Floats:
        """The probabilities of ending on each arm, with shape (..., K).

        They sum to less than 1 where a run may end on no arm at all.

        Parameters
        ----------
        starts : array_like, shape (..., K), optional
            Parameters to start from, without the last axis for a sigmoid; by default the start of
            the experiment.
        """
        return self._at(starts)[0]

    def error(self, starts: npt.ArrayLike | None = None) -> Floats:
        """The estimated error of each probability, with shape (...)."""
        return self._at(starts)[1]

    def on_simplex(self, n: int) -> tuple[Floats, Floats]:
        """Policies of a regular grid with n points along a side, and their probabilities.

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
        >>> policies, ends = committal_map(e).on_simplex(5)
        >>> policies.shape, ends.shape
        ((5, 2), (5, 2))
        """
        policies = simplex_grid(n, dynamics.bandit_of(self.experiment).arms)
        states = self.experiment.policy.parameters_at(policies)
        return policies, self.solution.at(self._canonical(states))[0]

    def _at(self, starts: npt.ArrayLike | None) -> tuple[Floats, Floats]:
        states = dynamics.states_of(self.experiment, starts, None, argument="starts")
        shape = states.shape[:-1]
        values, error = self.solution.at(self._canonical(states.reshape(-1, states.shape[-1])))
        return values.reshape(*shape, values.shape[-1]), error.reshape(shape)

    def _canonical(self, states: Floats) -> Floats:
        """Parameters as the solvers take them: one difference for two arms."""
        if isinstance(self.solution, Line):
            return np.asarray(states[:, 0] - (states[:, 1] if states.shape[1] == 2 else 0.0))
        return states


@dynamics.no_overflow
def committal_map(
    experiment: Experiment, *, tolerance: float | None = None, most_nodes: int = MOST_NODES
) -> CommittalMap:
    r"""Solve :math:`h(\theta) = E[h(\theta_1) \mid \theta_0 = \theta]` for all starts.

    Parameters
    ----------
    experiment : Experiment
        A bandit of two or three arms whose rewards have finitely many values, a softmax or sigmoid
        policy, natural updates with a constant step size, and a baseline that depends on theta
        only. Drawn on-policy; with exploration that does not stop the answer is known without
        solving.
    tolerance : float, optional
        The error aimed at: 1e-7 for two arms, 1e-4 for three by default. For three arms it is
        asked for where every arm has at least exp(-10) of the leader's probability.
    most_nodes : int, optional
        For three arms, no lattice of more nodes is used; the error is reported as it is.

    Returns
    -------
    CommittalMap
        Maps of the same dynamics are kept: asking again for other starts costs nothing.

    Raises
    ------
    CombinationError
        If the equation does not hold for this experiment; the message says what is needed.

    Notes
    -----
    Near a vertex whose pull changes sign with the direction of approach, h jumps across that
    direction, by a layer thinner than any lattice. There, and where two arms are lost by more
    than exp(-10), the error is larger than the tolerance; `CommittalMap.error` says by how much.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.1), cm.MinVariance() - 0.5, steps=1
    ... )
    >>> m = committal_map(e, tolerance=1e-2)
    >>> m.probabilities([[0, 0, 0], [0, 3, 3]]).round(2)
    array([[0.93, 0.07, 0.  ],
           [0.29, 0.71, 0.  ]])
    """
    problem = dynamics.bandit_of(experiment)
    _refuse(experiment)
    if tolerance is None:
        tolerance = TOLERANCES[problem.arms]
    tolerance = check.number("tolerance", tolerance, check.Interval(1e-12, 0.1))
    most_nodes = check.integer("most_nodes", most_nodes, 1)
    policy = Sigmoid() if problem.arms == 2 else Softmax()
    stripped = experiment.replace(policy=policy, steps=0, record=Record())
    return CommittalMap(experiment, _solve(stripped, tolerance, most_nodes))


@functools.lru_cache(maxsize=16)
def _solve(experiment: Experiment, tolerance: float, most_nodes: int) -> Line | Plane | Certain:
    problem = dynamics.bandit_of(experiment)
    if not _on_policy(experiment):
        return Certain(problem.best, problem.arms)
    if problem.arms == 2:
        return solve_line(experiment, tolerance)
    return solve_plane(experiment, tolerance, most_nodes)


@overload
def committal_probability(
    experiment: Experiment,
    *,
    starts: None = None,
    arm: int | None = None,
    tolerance: float | None = None,
    return_error: Literal[False] = False,
) -> float: ...


@overload
def committal_probability(
    experiment: Experiment,
    *,
    starts: npt.ArrayLike,
    arm: int | None = None,
    tolerance: float | None = None,
    return_error: Literal[False] = False,
) -> Floats: ...


@overload
def committal_probability(
    experiment: Experiment,
    *,
    starts: None = None,
    arm: int | None = None,
    tolerance: float | None = None,
    return_error: Literal[True],
) -> tuple[float, float]: ...


@overload
def committal_probability(
    experiment: Experiment,
    *,
    starts: npt.ArrayLike,
    arm: int | None = None,
    tolerance: float | None = None,
    return_error: Literal[True],
) -> tuple[Floats, Floats]: ...


@dynamics.no_overflow
def committal_probability(
    experiment: Experiment,
    *,
    starts: npt.ArrayLike | None = None,
    arm: int | None = None,
    tolerance: float | None = None,
    return_error: bool = False,
) -> float | Floats | tuple[float, float] | tuple[Floats, Floats]:
    r"""P(the run ends on a suboptimal arm | :math:`\theta_0`), without sampling.

    Parameters
    ----------
    experiment : Experiment
        As for :func:`committal_map`.
    starts : array_like, shape (..., K), optional
        Parameters to start from, without the last axis for a sigmoid; by default the start of the
        experiment.
    arm : int, optional
        Ask for this arm (counted from 0) instead of for all arms that are not best.
    tolerance : float, optional
        The error aimed at.
    return_error : bool, optional
        Return the estimated error too.

    Returns
    -------
    float or ndarray
        A number for the start of the experiment, an array for `starts`.
    float or ndarray
        The estimated error, if asked for.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.05), -1.0, steps=200)
    >>> round(committal_probability(e), 4)
    0.062
    >>> committal_probability(e, starts=[-3.0, -1.0]).round(4)
    array([0.4058, 0.062 ])
    """
    problem = dynamics.bandit_of(experiment)
    if arm is not None:
        arm = check.integer("arm", arm, 0, problem.arms - 1)
    check.boolean("return_error", return_error)
    # Refused before anything is solved.
    dynamics.states_of(experiment, starts, None, argument="starts")
    found = committal_map(experiment, tolerance=tolerance)
    means = np.array(problem.means)
    wanted = means < means.max() if arm is None else np.arange(problem.arms) == arm
    values = found.probabilities(starts)[..., wanted].sum(axis=-1)
    error = np.asarray(found.error(starts) * wanted.sum())
    if starts is None:
        return (float(values), float(error)) if return_error else float(values)
    return (values, error) if return_error else np.asarray(values)


def _on_policy(experiment: Experiment) -> bool:
    return experiment.behaviour.mixes == "policy" and experiment.behaviour.exploration == 0.0


def _refuse(experiment: Experiment) -> None:
    """Refuse experiments whose ends the equation does not describe."""
    problem, update, estimator = (
        dynamics.bandit_of(experiment),
        experiment.update,
        experiment.estimator,
    )
    if problem.arms not in TOLERANCES:
        raise CombinationError("experiment.problem", problem, "a bandit of two or three arms")
    if not isinstance(update, Natural):
        raise CombinationError(
            "experiment.update", update, "Natural: the equation of the ends is known for it only"
        )
    if isinstance(update.step_size, Schedule):
        raise CombinationError("experiment.update.step_size", update.step_size, "a constant")
    if update.entropy != 0.0:
        raise CombinationError(
            "experiment.update.entropy",
            update.entropy,
            "0: with entropy regularisation no run becomes deterministic",
        )
    if not isinstance(estimator, OneSample):
        raise CombinationError("experiment.estimator", estimator, "OneSample")
    if problem.arms == 3 and estimator.samples > 1:
        raise CombinationError(
            "experiment.estimator.samples", estimator.samples, "1 for three arms"
        )
    if isinstance(estimator.implicit, Schedule):
        raise CombinationError("experiment.estimator.implicit", estimator.implicit, "a constant")
    dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    for a in range(problem.arms):
        dynamics.reward_atoms(problem, a)
    if _on_policy(experiment):
        return
    rate = experiment.behaviour.exploration
    if isinstance(rate, Schedule):
        raise CombinationError("experiment.behaviour", experiment.behaviour, "a constant rate")
    if not (experiment.behaviour.least(problem.arms, np.array([rate])) > 0.0).all():
        raise CombinationError(
            "experiment.behaviour",
            experiment.behaviour,
            "OnPolicy, or one that draws every arm with a probability that stays above 0",
        )
    if estimator.implicit != 0.0 or sum(r == max(problem.means) for r in problem.means) > 1:
        raise CombinationError(
            "experiment.behaviour",
            experiment.behaviour,
            "OnPolicy, or a single best arm and an unbiased estimate (implicit = 0)",
        )
