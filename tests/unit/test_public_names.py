"""What `import committal` offers: one list of names, loaded when used."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys

import pytest

import committal as cm


def test_everything_public_is_there() -> None:
    for name in dir(cm):
        assert getattr(cm, name) is not None, name
    assert cm.open is not open
    with pytest.raises(AttributeError, match="no_such_thing"):
        cm.no_such_thing  # noqa: B018


def test_only_what_is_public_is_shown() -> None:
    hidden = {"open", "abs", "max", "min", "sum"}  # of Python itself
    assert set(cm.__all__) == set(dir(cm)) - hidden
    internals = {"support", "lowering", "inference", "simulation", "study", "cli", "sys"}
    assert not internals & set(dir(cm))


def test_a_star_import_hides_no_builtin() -> None:
    import builtins

    program = "import builtins; from committal import *; print(open is builtins.open)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr
    assert not set(cm.__all__) & set(dir(builtins))


ROOMS = ("analysis", "config", "exact", "paper", "plot", "reference", "theory")


@pytest.mark.parametrize("room", ROOMS)
def test_the_names_of_a_folder_are_listed_once(room: str) -> None:
    """By its modules: the folder itself lists nothing, and has what they say."""
    folder = importlib.import_module(f"committal.{room}")
    assert not hasattr(folder, "__all__")
    source = inspect.getsource(folder)
    modules = re.findall(r"^from (committal\S+) import \*$", source, re.MULTILINE)
    assert modules
    for name in modules:
        module = importlib.import_module(name)
        for public in module.__all__:
            assert getattr(folder, public) is getattr(module, public), f"{name}.{public}"


def test_run_is_a_function_whatever_was_imported_first() -> None:
    program = "import committal.cli.app, committal as cm; assert callable(cm.run), cm.run"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_import_is_light() -> None:
    program = (
        "import sys, committal; "
        "heavy = {'xarray', 'pandas', 'matplotlib', 'mpltern', 'typer', 'gymnasium', 'scipy'}; "
        "heavy &= set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
