"""Grids: the forms in which axes are written, their names and their labels."""

from __future__ import annotations

import copy
import json
import pickle
import time

import numpy as np
import pytest

import committal as cm
from committal.config.grid import Axis, Grid

ConfigError = cm.errors.ConfigError


@pytest.fixture(scope="module")
def base(three_arms: cm.Experiment) -> cm.Experiment:
    return three_arms.replace(steps=100)


def test_order_is_that_of_nested_loops(base: cm.Experiment) -> None:
    grid = Grid(base, {"update.step_size": [0.1, 0.2], "steps": [10, 20, 30]})
    found = [(e.update.step_size, e.steps) for e in grid]
    assert found == [(a, n) for a in (0.1, 0.2) for n in (10, 20, 30)]
    for index in range(6):
        assert grid.index(grid.labels(index)) == index


def test_objects_are_labelled_by_what_they_print(base: cm.Experiment) -> None:
    grid = Grid(base, {"baseline": [cm.Value(), cm.MinVariance() - 0.5, 0.25]})
    assert grid.axes[0].labels == ("Value()", "MinVariance() - 0.5", "0.25")
    assert [e.baseline for e in grid] == [cm.Value(), cm.MinVariance() - 0.5, cm.Constant(0.25)]


def test_paths_into_baselines_and_policies(base: cm.Experiment) -> None:
    grid = Grid(base, {"baseline.offset": [-0.5, 0.0], "policy.theta0": [[0, 0, 0], [0, 3, 3]]})
    assert grid.experiments[0].baseline == cm.MinVariance() - 0.5
    assert grid.experiments[2].baseline == cm.MinVariance()
    assert grid.experiments[3].policy == cm.Softmax([0, 3, 3])
    assert grid.axes[1].labels == ("(0, 0, 0)", "(0, 3, 3)")


def test_named_axes(base: cm.Experiment) -> None:
    grid = Grid(
        base,
        {
            "setting": {
                "b*": {"baseline": cm.MinVariance(), "steps": 1000},
                "V": {"baseline": cm.Value(), "steps": 2000},
            }
        },
    )
    assert grid.axes[0].labels == ("b*", "V")
    assert grid.experiments[1].steps == 2000
    assert grid.axes[0].companions()["steps"].tolist() == [1000, 2000]


@pytest.mark.parametrize(
    "grid",
    [
        {("update.step_size", "steps"): [(0.1, 200), (0.2, 100)]},
        {"step_size": {"update.step_size": [0.1, 0.2], "steps": [200, 100]}},
    ],
)
def test_zipped_axes(base: cm.Experiment, grid: dict[object, object]) -> None:
    made = Grid(base, grid)  # type: ignore[arg-type]
    assert made.shape == (2,)
    assert [(e.update.step_size, e.steps) for e in made] == [(0.1, 200), (0.2, 100)]
    assert made.axes[0].name == "step_size"


def test_numpy_and_python_values_are_one_grid(base: cm.Experiment) -> None:
    one = Grid(base, {"update.step_size": np.array([1.0, 2.0])})
    assert one.hash == Grid(base, {"update.step_size": [1, 2.0]}).hash
    assert one.hash != Grid(base, {"update.step_size": [1.0, 2.5]}).hash
    assert one.hash != Grid(base, {"alpha": {"update.step_size": [1.0, 2.0]}}).hash
    assert json.loads(json.dumps(one.to_dict())) == one.to_dict()
    assert Grid.from_dict(json.loads(json.dumps(one.to_dict()))).hash == one.hash


def test_schedules_and_behaviours(base: cm.Experiment) -> None:
    grid = Grid(
        base,
        {
            "update.step_size": [cm.Decay(0.5, 0.6), cm.Values(np.linspace(1, 0.1, 100))],
            "behaviour": [cm.OnPolicy(), cm.UniformMixture(0.1)],
        },
    )
    again = Grid.from_dict(json.loads(json.dumps(grid.to_dict())))
    assert again.experiments == grid.experiments
    labels = grid.axes[0].labels
    assert labels[0] == "Decay(0.5, 0.6)"
    assert len(str(labels[1])) <= 60


def test_names_that_results_have_already(base: cm.Experiment) -> None:
    grid = Grid(base, {"policy": [cm.Softmax(), cm.Softmax([0, 3, 3])], "baseline": [0.0, 1.0]})
    assert [axis.name for axis in grid.axes] == ["policy_axis", "baseline"]
    grid = Grid(
        base.replace(behaviour=cm.UniformMixture(0.1), baseline=cm.Gap()),
        {"update.step_size": [1.0], "start": {"a": {"policy.theta0": [0, 0, 0]}}},
    )
    assert [axis.name for axis in grid.axes] == ["step_size", "start"]


def test_short_names_that_collide_become_long(base: cm.Experiment) -> None:
    both = base.replace(**{"update.step_size": cm.Decay(0.5, 0.6)})
    grid = Grid(both, {"update.step_size.offset": [1.0, 2.0], "baseline.offset": [0.1, 0.2]})
    assert [axis.name for axis in grid.axes] == ["update_step_size_offset", "baseline_offset"]


def test_without_axes(base: cm.Experiment) -> None:
    grid = Grid(base)
    assert len(grid) == 1
    assert grid.shape == ()
    assert grid.labels(0) == {}
    assert grid.index({}) == 0


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"update.step_sizes": [0.1]}, r"grid at step_sizes = 0\.1: .*did you mean 'step_size'"),
        ({"update.step_size": [0.1, -1.0]}, r"grid at step_size = -1\.0: Natural\.step_size"),
        ({"update.step_size": []}, "at least one value"),
        ({"update.step_size": [0.1, 0.1]}, r"= 0\.1 .* different values"),
        ({"update.step_size": 0.1}, "a sequence of values"),
        ({"update.step_size": "0.1"}, "a sequence of values"),
        ({"start": {}}, "at least one point"),
        ({"start": {"a": {}}}, "at least one change"),
        ({"size": {"update.step_size": [0.1], "steps": [1, 2]}}, "1 of .*, 2 of steps"),
        ({("update.step_size", "steps"): [(0.1,)]}, "2 values, one per path"),
        ({(): [()]}, "tuple of dotted paths"),
        ({3: [1]}, "name"),
        ({"steps": [1], "length": {"steps": [2, 3]}}, "one axis that changes it"),
        ({"policy": [cm.Sigmoid()]}, "two arms"),
        (["steps"], "a mapping"),
    ],
)
def test_refuses_by_name(base: cm.Experiment, grid: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Grid(base, grid)  # type: ignore[arg-type]


def test_unknown_labels(base: cm.Experiment) -> None:
    grid = Grid(base, {"steps": [10, 20]})
    with pytest.raises(ConfigError, match=r"steps = 15 .* 10, 20"):
        grid.index({"steps": 15})
    with pytest.raises(ConfigError, match="base"):
        Grid("exp", {})  # type: ignore[arg-type]


def test_axes_and_studies_copy_and_pickle(base: cm.Experiment) -> None:
    axis = Axis.of("baseline", [cm.Value(), 0.5])
    assert pickle.loads(pickle.dumps(axis)) == axis
    study = cm.Study(base, {"baseline": [cm.Value(), 0.5]}, runs=3, rng=0)
    assert pickle.loads(pickle.dumps(study)) == study
    assert copy.deepcopy(study) == study


def test_long_axes_take_time_in_proportion() -> None:
    values = np.linspace(0.1, 1.0, 200_000)
    start = time.monotonic()
    axis = Axis.of("update.step_size", values)
    assert len(axis) == values.size
    assert time.monotonic() - start < 10.0  # comparing all pairs would take minutes
    with pytest.raises(ConfigError, match="different values"):
        Axis.of("update.step_size", np.append(values, 0.1))


def test_axes_without_bound_are_refused_before_they_are_listed() -> None:
    with pytest.raises(ConfigError, match=r"at most 1000000 values \(there are 1000000000000\)"):
        Axis.of("steps", range(10**12))


def test_grids_without_bound_are_refused_before_they_are_made(three_arms: cm.Experiment) -> None:
    thousand = np.linspace(0.1, 1.0, 1000)
    grid = {"update.step_size": thousand, "steps": range(1000), "baseline": thousand}
    with pytest.raises(
        cm.ConfigError, match=r"at most 1000000 .*1000 of step_size × 1000 of steps"
    ):
        Grid(three_arms, grid)
    many = [Axis(f"a{i}", tuple(range(1000)), ({},) * 1000) for i in range(10)]
    with pytest.raises(ConfigError, match="at most 1000000 configurations"):
        Grid(three_arms, many)
