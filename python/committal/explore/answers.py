"""Answers without sampling, for the page: where runs end, and how much a gradient estimate varies.

They may take seconds, so they are made in a process of their own, see
:mod:`committal.explore.workers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config import Experiment
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics
from committal.exact.committal import CommittalMap, committal_map
from committal.exact.variance import gradient_variance
from committal.support import check

Answer = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]

#: Errors aimed at, by the number of arms: what can be seen on a screen, in seconds.
TOLERANCES = {2: 1e-6, 3: 3e-3}
#: Pixels of a map: columns, and rows of a triangle of that width.
COLUMNS, ROWS = 128, 111
#: Nodes of the lattice of an equation.
NODES = 20_000
#: Policies are kept this far from the boundary, where a softmax has no parameters.
EDGE = 1e-4


def probability(experiment: Experiment) -> Answer:
    """P(the run ends on a suboptimal arm), with its error.

    Examples
    --------
    >>> from committal.config import Bandit, Constant, Natural, Sigmoid
    >>> exp = Experiment(
    ...     Bandit([1, 0]), Sigmoid(-1), Natural(0.1), Constant(-1), steps=200
    ... )
    >>> head, _ = probability(exp)
    >>> round(head["probability"], 4)
    0.1277
    """
    solved, worse = _solved(experiment)
    value = solved.probabilities()[worse].sum()
    return {"probability": float(value), "uncertainty": float(solved.error() * worse.sum())}, {}


def ends(experiment: Experiment) -> Answer:
    """The same from every start.

    Examples
    --------
    >>> from committal.config import Bandit, Constant, Natural, Sigmoid
    >>> exp = Experiment(
    ...     Bandit([1, 0]), Sigmoid(-1), Natural(0.1), Constant(-1), steps=200
    ... )
    >>> ends(exp)[1]["map"].shape
    (1, 128)
    """
    arms = _drawable(experiment)
    solved, worse = _solved(experiment)
    starts = experiment.policy.parameters_at(pixels(arms))
    if starts.shape[-1] == 1:  # the one parameter of a sigmoid has no axis
        starts = starts[..., 0]
    stuck = solved.probabilities(starts)[..., worse].sum(axis=-1)
    return {"low": 0.0, "high": 1.0, "log": False}, {"map": np.clip(stuck, 0.0, 1.0)}


def variance(experiment: Experiment) -> Answer:
    """log10 of the variance of the gradient estimate, at every policy.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0.7, 0]), Softmax(), Natural(0.1), steps=1)
    >>> variance(exp)[1]["map"].shape
    (111, 128)
    """
    policies = pixels(_drawable(experiment))
    found = np.maximum(gradient_variance(experiment, policy=policies), 1e-300)
    logs = np.log10(found)
    # A few policies at the edge would take all of the colours.
    low, high = (float(q) for q in np.quantile(logs, (0.02, 0.98)))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return {"low": low, "high": high, "log": True}, {"map": np.clip(logs, low, high)}


ANSWERS: dict[str, Callable[[Experiment], Answer]] = {
    "probability": probability,
    "ends": ends,
    "variance": variance,
}


def answer(what: object, experiment: Experiment) -> Answer:
    """Give an answer by its name.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> answer("all", Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=1))
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: what = 'all' is not allowed; expected one of 'probability', \
'ends', 'variance'
    """
    return ANSWERS[check.choice("what", what, tuple(ANSWERS))](experiment)


def _solved(experiment: Experiment) -> tuple[CommittalMap, npt.NDArray[np.bool_]]:
    """Solve for all starts, once for the number and the map; and say which arms are not best."""
    means = np.array(dynamics.bandit_of(experiment).means)
    tolerance = TOLERANCES.get(means.size)
    return committal_map(experiment, tolerance=tolerance, most_nodes=NODES), means < means.max()


def _drawable(experiment: Experiment) -> int:
    arms = len(getattr(experiment.problem, "means", ()))
    if arms not in (2, 3):
        raise CombinationError("experiment.problem", arms, "two or three arms: a map is flat")
    if not hasattr(experiment.policy, "parameters_at"):
        raise ConfigError("experiment.policy", experiment.policy, "one with parameters")
    return arms


def pixels(arms: int) -> npt.NDArray[np.float64]:
    """Return the policy of every pixel of a map, with shape (rows, columns, arms).

    Two arms are a row, from the second arm to the first. Three are a triangle that fills its
    rectangle, the first arm at the top, the second at the left; pixels outside of it have the
    policy of its nearest side, so that a picture can be smoothed.

    Examples
    --------
    >>> pixels(2)[0, -1].round(2)
    array([1., 0.])
    >>> pixels(3)[0, 64].round(1)
    array([1., 0., 0.])
    """
    x = (np.arange(COLUMNS) + 0.5) / COLUMNS
    if arms == 2:
        policies = np.stack([x, 1.0 - x], axis=-1)[None]
    else:
        y = (np.arange(ROWS) + 0.5) / ROWS
        first = np.broadcast_to(1.0 - y[:, None], (ROWS, COLUMNS))
        third = x[None, :] - first / 2.0
        policies = np.stack([first, 1.0 - first - third, third], axis=-1)
    policies = np.clip(policies, EDGE, None)
    return np.asarray(policies / policies.sum(axis=-1, keepdims=True))
