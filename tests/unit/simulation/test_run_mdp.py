"""Running MDP experiments: dimensions, reductions, invariances, limits, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import committal as cm
from committal import _core

EVERYTHING = cm.MDP_RECORDABLE


def experiment(**changes: Any) -> cm.Experiment:
    parts: dict[str, Any] = {
        "problem": cm.gridworld("S..A\n.#.B", goals={"A": 1.0, "B": 0.5}, slip=0.1, limit=30),
        "policy": cm.Softmax(),
        "update": cm.Natural(0.1),
        "baseline": cm.MinVariance() - 0.5,
        "estimator": cm.ExactQ(),
        "steps": 40,
        "record": cm.Record(*EVERYTHING, every=8),
    }
    return cm.Experiment(**(parts | changes))


def named() -> cm.TabularMDP:
    records = [(0, 0, 0, 1, 0), (0, 1, 1, 1, 0), (1, 0, 1, 1, 0), (1, 1, 2, 1, 1)]
    return cm.TabularMDP(
        records, gamma=0.9, start=0, terminal=[2], limit=5,
        states=["hall", "door", "out"], actions=["stay", "go"],
    )  # fmt: skip


# -- what comes back -------------------------------------------------------------------------------


def test_dimensions_and_coordinates() -> None:
    data = cm.run(experiment(), runs=5, rng=0)
    assert dict(data.sizes) == {"run": 5, "time": 6, "state": 7, "action": 4, "terminal": 2}
    for name in ("return", "length", "goal", "action_entropy", "state_entropy", "value"):
        assert data[name].dims == ("run", "time"), name
    assert data["goal_probability"].dims == ("run", "time", "terminal")
    assert data["policy"].dims == data["theta"].dims == ("run", "time", "state", "action")
    assert data["visits"].dims == ("run", "time", "state")
    assert data["terminal"].values.tolist() == ["A", "B"]
    assert data["action"].values.tolist() == ["up", "right", "down", "left"]
    assert data["row"].values.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert data["column"].values.tolist() == [0, 1, 2, 3, 0, 2, 3]
    assert data["length"].dtype == data["goal"].dtype == np.int32
    assert data["visits"].dtype == np.int64
    assert cm.experiment_of(data) == experiment()


def test_states_have_their_names() -> None:
    data = cm.run(experiment(problem=named()), runs=2, rng=0)
    assert data["state"].values.tolist() == ["hall", "door", "out"]
    assert data["terminal"].values.tolist() == ["out"]
    assert "row" not in data.coords
    plain = cm.run(experiment(problem=named().replace(states=None)), runs=2, rng=0)
    assert plain["state"].values.tolist() == [0, 1, 2]


def test_results_survive_a_file(tmp_path: Any) -> None:
    data = cm.run(experiment(), runs=3, rng=0)
    data.to_netcdf(tmp_path / "data.nc")
    with xr.open_dataset(tmp_path / "data.nc") as back:
        xr.testing.assert_equal(back, data)
        assert cm.experiment_of(back) == experiment()


def test_by_default_the_last_return_and_value() -> None:
    data = cm.run(experiment(record=cm.Record()), runs=4, rng=0)
    assert set(data.data_vars) == {"return", "value"}
    assert data["time"].values.tolist() == [40]
    assert cm.failure_rate(data, below=0.1).runs == 4


def test_quantities_are_consistent() -> None:
    data = cm.run(experiment(record=cm.Record(*EVERYTHING, every=1)), runs=20, rng=3)
    grid = experiment().problem
    assert isinstance(grid, cm.Gridworld)
    assert (data["length"] >= 1).all()
    assert (data["length"] <= grid.limit).all()
    cut = data["goal"] == -1
    assert (data["length"].where(cut, grid.limit) == grid.limit).all()
    assert (data["return"].where(cut, 0.0) == 0.0).all()
    for index, reward in enumerate((1.0, 0.5)):
        reached = data["goal"] == index
        want = reward * grid.gamma ** data["length"]
        np.testing.assert_allclose(
            data["return"].where(reached, 0.0), want.where(reached, 0.0), rtol=1e-12
        )
    # Every step acts in one state, and none in a goal.
    np.testing.assert_array_equal(
        data["visits"].sum("state"), data["length"].cumsum("time").transpose("run", "time")
    )
    assert not data["visits"].isel(state=list(grid.terminal)).any()
    exact = cm.evaluate(grid, data["policy"].to_numpy())
    np.testing.assert_allclose(data["value"], exact.value, rtol=1e-12)
    np.testing.assert_allclose(data["goal_probability"], exact.goal_probability, rtol=1e-12)


# -- reductions ------------------------------------------------------------------------------------


def test_reductions_are_those_of_the_runs() -> None:
    exp = experiment()
    runs = cm.run(exp, runs=50, rng=1)
    reduce = cm.Reduce(below=0.5)
    data = cm.run(
        exp.replace(record=cm.Record(*EVERYTHING, every=8, reduce=reduce)), runs=50, rng=1
    )
    for name in EVERYTHING:
        if name == "goal":
            assert "goal_mean" not in data
            continue
        column = runs[name].astype(float)
        for suffix, want in (
            ("mean", column.mean("run")),
            ("std", column.std("run", ddof=1)),
            ("sem", column.std("run", ddof=1) / np.sqrt(50)),
        ):
            got = data[f"{name}_{suffix}"]
            assert got.dims == want.dims, name
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12, err_msg=f"{name}_{suffix}")
    assert data["outcome"].values.tolist() == ["A", "B", "none"]
    for index, outcome in enumerate(("A", "B")):
        want = (runs["goal"] == index).mean("run")
        np.testing.assert_array_equal(data["goal_fraction"].sel(outcome=outcome), want)
    np.testing.assert_allclose(data["goal_fraction"].sum("outcome"), 1.0)
    np.testing.assert_array_equal(data["failures"], (runs["value"] < 0.5).sum("run"))


def test_goals_reduce_alone_and_with_quantiles_of_others() -> None:
    alone = cm.Record("goal", every=8, reduce=cm.Reduce())
    fractions = cm.run(experiment(record=alone), runs=30, rng=1)["goal_fraction"]
    names = ("return", "length", "goal", "action_entropy", "state_entropy", "goal_probability")
    record = cm.Record(*names, every=8, reduce=cm.Reduce(quantiles=[0.5], bins=4096))
    data = cm.run(experiment(record=record), runs=30, rng=1)
    np.testing.assert_array_equal(data["goal_fraction"], fractions)
    assert "goal_histogram" not in data
    runs = cm.run(experiment(), runs=30, rng=1)
    for name in names:
        if name == "goal":
            continue
        got = data[f"{name}_quantile"].isel(quantile=0)
        # A quantile of a few runs is only known to lie between two of them.
        low, high = (runs[name].quantile(q, "run") for q in (0.44, 0.56))
        width = data[f"{name}_quantile"].attrs["hi"] - data[f"{name}_quantile"].attrs["lo"]
        assert (got >= low - 2 * width / 4096).all(), name
        assert (got <= high + 2 * width / 4096).all(), name


def test_without_runs_nothing_is_known() -> None:
    assert dict(cm.run(experiment(), runs=0, rng=0).sizes)["run"] == 0
    record = cm.Record("return", "goal", reduce=cm.Reduce())
    data = cm.run(experiment(record=record), runs=0, rng=0)
    assert np.isnan(data["goal_fraction"]).all()
    assert np.isnan(data["return_mean"]).all()


# -- invariances -----------------------------------------------------------------------------------

ISAS = _core.available()["isas"]


@pytest.mark.parametrize(
    "estimator", [cm.ExactQ(), cm.ExactQ("iterative"), cm.Reinforce(), cm.Expected()], ids=str
)
@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.EpsilonGreedy(0.2)], ids=str)
def test_threads_chunks_and_instructions_change_nothing(estimator: Any, behaviour: Any) -> None:
    baseline = 0.25 if isinstance(estimator, cm.Reinforce) else cm.MinVariance() + 0.25
    exp = experiment(estimator=estimator, baseline=baseline, behaviour=behaviour)
    whole = cm.run(exp, runs=37, rng=2, threads=1)
    others = [
        cm.run(exp, runs=37, rng=2, threads=3, chunk=5),
        xr.concat(
            [cm.run(exp, runs=n, first_run=i, rng=2) for i, n in ((0, 11), (11, 26))],
            "run", data_vars="all",
        ),
        *(cm.run(exp, runs=37, rng=2, isa=isa) for isa in ISAS),
    ]  # fmt: skip
    for other in others:
        for name in EVERYTHING:
            np.testing.assert_array_equal(other[name], whole[name], err_msg=name)


def test_reductions_are_bit_identical_too() -> None:
    record = cm.Record("return", "goal", "policy", every=8, reduce=cm.Reduce(below=0.5))
    exp = experiment(record=record)
    whole = cm.run(exp, runs=100, rng=2, threads=1)
    for options in ({"threads": 2}, {"chunk": 7}, {"isa": "generic"}):
        xr.testing.assert_identical(cm.run(exp, runs=100, rng=2, **options), whole)


def test_what_is_recorded_does_not_change_the_runs() -> None:
    data = cm.run(experiment(), runs=9, rng=4)
    for name in EVERYTHING:
        alone = cm.run(experiment(record=cm.Record(name, every=8)), runs=9, rng=4)
        np.testing.assert_array_equal(alone[name], data[name], err_msg=name)


def test_seeds_are_shared_unless_told_otherwise() -> None:
    # Different baselines meet the same first episode, from the same uniform policy.
    first, second = (
        cm.run(experiment(baseline=b), runs=20, rng=5)["return"] for b in (0.0, cm.Value())
    )
    np.testing.assert_array_equal(first[:, 0], second[:, 0])
    own = cm.run(experiment(baseline=0.0), runs=20, rng=5, independent=True)["return"]
    assert not np.array_equal(own[:, 0], first[:, 0])


# -- limits ----------------------------------------------------------------------------------------


def test_an_episode_that_never_ends_stops_at_its_limit() -> None:
    endless = cm.gridworld("S..\n...", goals={}, step_reward=1.0, gamma=0.5, limit=12)
    data = cm.run(experiment(problem=endless), runs=5, rng=0)
    assert (data["length"] == 12).all()
    assert (data["goal"] == -1).all()
    assert data["goal_probability"].shape == (5, 6, 0)
    np.testing.assert_allclose(data["return"], 2.0 * (1 - 0.5**12))
    np.testing.assert_allclose(data["value"], 2.0)
    record = cm.Record("goal", "goal_probability", "return", reduce=cm.Reduce())
    reduced = cm.run(experiment(problem=endless, record=record), runs=5, rng=0)
    assert reduced["goal_fraction"].values.tolist() == [[1.0]]


def test_a_limit_of_one_step() -> None:
    data = cm.run(experiment(problem=named().replace(limit=1)), runs=5, rng=0)
    assert (data["length"] == 1).all()


def test_no_updates_at_all() -> None:
    data = cm.run(experiment(steps=0), runs=5, rng=0)
    assert data["time"].values.tolist() == [0]
    assert (data["theta"] == 0.0).all()
    assert (data["visits"].sum("state") == data["length"]).all()


def test_too_much_is_refused_before_it_is_tried() -> None:
    with pytest.raises(cm.ConfigError, match=r"runs = .*fit into memory"):
        cm.run(experiment(), runs=10**12, rng=0)
    with pytest.raises(cm.ConfigError, match=r"runs = .*2\*\*63"):
        cm.run(experiment(steps=2**50, record=cm.Record()), runs=2**40, rng=0)


def test_progress_counts_episodes_and_can_cancel() -> None:
    seen: list[tuple[int, int]] = []
    exp = experiment(problem=cm.maps.four_rooms(), steps=400, record=cm.Record())
    cm.run(exp, runs=400, rng=0, threads=1, progress=lambda done, total: seen.append((done, total)))
    assert all(total == 400 * 400 for _, total in seen)
    assert sorted(seen) == seen

    def cancel(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cm.run(exp.replace(steps=100_000), runs=400, rng=0, progress=cancel)


# -- learning --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("update", "estimator", "baseline"),
    [
        (cm.Natural(0.1), cm.ExactQ(), cm.MinVariance()),
        (cm.Vanilla(0.5), cm.ExactQ(), cm.Value()),
        (cm.Vanilla(0.5), cm.Reinforce(), cm.RunningMean()),
        (cm.Natural(1.0), cm.Expected(), 0.0),
        (cm.Vanilla(5.0), cm.Expected(), 0.0),
    ],
    ids=lambda part: type(part).__name__,
)
def test_everybody_learns(update: Any, estimator: Any, baseline: Any) -> None:
    exp = experiment(
        update=update, estimator=estimator, baseline=baseline, steps=500,
        record=cm.Record("value", at=[0, 500]),
    )  # fmt: skip
    value = cm.run(exp, runs=20, rng=0)["value"].mean("run").to_numpy()
    best = float(cm.optimal(exp.problem).value)  # type: ignore[arg-type]
    assert value[0] < 0.75 * best
    assert value[1] > 0.9 * best


def test_the_expected_update_never_descends() -> None:
    exp = experiment(
        update=cm.Natural(0.5), estimator=cm.Expected(), baseline=0.0,
        record=cm.Record("value", every=1),
    )  # fmt: skip
    value = cm.run(exp, runs=1, rng=0)["value"].to_numpy()[0]
    assert (np.diff(value) > 0.0).all()
