"""docs/formulas.md tells the truth: its code runs, and its table is the vocabulary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import committal as cm
from committal import _core
from committal.config.formulas import INPUTS
from committal.formula.parse import FUNCTIONS
from committal.formula.vocabulary import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "formulas.md").read_text(encoding="utf-8")


@pytest.mark.skipif("programs" not in _core.BanditSimulator.FIELDS, reason="a core of before")
def test_the_code_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 9
    namespace: dict[str, object] = {}
    for block in blocks:  # each goes on where the last one ended
        exec(compile(block, "docs/formulas.md", "exec"), namespace)


def test_the_file_form_is_right() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    text = f"""
    steps = 1
    problem = {{kind = "bandit", means = [1, 0]}}
    policy = {{kind = "softmax"}}
    update = {{kind = "natural", step_size = 0.1}}
    {block}"""
    made = cm.Experiment.from_toml(text).baseline
    assert made == cm.baseline("sum(pi**2 * r) / sum(pi**2) - 0.5")


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
