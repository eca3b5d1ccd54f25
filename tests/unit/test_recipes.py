"""The recipes of CONTRIBUTING touch as few files as their headings say. CI applies them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = {"baseline": 3, "behaviour": 3, "update": 4, "quantity": 3}

spec = importlib.util.spec_from_file_location("apply", ROOT / "tests" / "recipes" / "apply.py")
assert spec is not None
assert spec.loader is not None
recipes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipes)


def test_recipes_touch_few_files() -> None:
    markdown = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    touched: dict[str, set[str]] = {}
    for piece in recipes.pieces(markdown):
        if not piece.file.startswith("tests/"):
            touched.setdefault(piece.name, set()).add(piece.file)
    assert touched.keys() == MOST.keys()
    said = dict(re.findall(r"^### An? (\w+): (\d+) files?$", markdown, re.MULTILINE))
    for name, files in touched.items():
        assert len(files) <= MOST[name], files
        assert said[name] == str(len(files)), name
    assert said["figure"] == "1"


def test_pieces_are_where_the_recipes_say() -> None:
    markdown = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for piece in recipes.pieces(markdown):
        if piece.verb in ("before", "replace"):
            assert (ROOT / piece.file).read_text(encoding="utf-8").count(piece.text) == 1, (
                piece.text
            )
