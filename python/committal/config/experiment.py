"""The experiment: one choice of every part, checked to go together."""

from __future__ import annotations

from typing import Any

from committal.config.base import Config, abbreviated, called, config, kinds, refuse_subclass
from committal.config.behaviours import Behaviour, OnPolicy
from committal.config.estimators import Estimator, OneSample
from committal.config.formula_update import UpdateRule
from committal.config.linear import Baseline, Constant, as_baseline
from committal.config.optimisers import Optimiser, Plain
from committal.config.policies import Policy
from committal.config.problem import Problem
from committal.config.record import Record
from committal.config.regularisers import Regulariser
from committal.config.rules import refusal_of
from committal.config.updates import Update
from committal.errors import CombinationError, ConfigTypeError
from committal.support import check, html, limits, text

__all__ = ["Experiment"]


@config
class Experiment(Config):
    """theta_(t+1) = theta_t + alpha_t g_t, for t = 0, ..., steps - 1: everything that defines g_t.

    Parameters
    ----------
    problem
        What pays the rewards.
    policy
        How parameters become probabilities, and the start.
    update
        The geometry of the step, and its size.
    baseline
        A baseline, or a number for a constant one.
    behaviour
        The distribution that actions are drawn from.
    estimator
        Which signal the update receives.
    steps
        The number of updates; for an MDP, of episodes.
    optimiser
        What becomes of the direction before the step size; by default nothing.
    regulariser
        What is added to the gradient whatever the rewards are; by default nothing.
    record
        What is kept; by default, at the end, the value and the policy, or for an MDP the return
        of one more episode and the value.

    Raises
    ------
    CombinationError
        If the parts do not go together; the message says what to use instead.

    Examples
    --------
    >>> from committal.config import Bandit, Experiment, MinVariance, Natural, Softmax
    >>> exp = Experiment(
    ...     problem=Bandit([1.0, 0.7, 0.0]),
    ...     policy=Softmax([0, 3, 5]),
    ...     update=Natural(step_size=0.025),
    ...     baseline=MinVariance() + 0.5,
    ...     steps=1000,
    ... )
    >>> print(exp)
    Experiment
      problem    Bandit((1.0, 0.7, 0.0))
      policy     Softmax((0.0, 3.0, 5.0))
      update     Natural(step_size=0.025)
      baseline   MinVariance() + 0.5
      behaviour  OnPolicy()
      estimator  OneSample()
      steps      1000
      record     Record('value', 'policy')
    >>> exp == Experiment.from_toml(exp.to_toml())
    True
    """

    problem: Problem
    policy: Policy
    update: Update
    baseline: Baseline
    behaviour: Behaviour
    estimator: Estimator
    steps: int
    optimiser: Optimiser
    regulariser: Regulariser | None
    record: Record

    def __init__(
        self,
        problem: Problem,
        policy: Policy,
        update: Update,
        baseline: Baseline | check.Number = Constant(0.0),  # noqa: B008  # immutable
        behaviour: Behaviour = OnPolicy(),  # noqa: B008
        estimator: Estimator = OneSample(),  # noqa: B008
        *,
        steps: check.Integer,
        optimiser: Optimiser = Plain(),  # noqa: B008
        regulariser: Regulariser | None = None,
        record: Record = Record(),  # noqa: B008
    ) -> None:
        for name, value, family in (
            ("problem", problem, Problem),
            ("policy", policy, Policy),
            ("update", update, Update),
            ("behaviour", behaviour, Behaviour),
            ("estimator", estimator, Estimator),
            ("optimiser", optimiser, Optimiser),
            ("record", record, Record),
            *((("regulariser", regulariser, Regulariser),) if regulariser is not None else ()),
        ):
            if isinstance(value, UpdateRule) and family is Update:
                allowed = "an update with a step size: call it, as in mine(step_size=0.1)"
                raise ConfigTypeError("Experiment.update", value, allowed)
            if not isinstance(value, family):
                classes = ", ".join(called(cls) for cls in kinds(family).values())
                raise ConfigTypeError(f"Experiment.{name}", value, f"an instance of {classes}")
            refuse_subclass(f"Experiment.{name}", value)
        self._set(
            problem=problem,
            policy=policy,
            update=update,
            baseline=as_baseline("Experiment.baseline", baseline),
            behaviour=behaviour,
            estimator=estimator,
            steps=check.integer("Experiment.steps", steps, 0, limits.DRAWS - 1),
            optimiser=optimiser,
            regulariser=regulariser,
            record=record.named(problem.recorded_by_default),
        )
        refusal = refusal_of(self)
        if refusal is not None:
            raise CombinationError(f"Experiment.{refusal.argument}", refusal.value, refusal.allowed)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain values; the plain optimiser is left out.

        Examples
        --------
        >>> from committal.config import Bandit, Experiment, Natural, Softmax
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=9)
        >>> "optimiser" in exp.to_dict()
        False
        """
        # So that an experiment of before there were optimisers has the hash that it had.
        made = Config.to_dict(self)
        if isinstance(self.optimiser, Plain):
            del made["optimiser"]
        return made

    def _parts(self) -> dict[str, Any]:
        """What is shown of it: everything but the parts that do nothing."""
        shown = self._arguments()
        if isinstance(self.optimiser, Plain):
            del shown["optimiser"]
        if self.regulariser is None:
            del shown["regulariser"]
        return shown

    def __str__(self) -> str:
        parts = {name: abbreviated(value) for name, value in self._parts().items()}
        return "\n".join(("Experiment", *text.facts(parts, indent="  ")))

    def _repr_html_(self) -> str:
        parts = {
            name: value._in_page() if isinstance(value, Config) else html.code(repr(value))
            for name, value in self._parts().items()
        }
        toml = html.folded("as TOML", html.lines(self.to_toml()))
        return html.page("Experiment", html.facts(parts), toml)
