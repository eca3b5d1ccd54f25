"""The attack: random calls of the core and damaged stores, in processes of their own.

Nothing may crash, hang, raise an error that is not documented, or pass damage for the truth. A
small share of it runs always, all of it with ``--run-slow``. `unit/test_arguments` does the same to
the public functions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and timers")


def attacked(program: str, *arguments: object) -> dict[str, Any]:
    """Run a program of this directory, see that it ended well, and return what it counted."""
    done = subprocess.run(
        [sys.executable, str(HERE / program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-3000:]}"
    found: dict[str, Any] = json.loads(done.stdout)
    print(found)
    assert not found["bad"], "\n".join(found["bad"])
    return found


def check_calls(seed: int, calls: int) -> None:
    found = attacked("core_calls.py", seed, calls)
    assert found["calls"] >= calls
    # Neither all right nor all wrong.
    for kind in ("answered", "refused by ValueError", "refused by TypeError"):
        assert found[kind] > calls / 10


def check_stores(seed: int, stores: int, place: Path) -> None:
    found = attacked("damaged_stores.py", seed, stores, place)
    assert found["stores"] == stores
    assert found["stores warned"] + found["stores refused"] > stores / 2
    assert found["entries left out"] > stores / 3


def test_some_calls() -> None:
    check_calls(0, 4000)


def test_some_stores(tmp_path: Path) -> None:
    check_stores(0, 20, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_calls(seed: int) -> None:
    check_calls(seed, 25_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_many_stores(seed: int, tmp_path: Path) -> None:
    check_stores(seed, 100, tmp_path)
