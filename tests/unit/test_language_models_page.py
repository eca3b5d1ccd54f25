"""docs/language_models.md tells the truth: its code runs, and what it points to is there."""

from __future__ import annotations

import re
from pathlib import Path

from committal.paper import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language_models.md").read_text(encoding="utf-8")


def test_the_code_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 10
    namespace: dict[str, object] = {}
    for block in blocks:  # each goes on where the last one ended
        exec(compile(block, "docs/language_models.md", "exec"), namespace)


def test_every_question_has_a_picture_and_a_number() -> None:
    questions = PAGE.split("\n## ")[1:]
    for question in questions[:-1]:
        title = question.splitlines()[0]
        assert "Picture: `" in question, title
        assert "assert" in question, title


def test_what_it_points_to_is_there() -> None:
    for name in re.findall(r"`committal reproduce (\w+)`", PAGE):
        assert registry.figure(name)
    for file in re.findall(r"`python (examples/\w+\.py)`", PAGE):
        assert (ROOT / file).is_file()
    for page in re.findall(r"\]\((\w+\.md)\)", PAGE):
        assert (ROOT / "docs" / page).is_file()
