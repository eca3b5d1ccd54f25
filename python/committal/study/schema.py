"""The JSON schema of study files, for editors and other programs: ``committal schema``.

It is derived from the signatures of the classes of configurations, so that a new class is in it by
itself.
"""

from __future__ import annotations

import functools
import inspect
import json
from typing import Any

from committal.config import (
    Baseline,
    Behaviour,
    Config,
    Estimator,
    Experiment,
    FormulaPart,
    FormulaQuantity,
    Optimiser,
    Policy,
    Problem,
    Record,
    Reduce,
    Regulariser,
    Schedule,
    Update,
    Weight,
    kinds,
)
from committal.config.precision import Precision
from committal.config.quantities import ALL_NAMES
from committal.study.file import RANGES

_FAMILIES = (
    *(Problem, Policy, Update, Baseline, Behaviour, Estimator),
    *(Weight, Optimiser, Regulariser, Schedule),
)
_SINGLE = (Experiment, Record, Reduce, Precision, FormulaQuantity)

_NUMBER = {"type": "number"}
_INTEGER = {"type": "integer"}
_STRING = {"type": "string"}
_ARRAY = {"type": "array"}
_NUMBERS = {"type": "array", "items": _NUMBER}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


#: From a part of an argument's annotation to what TOML may hold there.
_FORMS: dict[str, Any] = {
    "check.Number": _NUMBER,
    "float": _NUMBER,
    "check.Integer": _INTEGER,
    "check.Numbers": _NUMBERS,
    "str": _STRING,
    "bool": {"type": "boolean"},
    "Rate": {"anyOf": [_NUMBER, _ref("Schedule")]},
    "Sequence[str]": {"type": "array", "items": _STRING},
    "Sequence[check.Integer]": {"type": "array", "items": _INTEGER},
    "Iterable[check.Integer]": {"type": "array", "items": _INTEGER},
    "Sequence[check.Numbers]": {"type": "array", "items": _NUMBERS},
    "Mapping[str, check.Number]": {"type": "object", "additionalProperties": _NUMBER},
    "Mapping[str, check.Numbers]": {"type": "object", "additionalProperties": _NUMBERS},
    "Mapping[str, Any]": {"type": "object"},
    # Nested arrays of several forms, which only Python can check.
    "npt.ArrayLike": _ARRAY,
    "npt.NDArray[Any]": _ARRAY,
    "npt.NDArray[np.integer[Any]]": _ARRAY,
    "Iterable[Any]": _ARRAY,
    "RewardTable": _ARRAY,
    "Sequence[tuple[check.Number, Baseline]]": {
        "type": "array",
        "items": {
            "type": "array",
            "prefixItems": [_NUMBER, _ref("Baseline")],
            "minItems": 2,
            "maxItems": 2,
        },
    },
    **{family.__name__: _ref(family.__name__) for family in _FAMILIES},
    **{cls.__name__: _ref(cls.__name__) for cls in _SINGLE},
}


@functools.cache
def schema() -> dict[str, Any]:
    """Derive the schema from the classes of configurations; all callers share the one made first.

    Examples
    --------
    >>> sorted(schema()["required"])
    ['experiment', 'runs']
    >>> schema()["$defs"]["Constant"]["required"]
    ['kind', 'c']
    """
    definitions: dict[str, Any] = {}
    for family in _FAMILIES:
        members = kinds(family)
        definitions[family.__name__] = {"anyOf": [_ref(cls.__name__) for cls in members.values()]}
        for kind, cls in members.items():
            definitions[cls.__name__] = _object(cls, kind, named=True)
    for single in _SINGLE:
        definitions[single.__name__] = _object(single, single._kind, named=False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "committal study",
        "description": "A grid of experiments and how often to run them.",
        "type": "object",
        "required": ["runs", "experiment"],
        "additionalProperties": False,
        "properties": {
            "runs": {"type": "integer", "minimum": 1, "description": "runs per configuration"},
            "rng": {
                "description": "the seed",
                "anyOf": [
                    {"type": "integer", "minimum": 0},
                    {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
                ],
            },
            "independent": {
                "type": "boolean",
                "description": "give every configuration random numbers of its own",
            },
            "experiment": _ref("Experiment"),
            "grid": {"type": "object", "additionalProperties": _ref("axis")},
            "until": _ref("Precision"),
        },
        "$defs": definitions | _axis(),
    }


def _object(cls: type[Config], kind: str, *, named: bool) -> dict[str, Any]:
    """Describe one class; where only one kind is possible, its name may be left out."""
    properties: dict[str, Any] = {"kind": {"const": kind}}
    # {formula = "..."} says what it is by itself.
    required = ["kind"] if named and not issubclass(cls, FormulaPart) else []
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            forms = [{"enum": list(ALL_NAMES)}, _ref("FormulaQuantity")]
            properties[name] = {"type": "array", "items": {"anyOf": forms}}
            continue
        properties[name] = _form(f"{cls.__name__}.{name}", str(parameter.annotation))
        if parameter.default is parameter.empty:
            required.append(name)
    return {
        "type": "object",
        "description": (cls.__doc__ or "").strip().partition("\n")[0],
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _form(argument: str, annotation: str) -> dict[str, Any]:
    forms = []
    for part in annotation.split(" | "):
        if part == "None":
            continue
        if part not in _FORMS:
            raise TypeError(f"{argument}: {annotation}: say in _FORMS what TOML may hold there")
        if _FORMS[part] not in forms:
            forms.append(_FORMS[part])
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _axis() -> dict[str, Any]:
    values = {"anyOf": [{"type": "array", "minItems": 1}, _ref("range")]}
    return {
        "range": {
            "type": "object",
            "description": "first, last and how many, evenly spaced or by equal factors",
            "minProperties": 1,
            "maxProperties": 1,
            "properties": {
                name: {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3}
                for name in RANGES
            },
            "additionalProperties": False,
        },
        "axis": {
            "anyOf": [
                values,
                {
                    "description": "by label, the changes to make",
                    "type": "object",
                    "additionalProperties": {"type": "object", "minProperties": 1},
                    "minProperties": 1,
                },
                {
                    "description": "by path, values that vary together",
                    "type": "object",
                    "propertyNames": {"not": {"enum": list(RANGES)}},
                    "additionalProperties": values,
                    "minProperties": 1,
                },
            ]
        },
    }


def schema_text() -> str:
    """Write the schema as JSON.

    Examples
    --------
    >>> json.loads(schema_text()) == schema()
    True
    """
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
