"""The site: every public name has an entry, and what its first pages say is so."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import committal as cm

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "start.md", *sorted((DOCS / "howto").glob("*.md"))]


@pytest.fixture(scope="module")
def api() -> ModuleType:
    """The module that writes the API pages; it needs no Sphinx."""
    spec = importlib.util.spec_from_file_location("site_api", DOCS / "_site" / "api.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_api"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_an_entry(api: ModuleType) -> None:
    pages = api.pages()
    text = "\n".join(pages.values())
    entered = re.findall(r"^\.\. (?:auto\w+|py:module):: (\S+)$", text, re.MULTILINE)
    assert len(entered) == len(set(entered))
    missing = {f"committal.{name}" for name in dir(cm)} - set(entered)
    assert not missing
    for room in api.ROOMS:
        folder = getattr(cm, room)
        for name, value in vars(folder).items():
            listed = name in getattr(
                sys.modules.get(getattr(value, "__module__", "")), "__all__", ()
            )
            at_root = getattr(cm, name, None) is value if name in dir(cm) else False
            if listed and not at_root:
                assert f"committal.{room}.{name}" in entered


def test_no_name_is_left_over(api: ModuleType) -> None:
    """A module that no page claims goes to the last one: give it a page in docs/_site/api.py."""
    left = {each.path for each in api.entries() if api.page_of(each.home) is api.PAGES[-1]}
    assert left == {"committal.__version__"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks or page.stem == "index"
    namespace: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "text":
            assert printed == block
        else:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, str(page), "exec"), namespace)
            printed = out.getvalue()


def test_a_notebook_becomes_a_page_with_its_stored_pictures(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("site_gallery", DOCS / "_site" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    picture = base64.b64encode(b"a picture").decode()
    outputs = [{"data": {"image/png": picture}}, {"text": ["```\n", "3\n"]}]
    cells = [
        {"cell_type": "markdown", "source": ["# A walk\n", "in the park"]},
        {"cell_type": "code", "source": ["1 + 2"], "outputs": outputs},
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "walk.ipynb").write_text(json.dumps({"cells": cells}))
    assert gallery.write(tmp_path / "in", tmp_path / "pictures", tmp_path / "out") == ["walk"]
    page = (tmp_path / "out" / "walk.md").read_text()
    assert page.startswith("# A walk\nin the park")
    assert "```python\n1 + 2\n```" in page
    assert "````text\n```\n3\n````" in page  # what is printed cannot end its own fence
    assert (tmp_path / "out" / "walk-1-0.png").read_bytes() == b"a picture"
    assert "[![A walk](walk-1-0.png)](walk.md)" in (tmp_path / "out" / "index.md").read_text()
