"""Lowering of MDPs: from an experiment with states and episodes to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from committal.config import ExactQ, Experiment, Group, TabularMDP
from committal.config.formula_quantity import OVER_STATES
from committal.config.quantities import MDP_QUANTITIES, Quantity
from committal.lowering.parts import (
    Floats,
    Integers,
    Lowered,
    lower_baseline,
    lower_behaviour,
    scheduled,
)
from committal.lowering.programs import formula_row, lower_programs

__all__ = ["MdpPlan", "lower_mdp", "lower_model"]


@dataclass(frozen=True, slots=True, eq=False)
class MdpPlan(Lowered):
    """What the core needs to simulate an MDP experiment; the arrays are read-only.

    Schedules (`step_size`, `exploration`) have one entry when constant and otherwise one per
    update.

    Attributes
    ----------
    states, actions
        S, terminal states included, and A.
    terminal
        1 for terminal states, 0 for the others; the k-th terminal state is goal k.
    row_offsets, next_state, probability, reward
        The outcomes of the pair (s, a) are entries row_offsets[s*A + a] to
        row_offsets[s*A + a + 1]; terminal states have none.
    gamma, limit
        The discount and the longest sampled episode.
    start_states, start_cumulative
        The possible first states and the sums of their probabilities.
    steps
        The number of episodes, each followed by one update.
    theta0
        The start, theta[s*A + a].
    update, estimator, solver, tolerance, discounted
        Names and options of the core.
    samples, each_start
        Episodes of one update, and whether there are as many from every start.
    epochs
        How often theta moves with the episodes of one update.
    step_size
        alpha_t.
    baseline_terms, baseline_offset, running_mean_initial
        As for bandits; in state s, of pi(.|s) and Q(s, .).
    behaviour, exploration, behaviour_probabilities
        mu_t(.|s), the same law of pi(.|s) in every state.
    times
        The recorded times, in increasing order.
    programs
        Formulas as programs of the core, by what they are for.
    quantity_states
        What is made of the states by every recorded formula: 0 all of them, 1 their mean, 2 their
        mean with the discounted visits as weights.

    Examples
    --------
    >>> from committal.config import Experiment, ExactQ, MinVariance, Natural, Softmax, gridworld
    >>> exp = Experiment(
    ...     gridworld("S.A", goals={"A": 1}), Softmax(), Natural(step_size=0.1),
    ...     baseline=MinVariance() - 0.5, estimator=ExactQ(), steps=9,
    ... )
    >>> plan = lower_mdp(exp, exp.problem)
    >>> plan.states, plan.terminal, plan.baseline_offset
    (3, array([0, 0, 1], dtype=uint8), -0.5)
    """

    states: int
    actions: int
    terminal: npt.NDArray[np.uint8]
    row_offsets: Integers
    next_state: npt.NDArray[np.int32]
    probability: Floats
    reward: Floats
    gamma: float
    start_states: npt.NDArray[np.int32]
    start_cumulative: Floats
    limit: int
    steps: int
    theta0: Floats
    update: str
    estimator: str
    solver: str
    tolerance: float
    discounted: bool
    samples: int
    each_start: bool
    epochs: int
    step_size: Floats
    baseline_terms: tuple[tuple[str, float, float], ...]
    baseline_offset: float
    running_mean_initial: float
    behaviour: str
    exploration: Floats
    behaviour_probabilities: Floats
    times: Integers
    programs: Mapping[str, Any] = field(default_factory=dict)
    quantity_states: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def quantity(self, name: str) -> Quantity:
        """Return a quantity as it is recorded here."""
        row = formula_row(self.programs, name)
        if row is None:
            return MDP_QUANTITIES[name]
        place = [key for key, _ in self.programs["quantities"]].index(name)
        each = ("state",) if self.quantity_states[place] == 0 else ()
        return replace(row, axes=each + ("action",) * len(row.axes))

    @property
    def sizes(self) -> Mapping[str, int]:
        """The lengths of the axes that recorded quantities may have."""
        return {
            "terminal": int(np.count_nonzero(self.terminal)),
            "state": self.states,
            "action": self.actions,
        }

    @property
    def draws(self) -> int:
        """The most actions that one run draws."""
        groups = len(self.start_states) if self.each_start else 1
        return (self.steps + 1) * self.limit * self.samples * groups


class Model(TypedDict):
    """What the core needs of an MDP itself, whatever is done with it."""

    states: int
    actions: int
    terminal: npt.NDArray[np.uint8]
    row_offsets: Integers
    next_state: npt.NDArray[np.int32]
    probability: Floats
    reward: Floats
    gamma: float


def lower_model(mdp: TabularMDP) -> Model:
    """Turn an MDP into numbers, for a simulator or for the evaluation of policies.

    Examples
    --------
    >>> from committal.config import gridworld
    >>> lower_model(gridworld("S.A", goals={"A": 1}))["states"]
    3
    """
    return {
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "terminal": mdp.is_terminal.astype(np.uint8),
        "row_offsets": mdp.row_offsets,
        "next_state": mdp.next_state,
        "probability": mdp.probability,
        "reward": mdp.reward,
        "gamma": mdp.gamma,
    }


def lower_mdp(experiment: Experiment, mdp: TabularMDP) -> MdpPlan:
    """Turn an experiment with an MDP into the numbers that the core needs.

    Examples
    --------
    >>> from committal.config import Constant, Experiment, Reinforce, Softmax, Vanilla, gridworld
    >>> exp = Experiment(
    ...     gridworld("S.A", goals={"A": 1}), Softmax(), Vanilla(step_size=0.1), 0.5,
    ...     estimator=Reinforce(), steps=9,
    ... )
    >>> plan = lower_mdp(exp, exp.problem)
    >>> plan.estimator, plan.baseline_terms, plan.baseline_offset
    ('reinforce', (), 0.5)
    """
    steps, estimator = experiment.steps, experiment.estimator
    # Nothing reads mean rewards here: Q takes their place, state by state, in the core.
    baseline = lower_baseline(experiment.baseline, np.zeros(mdp.n_actions))
    mu = lower_behaviour(experiment.behaviour, steps)
    rho = mdp.start_distribution
    starts = np.flatnonzero(rho)
    exact = estimator if isinstance(estimator, ExactQ) else ExactQ()
    group = estimator if isinstance(estimator, Group) else None
    return MdpPlan(
        **lower_model(mdp),
        start_states=starts.astype(np.int32),
        start_cumulative=np.cumsum(rho[starts]),
        limit=mdp.limit,
        steps=steps,
        theta0=_lower_start(experiment, mdp),
        update=experiment.update.core_name,
        estimator="reinforce" if group is not None else estimator.core_name,
        samples=1 if group is None else group.samples,
        each_start=group is not None and group.starts == "each",
        epochs=1 if group is None else group.epochs,
        solver=exact.solver,
        tolerance=exact.tolerance,
        discounted=exact.discounted,
        step_size=scheduled(experiment.update.step_size, steps),
        baseline_terms=baseline.terms,
        baseline_offset=baseline.offset,
        running_mean_initial=baseline.initial,
        behaviour=mu.name,
        exploration=mu.exploration,
        behaviour_probabilities=mu.probabilities,
        times=experiment.record.times(steps),
        programs=lower_programs(experiment),
        quantity_states=np.array(
            [(None, *OVER_STATES).index(one.states) for one in experiment.record.formulas], np.int32
        ),
    )


def _lower_start(experiment: Experiment, mdp: TabularMDP) -> Floats:
    # One row for every state, whether one was given for all of them or one for each.
    start = experiment.policy.start(mdp.n_actions)
    return np.broadcast_to(start, (mdp.n_states, mdp.n_actions)).flatten()
