r"""Where any rule leads on average, update by update.

The expectation of the rule takes the place of what is drawn:
:math:`\theta_{t+1} = \theta_t + \alpha_t\, s(E[g(\theta_t)])`, where s is what the optimiser makes
of it. The mean is over all that N samples may be, by counts (:mod:`committal.exact.law`), so that
groups, their standard deviations and clipped weights have theirs too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config import Experiment, Plain
from committal.config.schedules import at_time
from committal.exact import dynamics, formulas
from committal.exact.flow import expected_gradient
from committal.formula.formula import Formula
from committal.formula.shapes import ARM
from committal.support.simplex import Floats


def has_own_expectation(experiment: Experiment) -> bool:
    """Whether the expectation of a rule is more than the true gradient.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), cm.Value(), steps=9)
    >>> has_own_expectation(e), has_own_expectation(e.replace(optimiser=cm.Normalised()))
    (False, True)
    """
    implicit = getattr(experiment.estimator, "implicit", 0.0)
    return formulas.has_formulas(experiment) or implicit != 0.0


def expected_parameters(experiment: Experiment, wanted: npt.NDArray[np.int64]) -> Floats:
    """theta at some numbers of updates, (n, D), with the expectation of the rule in every update.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.5), steps=9, optimiser=cm.Momentum(0.5)
    ... )
    >>> expected_parameters(e, np.array([1, 2]))
    array([[ 0.125     , -0.125     ],
           [ 0.31056704, -0.31056704]])
    """
    rule = experiment.replace(optimiser=Plain())
    optimiser = experiment.optimiser.tree
    theta = dynamics.start_of(experiment)
    states: dict[str, Any] = {}
    kept = [theta] if wanted[0] == 0 else []
    for t in range(int(wanted[-1])):
        step = expected_gradient(rule, theta, t)
        if optimiser is not None:
            step, states = _optimised(optimiser, step, theta, t, states)
        theta = theta + at_time(experiment.update.step_size, t) * step
        if t + 1 == wanted[len(kept)]:
            kept.append(theta)
    return np.array(kept)


def _optimised(
    optimiser: Formula, g: Floats, theta: Floats, t: int, states: dict[str, Any]
) -> tuple[Floats, dict[str, Any]]:
    """What an optimiser makes of a gradient, and what it remembers."""
    given: dict[str, Any] = {"g": g, "theta": theta, "t": float(t), "K": float(len(g))}
    for key, _, node in optimiser.states:
        vector = ARM in (optimiser.shapes.get(key), node.shape)
        first = optimiser.initial(key)
        given[key] = states.get(key, np.full(len(g), first) if vector else first)
    step = np.broadcast_to(optimiser.at(given), g.shape)
    return formulas.require_finite(step), optimiser.next_states(given)
