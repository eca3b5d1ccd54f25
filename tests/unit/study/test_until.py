"""Studies that stop where they are precise enough, and say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import committal as cm

ConfigError = cm.errors.ConfigError
Contents = Callable[[Path], dict[str, bytes]]

GRID = {"baseline": [cm.Value(), 0.5], "update.step_size": [0.05, 0.1, 0.2]}


def test_stops_where_it_is_precise(
    reduced: cm.Experiment, tmp_path: Path, contents: Contents
) -> None:
    study = cm.Study(reduced.replace(steps=400), GRID, runs=20_000, rng=0)
    until = cm.Precision("failure", half_width=0.05)
    data = study.run(tmp_path, until=until, progress=False)
    assert (data["until_reached"] == 1).all()
    assert (data["until_high"] - data["until_low"] <= 0.1).all()
    counts = data["count"].values
    assert counts.max() < 20_000
    assert counts.min() < counts.max()
    # The estimates are those of the runs that were made.
    for configuration in study:
        here = data.sel(configuration.labels)
        one = cm.run(configuration.experiment, runs=int(here["count"]), rng=0)
        assert float(here["until_estimate"]) == float(cm.failure_rate(one))
        np.testing.assert_array_equal(here["failures"].values, one["failures"].values)
    assert cm.open(tmp_path).identical(data)
    assert cm.failure_rates(data).attrs["method"] == "sequential"
    with ProcessPoolExecutor(2) as processes:
        study.run(tmp_path / "other", processes, until=until, progress=False)
    mine = contents(tmp_path)
    assert {k: mine[k] for k in contents(tmp_path / "other")} == contents(tmp_path / "other")


def test_resuming_until_precise_decides_the_same(
    reduced: cm.Experiment, tmp_path: Path, contents: Contents
) -> None:
    study = cm.Study(reduced.replace(steps=400), GRID, runs=20_000, rng=0)
    until = cm.Precision("failure", half_width=0.05)
    study.run(tmp_path, until=until, progress=False)
    expected = contents(tmp_path)
    (tmp_path / "outcome.json").unlink()
    for chunk in sorted((tmp_path / "chunks").iterdir())[::3]:
        chunk.unlink()
    unfinished = cm.open(tmp_path)
    assert "until_reached" not in unfinished
    study.run(tmp_path, until=until, progress=False)
    assert contents(tmp_path) == expected
    # A narrower question to the same store adds to it.
    narrower = study.run(tmp_path, until=cm.Precision("failure", half_width=0.03), progress=False)
    assert int(narrower["count"].sum()) > sum(json.loads(expected["outcome.json"])["runs"])


@pytest.mark.parametrize("kind", ["per run", "reduced"])
def test_precision_of_means(base: cm.Experiment, reduced: cm.Experiment, kind: str) -> None:
    experiment = (base if kind == "per run" else reduced).replace(steps=200)
    study = cm.Study(experiment, {"baseline": [cm.Value(), 0.5]}, runs=20_000, rng=0)
    data = study.run(until=cm.Precision("value", half_width=0.02), progress=False)
    assert (data["until_reached"] == 1).all()
    for configuration in study:
        here = data.sel(configuration.labels)
        assert int(here["count"]) < 20_000
        assert float(here["until_low"]) < float(here["until_estimate"])
        exact = cm.run(configuration.experiment, runs=20_000, rng=1)
        mean = exact["value"].mean("run") if kind == "per run" else exact["value_mean"]
        assert float(here["until_low"]) < float(mean[-1]) < float(here["until_high"])


def test_relative_precision_that_cannot_be_reached(reduced: cm.Experiment) -> None:
    study = cm.Study(reduced, {}, runs=500, rng=0)
    until = cm.Precision("failure", half_width=0.001, relative=True)
    data = study.run(until=until, progress=False)
    assert int(data["count"]) == 500
    assert int(data["until_reached"]) == 0


@pytest.mark.parametrize(
    ("record", "until", "message"),
    [
        (cm.Record("value"), cm.Precision("failure", 0.1), r"until\.below = None"),
        (cm.Record("policy"), cm.Precision("failure", 0.1, below=0.9), r"until\.below .*Record"),
        (cm.Record("value", reduce=cm.Reduce()), cm.Precision("failure", 0.1), "Reduce"),
        (
            cm.Record("value", reduce=cm.Reduce(below=0.9)),
            cm.Precision("failure", 0.1, below=0.8),
            r"until\.below = 0\.8 .* 0\.9",
        ),
        (cm.Record("value"), cm.Precision("entropy", 0.1), r"until\.quantity = 'entropy'"),
        (cm.Record("policy"), cm.Precision("policy", 0.1), r"until\.quantity = 'policy'"),
        (cm.Record("regret"), cm.Precision("regret", 0.1), "known bounds"),
    ],
)
def test_precision_of_what_is_not_known(
    base: cm.Experiment, record: cm.Record, until: cm.Precision, message: str
) -> None:
    study = cm.Study(base.replace(record=record), runs=100, rng=0)
    with pytest.raises(ConfigError, match=message):
        study.run(until=until, progress=False)
