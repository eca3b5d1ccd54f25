"""A page that is served while the tests of a file run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from committal.explore import Page, explore


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with explore(show=False) as found:
        yield found
