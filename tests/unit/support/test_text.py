"""Numbers and tables as text."""

from __future__ import annotations

import pytest

from committal.support import text


@pytest.mark.parametrize(
    ("count", "written"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1.5e9, "1.5 GB"), (8e15, "8e+03 TB")],
)
def test_sizes(count: float, written: str) -> None:
    assert text.size(count) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.04, "0.0 s"), (59.9, "59.9 s"), (61, "1 min"), (7140, "119 min"), (7200, "2.0 h")],
)
def test_durations(seconds: float, written: str) -> None:
    assert text.duration(seconds) == written


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [["a", "bbb", "c"], ["aa", "b", "ccc"]]
    assert text.columns(rows, align="<>", indent="") == ["a   bbb    c", "aa    b  ccc"]
    assert text.columns([]) == []
    # Nothing is left hanging at the end of a line.
    assert text.columns([["a", ""], ["a", "b"]], align="<") == ["  a", "  a  b"]


def test_facts() -> None:
    assert text.facts({"a": [1, 2], "long": None}) == ["a     1, 2", "long  None"]
    assert text.facts({}) == []
