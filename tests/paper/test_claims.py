"""Claims hold, and fail if the physics is broken.

Two thousand runs of a few figures are enough to decide most of them; the broken laboratory gives
every baseline the wrong sign.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from committal.paper import claims, maze_rules
from committal.paper.bandit_figure import BanditFigure, run_case
from committal.paper.figures import natural, projected, rooms, square, variance
from committal.paper.figures.natural import FIGURE_1
from committal.paper.figures.rooms import FIGURE_4
from committal.paper.figures.two_arms import FIGURE_2, STUCK
from committal.paper.figures.variance import FIGURE_3
from committal.paper.lab import Lab
from committal.paper.verdicts import Finding, Verdict

from .conftest import FlippedLab


def verdicts(found: list[Finding]) -> dict[str, Verdict]:
    return {finding.what: finding.verdict for finding in found}


def failing(found: list[Finding]) -> list[str]:
    return [finding.what for finding in found if finding.verdict is Verdict.FAILS]


def without_solving(figure: BanditFigure) -> BanditFigure:
    """The same figure without the minute that three arms take to solve."""
    return dataclasses.replace(figure, solve=False)


def test_figure_1_holds(lab: Lab) -> None:
    figure = without_solving(FIGURE_1)
    found = figure.judge(figure.compute(lab))
    assert not failing(found)
    assert verdicts(found)["b* − ½: runs that fail"] is Verdict.HOLDS
    assert verdicts(found)["b*: runs that fail"] is Verdict.HOLDS


def test_figure_1_fails_with_the_baseline_flipped(flipped_lab: Lab) -> None:
    figure = without_solving(FIGURE_1)
    lost = failing(figure.judge(figure.compute(flipped_lab)))
    assert "b* − ½: runs that fail" in lost
    assert "b* + ½: runs that fail" in lost
    assert "failure rates against an independent implementation" in lost
    assert "entropy after 500 updates, b* + ½ minus b* − ½" in lost


def test_figure_2_gives_the_fractions_of_the_paper(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rng=1, runs=20_000)
    found = FIGURE_2.judge(FIGURE_2.compute(lab))
    assert [finding.verdict for finding in found] == [Verdict.HOLDS] * len(found)


def test_figure_2_fails_with_the_baseline_flipped(flipped_lab: Lab) -> None:
    lost = failing(FIGURE_2.judge(FIGURE_2.compute(flipped_lab)))
    assert {f"α = {alpha:g}: stuck runs" for alpha in STUCK} <= set(lost)


def test_figure_3_holds_and_notices_a_wrong_baseline(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FIGURE_3.compute(lab)
    assert not failing(FIGURE_3.judge(data))
    worse = variance.ratios(variance.NONE.update, variance.MinVariance() - 1.0)
    monkeypatch.setattr(variance, "VANILLA_RATIOS", worse)
    assert failing(FIGURE_3.judge(FIGURE_3.compute(lab)))


def test_direct_policies(lab: Lab, flipped_lab: Lab) -> None:
    figure = projected.FIGURE_A8
    assert not failing(figure.judge(figure.compute(lab)))
    assert len(failing(figure.judge(figure.compute(flipped_lab)))) >= 3


@pytest.mark.parametrize("kind", [Lab, FlippedLab])
def test_four_rooms(tmp_path: Path, kind: type[Lab]) -> None:
    lab = kind(tmp_path, rng=3, runs=64)  # 3 runs in 1,000 of ε = −1 arrive, none of these
    data = FIGURE_4.compute(lab)
    found, summary = FIGURE_4.judge(data), claims.four_rooms(data)
    if kind is Lab:
        assert not failing(found)
        assert verdicts(found)["final value, ε = −1"] is Verdict.HOLDS
        assert summary.verdict is Verdict.HOLDS
    else:
        assert "final value, ε = −1" in failing(found)
        assert len(failing(found)) >= 6
        assert summary.verdict is Verdict.FAILS


@pytest.mark.parametrize("kind", [Lab, FlippedLab])
def test_claims_10_and_13(tmp_path: Path, kind: type[Lab], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "COMPUTED", (8,))  # the others have tests of their own
    monkeypatch.setattr(rooms, "FIGURE_4", dataclasses.replace(FIGURE_4, precise=320))
    lab = kind(tmp_path, rng=3, scale=0.2)  # 20,000 runs of the bandits
    judged = claims.FIGURE.judge(claims.FIGURE.compute(lab))
    by_number = {finding.what.split(".")[0]: finding.verdict for finding in judged}
    assert list(by_number) == ["8", "10", "12", "13"]
    if kind is Lab:
        assert set(by_number.values()) == {Verdict.HOLDS}
    else:
        assert by_number["10"] is by_number["12"] is Verdict.FAILS
        # With the wrong sign hardly any run fails, and there is nothing left to weaken.
        assert by_number["13"] is not Verdict.HOLDS


def test_the_small_gridworld_fails_with_the_baseline_flipped(tmp_path: Path) -> None:
    """Only the two extreme baselines: each of the others takes as long."""
    cases = (square.CASES[0], square.CASES[4])
    rules = (
        maze_rules.keeps_entropy(0, 1, "action_entropy", 0.1),
        maze_rules.sticks_more(0, 1),
    )
    for kind, expected in ((Lab, Verdict.HOLDS), (FlippedLab, Verdict.FAILS)):
        lab = kind(tmp_path / kind.__name__, rng=1, runs=100)
        figure = dataclasses.replace(square.FIGURE_A11, runs=10, precise=100)
        data = [figure.run(lab, case) for case in cases]
        assert [rule(data).verdict for rule in rules] == [expected] * len(rules)


def test_cases_of_equal_variance_are_equal(lab: Lab) -> None:
    outcomes = [run_case(lab, case, runs=2, precise=2) for case in (natural.BAD[0], natural.BAD[2])]
    gap = claims._variance_gap(*(one.case.experiment for one in outcomes))
    assert gap < 1e-12
