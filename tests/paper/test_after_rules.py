"""A4, A5, A6, A11, A12: links, regularisers, leaders, old data and the gate, with few runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from committal.paper import registry
from committal.paper.after import delight, leaders, leaving, old_data, regularisers
from committal.paper.lab import Lab
from committal.paper.verdicts import Verdict

RUNS = 12


def few(tmp_path: Path) -> Lab:
    return Lab(tmp_path, rng=1, runs=RUNS, precise=False)


def looked_at(name: str, lab: Lab) -> Any:
    """Compute, judge, list and draw a result; nothing of it may fail."""
    one = registry.figure(name)
    data = one.compute(lab)
    wrong = [found for found in one.judge(data) if found.verdict is Verdict.FAILS]
    assert not wrong
    assert all(table.rows for table in one.tables(data))
    for picture in one.pictures(data):
        assert picture.draw().axes
        assert picture.caption
    return data


def test_a4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "QUICK", 6000)
    data = looked_at("A4", few(tmp_path))
    counts = {(len(way.arms), way.label): steps for way, steps in data.items()}
    assert counts[2, "softmax"] == [4223, None, None, None]
    assert counts[2, "escort, p = 4"] == [31, 101, 325, 1036]
    assert counts[3, "natural"] == [39, 58, 77, 96]
    # One update more is seen, and so is another exponent.
    (a4,) = leaving.FIGURES
    late = {way: [n and n + 1 for n in steps] for way, steps in data.items()}
    assert a4.judge(late)[0].verdict is Verdict.FAILS
    same = {way: [n and 100 for n in steps] for way, steps in data.items()}
    assert {found.verdict for found in a4.judge(same)[1:]} >= {Verdict.FAILS}


def test_a5(tmp_path: Path) -> None:
    data = looked_at("A5", few(tmp_path))
    (a5,) = regularisers.FIGURES
    k3 = next(form for form in regularisers.FORMS if form.label == "k3")
    kl = next(form for form in regularisers.FORMS if form.label == "k2")
    swapped = replace(data, vanilla=data.vanilla | {k3: data.vanilla[kl]})
    assert a5.judge(swapped)[0].verdict is Verdict.FAILS
    assert a5.judge(swapped)[3].verdict is Verdict.FAILS


def test_a6(tmp_path: Path) -> None:
    data = looked_at("A6", few(tmp_path))
    (a6,) = leaders.FIGURES
    regret = data[0].data["regret"]
    far = [replace(data[0], data=data[0].data.assign(regret=regret + 300)), *data[1:]]
    assert a6.judge(far)[0].verdict is Verdict.FAILS


def test_a11(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_data, "LEVELS", (0.3, 0.8))
    data = looked_at("A11", few(tmp_path))
    (a11,) = old_data.FIGURES
    wrong = replace(data, flows={key: ends[:, ::-1] for key, ends in data.flows.items()})
    assert a11.judge(wrong)[1].verdict is Verdict.FAILS
    np.testing.assert_allclose(old_data.limit("AsymRE", 0.3), [0.6875, 0.3125, 0], atol=1e-12)
    np.testing.assert_allclose(old_data.limit("TOPR", 0.3), [7 / 11, 4 / 11, 0], atol=1e-12)
    assert old_data.limit("AsymRE", 0.8) is None
    assert old_data.limit("TOPR", 1.0) is None


def test_a12(tmp_path: Path) -> None:
    data = looked_at("A12", few(tmp_path))
    assert delight.repaired([data[1]] * 2).verdict is not Verdict.FAILS
    assert delight.repaired([data[0]] * 2).verdict is Verdict.FAILS
    assert delight.interior(2.0) > delight.interior(1.0) > delight.interior(0.5)
