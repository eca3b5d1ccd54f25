"""How far apart two counts are: the test that several files of this directory use."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scipy.stats import hypergeom, norm


def between_counts(x: int, n: int, y: int, m: int) -> float:
    """How many standard errors x of n and y of m are apart, by the exact conditional test."""
    law = hypergeom(n + m, x + y, n)
    tail = min(law.cdf(x), law.sf(x - 1))
    return float(norm.isf(min(tail, 0.5)))


@pytest.fixture(scope="session")
def sigmas_between_counts() -> Callable[[int, int, int, int], float]:
    return between_counts
