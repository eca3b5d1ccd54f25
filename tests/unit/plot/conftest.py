"""No picture touches what is global, and none is left open."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def nothing_global_is_touched() -> Iterator[None]:
    before = mpl.rcParams.copy()
    yield
    assert mpl.rcParams == before
    plt.close("all")
