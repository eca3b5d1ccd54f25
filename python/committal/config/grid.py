"""Grids: every combination of the values of some axes, as experiments.

An axis has a name, a label for each of its points, and for each point the changes that it makes
to a base experiment, by dotted path. The product of the axes, the last one varying fastest, is
the list of configurations.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config import Config, Experiment
from committal.config.base import refuse_unwritable
from committal.config.quantities import RESERVED
from committal.errors import CombinationError, ConfigError, ConfigTypeError
from committal.support import limits

__all__ = ["Axis", "Grid", "GridLike", "Label", "experiment_at"]

Label: TypeAlias = int | float | str
#: What may be given as a grid; see :class:`committal.Study`. Keys are strings or tuples of strings,
#: but type checkers take the type of keys exactly: a dict of strings would be refused.
GridLike: TypeAlias = Mapping[Any, Any]

_LONGEST_LABEL = 60
_FORMS = (
    "a sequence of values, {label: {path: value}}, {path: values} for paths that vary together, "
    "or a tuple of paths as the key and tuples of values"
)


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of a grid.

    Attributes
    ----------
    name : str
        Of the dimension.
    labels : tuple of int, float or str
        One per point, all different and of one type.
    points : tuple of dict
        The changes that each point makes, by dotted path.

    Examples
    --------
    >>> axis = Axis.of("update.step_size", [0.1, 0.2])
    >>> axis.name, axis.labels, axis.points[0]
    ('step_size', (0.1, 0.2), {'update.step_size': 0.1})
    """

    name: str
    labels: tuple[Label, ...]
    points: tuple[dict[str, Any], ...]

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, key: str | tuple[str, ...], values: Any) -> Axis:
        """Read one item of a grid, in any of its forms.

        Examples
        --------
        >>> Axis.of("start", {"bad": {"policy.theta0": [0, 5]}}).labels
        ('bad',)
        >>> Axis.of(("update.step_size", "steps"), [(0.1, 200), (0.2, 100)]).points[1]
        {'update.step_size': 0.2, 'steps': 100}
        """
        if isinstance(key, tuple):
            return cls._zipped(_last(key[0]) if key else "", key, values, labelled=True)
        if not isinstance(key, str) or not key:
            raise ConfigTypeError("grid", key, "a name, a dotted path or a tuple of paths as key")
        if isinstance(values, Mapping):
            return cls._named(key, values)
        points = _sequence(f"grid[{key!r}]", values)
        return cls._made(
            _last(key), [_label(value) for value in points], [{key: v} for v in points]
        )

    @classmethod
    def _named(cls, name: str, values: Mapping[str, Any]) -> Axis:
        where = f"grid[{name!r}]"
        if not values:
            raise ConfigError(where, values, "at least one point")
        if all(isinstance(value, Mapping) for value in values.values()):
            points = [dict(value) for value in values.values()]
            if not all(points):
                raise ConfigError(where, values, "at least one change per label")
            return cls._made(name, list(values), points)
        paths = tuple(values)
        rows = [_sequence(f"{where}[{path!r}]", values[path]) for path in paths]
        if len({len(row) for row in rows}) > 1:
            counts = ", ".join(
                f"{len(row)} of {path}" for row, path in zip(rows, paths, strict=True)
            )
            raise ConfigError(
                where, values, f"equally many values of each path (there are {counts})"
            )
        return cls._zipped(name, paths, list(zip(*rows, strict=True)), labelled=len(paths) == 1)

    @classmethod
    def _zipped(cls, name: str, paths: tuple[str, ...], rows: Any, *, labelled: bool) -> Axis:
        where = f"grid[{paths!r}]"
        if not paths or not all(isinstance(path, str) and path for path in paths):
            raise ConfigTypeError("grid", paths, "a tuple of dotted paths as key")
        points = []
        for row in _sequence(where, rows):
            if not isinstance(row, Sequence | np.ndarray) or len(row) != len(paths):
                raise ConfigError(where, row, f"{len(paths)} values, one per path")
            points.append(dict(zip(paths, row, strict=True)))
        firsts = [_label(point[paths[0]]) for point in points]
        # The first path names the points of a tuple; without it, or if it repeats, count them.
        labels = firsts if labelled and len(set(firsts)) == len(firsts) else range(len(points))
        return cls._made(name, list(labels), points)

    @classmethod
    def _made(cls, name: str, labels: Sequence[Any], points: Sequence[dict[str, Any]]) -> Axis:
        if not points:
            raise ConfigError(f"grid[{name!r}]", [], "at least one value")
        numeric = all(isinstance(label, int | float) for label in labels)
        whole = all(isinstance(label, int) for label in labels)
        kind = int if whole else float if numeric else str
        final = tuple(kind(label) for label in labels)
        seen: set[Label] = set()
        for label in final:
            if label in seen:
                raise ConfigError(f"grid[{name!r}]", label, "different values")
            seen.add(label)
        refuse_unwritable("grid", name)
        refuse_unwritable(f"grid[{name!r}]", final)
        return cls(name, final, tuple({p: _plain(v) for p, v in point.items()} for point in points))

    @property
    def coordinate(self) -> npt.NDArray[Any]:
        """The labels as an array; strings are objects, which every file format can hold."""
        return np.asarray(self.labels, object if isinstance(self.labels[0], str) else None)

    def companions(self) -> dict[str, npt.NDArray[Any]]:
        """Return the values of paths that vary along this axis without naming it.

        Only those that are numbers at every point: they are coordinates that can be plotted
        against.

        Examples
        --------
        >>> axis = Axis.of(("update.step_size", "steps"), [(0.1, 200), (0.2, 100)])
        >>> axis.companions()
        {'steps': array([200, 100])}
        """
        found = {}
        paths = dict.fromkeys(path for point in self.points for path in point)
        for path in paths:
            values = [point.get(path) for point in self.points]
            numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            if numbers and tuple(values) != self.labels:
                found[_last(path)] = np.asarray(values)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "name": self.name,
            "labels": list(self.labels),
            "points": [{p: encode(v) for p, v in point.items()} for point in self.points],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Axis:
        """Read what :meth:`to_dict` wrote.

        Examples
        --------
        >>> axis = Axis.of("steps", [10, 20])
        >>> Axis.from_dict(axis.to_dict()) == axis
        True
        """
        points = [{p: decode(v) for p, v in point.items()} for point in data["points"]]
        return cls._made(data["name"], data["labels"], points)


class Grid:
    """All combinations of the points of some axes.

    Parameters
    ----------
    base : Experiment
        What the points change.
    axes : mapping, or sequence of Axis
        See :class:`committal.Study`.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> grid = Grid(base, {"update.step_size": [0.1, 0.2, 0.4], "steps": [10, 20]})
    >>> grid.shape, len(grid)
    ((3, 2), 6)
    >>> grid.labels(3), grid.experiments[3].update
    ({'step_size': 0.2, 'steps': 20}, Natural(step_size=0.2))
    """

    def __init__(self, base: Experiment, axes: GridLike | Sequence[Axis] = ()) -> None:
        if not isinstance(base, Experiment):
            raise ConfigTypeError("base", base, "an Experiment")
        if isinstance(axes, Mapping):
            axes = [Axis.of(key, values) for key, values in axes.items()]
        elif not (isinstance(axes, list | tuple) and all(isinstance(a, Axis) for a in axes)):
            raise ConfigTypeError("grid", axes, "a mapping from dotted paths or names to values")
        self.base = base
        self.axes = _with_names(tuple(axes), base)
        _refuse_shared_paths(self.axes)
        self.shape = tuple(len(axis) for axis in self.axes)
        if math.prod(self.shape) > limits.CONFIGURATIONS:
            sizes = " × ".join(f"{len(axis)} of {axis.name}" for axis in self.axes)
            raise ConfigError(
                "grid",
                {axis.name: len(axis) for axis in self.axes},
                f"at most {limits.CONFIGURATIONS} configurations (there are {sizes})",
            )
        self.experiments = tuple(self._experiment(index) for index in range(len(self)))

    def __len__(self) -> int:
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[Experiment]:
        return iter(self.experiments)

    def _points(self, index: int) -> tuple[int, ...]:
        found = []
        for length in reversed(self.shape):
            index, at = divmod(index, length)
            found.append(at)
        return tuple(reversed(found))

    def labels(self, index: int) -> dict[str, Label]:
        """Return the label on every axis of a configuration."""
        return {
            axis.name: axis.labels[i]
            for axis, i in zip(self.axes, self._points(index), strict=True)
        }

    def index(self, labels: Mapping[str, Any]) -> int:
        """Return the number of the configuration with these labels.

        Examples
        --------
        >>> from committal.config import Bandit, Natural, Softmax
        >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
        >>> Grid(base, {"steps": [10, 20]}).index({"steps": 20})
        1
        """
        position = []
        for axis in self.axes:
            label = labels.get(axis.name)
            if label not in axis.labels:
                known = ", ".join(map(repr, axis.labels[:10]))
                raise ConfigError(axis.name, label, f"one of {known}" + ", …" * (len(axis) > 10))
            position.append(axis.labels.index(label))
        return int(np.ravel_multi_index(position, self.shape)) if self.shape else 0

    def describe(self, index: int) -> str:
        """Name a configuration by its labels.

        Examples
        --------
        >>> from committal.config import Bandit, Natural, Softmax
        >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
        >>> Grid(base, {"steps": [10, 20]}).describe(1)
        'steps = 20'
        """
        return ", ".join(f"{name} = {label}" for name, label in self.labels(index).items())

    def _experiment(self, index: int) -> Experiment:
        changes: dict[str, Any] = {}
        for axis, i in zip(self.axes, self._points(index), strict=True):
            changes |= axis.points[i]
        if not changes:
            return self.base
        try:
            return self.base.replace(**changes)
        except ConfigError as error:
            where = self.describe(index)
            raise type(error)(
                f"grid at {where}: {error.argument}", error.value, error.allowed
            ) from None

    @property
    def hash(self) -> str:
        """SHA-256 of all labels and experiments: two ways of writing a grid have one hash.

        Examples
        --------
        >>> from committal.config import Bandit, Natural, Softmax
        >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
        >>> Grid(base, {"steps": [10]}).hash == Grid(base, {"steps": {10: {"steps": 10}}}).hash
        True
        """
        digest = hashlib.sha256()
        for axis in self.axes:
            digest.update(repr((axis.name, axis.labels)).encode())
        for experiment in self.experiments:
            digest.update(experiment.hash.encode())
        return digest.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"base": self.base.to_dict(), "axes": [axis.to_dict() for axis in self.axes]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Grid:
        """Read what :meth:`to_dict` wrote.

        Examples
        --------
        >>> from committal.config import Bandit, Natural, Softmax
        >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
        >>> grid = Grid(base, {"steps": [10, 20]})
        >>> Grid.from_dict(grid.to_dict()).hash == grid.hash
        True
        """
        axes = [Axis.from_dict(axis) for axis in data["axes"]]
        return cls(Experiment.from_dict(data["base"]), axes)


def experiment_at(data: Mapping[str, Any], labels: Mapping[Any, Any]) -> Experiment:
    """Return one experiment of a grid that :meth:`Grid.to_dict` wrote.

    Parameters
    ----------
    data : dict
        The grid.
    labels : dict
        One label for every axis; other names are ignored.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> base = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> experiment_at(Grid(base, {"steps": [10, 20]}).to_dict(), {"steps": 20}).steps
    20
    """
    one = []
    for axis in map(Axis.from_dict, data["axes"]):
        label = labels.get(axis.name)
        if label not in axis.labels:
            raise ConfigError(axis.name, label, "one point of this axis, as in data.sel(...)")
        at = axis.labels.index(label)
        one.append(Axis(axis.name, axis.labels[at : at + 1], axis.points[at : at + 1]))
    return Grid(Experiment.from_dict(data["base"]), one).experiments[0]


# -- values ----------------------------------------------------------------------------------------


def encode(value: Any) -> Any:
    """Write a value of a grid as plain data."""
    if isinstance(value, Config):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(value: Any) -> Any:
    """Read plain data: what has a kind becomes a configuration object.

    Examples
    --------
    >>> decode([{"kind": "value"}, 0.5])
    [Value(), 0.5]
    """
    if isinstance(value, Mapping):
        if "kind" in value:
            return Config.from_dict(value)
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [decode(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    """Make a value immutable and free of numpy, so that it compares, encodes and hashes."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray | list | tuple):
        return tuple(_plain(item) for item in value)
    return value


def _sequence(argument: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | np.ndarray):
        raise ConfigTypeError(argument, values, _FORMS)
    if len(values) > limits.POINTS:  # before they are listed: a range may be of any length
        shown = values if isinstance(values, range) else values[:6]
        allowed = f"at most {limits.POINTS} values (there are {len(values)})"
        raise ConfigError(argument, shown, allowed)
    return list(values)


def _label(value: Any) -> Label:
    value = _plain(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("formula"), str):
        value = value["formula"]
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= _LONGEST_LABEL:
        return text
    # Cut, but still different for different values.
    mark = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:6]
    return f"{text[: _LONGEST_LABEL - 10]}… #{mark}"


# -- names -----------------------------------------------------------------------------------------


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _with_names(axes: tuple[Axis, ...], base: Experiment) -> tuple[Axis, ...]:
    """Give every axis a name of its own: `step_size`, or `update_step_size` if two would agree."""
    short = [axis.name for axis in axes]
    named = []
    for axis in axes:
        name = axis.name
        if short.count(name) > 1:
            name = next(iter(axis.points[0])).replace(".", "_")
        # A variable of the results cannot have the name of one of its own dimensions.
        if name in RESERVED or name in base.record.names:
            name += "_axis"
        named.append(Axis(name, axis.labels, axis.points))
    names = [axis.name for axis in named]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError("grid", name, "different names for the axes")
    return tuple(named)


def _refuse_shared_paths(axes: tuple[Axis, ...]) -> None:
    for one, other in itertools.combinations(axes, 2):
        shared = {p for point in one.points for p in point} & {
            p for point in other.points for p in point
        }
        if shared:
            path = sorted(shared)[0]
            raise CombinationError(
                "grid", path, f"one axis that changes it ({one.name} and {other.name} both do)"
            )
