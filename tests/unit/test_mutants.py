"""The planted bugs of tests/mutants still have a line to be planted in, and tests to notice them.

Whether they do notice is shown by ``python tests/mutants/run.py``, which takes longer.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

spec = importlib.util.spec_from_file_location(
    "planting", ROOT / "tests" / "mutants" / "planting.py"
)
assert spec is not None
assert spec.loader is not None
planting = importlib.util.module_from_spec(spec)
sys.modules["planting"] = planting  # a NamedTuple looks its module up
spec.loader.exec_module(planting)

MUTANTS = planting.mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_planted(mutant: planting.Mutant) -> None:  # type: ignore[name-defined]
    honest = (ROOT / mutant.file).read_text(encoding="utf-8")
    wrong = planting.planted(mutant, honest)
    changed = [
        (one, other)
        for one, other in zip(honest.split("\n"), wrong.split("\n"), strict=True)
        if one != other
    ]
    assert [one.strip() for one, _ in changed] == [mutant.line]
    if mutant.file.endswith(".py"):
        compile(wrong, mutant.file, "exec")
    assert mutant.why
    assert mutant.tests
    for test in mutant.tests:
        if test.startswith("cpp:"):
            assert (ROOT / "cpp" / "tests" / f"test_{test[4:]}.cpp").exists()
            continue
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, f"{file} has no {name}"


def test_there_are_enough_of_both_kinds() -> None:
    compiled = sum(mutant.compiled for mutant in MUTANTS)
    assert compiled >= 20
    assert len(MUTANTS) - compiled >= 30


def test_a_line_that_has_changed_is_an_error() -> None:
    mutant = MUTANTS[0]
    for text in ("", f"{mutant.line}\n{mutant.line}\n"):
        with pytest.raises(ValueError, match="times, not once"):
            planting.planted(mutant._replace(after=""), text)
