"""MDP runs, too, are a pure function of the experiment, the key and the run number."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal import _core
from committal.lowering.bandit import lower

SLIPPERY = cm.gridworld("S..#A\n...#.\n.....", goals={"A": 1.0}, slip=0.2, limit=23)
ALL = (
    "return",
    "length",
    "goal",
    "action_entropy",
    "state_entropy",
    "value",
    "goal_probability",
    "policy",
    "theta",
    "visits",
)
EXPERIMENTS = {
    "natural exact Q": cm.Experiment(
        problem=cm.grids.four_rooms(),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(),
        baseline=cm.MinVariance() - 0.5,
        steps=12,
    ),
    "vanilla relative, stochastic, off-policy": cm.Experiment(
        problem=SLIPPERY,
        policy=cm.Softmax(),
        update=cm.Vanilla(step_size=0.5),
        estimator=cm.ExactQ(),
        baseline=cm.MinVariance().relative(2.0),
        behaviour=cm.UniformMixture(0.3),
        steps=12,
    ),
    "iterative": cm.Experiment(
        problem=SLIPPERY,
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(solver="iterative", tolerance=1e-3),
        baseline=cm.Value(),
        steps=12,
    ),
    "reinforce": cm.Experiment(
        problem=SLIPPERY,
        policy=cm.Softmax(),
        update=cm.Vanilla(step_size=0.1),
        estimator=cm.Reinforce(),
        baseline=cm.RunningMean() - 0.5,
        behaviour=cm.EpsilonGreedy(0.5),
        steps=12,
    ),
    "expected": cm.Experiment(
        problem=SLIPPERY,
        policy=cm.Softmax(),
        update=cm.Vanilla(step_size=1.0),
        estimator=cm.Expected(),
        steps=12,
    ),
}
RUNS = 29  # not a multiple of a block


@pytest.fixture(params=EXPERIMENTS, ids=lambda name: name.replace(" ", "-"))
def experiment(request: pytest.FixtureRequest) -> cm.Experiment:
    return EXPERIMENTS[request.param].replace(record=cm.Record(*ALL, at=[0, 1, 7, 12]))


def same(a: object, b: object) -> None:
    for name in a.data_vars:  # type: ignore[attr-defined]
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=str(name))  # type: ignore[index]


@pytest.mark.parametrize(
    "options", [{"threads": 2}, {"threads": 7}, {"chunk": 1}, {"chunk": 5, "threads": 2}]
)
def test_threads_and_chunks(experiment: cm.Experiment, options: dict[str, int]) -> None:
    expected = cm.run(experiment, runs=RUNS, rng=3, threads=1)
    same(cm.run(experiment, runs=RUNS, rng=3, **options), expected)


@pytest.mark.parametrize("isa", _core.available()["isas"])
def test_instruction_sets(experiment: cm.Experiment, isa: str) -> None:
    same(cm.run(experiment, runs=RUNS, rng=3, isa=isa), cm.run(experiment, runs=RUNS, rng=3))


def test_pieces_make_the_whole(experiment: cm.Experiment) -> None:
    import xarray as xr

    pieces = [
        cm.run(experiment, runs=stop - start, rng=3, first_run=start)
        for start, stop in [(0, 3), (3, 20), (20, RUNS)]
    ]
    same(xr.concat(pieces, dim="run"), cm.run(experiment, runs=RUNS, rng=3))


@pytest.mark.parametrize("block", [8, 16])
def test_block_width(experiment: cm.Experiment, block: int) -> None:
    plan = lower(experiment)
    simulator = _core.MdpSimulator(**plan.core_arguments())
    values = [np.empty((RUNS, len(plan.times))) for _ in range(2)]
    _core.simulate(simulator, {"return": values[0]}, key=9, first_run=5, runs=RUNS)
    _core.simulate(simulator, {"return": values[1]}, key=9, first_run=5, runs=RUNS, block=block)
    np.testing.assert_array_equal(values[0], values[1])


def test_a_recorder_changes_nothing(experiment: cm.Experiment) -> None:
    alone = cm.run(experiment.replace(record=cm.Record("return", at=[12])), runs=RUNS, rng=3)
    beside = cm.run(experiment, runs=RUNS, rng=3)
    np.testing.assert_array_equal(alone["return"].values[:, 0], beside["return"].values[:, -1])


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


def test_an_episode_that_never_ends_stops_at_its_limit() -> None:
    trap = cm.TabularMDP(
        P=np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]),
        R=np.ones((2, 2)),
        gamma=0.9,
        start=0,
        limit=17,
    )
    data = cm.run(
        cm.Experiment(
            problem=trap,
            policy=cm.Softmax(),
            update=cm.Natural(step_size=0.1),
            estimator=cm.ExactQ(),
            steps=3,
            record=cm.Record("return", "length", "goal"),
        ),
        runs=5,
        rng=0,
    )
    assert (data["length"].values == 17).all()
    assert (data["goal"].values == -1).all()
    np.testing.assert_allclose(data["return"].values, (1 - 0.9**17) / (1 - 0.9))
