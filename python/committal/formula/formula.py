"""A whole formula: its result, its parameters, its state, made from a function or from text."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy.typing as npt

from committal.errors import FormulaError
from committal.formula.evaluate import Culprit, culprit, evaluate
from committal.formula.latex import latex_of
from committal.formula.normal import normal
from committal.formula.parse import NAMES, is_name, parse
from committal.formula.shapes import ARM, RUN, WORDS
from committal.formula.text import text_of
from committal.formula.trace import parameters_of, trace
from committal.formula.tree import INPUT, PARAMETER, STATE, Node, name, walk
from committal.formula.vocabulary import Floats
from committal.support import check, html, limits

__all__ = ["Formula", "from_function", "from_text"]

_Initial = float | str


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, in normal form.

    Attributes
    ----------
    result : Node
    parameters : tuple of (str, float)
        In the order of their names.
    states : tuple of (str, float or str, Node)
        Name, what it is before the first update (a number, or the name of a parameter), and what
        it becomes.

    Examples
    --------
    >>> made = from_text("sum(pi * r) - c", {"pi": "arm", "r": "arm"}, {"c": 0.5})
    >>> made.text, made.names
    ('sum(pi * r) - c', ('pi', 'r'))
    >>> float(made.at({"pi": [0.5, 0.5], "r": [1.0, 0.0]}))
    0.0
    """

    result: Node
    parameters: tuple[tuple[str, float], ...] = ()
    states: tuple[tuple[str, _Initial, Node], ...] = ()

    @property
    def roots(self) -> tuple[Node, ...]:
        """The result and the next states."""
        return (self.result, *(node for _, _, node in self.states))

    @property
    def text(self) -> str:
        """The result as text."""
        return text_of(self.result)

    @property
    def state_texts(self) -> tuple[tuple[str, _Initial, str], ...]:
        """The states, with their next values as text."""
        return tuple((key, initial, text_of(node)) for key, initial, node in self.states)

    @property
    def latex(self) -> str:
        """The result, and what the states become, as LaTeX."""
        rows = [latex_of(self.result)]
        for key, _, node in self.states:
            rows.append(rf"{latex_of(self._state(key))} \leftarrow {latex_of(node)}")
        return r", \quad ".join(rows)

    def _state(self, key: str) -> Node:
        return name(STATE, key, self.shapes.get(key, RUN))

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"

    def _repr_html_(self) -> str:
        return html.page("Formula", self.in_page())

    def in_page(self) -> html.Html:
        """The result typeset and as text, and what its parameters and states are.

        Examples
        --------
        >>> "<code" in from_text("x < 1", {"x": "run"}).in_page()
        True
        """
        texts = [self.text, *(f"{key} ← {after}" for key, _, after in self.state_texts)]
        numbers: dict[str, object] = {key: f"{value:g}" for key, value in self.parameters}
        numbers |= {f"{key} at first": start for key, start, _ in self.states}
        return html.joined(
            [
                html.Html("<div>"),
                html.maths(self.latex),
                html.Html("</div>"),
                html.code("\n".join(texts)),
                html.facts(numbers) if numbers else html.Html(),
            ]
        )

    @property
    def shapes(self) -> dict[str, str]:
        """The shapes of its names."""
        return dict(_shapes(self.roots))

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that it looks at."""
        return tuple(sorted({n.name for n in walk(*self.roots) if n.op == INPUT}))

    def nodes(self) -> Iterator[Node]:
        """Everything below, once."""
        return walk(*self.roots)

    def initial(self, key: str) -> float:
        """What a state is before the first update."""
        given = {name: value for name, value, _ in self.states}[key]
        return dict(self.parameters)[given] if isinstance(given, str) else given

    def values(self, values: Mapping[str, npt.ArrayLike]) -> dict[str, npt.ArrayLike]:
        """The values of names, with those of the parameters."""
        return {**dict(self.parameters), **values}

    def at(self, values: Mapping[str, npt.ArrayLike]) -> Floats:
        """The result, from arrays of any leading axes; see `evaluate`."""
        return evaluate(self.result, self.values(values))

    def next_states(self, values: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]:
        """What the states become."""
        given = self.values(values)
        return {key: evaluate(node, given) for key, _, node in self.states}

    def culprit(self, values: Mapping[str, npt.ArrayLike]) -> Culprit | None:
        """What makes the result, or else a state, not finite; None if they are finite."""
        given = self.values(values)
        found = (culprit(root, given) for root in self.roots)
        return next((one for one in found if one is not None), None)


@functools.lru_cache(maxsize=1024)
def _shapes(roots: tuple[Node, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((node.name, node.shape) for node in walk(*roots) if node.name)


def _known(
    inputs: Mapping[str, str], parameters: Mapping[str, float], states: Mapping[str, str]
) -> dict[str, Node]:
    for taken in (*parameters, *states):
        if taken in inputs:
            raise FormulaError(taken, taken, f"another name: {taken} is given already")
    for taken in states:
        if taken in parameters:
            raise FormulaError(taken, taken, f"another name: {taken} is a parameter already")
    return {
        **{key: name(PARAMETER, key) for key in parameters},
        **{key: name(STATE, key, shape) for key, shape in states.items()},
    }


def _settled(
    make: Callable[[dict[str, str]], tuple[Node, dict[str, Node]]], state: Sequence[str]
) -> tuple[Node, dict[str, Node]]:
    """Make a formula, with the shapes of its states as they come out: one number, or over arms.

    What cannot be made with numbers may need vectors, as q[a] does: then those are tried.
    """
    first: FormulaError | None = None
    for vectors in _choices(state):
        try:
            return _grown(make, {key: ARM if key in vectors else RUN for key in state})
        except FormulaError as error:
            first = first or error
    assert first is not None
    raise first


def _choices(state: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Which states are vectors: as few as possible; of many, none or all."""
    for count in range(len(state) + 1):
        if len(state) <= _TRIED or count in (0, len(state)):
            yield from itertools.combinations(state, count)


#: So many states are tried as numbers and vectors in every combination.
_TRIED = 4


def _grown(
    make: Callable[[dict[str, str]], tuple[Node, dict[str, Node]]], shapes: dict[str, str]
) -> tuple[Node, dict[str, Node]]:
    """Make a formula, with states that become wider as long as what they become is."""
    while True:
        result, states = make(shapes)
        grown = {key: node.shape for key, node in states.items()}
        for key, shape in grown.items():
            if shape not in (RUN, ARM):
                raise FormulaError(
                    f"state {key}",
                    text_of(states[key]),
                    f"one number or a vector over arms: this is {WORDS[shape]}",
                )
        wider = {key: ARM if ARM in (shapes[key], grown[key]) else RUN for key in shapes}
        if wider == shapes:
            return result, states
        shapes = wider


#: The result and the next states of a formula, in normal form.
_Trees: TypeAlias = tuple[Node, dict[str, Node]]


def _normal(result: Node, states: Mapping[str, Node], argument: str) -> _Trees:
    """Normal forms, of texts that are not too long."""
    made = normal(result), {key: normal(states[key]) for key in sorted(states)}
    for node in (made[0], *made[1].values()):
        text = text_of(node)
        if len(text) > limits.FORMULA_TEXT:
            allowed = f"at most {limits.FORMULA_TEXT} characters as text (there are {len(text)})"
            raise FormulaError(argument, text[:60] + "…", allowed)
    return made


def _finished(
    trees: _Trees, initial: Mapping[str, Any], parameters: Mapping[str, Any], argument: str
) -> Formula:
    """A formula, of trees and of numbers that are checked."""
    checked = {key: check.number(f"{argument}.{key}", value) for key, value in parameters.items()}
    kept = []
    for key, node in trees[1].items():
        start = initial[key]
        if isinstance(start, str):
            if start not in checked:
                allowed = f"a number, or {check.one_of(start, checked, 'the parameters')}"
                raise FormulaError(f"{argument}.state[{key!r}]", start, allowed)
        else:
            start = check.number(f"{argument}.state[{key!r}]", start)
        kept.append((key, start, node))
    return Formula(trees[0], tuple(sorted(checked.items())), tuple(kept))


#: Trees of texts that were read or written lately, by all that they depend on.
_TREES: dict[tuple[object, ...], _Trees] = {}
_REMEMBERED = 1024


def _remember(key: tuple[object, ...], trees: _Trees) -> _Trees:
    if len(_TREES) >= _REMEMBERED:
        _TREES.clear()
    _TREES[key] = trees
    return trees


def _key(
    text: str,
    inputs: Mapping[str, str],
    parameters: Iterable[str],
    states: Iterable[tuple[str, str]],
) -> tuple[object, ...]:
    """What the trees of a text depend on: not on the values of its parameters."""
    return text, frozenset(inputs.items()), frozenset(parameters), tuple(sorted(states))


def from_function(
    function: Callable[..., Any],
    inputs: Mapping[str, str],
    state: Mapping[str, Any] | None = None,
    *,
    argument: str = "formula",
    absent: Mapping[str, str] | None = None,
) -> Formula:
    """Trace a function.

    Parameters
    ----------
    function : callable
        Its arguments are names of inputs and states; keyword-only ones with defaults are
        parameters. With a state it returns (result, {state: next value}).
    inputs : dict
        The shape of every name that may be used.
    state : dict, optional
        What the states are before the first update: numbers, or names of parameters.
    argument : str
        What errors call it.
    absent : dict, optional
        Why some names are not known here: what is allowed instead.

    Examples
    --------
    >>> def decayed(R, v, *, rate=0.1):
    ...     return v, {"v": v + rate * (R.mean() - v)}
    >>> from_function(decayed, {"R": "sample"}, {"v": 0.0}).state_texts
    (('v', 0.0, 'v + rate * (mean(R) - v)'),)
    """
    initial = _checked_state(argument, state)
    given, parameters = parameters_of(function)
    who = getattr(function, "__name__", argument)

    def make(shapes: dict[str, str]) -> tuple[Node, dict[str, Node]]:
        nodes = _known(inputs, parameters, shapes)
        nodes |= {key: name(INPUT, key, shape) for key, shape in inputs.items()}
        for key in given:
            if key not in nodes:
                allowed = check.one_of(key, [*inputs, *shapes], f"the names of {argument}")
                allowed += f"; a parameter is {key}=... behind a *, a state is declared by state="
                raise FormulaError(f"{who}.{key}", key, (absent or {}).get(key, allowed))
        traced = trace(function, {k: nodes[k] for k in (*given, *parameters)}, tuple(initial))
        return traced.result, traced.states

    trees = _normal(*_settled(make, sorted(initial)), argument)
    made = _finished(trees, initial, parameters, argument)
    # It will be read from its text, where it is the same.
    states = [(name, after) for name, _, after in made.state_texts]
    _remember(_key(made.text, inputs, parameters, states), trees)
    return made


def _checked_state(argument: str, state: object) -> dict[str, Any]:
    if state is None:
        return {}
    if not isinstance(state, Mapping):
        raise FormulaError(f"{argument}.state", state, "a dictionary of names and initial values")
    for key in state:
        if not isinstance(key, str) or not is_name(key):
            raise FormulaError(f"{argument}.state", key, NAMES)
    return dict(state)


def from_text(
    text: str,
    inputs: Mapping[str, str],
    parameters: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    *,
    argument: str = "formula",
    absent: Mapping[str, str] | None = None,
) -> Formula:
    """Read a formula from text.

    Parameters
    ----------
    text : str
    inputs : dict
        The shape of every name that may be used.
    parameters : dict, optional
        Their values.
    state : dict, optional
        For every state what it is before the first update (a number, or the name of a parameter)
        and the text of what it becomes.
    argument : str
        What errors call it.
    absent : dict, optional
        Why some names are not known here: what is allowed instead.

    Examples
    --------
    >>> from_text("v", {"R": "sample"}, {}, {"v": (0.0, "mean(R)")}).states[0][:2]
    ('v', 0.0)
    """
    texts = {}
    for key, pair in _checked_state(argument, state).items():
        two = isinstance(pair, tuple | list) and len(pair) == 2
        if not two or not isinstance(pair[1], str) or not isinstance(pair[0], str | int | float):
            allowed = "(initial value, text of what it becomes)"
            raise FormulaError(f"{argument}.state[{key!r}]", pair, allowed)
        texts[key] = (pair[0], pair[1])
    given = _checked_parameters(argument, parameters)
    if not isinstance(text, str):
        raise FormulaError(_named(argument), text, "a function or a text")
    known = _key(text, inputs, given, [(name, after) for name, (_, after) in texts.items()])
    trees = _TREES.get(known)
    if trees is None:
        trees = _remember(known, _read(text, inputs, given, texts, argument, absent))
    return _finished(trees, {name: start for name, (start, _) in texts.items()}, given, argument)


def _named(argument: str) -> str:
    """What the text of a part is called."""
    return argument if argument == "formula" else f"{argument}.formula"


def _checked_parameters(argument: str, parameters: object) -> dict[str, float]:
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise FormulaError(f"{argument}.parameters", parameters, "a dictionary of numbers")
    for key in parameters:
        if not isinstance(key, str) or not is_name(key):
            raise FormulaError(f"{argument}.parameters", key, NAMES)
    return {key: check.number(f"{argument}.{key}", value) for key, value in parameters.items()}


def _read(
    text: str,
    inputs: Mapping[str, str],
    parameters: Mapping[str, float],
    texts: Mapping[str, tuple[Any, str]],
    argument: str,
    absent: Mapping[str, str] | None,
) -> _Trees:
    def make(shapes: dict[str, str]) -> tuple[Node, dict[str, Node]]:
        more = _known(inputs, parameters, shapes)
        result = parse(text, inputs, more, argument=_named(argument), absent=absent)
        following = {
            key: parse(after, inputs, more, argument=f"{argument}.state[{key!r}]", absent=absent)
            for key, (_, after) in texts.items()
        }
        return result, following

    return _normal(*_settled(make, sorted(texts)), argument)
