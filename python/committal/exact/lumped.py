r"""Groups of many arms: samples with the same reward are one kind.

Where advantages depend on the batch through its rewards only (their mean, median or standard
deviation, also of the others), the rewards of N samples are counted, not the arms that paid them.
Given the counts :math:`n_v` the arms are independent, with
:math:`P(a \mid v) \propto \mu_a P(R = v \mid a)`, so that with :math:`F = w A` of a sample

.. math:: E[g \mid n] = \sum_v \frac{n_v}{N} m_v, \quad
          m_v = \sum_a P(a \mid v) F_{a,v} \psi_a, \qquad
          \mathrm{Cov}[g \mid n] = \sum_v \frac{n_v}{N^2}
              \Big( \sum_a P(a \mid v) F_{a,v}^2 \psi_a \psi_a^T - m_v m_v^T \Big) .

Binary rewards have N + 1 counts, for any number of arms.
"""

from __future__ import annotations

import numpy as np

from committal.config import Experiment, FormulaBaseline, FormulaUpdate, Plain
from committal.exact import dynamics, formulas
from committal.exact.counted import Lump
from committal.exact.counts import count_vectors, multinomial
from committal.exact.law import atoms_of
from committal.formula.formula import Formula
from committal.formula.tree import INPUT, walk
from committal.support.simplex import Floats

__all__ = ["can_lump", "lumped"]

_OF_SAMPLES = {"a", "R", "A", "b", "rho", "score", "natural"}


def can_lump(experiment: Experiment) -> bool:
    """Whether advantages depend on the batch through its rewards only, and some arms share these.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([0.9, 0.1], noise="bernoulli"), cm.Softmax(), cm.Vanilla(1), steps=1,
    ...     baseline=cm.baseline("mean(R)"), estimator=cm.OneSample(samples=4),
    ... )
    >>> can_lump(e), can_lump(e.replace(baseline=cm.baseline("mean(R * pi[a])")))
    (True, False)
    """
    if dynamics.samples_of(experiment) < 2 or not isinstance(experiment.optimiser, Plain):
        return False
    if isinstance(experiment.update, FormulaUpdate):
        return False
    rewards = atoms_of(experiment)[1]
    if len(set(rewards.tolist())) == len(rewards):
        return False  # nothing would count together
    trees = [
        atom.tree
        for atom in experiment.baseline.atoms
        if isinstance(atom, FormulaBaseline) and not atom.depends_on_theta_only
    ]
    if not all(_inside(tree) <= {"R"} for tree in trees):
        return False
    weight = getattr(experiment.estimator, "weight", None)
    if weight is None:
        return True
    # A and b are those of a reward, if nothing in b is that of an arm.
    plain = not any({"a", "rho"} & set(tree.names) for tree in trees)
    return _inside(weight.tree) <= ({"R", "A", "b"} if plain else {"R"})


def _inside(formula: Formula) -> set[str]:
    """What of samples the operations over samples look at."""
    over = [node for node in walk(formula.result) if node.over == "samples"]
    return {x.name for node in over for x in walk(node) if x.op == INPUT} & _OF_SAMPLES


def lumped(experiment: Experiment, theta: Floats, t: int) -> tuple[Floats, Floats, Floats]:
    """P(n), E[g | n] and Cov[g | n]: (..., M), (..., M, D) and (..., M, D, D).

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([0.9, 0.1], noise="bernoulli"), cm.Softmax(), cm.Vanilla(1), steps=1,
    ...     baseline=cm.baseline("mean(R)"), estimator=cm.OneSample(samples=2),
    ... )
    >>> lumped(e, np.zeros(2), 0)[1]
    array([[ 0. ,  0. ],
           [ 0.2, -0.2],
           [ 0. ,  0. ]])
    """
    samples = dynamics.samples_of(experiment)
    pi = experiment.policy.probabilities_at(theta)
    mu = experiment.behaviour.at(pi, t)
    arms, rewards, q = atoms_of(experiment)
    values, kind = np.unique(rewards, return_inverse=True)
    kind = kind.ravel()
    own = mu[..., arms] * q  # (..., T)
    member = (kind[:, None] == np.arange(len(values))).astype(np.float64)  # (T, V)
    total = own @ member
    share = own / np.maximum(total, np.finfo(np.float64).tiny)[..., kind]
    counts = count_vectors(len(values), samples)
    probability = multinomial(counts, total)
    first = np.array([int(np.flatnonzero(kind == v)[0]) for v in range(len(values))])
    arm = np.array(arms)[None, :]
    batches = formulas.Batches(arm, rewards[None, :], counts, Lump(first, kind))
    each, psi = formulas.factors(experiment, theta, pi, mu, batches, t)
    part = (counts / samples)[:, kind] * share[..., None, :]  # (..., M, T)
    mean = (part * each) @ psi
    # The covariance of one sample of every kind, n_v of them.
    by_kind = (share[..., None, :] * each)[..., None] * psi[..., None, :, :]  # (..., M, T, D)
    m = np.einsum("...mtd,tv->...mvd", by_kind, member)
    square = np.einsum("...mt,...ti,...tj->...mij", part * each**2, psi, psi)
    centre = np.einsum("mv,...mvi,...mvj->...mij", counts / samples, m, m)
    return probability, mean, (square - centre) / samples
