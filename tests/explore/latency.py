"""Measure from slider to picture, part by part: ``python tests/explore/latency.py [PICTURES]``.

Three arms, 200 runs of 1000 updates, one panel, a real Chromium, and the server in a process of its
own as ``committal explore`` starts it. Two tables, in milliseconds for one picture:

* by the clock: `waited` from the slider's event to the request, `server` in the server, `way`
  there and back, `read` of the packet, `made` into lines, `drawn` by the canvas, `painted` until
  the frame is on the screen;
* by the processor: what the server and the processes of the browser have computed meanwhile. Other
  work on the machine makes the clock slower; it changes these little.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chromium import Browser
from hands import SETTLED, press, slide

Parts = dict[str, float]


@contextmanager
def served() -> Iterator[tuple[int, str]]:
    """Start the command; yield the number of its process and the address of the page."""
    command = [sys.executable, "-m", "committal", "explore", "--no-browser"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=quiet, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.pid, server.stdout.readline().strip()
        finally:
            server.terminate()


def computed(browser: Browser, server: int) -> Parts:
    """Return milliseconds of the processor since the beginning, by process."""
    found: Parts = {}
    if (stat := Path(f"/proc/{server}/stat")).exists():  # Linux
        fields = stat.read_text().rpartition(")")[2].split()
        tick = os.sysconf("SC_CLK_TCK")
        found["server"] = 1000.0 * (int(fields[11]) + int(fields[12])) / tick
    for process in browser.processes():
        found[process["type"]] = found.get(process["type"], 0.0) + 1000.0 * process["cpuTime"]
    return found


def pictures(browser: Browser, count: int) -> list[Parts]:
    """Move the slider so many times; return the parts of every picture."""
    found = []
    for k in range(count):
        slide(browser, "#epsilon", -0.5 + 0.01 * (k % 60))
        panel = "document.querySelector('.panel').dataset"
        parts = json.loads(browser.run(f"{panel}.parts"))
        found.append({"all": float(browser.run(f"{panel}.latency")), **parts})
    return found


def measured(browser: Browser, server: int, count: int) -> tuple[list[Parts], Parts]:
    """Return the parts of every picture by the clock, and of one by the processor."""
    pictures(browser, 3)  # the first ones compile
    before = computed(browser, server)
    found = pictures(browser, count)
    after = computed(browser, server)
    spent = {name: (after[name] - before.get(name, 0.0)) / count for name in after}
    return found, {"all": sum(spent.values()), **spent}


def tables(found: list[Parts], spent: Parts) -> str:
    """Write both tables: medians and ranges, and means."""
    lines = ["by the clock"]
    for name in found[0]:
        values = sorted(one[name] for one in found)
        middle = statistics.median(values)
        lines.append(f"  {name:22} {middle:7.1f}  [{values[0]:.1f}, {values[-1]:.1f}]")
    lines.append("by the processor")
    lines += [f"  {name:22} {value:7.1f}" for name, value in spent.items()]
    return "\n".join(lines)


def main(count: int = 40) -> None:
    """Open the page with one panel and print the tables."""
    with tempfile.TemporaryDirectory() as folder, served() as (server, address):
        browser = Browser(Path(folder))
        try:
            browser.scheme("light", still=True)
            browser.open(address)
            browser.wait(SETTLED)
            press(browser, "One", "#sides")
            browser.wait(SETTLED)
            print(tables(*measured(browser, server, count)))
        finally:
            browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
