"""Rewards: quantiles of their laws, and the laws that can be enumerated."""

from __future__ import annotations

import math

import numpy as np
import pytest

import committal as cm
from committal import reference


def test_rewards_are_quantiles_of_their_law() -> None:
    gaussian = cm.Bandit([1.0, 2.0], noise="gaussian", sigma=[0.5, 2.0])
    assert reference.draw_reward(gaussian, 1, 0.5 - 2.0**-53) == 2.0
    above = reference.draw_reward(gaussian, 1, 0.97724986805182079 - 2.0**-53)
    assert above == pytest.approx(2.0 + 2.0 * 2.0, rel=1e-12)
    assert math.isfinite(reference.draw_reward(gaussian, 0, 0.0))
    assert math.isfinite(reference.draw_reward(gaussian, 0, 1.0 - 2.0**-52))

    uniform = cm.Bandit([1.0, 2.0], noise="uniform", half_width=0.5)
    assert [reference.draw_reward(uniform, 0, v) for v in (0.0, 0.5, 0.75)] == [0.5, 1.0, 1.25]

    bernoulli = cm.Bandit([0.25, 1.0], noise="bernoulli")
    assert [reference.draw_reward(bernoulli, 0, v) for v in (0.0, 0.2, 0.25, 0.9)] == [1, 1, 0, 0]
    assert reference.draw_reward(bernoulli, 1, 1.0 - 2.0**-52) == 1.0

    table = cm.Bandit.from_table([[(-1.0, 0.25), (3.0, 0.75)], [(5.0, 1.0)]])
    assert [reference.draw_reward(table, 0, v) for v in (0.0, 0.25, 0.99)] == [-1.0, 3.0, 3.0]
    assert reference.draw_reward(table, 1, 0.5) == 5.0
    assert table.means == (2.0, 5.0)


def test_law_of_continuous_rewards_is_refused(experiment: cm.Experiment) -> None:
    e = experiment.replace(problem=cm.Bandit([1.0, 0.0, 0.0], noise="gaussian", sigma=1.0))
    with pytest.raises(cm.ConfigError, match=r"^Bandit.noise = 'gaussian' "):
        reference.one_step_law(e, np.zeros(3))
