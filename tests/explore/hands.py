"""What a person does with the page, and sees of it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

from chromium import Browser

#: Every panel shows its last setting.
SETTLED = (
    "document.querySelector('.panel') !== null &&"
    "[...document.querySelectorAll('.panel:not([hidden])')]"
    ".every(p => p.dataset.ready && p.dataset.ready === p.dataset.wanted)"
)


def visit(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.wait(SETTLED)


def experiment(browser: Browser, panel: str = "a") -> dict[str, Any]:
    """What the address carries."""
    browser.run("new Promise(done => setTimeout(done, 250))")  # it is written a moment later
    given = parse_qs(browser.run("location.hash.slice(1)"))
    found: dict[str, Any] = json.loads(given[panel][0])
    return found


def slide(browser: Browser, selector: str, value: float) -> None:
    browser.run(
        f"(() => {{ const s = document.querySelector({json.dumps(selector)}); s.value = {value};"
        "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    browser.wait(SETTLED)


def press(browser: Browser, words: str, within: str = "body") -> None:
    browser.run(
        f"[...document.querySelector({json.dumps(within)}).querySelectorAll('button')]"
        f".find(b => b.textContent === {json.dumps(words)}).click()"
    )


def choose(browser: Browser, label: str, value: str) -> None:
    browser.run(
        f"(() => {{ const l = [...document.querySelectorAll('#controls label')]"
        f".find(l => l.textContent === {json.dumps(label)});"
        f"const s = document.getElementById(l.htmlFor); s.value = {json.dumps(value)};"
        "s.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    browser.wait(SETTLED)


def painted(browser: Browser, selector: str) -> dict[str, int]:
    """Count the pixels of a canvas that are blue, and those that are orange."""
    found: dict[str, int] = browser.run(
        f"(() => {{ const c = document.querySelector({json.dumps(selector)});"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let blue = 0, orange = 0, any = 0;"
        "for (let i = 0; i < d.length; i += 4) { if (d[i + 3] > 20) { any++;"
        "if (d[i + 2] > d[i] + 60) blue++; if (d[i] > d[i + 2] + 90) orange++; } }"
        "return {blue, orange, any}; })()"
    )
    return found


def text(browser: Browser, selector: str) -> str:
    found: str = browser.run(f"document.querySelector({json.dumps(selector)}).textContent")
    return found


def slide_step(browser: Browser, log: float) -> None:
    """The slider of the step size has the logarithm."""
    browser.run(
        "(() => { const l = [...document.querySelectorAll('#controls label')]"
        ".find(l => l.textContent === 'step size α');"
        f"const s = document.getElementById(l.htmlFor); s.value = {log};"
        "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    browser.wait(SETTLED)
