"""What leaves the numbers is an error that names the run and the update, on every path."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import committal as cm
from committal import _core

ISAS = _core.available()["isas"]


def natural(**changes: object) -> cm.Experiment:
    base = cm.Experiment(
        problem=cm.Bandit([1.0, 0.0]),
        policy=cm.Softmax([-4.9, -0.6]),
        update=cm.Natural(1.0, entropy=3.0),
        steps=2000,
        record=cm.Record("value", "policy", "theta", every=1),
    )
    return base.replace(**changes)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("threads", [1, 2])
def test_entropy_with_too_large_a_step(isa: str, threads: int) -> None:
    with pytest.raises(cm.DivergenceError, match=r"run 5 diverged: after \d+ updates") as found:
        cm.run(natural(), runs=1, rng=0, first_run=5, isa=isa, threads=threads)
    last = found.value.update - 1
    # Until just before, everything is a number, and from there on nothing is.
    before = cm.run(natural(steps=last), runs=1, rng=0, first_run=5, isa=isa)
    assert np.isfinite(before["theta"]).all()
    with pytest.raises(cm.DivergenceError):
        cm.run(natural(steps=last + 1), runs=1, rng=0, first_run=5, isa=isa)


def test_the_error_survives_a_process_border() -> None:
    error = pickle.loads(pickle.dumps(cm.DivergenceError(3, 9)))
    assert (error.run, error.update) == (3, 9)
    assert isinstance(error, ArithmeticError)


@pytest.mark.parametrize(
    "changes",
    [
        {"estimator": cm.Expected(), "record": cm.Record("value", "theta")},
        {"estimator": cm.OneSample(samples=3)},
        {"policy": cm.Sigmoid(-4.0)},
        {"record": cm.Record("value", reduce=cm.Reduce(below=0.5))},
        {"problem": cm.Bandit(np.linspace(0, 1, 70)), "policy": cm.Softmax()},
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_every_way_of_running(changes: dict[str, object]) -> None:
    with pytest.raises(cm.DivergenceError):
        cm.run(natural(**changes), runs=70, rng=0)


def test_runs_beyond_the_last_one_do_not_count() -> None:
    # The lanes that fill up a block are other runs: whether they diverge is nobody's business.
    noisy = natural(problem=cm.Bandit([1.0, 0.0], noise="gaussian", sigma=1e6))
    ends = []
    for run in range(20):
        with pytest.raises(cm.DivergenceError) as found:
            cm.run(noisy, runs=1, rng=0, first_run=run)
        assert found.value.run == run
        ends.append(found.value.update)
    late = next(run for run in range(19) if ends[run + 1] < ends[run])
    cm.run(noisy.replace(steps=ends[late] - 1), runs=1, rng=0, first_run=late)
    with pytest.raises(cm.DivergenceError, match=f"run {late + 1} "):
        cm.run(noisy.replace(steps=ends[late] - 1), runs=2, rng=0, first_run=late)


@pytest.mark.parametrize("estimator", [cm.ExactQ(), cm.Reinforce(), cm.Expected()])
def test_what_is_as_large_as_allowed_stays_finite(estimator: cm.config.Estimator) -> None:
    maze = cm.Experiment(
        problem=cm.gridworld("S..A", goals={"A": 1e50}, step_reward=-1e50),
        policy=cm.Softmax(),
        update=cm.Natural(1e50),
        estimator=estimator,
        steps=500,
        record=cm.Record("theta", every=100),
    )
    assert np.isfinite(cm.run(maze, runs=9, rng=0)["theta"]).all()
    bandit = natural(update=cm.Natural(1e50), baseline=1e50)
    assert np.isfinite(cm.run(bandit, runs=70, rng=0)["theta"]).all()


def test_a_study_names_the_run_too() -> None:
    study = cm.Study(natural(), {"update.entropy": [0.1, 3.0]}, runs=10, rng=0)
    with pytest.raises(cm.DivergenceError):
        study.run(progress=False)
