"""Estimators: which signal the update receives."""

from __future__ import annotations

from typing import Any, ClassVar

from committal.config.base import Config, config
from committal.config.schedules import Rate, Schedule, rate
from committal.config.weights import Weight
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, limits

__all__ = ["Estimator", "ExactQ", "Expected", "OneSample", "Reinforce"]

#: How `ExactQ` evaluates a policy.
SOLVERS = ("direct", "iterative")


class Estimator(Config):
    """Base of the estimators.

    Examples
    --------
    >>> isinstance(OneSample(), Estimator)
    True
    """

    __slots__ = ()

    #: What the core calls it.
    core_name: ClassVar[str]
    #: Whether actions are drawn whose rewards the update sees.
    draws: ClassVar[bool] = True


@config
class OneSample(Estimator):
    """A_j = R_j - b with weight 1 / (mu(a_j) + implicit_t), averaged over j = 1, ..., samples.

    Parameters
    ----------
    samples
        How many actions are drawn, and averaged over, in one update.
    implicit
        The implicit exploration of EXP3-IX, a number >= 0 or a schedule. It biases the estimate
        on purpose, to bound its weights; 0 turns it off.
    weight
        w in w A psi, see :func:`committal.weight`; None for rho = pi(a) / mu(a).
    epochs
        How many times theta moves with the same samples. A stays as it was, rho is the ratio of
        the policy that has moved to mu as it was when they were drawn.

    Examples
    --------
    >>> OneSample(samples=4)
    OneSample(samples=4)
    """

    samples: int
    implicit: float | Schedule
    weight: Weight | None
    epochs: int

    def __init__(
        self,
        samples: check.Integer = 1,
        implicit: Rate = 0.0,
        weight: Weight | None = None,
        epochs: check.Integer = 1,
    ) -> None:
        self._set(
            samples=check.integer("OneSample.samples", samples, 1, limits.SAMPLES),
            implicit=rate("OneSample.implicit", implicit, check.NON_NEGATIVE),
            weight=checked_weight("OneSample.weight", weight),
            epochs=check.integer("OneSample.epochs", epochs, 1, limits.EPOCHS),
        )
        if weight is not None and self.implicit != 0.0:
            raise ConfigError(
                "OneSample.implicit", implicit, "0 with a weight: a formula says it (pi[a], mu[a])"
            )

    core_name = "sampled"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain values; one epoch is left out.

        Examples
        --------
        >>> OneSample().to_dict()
        {'kind': 'one_sample', 'samples': 1, 'implicit': 0.0}
        """
        # So that an experiment of before there were epochs has the hash that it had.
        made = Config.to_dict(self)
        if self.epochs == 1:
            del made["epochs"]
        return made


@config
class Expected(Estimator):
    """The expectation of the update over actions and rewards: the true gradient.

    Bandits. Vanilla: theta += alpha (diag(pi) - pi pi^T) r; natural: theta += alpha r; direct:
    the projected step along r. Nothing is drawn, and the baseline has no effect. With a weight, or
    an update that is a formula, it is the expectation of that rule, sum_a mu_a E[w A | a] psi_a,
    and the baseline matters.

    MDPs. With d(s) = sum_i gamma^i P(s_i = s): vanilla theta[s, a] += alpha d(s) pi(a|s)
    (Q(s, a) - V(s)), the exact policy gradient; natural theta[s, a] += alpha (Q(s, a) - V(s))
    where d(s) > 0. Episodes are drawn for what is recorded of them only.

    Parameters
    ----------
    weight
        Of bandits: w of the rule, see :func:`committal.weight`; None for rho.

    Examples
    --------
    >>> Expected()
    Expected()
    """

    weight: Weight | None

    core_name = "expected"
    draws = False

    def __init__(self, weight: Weight | None = None) -> None:
        self._set(weight=checked_weight("Expected.weight", weight))


@config
class ExactQ(Estimator):
    """sum_i c_i (Q(s_i, a_i) - b(s_i)) grad log pi(a_i|s_i) along one episode, Q being exact.

    One update per episode of an MDP, with all terms computed at the old parameters. On-policy
    c_i = 1; otherwise c_i is the product of pi / mu over the steps before i, and step i itself
    is weighted by pi / mu (vanilla) or 1 / mu (natural).

    Parameters
    ----------
    solver
        ``"direct"`` solves the linear equations of Q; ``"iterative"`` sweeps over them until no
        value changes by more than `tolerance`, as the paper did.
    tolerance
        Of the iterative solver.
    discounted
        Multiply c_i by gamma^i, which makes the expectation of the vanilla update the gradient
        of the discounted return. The paper's estimator has no such factor.
    weight
        Of step i itself, instead of pi / mu; see :func:`committal.weight`.

    Examples
    --------
    >>> ExactQ()
    ExactQ()
    >>> ExactQ("iterative", tolerance=1e-6)
    ExactQ(solver='iterative', tolerance=1e-06)
    """

    solver: str
    tolerance: float
    discounted: bool
    weight: Weight | None

    def __init__(
        self,
        solver: str = "direct",
        tolerance: check.Number = 1e-3,
        discounted: bool = False,
        weight: Weight | None = None,
    ) -> None:
        if not isinstance(discounted, bool):
            raise ConfigTypeError("ExactQ.discounted", discounted, "True or False")
        self._set(
            solver=check.choice("ExactQ.solver", solver, SOLVERS),
            tolerance=check.number("ExactQ.tolerance", tolerance, check.POSITIVE),
            discounted=discounted,
            weight=checked_weight("ExactQ.weight", weight),
        )

    core_name = "exact_q"


@config
class Reinforce(Estimator):
    """(G - b) sum_i grad log pi(a_i|s_i) along one episode of return G = sum_i gamma^i r_i.

    One update per episode of an MDP. The baseline is a constant or a running mean of returns.
    Off-policy, rewards carry the importance weights of the steps up to them: with
    rho_i = pi(a_i|s_i) / mu(a_i|s_i), the factor of step i is

    rho_0 ... rho_i (C_i - b) + sum_(k >= i) gamma^k r_k rho_0 ... rho_k,
    where C_i = sum_(k < i) gamma^k r_k.

    Parameters
    ----------
    weight
        Of every step, instead of rho_i, on the policy or a `Snapshot` of it; see
        :func:`committal.weight`.

    Examples
    --------
    >>> Reinforce()
    Reinforce()
    """

    weight: Weight | None

    core_name = "reinforce"

    def __init__(self, weight: Weight | None = None) -> None:
        self._set(weight=checked_weight("Reinforce.weight", weight))


def checked_weight(argument: str, value: object) -> Weight | None:
    if value is None or isinstance(value, Weight):
        return value
    allowed = "a weight, such as cm.weight('minimum(rho, 1)'), or None"
    if isinstance(value, Estimator):
        allowed += "; cm.exact.expected_path(...) takes the expectation of an experiment with it"
    raise ConfigTypeError(argument, value, allowed)
