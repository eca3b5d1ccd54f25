"""Results are a pure function of the experiment, the key and the run number.

Threads, chunks, the width of a block, the instruction set and the pieces in which runs are made
must not change a bit, neither per run nor reduced.
"""

from __future__ import annotations

import platform
from fractions import Fraction

import numpy as np
import pytest

import committal as cm
from committal import _core
from committal.lowering.bandit import lower

ALL = ("value", "policy", "theta", "baseline", "entropy", "action", "reward", "regret", "variance")

EXPERIMENTS = {
    "natural": cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax([0, 3, 5]),
        update=cm.Natural(step_size=0.05),
        baseline=cm.MinVariance() - 0.5,
        steps=90,
    ),
    "vanilla off-policy gaussian": cm.Experiment(
        problem=cm.Bandit([1.0, 0.5, 0.2, 0.0], noise="gaussian", sigma=0.3),
        policy=cm.Softmax([0, 1, 0, 0]),
        update=cm.Vanilla(step_size=0.4, entropy=0.01),
        baseline=0.5 * cm.Value() + 0.1,
        behaviour=cm.UniformMixture(cm.Decay(0.5, 0.25)),
        estimator=cm.OneSample(samples=3),
        steps=40,
    ),
    "greedy natural metric, 17 arms": cm.Experiment(
        problem=cm.Bandit(np.linspace(0, 1, 17), noise="bernoulli"),
        policy=cm.Softmax(np.zeros(17)),
        update=cm.Natural(step_size=0.05),
        baseline=cm.MinVariance(metric="natural") + 0.25 * cm.RunningMean(),
        behaviour=cm.EpsilonGreedy(0.3),
        steps=40,
    ),
    "130 arms": cm.Experiment(
        problem=cm.Bandit(np.linspace(0, 1, 130)),
        policy=cm.Softmax(np.linspace(3, 0, 130)),
        update=cm.Natural(step_size=0.01),
        baseline=cm.Value() - 0.1,
        steps=40,
    ),
    "direct": cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0], noise="uniform", half_width=0.2),
        policy=cm.Direct(),
        update=cm.Vanilla(step_size=0.1),
        steps=60,
    ),
    "sigmoid table": cm.Experiment(
        problem=cm.Bandit.from_table([[(0.0, 0.3), (2.0, 0.7)], [(0.5, 1.0)]]),
        policy=cm.Sigmoid(-1.0),
        update=cm.Natural(step_size=0.1),
        baseline=cm.Constant(-0.5),
        steps=60,
    ),
}
RUNS = 203  # not a multiple of any block


@pytest.fixture(params=EXPERIMENTS, ids=lambda name: name.replace(" ", "-"))
def experiment(request: pytest.FixtureRequest) -> cm.Experiment:
    return EXPERIMENTS[request.param].replace(record=cm.Record(*ALL, at=[0, 1, 17, 40]))


def same(a: object, b: object) -> None:
    assert set(a.data_vars) == set(b.data_vars)  # type: ignore[attr-defined]
    for name in a.data_vars:  # type: ignore[attr-defined]
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=str(name))  # type: ignore[index]


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk", [1, 64, 1000])
def test_threads_and_chunks(experiment: cm.Experiment, threads: int, chunk: int) -> None:
    runs = 40 if chunk == 1 else RUNS
    expected = cm.run(experiment, runs=runs, rng=3, threads=1)
    same(cm.run(experiment, runs=runs, rng=3, threads=threads, chunk=chunk), expected)


@pytest.mark.parametrize("isa", _core.available()["isas"])
def test_instruction_sets(experiment: cm.Experiment, isa: str) -> None:
    same(cm.run(experiment, runs=RUNS, rng=3, isa=isa), cm.run(experiment, runs=RUNS, rng=3))


def test_there_is_more_than_one_instruction_set_to_compare() -> None:
    sets = _core.available()["isas"]
    assert sets[0] == "generic"
    if platform.machine() == "x86_64":
        assert len(sets) >= 2, "an x86-64 machine of the last ten years has AVX2"


def test_pieces_make_the_whole(experiment: cm.Experiment) -> None:
    import xarray as xr

    whole = cm.run(experiment, runs=RUNS, rng=3)
    pieces = [
        cm.run(experiment, runs=stop - start, rng=3, first_run=start)
        for start, stop in [(0, 1), (1, 64), (64, 130), (130, RUNS)]
    ]
    same(xr.concat(pieces, dim="run"), whole)


@pytest.mark.parametrize("block", [16, 64])
def test_block_width(experiment: cm.Experiment, block: int) -> None:
    plan = lower(experiment)
    simulator = _core.BanditSimulator(**plan.core_arguments())
    values = [np.empty((RUNS, len(plan.times))) for _ in range(2)]
    _core.simulate(simulator, {"value": values[0]}, key=9, first_run=5, runs=RUNS)
    _core.simulate(simulator, {"value": values[1]}, key=9, first_run=5, runs=RUNS, block=block)
    np.testing.assert_array_equal(values[0], values[1])


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk", [1, 64, 1000])
def test_reductions(experiment: cm.Experiment, threads: int, chunk: int) -> None:
    reduced = experiment.replace(
        record=cm.Record(
            "value",
            "policy",
            "regret",
            every=20,
            reduce=cm.Reduce(below=0.9, bins=50, range={"regret": (0.0, 100.0)}),
        )
    )
    runs = 30 if chunk == 1 else RUNS
    expected = cm.run(reduced, runs=runs, rng=3, threads=1)
    same(cm.run(reduced, runs=runs, rng=3, threads=threads, chunk=chunk), expected)


def test_reduced_means_are_those_of_the_runs(experiment: cm.Experiment) -> None:
    record = cm.Record("value", "regret", every=20)
    runs = cm.run(experiment.replace(record=record), runs=RUNS, rng=3)
    reduced = cm.run(
        experiment.replace(record=record.replace(reduce=cm.Reduce())), runs=RUNS, rng=3
    )
    for name in ("value", "regret"):
        for i in range(len(runs.time)):
            column = runs[name].values[:, i]
            exact = sum(map(Fraction, column)) / RUNS
            assert reduced[f"{name}_mean"].values[i] == float(exact)  # correctly rounded
            np.testing.assert_allclose(
                reduced[f"{name}_sem"].values[i],
                column.std(ddof=1) / np.sqrt(RUNS),
                rtol=1e-9,
                atol=1e-15,
            )


def test_a_recorder_does_not_shift_the_stream(experiment: cm.Experiment) -> None:
    alone = cm.run(experiment.replace(record=cm.Record("value", at=[40])), runs=RUNS, rng=3)
    beside = cm.run(experiment, runs=RUNS, rng=3)
    np.testing.assert_array_equal(alone["value"].values[:, 0], beside["value"].values[:, -1])


def test_common_random_numbers_and_opting_out() -> None:
    first = EXPERIMENTS["natural"].replace(record=cm.Record("action", at=[0]))
    second = first.replace(baseline=cm.Value())
    a, b = (cm.run(e, runs=RUNS, rng=3)["action"].values for e in (first, second))
    np.testing.assert_array_equal(a, b)  # same policy at time 0, same stream
    c = cm.run(second, runs=RUNS, rng=3, independent=True)["action"].values
    assert (b != c).any()
