"""The engine replayed by the oracle where it has a path of its own, or numbers are extreme."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.config import Baseline, Behaviour, Policy, Update


@pytest.mark.parametrize("isa", ["generic", "auto"])
@pytest.mark.parametrize(
    "baseline", [cm.Constant(-0.5), cm.Value() + 0.1, cm.MinVariance(), cm.MinVariance("natural")]
)
@pytest.mark.parametrize("policy", [cm.Softmax([0.0, 1.0, 2.0]), cm.Sigmoid(-1.0)])
def test_the_shortest_path_of_the_engine_replays(
    policy: Policy, baseline: Baseline, isa: str, replay: Any
) -> None:
    """On-policy, natural, one sample, deterministic rewards: the step with a kernel of its own."""
    means = [1.0, 0.7, 0.0][: 2 if isinstance(policy, cm.Sigmoid) else 3]
    replay.check(
        cm.Experiment(
            cm.Bandit(means), policy, cm.Natural(step_size=0.05), baseline=baseline, steps=300
        ),
        isa=isa,
    )


# 128: the last without leaves; 129: the last leaf holds one arm; 256: whole leaves; 300: leaves of
# another size.
@pytest.mark.parametrize(
    ("arms", "baseline"),
    [
        (128, cm.Value()),
        (129, 0.5 * cm.Value() + 0.1),
        (130, cm.MinVariance()),
        (130, cm.RunningMean()),
        (256, cm.Value() - 0.5),
        (300, cm.Value()),
        (300, cm.Constant(-0.5)),
    ],
)
def test_many_arms_replay(arms: int, baseline: Baseline, replay: Any) -> None:
    """One arm of many moves at a time: sums over leaves instead of over all arms."""
    rng = np.random.default_rng(arms)
    replay.check(
        cm.Experiment(
            cm.Bandit(rng.uniform(0.0, 1.0, arms), noise="bernoulli"),
            cm.Softmax(rng.normal(0.0, 1.0, arms)),
            cm.Natural(step_size=0.3 / arms),
            baseline=baseline,
            steps=30,
        )
    )


@pytest.mark.parametrize("implicit", [0.05, cm.Decay(0.1, 0.5)])
@pytest.mark.parametrize("arms", [100, 200])
def test_many_arms_explore_implicitly(arms: int, implicit: Any, replay: Any) -> None:
    """1 / (mu(a) + implicit), with leaves and without: an arm of 1/K counts far less."""
    rng = np.random.default_rng(arms)
    replay.check(
        cm.Experiment(
            cm.Bandit(rng.uniform(0.0, 1.0, arms), noise="bernoulli"),
            cm.Softmax(rng.normal(0.0, 1.0, arms)),
            cm.Natural(step_size=0.3),
            baseline=cm.Value(),
            estimator=cm.OneSample(implicit=implicit),
            steps=30,
        )
    )


@pytest.mark.parametrize("arms", [100, 129, 1000])
def test_many_arms_are_drawn_with_their_probabilities(arms: int) -> None:
    rng = np.random.default_rng(3)
    theta = rng.normal(0.0, 2.0, arms)
    theta[rng.permutation(arms)[: arms // 3]] = -2000.0  # weight exactly 0
    experiment = cm.Experiment(
        cm.Bandit(np.zeros(arms)), cm.Softmax(theta), cm.Natural(step_size=0.1), steps=0,
        record=cm.Record("action", "policy"),
    )  # fmt: skip
    runs = 200_000
    data = cm.run(experiment, runs=runs, rng=1)
    pi = data["policy"].values[0, 0]
    counts = np.bincount(data["action"].values[:, 0].ravel(), minlength=arms)
    assert counts[pi == 0.0].sum() == 0
    often = pi * runs > 5
    z = (counts - runs * pi)[often] / np.sqrt(runs * (pi * (1.0 - pi))[often])
    assert np.abs(z).max() < 5.0
    assert np.mean(z**2) == pytest.approx(1.0, abs=5.0 * np.sqrt(2.0 / often.sum()))


def test_many_arms_far_from_the_centre() -> None:
    """Rare arms throw theta to 1e6 and beyond: the sums follow, and nothing drifts."""
    arms = 200
    rng = np.random.default_rng(0)
    experiment = cm.Experiment(
        cm.Bandit(rng.uniform(0.0, 1.0, arms)),
        cm.Softmax(rng.uniform(-40.0, 40.0, arms)),
        cm.Natural(step_size=0.5),
        baseline=cm.Value() - 0.2,
        steps=400,
        record=cm.Record("policy", "theta", "value", every=20),
    )
    data = cm.run(experiment, runs=400, rng=2)
    theta = data["theta"].values
    shifted = np.exp(theta - theta.max(axis=-1, keepdims=True))
    pi = shifted / shifted.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(data["policy"].values, pi, rtol=1e-12, atol=1e-290)
    means = np.array(experiment.problem.means)
    np.testing.assert_allclose(data["value"].values, pi @ means, rtol=1e-12)
    assert np.abs(theta).max() > 1e3


@pytest.mark.parametrize("arms", [2, 3, 5, 20])
@pytest.mark.parametrize("kind", ["gradient", "natural"])
@pytest.mark.parametrize("offset", [-1.0, 1.0])
def test_climbing_and_falling_by_tens(arms: int, kind: Any, offset: float) -> None:
    """Sums of weights pass through all numbers: products of three are never too large or small."""
    e = cm.Experiment(
        cm.Bandit(np.linspace(1.0, 0.0, arms)), cm.Softmax(), cm.Natural(10.0),
        baseline=cm.MinVariance(kind) + offset, steps=100,
        record=cm.Record("theta", "policy", "baseline", every=7),
    )  # fmt: skip
    data = cm.run(e, runs=4, rng=4)
    means, compared = np.array(e.problem.means), 0
    for theta, pi, b in zip(
        *(data[name].values.reshape(4 * 16, -1) for name in ("theta", "policy", "baseline")),
        strict=True,
    ):
        want = reference.softmax(theta)
        allowed = 1e-12 * max(1.0, np.abs(theta).max())
        np.testing.assert_allclose(pi, want, rtol=allowed, atol=1e-290)
        # Where products of probabilities are about to underflow, b* is about to become V.
        if not np.any((want > 0.0) & (want < 1e-270)):
            expected = reference.baseline_value(e.baseline, want, means)
            assert float(b[0]) == pytest.approx(expected, abs=allowed)
            compared += 1
    assert compared > 9
    assert offset > 0.0 or np.abs(data["theta"].values).max() > 500.0


def test_a_running_mean_forgets_its_initial_value_entirely(replay: Any) -> None:
    replay.check(
        cm.Experiment(
            cm.Bandit([0.9, 0.3], noise="uniform", half_width=0.25),
            cm.Softmax(),
            cm.Vanilla(step_size=1e-9),
            baseline=cm.RunningMean(initial=1e6),
            steps=20,
        )
    )


@pytest.mark.parametrize("update", [cm.Natural(step_size=0.1), cm.Vanilla(step_size=0.1)])
@pytest.mark.parametrize(
    "behaviour", [cm.OnPolicy(), cm.UniformMixture(0.3), cm.Fixed([0.2, 0.3, 0.5])]
)
@pytest.mark.parametrize("lead", [1.0, 5.0, 9.0, 12.0, 15.0, 18.0, 25.0, 45.0])
@pytest.mark.parametrize("baseline", [cm.Constant(-0.5), cm.Value() + 0.1])
def test_variance_does_not_cancel_next_to_a_vertex(
    update: Update, behaviour: Behaviour, lead: float, baseline: Baseline, replay: Any
) -> None:
    """Near a vertex ||e_a - pi||^2 of the leading arm is of the order of (1 - pi_a)^2."""
    experiment = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]),
        cm.Softmax([lead, 1.0, 0.0]),
        update,
        baseline=baseline,
        behaviour=behaviour,
        steps=0,
    )
    _, got = replay.engine(experiment, "variance", runs=1)
    want = reference.gradient_variance(experiment, np.array([lead, 1.0, 0.0]))
    assert got["variance"][0, 0] == pytest.approx(want, rel=1e-10, abs=0.0)


@pytest.mark.parametrize(
    "theta0",
    [
        [700.0, -700.0, 0.0],
        [-700.0, 0.0, 700.0],
        [0.0, 20.0, 40.0],
        [0.0, -36.0, 0.5],
        [0.0, 20.0, -700.0, 40.0, 3.0],
    ],
)
@pytest.mark.parametrize("update", [cm.Natural(step_size=0.5), cm.Vanilla(step_size=5.0)])
@pytest.mark.parametrize(
    "behaviour", [cm.OnPolicy(), cm.UniformMixture(0.01), cm.EpsilonGreedy(0.05)]
)
@pytest.mark.parametrize(
    "baseline", [cm.Constant(-1.0), cm.MinVariance(), cm.MinVariance("natural"), cm.Value()]
)
def test_single_steps_from_wherever_the_engine_went(
    theta0: list[float], update: Update, behaviour: Behaviour, baseline: Baseline, replay: Any
) -> None:
    """Rare actions with their 1/pi throw theta to 1e6 and beyond, and policies underflow."""
    experiment = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0, 0.3, 0.5][: len(theta0)], noise="bernoulli"),
        cm.Softmax(theta0),
        update,
        baseline=baseline,
        behaviour=behaviour,
        steps=40,
    )
    _, record = replay.everything(experiment)
    means = np.array(experiment.problem.means)
    for name, array in record.items():
        assert not np.any(np.isnan(array)), name
    for run, t in np.ndindex(replay.runs, experiment.steps):
        got = {name: array[run, t] for name, array in record.items()}
        theta = got["theta"]
        pi = reference.softmax(theta)
        # eps |theta| is the relative error of pi, hence of 1/pi and of everything made of it.
        allowed = replay.rtol * max(1.0, np.abs(theta).max())
        np.testing.assert_allclose(got["policy"], pi, rtol=allowed, atol=1e-290)
        assert got["value"] == pytest.approx(pi @ means, abs=allowed)
        # Where products of probabilities are about to underflow, b* is about to become V.
        if not np.any((pi > 0.0) & (pi < 1e-270)):
            b = reference.baseline_value(baseline, pi, means)
            assert got["baseline"] == pytest.approx(b, abs=allowed)
        want = reference.next_theta(
            experiment, theta, t, float(got["baseline"]), got["action"], got["reward"]
        )
        step = max(1.0, np.abs(want - theta).max())
        np.testing.assert_allclose(
            record["theta"][run, t + 1], want, rtol=replay.rtol, atol=allowed * step
        )
