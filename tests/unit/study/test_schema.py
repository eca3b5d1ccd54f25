"""The schema of study files is made from the classes, all of them, and says what they say."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest

from committal.config import Config, kinds
from committal.study import schema as made
from committal.study.schema import schema, schema_text

jsonschema = pytest.importorskip("jsonschema")

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))


@pytest.fixture(scope="module")
def validator() -> Any:
    found = jsonschema.Draft202012Validator(schema())
    found.check_schema(schema())
    return found


@pytest.fixture
def study() -> dict[str, Any]:
    """A study file that is right, to be spoiled."""
    return tomllib.loads(
        """
        runs = 1_000
        grid = {"policy.theta0" = [[0, 0]], baseline = [{kind = "value"}, 0.5]}
        until = {quantity = "failure", half_width = 0.01}
        [experiment]
        steps = 100
        problem = {kind = "bandit", means = [1.0, 0.0], noise = "gaussian", sigma = 0.5}
        policy = {kind = "softmax", theta0 = [0, 3]}
        update = {kind = "natural", step_size = {kind = "decay", scale = 0.5, power = 0.6}}
        baseline = {kind = "linear", terms = [[1.0, {kind = "min_variance"}]], offset = 0.5}
        record = {names = ["value"], reduce = {below = 0.9}}
        """
    )


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples_are_valid(validator: Any, file: Path) -> None:
    validator.validate(tomllib.loads(file.read_text(encoding="utf-8")))


def test_there_are_examples() -> None:
    assert any(file.name == "phase_diagram.toml" for file in EXAMPLES)


def test_a_study_is_valid(validator: Any, study: dict[str, Any]) -> None:
    validator.validate(study)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("runs",), "many"),
        (("runs",), 0),
        (("seed",), 3),
        (("rng",), -1),
        (("independent",), 1),
        (("experiment",), None),
        (("experiment", "steps"), "100"),
        (("experiment", "stepps"), 100),
        (("experiment", "policy"), {"theta0": [0, 3]}),
        (("experiment", "update", "kind"), "naturl"),
        (("experiment", "update", "step_size"), "0.1"),
        (("experiment", "update", "step_size"), {"kind": "value"}),
        (("experiment", "baseline", "terms"), [[1.0]]),
        (("experiment", "record", "names"), "value"),
        (("experiment", "record", "names"), ["velocity"]),
        (("experiment", "record", "reduce", "below"), "0.9"),
        (("grid", "steps"), 3),
        (("grid", "steps"), []),
        (("grid", "baseline.offset"), {"geomspace": [0.01, 1.0]}),
        (("until", "half_width"), None),
        (("until", "quantity"), 1),
    ],
)
def test_what_is_wrong_is_refused(
    validator: Any, study: dict[str, Any], path: tuple[str, ...], value: Any
) -> None:
    table = study
    for key in path[:-1]:
        table = table[key]
    if value is None:
        del table[path[-1]]
    else:
        table[path[-1]] = value
    assert not validator.is_valid(study)


@pytest.mark.parametrize("cls", kinds(Config).values(), ids=lambda cls: cls.__name__)
def test_every_class_and_every_parameter_occurs(cls: type[Config]) -> None:
    found = schema()["$defs"][cls.__name__]
    parameters = inspect.signature(cls).parameters
    assert set(found["properties"]) == {"kind", *parameters}
    assert found["properties"]["kind"] == {"const": cls._kind}
    needed = {name for name, p in parameters.items() if p.default is p.empty and p.kind.value != 2}
    assert set(found["required"]) - {"kind"} == needed
    assert found["description"]
    if "kind" in found["required"]:
        families = [name for name, each in schema()["$defs"].items() if "anyOf" in each]
        reference = {"$ref": f"#/$defs/{cls.__name__}"}
        assert any(reference in schema()["$defs"][name]["anyOf"] for name in families)


def test_an_annotation_that_nobody_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(made._FORMS, "RewardTable")
    with pytest.raises(TypeError, match=r"Bandit\.table: RewardTable"):
        schema.__wrapped__()


def test_is_made_once() -> None:
    assert schema() is schema()
    assert schema_text().endswith("}\n")
