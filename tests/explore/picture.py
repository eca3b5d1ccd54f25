"""Make the pictures of docs/explore.md: ``python tests/explore/picture.py docs``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from chromium import Browser
from hands import SETTLED

from committal.explore import explore

COUNTED = "[...document.querySelectorAll('.panel')].every(p => Number(p.dataset.counted) >= {})"
EXACT = "[...document.querySelectorAll('.exact')].every(e => /[0-9]/.test(e.textContent))"


def main(out: Path) -> None:
    """Open the page, wait until it has counted, and save what is seen."""
    with tempfile.TemporaryDirectory() as folder, explore(show=False) as page:
        browser = Browser(Path(folder), width=1360, height=1010)
        try:
            browser.scheme("light", still=True)
            browser.open(page.address)
            browser.wait(SETTLED)
            browser.wait(COUNTED.format(10**6), 240)
            browser.wait(EXACT, 240)
            browser.picture(out / "explore.png")
            browser.run("document.querySelectorAll('#modes button')[1].click()")
            browser.run("document.querySelectorAll('#sides button')[0].click()")
            browser.scheme("dark", still=True)
            browser.wait(SETTLED)
            browser.wait("document.querySelector('.panel').dataset.counted >= 1000", 240)
            browser.picture(out / "explore_maze.png")
        finally:
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
