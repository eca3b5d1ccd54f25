r"""The law of :math:`\theta_T` after a few updates, by enumeration.

Each of the atoms of the law at time t splits into the outcomes of one update. Atoms at the same
place are merged; where there are still too many, the least likely are dropped and their mass is
reported: every probability is then wrong by at most that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committal.config import Experiment
from committal.errors import ConfigError
from committal.exact import dynamics
from committal.exact.law import law_from
from committal.support import arrays, check, limits
from committal.support.simplex import Floats

__all__ = ["HorizonLaw", "law_after"]


@dataclass(frozen=True, eq=False)
class HorizonLaw:
    r"""P(:math:`\theta_T = \theta_n`) = p_n, n = 1, ..., the law after T updates.

    Attributes
    ----------
    steps : int
        T.
    theta : ndarray, shape (n, D)
        Where the atoms are.
    policy : ndarray, shape (n, K)
        The policies there.
    probability : ndarray, shape (n,)
        Their probabilities.
    discarded : float
        The mass of atoms that were dropped; 0 if the law is complete.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=3)
    >>> law = law_after(e)
    >>> len(law.probability), round(float(law.probability.sum()), 12)
    (8, 1.0)
    """

    steps: int
    theta: Floats
    policy: Floats
    probability: Floats
    discarded: float

    def expectation(self, values: Floats) -> Floats:
        """sum_n p_n values_n, for values of shape (n, ...).

        Examples
        --------
        >>> import committal as cm
        >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=3)
        >>> law = law_after(e)
        >>> law.expectation(law.theta).round(12)  # natural: theta moves by alpha on average
        array([-0.7])
        """
        x = arrays.tensor("values", values, finite=False)
        if x.shape[:1] != self.probability.shape:
            raise ConfigError("values", values, f"one per atom, {len(self.probability)} of them")
        return np.asarray(np.tensordot(self.probability, x, axes=1))


@dynamics.no_overflow
def law_after(
    experiment: Experiment,
    steps: int | None = None,
    *,
    most_atoms: int = 1_000_000,
    merge: float = 1e-12,
) -> HorizonLaw:
    r"""The law of :math:`\theta_T` and :math:`\pi_T`, by enumeration with merging.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit whose rewards have finitely many values.
    steps : int, optional
        T; the steps of the experiment by default.
    most_atoms : int, optional
        How many atoms may be kept; beyond that the least likely are dropped.
    merge : float, optional
        Atoms are one if their parameters agree to this, relative to their size.

    Returns
    -------
    HorizonLaw

    Examples
    --------
    Rewards of 0 leave theta where it is, so many histories lead to the same place:

    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([0.5, 0.5], noise="bernoulli"), cm.Sigmoid(), cm.Natural(0.1), steps=6
    ... )
    >>> len(law_after(e).probability) < 4**6
    True
    """
    dynamics.bandit_of(experiment)
    count = check.integer("steps", experiment.steps if steps is None else steps, 0, limits.DRAWS)
    most_atoms = check.integer("most_atoms", most_atoms, 1, limits.LISTED)
    merge = check.number("merge", merge, check.Interval(0.0, 1e-3, open_high=True))
    dynamics.refuse_memory("experiment.baseline", experiment.baseline)
    theta, probability = dynamics.start_of(experiment)[None, :], np.ones(1)
    discarded = 0.0
    r = np.array(dynamics.bandit_of(experiment).means)
    for t in range(count):
        pi = experiment.policy.probabilities_at(theta)
        law = law_from(experiment, theta, experiment.baseline.at(pi, r), t)
        probability = (probability[:, None] * law.probability).ravel()
        theta = (theta[:, None, :] + law.update).reshape(-1, theta.shape[1])
        possible = probability > 0.0
        theta, probability = _merged(theta[possible], probability[possible], merge)
        if len(probability) > most_atoms:
            order = np.argsort(-probability, kind="stable")[:most_atoms]
            discarded += float(probability.sum() - probability[order].sum())
            theta, probability = theta[order], probability[order]
    policy = experiment.policy.probabilities_at(theta)
    return HorizonLaw(count, theta, policy, probability, discarded)


def _merged(theta: Floats, probability: Floats, merge: float) -> tuple[Floats, Floats]:
    if merge == 0.0:
        key = theta + 0.0  # -0.0 and 0.0 are one place
    else:
        # Numbers that agree to the tolerance get the same mantissa and exponent.
        mantissa, exponent = np.frexp(theta)
        key = np.ldexp(np.rint(mantissa / merge) * merge, exponent) + 0.0
    _, first, group = np.unique(key, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(group.ravel(), weights=probability, minlength=len(first))
    return theta[first], total.astype(np.float64)
