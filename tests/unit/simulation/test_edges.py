"""The edges: extreme parameters, empty and huge runs, interruption, memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import committal as cm

EVERYTHING = tuple(name for name in cm.RECORDABLE if name not in ("action", "reward"))


def experiment(**parts: object) -> cm.Experiment:
    base = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        steps=50,
        record=cm.Record(*EVERYTHING, every=5),
    )
    return base.replace(**parts)


def assert_sane(data: object) -> None:
    for name, variable in data.data_vars.items():  # type: ignore[attr-defined]
        assert not np.isnan(variable.values).any(), name
    if "policy" in data:  # type: ignore[operator]
        policy = data["policy"].values  # type: ignore[index]
        np.testing.assert_allclose(policy.sum(axis=-1), 1.0, rtol=1e-12)
        assert (policy >= 0).all()


BASELINES = [
    cm.Constant(-1.0),
    cm.Value(),
    cm.MinVariance(),
    cm.MinVariance(metric="natural"),
    cm.MinVariance(metric="natural", lam=-0.5),
    cm.Maximum(),
    cm.Gap(),
    cm.RunningMean(),
]


@pytest.mark.parametrize("baseline", BASELINES, ids=repr)
@pytest.mark.parametrize("update", [cm.Natural(step_size=10.0), cm.Vanilla(step_size=100.0)])
@pytest.mark.parametrize("theta0", [(700, -700, 0), (0, 0, 700), (-1e6, 0, 1e6), (1e50,) * 3])
def test_extreme_parameters(
    baseline: cm.config.Baseline, update: cm.config.Update, theta0: tuple[float, ...]
) -> None:
    data = cm.run(
        experiment(baseline=baseline, update=update, policy=cm.Softmax(theta0)), runs=70, rng=1
    )
    assert_sane(data)


@pytest.mark.parametrize("arms", [1, 2, 4, 65, 10_000])
def test_numbers_of_arms(arms: int) -> None:
    means = np.linspace(0, 1, arms) if arms > 1 else np.array([0.5])
    for baseline in (cm.Value(), cm.MinVariance(), cm.MinVariance(metric="natural")):
        data = cm.run(
            experiment(problem=cm.Bandit(means), baseline=baseline, steps=20), runs=9, rng=0
        )
        assert_sane(data)
        assert data.sizes["arm"] == arms


@pytest.mark.parametrize("runs", [0, 1])
@pytest.mark.parametrize("steps", [0, 1])
def test_nothing_or_little_to_do(runs: int, steps: int) -> None:
    data = cm.run(experiment(steps=steps, record=cm.Record()), runs=runs, rng=0)
    assert data.sizes == {"run": runs, "time": 1, "arm": 3}
    assert data["value"].shape == (runs, 1)
    if runs and not steps:
        np.testing.assert_allclose(data["value"].values, (1.0 + 0.7) / 3)


def test_an_action_of_probability_zero_is_never_drawn() -> None:
    record = cm.Record("action", every=1)
    for parts in (
        {"policy": cm.Softmax([0.0, -1e4, 0.0])},
        {"policy": cm.Direct([0.5, 0.0, 0.5]), "update": cm.Vanilla(step_size=1e-9)},
    ):
        data = cm.run(
            experiment(record=record, steps=200, baseline=cm.Value(), **parts), runs=2000, rng=0
        )
        assert not (data["action"].values == 1).any()


def test_rare_actions_are_drawn_as_often_as_they_should() -> None:
    """pi = 1e-5: 64-bit draws, no rounding of small probabilities to 0."""
    rare = 1e-5
    theta = [np.log(rare / 2), np.log(1 - rare), np.log(rare / 2)]
    data = cm.run(
        experiment(
            policy=cm.Softmax(theta),
            update=cm.Natural(step_size=1e-30),
            steps=100,
            record=cm.Record("action", every=1),
        ),
        runs=100_000,
        rng=5,
    )
    drawn = np.isin(data["action"].values, (0, 2)).sum()
    expected = rare * data["action"].size
    assert abs(drawn - expected) < 5 * np.sqrt(expected)


@settings(max_examples=40, deadline=None)
@given(
    st.permutations(range(4)),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
    st.lists(st.floats(-2, 2), min_size=4, max_size=4),
)
def test_permuting_arms_permutes_the_expected_path(
    order: list[int], theta: list[float], means: list[float]
) -> None:
    base = experiment(
        problem=cm.Bandit(means),
        policy=cm.Softmax(theta),
        estimator=cm.Expected(),
        update=cm.Vanilla(step_size=0.3),
    )
    permuted = base.replace(
        problem=cm.Bandit([means[i] for i in order]),
        policy=cm.Softmax([theta[i] for i in order]),
    )
    a = cm.run(base, runs=1, rng=0)["policy"].values
    b = cm.run(permuted, runs=1, rng=0)["policy"].values
    np.testing.assert_allclose(a[..., order], b, rtol=1e-9, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.floats(-5, 5), st.floats(-2, 2), st.sampled_from(["natural", "vanilla"]))
def test_shifting_rewards_and_a_constant_baseline_changes_nothing(
    shift: float, b: float, geometry: str
) -> None:
    update = cm.Natural(step_size=0.1) if geometry == "natural" else cm.Vanilla(step_size=0.5)
    a, c = (
        cm.run(
            experiment(
                problem=cm.Bandit(np.array([1.0, 0.7, 0.0]) + s),
                baseline=cm.Constant(b + s),
                update=update,
                steps=15,
            ),
            runs=20,
            rng=0,
        )["policy"].values
        for s in (0.0, shift)
    )
    np.testing.assert_allclose(a, c, rtol=1e-6, atol=1e-9)


def test_too_much_to_hold_is_refused_before_it_is_tried() -> None:
    with pytest.raises(cm.ConfigError, match="runs"):
        cm.run(experiment(), runs=10**15, rng=0)
    with pytest.raises(cm.ConfigError, match="runs"):
        cm.run(experiment(steps=2**50, record=cm.Record()), runs=2**40, rng=0)


@pytest.mark.parametrize("runs", [-1, 1.5, "many", None, True])
def test_bad_numbers_of_runs(runs: object) -> None:
    with pytest.raises(cm.ConfigError, match="runs"):
        cm.run(experiment(), runs=runs, rng=0)  # type: ignore[arg-type]


def test_a_million_runs_reduced_stay_small() -> None:
    """10^6 runs reduced to means and failure counts: memory does not grow with the runs."""
    script = textwrap.dedent(
        """
        import re
        import committal as cm
        exp = cm.Experiment(
            problem=cm.Bandit([1.0, 0.7, 0.0]), policy=cm.Softmax([0, 3, 5]),
            update=cm.Natural(step_size=0.025), baseline=cm.Value(), steps=100,
            record=cm.Record("value", "policy", every=1, reduce=cm.Reduce(below=0.9)),
        )
        data = cm.run(exp, runs=1_000_000, rng=0)
        assert data.sizes["time"] == 101
        # The peak of this process; ru_maxrss would remember the parent's.
        print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
        """
    )
    if sys.platform != "linux":
        pytest.skip("/proc is for Linux only")
    outcome = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(outcome.stdout) < 300


def test_control_c_answers_within_a_quarter_second() -> None:
    script = textwrap.dedent(
        """
        import sys, time
        import committal as cm
        exp = cm.Experiment(
            problem=cm.Bandit([1.0, 0.7, 0.0]), policy=cm.Softmax(),
            update=cm.Natural(step_size=0.025), steps=10**7,
        )
        cm.run(exp.replace(steps=1), runs=1, rng=0)  # everything imported
        print("ready", flush=True)
        try:
            cm.run(exp, runs=10**5, rng=0)
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.5)
        sent = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        answered = float(process.stdout.readline())
    # The clock is the system's, shared between processes; a loaded machine gets some slack.
    assert answered - sent < 0.25 + 0.25 * (os.getloadavg()[0] > 2)


BANDIT = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=1)
MAZE = BANDIT.replace(problem=cm.gridworld("SA", goals={"A": 1}), estimator=cm.ExactQ())


@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("OneSample.samples", BANDIT.replace(estimator=cm.OneSample(2**31 - 1), steps=1)),
        ("limit", MAZE.replace(problem=cm.gridworld("SA", goals={"A": 1}, limit=2**31 - 1))),
    ],
)
def test_work_that_does_not_fit_into_memory(name: str, experiment: cm.Experiment) -> None:
    with pytest.raises(cm.ConfigError, match=rf"^{name} = 2147483647 .* fits into memory: a block"):
        cm.run(experiment, runs=1, rng=0)
