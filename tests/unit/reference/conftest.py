"""The experiment that the tests of this folder change to what they need."""

from __future__ import annotations

import pytest

import committal as cm


@pytest.fixture(scope="session")
def experiment() -> cm.Experiment:
    """Three Bernoulli arms, softmax, natural updates."""
    return cm.Experiment(
        cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli"),
        cm.Softmax([0.3, -0.2, 0.5]),
        cm.Natural(step_size=0.1),
        steps=10,
    )
