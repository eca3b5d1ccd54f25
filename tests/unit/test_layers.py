"""One way through the house: every folder has a rank and imports only from lower ones."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import committal

PACKAGE = Path(committal.__file__).parent

# From the ground up. A folder imports from lower ranks and from itself, never from a neighbour.
RANKS = (
    {"support"},
    {"formula"},
    {"config"},
    {"lowering", "inference", "reference", "interop"},
    {"simulation", "exact", "analysis"},
    {"study", "theory", "plot"},
    {"paper"},
    {"explore"},
    {"cli"},
)
RANK = {folder: rank for rank, folders in enumerate(RANKS) for folder in folders}
GROUND = {"errors", "_version", "_core"}  # what everybody may import
DOORS = {"__init__", "__main__"}  # what may import everybody; there are no other files

# Who may import what from outside; "lazily" means inside of a function only.
CONFINED = {
    "matplotlib": {"plot"},
    "mpltern": {"plot"},
    "xarray": {"interop", "simulation", "analysis", "study", "plot", "paper", "cli"},
    "typer": {"cli"},
    "distributed": {"study"},
    "gymnasium": {"interop"},
}
LAZY = {"xarray", "distributed"}
# A file that needs one of them for its classes is imported inside of functions itself.
BEHIND = {"committal.study.backend"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def unit_of(path: Path) -> str:
    """The file or the folder directly below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (absolute dotted name, executed on import) of everything that a file imports."""
    package = ["committal", *path.relative_to(PACKAGE).parts[:-1]]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _imports(tree, package, eager=True)


def _imports(node: ast.AST, package: list[str], eager: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield alias.name, eager
        elif isinstance(child, ast.ImportFrom):
            if child.level:
                parts = package[: len(package) - child.level + 1]
                parts += child.module.split(".") if child.module else []
            else:
                assert child.module is not None
                parts = child.module.split(".")
            for alias in child.names:
                yield ".".join([*parts, alias.name]), eager
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            yield from _imports(child, package, eager and not inside and not typing_only)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    unit = unit_of(path)
    assert unit in {*RANK, *GROUND, *DOORS}, f"give {unit} a place: a folder of RANKS"
    for name, _ in imports(path):
        top, *below = name.split(".")
        if top != "committal" or unit in DOORS or below[0] in GROUND | {unit}:
            continue
        assert below[0] in RANK, f"{path.name} imports {name}: import it from its own module"
        assert unit in RANK, f"{unit} is the ground and imports {below[0]}"
        assert RANK[below[0]] < RANK[unit], f"{unit} imports {below[0]}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_libraries_stay_where_they_belong(path: Path) -> None:
    unit = unit_of(path)
    module = ".".join(["committal", *path.relative_to(PACKAGE).with_suffix("").parts])
    for name, eager in imports(path):
        library = name.split(".")[0]
        assert unit in CONFINED.get(library, {unit}), f"{unit} imports {library}"
        heavy = (library in LAZY and module not in BEHIND) or name.rpartition(".")[0] in BEHIND
        assert not (heavy and eager), f"{unit} imports {name} at import"


@pytest.mark.parametrize("path", sorted((PACKAGE / "reference").glob("*.py")), ids=lambda p: p.stem)
def test_the_oracle_needs_only_numpy_and_configurations(path: Path) -> None:
    standard = sys.stdlib_module_names
    for name, _ in imports(path):
        top, *rest = name.split(".")
        own = {"formula", "config", "reference", "support", "errors"}
        assert top in standard | {"numpy"} or (top == "committal" and rest[0] in own), name


def test_a_planted_violation_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "config").mkdir()
    wrong = tmp_path / "config" / "sneaky.py"
    wrong.write_text("def f():\n    from ..plot import simplex\n")
    with pytest.raises(AssertionError, match="config imports plot"):
        test_imports_point_down(wrong)
    wrong.write_text("import matplotlib.pyplot as plt\n")
    with pytest.raises(AssertionError, match="config imports matplotlib"):
        test_libraries_stay_where_they_belong(wrong)
