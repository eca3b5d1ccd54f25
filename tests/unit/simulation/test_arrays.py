"""Results from elsewhere: every analysis and plot takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import committal as cm
from committal.errors import ConfigError

mpl.use("Agg")

EXP = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0], names=["best", "good", "bad"]), cm.Softmax([0, 3, 5]),
    cm.Natural(0.05), steps=40, record=cm.Record("value", "policy", "theta", every=4),
)  # fmt: skip
OURS = cm.run(EXP, runs=30, rng=0)
POLICY = OURS["policy"].values


@pytest.fixture(scope="module")
def data() -> Any:
    return cm.from_arrays(
        values=OURS["value"].values, policy=POLICY, theta=OURS["theta"].values,
        time=OURS["time"].values, experiment=EXP, squared=POLICY**2,
    )  # fmt: skip


def test_it_is_what_run_returns(data: Any) -> None:
    for name in ("value", "policy", "theta"):
        np.testing.assert_array_equal(data[name], OURS[name])
        assert data[name].dims == OURS[name].dims
        assert data[name].attrs == OURS[name].attrs
    assert list(data["arm"].values) == ["best", "good", "bad"]
    assert data["squared"].dims == ("run", "time", "arm")
    assert cm.experiment_of(data) == EXP
    assert "key" not in data.attrs


def test_values_follow_from_policies() -> None:
    made = cm.from_arrays(policy=POLICY, experiment=EXP)
    np.testing.assert_allclose(made["value"], OURS["value"], rtol=1e-12)


ANALYSES: dict[str, Callable[[Any], Any]] = {
    "failure": lambda d: float(cm.failure_rate(d, below=0.9)),
    "survival": lambda d: cm.analysis.survival(d, above=0.9)["estimate"],
    "time": lambda d: cm.analysis.time_to(d, above=0.3, probability=0.1)["estimate"],
    "mean": lambda d: cm.analysis.mean_curves(d)["estimate"],
    "quantiles": lambda d: cm.analysis.quantiles(d)["estimate"],
    "histogram": lambda d: cm.analysis.policy_histogram(d, bins=5)["estimate"],
}


@pytest.mark.parametrize("name", ANALYSES)
def test_analyses(data: Any, name: str) -> None:
    np.testing.assert_array_equal(ANALYSES[name](data), ANALYSES[name](OURS))


@pytest.mark.parametrize(
    "draw",
    [
        lambda d: cm.plot.learning_curves(d),
        lambda d: cm.plot.bands(d),
        lambda d: cm.plot.simplex(d),
        lambda d: cm.plot.survival(d, above=0.9),
    ],
    ids=["curves", "bands", "simplex", "survival"],
)
@pytest.mark.parametrize("bare", [False, True])
def test_plots(data: Any, draw: Callable[[Any], Any], bare: bool) -> None:
    import matplotlib.pyplot as plt

    if bare:
        data = cm.from_arrays(values=OURS["value"].values, policy=POLICY)
    ax = draw(data)
    assert ax.has_data()
    plt.close("all")


def test_files_hold_it(data: Any, tmp_path: Any) -> None:
    import xarray as xr

    cm.export(data, tmp_path / "runs.nc")
    with xr.open_dataset(tmp_path / "runs.nc") as back:
        np.testing.assert_array_equal(back["value"], data["value"])
        assert cm.experiment_of(back) == EXP


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "at least one array"),
    "one run": ({"values": [0.5, 0.9]}, r"values .*\(runs, times\)"),
    "nan": ({"values": [[np.nan]]}, "values .*finite"),
    "text": ({"values": "x"}, "values"),
    "no arms": ({"policy": [[0.5, 0.5]]}, r"policy .*\(runs, times, arms\)"),
    "sum": ({"policy": [[[0.5, 0.6]]]}, "policy .*sum to 1"),
    "negative": ({"policy": [[[-0.5, 1.5]]]}, "policy .*sum to 1"),
    "runs": ({"values": [[1.0]], "policy": [[[1.0]], [[1.0]]]}, "policy .*1 runs and 1 times"),
    "other": ({"values": [[1.0]], "loss": [[1.0, 2.0]]}, "loss .*1 runs and 1 times"),
    "times": ({"values": [[1.0, 2.0]], "time": [0]}, "time .*2 increasing"),
    "order": ({"values": [[1.0, 2.0]], "time": [5, 5]}, "time .*2 increasing"),
    "half": ({"values": [[1.0, 2.0]], "time": [0, 0.5]}, "time .*whole"),
    "names": ({"policy": [[[0.5, 0.5]]], "arms": ["a"]}, "arms .*2 different"),
    "same": ({"policy": [[[0.5, 0.5]]], "arms": ["a", "a"]}, "arms .*2 different"),
    "no names": ({"values": [[1.0]], "arms": ["a"]}, "arms .*None"),
    "experiment": ({"values": [[1.0]], "experiment": 3}, "experiment"),
    "arms": ({"policy": [[[0.5, 0.5]]], "experiment": EXP}, "policy .*3 arms, as in experiment"),
    "contradiction": (
        {"values": [[1.0, 0.5]], "policy": [[[1.0, 0.0, 0.0]] * 2], "experiment": EXP},
        "values .*in run 0 at time 1 it is 0.5, and 1 by policy",
    ),
    "dimension": ({"values": [[1.0]], "run": [[1.0]]}, "run .*another name"),
    "value": ({"values": [[1.0]], "value": [[1.0]]}, "value .*another name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case: str) -> None:
    arguments, words = WRONG[case]
    with pytest.raises(ConfigError, match=words):
        cm.from_arrays(**arguments)


def test_single_precision_is_no_contradiction() -> None:
    policy = np.random.default_rng(0).dirichlet(np.ones(3), (5, 4)).astype(np.float32)
    values = (policy @ np.asarray(EXP.problem.means, np.float32)).astype(np.float32)  # type: ignore[union-attr]
    found = cm.from_arrays(values=values, policy=policy, experiment=EXP)
    np.testing.assert_array_equal(found["value"], values)
