"""Tracing: a Python function is called once, with symbols, and leaves its tree behind."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from committal.errors import FormulaError
from committal.formula import functions
from committal.formula.parse import NAMES, is_name
from committal.formula.symbol import Symbol, node_of
from committal.formula.tree import Node
from committal.support import check

__all__ = ["Traced", "parameters_of", "trace"]

#: Frames of these are not the user's.
_HIDDEN = (str(Path(__file__).parents[1]), str(Path(np.__file__).parent))

#: Characters of a line of source that a message shows.
_SOURCE = 80


class Traced:
    """What a function left behind: its result and the next value of every state."""

    __slots__ = ("result", "states")

    def __init__(self, result: Node, states: dict[str, Node]) -> None:
        self.result = result
        self.states = states


def parameters_of(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, float]]:
    """The names of what a function is given, and its parameters: keyword-only, with defaults.

    Examples
    --------
    >>> def f(pi, *, top=2): ...
    >>> parameters_of(f)
    (('pi',), {'top': 2.0})
    """
    for kind in (
        inspect.isgeneratorfunction,
        inspect.iscoroutinefunction,
        inspect.isasyncgenfunction,
    ):
        if kind(function):
            allowed = "a plain function that returns a formula: no yield, no async"
            raise FormulaError(_called_name(function), function, allowed)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        allowed = "a function with arguments that can be seen: def f(pi, r): ..."
        raise FormulaError(_called_name(function), function, allowed) from None
    given, parameters = [], {}
    for p in signature.parameters.values():
        where = f"{_called_name(function)}.{p.name}"
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise FormulaError(where, str(p), "arguments with names: pi, r, ... as they are needed")
        if p.kind == p.KEYWORD_ONLY:
            if p.default is p.empty:
                raise FormulaError(where, str(p), "a default: parameters have one (*, top=1.0)")
            if not is_name(p.name):
                raise FormulaError(where, p.name, NAMES)
            parameters[p.name] = check.number(where, p.default)
        elif p.default is not p.empty:
            raise FormulaError(
                where, str(p), "no default, or a parameter: put a * before it (*, top=1.0)"
            )
        else:
            given.append(p.name)
    return tuple(given), parameters


def _called_name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def trace(
    function: Callable[..., Any], given: Mapping[str, Node], state: tuple[str, ...] = ()
) -> Traced:
    """Call a function once, with symbols, and return what it computed.

    Parameters
    ----------
    function : callable
    given : dict
        A node for every argument.
    state : tuple of str
        The states, whose next values the function returns as well, as a dictionary.

    Examples
    --------
    >>> from committal.formula.tree import name
    >>> trace(lambda pi: (pi**2).sum(), {"pi": name("input", "pi", "arm")}).result.shape
    'run'
    """
    who = _called_name(function)
    positional, named = _passed(function, given)
    try:
        returned = function(*positional, **named)
    except FormulaError as error:
        allowed = error.allowed + _place(function, error)
        raise FormulaError(error.argument, error.value, allowed) from None
    except RecursionError as error:
        allowed = "a function that does not call itself: it is called once, and has no end to find"
        raise FormulaError(who, "it calls itself for ever", allowed) from error
    except TypeError as error:
        allowed = _instead_of(str(error)) + _place(function, error)
        raise FormulaError(who, str(error).replace("Symbol.", "x."), allowed) from error
    states: dict[str, Node] = {}
    if state:
        if not (isinstance(returned, tuple) and len(returned) == 2):
            raise FormulaError(
                who, returned, f"two results: the value, and the next {_next(state)}"
            )
        returned, following = returned
        if not isinstance(following, Mapping) or set(following) != set(state):
            raise FormulaError(who, following, f"as its second result the next {_next(state)}")
        states = {key: _result(f"{who}[{key!r}]", following[key]) for key in state}
    return Traced(_result(who, returned), states)


def _passed(
    function: Callable[..., Any], given: Mapping[str, Node]
) -> tuple[list[Symbol], dict[str, Symbol]]:
    """Symbols for the arguments, by place where they have no name."""
    bare = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.POSITIONAL_ONLY
    ]
    named = {key: Symbol(node) for key, node in given.items() if key not in bare}
    return [Symbol(given[key]) for key in bare], named


def _instead_of(words: str) -> str:
    """What to write instead of a call that Python itself refused."""
    found = re.search(r"(\w+)\(\) (?:got|takes|missing)", words)
    name = found[1] if found else ""
    if name not in functions.__all__:
        return "what the vocabulary can do with numbers and vectors"
    names = inspect.signature(getattr(functions, name)).parameters
    written = ", ".join(_OPTIONS.get(key, key) for key in names)
    method = f", or x.{name}(...)" if hasattr(Symbol, name) else ""
    hint = '; axes have names: over="arms" or over="samples"' if "'axis'" in words else ""
    return f"cm.{name}({written}){method}{hint}"


#: How options are written in messages.
_OPTIONS = {"over": 'over="arms"', "how": 'how="sum"', "ddof": "ddof=0"}


def _place(function: Callable[..., Any], error: BaseException) -> str:
    """Where in a function, or in what it calls, something went wrong."""
    code, inner, own = getattr(function, "__code__", None), None, None
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        if frame.f_code is code:
            own = (frame, step.tb_lineno)
        if own is not None and not frame.f_code.co_filename.startswith(_HIDDEN):
            inner = (frame, step.tb_lineno)
        step = step.tb_next
    if own is None or inner is None:
        return ""
    called = "" if inner[0] is own[0] else f", called by {_called_name(function)}"
    return f" (in {_line(*inner)}{called})"


def _line(frame: FrameType, line: int) -> str:
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    if len(source) > _SOURCE:
        source = source[:_SOURCE] + "…"
    return f"{frame.f_code.co_name}, line {line}" + (f": {source}" if source else "")


def _next(state: tuple[str, ...]) -> str:
    return "state, {" + ", ".join(f"{key!r}: ..." for key in state) + "}"


def _result(who: str, value: Any) -> Node:
    if value is None:
        raise FormulaError(who, None, "a formula to return: is there a `return`?")
    if isinstance(value, tuple | list | Mapping):
        raise FormulaError(who, value, "one formula; what is returned anew is declared by state=")
    if isinstance(value, bool | np.bool_):
        allowed = "a formula, not True or False, which Python has computed while tracing"
        raise FormulaError(who, value, allowed)
    if not isinstance(value, Symbol) and not check.is_real(value) and np.ndim(value) == 0:
        allowed = "a formula: numbers and what is made of the arguments of the function"
        raise FormulaError(who, value, allowed)
    return node_of(who, value)
