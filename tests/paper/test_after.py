"""What came after the paper: results are found, run, judged, drawn and reported."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import re
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from committal import paper
from committal.config import Bandit, Experiment, Natural, Softmax
from committal.paper import after, registry, result
from committal.paper.after import committal_rate, groups, noise, reference_policy, step_size
from committal.paper.lab import Lab
from committal.paper.result import Known, Measured, Setting
from committal.paper.verdicts import Finding, Verdict

NUMBERS = json.loads(
    (Path(__file__).parent.parent / "data" / "after_paper.json").read_text(encoding="utf-8")
)
GUIDE = Path(__file__).parent.parent.parent / "docs" / "reproduction.md"
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


# -- verdicts that can fail ------------------------------------------------------------------------


def verdicts(found: Iterable[Finding]) -> dict[str, Verdict]:
    return {finding.what: finding.verdict for finding in found}


def flat(one: Setting, failures: float, runs: int = 1000, **means: float) -> Measured:
    """What a setting would give if the same share of runs failed at every time."""
    times = one.recorded.record.times(one.experiment.steps)
    data = {
        "failures": ("time", np.full(times.size, round(failures * runs))),
        "count": ((), runs),
    }
    for name in ("value", *one.record):
        mean = np.full(times.size, means.get(name, 0.5))
        shape: Any = "time"
        if name == "policy":
            shape, mean = ("time", "arm"), np.tile(mean[:, None], len(one.experiment.problem.means))
        data[f"{name}_mean"] = (shape, mean)
        data[f"{name}_sem"] = (shape, np.full(mean.shape, 1e-3))
    labelled = xr.Dataset(data, coords={"time": times})
    labelled["failures"].attrs["below"] = one.below
    return Measured(one, labelled)


@pytest.mark.parametrize("name", ["A1", "A3", "A8", "A10", "A13"])
def test_runs_that_do_not_care_are_seen(name: str) -> None:
    """If half of the runs failed whatever the setting, no result would stand."""
    one = registry.figure(name)
    assert isinstance(one, result.RunResult)
    found = one.judge([flat(case, 0.5) for case in one.cases])
    assert found[-1].verdict is Verdict.FAILS  # the known numbers
    assert sum(finding.verdict is Verdict.FAILS for finding in found) >= 2


@pytest.mark.parametrize("module", [groups, reference_policy])
def test_a_planted_reference_is_seen(module: Any, few: Lab, monkeypatch: Any) -> None:
    (one,) = module.FIGURES
    data = one.compute(few)
    assert Verdict.FAILS not in verdicts(one.judge(data)).values()
    for place in list(module.REFERENCES):
        with monkeypatch.context() as planted:
            planted.setitem(module.REFERENCES, place, module.REFERENCES[place] + 1e-4)
            assert Verdict.FAILS in verdicts(one.judge(data)).values(), place
    for picture in one.pictures(data):
        figure = picture.draw()
        assert figure.axes
        # Dots, ticks and lines of every panel are named.
        assert [text.get_text() for text in figure.legends[0].get_texts()] == MARKS[one.name]


#: What the keys below the rows explain.
MARKS = {
    "A3": [
        "95 % intervals", r"theory, $\max(0, 1 - \kappa)$",
        r"left: $\log T$ over these times; right: $t^{-\kappa}$", r"left: $\eta_c$",
    ],
    "A7": ["of the law of one update", r"limit $\sqrt{N - 1}$ at $p \to 0$"],
    "A9": ["fixed point, stable", "unstable", "$p_n = p_{n-1}$"],
}  # fmt: skip


def test_a2_sees_wrong_thresholds_and_rates(monkeypatch: Any) -> None:
    (a2,) = committal_rate.FIGURES
    times = np.array([1000.0, 2000, 10_000, 19_999, 20_000, 30_000, 100_000, 300_000])
    slow = dict.fromkeys(committal_rate.FORCED, (times, 1.0 / times))
    cases = [flat(case, 0.4) for case in committal_rate.CASES]
    grid = [flat(case, 0.1) for case in committal_rate.GRID]
    found = a2.judge(committal_rate.Rates(slow, cases, grid, threshold=0.6))
    # Everything but the known t^-1 itself is wrong here.
    failed = [finding.what for finding in found if finding.verdict is Verdict.FAILS]
    for words in ("natural, forced", "normalised, forced", "Adam, forced", "1 − π of forced",
                  "clip level", "normalised, b = 0", "independent"):  # fmt: skip
        assert any(words in what for what in failed), words
    assert committal_rate.threshold() == pytest.approx(math.sqrt(0.5), abs=1e-9)


def test_what_is_known_to_differ_differs(few: Lab) -> None:
    """It is documented: it does not fail, and it would hold if it were otherwise."""
    (a3,) = step_size.FIGURES
    data = [flat(case, 0.1) for case in a3.cases]
    assert step_size.with_noise(data).verdict is Verdict.DIFFERS
    assert "without noise of the rewards only" in " ".join(a3.settled)
    (a9,) = reference_policy.FIGURES
    assert Verdict.DIFFERS in verdicts(a9.judge(a9.compute(few))).values()


@pytest.mark.parametrize("name", ["A1", "A3", "A8", "A10", "A13"])
def test_pictures_are_drawn_from_what_was_measured(name: str) -> None:
    one = registry.figure(name)
    assert isinstance(one, result.RunResult)
    rates = np.linspace(0.0, 1.0, len(one.cases))
    data = [flat(case, rate, regret=100.0) for case, rate in zip(one.cases, rates, strict=True)]
    for picture in one.pictures(data):
        assert picture.caption
        figure = picture.draw()
        figure.savefig("/dev/null", format="png", dpi=50)
        assert len(figure.axes) >= 2
        words = [text.get_text() for text in figure.legends[0].get_texts()]
        assert words[: len(MARKS.get(name, ()))] == MARKS.get(name, [])
        assert words
    assert all(table.rows for table in one.tables(data))


# -- all of them -----------------------------------------------------------------------------------


def test_a_report_of_results_only(tmp_path: Path) -> None:
    (entry,) = paper.reproduce(["A1"], out=tmp_path, runs=RUNS)
    text = (tmp_path / paper.REPORT).read_text(encoding="utf-8")
    assert 'id="A1"' in text
    assert "<title>After the paper, reproduced</title>" in text
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


def test_a_result_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe of the documentation, as it stands there, is found, made and reported."""
    _, recipe = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "planted.py").write_text(recipe, encoding="utf-8")
    monkeypatch.setattr(after, "__path__", [*after.__path__, str(tmp_path)])
    try:
        assert registry.names("after") == (*RESULTS, "A14")
        (entry,) = paper.reproduce(["A14"], out=tmp_path / "out", runs=1000)
        assert [finding.verdict for finding in entry.findings] == [Verdict.HOLDS]
        assert 'id="A14"' in (tmp_path / "out" / paper.REPORT).read_text(encoding="utf-8")
    finally:
        sys.modules.pop("committal.paper.after.planted", None)


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


def test_a_number_that_is_none_does_not_hold() -> None:
    for pairs in ([(1.0, 1.0), (math.nan, 2.0)], [(math.nan, 1.0), (2.0, 2.0)]):
        assert result.all_exactly("x", "as known", pairs).verdict is Verdict.FAILS
