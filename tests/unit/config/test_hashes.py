"""Hashes: equal experiments have equal ones, in every process, and others do not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import committal as cm


def test_golden_hash(three_arms: cm.Experiment) -> None:
    # Stored results are found by this hash: it may change only on purpose.
    assert three_arms.hash == "e7f0627301f96b03e3a1fed70c98c33ef3985ecf3c6a05d953d3180a5a82cee6"


def test_hash_is_the_same_in_another_process(three_arms: cm.Experiment) -> None:
    code = (
        "from committal.config import *;"
        "print(Experiment(Bandit([1, 0.7, 0]), Softmax([0, 3, 5]), Natural(0.025),"
        " 0.5 + MinVariance(), steps=1000).hash)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == three_arms.hash


def test_integers_floats_and_numpy_numbers_are_one() -> None:
    numpy_list: list[Any] = [np.float32(1), np.int8(0)]
    given: list[Any] = [[1, 0], [1.0, 0.0], (1, 0.0), np.array([1, 0]), numpy_list]
    for means in given:
        assert cm.Bandit(means) == cm.Bandit([1.0, 0.0])
        assert cm.Bandit(means).hash == cm.Bandit([1.0, 0.0]).hash
    assert cm.Constant(-0.0).hash == cm.Constant(0).hash
    assert cm.Softmax([-0.0]).hash == cm.Softmax([0]).hash
    assert repr(cm.Constant(-0.0)) == "Constant(0.0)"


def test_order_of_keys_does_not_matter(three_arms: cm.Experiment) -> None:
    data = three_arms.to_dict()
    backwards = dict(reversed(data.items()))
    backwards["update"] = dict(reversed(data["update"].items()))
    assert cm.Experiment.from_dict(backwards).hash == three_arms.hash
    assert cm.Record("policy", "value").hash == cm.Record("value", "policy").hash


def test_spelled_out_defaults_change_nothing(three_arms: cm.Experiment) -> None:
    explicit = three_arms.replace(
        baseline=cm.MinVariance(metric="gradient", lam=None) + 0.5,
        behaviour=cm.OnPolicy(),
        estimator=cm.OneSample(samples=1, implicit=0),
        record=cm.Record("value", "policy"),
        problem=cm.Bandit([1, 0.7, 0], names=["arm 1", "arm 2", "arm 3"]),
    )
    assert explicit == three_arms
    assert explicit.hash == three_arms.hash


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 1001},
        {"problem.means": [1.0, 0.7, 1e-300]},
        {"policy.theta0": None},
        {"update.step_size": 0.0250000000000001},
        {"baseline": cm.MinVariance("natural") + 0.5},
        {"record": cm.Record("value")},
        {"problem.names": ["a", "b", "c"]},
    ],
    ids=str,
)
def test_every_change_changes_the_hash(three_arms: cm.Experiment, changes: dict[str, Any]) -> None:
    assert three_arms.replace(**changes).hash != three_arms.hash
    assert three_arms.replace(**changes) != three_arms
