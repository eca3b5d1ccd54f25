"""A small laboratory, and one whose physics is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import committal as cm
from committal.config import Constant, Linear
from committal.paper.lab import Lab


class FlippedLab(Lab):
    """A laboratory in which every baseline has the wrong sign: b* + ε where b* − ε is asked for.

    Constants change their sign, and so does what is added to another baseline.
    """

    def _run(self, experiment: cm.Experiment, runs: int, label: str) -> Any:
        return super()._run(experiment.replace(baseline=flipped(experiment.baseline)), runs, label)


def flipped(baseline: Any) -> Any:
    if isinstance(baseline, Constant):
        return -baseline
    if isinstance(baseline, Linear) and len(baseline.terms) == 1:
        ((coefficient, atom),) = baseline.terms
        return coefficient * atom - baseline.offset
    return baseline


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "data", rng=1, runs=2000)


@pytest.fixture
def flipped_lab(tmp_path: Path) -> Lab:
    return FlippedLab(tmp_path / "flipped", rng=1, runs=2000)
