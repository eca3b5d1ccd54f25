"""Variances of the gradient estimate, and what the baseline does to them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import committal as cm
from committal import exact, reference

PLAIN = cm.Bandit([1.0, 0.7, 0.0])
NOISY = cm.Bandit([1.0, 0.7, 0.0], noise="gaussian", sigma=[0.1, 0.5, 1.0])
POLICIES = np.random.default_rng(0).dirichlet(np.ones(3), 50)

EXPERIMENTS = {
    "vanilla": cm.Experiment(PLAIN, cm.Softmax(), cm.Vanilla(0.5), cm.Value(), steps=1),
    "natural": cm.Experiment(NOISY, cm.Softmax(), cm.Natural(0.5), cm.MinVariance(), steps=1),
    "mixture": cm.Experiment(
        NOISY, cm.Softmax(), cm.Vanilla(0.5), -1.0, cm.UniformMixture(0.5), steps=1
    ),
    "direct": cm.Experiment(PLAIN, cm.Direct(), cm.Projected(0.5), 0.3, steps=1),
    "implicit": cm.Experiment(
        PLAIN, cm.Softmax(), cm.Natural(0.5), 0.3, estimator=cm.OneSample(3, 0.1), steps=1
    ),
    "sigmoid": cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(), cm.Natural(0.5), -1.0, steps=1),
}


@pytest.fixture(params=EXPERIMENTS)
def experiment(request: pytest.FixtureRequest) -> cm.Experiment:
    return EXPERIMENTS[request.param]


def policies_of(experiment: cm.Experiment) -> np.ndarray:
    return (
        POLICIES
        if experiment.problem.arms == 3
        else POLICIES[:, :2] / POLICIES[:, :2].sum(axis=1, keepdims=True)
    )


def test_it_is_the_oracles_variance(experiment: cm.Experiment) -> None:
    policies = policies_of(experiment)
    mine = exact.gradient_variance(experiment, policy=policies)
    for pi, variance in zip(policies, mine, strict=True):
        theta = experiment.policy.parameters_at(pi)
        assert variance == pytest.approx(reference.gradient_variance(experiment, theta), rel=1e-10)
    trace = np.trace(exact.gradient_moments(experiment, policy=policies).covariance, 0, -2, -1)
    np.testing.assert_allclose(trace, mine, rtol=1e-12)


def test_it_is_quadratic_in_the_baseline(experiment: cm.Experiment) -> None:
    policies = policies_of(experiment)
    quadratic = exact.baseline_quadratic(experiment, policy=policies)
    for b in (-3.0, -0.5, 0.0, 0.4, 5.0):
        variance = exact.gradient_variance(experiment.replace(baseline=b), policy=policies)
        np.testing.assert_allclose(quadratic(b), variance, rtol=1e-9)


@pytest.mark.parametrize(("metric", "lam"), [("gradient", None), ("natural", None), ("natural", 1)])
def test_the_baseline_minimises_what_it_says(metric: str, lam: float | None) -> None:
    r = np.array(PLAIN.means)
    for pi in POLICIES[:10]:

        def second_moment(b: float, pi: np.ndarray = pi) -> float:
            total = 0.0
            for a in range(3):
                e_a = np.eye(3)[a]
                if metric == "gradient":
                    g = e_a - pi
                elif lam is None:
                    g = e_a / pi[a] - 1.0 / (3.0 * pi[a])  # of least norm
                else:
                    g = e_a / pi[a] + lam
                total += pi[a] * (r[a] - b) ** 2 * float(g @ g)
            return total

        found = minimize_scalar(second_moment, bracket=(-1.0, 2.0), tol=1e-12).x
        mine = exact.minimum_variance_baseline(r, pi, metric=metric, lam=lam)
        assert float(mine) == pytest.approx(found, abs=1e-6)
        baseline = cm.MinVariance(metric, lam)
        assert float(mine) == pytest.approx(reference.baseline_value(baseline, pi, r), rel=1e-12)


def test_the_closed_form_of_two_arms() -> None:
    p = np.linspace(0.05, 0.95, 19)
    policies = np.stack([p, 1.0 - p], axis=1)
    problem = cm.Bandit([0.9, 0.4])
    for b in (-1.0, 0.6, 2.0):
        for update, natural in ((cm.Natural(1.0), True), (cm.Vanilla(1.0), False)):
            e = cm.Experiment(problem, cm.Sigmoid(), update, b, steps=1)
            closed = exact.two_arm_variance(p, b, means=(0.9, 0.4), natural=natural)
            np.testing.assert_allclose(
                exact.gradient_variance(e, policy=policies), closed, rtol=1e-9, atol=1e-15
            )
    assert float(exact.two_arm_variance(0.25, 0.75)) == 0.0
    with pytest.raises(cm.ConfigError, match=r"\(0, 1\)"):
        exact.two_arm_variance(1.0, 0.0)


def test_value_identity() -> None:
    terms = exact.value_identity(PLAIN.means, POLICIES)
    np.testing.assert_allclose(
        terms.value, terms.minimum_variance - terms.covariance_term, atol=1e-13
    )
    certain = exact.value_identity(PLAIN.means, [0.0, 1.0, 0.0])
    assert float(certain.value) == float(certain.minimum_variance) == 0.7


def test_figure_three() -> None:
    none = EXPERIMENTS["vanilla"].replace(baseline=0.0)
    sampled = none.replace(behaviour=cm.UniformMixture(0.5))
    least = none.replace(baseline=cm.MinVariance())
    grid = exact.simplex_grid(60)
    first = exact.log_variance_ratio(none, sampled, policy=grid)
    second = exact.log_variance_ratio(none, least, policy=grid)
    third = exact.log_variance_ratio(least, sampled, policy=grid)
    np.testing.assert_allclose(first, second + third, atol=1e-12)
    assert (second >= 0.0).all()
    uniform = np.full(3, 1 / 3)
    # There the two samplings are the same one.
    assert float(exact.log_variance_ratio(none, sampled, policy=uniform)) == pytest.approx(0.0)


def test_a_ratio_of_zeros() -> None:
    e = cm.Experiment(cm.Bandit([1, 1]), cm.Softmax(), cm.Vanilla(1.0), 1.0, steps=1)
    half = [0.5, 0.5]
    assert np.isnan(exact.log_variance_ratio(e, e, policy=half))
    assert exact.log_variance_ratio(e, e.replace(baseline=0.0), policy=half) == -np.inf


@pytest.mark.parametrize("arms", [2, 3, 4])
def test_simplex_grid(arms: int) -> None:
    grid = exact.simplex_grid(6, arms)
    np.testing.assert_allclose(grid.sum(axis=1), 1.0)
    assert (grid > 0.0).all()
    assert len(np.unique(grid.round(12), axis=0)) == len(grid)
    # The set does not change when arms change places.
    swapped = grid[:, ::-1]
    np.testing.assert_allclose(
        np.unique(swapped.round(9), axis=0), np.unique(grid.round(9), axis=0)
    )
    assert exact.simplex_grid(5, arms, margin=1.0) == pytest.approx(1.0 / arms)
    with pytest.raises(cm.ConfigError, match="n = 0"):
        exact.simplex_grid(0)


def test_wrong_weights_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cm.MinVariance, "weights", lambda self, pi: pi)
    with pytest.raises(AssertionError):
        test_the_baseline_minimises_what_it_says("gradient", None)
    with pytest.raises(AssertionError):
        test_value_identity()


def test_refusals() -> None:
    with pytest.raises(cm.CombinationError, match="Expected has no variance"):
        exact.gradient_variance(EXPERIMENTS["vanilla"].replace(estimator=cm.Expected()))
    with pytest.raises(cm.ConfigError, match="metric"):
        exact.minimum_variance_baseline([1, 0], [0.5, 0.5], metric="euclid")
    with pytest.raises(cm.ConfigError, match="lam"):
        exact.minimum_variance_baseline([1, 0], [0.5, 0.5], lam=1.0)
    with pytest.raises(cm.ConfigError, match="2 arms"):
        exact.minimum_variance_baseline([1, 0], [0.5, 0.3, 0.2])
