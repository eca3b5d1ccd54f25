"""The engine replayed by the oracle: every combination, every step, to 1e-12.

The engine's own actions and rewards are played back through ``reference.simulate`` (teacher
forcing), so that one rounding difference in a draw cannot hide, or pretend to be, a difference in
the mathematics; a free run of the oracle on the same key checks the draws themselves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.config import Baseline, Behaviour, Policy, Schedule, Update

RUNS = 3
RTOL = 1e-12
EVERYTHING = (
    "value", "policy", "theta", "baseline", "entropy", "action", "reward", "variance", "distance",
)  # fmt: skip

Record = dict[str, np.ndarray]


def bandit(experiment: cm.Experiment) -> cm.Bandit:
    assert isinstance(experiment.problem, cm.Bandit)
    return experiment.problem


# The engine, and the comparison -------------------------------------------------------------------


def engine(
    experiment: cm.Experiment, *names: str, runs: int = RUNS, **options: Any
) -> tuple[int, Record]:
    """The stream key and arrays[run, time, ...] of `names` at every time."""
    recorded = experiment.replace(record=cm.Record(*names, every=1))
    data = cm.run(recorded, runs=runs, rng=20080, **options)
    return int(data.attrs["key"], 16), {name: data[name].to_numpy() for name in names}


def engine_record(experiment: cm.Experiment, **options: Any) -> tuple[int, Record]:
    """Everything the engine can record, with one axis per sample and per parameter.

    Regret is recorded by a second call: it is accumulated in the loop, which forbids the shortest
    path through the kernels, and both paths are to be compared with the oracle.
    """
    draws = ("action", "reward")
    expected = isinstance(experiment.estimator, cm.Expected)
    names = [name for name in EVERYTHING if not (expected and name in draws)]
    key, record = engine(experiment, *names, **options)
    _, regret = engine(experiment, "regret", "theta", **options)
    np.testing.assert_array_equal(regret["theta"], record["theta"])
    record["regret"] = regret["regret"]
    for name in set(record) & {"theta", *draws}:
        record[name] = record[name].reshape(*record[name].shape[:2], -1)
    return key, record


def replayed(experiment: cm.Experiment, key: int, run: int, got: Record) -> Record:
    """The oracle, fed with the engine's draws."""
    return reference.simulate(
        experiment, key=key, run=run, actions=got.get("action"), rewards=got.get("reward")
    )


def restarted(experiment: cm.Experiment, key: int, run: int, got: Record) -> Record:
    """The oracle, fed with the engine's draws and put back to the engine's theta at every step.

    For runs whose trajectories cannot be compared because a rounding error decides what comes
    next: on the boundary of the simplex whether an arm has probability 0 or 1e-17, far from the
    centre what 1/pi is.
    """
    problem, policy, steps = bandit(experiment), experiment.policy, experiment.steps
    r = np.array(problem.means)
    memory = reference.initial_memory(experiment.baseline)
    regret, theta_next = 0.0, got["theta"][0]
    want: dict[str, list[Any]] = {name: [] for name in got}
    samples = got["action"].shape[1]
    u = reference.uniforms(key, run, reference.ACTION, 0, (steps + 1) * samples)
    v = reference.uniforms(key, run, reference.REWARD, 0, (steps + 1) * samples)
    for t in range(steps + 1):
        theta, actions, rewards = got["theta"][t], got["action"][t], got["reward"][t]
        pi = reference.policy_probabilities(policy, theta)
        mu = reference.behaviour_probabilities(experiment.behaviour, pi, t, steps)
        b = reference.baseline_value(experiment.baseline, pi, r, memory)
        own = slice(t * samples, (t + 1) * samples)
        want["theta"].append(theta_next)
        want["policy"].append(pi)
        want["value"].append(pi @ r)
        want["baseline"].append(b)
        want["entropy"].append(reference.entropy(pi, reference.log_policy(policy, theta)))
        want["distance"].append(reference.optimal_distance(pi, problem.best))
        want["variance"].append(reference.gradient_variance(experiment, theta, t, memory))
        want["regret"].append(regret)
        want["action"].append([reference.draw_action(mu, x) for x in u[own]])
        want["reward"].append(
            [reference.draw_reward(problem, a, x) for a, x in zip(actions, v[own], strict=True)]
        )
        regret += float(r.max() - pi @ r)
        theta_next = reference.next_theta(experiment, theta, t, b, actions, rewards)
        memory = reference.remember(experiment.baseline, memory, rewards)
    return {name: np.array(column) for name, column in want.items()}


def second_moment(experiment: cm.Experiment, want: Record) -> np.ndarray:
    """E||g||^2 / N at every time: variance is a difference of two numbers of this size."""
    estimator = experiment.estimator
    assert isinstance(estimator, cm.OneSample)
    squares = []
    for t, (pi, b) in enumerate(zip(want["policy"], want["baseline"], strict=True)):
        mu = reference.behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
        implicit = reference.scheduled(estimator.implicit, t, experiment.steps)
        mean = sum(
            mu[a]
            * reference.update_direction(
                experiment.policy, experiment.update, pi, mu, a, r - b, implicit
            )
            for a, r in enumerate(bandit(experiment).means)
            if mu[a] > 0.0
        )
        squares.append(np.sum(np.square(mean)))
    return np.asarray(want["variance"] + np.array(squares))


def assert_equivalent(experiment: cm.Experiment, got: Record, want: Record) -> None:
    """One run of the engine (`got`) against the oracle (`want`), time by time.

    A rounding error eps |theta| of theta is a relative error of that size in pi: the tolerance of
    what depends on pi grows with the largest |theta| so far.
    """
    size = np.maximum(1.0, np.maximum.accumulate(np.abs(want["theta"]).max(axis=1)))
    rewards = max(1.0, np.abs(bandit(experiment).means).max())

    def close(name: str, floor: np.ndarray | float) -> None:
        x, y = got[name], want[name]
        assert x.shape == y.shape, name
        column = (slice(None),) + (None,) * (y.ndim - 1)
        allowed = RTOL * size[column] * np.abs(y)
        allowed = allowed + np.broadcast_to(floor, size.shape)[column]
        worst = np.argmax(np.abs(x - y) - allowed)
        assert np.all(np.abs(x - y) <= allowed), (
            f"{name} at {np.unravel_index(worst, y.shape)}: "
            f"engine {x.flat[worst]!r}, oracle {y.flat[worst]!r}"
        )

    close("theta", RTOL * size)
    close("policy", 1e-300)
    close("value", RTOL * rewards)
    close("baseline", RTOL * rewards)
    close("entropy", 1e-13)
    close("regret", RTOL * rewards)
    close("distance", 1e-300)
    if isinstance(experiment.estimator, cm.Expected):
        np.testing.assert_array_equal(got["variance"], 0.0)
    else:
        close("variance", RTOL * size * second_moment(experiment, want))


def assert_equal_draws(experiment: cm.Experiment, got: Record, want: Record) -> None:
    np.testing.assert_array_equal(got["action"], want["action"])
    # The two normal quantiles may differ in the last place.
    rtol = RTOL if bandit(experiment).noise == "gaussian" else 0.0
    np.testing.assert_allclose(got["reward"], want["reward"], rtol=rtol, atol=0.0)


def check(experiment: cm.Experiment, **options: Any) -> None:
    """Teacher-forced equivalence of every run, and equal draws."""
    key, record = engine_record(experiment, **options)
    for run in range(len(record["theta"])):
        got = {name: array[run] for name, array in record.items()}
        for name, array in got.items():
            assert np.all(np.isfinite(array)), name
        if isinstance(experiment.estimator, cm.Expected):
            assert_equivalent(experiment, got, replayed(experiment, key, run, got))
        elif isinstance(experiment.policy, cm.Direct):
            want = restarted(experiment, key, run, got)
            assert_equivalent(experiment, got, want)
            assert_equal_draws(experiment, got, want)
        else:
            assert_equivalent(experiment, got, replayed(experiment, key, run, got))
            if run == 0:
                free = reference.simulate(experiment, key=key, run=run)
                assert_equal_draws(experiment, got, free)


# Combinations -------------------------------------------------------------------------------------

GEOMETRIES = ["natural", "vanilla", "sigmoid natural", "sigmoid vanilla", "projected", "direct"]
BASELINES: dict[str, Baseline] = {
    "0": cm.Constant(0.0),
    "-1": cm.Constant(-1.0),
    "value": cm.Value(),
    "b*": cm.MinVariance(),
    "b*+1/2": cm.MinVariance() + 0.5,
    "natural b*": cm.MinVariance("natural") - 0.25,
    "fixed lambda": cm.MinVariance("natural", lam=0.4),
    "negative lambda": cm.MinVariance("natural", lam=-1.5),
    "maximum": cm.Maximum(),
    "gap": cm.Gap(0.3),
    "relative": cm.MinVariance().relative(-0.5),
    "mean": cm.RunningMean(initial=0.5),
    "moving mean": cm.RunningMean(rate=0.2, initial=-0.5),
    "mixed": 0.5 * cm.Value() - 0.75 * cm.MinVariance("natural") + 0.3 * cm.RunningMean() + 0.1,
}
BEHAVIOURS = [
    "on-policy", "mixture", "mixture schedule", "no mixture", "greedy", "greedy schedule", "fixed",
]  # fmt: skip
NOISES = ["deterministic", "bernoulli", "gaussian", "uniform", "table"]
ARMS = [2, 3, 5, 20]
STEPS = [30, 45, 60]


def make_problem(noise: str, arms: int, rng: random.Random) -> cm.Bandit:
    means = [round(rng.uniform(0.05, 0.95), 3) for _ in range(arms)]
    means[rng.randrange(arms)] = 1.0
    if noise == "deterministic":
        return cm.Bandit(means)
    if noise == "bernoulli":
        return cm.Bandit(means, noise="bernoulli")
    if noise == "gaussian":
        return cm.Bandit(means, noise="gaussian", sigma=[0.1 + 0.05 * i for i in range(arms)])
    if noise == "uniform":
        return cm.Bandit(means, noise="uniform", half_width=[0.4 / (i + 1) for i in range(arms)])
    return cm.Bandit.from_table(
        [
            [(m - 0.5, 0.25), (m + 0.25, 0.5), (m, 0.25)] if i % 2 else [(m, 1.0)]
            for i, m in enumerate(means)
        ]
    )


def make_behaviour(name: str, arms: int) -> Behaviour:
    weights = np.arange(1.0, arms + 1.0)
    return {
        "on-policy": cm.OnPolicy(),
        "mixture": cm.UniformMixture(0.3),
        "mixture schedule": cm.UniformMixture(cm.Decay(0.8, 0.3)),
        "no mixture": cm.UniformMixture(0.0),
        "greedy": cm.EpsilonGreedy(0.4),
        "greedy schedule": cm.EpsilonGreedy(cm.Decay(0.9, 0.25, offset=2.0)),
        "fixed": cm.Fixed(weights / weights.sum()),
    }[name]


def make_experiment(
    geometry: str, baseline: Baseline, behaviour: str, noise: str, arms: int, rng: random.Random
) -> cm.Experiment:
    """One experiment; what is not an argument (samples, schedules, entropy, ...) is drawn."""
    if geometry.startswith("sigmoid"):
        arms = 2
    steps = rng.choice(STEPS)
    # Of the order of 1/K: natural steps are multiplied by 1/pi(a) and would leave the range in
    # which a comparison of trajectories, rather than of single steps, is well conditioned.
    size = 0.3 / arms if "natural" in geometry else 0.02 if geometry[0] in "pd" else 0.4
    sizes: list[float | Schedule] = [
        size, cm.Decay(2.0 * size, 0.6), cm.Values(np.linspace(size, 0.1 * size, max(STEPS))),
    ]  # fmt: skip
    temperatures: list[float | Schedule] = [0.0, 0.0, 0.15, cm.Decay(0.5, 0.5)]
    implicits: list[float | Schedule] = [0.0, 0.0, 0.05, cm.Decay(0.2, 0.5)]
    step_size, tau, implicit = map(rng.choice, (sizes, temperatures, implicits))
    policy: Policy
    update: Update
    if geometry in ("projected", "direct"):
        weights = np.array([rng.uniform(0.2, 1.0) for _ in range(arms)])
        policy = cm.Direct(weights / weights.sum()) if rng.random() < 0.7 else cm.Direct()
        update = cm.Projected(step_size) if geometry == "projected" else cm.Vanilla(step_size)
    else:
        kind = cm.Natural if "natural" in geometry else cm.Vanilla
        update = kind(step_size=step_size, entropy=tau)
        if geometry.startswith("sigmoid"):
            policy = cm.Sigmoid(rng.uniform(-2.0, 2.0))
        else:
            policy = cm.Softmax([rng.uniform(-1.0, 1.0) for _ in range(arms)])
    return cm.Experiment(
        problem=make_problem(noise, arms, rng),
        policy=policy,
        update=update,
        baseline=baseline,
        behaviour=make_behaviour(behaviour, arms),
        estimator=cm.OneSample(samples=rng.choice([1, 1, 2, 5]), implicit=implicit),
        steps=steps,
    )


def combinations() -> Iterator[Any]:
    """Every geometry x baseline x behaviour, then every geometry x noise x arms."""
    rng = random.Random(1)
    cases = [
        (geometry, baseline, behaviour, rng.choice(NOISES), rng.choice(ARMS))
        for geometry in GEOMETRIES
        for baseline in BASELINES
        for behaviour in BEHAVIOURS
    ] + [
        (geometry, rng.choice(list(BASELINES)), rng.choice(BEHAVIOURS), noise, arms)
        for geometry in GEOMETRIES
        for noise in NOISES
        for arms in ARMS
        if arms == 2 or not geometry.startswith("sigmoid")
    ]
    for number, (geometry, baseline, behaviour, noise, arms) in enumerate(cases):
        yield pytest.param(
            geometry, baseline, behaviour, noise, arms, number,
            id=f"{number}-{geometry}-{baseline}-{behaviour}-{noise}-{arms}",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("geometry", "baseline", "behaviour", "noise", "arms", "seed"), list(combinations())
)
def test_engine_replays(
    geometry: str, baseline: str, behaviour: str, noise: str, arms: int, seed: int
) -> None:
    rng = random.Random(seed)
    check(make_experiment(geometry, BASELINES[baseline], behaviour, noise, arms, rng))


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("baseline", ["-1", "value"])
def test_engine_takes_the_expected_step(geometry: str, arms: int, baseline: str) -> None:
    experiment = make_experiment(
        geometry, BASELINES[baseline], "on-policy", "bernoulli", arms, random.Random(arms)
    )
    check(experiment.replace(estimator=cm.Expected()), runs=1)


@pytest.mark.parametrize("isa", ["generic", "auto"])
@pytest.mark.parametrize(
    "baseline", [cm.Constant(-0.5), cm.Value() + 0.1, cm.MinVariance(), cm.MinVariance("natural")]
)
@pytest.mark.parametrize("policy", [cm.Softmax([0.0, 1.0, 2.0]), cm.Sigmoid(-1.0)])
def test_the_shortest_path_of_the_engine_replays(
    policy: Policy, baseline: Baseline, isa: str
) -> None:
    """On-policy, natural, one sample, deterministic rewards: the step with a kernel of its own."""
    means = [1.0, 0.7, 0.0][: 2 if isinstance(policy, cm.Sigmoid) else 3]
    check(
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
def test_many_arms_replay(arms: int, baseline: Baseline) -> None:
    """One arm of many moves at a time: sums over leaves instead of over all arms."""
    rng = np.random.default_rng(arms)
    check(
        cm.Experiment(
            cm.Bandit(rng.uniform(0.0, 1.0, arms), noise="bernoulli"),
            cm.Softmax(rng.normal(0.0, 1.0, arms)),
            cm.Natural(step_size=0.3 / arms),
            baseline=baseline,
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
    data = cm.run(experiment, runs=40, rng=2)
    theta = data["theta"].values
    shifted = np.exp(theta - theta.max(axis=-1, keepdims=True))
    pi = shifted / shifted.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(data["policy"].values, pi, rtol=1e-12, atol=1e-290)
    means = np.array(bandit(experiment).means)
    np.testing.assert_allclose(data["value"].values, pi @ means, rtol=1e-12)
    assert np.abs(theta).max() > 1e3


def test_a_running_mean_forgets_its_initial_value_entirely() -> None:
    check(
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
    update: Update, behaviour: Behaviour, lead: float, baseline: Baseline
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
    _, got = engine(experiment, "variance", runs=1)
    want = reference.gradient_variance(experiment, np.array([lead, 1.0, 0.0]))
    assert got["variance"][0, 0] == pytest.approx(want, rel=1e-10, abs=0.0)


# Far from the centre ------------------------------------------------------------------------------


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
    theta0: list[float], update: Update, behaviour: Behaviour, baseline: Baseline
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
    _, record = engine_record(experiment)
    means = np.array(bandit(experiment).means)
    for name, array in record.items():
        assert not np.any(np.isnan(array)), name
    for run, t in np.ndindex(RUNS, experiment.steps):
        got = {name: array[run, t] for name, array in record.items()}
        theta = got["theta"]
        pi = reference.softmax(theta)
        # eps |theta| is the relative error of pi, hence of 1/pi and of everything made of it.
        allowed = RTOL * max(1.0, np.abs(theta).max())
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
            record["theta"][run, t + 1], want, rtol=RTOL, atol=allowed * step
        )
