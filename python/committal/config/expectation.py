r"""The expectation of a rule that draws one sample, as an update over arms.

.. math:: E[g] = \sum_a \mu_a\, E[w A \mid a]\, \psi_a

Everything that a sample has becomes a vector over arms: its reward is that of each arm, rho is
pi / mu, and ``x[a]`` is x itself. Rewards with finitely many values are added up value by value. So
the expectation is a formula again, in which nothing is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committal.config.bandit import Bandit
from committal.config.behaviours import OnPolicy
from committal.config.escort import Escort
from committal.config.formula_baseline import FormulaBaseline
from committal.config.formula_update import FormulaUpdate
from committal.config.formulas import INPUTS
from committal.config.links import FormulaPolicy
from committal.config.regularisers import vector
from committal.config.updates import Natural
from committal.errors import CombinationError
from committal.formula.parse import parse
from committal.formula.shapes import ARM, SAMPLE, SAMPLE_ARM, axes_of
from committal.formula.substitute import renamed, settled, with_numbers
from committal.formula.text import text_of
from committal.formula.tree import INPUT, Node, name, number, walk
from committal.formula.vocabulary import ROWS, apply

if TYPE_CHECKING:
    from committal.config.experiment import Experiment

__all__ = ["expected_update", "is_native"]

_DIRECTIONS = ("score", "natural")
_SAMPLED = {"A", "R", "a", "rho", *_DIRECTIONS}


def is_native(e: Experiment) -> bool:
    """Whether the expectation is that of the plain rule: the gradient, whatever b is.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=9, estimator=cm.Expected()
    ... )
    >>> is_native(e), is_native(e.replace(estimator=cm.Expected(weight=cm.Delightful())))
    (True, False)
    """
    return (
        getattr(e.estimator, "weight", None) is None
        and not isinstance(e.update, FormulaUpdate)
        and not any(isinstance(atom, FormulaBaseline) for atom in e.baseline.atoms)
    )


def expected_update(
    e: Experiment, sampled: str = "", added: str = "", paid: str = ""
) -> FormulaUpdate:
    """The update whose step is the expectation of the rule of an experiment.

    Parameters
    ----------
    e : Experiment
        Of a bandit, with the estimator `Expected`.
    sampled, added, paid : str
        Of a regulariser: what is added to w A of a sample, to the gradient, and what is subtracted
        from a reward.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), cm.Value(), steps=9,
    ...     behaviour=cm.Fixed([0.5, 0.5]), estimator=cm.Expected(weight=cm.Asymmetric()),
    ... )
    >>> expected_update(e)
    update('(r - mean(b)) * mu / pi')(step_size=0.1)
    """
    if isinstance(e.update, FormulaUpdate):
        factors, rest = _split(e, settled(e.update.tree))
    else:
        factor = _product(_weight(e), name(INPUT, "A", SAMPLE))
        if sampled:
            factor = apply("add", factor, parse(sampled, INPUTS["update"]))
        factors, rest = {"natural" if isinstance(e.update, Natural) else "score": factor}, None
    total = None if rest is None else _without_samples(e, rest)
    for psi, factor in factors.items():
        c = _product(_mu(e), _mean_over_rewards(e, factor, paid))
        total = _plus(total, _along(e, psi, c))
    if added:
        total = _plus(total, parse(added, INPUTS["update"]))
    assert total is not None
    return FormulaUpdate(text_of(total), e.update.step_size)


# -- what a sample has, over arms ------------------------------------------------------------------


def _refused(e: Experiment, why: str) -> CombinationError:
    return CombinationError("Experiment.estimator", e.estimator, f"OneSample: {why}")


def _weight(e: Experiment) -> Node:
    weight = getattr(e.estimator, "weight", None)
    return name(INPUT, "rho", SAMPLE) if weight is None else settled(weight.tree)


def _mu(e: Experiment) -> Node:
    return name(INPUT, "pi" if isinstance(e.behaviour, OnPolicy) else "mu", ARM)


def _mean_over_rewards(e: Experiment, factor: Node, paid: str) -> Node:
    """E[factor | a], a vector over arms."""
    total: Node | None = None
    for share, reward in _rewards(e, factor):
        bound = _over_arms(e, factor, reward, paid)
        total = _plus(total, bound if share is None else _product(share, bound))
    assert total is not None
    return total


def _rewards(e: Experiment, factor: Node) -> list[tuple[Node | None, Node]]:
    """What the rewards may be, with their probabilities: numbers, or vectors over arms."""
    assert isinstance(e.problem, Bandit)
    problem, r = e.problem, name(INPUT, "r", ARM)
    if problem.noise is None or _linear(e, factor):
        return [(None, r)]
    if problem.noise == "bernoulli":
        return [(r, number(1)), (apply("sub", number(1), r), number(0))]
    if problem.table is None:
        raise _refused(
            e, f"with noise={problem.noise!r} and a rule of A the expectation is no finite sum"
        )
    longest = max(len(row) for row in problem.table)
    found: list[tuple[Node | None, Node]] = []
    for i in range(longest):
        pairs = [row[i] if i < len(row) else (0.0, 0.0) for row in problem.table]
        value, share = (_vector([pair[j] for pair in pairs]) for j in (0, 1))
        found.append((share, value))
    return found


def _vector(values: list[float]) -> Node:
    return parse(vector(np.array(values)), INPUTS["update"])


def _linear(e: Experiment, factor: Node) -> bool:
    """Whether a factor is w A, or a weight of theta alone: then only mean rewards matter."""
    if isinstance(e.update, FormulaUpdate):
        return False
    del factor
    return not {"A", "R", "b"} & {x.name for x in walk(_weight(e)) if x.op == INPUT}


def _over_arms(e: Experiment, factor: Node, reward: Node, paid: str) -> Node:
    """A tree of a sample as a tree over arms."""
    b = apply("mean", name(INPUT, "b", SAMPLE))  # there is one, and it is the same for every arm
    pi, mu = name(INPUT, "pi", ARM), _mu(e)
    R = apply("sub", reward, _sample(e, parse(paid, INPUTS["update"]), {})) if paid else reward
    ratio = number(1) if isinstance(e.behaviour, OnPolicy) else apply("div", pi, mu)
    given = {"R": reward, "A": apply("sub", R, b), "b": b, "rho": ratio, "N": number(1), "mu": mu}
    return _sample(e, factor, given)


def _sample(e: Experiment, root: Node, given: dict[str, Node]) -> Node:
    made: dict[Node, Node] = {}
    for node in walk(root):
        if node.shape == SAMPLE_ARM or (node.op == "onehot" and node.operands[0].name == "a"):
            why = f"{text_of(node)} has arms of every sample, whose expectation is not taken"
            raise _refused(e, why)
        if node.op not in ROWS:
            made[node] = given.get(node.name, node) if node.op == INPUT else node
            continue
        operands = [made[x] for x in node.operands]
        if node.op == "gather" and node.operands[1].name == "a":
            made[node] = operands[0]
        elif node.over == "samples":
            alone = node.op in ("sum", "mean", "min", "max")
            made[node] = operands[0] if alone else number(0)
        else:
            made[node] = apply(node.op, *operands, over=node.over)
    return made[root]


# -- directions ------------------------------------------------------------------------------------


def _along(e: Experiment, psi: str, c: Node) -> Node:
    """sum_a c_a psi_a, without cancellation where one arm is nearly certain."""
    pi = name(INPUT, "pi", ARM)
    if psi == "natural":
        return apply("div", c, pi)
    shapes = {**INPUTS["update"], "c": ARM}
    policy = e.policy.link(e.problem.arms) if isinstance(e.policy, Escort) else e.policy
    if isinstance(policy, FormulaPolicy):
        f = settled(policy.tree)
        slope = with_numbers(policy.slope, dict(policy.parameters))
        text = "c * slope / f - slope / sum(f) * sum(c)"
        trees = {"c": c, "f": f, "slope": slope}
        return renamed(parse(text, {**shapes, "f": ARM, "slope": ARM}), trees)
    return renamed(parse("c * others(pi) - pi * others(c)", shapes), {"c": c})


def _split(e: Experiment, root: Node) -> tuple[dict[str, Node], Node | None]:
    """A tree as a sum of factors times directions, and a rest without them."""
    if not any(x.name in _DIRECTIONS for x in walk(root)):
        return {}, root
    if root.op == INPUT:
        return {root.name: number(1)}, None
    if root.op in ("sum", "mean") and root.over == "samples":
        return _split(e, root.operands[0])
    parts = [_split(e, x) for x in root.operands]
    if root.op in ("add", "sub"):
        (f, x), (g, y) = parts
        if root.op == "sub":
            g, y = {k: apply("neg", v) for k, v in g.items()}, _negative(y)
        joined = {k: _plus(f.get(k), g[k]) if k in g else f[k] for k in {**f, **g}}
        return joined, _sum(x, y)
    if root.op == "neg":
        f, x = parts[0]
        return {k: apply("neg", v) for k, v in f.items()}, _negative(x)
    if root.op in ("mul", "div"):
        first = bool(parts[0][0])
        factors, rest = parts[0 if first else 1]
        other = root.operands[1 if first else 0]
        scales = not parts[1 if first else 0][0] and "arms" not in axes_of(other.shape)
        if scales and (first or root.op == "mul"):
            made = {k: apply(root.op, v, other) for k, v in factors.items()}
            return made, None if rest is None else apply(root.op, rest, other)
    raise _refused(e, f"{text_of(root)} is no product of a number per sample and a direction")


def _without_samples(e: Experiment, rest: Node) -> Node:
    drawn = {x.name for x in walk(rest) if x.op == INPUT} & _SAMPLED
    if not drawn and rest.shape == ARM:
        return rest
    raise _refused(e, f"{text_of(rest)} looks at samples without a direction")


# -- sums and products -----------------------------------------------------------------------------


def _product(x: Node, y: Node) -> Node:
    if x.op == "number" and x.value == 1.0:
        return y
    return x if y.op == "number" and y.value == 1.0 else apply("mul", x, y)


def _plus(x: Node | None, y: Node) -> Node:
    return y if x is None else apply("add", x, y)


def _sum(x: Node | None, y: Node | None) -> Node | None:
    return x if y is None else _plus(x, y)


def _negative(x: Node | None) -> Node | None:
    return None if x is None else apply("neg", x)
