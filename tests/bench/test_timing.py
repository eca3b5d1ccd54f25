"""How contestants are timed, and when their answers agree."""

from __future__ import annotations

import time

import numpy as np
import pytest
from timing import Contestant, Ratio, Times, disagreements, once, take_turns


def test_ratios_are_of_the_best_times_with_the_range_of_the_rounds() -> None:
    ratio = Ratio.of(Times([4.0, 6.0, 5.0]), Times([2.0, 1.0, 4.0]))
    assert ratio == Ratio(value=4.0, low=1.25, high=6.0)


def test_contestants_take_turns() -> None:
    calls: list[str] = []
    contestants = {
        name: Contestant(lambda name=name: calls.append(name), 1) for name in ("one", "two")
    }
    times = take_turns(contestants, 3)
    assert calls == ["one", "two"] * 3
    assert [len(each.rounds) for each in times.values()] == [3, 3]


def test_who_measures_himself_is_believed() -> None:
    assert once(Contestant(lambda: np.array([8.0]), 4.0, timed=False), cpu=False) == 2.0


def test_the_processor_is_not_busy_while_one_sleeps() -> None:
    sleeper = Contestant(lambda: time.sleep(0.05), 1)
    assert once(sleeper, cpu=False) >= 0.05
    assert once(sleeper, cpu=True) < 0.04


@pytest.mark.parametrize(("shift", "found"), [(0.0, 0), (0.5, 1)])
def test_means_that_differ_are_named(shift: float, found: int) -> None:
    rng = np.random.default_rng(0)
    contestants = {
        "ours": Contestant(lambda: rng.normal(size=1000), 1),
        "theirs": Contestant(lambda: shift + rng.normal(size=500), 1),
        "silent": Contestant(lambda: None, 1),
    }
    assert [text.partition(":")[0] for text in disagreements(contestants)] == ["theirs"] * found
