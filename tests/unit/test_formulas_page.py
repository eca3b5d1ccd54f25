"""docs/formulas.md tells the truth: its code runs, and its table is the vocabulary."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import committal as cm
from committal import _core
from committal.config.formulas import INPUTS
from committal.config.rules.formulas import formulas_of
from committal.formula.parse import FUNCTIONS
from committal.formula.vocabulary import ROWS
from committal.support import limits

PAGE = (Path(__file__).parents[2] / "docs" / "formulas.md").read_text(encoding="utf-8")


@pytest.mark.skipif("programs" not in _core.BanditSimulator.FIELDS, reason="a core of before")
def test_the_code_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 9
    namespace: dict[str, object] = {}
    for block in blocks:  # each goes on where the last one ended
        exec(compile(block, "docs/formulas.md", "exec"), namespace)


def test_the_file_forms_are_right() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    others = {
        "problem": '{kind = "bandit", means = [1, 0.5, 0]}',
        "policy": '{kind = "softmax"}',
        "update": '{kind = "natural", step_size = 0.1}',
    }
    made = []
    for block in blocks:
        missing = [f"{key} = {value}" for key, value in others.items() if key + " =" not in block]
        made.append(cm.Experiment.from_toml("\n".join(["steps = 20", *missing, block])))
    assert made[0].baseline == cm.baseline("sum(pi**2 * r) / sum(pi**2) - 0.5")
    parts = {name for e in made for name, _, _ in formulas_of(e)}
    assert parts == {
        *("baseline", "estimator.weight", "update", "policy", "optimiser", "record.names")
    }


def test_the_limits_are_those() -> None:
    for limit in (
        *(limits.FORMULA_TEXT, limits.FORMULA_DEPTH, limits.FORMULA_SIZE),
        *(limits.OPERATIONS, limits.REGISTERS, limits.POWER),
    ):
        assert f"{limit:,}" in PAGE


ROOMS = cm.Experiment(
    cm.maps.four_rooms(), cm.Softmax(), cm.Vanilla(0.1), estimator=cm.ExactQ(), steps=1
)


@pytest.mark.parametrize(
    ("changes", "estimators"),
    [
        ({"baseline": cm.baseline("sum(pi * r)")}, "ExactQ"),
        ({"baseline": cm.baseline("max(pi) + max(theta) + max(mu) + t / K")}, "ExactQ Reinforce"),
        ({"baseline": cm.baseline("mean(R)")}, ""),
        ({"baseline": cm.baseline("N + 0")}, ""),
        ({"baseline": cm.baseline("v", state={"v": (0.0, "v + mean(R)")})}, "ExactQ Reinforce"),
        ({"baseline": cm.baseline("v", state={"v": (0.0, "v + max(r)")})}, ""),
        ({"weight": cm.weight("rho * mean(R) + sum(r)")}, "ExactQ"),
        ({"weight": cm.weight("rho * A")}, "ExactQ Reinforce"),
        ({"weight": cm.weight("others(rho, 'mean')")}, ""),
        ({"update": cm.update("A * score")(0.1)}, "ExactQ Reinforce"),
        ({"update": cm.update("r * score")(0.1)}, "ExactQ"),
        ({"optimiser": cm.Adam()}, "ExactQ Reinforce Expected"),
        ({"policy": cm.link("exp(theta)")}, "ExactQ Reinforce Expected"),
        ({"record": cm.Record(cm.quantity("max(pi)", name="q"))}, "ExactQ Reinforce Expected"),
        ({"record": cm.Record(cm.quantity("max(r)", name="q"))}, "ExactQ Reinforce Expected"),
        ({"record": cm.Record(cm.quantity("sum(R)", name="q"))}, ""),
    ],
)
def test_what_mdps_refuse(changes: dict[str, Any], estimators: str) -> None:
    changes = dict(changes)
    weight = changes.pop("weight", None)
    for estimator in (cm.ExactQ, cm.Reinforce, cm.Expected):
        if weight is not None and estimator is cm.Expected:
            continue  # it takes none
        chosen = estimator() if weight is None else estimator(weight=weight)
        if estimator.__name__ in estimators.split():
            ROOMS.replace(estimator=chosen, **changes)
        else:
            with pytest.raises(cm.CombinationError):
                ROOMS.replace(estimator=chosen, **changes)


def test_the_table_is_the_vocabulary() -> None:
    table = PAGE.partition("| written | is |")[2].partition("\n\n")[0]
    for name in FUNCTIONS:
        assert f"`{name}(" in table, name
    for row in ROWS.values():
        assert row.words in table, row.name
        if row.infix:
            assert row.infix.replace("|", "\\|") in table, row.name


def test_the_parts_are_made_from_what_it_says() -> None:
    table = PAGE.partition("| part | from |")[2].partition("\n\n")[0]
    said = set(re.findall(r"[A-Za-z0]+", " ".join(re.findall(r"`([^`]*)`", table))))
    for names in INPUTS.values():
        assert set(names) <= said
