"""Results are a pure function of the experiment, the key and the run number.

Threads, chunks, the width of a block, the instruction set and the pieces in which runs are made
must not change a bit, neither per run nor reduced.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core
from committal.lowering import lower

SLIPPERY = cm.gridworld("S..#A\n...#.\n.....", goals={"A": 1.0}, slip=0.2, limit=23)


def maze(problem: cm.TabularMDP, estimator: Any, update: Any, **parts: Any) -> cm.Experiment:
    return cm.Experiment(problem, cm.Softmax(), update, estimator=estimator, steps=12, **parts)


BANDITS = {
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
MDPS = {
    "natural exact Q": maze(
        cm.maps.four_rooms(),
        cm.ExactQ(),
        cm.Natural(step_size=0.1),
        baseline=cm.MinVariance() - 0.5,
    ),
    "vanilla relative, stochastic, off-policy": maze(
        SLIPPERY,
        cm.ExactQ(),
        cm.Vanilla(step_size=0.5),
        baseline=cm.MinVariance().relative(2.0),
        behaviour=cm.UniformMixture(0.3),
    ),
    "iterative": maze(
        SLIPPERY,
        cm.ExactQ(solver="iterative", tolerance=1e-3),
        cm.Natural(step_size=0.1),
        baseline=cm.Value(),
    ),
    "reinforce": maze(
        SLIPPERY,
        cm.Reinforce(),
        cm.Vanilla(step_size=0.1),
        baseline=cm.RunningMean() - 0.5,
        behaviour=cm.EpsilonGreedy(0.5),
    ),
    "expected": maze(SLIPPERY, cm.Expected(), cm.Vanilla(step_size=1.0)),
}


@dataclass(frozen=True)
class Case:
    """An experiment that records everything, and how it is run."""

    experiment: cm.Experiment
    cuts: tuple[int, ...]  # pieces of runs; the last, their number, is a multiple of no block
    blocks: tuple[int, ...]
    drawn: str  # a quantity to look at alone

    @property
    def runs(self) -> int:
        return self.cuts[-1]

    def run(self, runs: int | None = None, **options: Any) -> Any:
        return cm.run(self.experiment, runs=runs or self.runs, rng=3, **options)


def bandit_case(experiment: cm.Experiment) -> Case:
    record = cm.Record(*cm.RECORDABLE, at=[0, 1, 17, 40])
    return Case(experiment.replace(record=record), (0, 1, 64, 130, 203), (16, 64), "value")


def mdp_case(experiment: cm.Experiment) -> Case:
    record = cm.Record(*cm.MDP_RECORDABLE, at=[0, 1, 7, 12])
    return Case(experiment.replace(record=record), (0, 3, 20, 29), (8, 16), "return")


CASES = {name: bandit_case(e) for name, e in BANDITS.items()}
CASES |= {f"MDP {name}": mdp_case(e) for name, e in MDPS.items()}


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(params=BANDITS, ids=lambda name: name.replace(" ", "-"))
def bandit(request: pytest.FixtureRequest) -> cm.Experiment:
    return BANDITS[request.param]


def same(a: Any, b: Any) -> None:
    assert set(a.data_vars) == set(b.data_vars)
    for name in a.data_vars:
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=str(name))


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk", [None, 1, 5, 64, 1000])
def test_threads_and_chunks(case: Case, threads: int, chunk: int | None) -> None:
    runs = min(case.runs, 40) if chunk == 1 else case.runs
    same(case.run(runs, threads=threads, chunk=chunk), case.run(runs, threads=1))


@pytest.mark.parametrize("isa", _core.available()["isas"])
def test_instruction_sets(case: Case, isa: str) -> None:
    same(case.run(isa=isa), case.run())


def test_there_is_more_than_one_instruction_set_to_compare() -> None:
    sets = _core.available()["isas"]
    assert sets[0] == "generic"
    if platform.machine() == "x86_64":
        assert len(sets) >= 2, "an x86-64 machine of the last ten years has AVX2"


def test_pieces_make_the_whole(case: Case) -> None:
    import xarray as xr

    pieces = [
        case.run(stop - start, first_run=start)
        for start, stop in zip(case.cuts, case.cuts[1:], strict=False)
    ]
    same(xr.concat(pieces, dim="run"), case.run())


def test_block_width(case: Case) -> None:
    plan = lower(case.experiment)
    mdp = isinstance(case.experiment.problem, cm.TabularMDP)
    simulator = (_core.MdpSimulator if mdp else _core.BanditSimulator)(**plan.core_arguments())

    def found(**options: int) -> np.ndarray:
        values = np.empty((case.runs, len(plan.times)))
        out = {case.drawn: values}
        _core.simulate(simulator, out, key=9, first_run=5, runs=case.runs, **options)
        return values

    for block in case.blocks:
        np.testing.assert_array_equal(found(block=block), found())


def test_a_recorder_does_not_shift_the_stream(case: Case) -> None:
    last = case.experiment.record.times(case.experiment.steps)[-1]
    record = cm.Record(case.drawn, at=[last])
    alone = cm.run(case.experiment.replace(record=record), runs=case.runs, rng=3)
    beside = case.run()
    np.testing.assert_array_equal(alone[case.drawn][:, 0], beside[case.drawn][:, -1])


# Reductions, of bandits ---------------------------------------------------------------------------

RUNS = 203


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk", [1, 64, 1000])
def test_reductions(bandit: cm.Experiment, threads: int, chunk: int) -> None:
    reduced = bandit.replace(
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


def test_reduced_means_are_those_of_the_runs(bandit: cm.Experiment) -> None:
    record = cm.Record("value", "regret", every=20)
    runs = cm.run(bandit.replace(record=record), runs=RUNS, rng=3)
    reduced = cm.run(bandit.replace(record=record.replace(reduce=cm.Reduce())), runs=RUNS, rng=3)
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


def test_common_random_numbers_and_opting_out() -> None:
    first = BANDITS["natural"].replace(record=cm.Record("action", at=[0]))
    second = first.replace(baseline=cm.Value())
    a, b = (cm.run(e, runs=RUNS, rng=3)["action"].values for e in (first, second))
    np.testing.assert_array_equal(a, b)  # same policy at time 0, same stream
    c = cm.run(second, runs=RUNS, rng=3, independent=True)["action"].values
    assert (b != c).any()


@pytest.mark.parametrize("isa", _core.available()["isas"])
def test_evaluation_has_the_same_bits(isa: str) -> None:
    from committal.exact.evaluation import _model

    model = _model(SLIPPERY)
    rng = np.random.default_rng(0)
    policies = rng.dirichlet(np.ones(4), size=(13, SLIPPERY.n_states))
    values = model.evaluate(policies, isa="generic")
    np.testing.assert_array_equal(model.evaluate(policies, isa=isa, threads=2), values)
    np.testing.assert_array_equal(model.evaluate(policies[5:6], isa=isa), values[5:6])
    start = SLIPPERY.start_distribution
    np.testing.assert_array_equal(
        model.state_distribution(policies, start, isa=isa),
        model.state_distribution(policies, start, isa="generic"),
    )
