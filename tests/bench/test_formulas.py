"""The benchmark of formulas: everybody computes the same, and every row is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the peers need the extra [bench]")

import formulas
import numpy as np
from rows import Setting
from timing import Contestant, Times, disagreements

from committal import _core

ISAS = _core.available()["isas"]
TINY = Setting(isas=ISAS[-1:], threads=1, scale=0.02, jax=False, micro=None)


def test_every_rule_has_its_rows_and_floors() -> None:
    every = formulas.contests()
    assert [contest.name for contest in every] == [
        *(
            f"{name}, K={arms}"
            for name in (
                "baseline (minimum variance)",
                "baseline (collision)",
                "weight (tapered)",
                "Adam",
            )
            for arms in (3, 10, 100)
        ),
        "group of 8 with std, K=3",
    ]
    *every, groups = every
    native, peer = groups.floors
    assert (native.avx2, peer.above, peer.avx512, peer.avx2) == (None, "Numba", 8, 8)
    for contest in every:
        native, peer = contest.floors
        assert (native.at_most, peer.above, peer.avx512, peer.avx2) == (True, "Numba", 6, 6)
        same_work = "minimum variance" in contest.name
        wanted = 2 if same_work or "K=3" in contest.name else None
        assert native.avx2 == native.avx512 == wanted


@pytest.mark.parametrize(
    "name",
    [
        "baseline (minimum variance)",
        "baseline (collision)",
        "weight (tapered)",
        "Adam",
        "group of 8 with std",
    ],
)
def test_everybody_computes_the_same(name: str) -> None:
    (contest,) = [each for each in formulas.contests() if each.name == f"{name}, K=3"]
    contestants = contest.contestants(TINY)
    peer = next(rule for rule in formulas.RULES if rule.name == name).peer
    by_python: Any = peer.py_func  # type: ignore[attr-defined]  # compiling takes longer
    alpha = 0.02 if name == "Adam" or "group" in name else 0.025
    means, start = np.array([1.0, 0.7, 0.0]), np.array([0.0, 3.0, 5.0])

    def theirs(alpha: float) -> Contestant:
        return Contestant(lambda: np.asarray(by_python(means, start, alpha, 500, 64)), 1)

    del contestants["Numba"]
    assert disagreements({**contestants, "plain": theirs(alpha)}) == []
    (found,) = disagreements({**contestants, "plain": theirs(alpha / 100)})
    assert found.startswith("plain:")


def test_it_runs_and_writes_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    asked = ["--only", "Adam, K=3", "--isa", ISAS[-1], "--scale", "0.02", "--rounds", "1"]
    assert formulas.main([*asked, "--threads", "1", "--cpu", "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    assert f"| Adam, {ISAS[-1]} | " in shown
    (contest,) = json.loads(out.read_text())["contests"]
    assert {verdict["wanted"] for verdict in contest["verdicts"]} <= {2.0, 6.0, None}


def test_the_table_has_times_and_ratios() -> None:
    times = {"formula avx2": Times([4e-9]), "native avx2": Times([2e-9]), "Numba": Times([4e-8])}
    assert "| Adam, avx2 | 4 ns, 2.0×, 10.0× |  |  |" in formulas.table(
        {"Adam, K=3": times}, ["avx2"]
    )
