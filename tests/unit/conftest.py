"""What the tests of several rooms plant and share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from committal.config import Baseline, Linear, kinds


@pytest.fixture
def negate_baselines() -> Callable[[pytest.MonkeyPatch], None]:
    """A bug to plant: every baseline has the wrong sign where its value on arrays is asked."""
    return _negate_baselines


def _negate_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in kinds(Baseline).values():
        honest = cls.at
        if cls is Linear:  # its terms have the wrong sign already
            wrong = lambda b, pi, r, at=honest: at(b, pi, r) - 2.0 * b.offset  # noqa: E731
        else:
            wrong = lambda b, pi, r, at=honest: -at(b, pi, r)  # noqa: E731
        monkeypatch.setattr(cls, "at", wrong)
