"""One update with formulas in it, by enumeration of what may be drawn, for many policies at once.

A weight, an update, a link, an optimiser or a baseline that looks at the batch make the direction
of an update something else than an advantage times a row. It is then computed for every outcome of
the N samples, that is, for every way of counting them: arrays are (..., M, S) over outcomes and
kinds of samples.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from committal.config import (
    Direct,
    Experiment,
    FormulaBaseline,
    FormulaPolicy,
    FormulaUpdate,
    Linear,
    Natural,
    Plain,
    Sigmoid,
)
from committal.errors import CombinationError, FormulaError
from committal.exact.counted import Lump, over_counts
from committal.exact.counts import Counts
from committal.formula.formula import Formula
from committal.formula.shapes import RUN
from committal.support.simplex import SMALLEST_PROBABILITY, Floats, others

__all__ = ["Batches", "directions", "has_formulas", "refuse_formulas"]

#: Numbers of one array in between.
PIECE = 2**18

#: A sum that is smaller than this, relative to its terms, is their rounding.
_ROUNDING = 2.0**-44


class Batches(NamedTuple):
    """M batches: the arms and the rewards of the kinds of samples, and how often each occurs.

    Attributes
    ----------
    a, R : ndarray, shape (M, S) or (1, S)
        One row for all where all batches have the same kinds.
    counts : ndarray, shape (M, S)
    lump : Lump, optional
        Which kinds count together; the counts are then of those.

    Examples
    --------
    >>> both = Batches(np.array([[0, 1]]), np.array([[1.0, 0.0]]), np.array([[2, 0], [1, 1]]))
    >>> both.mean(both.R[..., None])
    array([[1. ],
           [0.5]])
    """

    a: Counts
    R: Floats
    counts: Counts
    lump: Lump | None = None

    @property
    def of_kinds(self) -> Counts:
        """How many samples each kind may have, (M, S)."""
        return self.counts if self.lump is None else self.counts[:, self.lump.of]

    def piece(self, first: int, last: int) -> Batches:
        """Those from the first to before the last."""
        if len(self.a) == 1:
            return self._replace(counts=self.counts[first:last])
        return Batches(self.a[first:last], self.R[first:last], self.counts[first:last], self.lump)

    def mean(self, x: Floats, rows: Floats | None = None) -> Floats:
        """The mean over samples of x (..., M, S, D), or of x (..., M, S, 1) times rows (S, D).

        What is left of terms that cancel is 0: the samples of one arm with its mean as their centre
        move nothing, whatever their rounding says.
        """
        seen = self.counts[..., None] > 0
        share = self.counts[..., None] / self.counts[:1].sum()
        with np.errstate(all="ignore"):
            weighed = np.where(seen, share * x, 0.0)
        if rows is None:
            mean, size = weighed.sum(axis=-2), np.abs(weighed).sum(axis=-2)
        else:
            mean, size = weighed[..., 0] @ rows, np.abs(weighed[..., 0]) @ np.abs(rows)
        nothing = np.isfinite(size) & (np.abs(mean) <= _ROUNDING * size)
        return np.where(nothing, 0.0, mean)


def has_formulas(experiment: Experiment) -> bool:
    """Whether the direction of an update is more than the advantage times a row of the policy.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> has_formulas(e.replace(baseline=cm.baseline("sum(pi * r)")))
    False
    >>> has_formulas(e.replace(optimiser=cm.Adam()))
    True
    """
    return _part(experiment) is not None or any(
        isinstance(atom, FormulaBaseline) and not atom.state and not atom.depends_on_theta_only
        for atom in experiment.baseline.atoms
    )


def _part(experiment: Experiment) -> tuple[str, object] | None:
    """The first part, other than the baseline, that is a formula."""
    weight = getattr(experiment.estimator, "weight", None)
    for where, part, is_one in (
        ("optimiser", experiment.optimiser, not isinstance(experiment.optimiser, Plain)),
        ("estimator.weight", weight, weight is not None),
        ("update", experiment.update, isinstance(experiment.update, FormulaUpdate)),
        ("policy", experiment.policy, isinstance(experiment.policy, FormulaPolicy)),
    ):
        if is_one:
            return where, part
    return None


_INSTEAD = {
    "optimiser": "Plain",
    "estimator.weight": "None",
    "update": "Natural, Vanilla or Projected",
    "policy": "Softmax, Sigmoid or Direct",
}


def refuse_formulas(argument: str, experiment: Experiment) -> None:
    """Refuse formulas, other than baselines, by the name of the part.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
    >>> refuse_formulas("experiment", e.replace(optimiser=cm.Adam()))
    Traceback (most recent call last):
        ...
    committal.errors.CombinationError: experiment.optimiser = Adam() is not allowed; expected \
Plain: this answer is not known for others
    """
    found = _part(experiment)
    if found is not None:
        where, part = found
        allowed = f"{_INSTEAD[where]}: this answer is not known for others"
        raise CombinationError(f"{argument}.{where}", part, allowed)


def refuse_batches(argument: str, experiment: Experiment) -> None:
    """Refuse baselines that look at the samples: they change the expected direction."""
    for atom in experiment.baseline.atoms:
        if isinstance(atom, FormulaBaseline) and not atom.depends_on_theta_only:
            allowed = "a baseline that does not look at the samples: it would bias the direction"
            raise CombinationError(f"{argument}.baseline", atom, allowed)


def refuse_states(experiment: Experiment) -> None:
    """Refuse what is remembered: the law of one update is that of its parameters alone."""
    for atom in experiment.baseline.atoms:
        remembers = bool(atom.state) if isinstance(atom, FormulaBaseline) else False
        if remembers or (not isinstance(atom, FormulaBaseline) and not atom.depends_on_theta_only):
            raise CombinationError("experiment.baseline", atom, "a baseline without a state")
    tree = experiment.optimiser.tree
    if tree is not None and tree.states:
        allowed = "an optimiser without a state: Plain, Normalised or ClipNorm"
        raise CombinationError("experiment.optimiser", experiment.optimiser, allowed)
    entropy = getattr(experiment.update, "entropy", 0.0)
    if tree is not None and entropy != 0.0:
        allowed = "0 with an optimiser: exact answers do not take it through one"
        raise CombinationError("experiment.update.entropy", entropy, allowed)
    implicit = getattr(experiment.estimator, "implicit", 0.0)
    if implicit != 0.0:
        allowed = "0 with formulas of samples or an optimiser: exact answers do not know it there"
        raise CombinationError("experiment.estimator.implicit", implicit, allowed)


def require_finite(value: Floats) -> Floats:
    """A law has finite updates, whatever a formula made of them."""
    if np.isfinite(value).all():
        return value
    raise FormulaError("experiment", "a formula of it", "one that is finite for every outcome here")


def directions(
    experiment: Experiment, theta: Floats, pi: Floats, mu: Floats, batches: Batches, t: int
) -> Floats:
    """The direction of every outcome, (..., M, D), optimiser included.

    Parameters
    ----------
    experiment : Experiment
        Of a bandit; see `refuse_states`.
    theta, pi, mu : ndarray, (..., D) and (..., K)
        Where.
    batches : Batches
        What was drawn.
    t : int
        The number of updates already done.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(1), steps=1, optimiser=cm.Normalised()
    ... )
    >>> half, each = np.array([0.5, 0.5]), np.array([[1, 0], [0, 1]])
    >>> both = Batches(np.array([[0, 1]]), np.ones((1, 2)), each)
    >>> directions(e, np.zeros(2), half, half, both, 0).round(3)
    array([[ 0.707, -0.707],
           [-0.707,  0.707]])
    """
    # In pieces, so that what is in between stays in the cache.
    kinds = batches.counts.shape[1]
    numbers = max(1, math.prod(pi.shape)) * kinds
    piece = max(1, PIECE // numbers)
    found = [
        _directions(experiment, theta, pi, mu, batches.piece(first, first + piece), t)
        for first in range(0, len(batches.counts), piece)
    ]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=-2)


def _directions(
    experiment: Experiment, theta: Floats, pi: Floats, mu: Floats, batches: Batches, t: int
) -> Floats:
    given = _given(experiment, theta, pi, mu, batches, t)
    update = experiment.update
    if isinstance(update, FormulaUpdate):
        a, shape = batches.a, given["A"].shape
        hot = np.eye(pi.shape[-1]) / np.maximum(pi, SMALLEST_PROBABILITY)[..., None]
        given["score"] = _scores(experiment, theta, pi)[..., a, :]
        given["natural"] = hot[..., a, :]
        per_sample = update.tree.result.shape == "sample_arm"
        full = (*shape, pi.shape[-1]) if per_sample else (*shape[:-1], pi.shape[-1])
        value = _value("update", update.tree, given, full, batches)
        g = batches.mean(value) if per_sample else np.asarray(value)
    else:
        each, psi = _factor(experiment, given, batches), _psi(experiment, theta, pi)
        if len(batches.a) == 1:  # the same kinds in all outcomes
            g = batches.mean(each[..., None], psi[..., batches.a[0], :])
        else:
            g = batches.mean(each[..., None] * psi[..., batches.a, :])
    tree = experiment.optimiser.tree
    if tree is None:
        return g
    return _value("optimiser", tree, {**given, "g": g}, g.shape, batches)


def factors(
    experiment: Experiment, theta: Floats, pi: Floats, mu: Floats, batches: Batches, t: int
) -> tuple[Floats, Floats]:
    """w A of every kind of sample, (..., M, S), and psi of its arm, (..., S, D).

    For updates that are no formulas, and batches that all have the same kinds. A kind that does not
    occur has 0.
    """
    given = _given(experiment, theta, pi, mu, batches, t)
    each = np.where(batches.of_kinds > 0, _factor(experiment, given, batches), 0.0)
    return each, _psi(experiment, theta, pi)[..., batches.a[0], :]


def _given(
    experiment: Experiment, theta: Floats, pi: Floats, mu: Floats, batches: Batches, t: int
) -> dict[str, Any]:
    """What formulas look at, with b and A of every kind of sample of every outcome."""
    r = np.array(experiment.problem.means)  # type: ignore[attr-defined]
    a, R = batches.a, batches.R
    given: dict[str, Any] = {
        "theta": theta[..., None, :],  # one outcome after the other
        "pi": np.maximum(pi, SMALLEST_PROBABILITY)[..., None, :],
        "mu": np.maximum(mu, SMALLEST_PROBABILITY)[..., None, :],
        "r": r,
        "t": float(t),
        "K": float(pi.shape[-1]),
        "N": float(batches.counts[0].sum()),
        "a": a.astype(np.float64),
        "R": R,
    }
    drawn = np.maximum(mu, np.finfo(np.float64).tiny)[..., a]
    given["rho"] = pi[..., a] / drawn
    b = _baseline(experiment, given, pi, r, batches)
    shape = np.broadcast_shapes(given["rho"].shape, (len(batches.counts), a.shape[1]))
    return given | {"b": np.broadcast_to(b, shape), "A": np.broadcast_to(R - b, shape)}


def _value(
    part: str, formula: Formula, given: dict[str, Any], shape: tuple[int, ...], batches: Batches
) -> Floats:
    found = over_counts(formula, given, batches.counts, batches.lump)
    if part == "estimator.weight" and formula.result.shape == RUN:
        found = found[..., None]  # one number for all samples of a batch
    value = np.broadcast_to(found, shape)
    if not np.isfinite(value).all():
        per_sample = formula.result.shape in ("sample", "sample_arm")
        seen = batches.of_kinds > 0
        seen = seen if formula.result.shape == "sample" else seen[..., None]
        if not per_sample or (~np.isfinite(value) & seen).any():
            allowed = "a formula that is finite for every outcome here"
            raise FormulaError(part, formula.text, allowed)
    return value


def _baseline(
    experiment: Experiment, given: dict[str, Any], pi: Floats, r: Floats, batches: Batches
) -> Floats:
    """b of every sample of every outcome, (..., M, S) or what broadcasts to it."""
    baseline = experiment.baseline
    linear = baseline if isinstance(baseline, Linear) else Linear([(1.0, baseline)])
    total: Floats = np.full((1, 1), linear.offset)
    for coefficient, atom in linear.terms:
        if isinstance(atom, FormulaBaseline) and not atom.depends_on_theta_only:
            value = over_counts(atom.tree, given, batches.counts, batches.lump)
            per_sample = atom.tree.result.shape == "sample"
            total = total + coefficient * (value if per_sample else value[..., None])
        else:
            total = total + coefficient * np.asarray(atom.at(pi, r))[..., None, None]
    return total


def _factor(experiment: Experiment, given: dict[str, Any], batches: Batches) -> Floats:
    """w A, (..., M, S)."""
    weight, w = getattr(experiment.estimator, "weight", None), given["rho"]
    if weight is not None:
        w = _value("estimator.weight", weight.tree, given, given["A"].shape, batches)
    with np.errstate(all="ignore"):  # what no sample is may be anything
        return np.asarray(w * given["A"])


def _psi(experiment: Experiment, theta: Floats, pi: Floats) -> Floats:
    """The directions of the arms as rows, (..., K, D)."""
    if isinstance(experiment.update, Natural) or isinstance(experiment.policy, Direct):
        units = experiment.policy.units(pi.shape[-1])
        return np.asarray(units / np.maximum(pi, SMALLEST_PROBABILITY)[..., None])
    return _scores(experiment, theta, pi)


def _scores(experiment: Experiment, theta: Floats, pi: Floats) -> Floats:
    """grad log pi(a) as rows, (..., K, D)."""
    policy, arms = experiment.policy, pi.shape[-1]
    if isinstance(policy, FormulaPolicy):
        f, slope = policy.weights_at(theta), policy.slopes_at(theta)
        own = np.eye(arms) * (slope / np.where(f > 0.0, f, 1.0))[..., None]
        return np.asarray(own - (slope / f.sum(axis=-1, keepdims=True))[..., None, :])
    if isinstance(policy, Sigmoid):
        rows = np.stack([pi[..., 1], -pi[..., 0]], axis=-1)
        return np.asarray(rows[..., None])
    return np.where(np.eye(arms) == 1.0, others(pi)[..., None], -pi[..., None, :])
