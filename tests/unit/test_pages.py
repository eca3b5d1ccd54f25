"""What objects show in a notebook: whole, escaped, in the colours of the page around."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import drawing
from committal.formula.formula import from_text
from committal.study import costs
from committal.support import html

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from markup import read

EVIL = '<script>alert("1")</script>'
NAMES = (EVIL, "a & b", "'><img src=x onerror=alert(1)>")

BANDIT = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0], names=NAMES), cm.Softmax([0, 3, 5]), cm.Natural(0.1), cm.Value(),
    steps=10,
)  # fmt: skip
CRITIC = cm.baseline("v", state={"v": ("start", "v + 0.01 * (mean(R) - v)")}, start=0.5)
MAZE = cm.gridworld("S.<\n&#.\n..'", goals={"<": 1.0, "&": 0.25, "'": -1.23456789}, slip=0.1)
STUDY = cm.Study(
    BANDIT, {EVIL: {"<i>": {"steps": 3}, "&amp;": {"steps": 4}}, "update.step_size": [0.1, 0.2]},
    runs=7, rng=0,
)  # fmt: skip
CHAIN = cm.TabularMDP(
    P=[[[0, 1.0], [1.0, 0]], [[0, 1], [0, 1]]], R=[[1, 0], [0, 0]], gamma=0.9, start=0,
    terminal=[1], states=["<u>", EVIL],
)  # fmt: skip

SHOWN: dict[str, tuple[Any, tuple[str, ...]]] = {
    "experiment": (BANDIT, ("problem", "Softmax((0.0, 3.0, 5.0))", "as TOML", EVIL)),
    "experiment with a formula": (
        BANDIT.replace(baseline=CRITIC), ("$v,", "baseline('v', start=0.5",)),
    "experiment with a maze": (
        cm.Experiment(MAZE, cm.Softmax(), cm.Natural(0.1), estimator=cm.ExactQ(), steps=3),
        ("ExactQ()", "slip = 0.1", "<")),
    "study": (STUDY, ("Study, 4 configurations of 7 runs", EVIL, "<i>", "&amp;", "step_size")),
    "rate": (cm.FailureRate.of(4690, 100_000, below=0.9, time=1000),
             ("4.69 % [4.56, 4.82]", "below 0.9 after 1 000 updates", "95 % interval")),
    "rate of nothing": (cm.FailureRate.of(0, 0, below=0.9, time=1), ("unknown",)),
    "rate of all": (cm.FailureRate.of(9, 9, below=0.9, time=1), ("> 70 %",)),
    "gridworld": (MAZE, ("Gridworld, 3 × 3, 8 states", "S", "<", "&", "-1.23457")),
    "evaluation of a maze": (cm.optimal(MAZE), ("value", "probability within the limit", "V from")),
    "evaluation of many": (cm.evaluate(MAZE, np.full((5, 8, 4), 0.25)), ("policies", "5")),
    "evaluation by sweeps": (cm.evaluate(MAZE, method="iterative"), ("sweeps",)),
    "evaluation of a chain": (cm.evaluate(CHAIN), ("values of states", EVIL, "<u>")),
    "baseline": (CRITIC, ("v ← v + 0.01 * (mean(R) - v)", "v at first", "start", "0.5")),
    "weight": (cm.weight("where(A < 0, rho, 1)"), ("where(A < 0, rho, 1)", "$")),
    "update": (cm.update("A * score"), ("update", r"\psi")),
    "formula": (from_text("x < 1", {"x": "run"}), ("Formula", "x < 1")),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_says_what_it_should(name: str) -> None:
    thing, words = SHOWN[name]
    page = read(thing._repr_html_())
    for word in words:
        assert word in page.text, word


@pytest.mark.parametrize("name", SHOWN)
def test_letters_have_the_colour_of_the_page_around(name: str) -> None:
    # A fixed ink is only allowed on a fixed ground, as in the cells of a map.
    for attribute, value in read(SHOWN[name][0]._repr_html_()).attributes:
        if attribute == "style":
            assert not re.search(r"(?<![-\w])color:(?!inherit)|background:(?!none)", value), value


def test_a_text_that_is_not_escaped_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "escaped", lambda thing: html.Html(thing))
    with pytest.raises(AssertionError):
        read(BANDIT._repr_html_())


def test_mathematics_is_typeset_and_dollars_of_users_are_not() -> None:
    page = BANDIT.replace(baseline=CRITIC)._repr_html_()
    assert page.startswith('<div class="tex2jax_ignore mathjax_ignore">')
    assert page.count('<span class="tex2jax_process mathjax_process">$') == 1


def test_a_study_is_not_timed_to_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("it computes")

    monkeypatch.setattr(costs, "_seconds_per_update", refuse)
    assert "time" not in read(STUDY._repr_html_()).words
    monkeypatch.setattr(costs, "_seconds_per_update", lambda _: 1e-6)
    study = STUDY.replace(runs=8)
    study.estimate(threads=1)
    assert "time" in read(study._repr_html_()).words


def test_a_map_is_drawn_cell_by_cell() -> None:
    page = read(MAZE._repr_html_())
    ((_, walls), *_) = [a for a in page.attributes if a[0] == "d"]
    assert walls == "M1 1h1v1h-1z"  # row 1, column 1
    best = cm.optimal(MAZE)
    arrows = drawing.drawn(MAZE, best.V, best.policy)
    assert arrows is not None
    # Right of the start is the way to the goal of 1: the arrow begins in the middle of the cell.
    assert "M0.5 0.5l0.45 0.00" in arrows


def test_a_huge_map_is_not_drawn() -> None:
    rows = ["S" + "." * 999, *["." * 1000] * 99, "." * 999 + "G"]
    page = cm.gridworld(rows, goals={"G": 1.0})._repr_html_()
    assert "<svg" not in page
    assert len(page) < 50_000


def test_long_texts_are_cut() -> None:
    page = BANDIT.replace(problem=cm.Bandit(np.linspace(0, 1, 5000)), policy=cm.Softmax())
    assert len(page._repr_html_()) < 60_000
