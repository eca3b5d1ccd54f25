"""A page that is served while the tests of a file run, and a browser that looks at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from committal.explore import Page, explore

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from chromium import Browser
from hands import visit


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with explore(show=False) as found:
        yield found


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    browser.scheme("light", still=True)
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser, page: Page) -> Iterator[Browser]:
    """The page as it opens; whatever a test does, the browser must have no complaint."""
    chromium.resize(1280, 900)
    chromium.complaints.clear()
    visit(chromium, page.address)
    yield chromium
    assert chromium.complaints == []
