"""Formulas as parts of an experiment: what each part is made from, and what it must give.

A part is plain data: the text of its formula in normal form, its parameters and its state. That is
all that is compared, hashed, stored and sent to other machines; the tree is read from it again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Self

from committal.config.base import Config
from committal.errors import ConfigError, FormulaError
from committal.formula.formula import Formula, from_function, from_text
from committal.formula.shapes import ARM, RUN, SAMPLE, SAMPLE_ARM, WORDS
from committal.support import check, html

__all__ = ["FormulaPart"]

_POLICY = {**dict.fromkeys(("pi", "r", "theta", "mu"), ARM), "t": RUN, "K": RUN}
_BATCH = {"a": SAMPLE, "R": SAMPLE, "N": RUN}
_SAMPLE = {"A": SAMPLE, "b": SAMPLE, "rho": SAMPLE}

#: What each part is made from, by name and shape.
INPUTS: dict[str, dict[str, str]] = {
    "baseline": {**_POLICY, **_BATCH},
    "weight": {**_POLICY, **_BATCH, **_SAMPLE},
    "update": {**_POLICY, **_BATCH, **_SAMPLE, "score": SAMPLE_ARM, "natural": SAMPLE_ARM},
    "link": {"theta": ARM},
    "optimiser": {"g": ARM, "theta": ARM, "t": RUN, "K": RUN},
    "quantity": {**_POLICY, **_BATCH, **_SAMPLE, "theta0": ARM},
}

#: What each part may give.
RESULTS: dict[str, tuple[str, ...]] = {
    "baseline": (RUN, SAMPLE),
    "weight": (RUN, SAMPLE),
    "update": (ARM, SAMPLE_ARM),
    "link": (ARM,),
    "optimiser": (ARM,),
    "quantity": (RUN, ARM),
}

#: The parts that may have a state.
WITH_STATE = ("baseline", "optimiser")

_HINTS = {
    (RUN, ARM): "add .sum(), .mean() or .max()",
    (RUN, SAMPLE_ARM): 'add .sum(over="arms")',
    (RUN, SAMPLE): "add .mean(), .sum() or .max()",
    (ARM, RUN): "multiply it with a vector over arms",
    (ARM, SAMPLE): "multiply it with score or natural",
}

#: What every part calls its own arguments; parameters have other names.
_TAKEN = ("formula", "parameters", "state", "name", "states", "step_size", "theta0", "kind")


def checked_formula(role: str, formula: Formula) -> Formula:
    """Check that a formula gives what its part needs.

    Examples
    --------
    >>> checked_formula("baseline", from_text("pi * r", INPUTS["baseline"]))
    Traceback (most recent call last):
        ...
    committal.errors.FormulaError: baseline.formula = 'pi * r' is not allowed; expected one number \
or a vector over samples: this is a vector over arms; add .sum(), .mean() or .max()
    """
    shape, allowed = formula.result.shape, RESULTS[role]
    if shape not in allowed:
        hint = _HINTS.get((allowed[0], shape), "")
        words = " or ".join(WORDS[shape] for shape in allowed)
        raise FormulaError(
            f"{role}.formula",
            formula.text,
            f"{words}: this is {WORDS[shape]}" + (f"; {hint}" if hint else ""),
        )
    for name, _ in formula.parameters:
        if name in _TAKEN:
            raise FormulaError(f"{role}.{name}", name, "another name for a parameter")
    unused = {name for name, _ in formula.parameters} - set(formula.shapes)
    unused -= {start for _, start, _ in formula.states if isinstance(start, str)}
    if unused:
        name = sorted(unused)[0]
        raise FormulaError(f"{role}.{name}", formula.text, f"a formula that uses {name}")
    if formula.states and role not in WITH_STATE:
        raise FormulaError(f"{role}.state", formula.states[0][0], _no_state())
    return formula


def _no_state() -> str:
    return f"no state: only {' and '.join(f'{part}s' for part in WITH_STATE)} have one"


def read_formula(
    role: str, formula: object, state: object = None, parameters: Mapping[str, Any] | None = None
) -> Formula:
    """Read a formula of a part from a function or from text.

    Parameters
    ----------
    role : str
        Which part.
    formula : callable or str
    state : mapping, optional
        Initial values; with a text, (initial value, text of what it becomes).
    parameters : mapping, optional
        Values, which replace the defaults of a function.

    Examples
    --------
    >>> read_formula("weight", lambda rho, *, top=2: rho / top, None, {"top": 3}).parameters
    (('top', 3.0),)
    """
    inputs, given = INPUTS[role], dict(parameters or {})
    absent = _absent(role)
    if "state" in given:  # of a part that has none it comes as a parameter
        raise FormulaError(f"{role}.state", given["state"], _no_state())
    if isinstance(formula, str):
        made = from_text(formula, inputs, given, state, argument=role, absent=absent)  # type: ignore[arg-type]
        return checked_formula(role, made)
    if not callable(formula) or isinstance(formula, Config | type):
        raise FormulaError(f"{role}.formula", formula, "a function or a text")
    made = from_function(formula, inputs, state, argument=role, absent=absent)  # type: ignore[arg-type]
    checked_formula(role, made)
    if not given:
        return made
    known = dict(made.parameters)
    for name in given:
        if name not in known:
            raise FormulaError(f"{role}.{name}", given[name], _no_parameter(name, known))
    texts = {key: (start, after) for key, start, after in made.state_texts}
    return from_text(made.text, inputs, known | given, texts, argument=role)


@functools.cache
def _absent(role: str) -> dict[str, str]:
    """Why a name that other parts know is not known to this one."""
    found: dict[str, str] = {}
    for name in {name for inputs in INPUTS.values() for name in inputs} - set(INPUTS[role]):
        known = ", ".join(map(repr, INPUTS[role]))
        others = ", ".join(other for other in INPUTS if name in INPUTS[other])
        found[name] = f"one of the names {known}; {name!r} is known in: {others}"
    return found


def _no_parameter(name: str, known: Mapping[str, Any]) -> str:
    return check.one_of(name, known, "the parameters") if known else "no parameters: it has none"


class FormulaPart(Config):
    """Base of the parts that are formulas.

    Examples
    --------
    >>> import committal as cm
    >>> half = cm.baseline("c * sum(pi * r)", c=0.5)
    >>> half
    baseline('c * sum(pi * r)', c=0.5)
    >>> half(c=0.25).parameters
    (('c', 0.25),)
    """

    __slots__ = ()

    formula: str
    parameters: tuple[tuple[str, float], ...]

    def _set_formula(self, formula: str, parameters: Any, state: Any = None) -> None:
        """Check and store a text and what belongs to it."""
        if parameters is not None and not isinstance(parameters, Mapping):
            raise FormulaError(f"{self.role}.parameters", parameters, "a mapping of numbers")
        made = read_formula(self.role, formula, state, parameters)
        stored: dict[str, Any] = {"formula": made.text, "parameters": made.parameters}
        if self.role in WITH_STATE:
            stored["state"] = made.state_texts
        self._set(**stored)

    @property
    def tree(self) -> Formula:
        """The formula."""
        states = {key: (start, after) for key, start, after in getattr(self, "state", ())}
        return from_text(
            self.formula, INPUTS[self.role], dict(self.parameters), states, argument=self.role
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What it looks at.

        Examples
        --------
        >>> import committal as cm
        >>> cm.baseline("sum(pi * r)").names
        ('pi', 'r')
        """
        return self.tree.names

    @property
    def latex(self) -> str:
        """The formula as LaTeX."""
        return self.tree.latex

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"

    def _repr_html_(self) -> str:
        return html.page(self.role, self.tree.in_page())

    def _in_page(self) -> html.Html:
        return html.joined([html.maths(self.latex), html.Html("<br>"), super()._in_page()])

    def __call__(self, *numbers: Any, **parameters: Any) -> Self:
        self._refuse_arguments(numbers, parameters)
        return self.replace(**parameters)

    def _refuse_arguments(self, numbers: tuple[Any, ...], parameters: Mapping[str, Any]) -> None:
        """Refuse what is no parameter: they are given by name."""
        known = dict(self.parameters)
        if numbers:
            named = ", ".join(f"{key}={value:g}" for key, value in known.items())
            allowed = f"parameters by name: {named}" if known else "nothing: it has no parameters"
            raise FormulaError(self.role, numbers[0], allowed)
        for name, value in parameters.items():
            if name not in known and name not in self._parameters:
                raise FormulaError(f"{self.role}.{name}", value, _no_parameter(name, known))

    def _arguments(self) -> dict[str, Any]:
        arguments = {name: getattr(self, name) for name in self._parameters}
        arguments["parameters"] = dict(self.parameters) or None
        if "state" in arguments:
            states = {key: (start, after) for key, start, after in arguments["state"]}
            arguments["state"] = states or None
        return arguments

    def replace(self, /, **changes: Any) -> Self:
        """Return a copy with some arguments or parameters changed.

        Examples
        --------
        >>> import committal as cm
        >>> cm.baseline("c * sum(pi * r)", c=0.5).replace(c=1)
        baseline('c * sum(pi * r)', c=1.0)
        """
        known, arguments = dict(self.parameters), self._arguments()
        values = {name: changes.pop(name) for name in list(changes) if name in known}
        for name, value in changes.items():
            if name.partition(".")[0] not in arguments:
                raise ConfigError(f"{self.role}.{name}", value, _no_parameter(name, known))
        if values:
            if "parameters" in changes:
                raise ConfigError(f"{self.role}.parameters", changes["parameters"], "one of both")
            changes["parameters"] = known | values
        return super().replace(**changes)

    def _written(self, **more: object) -> str:
        """The call of the decorator that makes it."""
        shown = [repr(self.formula), *(f"{key}={value!r}" for key, value in self.parameters)]
        state = self._arguments().get("state")
        shown += [f"state={state!r}"] if state else []
        shown += [f"{key}={value!r}" for key, value in more.items()]
        return f"{self.role}({', '.join(shown)})"

    def __repr__(self) -> str:
        return self._written()


def made_part(
    role: str,
    cls: Callable[..., Any],
    formula: object,
    state: object,
    parameters: Mapping[str, Any],
) -> Any:
    """Make a part from what was given to its decorator; without a formula, the decorator itself."""
    if formula is None:
        return lambda function: made_part(role, cls, function, state, parameters)
    made = read_formula(role, formula, state, parameters)
    given: dict[str, Any] = {"formula": made.text, "parameters": dict(made.parameters)}
    if made.states:
        given["state"] = {key: (start, after) for key, start, after in made.state_texts}
    return cls(**given)
