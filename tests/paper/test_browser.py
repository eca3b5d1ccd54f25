"""The report in a real browser: nothing missing, no complaint, readable on a phone.

Needs Chromium on the PATH. A page as wide as a phone is made with a frame, for windows of a
browser have a least width of their own; a script that is added to a copy of the report tells the
page around it what it measures.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from committal import paper

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        if (found := shutil.which(name))
    ),
    None,
)
FIGURES = ("fig2", "fig3", "fig4", "figA15", "A8", "A13")
PHONE, DESK = 390, 1280

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on the PATH"),
]

PROBE = """<script>
window.addEventListener("load", () => {
  const root = document.documentElement;
  const images = [...document.images].filter(i => !i.classList.contains("thumb"));
  const thumbs = [...document.images].filter(i => i.classList.contains("thumb"));
  const cut = [...document.querySelectorAll(".frame")].filter(
    e => e.scrollWidth > e.clientWidth + 1);
  const small = [...document.querySelectorAll("p, td, li, dd, figcaption")]
    .map(e => parseFloat(getComputedStyle(e).fontSize));
  // What sticks out to the right and is not inside of a frame that can be moved.
  const wide = [...document.querySelectorAll("body *")].filter(
    e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest(".frame"));
  parent.postMessage(JSON.stringify({
    width: root.clientWidth, scroll: root.scrollWidth, images: images.length,
    missing: images.filter(i => !i.complete || i.naturalWidth === 0).length,
    drawn: Math.min(...images.map(i => i.getBoundingClientRect().width)),
    thumbs: thumbs.filter(i => i.naturalWidth > 0).length, cut: cut.length,
    font: Math.min(...small), wide: wide.map(e => e.tagName)}), "*");
});
</script>"""

AROUND = """<!DOCTYPE html><meta charset="utf-8"><title>waiting</title>
<body><pre id="found"></pre><script>
addEventListener("message", e => { document.getElementById("found").textContent = e.data; });
</script><iframe src="probe.html" style="border:0;width:%dpx;height:800px"></iframe></body>"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report")
    for _ in paper.reproduce(FIGURES, out=directory, runs=5, rng=0):
        pass
    return directory


def browse(page: Path) -> tuple[str, str]:
    """Load a page; return its elements and what the browser wrote about it."""
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={page.parent / 'browser'}",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=180, check=True
    )
    return done.stdout, done.stderr


def measured(out: Path, width: int) -> dict[str, object]:
    text = (out / paper.REPORT).read_text(encoding="utf-8")
    (out / "probe.html").write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    around = out / f"around-{width}.html"
    around.write_text(AROUND % width, encoding="utf-8")
    dom, _ = browse(around)
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found
    assert found.group(1), "the report did not finish loading"
    result: dict[str, object] = json.loads(unescape(found.group(1)))
    return result


def test_the_browser_has_nothing_to_complain_about(out: Path) -> None:
    dom, log = browse(out / paper.REPORT)
    assert "CONSOLE" not in log
    for name in FIGURES:
        assert f'id="{name}"' in dom


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_is_missing_or_too_wide(out: Path, width: int) -> None:
    found = measured(out, width)
    assert found["width"] == pytest.approx(width, abs=20)
    assert found["scroll"] == found["width"], "the page scrolls sideways"
    assert found["wide"] == []
    assert found["images"] == sum(1 for _ in out.glob("*.png"))
    assert found["missing"] == 0
    assert found["thumbs"] == len(FIGURES)
    if width == DESK:
        assert found["cut"] == 0, "a table or a picture is cut"
    assert isinstance(found["font"], float | int)
    assert found["font"] >= 12
    # Pictures are not shrunk until they cannot be read: on a phone they move in their frames.
    assert isinstance(found["drawn"], float | int)
    assert found["drawn"] > 600
