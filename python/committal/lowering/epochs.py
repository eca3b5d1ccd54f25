"""Several epochs of one batch, as one program: the update, made again and again.

The core draws a batch, takes its baselines and runs one program that says how far theta goes. With
E epochs that program has the update E times in it, each at the theta that the one before has left:
pi, rho and the directions are computed anew, A is not. The optimiser is inside as well, with its
state. (In MDPs, where a program sees one visit, the core itself goes through the episodes again.)
"""

from __future__ import annotations

from collections.abc import Mapping

from committal.config import Experiment, FormulaPolicy, FormulaUpdate
from committal.config.formulas import INPUTS
from committal.formula.parse import parse
from committal.formula.shapes import ARM, SAMPLE_ARM
from committal.formula.substitute import renamed, settled, with_numbers
from committal.formula.tree import INPUT, NUMBER, STATE, Node, name, number, walk
from committal.formula.vocabulary import apply, core_tree
from committal.lowering.programs import (
    Program,
    emitted,
    finished,
    read,
    settled_roots,
)

__all__ = ["lower_epochs"]

#: What a formula sees of a probability is never smaller.
_LEAST = 1e-150


class _Epochs:
    """A program that grows by one epoch after the other."""

    def __init__(self, experiment: Experiment, epochs: int, counts: Mapping[str, int]) -> None:
        assert isinstance(experiment.update, FormulaUpdate)
        self.experiment, self.epochs = experiment, epochs
        self.made = Program(text=experiment.update.formula, counts=counts)
        #: Where everything is that does not change from one epoch to the next.
        self.places: dict[Node, int] = {}
        self.update = core_tree(settled(experiment.update.tree))
        alpha = experiment.update.step_size
        assert isinstance(alpha, float)
        self.alpha = number(alpha)

    def put(self, tree: Node, here: dict[Node, int]) -> int:
        """Add a tree, whose leaves may have places of their own in this epoch.

        What is computed for it is there for the rest of the epoch.
        """
        known = {**self.places, **here}
        for node in walk(tree):
            if node.op != NUMBER and node not in known:
                known[node] = emitted(self.made, node, known)
        place = read(self.made, tree, known)
        for node, at in known.items():
            if node.op in (INPUT, NUMBER) and node not in here:
                self.places[node] = at
            else:
                here[node] = at
        return place

    def epoch(self, e: int, theta: int | None, here: dict[Node, int]) -> dict[Node, int]:
        """Where pi, rho, theta, t and the directions are in an epoch."""
        inputs = {key: name(INPUT, key, shape) for key, shape in INPUTS["update"].items()}
        found = dict(here)
        if theta is not None:
            found[inputs["theta"]] = theta
            found[inputs["pi"]] = self.put(self._policy(), found)
            ratio = parse("pi[a] / mu[a]", INPUTS["update"])
            found[inputs["rho"]] = self.put(ratio, found)
        # mu is that of the batch: on the policy it is pi as it was.
        time = apply("add", apply("mul", number(self.epochs), inputs["t"]), number(e))
        if "t" in self._names():
            found[inputs["t"]] = self.put(time, dict(here))
        for key, tree in self._directions().items():
            if key in self._names():
                found[inputs[key]] = self.put(tree, found)
        return found

    def _names(self) -> set[str]:
        trees = [self.update]
        optimiser = self.experiment.optimiser.tree
        if optimiser is not None:
            trees += optimiser.roots
        return {node.name for node in walk(*trees) if node.op == INPUT}

    def _policy(self) -> Node:
        policy = self.experiment.policy
        if isinstance(policy, FormulaPolicy):
            weight = core_tree(settled(policy.tree))
        else:
            weight = parse("exp(theta - max(theta))", INPUTS["update"])
        pi = apply("div", weight, apply("sum", weight))
        return apply("maximum", pi, number(_LEAST))

    def _directions(self) -> dict[str, Node]:
        """The score and the natural direction of every sample, as trees."""
        shapes = INPUTS["update"]
        natural = parse("onehot(a) / pi[a]", shapes)
        policy = self.experiment.policy
        if not isinstance(policy, FormulaPolicy):
            return {"score": parse("onehot(a) - pi", shapes), "natural": natural}
        trees = {
            "f": core_tree(settled(policy.tree)),
            "slope": core_tree(with_numbers(policy.slope, dict(policy.parameters))),
        }
        more = {**shapes, "f": ARM, "slope": ARM}
        score = parse("onehot(a) * (slope[a] / f[a]) - slope / sum(f)", more)
        return {"score": renamed(score, trees), "natural": natural}


def lower_epochs(
    experiment: Experiment, epochs: int, counts: Mapping[str, int] | None = None
) -> Program:
    """The program of an update that is made several times with the samples of one batch.

    Parameters
    ----------
    experiment : Experiment
        Spelled out: its update is a formula.
    epochs : int
    counts : dict, optional
        How many ``"arms"`` and ``"samples"`` there are.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=9,
    ...     estimator=cm.Group(samples=2, epochs=3),
    ... )
    >>> program = lower_epochs(cm.config.spelled_out(e), 3)
    >>> [op for op, *_ in program.code].count("exp")  # pi at the second and the third epoch
    2
    """
    work = _Epochs(experiment, epochs, counts or {})
    made, optimiser = work.made, experiment.optimiser.tree
    roots = {} if optimiser is None else settled_roots(optimiser)
    states: dict[Node, int] = {}
    if optimiser is not None:
        made.state = {key: optimiser.initial(key) for key, _, _ in optimiser.states}
        for node in walk(*roots.values()):
            if node.op == STATE:
                states[node] = made.new(node.shape)
                made.inputs.append((f"state:{node.name}", states[node]))
    theta, total, start = None, None, name(INPUT, "theta", ARM)
    g, step, so_far = (name(INPUT, key, ARM) for key in ("g", "step", "so far"))
    for e in range(epochs):
        here = work.epoch(e, theta, {})
        update = work.update
        if update.shape == SAMPLE_ARM:
            update = apply("mean", update, over="samples")
        here[g] = work.put(update, here)
        if optimiser is not None:
            here |= states
            here[step] = work.put(roots["value"], here)
            after = {key: work.put(root, here) for key, root in roots.items() if key != "value"}
            states = {node: after[f"state:{node.name}"] for node in states}
        else:
            here[step] = here[g]
        if total is None:
            total = here[step]
        else:
            total = work.put(apply("add", so_far, step), {so_far: total, step: here[step]})
        if e + 1 < epochs:
            moved = apply("add", start, apply("mul", work.alpha, so_far))
            theta = work.put(moved, {so_far: total})
    assert total is not None
    outputs = {"value": (total, ARM)}
    outputs |= {f"state:{node.name}": (at, node.shape) for node, at in states.items()}
    return finished(made, outputs)
