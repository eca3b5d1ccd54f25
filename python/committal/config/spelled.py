r"""Parts that have a name, spelled out: an experiment in the parts that everybody else knows.

A group is a baseline of the batch and a scale inside of the weight; a regulariser is a term of the
update; an escort policy is a link; a critic is a running mean; an expectation that is more than the
gradient is an update over arms. So none of them needs a kernel: what simulates, answers exactly or
checks works on the experiment that `spelled_out` returns.

==================  ===========================================================================
`Group`             b = centre(R - F), F what is subtracted sample by sample; w / scale for w;
                    in MDPs it stays, for A is of whole episodes
`Regulariser`       mean(w A psi) + its term; sampled forms: mean((w A - beta c_a) psi)
`Escort`            the link abs(theta)**power
`Tsallis`, ...      a link or a softmax of other coordinates, in which an update moves them
`Critic`            `RunningMean`; in MDPs a formula with a state for every state
more epochs         an update that is a formula, made several times with the same samples
`Expected` of w     sum_a mu_a E[w A] psi_a; see :mod:`committal.config.expectation`
==================  ===========================================================================
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from committal.config.behaviours import OnPolicy
from committal.config.critic import Critic
from committal.config.escort import Escort
from committal.config.estimators import Estimator, Expected, OneSample
from committal.config.expectation import expected_update, is_native
from committal.config.formula_baseline import FormulaBaseline
from committal.config.formula_quantity import FormulaQuantity
from committal.config.formula_update import FormulaUpdate
from committal.config.formulas import INPUTS
from committal.config.groups import Group
from committal.config.linear import Baseline, Linear, as_baseline
from committal.config.links import FormulaPolicy
from committal.config.mdp import TabularMDP
from committal.config.optimisers import Normalised
from committal.config.policies import Direct, Softmax
from committal.config.record import Record
from committal.config.regularisers import Entropy
from committal.config.scaled import ScaledPolicy, rate_text
from committal.config.schedules import Schedule
from committal.config.updates import Natural, Vanilla
from committal.config.weights import FormulaWeight, Weight
from committal.formula.formula import Formula, from_text
from committal.formula.parse import parse
from committal.formula.shapes import SAMPLE, SAMPLE_ARM
from committal.formula.substitute import renamed, settled, with_numbers
from committal.formula.text import text_of
from committal.formula.tree import INPUT, Node, name, number
from committal.formula.vocabulary import apply
from committal.support.simplex import Floats

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["has_names", "spelled_out"]


def has_names(e: Experiment) -> bool:
    """Whether some part is to be spelled out.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=9)
    >>> has_names(e), has_names(e.replace(estimator=cm.Group(samples=2)))
    (False, True)
    """
    return (
        (isinstance(e.estimator, Group) and not isinstance(e.problem, TabularMDP))
        or (_epochs(e) > 1 and not isinstance(e.update, FormulaUpdate))
        or e.regulariser is not None
        or isinstance(e.policy, Escort | ScaledPolicy)
        or any(isinstance(atom, Critic) for atom in e.baseline.atoms)
        or (isinstance(e.estimator, Expected) and not is_native(e))
    )


def spelled_out(e: Experiment) -> Experiment:
    """The same experiment in plain parts and formulas; itself if it has no others.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=9,
    ...     estimator=cm.Group(samples=2, centre="leave_one_out"),
    ... )
    >>> spelled_out(e).baseline, spelled_out(e).estimator
    (baseline('where(max(R) == min(R), R, others(R, "mean"))'), OneSample(samples=2))
    """
    return _spelled_out(e) if has_names(e) else e


@functools.lru_cache(maxsize=256)
def _spelled_out(e: Experiment) -> Experiment:
    if isinstance(e.policy, ScaledPolicy):
        return _with_scale(e, e.policy)
    changes: dict[str, Any] = {"baseline": _without_critics(e), "regulariser": None}
    if isinstance(e.policy, Escort):
        changes["policy"] = e.policy.link(e.problem.arms)
    term = _Term.of(e)
    if isinstance(e.estimator, Expected):
        return e.replace(**changes, **_expected(e, term))
    if term.paid:
        changes["baseline"] = changes["baseline"] + FormulaBaseline(term.paid)
    if isinstance(e.estimator, Group) and not isinstance(e.problem, TabularMDP):
        changes["record"] = _recorded(e, e.estimator, changes["baseline"])
        changes |= _group(e.estimator, changes["baseline"])
        if _needs_ratio(e):
            changes["estimator"] = changes["estimator"].replace(weight=FormulaWeight("rho"))
        if isinstance(e.optimiser, Normalised) and _cancels(e.estimator):
            changes["estimator"] = _without_one_arm(changes["estimator"])
    return _regularised(e, changes, term)


def _expected(e: Experiment, term: _Term) -> dict[str, Any]:
    """What is drawn is for nobody: the update looks at no sample."""
    if is_native(e) and not (term.added or term.sampled or term.paid):
        return {"update.entropy": term.native} if term.native else {}
    update = expected_update(e, term.sampled, term.added, term.paid)
    return {"update": update, "estimator": OneSample()}


def _without_critics(e: Experiment) -> Baseline:
    terms, offset = _terms(e.baseline)
    by_state = isinstance(e.problem, TabularMDP)

    def plain_atom(atom: Baseline) -> Baseline:
        if not isinstance(atom, Critic):
            return atom
        return atom.by_state if by_state else atom.running_mean

    plain = [(c, plain_atom(atom)) for c, atom in terms]
    return as_baseline("Experiment.baseline", Linear(plain, offset))


def _terms(baseline: Baseline) -> tuple[tuple[tuple[float, Baseline], ...], float]:
    if isinstance(baseline, Linear):
        return baseline.terms, baseline.offset
    return ((1.0, baseline),), 0.0


# -- groups ----------------------------------------------------------------------------------------


def _read(role: str, text: str, **trees: Node) -> Node:
    """A tree from text, in which some names stand for other trees."""
    shapes = {**INPUTS[role], **{key: tree.shape for key, tree in trees.items()}}
    return renamed(parse(text, shapes), trees)


_CENTRES = {
    "mean": "mean(X)",
    "leave_one_out": "others(X, 'mean')",
    "median": "median(X)",
    "weighted": "sum(v * X) / sum(v)",
    "weighted_leave_one_out": "others(v * X) / others(v)",
}
#: ||e_a - pi||^2, of positive terms only.
_NORM = "others(pi)[a]**2 + others(pi**2)[a]"


def _group(group: Group, baseline: Baseline) -> dict[str, Any]:
    """The baseline and the estimator that a group is."""
    own = _sampled_part(baseline)
    R = name(INPUT, "R", SAMPLE)
    X = R if own is None else apply("sub", R, own)
    found: dict[str, Any] = {
        "estimator": OneSample(group.samples, weight=_scaled(group, X), epochs=group.epochs),
        "baseline": baseline,
    }
    if group.centre is not None:
        v = _read("baseline", _NORM)
        centre = _read("baseline", _CENTRES[group.centre], X=X, v=v)
        b = centre if own is None else apply("add", own, centre)
        equal = _read("baseline", "max(X) == min(X)", X=X)
        # b = R where all are equal: no rounding is left over then.
        found["baseline"] = FormulaBaseline(text_of(apply("where", equal, R, b)))
    return found


def _recorded(e: Experiment, group: Group, baseline: Baseline) -> Record:
    """What is recorded sees A divided by the scale, which is inside of the weight here."""
    if group.scale is None or not any("A" in one.names for one in e.record.formulas):
        return e.record
    own = _sampled_part(baseline)
    R = name(INPUT, "R", SAMPLE)
    X = R if own is None else apply("sub", R, own)
    A = apply("div", name(INPUT, "A", SAMPLE), _scale(group, X))
    A = apply("where", _read("weight", "max(X) == min(X)", X=X), number(0), A)
    seen = {
        one.name: FormulaQuantity(text_of(renamed(settled(one.tree), {"A": A})), one.name)
        for one in e.record.formulas
    }
    return e.record.replace(names=[seen.get(n, n) for n in e.record.names])


def _cancels(group: Group) -> bool:
    """Whether the terms of samples of one arm add up to 0, whatever they pay."""
    sums_to_0 = group.centre is not None and group.centre != "median"
    return sums_to_0 and (
        group.weight is None or not {"A", "R", "b"} & set(group.weight.tree.names)
    )


def _without_one_arm(estimator: OneSample) -> OneSample:
    """Weights of exactly 0 there: a norm would make a step of what rounding leaves."""
    w = name(INPUT, "rho", SAMPLE)
    if estimator.weight is not None:
        w = settled(estimator.weight.tree)
    w = apply("where", _read("weight", "max(a) == min(a)"), number(0), w)
    return estimator.replace(weight=FormulaWeight(text_of(w)))


#: The same of episodes. Scores may cancel exactly: then there are no weights, and all count alike.
_EPISODE_CENTRES = _CENTRES | {
    "weighted": "where(sum(w) > 0, sum(w * X) / where(sum(w) > 0, sum(w), 1), mean(X))",
    "weighted_leave_one_out": (
        "where(others(w) > 0, others(w * X) / where(others(w) > 0, others(w), 1), "
        "others(X, 'mean'))"
    ),
}


def episode_advantage(group: Group) -> Formula | None:
    """A of the N episodes of an update, from their returns R; None where it is R - b.

    w is the squared norm of the score of an episode, for centres with weights.

    Examples
    --------
    >>> episode_advantage(Group(samples=4, centre="leave_one_out")).text
    'where(max(R) == min(R), 0, R - others(R, "mean"))'
    """
    shapes = {"R": SAMPLE, "b": SAMPLE, "w": SAMPLE}
    text = _episode_advantage(group)
    return None if text is None else from_text(text, shapes)


def _episode_advantage(group: Group) -> str | None:
    if group.centre is None and group.scale is None:
        return None
    # A centre takes out what is the same number for all.
    A = f"R - {_EPISODE_CENTRES[group.centre]}".replace("X", "R") if group.centre else "R - b"
    if group.scale == "std":
        spread = _spread(group).replace("X", "R")
        A = f"({A}) / where({spread} > 0, {spread}, 1)"
    if group.centre is None and group.scale == "batch_std":
        return A  # only the batch as a whole may have no spread
    return f"where(max(R) == min(R), 0, {A})"


def batch_scale(group: Group) -> Weight | None:
    """What A of all groups is divided by, from all returns of an update; 0 where they are equal.

    Examples
    --------
    >>> batch_scale(Group(samples=4, scale="batch_std", eps=0.5))
    weight('where(max(R) == min(R), 0, std(R) + 0.5)')
    """
    if group.scale != "batch_std":
        return None
    return FormulaWeight(f"where(max(R) == min(R), 0, {_spread(group).replace('X', 'R')})")


def _spread(group: Group) -> str:
    return f"std(X, ddof={group.ddof})" + (f" + {group.eps!r}" if group.eps else "")


def _needs_ratio(e: Experiment) -> bool:
    """Off the policy rho is said, so that it is rounded as it is inside of a scale."""
    group = e.estimator
    assert isinstance(group, Group)
    plain = group.weight is None and group.scale is None and group.centre is not None
    product = isinstance(e.update, Natural | Vanilla) and not isinstance(e.policy, Direct)
    return plain and product and not isinstance(e.behaviour, OnPolicy)


def _sampled_part(baseline: Baseline) -> Node | None:
    """What a baseline subtracts sample by sample; the rest, one number, a centre takes out."""
    total: Node | None = None
    for coefficient, atom in _terms(baseline)[0]:
        if not isinstance(atom, FormulaBaseline) or atom.tree.result.shape != SAMPLE:
            continue
        tree = settled(atom.tree)
        part = tree if coefficient == 1.0 else apply("mul", number(coefficient), tree)
        total = part if total is None else apply("add", total, part)
    return total


def _scale(group: Group, X: Node) -> Node:
    """What advantages are divided by; 1 where that is 0."""
    spread = _spread(group)
    return _read("weight", f"where({spread} > 0, {spread}, 1)", X=X)


def _scaled(group: Group, X: Node) -> Weight | None:
    """w(A / scale) / scale: A itself is left as the centre made it."""
    if group.scale is None:
        return group.weight
    S = _scale(group, X)
    A = name(INPUT, "A", SAMPLE)
    plain = name(INPUT, "rho", SAMPLE) if group.weight is None else settled(group.weight.tree)
    w = apply("div", renamed(plain, {"A": apply("div", A, S)}), S)
    if group.centre is None:
        # Rewards that are all equal have no spread to be measured by.
        w = apply("where", _read("weight", "max(X) == min(X)", X=X), number(0), w)
    return FormulaWeight(text_of(w))


# -- regularisers ----------------------------------------------------------------------------------


def reference_of(e: Experiment) -> Floats:
    """The probabilities of the reference of a regulariser; uniform ones if it has none.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax([0, 1]), cm.Natural(0.1), steps=9,
    ...     regulariser=cm.KL("start", 0.1),
    ... )
    >>> reference_of(e).round(3)
    array([0.269, 0.731])
    """
    given = getattr(e.regulariser, "reference", "uniform")
    arms = e.problem.arms
    if given == "uniform":
        return np.full(arms, 1.0 / arms)
    if given == "start":
        return e.policy.probabilities_at(e.policy.start(arms))
    return np.array(given)


class _Term(NamedTuple):
    """What a regulariser adds, as texts and as what the updates know themselves."""

    added: str = ""
    sampled: str = ""
    paid: str = ""
    native: float | Schedule = 0.0

    @classmethod
    def of(cls, e: Experiment) -> _Term:
        regulariser = e.regulariser
        if regulariser is None or regulariser.strength == 0.0:
            return cls()
        linked = isinstance(e.policy, FormulaPolicy | Escort)
        native = isinstance(regulariser, Entropy) and not isinstance(e.problem, TabularMDP)
        if native and not linked:
            return cls(native=regulariser.strength)
        reference = reference_of(e)
        return cls(
            _through_link(e, regulariser.slope(reference))
            if linked
            else regulariser.added(isinstance(e.update, Natural), reference),
            regulariser.per_sample(reference),
            regulariser.in_reward(reference),
        )


def _through_link(e: Experiment, slope: str) -> str:
    """The gradient of a function of pi, from its derivatives: f'_k / F (d_k - sum pi d)."""
    if not slope:
        return ""
    link = e.policy.link(e.problem.arms) if isinstance(e.policy, Escort) else e.policy
    assert isinstance(link, FormulaPolicy)
    trees = {
        "f": settled(link.tree),
        "slope": with_numbers(link.slope, dict(link.parameters)),
        "d": _read("update", slope),
    }
    return text_of(_read("update", "slope / sum(f) * (d - sum(pi * d))", **trees))


def _regularised(e: Experiment, changes: dict[str, Any], term: _Term) -> Experiment:
    """The experiment whose update has the term of a regulariser in it, and says all of an epoch."""
    estimator = changes.get("estimator", e.estimator)
    epochs = getattr(estimator, "epochs", 1)
    if isinstance(e.update, FormulaUpdate) or not (term.added or term.sampled or epochs > 1):
        entropy = {"update.entropy": term.native} if term.native else {}
        return e.replace(**changes, **entropy)
    changes["update"] = FormulaUpdate(text_of(_gradient(e, estimator, term)), e.update.step_size)
    changes["estimator"] = _unweighted(estimator)
    return e.replace(**changes)


def _gradient(e: Experiment, estimator: Estimator, term: _Term) -> Node:
    """mean(w A psi), and what a regulariser adds to it."""
    natural = isinstance(e.update, Natural)
    psi = name(INPUT, "natural" if natural else "score", SAMPLE_ARM)
    factor = apply("mul", weight_of(estimator), name(INPUT, "A", SAMPLE))
    if term.sampled:
        factor = apply("add", factor, _read("update", term.sampled))
    g = apply("mean", apply("mul", factor, psi), over="samples")
    tau = term.native or getattr(e.update, "entropy", 0.0)
    for added in (term.added, Entropy(tau).added(natural, np.ones(1)) if tau else ""):
        if added:
            g = apply("add", g, _read("update", added))
    return g


def _unweighted(estimator: Estimator) -> Estimator:
    """The estimator of an update that says itself what a sample weighs."""
    plain = {"implicit": 0.0} if isinstance(estimator, OneSample) else {}
    return estimator.replace(weight=None, **plain)


def _epochs(e: Experiment) -> int:
    return getattr(e.estimator, "epochs", 1)


def weight_of(estimator: Estimator) -> Node:
    """w as a tree: that of a weight, or rho, with implicit exploration where there is some."""
    weight = getattr(estimator, "weight", None)
    if weight is not None:
        return settled(weight.tree)
    implicit = getattr(estimator, "implicit", 0.0)
    if implicit != 0.0:
        return _read("weight", f"pi[a] / (mu[a] + {rate_text(implicit)})")
    return name(INPUT, "rho", SAMPLE)


# -- policies with a scale -------------------------------------------------------------------------


def _with_scale(e: Experiment, policy: ScaledPolicy) -> Experiment:
    """The experiment in the coordinates that the policy keeps; its update is a formula."""
    arms = e.problem.arms
    plain = spelled_out(e.replace(policy=Softmax(policy.start(arms))))
    estimator = plain.estimator
    if isinstance(estimator, Expected):
        u, estimator = settled(expected_update(plain).tree), OneSample()
    elif isinstance(plain.update, FormulaUpdate):
        u = settled(plain.update.tree)
        u = apply("mean", u, over="samples") if u.shape == SAMPLE_ARM else u
    else:
        u, estimator = _gradient(plain, estimator, _Term()), _unweighted(estimator)
    if isinstance(policy.kept(arms), FormulaPolicy):
        # Of the parameters theta; those that are kept have another.
        u = renamed(u, {"natural": _read("update", "onehot(a) / pi[a]")})
    step = apply("mul", _read("update", rate_text(plain.update.step_size)), u)
    return plain.replace(
        policy=policy.kept(arms),
        update=FormulaUpdate(text_of(policy.moved(step, arms)), 1.0),
        estimator=estimator,
    )
