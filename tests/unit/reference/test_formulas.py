"""The oracle on formulas: what has a name and a formula is the same run twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.errors import NonFiniteError

BANDIT = cm.Bandit([0.9, 0.7, 0.1], noise="bernoulli")
BASE = cm.Experiment(
    BANDIT, cm.Softmax([0, 1, 2]), cm.Vanilla(0.3), steps=40, estimator=cm.OneSample(samples=2)
)


def _norms(pi: Any) -> Any:
    """pi ||e - pi||^2, from positive terms."""
    return pi * (cm.others(pi) ** 2 + cm.others(pi**2))


#: Native baselines, and the formulas that they are.
BASELINES: dict[str, tuple[Any, Any]] = {
    "value": (cm.Value(), cm.baseline("sum(pi * r)")),
    "maximum": (cm.Maximum(), cm.baseline("max(r)")),
    "gradient": (
        cm.MinVariance(),
        cm.baseline(lambda pi, r: cm.dot(w := _norms(pi), r) / w.sum()),
    ),
    "natural": (cm.MinVariance("natural"), cm.baseline("sum(r / pi) / sum(1 / pi)")),
    "lambda": (
        cm.MinVariance("natural", lam=1.5),
        cm.baseline(
            lambda pi, r, K, *, lam=1.5: (
                cm.dot(w := pi * ((K - 1) * lam**2 + (lam + 1 / pi) ** 2), r) / w.sum()
            )
        ),
    ),
    "gap": (cm.Gap(), cm.baseline("0.8 + 0 * t")),
    "sum": (0.5 * cm.Value() - 0.25, cm.baseline("0.5 * sum(pi * r) - 0.25")),
}


def same(one: cm.Experiment, other: cm.Experiment, names: tuple[str, ...] = ("theta",)) -> None:
    for run in range(3):
        a, b = (reference.simulate(e, key=7, run=run) for e in (one, other))
        for name in (*names, "action", "baseline"):
            np.testing.assert_allclose(a[name], b[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("update", [cm.Vanilla(0.3), cm.Natural(0.05)], ids=repr)
def test_baselines(name: str, update: Any) -> None:
    native, formula = BASELINES[name]
    base = BASE.replace(update=update, behaviour=cm.UniformMixture(0.2))
    same(base.replace(baseline=native), base.replace(baseline=formula))
    same(base.replace(baseline=native - 1), base.replace(baseline=formula - 1))


def test_a_state_is_a_running_mean() -> None:
    one = BASE.replace(estimator=cm.OneSample())
    native = cm.RunningMean(rate=0.1, initial=0.5)
    formula = cm.baseline("v", state={"v": (0.5, "v + 0.1 * (mean(R) - v)")})
    same(one.replace(baseline=native), one.replace(baseline=formula))


@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.EpsilonGreedy(0.3)], ids=repr)
def test_updates_and_weights(behaviour: Any) -> None:
    base = BASE.replace(baseline=cm.Value(), behaviour=behaviour)
    for native, text in ((cm.Vanilla(0.3), "score"), (cm.Natural(0.05), "natural")):
        own = cm.update(f"A * rho * {text}")(native.step_size)
        mean = cm.update(f"mean(A * rho * {text}, over='samples')")(native.step_size)
        e = base.replace(update=native)
        same(e, base.replace(update=own))
        same(e, base.replace(update=mean))
        same(e, e.replace(**{"estimator.weight": cm.weight("rho")}))
        same(e, e.replace(**{"estimator.weight": cm.weight("pi[a] / mu[a]")}))


def test_exponential_is_the_softmax() -> None:
    base = BASE.replace(baseline=cm.Value(), behaviour=cm.UniformMixture(0.3))
    same(base, base.replace(policy=cm.link("exp(theta)")([0, 1, 2])))
    expected = base.replace(estimator=cm.Expected(), behaviour=cm.OnPolicy())
    a, b = (
        reference.simulate(e, key=0, run=0)["theta"]
        for e in (expected, expected.replace(policy=cm.link("exp(theta)")([0, 1, 2])))
    )
    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_optimisers() -> None:
    base = BASE.replace(
        baseline=cm.Value(), estimator=cm.OneSample(), problem=cm.Bandit([1, 0.5, 0])
    )
    found = {
        part: reference.simulate(base.replace(optimiser=part), key=3, run=0)
        for part in (cm.Momentum(0.5), cm.Adam(), cm.Normalised(), cm.ClipNorm(0.1))
    }
    for part, run in found.items():
        m = v = np.zeros(3)
        for t in range(base.steps):
            pi, a = run["policy"][t], run["action"][t, 0]
            g = (run["reward"][t, 0] - run["baseline"][t]) * (np.eye(3)[a] - pi)
            if isinstance(part, cm.Momentum):
                step = m = 0.5 * m + g
            elif isinstance(part, cm.Adam):
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
                step = m / (1 - 0.9 ** (t + 1)) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
            else:
                size = np.linalg.norm(g)
                step = g / size if isinstance(part, cm.Normalised) else g * min(1, 0.1 / size)
            want = run["theta"][t] + 0.3 * step
            np.testing.assert_allclose(run["theta"][t + 1], want, rtol=1e-9, atol=1e-12)


def test_groups() -> None:
    one = BASE.replace(estimator=cm.OneSample(samples=4), baseline=cm.baseline("others(R, 'mean')"))
    run = reference.simulate(one, key=1, run=0)
    for t in range(5):
        R, a, pi = run["reward"][t], run["action"][t], run["policy"][t]
        A = R - (R.sum() - R) / 3
        g = np.mean(A[:, None] * (np.eye(3)[a] - pi), axis=0)
        np.testing.assert_allclose(run["theta"][t + 1], run["theta"][t] + 0.3 * g, atol=1e-13)
        assert run["baseline"][t] == pytest.approx(R.mean())


def test_quantities() -> None:
    kl = cm.quantity("sum(pi * log(pi * K))", name="kl")
    drift = cm.quantity("theta - theta0", name="drift")
    gain = cm.quantity("mean(A)", name="gain")
    e = BASE.replace(baseline=cm.Value(), record=cm.Record(kl, drift, gain))
    run = reference.simulate(e, key=1, run=0)
    pi = run["policy"]
    np.testing.assert_allclose(run["kl"], (pi * np.log(pi * 3)).sum(1), rtol=1e-12)
    np.testing.assert_allclose(run["drift"], run["theta"] - run["theta"][0], atol=1e-15)
    np.testing.assert_allclose(run["gain"], run["reward"].mean(1) - run["baseline"], atol=1e-15)


# -- expectations ----------------------------------------------------------------------------------


def expected_update(e: cm.Experiment, theta: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    law = reference.one_step_law(e, theta)
    assert sum(outcome.probability for outcome in law) == pytest.approx(1.0)
    return sum(o.probability * (o.theta - theta) for o in law)  # type: ignore[return-value]


def gradient(theta: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    pi = np.exp(theta) / np.exp(theta).sum()
    r = np.array(BANDIT.means)
    return pi * (r - pi @ r)


THETA = np.array([0.3, -0.2, 0.7])


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.UniformMixture(0.4)], ids=repr)
def test_vanilla_with_any_baseline_has_the_mean_of_the_gradient(name: str, behaviour: Any) -> None:
    e = BASE.replace(baseline=BASELINES[name][1], behaviour=behaviour)
    np.testing.assert_allclose(expected_update(e, THETA), 0.3 * gradient(THETA), atol=1e-13)


def test_leaving_one_out_has_the_mean_of_the_gradient_and_the_mean_has_not() -> None:
    e = BASE.replace(baseline=cm.baseline("others(R, 'mean')"))
    np.testing.assert_allclose(expected_update(e, THETA), 0.3 * gradient(THETA), atol=1e-13)
    with_itself = expected_update(BASE.replace(baseline=cm.baseline("mean(R)")), THETA)
    np.testing.assert_allclose(with_itself, 0.3 * gradient(THETA) / 2, atol=1e-13)  # (N - 1) / N


def test_a_clipped_weight_has_another_mean() -> None:
    e = BASE.replace(baseline=cm.Value(), behaviour=cm.UniformMixture(0.9))
    clipped = e.replace(**{"estimator.weight": cm.weight("minimum(rho, 1)")})
    assert np.abs(expected_update(clipped, THETA) - 0.3 * gradient(THETA)).max() > 1e-3
    np.testing.assert_allclose(expected_update(e, THETA), 0.3 * gradient(THETA), atol=1e-13)


def test_a_link_has_the_mean_of_its_gradient() -> None:
    escort = cm.link("abs(theta)**p", p=3)([1.0, -2.0, 1.5])
    e = BASE.replace(policy=escort, baseline=cm.Value())
    theta, r = np.array([1.0, -2.0, 1.5]), np.array(BANDIT.means)
    pi = np.abs(theta) ** 3 / (np.abs(theta) ** 3).sum()
    want = 3 * np.sign(theta) * theta**2 / (np.abs(theta) ** 3).sum() * (r - pi @ r)
    np.testing.assert_allclose(expected_update(e, theta), 0.3 * want, atol=1e-13)


# -- MDPs ------------------------------------------------------------------------------------------

MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9)


@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.UniformMixture(0.3)], ids=repr)
@pytest.mark.parametrize("discounted", [False, True])
def test_episodes(behaviour: Any, discounted: bool) -> None:
    base = cm.Experiment(
        MAZE, cm.Softmax(), cm.Vanilla(0.2), cm.Value() - 0.1, behaviour,
        cm.ExactQ(discounted=discounted), steps=6,
    )  # fmt: skip
    want = reference.simulate(base, key=5, run=1)["theta"]
    for other in (
        base.replace(baseline=cm.baseline("sum(pi * r)") - 0.1),
        base.replace(baseline=cm.baseline("sum(pi * r) - 0.1 + 0 * t * max(theta) * max(mu)")),
        base.replace(**{"estimator.weight": cm.weight("rho")}),
        base.replace(update=cm.update("A * rho * score")(0.2)),
        base.replace(optimiser=cm.optimiser("g")),
    ):
        got = reference.simulate(other, key=5, run=1)["theta"]
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-13)


def test_episodes_of_reinforce() -> None:
    base = cm.Experiment(
        MAZE, cm.Softmax(), cm.Vanilla(0.2), 0.25, estimator=cm.Reinforce(), steps=6
    )
    want = reference.simulate(base, key=5, run=1)["theta"]
    for other in (
        base.replace(**{"estimator.weight": cm.weight("1 + 0 * R")}),
        base.replace(update=cm.update("(R - b) * score")(0.2)),
        base.replace(baseline=cm.baseline("0.25 + 0 * t")),
    ):
        got = reference.simulate(other, key=5, run=1)["theta"]
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-13)


def test_adam_moves_everything_in_an_mdp() -> None:
    e = cm.Experiment(
        MAZE, cm.Softmax(), cm.Vanilla(0.1), cm.Value(), estimator=cm.ExactQ(), steps=5,
        optimiser=cm.Adam(),
    )  # fmt: skip
    theta = reference.simulate(e, key=0, run=0)["theta"]
    assert np.isfinite(theta).all()
    moved = np.abs(theta[1]) > 0
    assert np.allclose(np.abs(theta[1][moved]), 0.1, rtol=1e-3)  # the first step is alpha sign(g)


# -- what is not finite ----------------------------------------------------------------------------


def test_the_place_is_named() -> None:
    e = BASE.replace(baseline=cm.baseline("1 / (t - 3) + sum(pi * r)"))
    with pytest.raises(NonFiniteError, match=r"run 5, update 3: .* baseline .* 1 / \(t - 3\)") as c:
        reference.simulate(e, key=0, run=5)
    assert c.value.operands == {"t - 3": 0.0}
    assert (c.value.run, c.value.update) == (5, 3)
    e = BASE.replace(optimiser=cm.optimiser("g / (t - 2)"))
    with pytest.raises(NonFiniteError, match="update 2: the formula of optimiser"):
        reference.simulate(e, key=0, run=0)
    e = BASE.replace(policy=cm.link("theta")([1, 1, 0.1]), update=cm.Vanilla(5.0))
    with pytest.raises(NonFiniteError, match="the formula of policy"):
        reference.simulate(e, key=0, run=0)
