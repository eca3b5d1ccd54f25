"""Closed forms of groups and of limits: printed numbers, enumeration, and the expected flow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import committal as cm
from committal import theory
from committal.exact.counts import count_vectors, multinomial

# Of an independent implementation, to 8 digits.
FACTORS = {
    0: {(0.01, 2): 1.0, (0.01, 4): 1.7274562, (0.01, 64): 6.7361959, (0.1, 8): 2.3276891,
        (0.1, 16): 2.8478124, (0.3, 4): 1.6345895, (0.5, 8): 1.8556559, (0.5, 64): 1.9841864},
    1: {(0.01, 4): 1.4957225, (0.1, 8): 2.1768002, (0.5, 16): 1.8723312},
}  # fmt: skip


@pytest.mark.parametrize("ddof", FACTORS)
def test_factors_of_the_standard_deviation(ddof: int) -> None:
    for (p, n), want in FACTORS[ddof].items():
        found = theory.std_factor(p, n, ddof=ddof, eps=1e-4 if ddof else 0.0)
        assert float(found) == pytest.approx(want, abs=1e-7)


def test_the_limits_of_the_factor() -> None:
    for n in (2, 5, 33):
        assert float(theory.std_factor(1e-9, n)) == pytest.approx(math.sqrt(n - 1), rel=1e-6)
    p = np.array([0.02, 0.3, 0.5])
    np.testing.assert_allclose(theory.std_factor(p, 50_000), (p * (1 - p)) ** -0.5, rtol=2e-3)
    np.testing.assert_allclose(theory.std_factor(p, 2), 1.0, rtol=1e-14)


def test_the_factor_is_that_of_the_law_of_a_group() -> None:
    means = np.array([0.3, 0.05, 0.2])
    weight = cm.weight("where(max(R) > min(R), rho / std(R), 0)")
    e = cm.Experiment(
        cm.Bandit(means, noise="bernoulli"), cm.Softmax([0, 1, 0.5]), cm.Vanilla(1),
        cm.baseline("mean(R)"), estimator=cm.OneSample(8, weight=weight), steps=1,
    )  # fmt: skip
    law = cm.exact.one_step(e)
    p = float(law.policy @ means)
    gradient = law.policy * (means - p)
    np.testing.assert_allclose(law.mean(), theory.std_factor(p, 8) * gradient, rtol=1e-12)


@pytest.mark.parametrize(
    ("p", "n", "k", "want"),
    [(0.1, 8, 4, 2.916), (0.3, 6, 2, 1.4), (0.7, 5, 5, 5 * 0.3**4), (0.2, 7, 1, 1.0)],
)
def test_pass_at_k(p: float, n: int, k: int, want: float) -> None:
    assert float(theory.pass_at_k_factor(p, k)) == pytest.approx(want, rel=1e-12)
    s, counts = theory.pass_at_k_advantages(n, k), count_vectors(2, n)
    for c in range(n):
        none = math.comb(n - 1 - c, k - 1) / math.comb(n - 1, k - 1)
        assert s[c, 1] == pytest.approx(k / n * (1 - none), abs=1e-14)
    law = multinomial(counts, np.array([p, 1 - p]))
    c = counts[:, 0]
    # A success has the score grad p / p on average, a failure -grad p / (1 - p).
    factor = law @ (c * s[c, 0] / p - (n - c) * s[c, 1] / (1 - p))
    assert float(factor) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(
    ("p", "beta", "std", "plain"),
    [(0.1, 2.0, 0.25828562, 0.1548281), (0.1, 5.0, 0.16074171, 0.11949463),
     (0.3, 4.0, 0.41579413, 0.35496214), (0.05, 1.0, 0.31271542, 0.125161)],
)  # fmt: skip
def test_rounds_with_a_reference(p: float, beta: float, std: float, plain: float) -> None:
    points = theory.kl_fixed_points(p, beta)
    assert points.success[0] == pytest.approx(std, abs=1e-8)
    only = theory.kl_fixed_points(p, beta, scaled=False)
    assert only.success == pytest.approx([plain], abs=1e-8)
    path = theory.kl_recursion(p, beta, 5, scaled=False)
    np.testing.assert_allclose(path[1:], plain, atol=1e-8)  # at once
    path = theory.kl_recursion(p, beta, 400)
    assert points.stable[0] == (abs(path[-1] - std) < 1e-8)
    odds = path[1:] / (1 - path[1:]) * (1 - p) / p
    want = 1 / (beta * np.sqrt(path[:-1] * (1 - path[:-1]) + 1e-5))
    np.testing.assert_allclose(np.log(odds), want, rtol=1e-9)


def test_all_fixed_points_are_and_the_slope_is_that_of_the_map() -> None:
    points = theory.kl_fixed_points(0.1, 2.0)
    assert points.stable.tolist() == [True, False, True]
    for p, slope in zip(points.success[:2], points.slope[:2], strict=True):
        x = math.log(p / (1 - p)) + np.array([-1e-5, 1e-5])
        after = math.log(0.1 / 0.9) + 1 / (2 * np.sqrt(1 / (2 + 2 * np.cosh(x)) + 1e-5))
        assert after.mean() == pytest.approx(x.mean(), abs=1e-6)
        assert (after[1] - after[0]) / 2e-5 == pytest.approx(slope, rel=1e-4)
    # A weak reference: nothing in the middle, everything becomes certain.
    assert theory.kl_fixed_points(0.5, 0.2).success == pytest.approx([1.0])
    assert theory.kl_recursion(0.5, 0.2, 9, eps=0.0)[-1] == 1.0


REFERENCE = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
R = [1, 0.7, 0]


def test_regularised_policies() -> None:
    same = {"rtol": 0, "atol": 1e-8}
    entropy = theory.regularised_policy(R, 0.2)
    np.testing.assert_allclose(entropy, [0.81309532, 0.18142609, 0.0054785932], **same)
    kl = theory.regularised_policy(R, 0.2, reference=REFERENCE)
    np.testing.assert_allclose(kl, [0.6037489, 0.36619222, 0.030058888], **same)
    assert float(kl @ R) == pytest.approx(0.86008345, abs=1e-8)
    k3 = theory.regularised_policy(R, 0.2, reference=REFERENCE, divergence="reverse")
    np.testing.assert_allclose(k3, [0.7196078, 0.15059189, 0.12980031], **same)
    assert float(k3 @ R) == pytest.approx(0.82502212, abs=1e-8)
    barrier = theory.regularised_policy(R, 0.1, divergence="reverse")
    np.testing.assert_allclose(barrier, [0.86937777, 0.098519761, 0.032102473], **same)
    assert float(barrier @ R) == pytest.approx(0.9383416, abs=1e-8)


def test_they_maximise_what_they_say() -> None:
    rng = np.random.default_rng(0)
    r, ref = rng.normal(size=6), rng.dirichlet(np.ones(6))
    other = rng.dirichlet(np.ones(6), size=500)
    for divergence in ("forward", "reverse"):

        def objective(pi: np.ndarray, kind: str = divergence) -> np.ndarray:
            one, two = (pi, ref) if kind == "forward" else (ref, pi)
            return pi @ r - 0.3 * (one * np.log(one / two)).sum(axis=-1)

        best = theory.regularised_policy(r, 0.3, reference=ref, divergence=divergence)
        assert (objective(other) < objective(best)).all()
        near = 0.999 * best + 0.001 * other
        assert (objective(near) < objective(best)).all()


def test_entropy_contracts_by_one_minus_step_size_times_temperature() -> None:
    e = cm.Experiment(
        cm.Bandit(R), cm.Softmax([0, 3, 5]), cm.Natural(0.5, entropy=0.2),
        estimator=cm.Expected(), steps=40,
    )  # fmt: skip
    theta = cm.exact.expected_path(e, times=range(41)).theta
    error = theta - np.array(R) / 0.2
    error = np.abs(error - error.mean(axis=-1, keepdims=True)).max(axis=-1)
    np.testing.assert_allclose(error[1:] / error[:-1], 0.9, rtol=1e-9)


@pytest.mark.parametrize("rule", ["asymmetric", "tapered"])
def test_the_limit_is_the_stable_point_of_the_flow(rule: str) -> None:
    weight = "1" if rule == "asymmetric" else "where(A >= 0, 1, minimum(rho, 1))"
    rng = np.random.default_rng(3)
    for _ in range(6):
        r, mu = rng.uniform(size=3), rng.dirichlet(np.ones(3) * 3)
        value = float(mu @ r) - rng.uniform(0.02, 0.8)
        e = cm.Experiment(
            cm.Bandit(r), cm.Softmax(), cm.Vanilla(1), value, cm.Fixed(mu),
            cm.OneSample(weight=cm.weight(weight)), steps=1,
        )  # fmt: skip
        want = theory.off_policy_limit(r, mu, value, rule=rule)
        stable = [p.policy for p in cm.exact.stationary(e) if p.stable]
        assert want is not None
        assert len(stable) == 1
        np.testing.assert_allclose(stable[0], want, atol=1e-9)


def test_printed_limits() -> None:
    uniform = [1 / 3] * 3
    for value, want in ((-0.5, [0.46875, 0.375, 0.15625]), (0.0, [10 / 17, 7 / 17, 0]),
                        (0.3, [0.6875, 0.3125, 0]), (0.4, [0.8, 0.2, 0]), (0.5, [1, 0, 0]),
                        (0.56, [1, 0, 0])):  # fmt: skip
        np.testing.assert_allclose(theory.off_policy_limit(R, uniform, value), want, atol=1e-12)
    assert theory.off_policy_limit(R, uniform, 0.6) is None
    for value, want in ((0.3, [7 / 11, 4 / 11, 0]), (0.6, [0.8, 0.2, 0]), (0.8, [1, 0, 0])):
        found = theory.off_policy_limit(R, uniform, value, rule="tapered")
        np.testing.assert_allclose(found, want, atol=1e-12)
    assert theory.off_policy_limit(R, uniform, 1.5, rule="tapered") is None
