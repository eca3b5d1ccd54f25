"""Lowering of formulas: from trees to flat programs of the core.

A program is a list of operations on registers, each written once. Parameters become numbers,
constants are folded, equal sub-expressions are computed once, and what nothing needs is not there.
The core gives the registers their rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from committal import _core
from committal.config import (
    Bandit,
    Experiment,
    FormulaBaseline,
    FormulaPolicy,
    FormulaUpdate,
    Group,
    Linear,
    Natural,
    OnPolicy,
    Snapshot,
    Weight,
)
from committal.config.quantities import Quantity
from committal.config.spelled import batch_scale, episode_advantage
from committal.config.weights import FormulaWeight
from committal.errors import FormulaError
from committal.formula.formula import Formula
from committal.formula.normal import normal
from committal.formula.shapes import ARM, RUN, SAMPLE_ARM, axes_of, shape_of
from committal.formula.tree import INPUT, NUMBER, PARAMETER, STATE, Node, name, number, walk
from committal.formula.vocabulary import ROWS, apply, core_tree
from committal.support import limits
from committal.support.simplex import tsallis_steps

__all__ = ["Program", "lower_formula", "lower_programs"]


@dataclass(slots=True)
class Program:
    """What the core needs of a formula: plain data.

    Attributes
    ----------
    registers : list of str
        The shape of each.
    constants : list of (int, float)
        Registers of shape ``"run"`` and their numbers.
    inputs, outputs : list of (str, int)
        Names and registers; states are called ``"state:NAME"``.
    code : list of tuple
        (operation, destination, operands ...), in order.
    state : dict
        What every state is before the first update.

    Examples
    --------
    >>> import committal as cm
    >>> lower_formula(cm.baseline("sum(pi**2 * r)").tree).code
    [('powi', 1, 0, 2), ('mul', 3, 1, 2), ('sum_arms', 4, 3)]
    """

    registers: list[str] = field(default_factory=list)
    constants: list[tuple[int, float]] = field(default_factory=list)
    inputs: list[tuple[str, int]] = field(default_factory=list)
    code: list[tuple[Any, ...]] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)
    state: dict[str, float] = field(default_factory=dict)
    #: The formula, for people.
    text: str = ""
    #: How long the axes are, as far as it is known.
    counts: Mapping[str, int] = field(default_factory=dict)

    def new(self, shape: str) -> int:
        """A register that nothing was written to yet."""
        self.registers.append(shape)
        return len(self.registers) - 1

    def do(self, op: str, shape: str, *operands: int) -> int:
        """Add an operation, and return where its result is."""
        place = self.new(shape)
        self.code.append((op, place, *operands))
        return place

    def core(self) -> _core.Program:
        """The program as the core holds it."""
        return _core.Program(
            registers=self.registers,
            constants=self.constants,
            inputs=self.inputs,
            code=self.code,
            outputs=self.outputs,
            state=self.state,
        )


# -- trees -----------------------------------------------------------------------------------------


def _rebuilt(root: Node, leaves: Mapping[Node, Node]) -> Node:
    """A tree with other leaves, of operations that the core has."""
    return core_tree(root, leaves)


def _settled(
    formula: Formula,
    roots: Mapping[str, Node],
    prefix: str = "",
    known: Mapping[str, float] | None = None,
) -> dict[str, Node]:
    """Trees whose parameters are numbers, and whose states have a name of their own."""
    values = dict(formula.parameters)
    leaves: dict[Node, Node] = {}
    for node in walk(*roots.values()):
        if node.op == PARAMETER:
            leaves[node] = number(values[node.name])
        elif node.op == INPUT and known and node.name in known:
            leaves[node] = number(known[node.name])
        elif node.op == STATE and prefix:
            leaves[node] = name(STATE, prefix + node.name, node.shape)
    return {key: normal(_rebuilt(root, leaves), strict=False) for key, root in roots.items()}


def settled_roots(formula: Formula) -> dict[str, Node]:
    """The trees of a formula and of its states, with numbers in place of parameters."""
    return _settled(formula, _roots(formula))


def _ratio(experiment: Experiment) -> dict[str, float]:
    """The ratio pi(a) / mu(a) of a weight, where it is 1 and no sum asks how many there are.

    A weight that is the same for all samples is then computed once.
    """
    weight = getattr(experiment.estimator, "weight", None)
    if not (isinstance(experiment.problem, Bandit) and isinstance(experiment.behaviour, OnPolicy)):
        return {}
    assert weight is not None
    depends: dict[Node, bool] = {}
    for node in walk(*_roots(weight.tree).values()):
        own = node.op == INPUT and node.name == "rho"
        depends[node] = own or any(depends[x] for x in node.operands)
        if node.over and depends[node]:
            return {}
    return {"rho": 1.0}


def _roots(formula: Formula, prefix: str = "") -> dict[str, Node]:
    states = {f"state:{prefix}{key}": node for key, _, node in formula.states}
    return {"value": formula.result, **states}


# -- code ------------------------------------------------------------------------------------------


def lower_formula(
    formula: Formula,
    *,
    slope: Node | None = None,
    counts: Mapping[str, int] | None = None,
    known: Mapping[str, float] | None = None,
) -> Program:
    """Turn a formula into a program with the output ``"value"`` and its states.

    Parameters
    ----------
    formula : Formula
    slope : Node, optional
        Its derivative, as an output of that name.
    counts : dict, optional
        How many ``"arms"`` and ``"samples"`` there are; a median needs to know.
    known : dict, optional
        Inputs that are the same number for ever.

    Examples
    --------
    >>> import committal as cm
    >>> lower_formula(cm.Momentum(0.5).tree).state
    {'m': 0.0}
    """
    roots = _roots(formula)
    if slope is not None:
        roots["slope"] = slope
    initial = {key: formula.initial(key) for key, _, _ in formula.states}
    return _program(_settled(formula, roots, known=known), initial, formula.text, counts or {})


def _program(
    roots: Mapping[str, Node], initial: Mapping[str, float], text: str, counts: Mapping[str, int]
) -> Program:
    made = Program(state=dict(initial), text=text, counts=counts)
    places: dict[Node, int] = {}
    for node in walk(*roots.values()):
        if node.op != NUMBER:  # a number gets a register where it is read
            places[node] = emitted(made, node, places)
    states = {node.name: node.shape for node in walk(*roots.values()) if node.op == STATE}
    taken: set[int] = set()
    for key, root in roots.items():
        place, shape = read(made, root, places), root.shape
        wanted = states.get(key.removeprefix("state:"), shape) if "state:" in key else shape
        if key == "slope":
            wanted = ARM
        if wanted != shape or root.op not in ROWS or place in taken:
            # An output is a register of its own: inputs and constants are copied.
            place = made.do("copy", wanted, place)
        taken.add(place)
        made.outputs.append((key, place))
    return _checked(made)


def finished(made: Program, outputs: Mapping[str, tuple[int, str]]) -> Program:
    """A program whose outputs are copies of some of its registers."""
    for key, (place, shape) in outputs.items():
        made.outputs.append((key, made.do("copy", shape, place)))
    return _checked(made)


def _checked(made: Program) -> Program:
    for what, count, most in (
        ("operations", len(made.code), limits.OPERATIONS),
        ("registers", len(made.registers), limits.REGISTERS),
    ):
        if count > most:
            raise FormulaError("formula", made.text, f"at most {most} {what} (there are {count})")
    return made


def read(made: Program, node: Node, places: dict[Node, int]) -> int:
    """The register of a node that is there already, or that of a number."""
    if node not in places:
        places[node] = made.new(RUN)
        made.constants.append((places[node], node.value))
    return places[node]


def emitted(made: Program, node: Node, places: dict[Node, int]) -> int:
    """Add what a node needs; its operands are there already."""
    if node.op not in ROWS:
        place = made.new(node.shape)
        prefix = "state:" if node.op == STATE else ""
        made.inputs.append((prefix + node.name, place))
        return place
    if node.op == "pow":
        x, y = node.operands
        if y.op == NUMBER and y.value == int(y.value) and abs(y.value) <= limits.POWER:
            return made.do("powi", node.shape, read(made, x, places), int(y.value))
    operands = [read(made, x, places) for x in node.operands]
    if node.op == "gather" and node.operands[0].shape == SAMPLE_ARM:
        return _gathered_by_sample(made, node, operands)
    if node.op == "median":
        return _median(made, node, operands[0])
    if node.op == "tsallis":
        return _tsallis(made, node, operands[0])
    return made.do(ROWS[node.op].opcode(node.over), node.shape, *operands)


def _gathered_by_sample(made: Program, node: Node, operands: list[int]) -> int:
    """The entry of an arm of every sample: where it is the arm, the rest as zeros, added up."""
    x, index = operands
    hot = made.do("onehot", SAMPLE_ARM if node.operands[1].op == INPUT else ARM, index)
    zero = made.new(RUN)
    made.constants.append((zero, 0.0))
    return made.do("sum_arms", node.shape, made.do("where", SAMPLE_ARM, hot, x, zero))


def _median(made: Program, node: Node, x: int) -> int:
    """The middle of an axis, by going from the smallest to the next one, as often as is needed."""
    count = made.counts.get(node.over)
    if count is None:
        allowed = f"a formula without it: the number of {node.over} is not known here"
        raise FormulaError("median", made.text, allowed)
    inner, shape, over = node.operands[0].shape, node.shape, node.over

    def constant(value: float) -> int:
        made.constants.append((made.new(RUN), value))
        return made.constants[-1][0]

    def reduced(op: str, place: int) -> int:
        return made.do(f"{op}_{over}", shape, place)

    def next_unless(low: int, wanted: int) -> int:
        """The next larger number, unless so many are no larger than this one."""
        seen = reduced("sum", made.do("le", inner, x, low))
        larger = made.do("where", inner, made.do("gt", inner, x, low), x, largest)
        enough = made.do("ge", shape, seen, constant(float(wanted)))
        return made.do("where", shape, enough, low, reduced("min", larger))

    largest, low = reduced("max", x), reduced("min", x)
    for _ in range((count - 1) // 2):
        low = next_unless(low, (count + 1) // 2)
    if count % 2 == 1:
        return low
    both = made.do("add", shape, low, next_unless(low, count // 2 + 1))
    return made.do("mul", shape, both, constant(0.5))


def _tsallis(made: Program, node: Node, x: int) -> int:
    """`committal.support.simplex.tsallis`, with as many steps as the axis needs."""
    shape, over = node.shape, node.over
    one_less = shape_of(axes_of(shape) - {over})

    def constant(value: float) -> int:
        made.constants.append((made.new(RUN), value))
        return made.constants[-1][0]

    def summed(place: int) -> int:
        return made.do(f"sum_{over}", one_less, place)

    one, two = constant(1.0), constant(2.0)
    largest = made.do(f"max_{over}", one_less, x)
    y = made.do("add", shape, made.do("sub", shape, largest, x), two)
    for _ in range(tsallis_steps(made.counts.get(over, limits.ARMS))):
        inverse = made.do("div", shape, one, y)
        square = made.do("mul", shape, inverse, inverse)
        s = summed(square)
        twice = made.do("mul", one_less, two, made.do("sqrt", one_less, s))
        above = made.do("sub", one_less, twice, one)
        cubes = summed(made.do("mul", shape, square, inverse))
        move = made.do("div", one_less, made.do("mul", one_less, s, above), cubes)
        y = made.do("add", shape, y, move)
    square = made.do("powi", shape, y, -2)
    return made.do("div", shape, square, summed(square))


# -- experiments -----------------------------------------------------------------------------------


def lower_programs(experiment: Experiment) -> dict[str, Any]:
    """The programs of an experiment, by the part that they replace; empty if it has no formulas.

    Examples
    --------
    >>> import committal as cm
    >>> e = cm.Experiment(
    ...     cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=9,
    ...     baseline=cm.baseline("sum(pi * r)") - 1,
    ... )
    >>> sorted(lower_programs(e)), lower_programs(e)["baseline"].inputs
    (['baseline'], [('pi', 0), ('r', 1)])
    """
    found: dict[str, Any] = {}
    counts = _counts(experiment)
    baseline = _lower_baseline(experiment, counts)
    if baseline is not None:
        found["baseline"] = baseline
    for coefficient, atom in _learned(experiment):
        found["critic"] = _lower_critic(coefficient, atom, counts)
    group = experiment.estimator
    if isinstance(group, Group):  # of episodes: others are spelled out
        advantage = episode_advantage(group)
        if advantage is not None:
            found["group"] = lower_formula(advantage, counts={"samples": group.samples})
        scale = batch_scale(group)
        if scale is not None:
            found["scale"] = lower_formula(scale.tree)
    weight = _weight(experiment)
    if weight is not None:
        found["weight"] = lower_formula(weight.tree, counts=counts, known=_ratio(experiment))
    epochs = getattr(experiment.estimator, "epochs", 1)
    by_state = not isinstance(experiment.problem, Bandit)  # the core itself makes the epochs
    if epochs > 1 and not by_state:
        from committal.lowering.epochs import lower_epochs

        found["update"] = lower_epochs(experiment, epochs, counts)
    elif isinstance(experiment.update, FormulaUpdate):
        found["update"] = lower_formula(experiment.update.tree, counts=counts)
    if isinstance(experiment.policy, FormulaPolicy):
        found["link"] = lower_formula(experiment.policy.tree, slope=experiment.policy.slope)
    if experiment.optimiser.tree is not None and (epochs == 1 or by_state):
        found["optimiser"] = lower_formula(experiment.optimiser.tree, counts=counts)
    if experiment.record.formulas:
        own = {**counts, "arms": experiment.problem.arms}
        found["quantities"] = [
            (quantity.name, lower_formula(quantity.tree, counts=own))
            for quantity in experiment.record.formulas
        ]
    return found


def _weight(experiment: Experiment) -> Weight | None:
    """The weight of a sample; of a step that an earlier policy of an MDP drew, its ratio.

    Natural groups of episodes, and those of one, say it on the policy too, so that 1 / pi and the
    score are rounded as they are with a weight: what does nothing then changes no bit.
    """
    group = experiment.estimator
    weight: Weight | None = getattr(group, "weight", None)
    by_update = isinstance(experiment.update, FormulaUpdate)
    if weight is not None or by_update or isinstance(experiment.problem, Bandit):
        return weight
    plain = isinstance(experiment.update, Natural) or getattr(group, "samples", 1) == 1
    said = (isinstance(group, Group) and plain) or isinstance(experiment.behaviour, Snapshot)
    return FormulaWeight("rho") if said else None


def _counts(experiment: Experiment) -> dict[str, int]:
    """The lengths of the axes; in an MDP an optimiser sees all states, so that nobody knows."""
    if not isinstance(experiment.problem, Bandit):
        return {"samples": 1}
    return {"arms": experiment.problem.arms, "samples": getattr(experiment.estimator, "samples", 1)}


def _formula_terms(experiment: Experiment) -> list[tuple[float, FormulaBaseline]]:
    baseline = experiment.baseline
    terms = baseline.terms if isinstance(baseline, Linear) else ((1.0, baseline),)
    return [(c, atom) for c, atom in terms if isinstance(atom, FormulaBaseline)]


def _learned(experiment: Experiment) -> list[tuple[float, FormulaBaseline]]:
    """What has a state for every state of an MDP: at most one term."""
    if isinstance(experiment.problem, Bandit):
        return []
    return [(c, atom) for c, atom in _formula_terms(experiment) if atom.state]


def _lower_critic(coefficient: float, atom: FormulaBaseline, counts: Mapping[str, int]) -> Program:
    """What is subtracted, and the formula itself, of which the next state says what it is worth."""
    formula = atom.tree
    roots = _settled(formula, _roots(formula))
    own = roots.pop("value")
    value = own if coefficient == 1.0 else apply("mul", number(coefficient), own)
    initial = {key: formula.initial(key) for key, _, _ in formula.states}
    return _program({"value": value, "own": own, **roots}, initial, repr(atom), counts)


def _lower_baseline(experiment: Experiment, counts: Mapping[str, int]) -> Program | None:
    """The sum of all terms that are formulas, as one program."""
    learned = _learned(experiment)
    own = [term for term in _formula_terms(experiment) if term not in learned]
    if not own:
        return None
    total: Node | None = None
    roots: dict[str, Node] = {}
    initial: dict[str, float] = {}
    for i, (coefficient, atom) in enumerate(own):
        formula, prefix = atom.tree, f"{i}." if len(own) > 1 else ""
        settled = _settled(formula, _roots(formula, prefix), prefix)
        value = settled.pop("value")
        scaled = value if coefficient == 1.0 else apply("mul", number(coefficient), value)
        total = scaled if total is None else apply("add", total, scaled)
        roots |= settled
        initial |= {prefix + key: formula.initial(key) for key, _, _ in formula.states}
    assert total is not None
    return _program({"value": total, **roots}, initial, repr(experiment.baseline), counts)


def formula_row(programs: Mapping[str, Any], name: str) -> Quantity | None:
    """How a quantity that is a formula is recorded; None if it is none.

    Examples
    --------
    >>> formula_row({}, "value") is None
    True
    """
    for key, program in programs.get("quantities", ()):
        if key == name:
            (place,) = (place for output, place in program.outputs if output == "value")
            axes = ("arm",) if program.registers[place] == ARM else ()
            return Quantity(name, program.text, axes)
    return None


def core_programs(programs: Mapping[str, Any]) -> dict[str, Any]:
    """Programs as the core holds them.

    Examples
    --------
    >>> import committal as cm
    >>> list(core_programs({"weight": lower_formula(cm.weight("minimum(rho, 1)").tree)}))
    ['weight']
    """
    return {
        part: [(key, each.core()) for key, each in program]
        if part == "quantities"
        else program.core()
        for part, program in programs.items()
    }
