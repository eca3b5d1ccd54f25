"""Lowering: from an experiment, in words, to a plan, in numbers.

The core knows few things: softmax or probabilities, three updates, a handful of baselines. What
Python can settle beforehand is settled here: schedules become tables, constants and gaps become
one offset, a sigmoid becomes a softmax of two arms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from committal.config import (
    MDP_RECORDABLE,
    RECORDABLE,
    Bandit,
    Baseline,
    Constant,
    Direct,
    Estimator,
    Expected,
    Experiment,
    Gap,
    OneSample,
    Policy,
    Sigmoid,
    Softmax,
    TabularMDP,
    Vanilla,
)
from committal.config.estimators import SOLVERS
from committal.errors import CombinationError, ConfigTypeError
from committal.lowering.mdp import MDP_ESTIMATORS, MdpPlan, lower_mdp
from committal.lowering.parts import (
    BASELINES,
    BEHAVIOURS,
    UPDATES,
    Floats,
    Integers,
    Lowered,
    lower_baseline,
    lower_behaviour,
    scheduled,
)

__all__ = ["Plan", "describe_core_names", "lower"]


@dataclass(frozen=True, slots=True, eq=False)
class Plan(Lowered):
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

    Examples
    --------
    >>> from committal.config import Bandit, Experiment, Natural, Softmax, Value
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), Value() - 1, steps=9)
    >>> plan = lower(exp)
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

    @property
    def sizes(self) -> Mapping[str, int]:
        """The lengths of the axes that recorded quantities may have."""
        return {"arm": self.arms, "sample": self.samples, "parameter": 1}

    @property
    def draws(self) -> int:
        """The actions that one run draws."""
        return max(self.steps, 1) * self.samples


# -- the names of the core, and what each stands for -----------------------------------------------

#: Baselines that are numbers once the problem is known.
_FOLDED: Mapping[type[Baseline], Callable[[Any, Bandit], float]] = {
    Constant: lambda b, _: b.c,
    Gap: lambda b, bandit: _between_best(bandit, b.fraction),
}

_POLICIES: Mapping[type[Policy], str] = {
    Softmax: "softmax",
    # With theta = (theta, 0) a softmax of two arms is the sigmoid.
    Sigmoid: "softmax",
    Direct: "direct",
}

_ESTIMATORS: Mapping[type[Estimator], str] = {OneSample: "sampled", Expected: "expected"}

_NOISES: Mapping[str | None, str] = {
    None: "deterministic",
    "bernoulli": "bernoulli",
    "gaussian": "gaussian",
    "uniform": "uniform",
    "table": "table",
}


def describe_core_names() -> dict[str, tuple[str, ...]]:
    """Return every name that Python may send to the core, by concern.

    Examples
    --------
    >>> describe_core_names()["policies"]
    ('softmax', 'direct')
    """
    names = {
        "baselines": [term.name for term in BASELINES],
        "behaviours": [mu.name for mu in BEHAVIOURS.values()],
        "noises": list(_NOISES.values()),
        "updates": list(UPDATES.values()),
        "policies": list(_POLICIES.values()),
        "estimators": list(_ESTIMATORS.values()),
        "recorders": list(RECORDABLE),
        "mdp_estimators": list(MDP_ESTIMATORS.values()),
        "mdp_recorders": list(MDP_RECORDABLE),
        "solvers": list(SOLVERS),
    }
    return {concern: tuple(dict.fromkeys(listed)) for concern, listed in names.items()}


# -- lowering --------------------------------------------------------------------------------------


def lower(experiment: Experiment) -> Plan | MdpPlan:
    """Turn an experiment into the numbers that the core needs.

    Parameters
    ----------
    experiment
        An experiment with a bandit or an MDP.

    Returns
    -------
    Plan or MdpPlan
        Their arrays are read-only.

    Raises
    ------
    CombinationError
        If a table of a schedule is shorter than the experiment.

    Examples
    --------
    >>> from committal.config import Bandit, Experiment, Natural, Sigmoid
    >>> exp = Experiment(Bandit([1, 0]), Sigmoid(-1), Natural(step_size=0.05), -1, steps=200)
    >>> plan = lower(exp)
    >>> plan.policy, plan.contrast, plan.theta0, plan.baseline_offset
    ('softmax', True, array([-1.,  0.]), -1.0)
    """
    if not isinstance(experiment, Experiment):
        raise ConfigTypeError("experiment", experiment, "an Experiment")
    if isinstance(experiment.problem, TabularMDP):
        return lower_mdp(experiment, experiment.problem)
    if isinstance(experiment.problem, Bandit):
        return _lower_bandit(experiment, experiment.problem)
    raise CombinationError("Experiment.problem", experiment.problem, "a Bandit or a TabularMDP")


def _lower_bandit(experiment: Experiment, problem: Bandit) -> Plan:
    steps = experiment.steps
    update, step_size = _lower_update(experiment)
    folded = {cls: partial(_at, number, problem) for cls, number in _FOLDED.items()}
    terms, offset, initial = lower_baseline(experiment.baseline, folded)
    mu = lower_behaviour(experiment.behaviour, steps)
    table_offsets, table_values, table_cumulative = _lower_table(problem)
    spread = problem.sigma or problem.half_width
    return Plan(
        arms=problem.arms,
        steps=steps,
        policy=_POLICIES[type(experiment.policy)],
        contrast=isinstance(experiment.policy, Sigmoid),
        theta0=_lower_start(experiment.policy, problem.arms),
        update=update,
        estimator=_ESTIMATORS[type(experiment.estimator)],
        samples=getattr(experiment.estimator, "samples", 1),
        step_size=step_size,
        entropy=scheduled("update.entropy", getattr(experiment.update, "entropy", 0.0), steps),
        implicit=scheduled(
            "estimator.implicit", getattr(experiment.estimator, "implicit", 0.0), steps
        ),
        baseline_terms=terms,
        baseline_offset=offset,
        running_mean_initial=initial,
        behaviour=mu.name,
        exploration=mu.exploration,
        behaviour_probabilities=mu.probabilities,
        noise=_NOISES[problem.noise],
        means=np.array(problem.means),
        spread=np.zeros(problem.arms) if spread is None else np.array(spread),
        table_offsets=table_offsets,
        table_values=table_values,
        table_cumulative=table_cumulative,
        reward_variance=np.array(problem.reward_variances),
        times=experiment.record.times(steps),
    )


def _lower_update(experiment: Experiment) -> tuple[str, Floats]:
    policy, update = experiment.policy, experiment.update
    name = UPDATES[type(update)]
    step_size = scheduled("update.step_size", update.step_size, experiment.steps)
    if isinstance(policy, Direct):
        # The gradient with respect to probabilities, followed by the projection.
        name = "projected"
    if isinstance(policy, Sigmoid) and isinstance(update, Vanilla):
        # A vanilla softmax step moves theta_1 by alpha A (1 - p) and theta_2 by the opposite, so
        # their difference, the theta of the sigmoid, moves twice as far as d log p / d theta =
        # 1 - p says. The entropy term doubles in the same way. Natural steps move one of the two
        # only and need no correction.
        step_size = step_size / 2.0
    return name, step_size


def _lower_start(policy: Policy, arms: int) -> Floats:
    if isinstance(policy, Sigmoid):
        return np.array([policy.theta0, 0.0])
    if isinstance(policy, Direct):
        return (
            np.full(arms, 1.0 / arms)
            if policy.probabilities is None
            else np.array(policy.probabilities)
        )
    if isinstance(policy, Softmax) and policy.theta0 is not None:
        return np.array(policy.theta0)
    return np.zeros(arms)


def _at(number: Callable[[Any, Bandit], float], bandit: Bandit, baseline: Baseline) -> float:
    return number(baseline, bandit)


def _between_best(bandit: Bandit, fraction: float) -> float:
    second, best = np.partition(np.array(bandit.means), -2)[-2:].tolist()
    return float(second + fraction * (best - second))


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
