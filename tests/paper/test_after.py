"""What came after the paper: results are found, run, judged, drawn and reported."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from committal import paper
from committal.config import Bandit, Experiment, Natural, Softmax
from committal.paper import after, registry, result
from committal.paper.after import noise
from committal.paper.lab import Lab
from committal.paper.result import Known, Measured, Setting
from committal.paper.verdicts import Verdict

NUMBERS = json.loads(
    (Path(__file__).parent.parent / "data" / "after_paper.json").read_text(encoding="utf-8")
)
RESULTS = registry.names("after")
#: So few that a result takes seconds, and so many that there is something to draw.
RUNS = 12


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("after"), rng=1, runs=RUNS)


def every_known(thing: Any) -> list[Known]:
    """All known numbers of a result, wherever it keeps them."""
    if isinstance(thing, Known):
        return [thing]
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, list | tuple):
        return [each for part in thing for each in every_known(part)]
    if is_dataclass(thing) and not isinstance(thing, type):
        return every_known([getattr(thing, each.name) for each in fields(thing)])
    return []


@pytest.mark.parametrize("name", RESULTS)
def test_known_numbers_are_those_of_the_file(name: str) -> None:
    for known in every_known(registry.figure(name)):
        node, parent = NUMBERS, None
        for key in known.place.split("/"):
            node, parent = node[key], node
        if isinstance(node[0], list):
            times = parent.get("times") or [1000, 2000]
            node = node[times.index(known.time)]
        assert known.value == pytest.approx(node[0], rel=1e-3, abs=1e-9), known
        assert known.error == pytest.approx(node[1], rel=0.05, abs=1e-5), known
        assert known.runs == parent["runs"], known


def test_exact_references_are_those_of_the_file() -> None:
    checked = 0
    for module in pkgutil.iter_modules(after.__path__):
        found = importlib.import_module(f"{after.__name__}.{module.name}")
        for place, value in getattr(found, "REFERENCES", {}).items():
            node = NUMBERS
            for key in place.split("/"):
                node = node[int(key)] if isinstance(node, list) else node[key]
            assert value == pytest.approx(node, rel=1e-7), place
            checked += 1
    assert checked > 40


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_names_its_source(name: str) -> None:
    one = registry.figure(name)
    assert one.source
    assert not one.own or "docs/" in one.own
    assert all(len(pair) == 2 for pair in one.settings)


@pytest.fixture
def coin(few: Lab) -> Measured:
    """Runs of an experiment that nobody has to know anything of."""
    exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    return Setting(label="x", experiment=exp, runs=1, quick=1, below=0.5).run(few, "coin")


def planted(one: Measured, failures: int, runs: int, value: float = 0.8) -> Measured:
    """The same with other counts and means."""
    data = one.data.copy(deep=True)
    data["failures"].values[:] = failures
    data["count"].values[...] = runs
    data["value_mean"].values[:] = value
    data["value_sem"].values[:] = 0.01
    return Measured(one.setting, data)


@pytest.mark.parametrize(
    ("failures", "runs", "verdict"),
    [
        (133, 1000, Verdict.HOLDS),
        (250, 1000, Verdict.FAILS),
        (2, 12, Verdict.UNDECIDED),  # a rate of almost anything would agree
    ],
)
def test_a_rate_can_hold_fail_and_be_undecided(
    coin: Measured, failures: int, runs: int, verdict: Verdict
) -> None:
    known = Known("failures", 10, 0.133, 0.0024, 20_000, "", "13.3 %")
    one = planted(coin, failures, runs)
    assert one.verdict(known) is verdict
    one = replace(one, setting=replace(one.setting, known=(known,)))
    own, together = result.known_findings([one])
    assert own.verdict is verdict
    assert together.verdict is (Verdict.FAILS if verdict is Verdict.FAILS else Verdict.HOLDS)
    (table,) = result.known_tables([one])
    assert len(table.rows) == 1


def test_a_mean_can_hold_and_fail(coin: Measured) -> None:
    known = Known("value", 10, 0.79, 0.01, 100, "")
    assert planted(coin, 0, 100, value=0.8).verdict(known) is Verdict.HOLDS
    assert planted(coin, 0, 100, value=0.9).verdict(known) is Verdict.FAILS
    assert planted(coin, 0, 100, value=math.nan).verdict(known) is Verdict.FAILS


def test_the_record_of_a_setting_has_every_time_that_is_asked_for() -> None:
    known = (Known("failures", 77, 0.1, 0.1, 10, ""),)
    exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=12_345)
    recorded = Setting(label="", experiment=exp, runs=1, quick=1, known=known).recorded
    assert {0, 1, 10, 77, 100, 1000, 10_000, 12_345} <= set(recorded.record.times(12_345).tolist())


# -- A1 --------------------------------------------------------------------------------------------


def test_a1_sees_a_wrong_reference(tmp_path: Path) -> None:
    (a1,) = noise.FIGURES
    three = replace(a1, cases=a1.cases[:5], rules=())
    data = three.compute(Lab(tmp_path, rng=1, runs=300))
    assert {found.verdict for found in three.judge(data)} <= {Verdict.HOLDS, Verdict.UNDECIDED}
    wrong = tuple(replace(known, value=known.value + 0.2) for known in noise.KNOWN_THREE)
    data[1] = replace(data[1], setting=replace(data[1].setting, known=wrong))
    assert {found.verdict for found in three.judge(data)} == {Verdict.FAILS}
    # Without noise nothing is lost; with it, that would be false.
    assert noise.without_noise([data[4]] * 5).verdict is not Verdict.FAILS
    assert noise.without_noise([data[0]] * 5).verdict is Verdict.FAILS


# -- all of them -----------------------------------------------------------------------------------


def test_a_report_of_results_only(tmp_path: Path) -> None:
    (entry,) = paper.reproduce(["A1"], out=tmp_path, runs=RUNS)
    text = (tmp_path / paper.REPORT).read_text(encoding="utf-8")
    assert 'id="A1"' in text
    assert "After the paper" in text
    assert "2301.06276" in text
    assert "docs/corners.md" in text
    assert "This report repeats every figure" not in text
    assert "| A1 |" in (tmp_path / paper.CLAIMS).read_text(encoding="utf-8")
    assert entry.source


def test_names_of_groups() -> None:
    assert registry.names("after") == RESULTS
    assert registry.names("after", "paper") == (*registry.names(), *RESULTS)
    assert registry.names("A1", "fig1") == ("fig1", "A1")
    assert [int(name[1:]) for name in RESULTS] == sorted(int(name[1:]) for name in RESULTS)


@pytest.mark.slow
def test_all_of_it_quickly(tmp_path: Path) -> None:
    made = list(paper.reproduce(["after"], out=tmp_path, precise=False))
    assert [entry.name for entry in made] == list(RESULTS)
    wrong = [
        (entry.name, found)
        for entry in made
        for found in entry.findings
        if found.verdict is Verdict.FAILS
    ]
    assert not wrong
