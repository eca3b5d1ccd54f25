"""One way through the C++ house: a folder includes from itself and from lower ones only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "cpp"

# Folder: what else it may include from. `core` knows neither bandits nor MDPs.
MAY_INCLUDE = {
    "core": set(),
    "kernels": {"core"},
    "plan": {"core", "kernels"},
    "bandit": {"core", "kernels", "plan"},
    "mdp": {"core", "kernels", "plan"},
    "bindings": {"core", "kernels", "plan", "bandit", "mdp"},
    "tests": {"core", "kernels", "plan", "bandit", "mdp"},
}


def wrong_includes(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*.[ch]pp")):
        name = path.relative_to(root)
        folder = name.parts[0]
        for target in re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.MULTILINE):
            first = target.split("/")[0]
            if first == "pybind11" and folder != "bindings":
                yield f"{name} includes {target}"
            if first in MAY_INCLUDE and first not in MAY_INCLUDE[folder] | {folder}:
                yield f"{name} includes {target}"
            # Kernels of bandits and of MDPs do not know each other.
            if folder == "kernels" and len(name.parts) == 3:
                other = {"bandit": "mdp", "mdp": "bandit"}[name.parts[1]]
                if target.startswith(f"kernels/{other}/"):
                    yield f"{name} includes {target}"


def test_includes_point_down() -> None:
    assert {path.name for path in SOURCES.iterdir()} - {"tools"} == set(MAY_INCLUDE)
    assert list(wrong_includes(SOURCES)) == []


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("core/engine.hpp", '"bandit/plan.hpp"'),
        ("kernels/mdp/run.hpp", '"kernels/bandit/block.hpp"'),
        ("mdp/plan.hpp", '"bandit/plan.hpp"'),
        ("plan/fields.hpp", "<pybind11/numpy.h>"),
    ],
)
def test_a_planted_violation_is_found(where: str, what: str, tmp_path: Path) -> None:
    wrong = tmp_path / where
    wrong.parent.mkdir(parents=True)
    wrong.write_text(f"#pragma once\n#include {what}\n")
    assert list(wrong_includes(tmp_path)) == [f"{where} includes {what[1:-1]}"]
