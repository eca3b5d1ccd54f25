"""The engine's own draws played back through the oracle, and the comparison of the two.

Feeding the engine's actions and rewards to ``reference.simulate`` (teacher forcing) keeps one
rounding difference in a draw from hiding, or pretending to be, a difference in the mathematics; a
free run of the oracle on the same key checks the draws themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference

RUNS = 3
RTOL = 1e-12

Record = dict[str, np.ndarray]


def bandit(experiment: cm.Experiment) -> cm.Bandit:
    assert isinstance(experiment.problem, cm.Bandit)
    return experiment.problem


def engine(
    experiment: cm.Experiment, *names: str, runs: int = RUNS, **options: Any
) -> tuple[int, Record]:
    """The stream key and arrays[run, time, ...] of `names` at every time."""
    recorded = experiment.replace(record=cm.Record(*names, every=1))
    data = cm.run(recorded, runs=runs, rng=20080, **options)
    return int(data.attrs["key"], 16), {name: data[name].to_numpy() for name in names}


def engine_record(experiment: cm.Experiment, **options: Any) -> tuple[int, Record]:
    """Everything the engine can record, with one axis per sample and per parameter.

    Regret is recorded by a second call: it is accumulated in the loop, which forbids the shortest
    path through the kernels, and both paths are to be compared with the oracle.
    """
    expected = isinstance(experiment.estimator, cm.Expected)
    absent = {"regret", *(("action", "reward") if expected else ())}
    names = [name for name in cm.RECORDABLE if name not in absent]
    key, record = engine(experiment, *names, **options)
    _, regret = engine(experiment, "regret", "theta", **options)
    np.testing.assert_array_equal(regret["theta"], record["theta"])
    record["regret"] = regret["regret"]
    for name in set(record) & {"theta", *("action", "reward")}:
        record[name] = record[name].reshape(*record[name].shape[:2], -1)
    return key, record


def replayed(experiment: cm.Experiment, key: int, run: int, got: Record) -> Record:
    """The oracle, fed with the engine's draws."""
    return reference.simulate(
        experiment, key=key, run=run, actions=got.get("action"), rewards=got.get("reward")
    )


def second_moment(experiment: cm.Experiment, want: Record) -> np.ndarray:
    """E||g||^2 / N at every time: variance is a difference of two numbers of this size."""
    estimator = experiment.estimator
    assert isinstance(estimator, cm.OneSample)
    squares = []
    for t, (pi, b) in enumerate(zip(want["policy"], want["baseline"], strict=True)):
        mu = reference.behaviour_probabilities(experiment.behaviour, pi, t, experiment.steps)
        implicit = reference.scheduled(estimator.implicit, t, experiment.steps)
        mean = sum(
            mu[a]
            * reference.update_direction(
                experiment.policy, experiment.update, pi, mu, a, r - b, implicit
            )
            for a, r in enumerate(bandit(experiment).means)
            if mu[a] > 0.0
        )
        squares.append(np.sum(np.square(mean)))
    return np.asarray(want["variance"] + np.array(squares))


def assert_equivalent(experiment: cm.Experiment, got: Record, want: Record) -> None:
    """One run of the engine (`got`) against the oracle (`want`), time by time.

    A rounding error eps |theta| of theta is a relative error of that size in pi: the tolerance of
    what depends on pi grows with the largest |theta| so far. Parameters that are probabilities have
    absolute errors: there it grows with 1 / pi of the least likely arm that is not ruled out.
    """
    size = np.maximum(1.0, np.abs(want["theta"]).max(axis=1))
    if isinstance(experiment.policy, cm.Direct):
        pi = want["policy"]
        size = 1.0 / np.where(pi > 0.0, pi, 1.0).min(axis=1)
    size = np.maximum.accumulate(size)
    rewards = max(1.0, np.abs(bandit(experiment).means).max())

    def close(name: str, floor: np.ndarray | float) -> None:
        x, y = got[name], want[name]
        assert x.shape == y.shape, name
        column = (slice(None),) + (None,) * (y.ndim - 1)
        allowed = RTOL * size[column] * np.abs(y)
        allowed = allowed + np.broadcast_to(floor, size.shape)[column]
        worst = np.argmax(np.abs(x - y) - allowed)
        assert np.all(np.abs(x - y) <= allowed), (
            f"{name} at {np.unravel_index(worst, y.shape)}: "
            f"engine {x.flat[worst]!r}, oracle {y.flat[worst]!r}"
        )

    floors: dict[str, np.ndarray | float] = {
        "theta": RTOL * size,
        "policy": 1e-300,
        "entropy": 1e-13,
        "distance": 1e-300,
    }
    if isinstance(experiment.estimator, cm.Expected):
        np.testing.assert_array_equal(got["variance"], 0.0)
    else:
        floors["variance"] = RTOL * size * second_moment(experiment, want)
    for name in set(want).difference(("action", "reward")):
        close(name, floors.get(name, RTOL * rewards))


def assert_equal_draws(experiment: cm.Experiment, got: Record, want: Record) -> None:
    np.testing.assert_array_equal(got["action"], want["action"])
    # The two normal quantiles may differ in the last place.
    rtol = RTOL if bandit(experiment).noise == "gaussian" else 0.0
    np.testing.assert_allclose(got["reward"], want["reward"], rtol=rtol, atol=0.0)


def check(experiment: cm.Experiment, **options: Any) -> None:
    """Teacher-forced equivalence of every run, and equal draws."""
    key, record = engine_record(experiment, **options)
    for run in range(len(record["theta"])):
        got = {name: array[run] for name, array in record.items()}
        for name, array in got.items():
            assert np.all(np.isfinite(array)), name
        assert_equivalent(experiment, got, replayed(experiment, key, run, got))
        if run == 0 and not isinstance(experiment.estimator, cm.Expected):
            free = reference.simulate(experiment, key=key, run=run)
            assert_equal_draws(experiment, got, free)


class Replay:
    """What the tests use of this file."""

    runs = RUNS
    rtol = RTOL
    engine = staticmethod(engine)
    everything = staticmethod(engine_record)
    check = staticmethod(check)


@pytest.fixture
def replay() -> type[Replay]:
    return Replay
