"""Policies where probabilities underflow or are nearly certain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from committal import reference


def test_softmax_and_its_logarithm_are_defined_where_pi_underflows() -> None:
    theta = np.array([700.0, -700.0, 0.0])
    pi, log_pi = reference.softmax(theta), reference.log_softmax(theta)
    assert pi[0] == 1.0
    assert pi[1] == 0.0
    np.testing.assert_array_equal(log_pi[1:], [-1400.0, -700.0])
    assert log_pi[0] == pytest.approx(-math.exp(-700.0), rel=1e-12)
    assert reference.entropy(pi, log_pi) == pytest.approx(700.0 * math.exp(-700.0), rel=1e-12)
    # A nearly certain arm keeps a log pi that is accurate, not merely close to zero.
    assert reference.log_softmax([40.0, 0.0])[0] == pytest.approx(-math.exp(-40.0), rel=1e-12)


def test_distance_does_not_cancel_next_to_the_vertex() -> None:
    pi = np.array([1.0, 1e-20, 0.0])
    assert reference.optimal_distance(pi, 0) == pytest.approx(math.sqrt(2) * 1e-20, rel=1e-12)
