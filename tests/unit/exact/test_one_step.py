"""The law of one update, against the oracle, finite differences and high precision."""

from __future__ import annotations

import time
from collections.abc import Callable

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import committal as cm
from committal import reference
from committal.exact import dynamics, one_step_law
from committal.exact.law import law_from

BERNOULLI = cm.Bandit([0.9, 0.5, 0.2], noise="bernoulli")
TABLE = cm.Bandit.from_table([[(1, 0.5), (3, 0.5)], [(0.2, 1.0)], [(-1, 0.25), (1, 0.75)]])
PLAIN = cm.Bandit([1.0, 0.7, 0.0])
TWO = cm.Bandit([0.8, 0.1], noise="bernoulli")
THETA = [0.4, -0.3, 0.9]
PI = [0.2, 0.5, 0.3]

EXPERIMENTS = {
    "natural": cm.Experiment(PLAIN, cm.Softmax(THETA), cm.Natural(0.1), cm.MinVariance(), steps=3),
    "vanilla": cm.Experiment(BERNOULLI, cm.Softmax(THETA), cm.Vanilla(0.5), cm.Value(), steps=3),
    "entropy": cm.Experiment(
        TABLE, cm.Softmax(THETA), cm.Vanilla(0.5, entropy=0.2), cm.Value() - 1, steps=3
    ),
    "natural entropy": cm.Experiment(
        TABLE, cm.Softmax(THETA), cm.Natural(0.5, entropy=0.2), cm.Gap(), steps=3
    ),
    "mixture": cm.Experiment(
        BERNOULLI,
        cm.Softmax(THETA),
        cm.Natural(cm.Decay(0.5, 0.5)),
        cm.MinVariance("natural") + 0.5,
        cm.UniformMixture(cm.Decay(0.5, 1.0)),
        steps=3,
    ),
    "greedy": cm.Experiment(
        PLAIN, cm.Softmax(THETA), cm.Vanilla(0.5), -1.0, cm.EpsilonGreedy(0.3), steps=3
    ),
    "implicit": cm.Experiment(
        PLAIN,
        cm.Softmax(THETA),
        cm.Natural(0.5),
        cm.MinVariance("natural", lam=0.5),
        estimator=cm.OneSample(implicit=0.1),
        steps=3,
    ),
    "two samples": cm.Experiment(
        BERNOULLI, cm.Softmax(THETA), cm.Natural(0.5), 0.5, estimator=cm.OneSample(2), steps=3
    ),
    "fixed": cm.Experiment(
        PLAIN, cm.Softmax(THETA), cm.Vanilla(0.5), cm.Maximum(), cm.Fixed([0.2, 0.2, 0.6]), steps=3
    ),
    "direct": cm.Experiment(PLAIN, cm.Direct(PI), cm.Projected(0.3), cm.Value(), steps=3),
    "direct vanilla": cm.Experiment(BERNOULLI, cm.Direct(PI), cm.Vanilla(0.1), 0.2, steps=3),
    "sigmoid": cm.Experiment(TWO, cm.Sigmoid(-1.0), cm.Natural(0.1), cm.MinVariance(), steps=3),
    "sigmoid vanilla": cm.Experiment(TWO, cm.Sigmoid(-1.0), cm.Vanilla(0.3, 0.1), -1.0, steps=3),
    "expected": cm.Experiment(
        PLAIN, cm.Softmax(THETA), cm.Vanilla(0.3), estimator=cm.Expected(), steps=3
    ),
}


@pytest.fixture(params=EXPERIMENTS)
def experiment(request: pytest.FixtureRequest) -> cm.Experiment:
    return EXPERIMENTS[request.param]


@pytest.mark.parametrize("t", [0, 2])
def test_it_is_the_oracles_law(experiment: cm.Experiment, t: int) -> None:
    theta = reference.initial_theta(experiment)
    outcomes = reference.one_step_law(experiment, theta, t)
    law = one_step_law(experiment, t=t)
    assert law.probability.sum() == pytest.approx(1.0, abs=1e-14)
    # The oracle lists draws in every order: compare the laws as measures, by their moments.
    p = np.array([outcome.probability for outcome in outcomes])
    step = np.array([outcome.theta - theta for outcome in outcomes])
    np.testing.assert_allclose(law.mean(), p @ step, rtol=1e-12, atol=1e-13)
    second = np.einsum("m,mi,mj->ij", p, step, step)
    np.testing.assert_allclose(law.second_moment(), second, rtol=1e-12, atol=1e-13)
    third = np.einsum("m,mi->i", p, step**3)
    mine = np.einsum("m,mi->i", law.probability, law.update**3)
    np.testing.assert_allclose(mine, third, rtol=1e-11, atol=1e-13)
    before = reference.policy_probabilities(experiment.policy, theta)
    after = np.array([reference.policy_probabilities(experiment.policy, o.theta) for o in outcomes])
    np.testing.assert_allclose(law.mean("policy"), p @ (after - before), atol=1e-14)


def test_many_policies_are_one_at_a_time(experiment: cm.Experiment) -> None:
    generator = np.random.default_rng(1)
    arms = experiment.problem.arms
    policies = generator.dirichlet(np.ones(arms), (4, 5))
    together = one_step_law(experiment, policy=policies)
    one = one_step_law(experiment, policy=policies[2, 3])
    np.testing.assert_allclose(together.update[2, 3], one.update, rtol=1e-14)
    np.testing.assert_allclose(together.probability[2, 3], one.probability, rtol=1e-14)
    np.testing.assert_allclose(together.covariance()[2, 3], one.covariance(), rtol=1e-12)


def finite_difference(theta: npt.NDArray[np.float64], r: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The gradient of J by central differences of a function that knows no formula for it."""
    h, gradient = 1e-5, np.zeros(len(theta))
    for i in range(len(theta)):
        ends = []
        for sign in (1.0, -1.0):
            moved = theta.copy()
            moved[i] += sign * h
            e = np.exp(moved)
            ends.append(float(e @ np.asarray(r) / e.sum()))
        gradient[i] = (ends[0] - ends[1]) / (2.0 * h)
    return gradient


@pytest.mark.parametrize("baseline", [cm.Constant(0.0), cm.MinVariance() - 2.0, cm.Value() + 1.0])
@pytest.mark.parametrize(
    "behaviour", [cm.OnPolicy(), cm.UniformMixture(0.4), cm.EpsilonGreedy(0.2)], ids=str
)
def test_the_mean_is_the_gradient(baseline: object, behaviour: object) -> None:
    theta = np.array([0.3, -1.2, 0.8])
    e = cm.Experiment(PLAIN, cm.Softmax(theta), cm.Vanilla(1.0), baseline, behaviour, steps=1)  # type: ignore[arg-type]
    gradient = finite_difference(theta, PLAIN.means)
    np.testing.assert_allclose(one_step_law(e).mean(), gradient, atol=1e-9)
    # Natural: the Fisher matrix takes the mean back to the gradient, whatever the shift along e.
    natural = one_step_law(e.replace(update=cm.Natural(1.0))).mean()
    pi = np.exp(theta) / np.exp(theta).sum()
    fisher = np.diag(pi) - np.outer(pi, pi)
    np.testing.assert_allclose(fisher @ natural, gradient, atol=1e-9)


def test_a_wrong_sign_of_the_baseline_is_noticed(
    monkeypatch: pytest.MonkeyPatch, negate_baselines: Callable[[pytest.MonkeyPatch], None]
) -> None:
    negate_baselines(monkeypatch)
    with pytest.raises(AssertionError):
        test_it_is_the_oracles_law(EXPERIMENTS["natural"], 0)


def test_a_missing_importance_weight_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamics, "importance_weights", lambda mu, implicit: np.ones_like(mu))
    with pytest.raises(AssertionError):
        test_the_mean_is_the_gradient(cm.Constant(0.0), cm.OnPolicy())


@given(
    theta=st.lists(st.floats(-700, 700), min_size=3, max_size=3),
    b=st.floats(-5, 5),
)
def test_nothing_is_lost_far_out(theta: list[float], b: float) -> None:
    e = cm.Experiment(PLAIN, cm.Softmax(theta), cm.Natural(0.1), b, steps=1)
    law = one_step_law(e)
    assert np.isfinite(law.policy_change).all()
    assert np.isclose(law.probability.sum(), 1.0)
    assert (np.abs(law.policy_change.sum(axis=-1)) < 1e-12).all()
    assert 0.0 <= law.worsening_probability() <= 1.0


@pytest.mark.parametrize("theta", [-60.0, -30.0, 2.0, 30.0, 60.0])
def test_changes_of_the_policy_keep_their_digits(theta: float) -> None:
    e = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(theta), cm.Natural(0.1), -1.0, steps=1)
    law = one_step_law(e)
    with mpmath.workdps(80):
        for m in range(2):
            moved = mpmath.mpf(theta) + mpmath.mpf(float(law.update[m, 0]))
            change = 1 / (1 + mpmath.exp(-moved)) - 1 / (1 + mpmath.exp(-mpmath.mpf(theta)))
            assert float(law.policy_change[m, 0]) == pytest.approx(float(change), rel=1e-12)


def test_worsening_probability_is_that_of_bad_draws() -> None:
    # Natural softmax: the best arm is lowered by a draw of it below b, or of another one above.
    e = cm.Experiment(PLAIN, cm.Softmax(), cm.Natural(0.1), 0.5, steps=1)
    pi = np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]])
    np.testing.assert_allclose(one_step_law(e, policy=pi).worsening_probability(), pi[:, 1])
    gap = e.replace(baseline=cm.Gap())
    assert (one_step_law(gap, policy=pi).worsening_probability() == 0.0).all()
    above = e.replace(baseline=2.0)
    np.testing.assert_allclose(one_step_law(above, policy=pi).worsening_probability(), pi[:, 0])


def test_samples_are_counted_in_all_orders() -> None:
    e = cm.Experiment(
        BERNOULLI, cm.Softmax(), cm.Natural(0.5), 0.3, estimator=cm.OneSample(4), steps=1
    )
    law, one = one_step_law(e), one_step_law(e.replace(estimator=cm.OneSample(1)))
    assert law.probability.shape == (126,)  # 6 atoms, 4 draws: C(9, 4) and not 6^4
    assert law.probability.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(law.mean(), one.mean(), atol=1e-14)
    np.testing.assert_allclose(law.covariance(), one.covariance() / 4.0, atol=1e-14)


def test_a_simplex_grid_takes_less_than_a_second() -> None:
    policies = np.random.default_rng(0).dirichlet(np.ones(3), (500, 500))
    e = cm.Experiment(PLAIN, cm.Softmax(), cm.Natural(0.025), cm.MinVariance() - 0.5, steps=1)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        one_step_law(e, policy=policies).covariance()
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1.0


def test_what_cannot_be_enumerated_is_refused() -> None:
    e = EXPERIMENTS["natural"]
    with pytest.raises(cm.ConfigError, match="policy"):
        one_step_law(e, theta=THETA, policy=PI)
    with pytest.raises(cm.ConfigError, match="3 arms in the last axis"):
        one_step_law(e, policy=[0.5, 0.5])
    with pytest.raises(cm.ConfigError, match="sum to 1"):
        one_step_law(e, policy=[0.5, 0.5, 0.5])
    with pytest.raises(cm.ConfigError, match="probabilities > 0"):
        one_step_law(e, policy=[1.0, 0.0, 0.0])
    with pytest.raises(cm.ConfigError, match="finite"):
        one_step_law(e, theta=[0.0, np.nan, 0.0])
    with pytest.raises(cm.ConfigError, match="one of 'theta', 'policy'"):
        one_step_law(e).mean("logits")  # type: ignore[arg-type]
    with pytest.raises(cm.CombinationError, match="finitely many"):
        one_step_law(e.replace(problem=cm.Bandit([1, 0, 0], noise="gaussian", sigma=1)))
    with pytest.raises(cm.CombinationError, match="RunningMean"):
        one_step_law(e.replace(baseline=cm.RunningMean()))
    with pytest.raises(cm.ConfigTypeError, match="Experiment"):
        one_step_law("natural")  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match="samples"):
        one_step_law(EXPERIMENTS["two samples"].replace(estimator=cm.OneSample(1000)))


def test_baselines_may_be_given() -> None:
    e = EXPERIMENTS["natural"]
    theta = np.array([THETA, THETA])
    law = law_from(e, theta, np.array([0.0, 1.0]), 0)
    np.testing.assert_allclose(
        law.update[0], one_step_law(e.replace(baseline=0.0), theta=THETA).update
    )
    np.testing.assert_allclose(
        law.update[1], one_step_law(e.replace(baseline=1.0), theta=THETA).update
    )
