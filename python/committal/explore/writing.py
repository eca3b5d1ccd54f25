"""An experiment as the page shows it: plain data, and Python that makes it."""

from __future__ import annotations

import ast
import io
import tokenize
from itertools import pairwise
from typing import Any

from committal.config import Experiment, Record


def plain(experiment: Experiment) -> dict[str, Any]:
    """Return the dictionary of an experiment, without its record.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> "record" in plain(Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10))
    False
    """
    return {k: v for k, v in experiment.to_dict().items() if k not in ("record", "kind")}


def python_of(experiment: Experiment, *, runs: int, seed: int, below: float) -> str:
    """Write a program that makes the experiment, runs it and says how often it fails.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> print(python_of(exp, runs=200, seed=0, below=0.5))
    import committal as cm
    <BLANKLINE>
    experiment = cm.Experiment(
        problem=cm.Bandit((1.0, 0.0)),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        steps=10,
    )
    data = cm.run(experiment, runs=200, rng=0)
    print(cm.failure_rate(data, below=0.5))
    <BLANKLINE>
    """
    # The page records what it draws; a program has the default.
    plain = experiment.replace(record=Record())
    lines = [f"    {name}={_in_lines(_qualified(value))}," for name, value in _shown(plain)]
    return "\n".join(
        (
            "import committal as cm",
            "",
            "experiment = cm.Experiment(",
            *lines,
            ")",
            f"data = cm.run(experiment, runs={runs}, rng={seed})",
            f"print(cm.failure_rate(data, below={below!r}))",
            "",
        )
    )


def _shown(experiment: Experiment) -> list[tuple[str, Any]]:
    """The arguments that differ from their defaults, as the repr shows them."""
    defaults = experiment._defaults
    given = experiment._arguments().items()
    shown = [(n, v) for n, v in given if n not in defaults or defaults[n] != v]
    return [(name, value) for name, value in shown if name != "record"]


def _in_lines(text: str) -> str:
    """Write the rows of a map below each other."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and (rows := ast.literal_eval(token.string)).count("\n"):
            written = (f"\n        {row!r}" for row in rows.splitlines(keepends=True))
            before, after = text[: token.start[1]], text[token.end[1] :].removeprefix(", ")
            return f"{before}{''.join(written)},\n        {after}"
    return text


def _qualified(value: object) -> str:
    """Write `cm.` before what a repr calls; what stands in a string stays as it is."""
    text = repr(value)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    calls = [
        one.start[1]
        for one, after in pairwise(tokens)
        if one.type == tokenize.NAME and after.string == "("
    ]
    for column in reversed(calls):  # a repr is one line
        text = f"{text[:column]}cm.{text[column:]}"
    return text
