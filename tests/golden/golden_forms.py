"""What a golden case is, how its arrays are hashed, and how tables choose their rows."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import committal as cm

#: By name: the dimensions (empty if there are none) and the values.
Arrays = dict[str, tuple[tuple[str, ...], npt.NDArray[Any]]]
Row = Mapping[str, str]

# -- what a case is --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """`cm.run` of an experiment."""

    name: str
    experiment: cm.Experiment
    runs: int
    options: Mapping[str, Any] = field(default_factory=dict)
    chooses_isa = True

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        options = {"rng": 0, **self.options}
        return arrays_of(
            cm.run(self.experiment, runs=self.runs, isa=isa, threads=threads, **options)
        )


@dataclass(frozen=True)
class Study:
    """`cm.Study.run` in memory; it takes the best instruction set."""

    name: str
    experiment: cm.Experiment
    grid: Mapping[Any, Any]
    runs: int
    options: Mapping[str, Any] = field(default_factory=dict)
    chunk: int | None = None
    chooses_isa = False

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        study = cm.Study(self.experiment, self.grid, runs=self.runs, rng=3, **self.options)
        return arrays_of(study.run(threads=threads, progress=False, chunk=self.chunk))


@dataclass(frozen=True)
class Evaluate:
    """`cm.evaluate` of policies of an MDP, and all that follows from it."""

    name: str
    mdp: cm.TabularMDP
    policies: int
    options: Mapping[str, Any] = field(default_factory=dict)
    chooses_isa = True

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        policy = policies_of(self.mdp, self.policies) if self.policies else None
        return evaluation_arrays(
            cm.evaluate(self.mdp, policy, isa=isa, threads=threads, **self.options)
        )


@dataclass(frozen=True)
class Optimal:
    """`cm.optimal` of an MDP; it takes the best instruction set."""

    name: str
    mdp: cm.TabularMDP
    chooses_isa = False

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        return evaluation_arrays(cm.optimal(self.mdp))


Case = Run | Study | Evaluate | Optimal


def arrays_of(data: Any) -> Arrays:
    """The variables and coordinates of a dataset. Its attributes hold versions: left out."""
    return {str(name): (data[name].dims, data[name].values) for name in data.variables}


def evaluation_arrays(found: cm.Evaluation) -> Arrays:
    arrays: dict[str, npt.NDArray[Any]] = {
        "policy": found.policy,
        "V": found.V,
        "Q": found.Q,
        "advantage": found.advantage,
        "state_distribution": found.state_distribution,
        "goal_probability": found.goal_probability,
    }
    if isinstance(found.mdp.start, int):
        # A product with a unit vector is exact; others are left to NUMBERS, for BLAS may differ.
        arrays["value"] = found.value
    if found.sweeps is not None:
        arrays["sweeps"] = found.sweeps
    return {name: ((), np.asarray(values)) for name, values in arrays.items()}


def digest(arrays: Arrays) -> str:
    """Hash names, dimensions, types, shapes and bytes; texts by their characters."""
    whole = hashlib.sha256()
    for name, (dims, values) in sorted(arrays.items()):
        if values.dtype.kind in "OUST":
            kind, content = "text", "\0".join(map(str, values.ravel().tolist())).encode()
        else:
            little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
            kind, content = little.dtype.str, little.tobytes()
        whole.update(repr((name, tuple(dims), kind, values.shape)).encode())
        whole.update(content)
    return whole.hexdigest()[:32]


# -- covering --------------------------------------------------------------------------------------


def cover(
    axes: Mapping[str, Sequence[str]],
    allowed: Callable[[Row], bool],
    together: Sequence[tuple[str, ...]] = (),
) -> list[Row]:
    """Choose rows, one level per axis, that contain every allowed pair of levels.

    Parameters
    ----------
    axes
        The levels of every axis.
    allowed
        Whether a row, of all axes or of some, can be made.
    together
        Axes of which every combination is to occur, not only every pair.
    """
    order = list(axes)
    groups = [*itertools.combinations(order, 2), *together]
    missing: dict[tuple[tuple[str, str], ...], None] = {}
    for group in sorted(groups, key=len, reverse=True):
        for levels in itertools.product(*(axes[axis] for axis in group)):
            if allowed(dict(zip(group, levels, strict=True))):
                missing[tuple(zip(group, levels, strict=True))] = None
    used = {(axis, level): 0 for axis in order for level in axes[axis]}
    of_axis = {axis: [group for group in groups if axis in group] for axis in order}

    def gain(row: Row, axis: str) -> int:
        complete = (group for group in of_axis[axis] if all(other in row for other in group))
        return sum(tuple((other, row[other]) for other in group) in missing for group in complete)

    rows: list[Row] = []
    while missing:
        row = dict(next(iter(missing)))
        for axis in order:
            if axis in row:
                continue
            options = [level for level in axes[axis] if allowed({**row, axis: level})]
            scores = [(gain({**row, axis: level}, axis), -used[axis, level]) for level in options]
            row[axis] = options[scores.index(max(scores))]
        rows.append({axis: row[axis] for axis in order})
        for group in groups:
            missing.pop(tuple((axis, row[axis]) for axis in group), None)
        for axis, level in row.items():
            used[axis, level] += 1
    return rows


#: Levels that go without saying in the name of a case.
UNSAID = ("one", "exact", "level", "steady", "plain", "whole")


def name_of(first: str, row: Row) -> str:
    return "/".join([first, *(level for level in row.values() if level not in UNSAID)])


def policies_of(mdp: cm.TabularMDP, count: int) -> npt.NDArray[np.float64]:
    """Different policies, [count, S, A]; some actions have probability 0."""
    i, s, a = np.ogrid[:count, : mdp.n_states, : mdp.n_actions]
    weight = (7 * i + 3 * s + 5 * a + i * s * a) % 11
    weight[:, :, :1] += 1  # no row is empty
    return np.asarray(weight / weight.sum(-1, keepdims=True))
