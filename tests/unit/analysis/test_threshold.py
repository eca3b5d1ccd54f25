"""A run that ends exactly at the level has not failed, and has arrived: whoever counts."""

from __future__ import annotations

import numpy as np
import pytest

import committal as cm
from committal.analysis import survival
from committal.plot.levels import ends_below

# Both arms pay 1/2, so that every value is exactly 1/2 whatever the policy.
LEVEL = 0.5
STILL = cm.Experiment(
    cm.Bandit([LEVEL, LEVEL]),
    cm.Softmax(),
    cm.Natural(0.1),
    steps=2,
    record=cm.Record("value", every=1),
)
RUNS = 70  # more than a block

at_and_above = pytest.mark.parametrize(
    ("below", "failures"), [(LEVEL, 0), (np.nextafter(LEVEL, 1.0), RUNS)]
)


def reduced(below: float) -> cm.Experiment:
    return STILL.replace(record=cm.Record("value", every=1, reduce=cm.Reduce(below=below)))


def test_the_value_is_exact() -> None:
    assert (cm.run(STILL, runs=RUNS, rng=0)["value"] == LEVEL).all()


@at_and_above
def test_counted_from_runs_and_by_the_core(below: float, failures: int) -> None:
    assert cm.failure_rate(cm.run(STILL, runs=RUNS, rng=0), below=below).failures == failures
    data = cm.run(reduced(below), runs=RUNS, rng=0)
    assert cm.failure_rate(data).failures == failures
    assert data["failures"].values.tolist() == [failures] * 3


@at_and_above
@pytest.mark.parametrize("reduces", [False, True])
def test_counted_by_a_study_that_stops(below: float, failures: int, reduces: bool) -> None:
    study = cm.Study(reduced(below) if reduces else STILL, runs=RUNS, rng=0)
    until = cm.Precision("failure", half_width=0.5, below=below)
    data = study.run(until=until, chunk=RUNS, progress=False)
    assert float(data["until_estimate"]) == failures / RUNS
    assert int(cm.analysis.failure_rates(data, below=below)["failures"]) == failures


@at_and_above
def test_compared_in_pairs(below: float, failures: int) -> None:
    grid = {"problem.means": [(LEVEL, LEVEL), (1.0, 1.0)]}  # of the second none fails
    data = cm.Study(STILL, grid, runs=RUNS, rng=0).run(progress=False)
    found = cm.compare(data, "means", "failure", below=below)
    assert float(abs(found["estimate"]).max()) == failures / RUNS


@at_and_above
def test_coloured_in_pictures(below: float, failures: int) -> None:
    failed, _ = ends_below(cm.run(STILL, runs=RUNS, rng=0), below)
    assert int(failed.sum()) == failures


@at_and_above
def test_arrived(below: float, failures: int) -> None:
    curve = survival(cm.run(STILL, runs=RUNS, rng=0), above=below)
    assert curve["estimate"].values.tolist() == [failures / RUNS] * 3
