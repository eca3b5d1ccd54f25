"""Errors name the argument, its value and what is allowed, and travel between processes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from committal.errors import (
    CombinationError,
    CommittalError,
    ConfigError,
    ConfigTypeError,
    short_repr,
)

KINDS = [ConfigError, ConfigTypeError, CombinationError]


@pytest.mark.parametrize("kind", KINDS)
def test_message_and_attributes(kind: type[ConfigError]) -> None:
    error = kind("Bandit.means", [1.0, float("nan")], "finite numbers")
    assert str(error) == "Bandit.means = [1.0, nan] is not allowed; expected finite numbers"
    assert error.argument == "Bandit.means"
    assert error.value[0] == 1.0
    assert error.allowed == "finite numbers"


def test_builtin_bases() -> None:
    assert issubclass(ConfigError, CommittalError)
    assert issubclass(ConfigError, ValueError)
    assert issubclass(ConfigTypeError, ConfigError)
    assert issubclass(ConfigTypeError, TypeError)
    assert not issubclass(ConfigError, TypeError)
    assert issubclass(CombinationError, ConfigError)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_are_faithful(kind: type[ConfigError], again) -> None:  # type: ignore[no-untyped-def]
    error = kind("a", (1, 2), "something else")
    same = again(error)
    assert type(same) is kind
    assert (same.argument, same.value, same.allowed) == ("a", (1, 2), "something else")
    assert str(same) == str(error)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64("nan"), "nan"),
        (np.array([1.5, 2.5]), "[1.5, 2.5]"),
        (np.array(3), "3"),
        ([np.float32(0.5), True], "[0.5, True]"),
        ((1, (2, np.int64(3))), "(1, (2, 3))"),
        ([[1, 2], [3]], "[[1, 2], [3]]"),
        ("text", "'text'"),
        (None, "None"),
    ],
)
def test_short_repr_is_plain(value: object, text: str) -> None:
    assert short_repr(value) == text


@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_short_repr_is_short(make) -> None:  # type: ignore[no-untyped-def]
    text = short_repr(make(range(1_000_000)))
    assert text.strip("([])") == "0, 1, 2, 3, 4, 5, ..."


def test_short_repr_of_long_text_is_short() -> None:
    assert len(short_repr("x" * 10_000)) < 200
