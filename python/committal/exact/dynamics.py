r"""The formulas of one update, for many policies at once.

Everything here is an array formula over leading axes ``(...)``: a policy is an array
``(..., K)``, a baseline ``(...)``, and the direction of an update, per unit of advantage and per
arm drawn, ``(..., K, D)`` with D the number of parameters (K, or 1 for the sigmoid).

What a part means on arrays is asked of the part itself (`Baseline.at`, `Behaviour.at`,
`Update.rows`, `Policy.probabilities_at`). The compiled simulators have formulas of their own; only
what is a number before they start (a schedule, a gap) comes from the same place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from committal.config import (
    Bandit,
    Baseline,
    Direct,
    Experiment,
    Group,
    OneSample,
    Sigmoid,
    spelled_out,
)
from committal.config.scaled import ScaledPolicy
from committal.config.schedules import at_time
from committal.errors import CombinationError, ConfigError
from committal.exact.formulas import refuse_formulas
from committal.support import arrays, check, limits
from committal.support.simplex import Floats

_TINY = float(np.finfo(np.float64).tiny)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def plain_form(argument: str, experiment: Experiment) -> Experiment:
    """The experiment in the parts that answers know, with its own parameters.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Tsallis(), cm.Natural(1), steps=9)
    >>> plain_form("experiment", e)
    Traceback (most recent call last):
        ...
    committal.errors.CombinationError: experiment.policy = Tsallis() is not allowed; expected \
Softmax, Sigmoid, Direct or a link: with a scale, simulate it
    """
    if isinstance(experiment.policy, ScaledPolicy):
        # What it is spelled out in has other parameters: answers would be of those.
        allowed = "Softmax, Sigmoid, Direct or a link: with a scale, simulate it"
        raise CombinationError(f"{argument}.policy", experiment.policy, allowed)
    return spelled_out(experiment)


def no_overflow(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make overflow an error that names the first argument: no answer is NaN in silence.

    It is the door of every answer, so parts that have a name are spelled out here.

    Examples
    --------
    >>> @no_overflow
    ... def square(x: float) -> float:
    ...     return float(np.float64(x) ** 2)
    >>> square(1e200)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: x = 1e+200 is not allowed; expected numbers, and their products \
in `square`, within the range of floating point
    """
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        given = args[0] if args else kwargs.get(first)
        if args and isinstance(given, Experiment):
            args = (plain_form(first, given), *args[1:])  # type: ignore[assignment]
        elif isinstance(given, Experiment):
            kwargs[first] = plain_form(first, given)
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                return function(*args, **kwargs)
        except CombinationError as error:
            if isinstance(given, Experiment):
                raise _about_given(error, first, given) from None
            raise
        except ArithmeticError:
            name = function.__name__
            raise ConfigError(
                first,
                given,
                f"numbers, and their products in `{name}`, within the range of floating point",
            ) from None

    return checked


def _about_given(error: CombinationError, first: str, given: Experiment) -> CombinationError:
    """The same error about the part that was given, not about what it is spelled out to."""
    field, _, inside = error.argument.removeprefix(f"{first}.").partition(".")
    if error.argument == first or not hasattr(given, field):
        return error
    if inside and hasattr(getattr(given, field), inside):
        return error
    if getattr(spelled_out(given), field) == getattr(given, field):
        return error
    if field == "update" and given.regulariser is not None:
        field = "regulariser"
    elif field in ("baseline", "estimator") and isinstance(given.estimator, Group):
        field = "estimator"
    return CombinationError(f"{first}.{field}", getattr(given, field), error.allowed)


def bandit_of(
    experiment: Experiment, argument: str = "experiment", *, formulas: bool = False
) -> Bandit:
    """Return the bandit of an experiment, or say that one is needed.

    Formulas other than baselines are refused by name, unless the caller knows them.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> bandit_of(e).arms
    2
    """
    check.instance(argument, experiment, Experiment, "an Experiment")
    epochs = getattr(experiment.estimator, "epochs", 1)
    if epochs > 1:
        allowed = "1: an exact answer is that of one move of theta"
        raise CombinationError(f"{argument}.estimator.epochs", epochs, allowed)
    if not formulas:
        refuse_formulas(argument, experiment)
    return check.instance(f"{argument}.problem", experiment.problem, Bandit, "a Bandit")


def refuse_memory(argument: str, baseline: Baseline) -> None:
    """Refuse baselines that depend on anything but theta."""
    remembering = [atom for atom in baseline.atoms if not atom.depends_on_theta_only]
    if remembering:
        atom = remembering[0]
        name = repr(atom) if atom.role else type(atom).__name__
        raise CombinationError(
            argument, baseline, f"a baseline that depends on theta only, by pi, without {name}"
        )


def start_of(experiment: Experiment) -> Floats:
    """theta_0, with shape (D,).

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), steps=1)
    >>> start_of(e)
    array([-1.])
    """
    return experiment.policy.start(bandit_of(experiment, formulas=True).arms)


def states_of(
    experiment: Experiment,
    theta: npt.ArrayLike | None,
    policy: npt.ArrayLike | None,
    *,
    argument: str = "theta",
) -> Floats:
    """Return parameters (..., D) from parameters, from probabilities, or the start.

    `argument` is what the caller calls `theta`, for errors. A sigmoid has one parameter, so its
    `theta` has no axis of arms.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), steps=1)
    >>> states_of(e, [0.0, 1.0], None).shape, states_of(e, None, [[0.5, 0.5]]).shape
    ((2, 1), (1, 1))
    """
    arms = bandit_of(experiment, formulas=True).arms
    if theta is not None and policy is not None:
        raise ConfigError("policy", policy, "None where theta is given")
    if policy is not None:
        pi = policies("policy", policy, arms)
        if not isinstance(experiment.policy, Direct) and (pi == 0.0).any():
            raise ConfigError("policy", policy, "probabilities > 0: a softmax reaches no others")
        return experiment.policy.parameters_at(pi)
    if theta is None:
        return start_of(experiment)
    x = arrays.tensor(argument, theta)
    if isinstance(experiment.policy, Sigmoid):
        return x[..., None]
    if x.ndim < 1 or x.shape[-1] != arms:
        raise ConfigError(argument, theta, f"numbers with {arms} arms in the last axis")
    return x


def policies(argument: str, value: npt.ArrayLike, arms: int) -> Floats:
    """Return probabilities (..., K) that sum to 1 over the arms.

    Examples
    --------
    >>> policies("policy", [0.5, 0.5], 2)
    array([0.5, 0.5])
    """
    pi = arrays.tensor(argument, value, check.UNIT, many="probabilities")
    if pi.ndim < 1 or pi.shape[-1] != arms:
        raise ConfigError(argument, value, f"probabilities with {arms} arms in the last axis")
    if (np.abs(pi.sum(axis=-1) - 1.0) > limits.SUM).any():
        raise ConfigError(argument, value, "probabilities that sum to 1 over the last axis")
    return pi


def updates_done(t: object) -> int:
    """Return how many updates were done, which every function calls `t`.

    Examples
    --------
    >>> updates_done(3)
    3
    """
    return check.integer("t", t, 0, limits.DRAWS)


def expected_direction(experiment: Experiment, pi: Floats) -> Floats:
    """E[g] without baseline, on-policy, (..., D): the sum over arms of their rows times r.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(1.0), steps=1)
    >>> expected_direction(e, np.array([0.5, 0.5]))
    array([ 0.25, -0.25])
    """
    r = np.array(bandit_of(experiment).means)
    return _over_arms(experiment.update.rows(experiment.policy, pi), r)


def entropy_direction(experiment: Experiment, theta: Floats) -> Floats:
    """The gradient of H in the geometry of the update: -log pi, or -pi (log pi + H).

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(1.0), steps=1)
    >>> entropy_direction(e, np.array([2.0]))
    array([-2.])
    """
    policy = experiment.policy
    pi, log_pi = policy.probabilities_at(theta), policy.log_probabilities_at(theta)
    return _over_arms(experiment.update.rows(policy, pi), -log_pi)


def _over_arms(rows: Floats, x: Floats) -> Floats:
    """Sum over a of J_a x_a, (..., D), from rows (..., K, D) and x (K,) or (..., K)."""
    return np.asarray((rows * x[..., None]).sum(axis=-2))


def importance_weights(mu: Floats, implicit: float) -> Floats:
    """1 / (mu + implicit); 0 for an arm that is never drawn.

    Examples
    --------
    >>> importance_weights(np.array([0.5, 0.0]), 0.0)
    array([2., 0.])
    """
    drawn = mu > _TINY
    return np.where(drawn, 1.0 / (np.where(drawn, mu, 1.0) + implicit), 0.0)


def samples_of(experiment: Experiment) -> int:
    """N, the draws averaged in one update; 0 for the expected estimator.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> samples_of(e)
    1
    """
    estimator = experiment.estimator
    return estimator.samples if isinstance(estimator, OneSample) else 0


def implicit_of(experiment: Experiment, t: int) -> float:
    """The implicit exploration of EXP3-IX at update t.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> implicit_of(e, 0)
    0.0
    """
    estimator = experiment.estimator
    return at_time(estimator.implicit, t) if isinstance(estimator, OneSample) else 0.0


def reward_atoms(problem: Bandit, a: int) -> tuple[tuple[float, float], ...]:
    """The (value, probability) pairs of the reward of arm a.

    Examples
    --------
    >>> import committal as cm
    >>> reward_atoms(cm.Bandit([0.25, 0.75], noise="bernoulli"), 0)
    ((1.0, 0.25), (0.0, 0.75))
    """
    r = problem.means[a]
    if problem.noise is None:
        return ((r, 1.0),)
    if problem.noise == "bernoulli":
        return ((1.0, r), (0.0, 1.0 - r))
    if problem.table is not None:
        return problem.table[a]
    raise CombinationError(
        "experiment.problem.noise",
        problem.noise,
        "rewards with finitely many values: None, 'bernoulli' or 'table'",
    )
