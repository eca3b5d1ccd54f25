"""Study files: a study written in TOML.

::

    runs = 10_000
    rng = 0

    [experiment]
    steps = 1000
    problem = {kind = "bandit", means = [1.0, 0.7, 0.0]}
    policy = {kind = "softmax", theta0 = [0, 3, 5]}
    update = {kind = "natural", step_size = 0.025}
    baseline = {kind = "min_variance"}
    record = {names = ["value"], reduce = {below = 0.9}}

    [grid]
    "update.step_size" = {geomspace = [0.01, 1.0, 10]}
    baseline = [{kind = "min_variance"}, {kind = "value"}, 0.5]

    [until]                                # optional
    quantity = "failure"
    half_width = 0.002

The experiment and the precision are what their `from_dict` reads; the forms of a grid are those of
:class:`committal.Study`, with ``linspace`` and ``geomspace`` (first, last, how many) in place of
long lists. Reading executes nothing. Errors name the file, the line and the key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from committal.config import Config, Experiment
from committal.config.grid import Axis
from committal.config.precision import Precision
from committal.errors import ConfigError, ConfigTypeError
from committal.study.study import Study
from committal.support import limits
from committal.support.check import integer, number, one_of
from committal.support.files import path_of
from committal.support.notation import NotationError, toml_of

__all__ = ["StudyFile", "parse_study", "read_study"]

_KEYS = ("runs", "rng", "independent", "experiment", "grid", "until")
#: Short forms of evenly spaced values.
RANGES: dict[str, Callable[[float, float, int], Any]] = {
    "linspace": np.linspace,
    "geomspace": np.geomspace,
}


class StudyFile(NamedTuple):
    """What a study file says.

    Attributes
    ----------
    study : Study
        What to run.
    until : Precision or None
        When to stop.
    """

    study: Study
    until: Precision | None


def read_study(path: str | os.PathLike[str]) -> StudyFile:
    """Read a study file.

    Parameters
    ----------
    path : path
        A file in TOML.

    Returns
    -------
    StudyFile

    Raises
    ------
    ConfigError
        Naming the file, the line and the key.
    """
    file = path_of("path", path)
    try:
        with open(file, "rb") as stream:  # it may be a pipe, but it has an end
            raw = stream.read(limits.TEXT + 1)
        text = raw.decode()
    except OSError as error:
        raise ConfigError(
            "path", str(path), f"a file that can be read ({error.strerror})"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError("path", str(path), "text in UTF-8") from None
    return parse_study(text, str(path))


def parse_study(text: str, name: str = "study.toml") -> StudyFile:
    """Read the text of a study file.

    Parameters
    ----------
    text : str
        TOML.
    name : str, optional
        Of the file, for errors.

    Examples
    --------
    >>> study, until = parse_study('''
    ... runs = 10
    ... rng = 0
    ... [experiment]
    ... steps = 100
    ... problem = {kind = "bandit", means = [1, 0]}
    ... policy = {kind = "softmax"}
    ... update = {kind = "natural", step_size = 0.1}
    ... [grid]
    ... "update.step_size" = {linspace = [0.1, 0.3, 3]}
    ... ''')
    >>> len(study), until
    (3, None)
    >>> parse_study("runs = 10\\nexperimnt = {}")
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: study.toml:2: experimnt = {} is not allowed; expected one of the \
keys 'runs', 'rng', 'independent', 'experiment', 'grid', 'until'; did you mean 'experiment'?
    """
    if not isinstance(text, str):
        raise ConfigTypeError("text", text, "a string of TOML")
    try:
        data = toml_of(text)
    except NotationError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f"{name}:{line.group(1)}" if line else name
        raise ConfigError(where, _line(text, line), f"valid TOML: {error}") from None
    with _located(text, name):
        for key, value in data.items():
            if key not in _KEYS:
                raise ConfigError(key, value, one_of(key, _KEYS, "the keys"))
        for key in ("runs", "experiment"):
            if key not in data:
                raise ConfigError(key, None, "a value: this key is required")
        with _below("experiment"):
            base = Experiment.from_dict(_table("", data["experiment"]))
        axes = _axes(_table("grid", data.get("grid", {})), base)
        study = Study(
            base,
            axes,
            runs=data["runs"],
            rng=data.get("rng"),
            independent=data.get("independent", False),
        )
        until = None
        if "until" in data:
            with _below("until"):
                until = Precision.from_dict(_table("", data["until"]))
        return StudyFile(study, until)


def _line(text: str, found: re.Match[str] | None) -> str:
    lines = text.splitlines()
    at = int(found.group(1)) - 1 if found else len(lines) - 1
    return lines[at].strip() if 0 <= at < len(lines) else ""


def _table(argument: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigTypeError(argument, value, "a table")
    return value


# -- grids -----------------------------------------------------------------------------------------


def _axes(grid: Mapping[str, Any], base: Experiment) -> list[Axis]:
    axes = []
    for key, value in grid.items():
        where = f"grid.{key}"
        if isinstance(value, Mapping) and not _is_range(value):
            if key in base.to_dict() and not _has_path(base, value):
                inner = next(iter(value), "...")
                raise ConfigError(
                    f"{where}.{inner}",
                    value,
                    f'a path in quotes: "{key}.{inner}" = [...], or a named axis',
                )
            form: Any = {inner: _point(f"{where}.{inner}", v) for inner, v in value.items()}
        else:
            form = _values(where, value)
        with _below("grid", only="grid"):
            axes.append(Axis.of(key, form))
    return axes


def _has_path(base: Experiment, value: Mapping[str, Any]) -> bool:
    """Say whether the keys are paths of the experiment, or labels of points that have paths."""
    known = base.to_dict()

    def is_path(key: str) -> bool:
        return key.partition(".")[0] in known

    return all(
        is_path(key) or (isinstance(v, Mapping) and v and all(map(is_path, v)))
        for key, v in value.items()
    )


def _point(where: str, value: Any) -> Any:
    if isinstance(value, Mapping) and not _is_range(value):
        return {path: _decoded(f"{where}.{path}", v) for path, v in value.items()}
    return _values(where, value)


def _is_range(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in RANGES


def _values(where: str, value: Any) -> Any:
    """Read the values of an axis: a list, or first, last and how many."""
    if not _is_range(value):
        if isinstance(value, list):
            return [_decoded(f"{where}[{i}]", item) for i, item in enumerate(value)]
        raise ConfigTypeError(where, value, "an array, or {linspace = [first, last, how many]}")
    ((kind, ends),) = value.items()
    where = f"{where}.{kind}"
    if not isinstance(ends, list) or len(ends) != 3:
        raise ConfigError(where, ends, "[first, last, how many]")
    first, last = number(where, ends[0]), number(where, ends[1])
    count = integer(where, ends[2], 1, limits.POINTS)
    if kind == "geomspace" and not (first > 0 and last > 0):
        raise ConfigError(where, ends, "first and last > 0")
    return RANGES[kind](first, last, count).tolist()


def _decoded(where: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        if "kind" not in value:
            return {key: _decoded(f"{where}.{key}", v) for key, v in value.items()}
        with _below(where):
            return Config.from_dict(value)
    if isinstance(value, list):
        return [_decoded(f"{where}[{i}]", item) for i, item in enumerate(value)]
    return value


# -- where errors are ------------------------------------------------------------------------------


@contextmanager
def _below(key: str, only: str = "") -> Iterator[None]:
    """Put a key in front of the argument of an error."""
    try:
        yield
    except ConfigError as error:
        if only and error.argument.startswith(only):
            raise
        argument = f"{key}.{error.argument}" if error.argument else key
        raise type(error)(argument, error.value, error.allowed) from None


@contextmanager
def _located(text: str, name: str) -> Iterator[None]:
    """Put the file and the line in front of the argument of an error."""
    try:
        yield
    except ConfigError as error:
        line = line_of(error.argument, text)
        where = f"{name}:{line}" if line else name
        raise type(error)(f"{where}: {error.argument}", error.value, error.allowed) from None


_HEADER = re.compile(r"\[\[?([^\[\]]+)\]\]?\s*(#.*)?$")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_KEY = re.compile(rf"((?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))*)\s*=")


def line_of(argument: str, text: str) -> int | None:
    """Find the line of the longest key that an argument begins with.

    Tables inside of a line count as that line.
    """
    wanted = re.sub(r"\[['\"]([^\]]*)['\"]\]", r".\1", argument.partition(" ")[0])
    wanted = re.sub(r"\[\d+\]", "", wanted) + "."
    best: tuple[int, int] | None = None
    for path, line in _keys(text):
        if wanted.startswith(path + ".") and (best is None or len(path) > best[0]):
            best = len(path), line
    return best[1] if best else None


def _keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield every key at the beginning of a line, with the tables around it, and its line."""
    table, quote = "", None
    for at, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if quote is not None:
            if quote in line:
                quote = None
            continue
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = _dotted(header.group(1))
            yield table, at
        elif key:
            inner = _dotted(key.group(1))
            yield (f"{table}.{inner}" if table else inner), at
        for mark in ('"""', "'''"):
            if line.count(mark) == 1:
                quote = mark


def _dotted(text: str) -> str:
    return ".".join(part.strip("\"'") for part in _PART.findall(text))
