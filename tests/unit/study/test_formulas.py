"""Studies of formulas: files, grids, stores, other processes that have never seen the function."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import ConfigError, NonFiniteError

Contents = Callable[[Path], dict[str, bytes]]


@cm.weight
def tapered(A: Any, rho: Any, *, top: float = 1.0) -> Any:
    return cm.where(A > 0, 1, cm.minimum(rho, top))


@cm.quantity
def kl_to_uniform(pi: Any, K: Any) -> Any:
    return (pi * cm.log(pi * K)).sum()


BASE = cm.Experiment(
    cm.Bandit([1, 0.7, 0]), cm.Softmax([0, 1, 2]), cm.Vanilla(0.3),
    cm.baseline("c * sum(pi**2 * r) / sum(pi**2)", c=1) - 0.25, cm.UniformMixture(0.3),
    cm.OneSample(samples=2, weight=tapered), steps=40, optimiser=cm.Momentum(0.5),
    record=cm.Record("value", kl_to_uniform, every=10),
)  # fmt: skip
STUDY = cm.Study(
    BASE, {"baseline.c": [0.5, 1, 2], "estimator.weight.top": [1.0, 2.0]}, runs=30, rng=0
)


def test_stores(tmp_path: Path) -> None:
    whole = STUDY.run(progress=False)
    assert whole["kl_to_uniform"].dims == ("c", "top", "run", "time")
    assert (whole["kl_to_uniform"] >= -1e-15).all()
    stored = STUDY.run(store=tmp_path / "store", progress=False)
    assert stored.equals(whole)
    again = cm.open(tmp_path / "store")
    assert again.load().equals(whole)
    assert cm.study_of(again).grid.hash == STUDY.grid.hash
    one = whole.sel(c=2.0, top=1.0)
    exp = cm.experiment_of(one)
    assert exp.baseline == cm.baseline("c * sum(pi**2 * r) / sum(pi**2)", c=2) - 0.25
    np.testing.assert_array_equal(cm.run(exp, runs=30, rng=0)["value"], one["value"])


def test_processes(tmp_path: Path) -> None:
    whole = STUDY.run(progress=False)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert STUDY.run(executor=pool, progress=False).equals(whole)


def test_errors_travel() -> None:
    bad = cm.Study(BASE, {"baseline": [{"formula": "1 / (t - 3)"}]}, runs=3, rng=0)
    with pytest.raises(NonFiniteError, match=r"update 3: .*1 / \(t - 3\)"):
        bad.run(progress=False)
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(NonFiniteError, match="update 3"),
    ):
        bad.run(executor=pool, progress=False)


FILE = """
runs = 20
[experiment]
steps = 20
problem = {kind = "bandit", means = [1.0, 0.7, 0.0]}
policy = {kind = "softmax"}
update = {kind = "vanilla", step_size = 0.3}
baseline = {formula = "c * sum(pi**2 * r) / sum(pi**2)", parameters = {c = 1.0}}
optimiser = {kind = "adam"}
record = {names = ["value", {formula = "max(pi)", name = "largest"}]}
[grid]
"baseline.c" = [0.5, 1.0]
optimiser = [{kind = "plain"}, {formula = "sign(g)"}]
"""


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(FILE)
    study = cm.read_study(file).study
    data = study.run(progress=False)
    assert data["largest"].sizes["c"] == 2
    assert "formula" not in str(data["optimiser"].values)
    file.write_text(FILE.replace("sum(pi**2 * r)", "sun(pi**2 * r)"))
    with pytest.raises(ConfigError, match=r"baseline.*formula.*did you mean 'sum'"):
        cm.read_study(file)


def test_plans_are_shown() -> None:
    shown = str(STUDY)
    assert "6" in shown
    reduced = BASE.replace(
        record=cm.Record("value", kl_to_uniform, reduce=cm.Reduce(below=0.9, quantiles=[0.5],
        range={"value": (0, 1), "kl_to_uniform": (0, 2)}))
    )  # fmt: skip
    data = cm.run(reduced, runs=50, rng=0)
    assert {"kl_to_uniform_mean", "kl_to_uniform_quantile", "failures"} <= set(data.data_vars)
