"""Options and settings shared by all tests."""

from __future__ import annotations

import signal

import matplotlib as mpl
import pytest
from hypothesis import settings

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
