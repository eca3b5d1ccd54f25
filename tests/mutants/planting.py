"""Planted bugs as data: one line of one file, what it becomes, and who must notice.

``mutants.toml`` holds tables ``[[mutant]]`` with

- ``name``: of the bug;
- ``file``: where it is planted, from the root of the tree;
- ``line``: the line as it is, without the blanks around it. It must stand in the file exactly once,
  or exactly once after the line ``after``, so that a mutant cannot rot unseen;
- ``becomes``: the line with the bug;
- ``why``: what would be wrong for a user;
- ``tests``: who must notice: files or names of tests for pytest, and ``cpp:UNIT`` for a unit of the
  C++ tests.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIELDS = {"name", "file", "line", "becomes", "why", "tests"}


class Mutant(NamedTuple):
    """One planted bug."""

    name: str
    file: str
    line: str
    becomes: str
    why: str
    tests: tuple[str, ...]
    after: str = ""

    @property
    def compiled(self) -> bool:
        """Whether the C++ must be built for it."""
        return self.file.startswith("cpp/")


def mutants(file: Path = HERE / "mutants.toml") -> list[Mutant]:
    """Read all mutants; those of one file stand together, so that little is built again."""
    rows: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["mutant"]
    for row in rows:
        if not FIELDS <= row.keys() <= FIELDS | {"after"}:
            raise ValueError(f"{row.get('name')}: its fields are {sorted(row)}")
    found = [Mutant(**{**row, "tests": tuple(row["tests"])}) for row in rows]
    names = [mutant.name for mutant in found]
    if len(set(names)) < len(names):
        raise ValueError(f"twice: {sorted({name for name in names if names.count(name) > 1})}")
    return sorted(found, key=lambda mutant: (mutant.compiled, mutant.file))


def planted(mutant: Mutant, text: str) -> str:
    """Return the text of the file with the bug."""
    lines = text.split("\n")
    first = 0
    if mutant.after:
        first = 1 + _only(
            mutant, [i for i, line in enumerate(lines) if line.strip() == mutant.after]
        )
        # The first one counts: others may follow.
        at = next((i for i in range(first, len(lines)) if lines[i].strip() == mutant.line), None)
        places = [] if at is None else [at]
    else:
        places = [i for i, line in enumerate(lines) if line.strip() == mutant.line]
    at = _only(mutant, places)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines[at] = indent + mutant.becomes
    return "\n".join(lines)


def _only(mutant: Mutant, places: list[int]) -> int:
    if len(places) != 1:
        raise ValueError(f"{mutant.name}: {mutant.file} has its line {len(places)} times, not once")
    return places[0]
