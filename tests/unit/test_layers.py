"""The arrow config → plan → core → results → analysis → plot → cli points one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import committal

PACKAGE = Path(committal.__file__).parent

# From left to right. A module may import from layers to its left and from itself, never from a
# neighbour in its own layer.
LAYERS = (
    {"errors", "_version", "progress", "system"},
    {"config"},
    {"lowering", "gym_env", "grid"},
    {"plan_mdp", "gym"},
    {"plan", "streams", "reference"},
    {"_core", "quantities", "reduction"},
    {"results", "evaluate"},
    {"engine", "chunkfile", "special", "exact"},
    {"run", "store", "costs", "executors", "sequential"},
    {"stacked", "exports", "rounds", "theory"},
    {"campaign"},
    {"study"},
    {"studyfile"},
    {"analysis", "studyschema"},
    {"plot"},
    {"demo", "commands", "paper"},
    {"cli"},
    {"__init__", "__main__"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Who may import what from outside; "lazily" means inside of a function only.
CONFINED = {
    "matplotlib": {"plot"},
    "mpltern": {"plot"},
    "xarray": {
        *("results", "run", "stacked", "study", "exports"),
        *("analysis", "plot", "demo", "commands", "paper", "cli"),
    },
    "typer": {"cli", "commands"},
    "distributed": {"executors"},
    "gymnasium": {"gym", "gym_env"},
}
LAZY = {"xarray", "distributed"}
ORACLE = {"reference_mdp": "reference"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def unit_of(path: Path) -> str:
    """The file or the subpackage directly below the package; the oracle is two files."""
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return ORACLE.get(name, name)


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
def test_imports_point_left(path: Path) -> None:
    unit = unit_of(path)
    assert unit in RANK, f"say in LAYERS where {unit} belongs"
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] != "committal" or len(parts) < 2 or unit == "__init__":
            continue
        target = ORACLE.get(parts[1], parts[1])
        assert target in RANK, f"{path.name} imports {name}: import it from its own module"
        assert target == unit or RANK[target] < RANK[unit], f"{unit} imports {target}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_libraries_stay_where_they_belong(path: Path) -> None:
    unit = unit_of(path)
    if unit == "__init__":
        unit = "run"  # the public face may name the type of what run returns
    for name, eager in imports(path):
        library = name.split(".")[0]
        assert unit in CONFINED.get(library, {unit}), f"{unit} imports {library}"
        assert not (library in LAZY and eager), f"{unit} imports {library} at import"


@pytest.mark.parametrize("file", ["reference.py", "reference_mdp.py"])
def test_the_oracle_needs_only_numpy_and_configurations(file: str) -> None:
    standard = sys.stdlib_module_names
    for name, _ in imports(PACKAGE / file):
        top, *rest = name.split(".")
        own = {"config", "reference", "reference_mdp"}
        assert top in standard | {"numpy"} or (top == "committal" and rest[0] in own), name


def test_a_planted_violation_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "config").mkdir()
    wrong = tmp_path / "config" / "sneaky.py"
    wrong.write_text("def f():\n    from ..plot import simplex\n")
    with pytest.raises(AssertionError, match="config imports plot"):
        test_imports_point_left(wrong)
    wrong.write_text("import matplotlib.pyplot as plt\n")
    with pytest.raises(AssertionError, match="config imports matplotlib"):
        test_libraries_stay_where_they_belong(wrong)


def test_import_is_light() -> None:
    program = (
        "import sys, committal; "
        "heavy = {'xarray', 'pandas', 'matplotlib', 'mpltern', 'typer', 'gymnasium'}; "
        "heavy &= set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_everything_public_is_there() -> None:
    for name in committal.__all__:
        assert getattr(committal, name) is not None, name
    assert set(committal.__all__) <= set(dir(committal))
    with pytest.raises(AttributeError, match="committal"):
        committal.no_such_thing  # noqa: B018


def test_run_is_a_function_whatever_was_imported_first() -> None:
    program = "import committal.cli, committal as cm; assert callable(cm.run), cm.run"
    subprocess.run([sys.executable, "-c", program], check=True)
