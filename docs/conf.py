"""The site: ``sphinx-build -W docs build/site``, or ``tools/site.sh``. Nothing is fetched.

API pages and the gallery are written into ``docs/generated`` (not kept) before Sphinx reads. Two
folders may be given by the environment: SITE_PICTURES, where the pictures of the examples are or
will be (default: ``build/gallery``), and SITE_PAPER, what ``committal reproduce`` has written,
whose report then becomes a page.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

import matplotlib  # noqa: E402
from _site import api, gallery, text  # noqa: E402

import committal  # noqa: E402

matplotlib.use("Agg")

project = "committal"
author = "The committal developers"
copyright = author
version = release = committal.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "_site.mathml",
]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_site", "generated/*.txt"]
default_role = "name"  # what stands in backquotes in a docstring
# "array of shape (runs, arms)" is a type with words in it that are names of something else.
suppress_warnings = ["ref.python"]
add_module_names = False
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
pygments_style = "friendly"
pygments_dark_style = "monokai"

html_theme = "furo"
html_title = "committal"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
html_extra_path: list[str] = []
html_copy_source = False
html_show_sphinx = False

generated = DOCS / "generated"


def _write(path: Path, text: str) -> None:
    """Only what has changed: Sphinx reads again what is newer."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _generate(app: Any) -> None:
    pages = api.pages()
    for name, page in pages.items():
        _write(generated / "api" / f"{name}.rst", page)
    for old in (generated / "api").glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    pictures = Path(os.environ.get("SITE_PICTURES", ROOT / "build" / "gallery"))
    gallery.write(ROOT / "examples", pictures, generated / "gallery")
    for file, name in text.COPIES.items():
        source = (ROOT / file).read_text(encoding="utf-8")
        _write(generated / f"{name}.md", text.linked(source, f"generated/{name}", file))
    paper = os.environ.get("SITE_PAPER")
    if paper:
        (Path(app.outdir) / "report").mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(paper) / "report.html", Path(app.outdir) / "report" / "index.html")


def _listed(app: Any, name: str, source: list[str]) -> None:
    """Pages that the start page does not name are listed by it all the same."""
    if not name.startswith("generated/"):
        source[0] = text.linked(source[0], name, f"docs/{name}.md")
    if name == "index":
        named = source[0]
        rest = sorted(page.stem for page in DOCS.glob("*.md") if f"\n{page.stem}\n" not in named)
        source[0] = named.replace("@@more@@", "\n".join(p for p in rest if p != "index"))
    if name == "reproduction" and os.environ.get("SITE_PAPER"):
        head, _, tail = source[0].partition("\n")
        link = '<p><a href="report/index.html">The report, as the last build made it.</a></p>'
        source[0] = f"{head}\n\n```{{raw}} html\n{link}\n```\n{tail}"


def _complete(app: Any, exception: Exception | None) -> None:
    """The site is not built if a public name has no entry."""
    if exception is None and app.builder.name == "html":
        known = {each[0] for each in app.env.get_domain("py").get_objects()}
        missing = sorted({each.path for each in api.entries()} - known)
        if missing:
            raise RuntimeError(f"no API entry: {', '.join(missing)}")


def setup(app: Any) -> None:
    """What happens before, while and after Sphinx reads."""
    app.add_role("name", text.Name())
    app.connect("builder-inited", _generate)
    app.connect("source-read", _listed)
    app.connect("autodoc-process-docstring", text.docstring)
    app.connect("autodoc-skip-member", text.is_boring)
    app.connect("build-finished", _complete)
