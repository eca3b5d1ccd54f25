"""The MDP engine replayed by the oracle: the same streams give the same episodes and updates."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.config import Baseline, Behaviour, Estimator, Update

RUNS = 2
STEPS = 30
RTOL = 1e-9
EXACTLY = ("length", "goal", "visits")


def check(
    experiment: cm.Experiment, runs: int = RUNS, rtol: float = RTOL, **options: Any
) -> dict[str, np.ndarray]:
    """Every quantity of every episode of every run; returns what the engine recorded."""
    everything = experiment.replace(record=cm.Record(*cm.MDP_RECORDABLE, every=1))
    data = cm.run(everything, runs=runs, rng=20080, **options)
    key = int(data.attrs["key"], 16)
    for run in range(runs):
        want = reference.simulate(everything, key=key, run=options.get("first_run", 0) + run)
        assert set(want) == set(cm.MDP_RECORDABLE)
        for name, column in want.items():
            got = data[name].to_numpy()[run]
            assert got.shape == column.shape, name
            if name in EXACTLY:
                np.testing.assert_array_equal(got, column, err_msg=name)
            else:
                scale = max(1.0, np.abs(column).max(initial=0.0))
                np.testing.assert_allclose(got, column, rtol=rtol, atol=rtol * scale, err_msg=name)
    return {name: data[name].to_numpy() for name in cm.MDP_RECORDABLE}


EXACT: dict[str, Baseline] = {
    "0": cm.Constant(0.0),
    "value": cm.Value() + 0.25,
    "b*-1/2": cm.MinVariance() - 0.5,
    "b*nat": cm.MinVariance("natural"),
    "b*nat,lam": cm.MinVariance("natural", 0.3),
    "relative": cm.MinVariance().relative(-2.0),
    "mixed": 0.5 * cm.Maximum() + 0.25 * cm.Value() - 1.0,
}
RETURNS: dict[str, Baseline] = {
    "-1": cm.Constant(-1.0),
    "mean": cm.RunningMean(initial=5.0),
    "moving": 0.5 * cm.RunningMean(0.1, initial=1.0) + 0.1,
}
ESTIMATORS: list[tuple[str, Estimator, str, Baseline]] = [
    *(("q", cm.ExactQ(), name, b) for name, b in EXACT.items()),
    ("q discounted", cm.ExactQ(discounted=True), "value", cm.Value()),
    *(("reinforce", cm.Reinforce(), name, b) for name, b in RETURNS.items()),
    ("expected", cm.Expected(), "0", cm.Constant(0.0)),
]
UPDATES: dict[str, Update] = {
    "natural": cm.Natural(0.05),
    "vanilla": cm.Vanilla(cm.Decay(0.5, 0.5)),
}
BEHAVIOURS: dict[str, Behaviour] = {
    "on-policy": cm.OnPolicy(),
    "mixture": cm.UniformMixture(cm.Decay(0.5, 0.25)),
    "greedy": cm.EpsilonGreedy(0.4),
    "fixed": cm.Fixed([0.2, 0.3, 0.5]),
}
CASES = [
    pytest.param(estimator, baseline, update, behaviour, id="-".join((first, b, u, m)))
    for (first, estimator, b, baseline), (u, update), (m, behaviour) in itertools.product(
        ESTIMATORS, UPDATES.items(), BEHAVIOURS.items()
    )
]


@pytest.mark.parametrize(("estimator", "baseline", "update", "behaviour"), CASES)
def test_engine_replays(
    estimator: Estimator, baseline: Baseline, update: Update, behaviour: Behaviour, make_mdp: Any
) -> None:
    seed = zlib.crc32(repr((estimator, baseline, update, behaviour)).encode())
    rng = np.random.default_rng(seed)
    mdp = make_mdp(rng)
    theta0 = rng.normal(size=(mdp.n_states, mdp.n_actions))
    check(
        cm.Experiment(mdp, cm.Softmax(theta0), update, baseline, behaviour, estimator, steps=STEPS)
    )


@pytest.mark.parametrize("isa", ["generic", "auto"])
@pytest.mark.parametrize("estimator", [cm.ExactQ(), cm.Reinforce()])
def test_the_papers_rooms_replay(estimator: Estimator, isa: str) -> None:
    """Four actions and deterministic moves: the shape that the kernels are specialised for."""
    exact = isinstance(estimator, cm.ExactQ)
    experiment = cm.Experiment(
        cm.maps.four_rooms(),
        cm.Softmax(),
        cm.Natural(0.1) if exact else cm.Vanilla(0.1),
        cm.MinVariance() + 0.5 if exact else 0.5,
        estimator=estimator,
        steps=25,
    )
    check(experiment, isa=isa)


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_gridworlds_replay(slip: float) -> None:
    grid = cm.gridworld(
        """
        S..#A
        .#..S
        B....
        """,
        goals={"A": 1.0, "B": -0.5},
        slip=slip,
        step_reward=-0.01,
        limit=30,
    )
    check(
        cm.Experiment(
            grid, cm.Softmax([0.1, 0.2, 0.3, 0.0]), cm.Natural(0.05), cm.MinVariance() - 0.5,
            estimator=cm.ExactQ(), steps=STEPS,
        )
    )  # fmt: skip


@pytest.mark.parametrize(("states", "actions", "terminals"), [(2, 1, 1), (3, 2, 0), (12, 7, 5)])
@pytest.mark.parametrize("estimator", [cm.ExactQ(), cm.Reinforce()])
def test_other_sizes_replay(
    states: int, actions: int, terminals: int, estimator: Estimator, make_mdp: Any
) -> None:
    rng = np.random.default_rng(states)
    mdp = make_mdp(rng, states=states, actions=actions, terminals=terminals, limit=9)
    got = check(
        cm.Experiment(mdp, cm.Softmax(), cm.Vanilla(0.2), 0.1, estimator=estimator, steps=STEPS)
    )
    assert got["goal"].max() < max(terminals, 1)
    if terminals == 0:
        assert (got["goal"] == -1).all()
        assert (got["length"] == 9).all()


@pytest.mark.parametrize("first", [2**32 - 1, 2**40 + 5])
def test_runs_of_any_number_replay(first: int, make_mdp: Any) -> None:
    """The first two runs lie on both sides of 2^32."""
    e = cm.Experiment(
        make_mdp(np.random.default_rng(0)), cm.Softmax(), cm.Vanilla(0.5),
        estimator=cm.Reinforce(), steps=STEPS,
    )  # fmt: skip
    check(e, first_run=first)


@pytest.mark.parametrize("update", UPDATES.values(), ids=list(UPDATES))
def test_the_iterative_solver_replays_when_it_is_exact(update: Update, make_mdp: Any) -> None:
    mdp = make_mdp(np.random.default_rng(3))
    estimator = cm.ExactQ("iterative", tolerance=1e-13)
    check(
        cm.Experiment(mdp, cm.Softmax(), update, cm.MinVariance(), estimator=estimator, steps=STEPS)
    )


def test_the_iterative_solver_is_as_good_as_its_tolerance() -> None:
    """The first step differs from the exact one by what the tolerance allows, and is not equal."""
    rooms, tolerance, alpha = cm.maps.four_rooms(), 1e-3, 0.1
    exact = cm.Experiment(
        rooms, cm.Softmax(), cm.Natural(alpha), cm.Constant(0.0), estimator=cm.ExactQ(), steps=1,
        record=cm.Record("theta", "visits"),
    )  # fmt: skip
    swept = exact.replace(estimator=cm.ExactQ("iterative", tolerance))
    a, b = (cm.run(e, runs=8, rng=0) for e in (exact, swept))
    error = np.abs(a["theta"].to_numpy() - b["theta"].to_numpy()).max(axis=-1)
    # theta moves by alpha Q / pi at each of the visits, and pi is 1/4; the last episode is not
    # applied, but counts as visits.
    bound = alpha * 4 * tolerance * rooms.gamma / (1.0 - rooms.gamma) * b["visits"].to_numpy()
    assert error.max() > 0.0
    assert (error <= bound + 1e-12).all()


def test_the_recorded_value_is_exact_whatever_the_solver() -> None:
    rooms = cm.maps.four_rooms()
    experiment = cm.Experiment(
        rooms, cm.Softmax(), cm.Natural(0.1), cm.MinVariance(),
        estimator=cm.ExactQ("iterative", 1e-3), steps=100,
        record=cm.Record("value", "policy", every=50),
    )  # fmt: skip
    data = cm.run(experiment, runs=8, rng=0)
    exact = cm.evaluate(rooms, data["policy"].to_numpy()).value
    np.testing.assert_allclose(data["value"].to_numpy(), exact, rtol=1e-12)


@pytest.mark.parametrize("update", [cm.Natural(0.5), cm.Vanilla(20.0)])
@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.UniformMixture(0.1)])
def test_far_from_the_centre_nothing_breaks(update: Update, behaviour: Behaviour) -> None:
    """Rare actions throw theta far away and policies underflow; no number is lost."""
    experiment = cm.Experiment(
        cm.maps.five_by_five(),
        cm.Softmax([0.0, 30.0, -700.0, 5.0]),
        update,
        cm.MinVariance() + 0.3,
        behaviour,
        cm.ExactQ(),
        steps=200,
        record=cm.Record(*cm.MDP_RECORDABLE, every=10),
    )
    data = cm.run(experiment, runs=16, rng=1)
    for name in cm.MDP_RECORDABLE:
        assert np.isfinite(data[name].to_numpy()).all(), name
    np.testing.assert_allclose(data["policy"].to_numpy().sum(-1), 1.0, rtol=1e-12)


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
