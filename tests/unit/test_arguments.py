"""Every public function refuses wrong arguments with a typed error that names the argument.

The table is in `arguments/argument_rows.py`; it must have a row for everything public, and every
argument in it. `arguments/argument_calls.py` calls what is in the table at random.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import committal as cm

HERE = Path(__file__).parent / "arguments"
sys.path.insert(0, str(HERE))  # its files are not a package
import argument_calls  # noqa: E402
from argument_rows import EXEMPT, KNOWN, NOT_CALLED, ROWS, public  # noqa: E402


def test_everything_public_has_a_row() -> None:
    exempt = {name for names in EXEMPT.values() for name in names}
    rows = {id(row.call) for row in ROWS.values()}
    missing = {
        name
        for name, thing in public()
        if name not in ROWS and name not in exempt and id(thing) not in rows
        and not (isinstance(thing, type) and issubclass(thing, Exception))
        and getattr(cm, name.split(".")[-1], None) not in [getattr(cm, n, 0) for n in exempt]
    }  # fmt: skip
    assert not missing, f"public, without a row in the table of arguments: {sorted(missing)}"


@pytest.mark.parametrize("name", [name for name in ROWS if name != "Record"])
def test_every_argument_is_in_the_row(name: str) -> None:
    call, _, expected = ROWS[name]
    parameters = set(inspect.signature(call).parameters)
    assert parameters == set(expected), "the row and the signature differ"


@pytest.mark.parametrize("name", [n for n in ROWS if n not in NOT_CALLED and "plot" not in n])
def test_right_arguments_work(name: str) -> None:
    call, good, _ = ROWS[name]
    call(**good)


@pytest.mark.parametrize(("name", "argument"), [(n, a) for n in ROWS for a in ROWS[n].expected])
def test_wrong_arguments_are_named(name: str, argument: str) -> None:
    call, good, expected = ROWS[name]
    wrong = []
    for value in expected[argument]:
        found = outcome(call, {**good, argument: value}, argument)
        if found not in ("refused", None):
            wrong.append(f"{argument}={value!r:.60}: {found}")
    if wrong and (name, argument) in KNOWN:
        pytest.xfail("\n".join(wrong))
    assert not wrong, "\n".join(wrong)


def outcome(call: Callable[..., Any], arguments: dict[str, Any], argument: str) -> str | None:
    """Call, and say what came out: "refused" by a typed error that names the argument, or what."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(**arguments)
    except cm.StoreError:
        return "refused"  # it names the path
    except cm.CommittalError as error:
        return "refused" if argument in str(error) else f"does not name it: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def test_random_calls() -> None:
    counts, bad = argument_calls.random_calls(0, 2000)
    assert not bad, "\n".join(bad)
    assert counts["answered"] > 100
    assert counts["refused"] > 100


@pytest.mark.slow
def test_many_random_calls_in_processes() -> None:
    share = 5000
    for seed in range(1, 21):
        command = [sys.executable, str(HERE / "argument_calls.py"), str(seed), str(share)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, f"crashed: {done.stderr[-2000:]}"
        found = json.loads(done.stdout)
        assert not found["bad"], "\n".join(found["bad"])
