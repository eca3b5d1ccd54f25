"""The rows of the comparison: every one that must be shown is there, with its floors."""

from __future__ import annotations

import pytest

pytest.importorskip("numba", reason="the peers need the extra [bench]")

import compare
import rows
from timing import Ratio, Times

# Work, against whom, floors on AVX-512 and AVX2.
MUST_SHOW = [
    *((f"natural, {b}, K={k}", "Numba", 20, 15)
      for k in (2, 3) for b in ("constant", "value", "min variance natural")),
    *((f"natural, min variance gradient, K={k}", "Numba", 17, 13) for k in (2, 3)),
    *((f"natural, value, K={k}", "Numba expert", 12, 9) for k in (2, 3)),
    *((f"natural, value, K={k}", "JAX", 25, 20) for k in (2, 3)),
    ("natural, value, K=3", "committal {isa}, one thread", 1.6, 1.8),
    ("natural, value, K=3", "committal {isa}, one thread", 1.9, 1.9),
    ("vanilla, value, K=3", "Numba", 10, 8),
    ("natural, value, K=10", "Numba", 16, 12),
    ("natural, value, K=100", "Numba", 30, 25),
    ("natural, value, K=1000", "Numba", 100, 80),
    ("natural, min variance natural, K=100", "Numba", 10, 8),
    ("natural, value, uniform mixture, K=100", "Numba", 10, 8),
    ("vanilla, value, K=100", "Numba", 7, 5.5),
    ("natural, value, policy every 10, K=3", "Numba", 12, 9),
    ("four rooms, whole exact update", "Numba", 25, 20),
    ("exact evaluation, 10x10, batched", "QuantEcon", 250, 200),
    ("cm.run, 1 x 1", "cm.run", 1e-3, 1e-3),
    ("cm.run, 100 x 200", "cm.run", 2e-3, 2e-3),
    ("phase diagram", "committal run", 28, 28),
]  # fmt: skip


@pytest.mark.parametrize(("name", "above", "avx512", "avx2"), MUST_SHOW)
def test_every_row_that_must_be_shown_is_there(
    name: str, above: str, avx512: float, avx2: float
) -> None:
    (contest,) = [contest for contest in rows.contests() if contest.name == name]
    floors = [(floor.above, floor.avx512, floor.avx2) for floor in contest.floors]
    assert (above, avx512, avx2) in floors


def test_there_are_240_combinations() -> None:
    every = rows.combinations()
    assert len({contest.name for contest in every}) == len(every) == 240
    assert {floor for contest in every for floor in contest.floors} == {
        rows.Floor("Numba", rows.OURS, 4, 3)
    }


def test_names_are_unique_and_choose_exactly() -> None:
    every = rows.contests()
    assert len({contest.name for contest in every}) == len(every)
    assert [c.name for c in compare.choose(every, ["natural, value, K=3"])] == [
        "natural, value, K=3"
    ]
    assert len(compare.choose(every, ["four rooms", "cm.run"])) == 3
    assert "phase diagram" not in {c.name for c in compare.choose(every, [])}


def _judge(times: dict[str, float], name: str, *, cpu: bool = False) -> list[compare.Verdict]:
    (contest,) = compare.choose(rows.contests(), [name])
    measured = {who: Times([seconds]) for who, seconds in times.items()}
    return list(compare.verdicts(contest, measured, ["generic", "avx2", "avx512"], cpu=cpu))


def test_floors_are_met_or_missed() -> None:
    times = {"Numba": 30.0, "committal generic": 20.0, "committal avx2": 2.0}
    found = _judge(times | {"committal avx512": 1.6}, "natural, constant, K=2")
    assert [(v.isa, v.ratio.value, v.met) for v in found] == [
        ("generic", 1.5, None),
        ("avx2", 15.0, True),
        ("avx512", pytest.approx(18.75), False),
    ]


def test_some_floors_are_ceilings() -> None:
    times = {"committal avx2, one thread": 2.0, "limit avx2": 1.0, "committal avx2": 1.0}
    limit, threads = _judge(times, "natural, value, K=3")
    assert (limit.ratio, limit.met) == (Ratio(2.0, 2.0, 2.0), False)  # at most 1.8
    assert (threads.ratio.value, threads.met) == (2.0, True)  # at least 1.9
    assert len(_judge(times, "natural, value, K=3", cpu=True)) == 1
    (call,) = _judge({"cm.run": 9e-4}, "cm.run, 1 x 1")
    assert call.met
