"""docs/groups.md tells the truth: its code runs, and every part is on it."""

from __future__ import annotations

import re
from pathlib import Path

import committal as cm
from committal.config import Regulariser, Weight, kinds
from committal.config.groups import CENTRES
from committal.config.regularisers import FORMS

PAGE = (Path(__file__).parents[2] / "docs" / "groups.md").read_text(encoding="utf-8")


def test_the_code_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    namespace: dict[str, object] = {}
    for block in blocks:  # each goes on where the last one ended
        exec(compile(block, "docs/groups.md", "exec"), namespace)


def test_every_part_is_named() -> None:
    for family in (Weight, Regulariser):
        for cls in kinds(family).values():
            if hasattr(cm, cls.__name__):
                assert f"`{cls.__name__}(" in PAGE, cls
    for word in (*CENTRES, *FORMS[1:]):
        assert f'"{word}"' in PAGE, word
