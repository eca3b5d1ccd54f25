"""Lowering of bandits: from an experiment, in words, to numbers.

The core knows few things: softmax or probabilities, three updates, a handful of baselines. What
Python can settle beforehand is settled here: schedules become tables, constants and gaps become
one offset, a sigmoid becomes a softmax of two arms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committal.config import Bandit, Experiment, OneSample, Policy, Sigmoid
from committal.config.quantities import BANDIT_QUANTITIES, CONTRAST, Quantity
from committal.lowering.parts import (
    Floats,
    Integers,
    Lowered,
    lower_baseline,
    lower_behaviour,
    scheduled,
)
from committal.lowering.programs import formula_row, lower_programs

__all__ = ["BanditPlan", "lower_bandit"]


@dataclass(frozen=True, slots=True, eq=False)
class BanditPlan(Lowered):
    """What the core needs to simulate a bandit experiment; the arrays are read-only.

    Schedules (`step_size`, `entropy`, `implicit`, `exploration`) have one entry when constant and
    otherwise one per update.

    Attributes
    ----------
    arms, steps, samples
        K, the number of updates and the draws averaged in each.
    policy
        ``"softmax"`` or ``"direct"``.
    contrast
        Whether theta is recorded as the difference theta_1 - theta_2, as for a sigmoid.
    theta0
        The start; for a direct policy, probabilities.
    update, estimator
        Names of the core.
    step_size, entropy, implicit
        alpha_t, tau_t and the implicit exploration of EXP3-IX; [0.0] turns the last two off.
    baseline_terms, baseline_offset
        b = sum of coefficient * B(parameter) over (name, coefficient, parameter), plus the offset.
    running_mean_initial
        The running mean before the first reward.
    behaviour, exploration, behaviour_probabilities
        mu_t: its name, gamma_t or epsilon_t, and the fixed probabilities (empty if none).
    noise, means, spread, reward_variance
        The law of the rewards; the spread is sigma or the half width, per arm.
    table_offsets, table_values, table_cumulative
        Finite tables, flattened: arm a owns entries table_offsets[a] to table_offsets[a + 1].
    times
        The recorded times, in increasing order.
    programs
        Formulas as programs of the core, by what they are for.

    Examples
    --------
    >>> from committal.config import Bandit, Experiment, Natural, Softmax, Value
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), Value() - 1, steps=9)
    >>> plan = lower_bandit(exp, exp.problem)
    >>> plan.baseline_terms, plan.baseline_offset
    ((('value', 1.0, 0.0),), -1.0)
    """

    arms: int
    steps: int
    policy: str
    contrast: bool
    theta0: Floats
    update: str
    estimator: str
    samples: int
    step_size: Floats
    entropy: Floats
    implicit: Floats
    baseline_terms: tuple[tuple[str, float, float], ...]
    baseline_offset: float
    running_mean_initial: float
    behaviour: str
    exploration: Floats
    behaviour_probabilities: Floats
    noise: str
    means: Floats
    spread: Floats
    table_offsets: Integers
    table_values: Floats
    table_cumulative: Floats
    reward_variance: Floats
    times: Integers
    programs: Mapping[str, Any] = field(default_factory=dict)

    def quantity(self, name: str) -> Quantity:
        """Return a quantity as it is recorded here: a sigmoid has one parameter."""
        if name == "theta" and self.contrast:
            return CONTRAST
        return formula_row(self.programs, name) or BANDIT_QUANTITIES[name]

    @property
    def sizes(self) -> Mapping[str, int]:
        """The lengths of the axes that recorded quantities may have."""
        return {"arm": self.arms, "sample": self.samples, "parameter": 1}

    @property
    def draws(self) -> int:
        """The actions that one run draws."""
        return max(self.steps, 1) * self.samples


def lower_bandit(experiment: Experiment, problem: Bandit) -> BanditPlan:
    """Turn an experiment with a bandit into the numbers that the core needs.

    Examples
    --------
    >>> from committal.config import Natural
    >>> exp = Experiment(Bandit([1, 0]), Sigmoid(-1), Natural(step_size=0.05), -1, steps=200)
    >>> plan = lower_bandit(exp, exp.problem)
    >>> plan.policy, plan.contrast, plan.theta0, plan.baseline_offset
    ('softmax', True, array([-1.,  0.]), -1.0)
    """
    steps = experiment.steps
    update, factor = experiment.update.core_for(experiment.policy)
    estimator = experiment.estimator
    sampled = estimator if isinstance(estimator, OneSample) else OneSample()
    means = np.array(problem.means)
    baseline = lower_baseline(experiment.baseline, means)
    mu = lower_behaviour(experiment.behaviour, steps)
    table_offsets, table_values, table_cumulative = _lower_table(problem)
    spread = problem.sigma or problem.half_width
    return BanditPlan(
        arms=problem.arms,
        steps=steps,
        policy=experiment.policy.core_name,
        contrast=isinstance(experiment.policy, Sigmoid),
        theta0=_lower_start(experiment.policy, problem.arms),
        update=update,
        estimator=estimator.core_name,
        samples=sampled.samples,
        step_size=scheduled(experiment.update.step_size, steps) * factor,
        entropy=scheduled(getattr(experiment.update, "entropy", 0.0), steps),
        implicit=scheduled(sampled.implicit, steps),
        baseline_terms=baseline.terms,
        baseline_offset=baseline.offset,
        running_mean_initial=baseline.initial,
        behaviour=mu.name,
        exploration=mu.exploration,
        behaviour_probabilities=mu.probabilities,
        noise=problem.noise or "deterministic",
        means=means,
        spread=np.zeros(problem.arms) if spread is None else np.array(spread),
        table_offsets=table_offsets,
        table_values=table_values,
        table_cumulative=table_cumulative,
        reward_variance=np.array(problem.reward_variances),
        times=experiment.record.times(steps),
        programs=lower_programs(experiment),
    )


def _lower_start(policy: Policy, arms: int) -> Floats:
    start = policy.start(arms)
    return np.append(start, 0.0) if isinstance(policy, Sigmoid) else start


def _lower_table(bandit: Bandit) -> tuple[Integers, Floats, Floats]:
    """Flatten the tables of rewards into offsets, values and cumulative probabilities."""
    if bandit.table is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    offsets, values, cumulative = [0], [], []
    for arm in bandit.table:
        # The last cumulative probability is made exactly 1, whatever the rounding of the sum; a
        # value of probability 0 must not be the one that gets what was missing.
        possible = [(value, p) for value, p in arm if p > 0.0]
        total = 0.0
        for value, p in possible:
            total += p
            values.append(value)
            cumulative.append(min(total, 1.0))
        cumulative[-1] = 1.0
        offsets.append(len(values))
    return np.array(offsets, dtype=np.int64), np.array(values), np.array(cumulative)
