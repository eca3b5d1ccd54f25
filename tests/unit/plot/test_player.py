"""The page of an animation in a real browser: it plays, and obeys the keyboard and the slider."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

import committal as cm

BROWSER = next((found for n in ("chromium", "google-chrome") if (found := shutil.which(n))), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on the PATH"),
]

# Clicks and keys, one after the other; what was seen is written into the page.
PROBE = """<pre id="found"></pre><script>
const seen = [], errors = [];
window.onerror = message => errors.push(String(message));
const note = () => {
  const {width, height} = find("picture"), {data} = picture.getImageData(0, 0, width, height);
  let dark = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i] + data[i + 1] + data[i + 2] < 300) dark += 1;
  seen.push([find("time").textContent, find("play").textContent, dark]);
};
const press = key => document.body.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
setTimeout(() => {
  note(); press(" "); note();
  find("at").value = 0; find("at").dispatchEvent(new Event("input")); note();
  press("ArrowRight"); note(); press("ArrowLeft"); press("ArrowLeft"); note();
  find("play").click(); note();
  find("found").textContent = JSON.stringify({seen, errors, wide: document.body.scrollWidth});
}, 2500);
</script>"""


def test_it_plays(tmp_path: Path) -> None:
    assert BROWSER is not None
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.1), cm.Value(), steps=100,
        record=cm.Record("policy", every=10),
    )  # fmt: skip
    film = cm.plot.animate(cm.run(exp, runs=5, rng=0), frames=5, seconds=2.0, dpi=50)
    page = tmp_path / "film.html"
    page.write_text(film.html().replace("</body>", PROBE + "</body>"), encoding="utf-8")
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=4000", "--dump-dom",
        page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match is not None
    found = json.loads(unescape(match[1]))
    assert found["errors"] == []
    assert found["wide"] <= 800
    first, second, last = (f"update {film.times[i]}" for i in (0, 1, -1))
    playing, paused, slid, right, left, again = found["seen"]
    assert playing[:2] == [last, "pause"]  # two seconds are over, and the last frame stays
    assert paused[:2] == [last, "play"]
    assert slid[:2] == [first, "play"]
    assert right[0] == second
    assert left[0] == last  # over the beginning to the end
    assert again[1] == "pause"
    # A picture, and another one at the end, where more of it is drawn.
    assert slid[2] > 100
    assert playing[2] > slid[2]
