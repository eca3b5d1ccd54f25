"""Precision: when a study has run enough."""

from __future__ import annotations

import pytest

import committal as cm

ConfigError = cm.errors.ConfigError


def test_precision_is_a_configuration() -> None:
    until = cm.Precision("failure", half_width=0.002, below=0.9)
    assert cm.Precision.from_json(until.to_json()) == until
    assert eval(repr(until), {"Precision": cm.Precision}) == until
    assert until.width_for(0.5) == 0.002
    assert cm.Precision("value", 0.1, relative=True).width_for(-2.0) == 0.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantity": "failures"}, "did you mean 'failure'"),
        ({"half_width": 0}, "half_width = 0"),
        ({"confidence": 1}, "confidence = 1"),
        ({"relative": 1}, "relative = 1"),
        ({"quantity": "value", "below": 0.9}, r"below = 0\.9"),
        ({"below": "x"}, "below = 'x'"),
    ],
)
def test_precision_refuses_by_name(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        cm.Precision(**{"quantity": "failure", "half_width": 0.1, **arguments})  # type: ignore[arg-type]
