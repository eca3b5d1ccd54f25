r"""The law of one update.

An update draws N samples, each an arm a with probability :math:`\mu_a` and one of finitely many
rewards, so :math:`\theta_{t+1} - \theta_t` takes finitely many values. They are listed here with
their probabilities, for many policies at once, and summed up exactly.

The order of the samples does not matter to any rule, so N samples of n atoms give
:math:`\binom{n + N - 1}{N}` outcomes, not :math:`n^N`: see `committal.exact.counts`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from committal.config import Direct, Experiment, FormulaPolicy, Policy, Sigmoid
from committal.config.schedules import at_time
from committal.errors import CombinationError, ConfigError
from committal.exact import dynamics, formulas
from committal.exact.counts import Counts, count_vectors, multinomial
from committal.support import check, limits
from committal.support.simplex import Floats, project_onto_simplex

__all__ = ["OneStepLaw", "one_step", "one_step_law"]

Space: TypeAlias = Literal["theta", "policy"]


@dataclass(frozen=True, eq=False)
class OneStepLaw:
    r"""P(update = u_m) = p_m, m = 1, ..., M, for each of many policies.

    Attributes
    ----------
    theta : ndarray, shape (..., D)
        Where the update starts.
    policy : ndarray, shape (..., K)
        The policy there.
    probability : ndarray, shape (..., M)
        Probabilities of the outcomes; they sum to 1. Outcomes that cannot happen have 0.
    update : ndarray, shape (..., M, D)
        :math:`\theta_{t+1} - \theta_t`, step size, entropy term and projection included.
    best : int
        The best arm.
    kind : Policy
        How parameters become probabilities.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), baseline=-1.0, steps=1
    ... )
    >>> law = one_step_law(e)
    >>> law.probability, law.update[..., 0]
    (array([0.5, 0.5]), array([ 0.4, -0.2]))
    """

    theta: Floats
    policy: Floats
    probability: Floats
    update: Floats
    best: int
    kind: Policy

    @functools.cached_property
    def policy_change(self) -> Floats:
        """pi_{t+1} - pi_t, (..., M, K), accurate relative to itself even where it is tiny.

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(60), cm.Natural(0.1), -1.0, steps=1)
        >>> bool(one_step_law(e).policy_change[0, 0] > 0)  # though pi rounds to 1
        True
        """
        if isinstance(self.kind, FormulaPolicy):
            after = self.kind.probabilities_at(self.theta[..., None, :] + self.update)
            return after - self.policy[..., None, :]
        return _policy_change(self.kind, self.policy, self.update)

    def mean(self, space: Space = "theta") -> Floats:
        """E[update], with shape (..., D) or (..., K).

        Parameters
        ----------
        space
            ``"theta"`` for the update of the parameters, ``"policy"`` for that of the
            probabilities.

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
        >>> one_step_law(e).mean().round(12)
        array([0.1])
        """
        return np.asarray(np.einsum("...m,...md->...d", self.probability, self._in(space)))

    def second_moment(self, space: Space = "theta") -> Floats:
        """E[update update^T], with shape (..., D, D) or (..., K, K).

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
        >>> one_step_law(e).second_moment().round(12)
        array([[0.1]])
        """
        x = np.sqrt(self.probability)[..., None] * self._in(space)
        return np.asarray(np.einsum("...mi,...mj->...ij", x, x))

    def covariance(self, space: Space = "theta") -> Floats:
        """Cov[update], with shape (..., D, D) or (..., K, K).

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
        >>> one_step_law(e).covariance().round(12)
        array([[0.09]])
        """
        centred = self._in(space) - self.mean(space)[..., None, :]
        x = np.sqrt(self.probability)[..., None] * centred
        return np.asarray(np.einsum("...mi,...mj->...ij", x, x))

    def worsening_probability(self) -> Floats:
        """P(pi_best becomes smaller), with shape (...).

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), -1.0, steps=1)
        >>> float(one_step_law(e).worsening_probability())
        0.5
        """
        lowered = self.policy_change[..., self.best] < 0.0
        return np.asarray((self.probability * lowered).sum(axis=-1))

    def _in(self, space: Space) -> Floats:
        check.choice("space", space, get_args(Space))
        return self.update if space == "theta" else self.policy_change


@dynamics.no_overflow
def one_step_law(
    experiment: Experiment,
    *,
    theta: npt.ArrayLike | None = None,
    policy: npt.ArrayLike | None = None,
    t: int = 0,
) -> OneStepLaw:
    r"""The law of :math:`\theta_{t+1} - \theta_t`, by enumeration of arms and rewards.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit whose rewards have finitely many values, with a baseline that depends on theta
        only or on the samples of the update. Groups of N samples are enumerated by how often each
        arm and reward occurs, N = 128 for two arms with binary rewards.
    theta : array_like, shape (..., K), optional
        Parameters to start from, without the last axis for a sigmoid; the start of the experiment
        if neither `theta` nor `policy` is given.
    policy : array_like, shape (..., K), optional
        Probabilities to start from, instead of parameters.
    t : int, optional
        The number of updates already done, for schedules.

    Returns
    -------
    OneStepLaw

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Natural(0.025), cm.MinVariance(), steps=1
    ... )
    >>> law = one_step_law(e, policy=[[1 / 3, 1 / 3, 1 / 3], [0.1, 0.8, 0.1]])
    >>> law.worsening_probability().round(6)  # arms 2 and 3 can push arm 1 down
    array([0.333333, 0.8     ])

    Leave one out: unbiased. With 128 samples of two arms and binary rewards there are 366,145
    outcomes:

    >>> e = cm.Experiment(
    ...     cm.Bandit([0.9, 0.5], noise="bernoulli"), cm.Softmax(), cm.Vanilla(1), steps=1,
    ...     baseline=cm.baseline("others(R, 'mean')"), estimator=cm.OneSample(samples=128),
    ... )
    >>> one_step_law(e).mean().round(12)
    array([ 0.1, -0.1])
    """
    states = dynamics.states_of(experiment, theta, policy)
    t = dynamics.updates_done(t)
    if formulas.has_formulas(experiment):
        formulas.refuse_states(experiment)
        return law_from(experiment, states, np.zeros(states.shape[:-1]), t)
    dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    pi = experiment.policy.probabilities_at(states)
    r = np.array(dynamics.bandit_of(experiment).means)
    return law_from(experiment, states, experiment.baseline.at(pi, r), t)


#: The same by the name of what it is the law of.
one_step = one_step_law


def law_from(experiment: Experiment, theta: Floats, b: Floats, t: int) -> OneStepLaw:
    """The law of the update from parameters (..., D) with baselines (...) given.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.1), steps=1)
    >>> law_from(e, np.zeros((4, 1)), np.zeros(4), 0).update.shape
    (4, 2, 1)
    """
    problem, update = dynamics.bandit_of(experiment, formulas=True), experiment.update
    pi = experiment.policy.probabilities_at(theta)
    alpha = at_time(update.step_size, t)
    tau = update.temperature(t)
    if formulas.has_formulas(experiment):
        probability, g = outcomes(experiment, theta, t)
        g = formulas.require_finite(g)
    elif dynamics.samples_of(experiment) == 0:
        probability = np.ones((*theta.shape[:-1], 1))
        g = dynamics.expected_direction(experiment, pi)[..., None, :]
    else:
        probability, g = _sampled(experiment, pi, b, t)
    if tau > 0.0:
        g = g + tau * dynamics.entropy_direction(experiment, theta)[..., None, :]
    step = alpha * g
    if isinstance(experiment.policy, Direct):
        step = project_onto_simplex(theta[..., None, :] + step) - theta[..., None, :]
    return OneStepLaw(theta, pi, probability, step, problem.best, experiment.policy)


def _sampled(experiment: Experiment, pi: Floats, b: Floats, t: int) -> tuple[Floats, Floats]:
    """Probabilities (..., M) and directions (..., M, D) of the outcomes of N samples."""
    samples = dynamics.samples_of(experiment)
    mu = experiment.behaviour.at(pi, t)
    weight = dynamics.importance_weights(mu, dynamics.implicit_of(experiment, t))
    per_arm = weight[..., None] * experiment.update.rows(experiment.policy, pi)
    arm, value, q = atoms_of(experiment)
    one_probability = mu[..., arm] * q
    one_direction = (value - b[..., None])[..., None] * per_arm[..., arm, :]
    if samples == 1:
        return one_probability, one_direction
    counts = _listed(len(arm), samples, one_direction)
    return multinomial(counts, one_probability), (counts / samples) @ one_direction


def outcomes(experiment: Experiment, theta: Floats, t: int) -> tuple[Floats, Floats]:
    """Probabilities (..., M) and directions (..., M, D) where there are formulas.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(1), steps=1,
    ...     estimator=cm.OneSample(weight=cm.weight("minimum(rho, 0.5)")),
    ... )
    >>> outcomes(e, np.zeros(2), 0)[1]
    array([[ 0.25, -0.25],
           [ 0.  ,  0.  ]])
    """
    samples = dynamics.samples_of(experiment)
    if samples == 0:
        raise CombinationError(
            "experiment.estimator", experiment.estimator, "OneSample, or no formulas"
        )
    pi = experiment.policy.probabilities_at(theta)
    mu = experiment.behaviour.at(pi, t)
    arm, value, q = atoms_of(experiment)
    counts = _listed(len(arm), samples, theta[..., None, :])
    probability = multinomial(counts, mu[..., arm] * q)
    batches = batches_of(np.array(arm), value, counts)
    return probability, formulas.directions(experiment, theta, pi, mu, batches, t)


def atoms_of(experiment: Experiment) -> tuple[list[int], Floats, Floats]:
    """The arms, rewards and probabilities given the arm of all that one sample may be.

    Examples
    --------
    >>> import committal as cm
    >>> bandit = cm.Bandit([0.25, 1.0], noise="bernoulli")
    >>> atoms_of(cm.Experiment(bandit, cm.Softmax(), cm.Natural(0.1), steps=1))[0]
    [0, 0, 1]
    """
    problem = dynamics.bandit_of(experiment, formulas=True)
    atoms = [
        (a, value, q)
        for a in range(problem.arms)
        for value, q in dynamics.reward_atoms(problem, a)
        if q > 0.0
    ]
    arms = [a for a, _, _ in atoms]
    return arms, np.array([v for _, v, _ in atoms]), np.array([q for _, _, q in atoms])


def batches_of(arm: Counts, value: Floats, counts: Counts) -> formulas.Batches:
    """Batches from counts (M, T) of the T atoms: over those, or over the few that each has.

    Examples
    --------
    >>> batches_of(np.array([0, 1, 2]), np.array([1.0, 0.7, 0.0]), np.array([[1, 0, 1]])).a
    array([[0, 2]])
    """
    samples, kinds = int(counts[0].sum()), counts.shape[1]
    if kinds <= samples:
        return formulas.Batches(arm[None, :], value[None, :], counts)
    index = np.argsort(-counts, axis=-1, kind="stable")[:, :samples]
    few = np.take_along_axis(counts, index, axis=-1)
    return formulas.Batches(arm[index], value[index], few)


def _listed(kinds: int, samples: int, like: Floats) -> Counts:
    """The counts of N samples, if what is computed of all outcomes can be listed."""
    counts = count_vectors(kinds, samples)
    policies = math.prod(like.shape[:-2])
    if policies * len(counts) * like.shape[-1] > limits.LISTED:
        raise ConfigError(
            "experiment.estimator.samples",
            samples,
            f"at most {limits.LISTED} numbers: here {policies} policies, {len(counts)} outcomes "
            f"and {like.shape[-1]} parameters",
        )
    return counts


def _policy_change(policy: Policy, pi: Floats, step: Floats) -> Floats:
    r"""pi' - pi = pi_i sum_{j != i} pi_j (e^{u_i} - e^{u_j}) / S without cancellation."""
    if isinstance(policy, Direct):
        return step
    if isinstance(policy, Sigmoid):
        step = np.concatenate([step, np.zeros_like(step)], axis=-1)
    pi = pi[..., None, :]
    # Only arms that the policy still has can be raised; the shift keeps exp from overflowing.
    shift = np.where(pi > 0.0, step, -np.inf).max(axis=-1, keepdims=True)
    grown = np.exp(step - shift)
    total = (pi * grown).sum(axis=-1, keepdims=True)
    # e^{u_i} - e^{u_j} from expm1 of the difference, whose sign and size are exact.
    difference = step[..., :, None] - step[..., None, :]
    raised = np.where(
        difference > 0.0,
        -np.expm1(-np.abs(difference)) * grown[..., :, None],
        np.expm1(-np.abs(difference)) * grown[..., None, :],
    )
    return np.asarray(pi * (raised * pi[..., None, :]).sum(axis=-1) / total)
