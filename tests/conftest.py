"""Options and settings shared by all tests."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import pytest
from hypothesis import settings

import committal as cm

mpl.use("Agg")

# A test run started in the background of a script ignores Ctrl-C, and so would every process that
# a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples everywhere: a failure on one machine is a failure on all.
settings.register_profile("committal", derandomize=True, deadline=None)
settings.load_profile("committal")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-slow"):
        return
    skip = pytest.mark.skip(reason="slow: use --run-slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def three_arms() -> cm.Experiment:
    """The experiment of the README: three arms, natural updates, a perturbed b*."""
    return cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax([0, 3, 5]),
        update=cm.Natural(step_size=0.025),
        baseline=cm.MinVariance() + 0.5,
        steps=1000,
    )


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """From a directory to the bytes of its files, by name."""

    def read(directory: Path) -> dict[str, bytes]:
        files = (file for file in directory.rglob("*") if file.is_file())
        return {str(file.relative_to(directory)): file.read_bytes() for file in files}

    return read
