"""Two panels: what is changed in both, what stays different, and what they share."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from chromium import BROWSER, Browser
from hands import SETTLED, choose, experiment, press, slide_step, text
from hands import slide as slide_to

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on the PATH"),
]


def slide(browser: Browser, label: str, value: float) -> None:
    """Move the slider that has this name."""
    name = browser.run(
        "[...document.querySelectorAll('#controls label')]"
        f".find(l => l.textContent === {json.dumps(label)}).htmlFor"
    )
    slide_to(browser, f"#{name}", value)


def others(browser: Browser) -> list[str]:
    """What stands below the settings, where B has something else."""
    found: list[str] = browser.run(
        "[...document.querySelectorAll('#controls .other')]"
        ".filter(e => e.getClientRects().length).map(e => e.textContent)"
    )
    return found


def test_settings_of_both_move_together(browser: Browser) -> None:
    slide_to(browser, "#epsilon", -0.2)
    offsets = [experiment(browser, panel)["baseline"]["offset"] for panel in "ab"]
    assert offsets == pytest.approx([-0.2, 0.8])
    press(browser, "B", "#controls")
    slide_step(browser, -2)
    slide(browser, "reward of arm 2", 0.4)
    slide(browser, "samples", 60)
    press(browser, "both", "#controls")
    assert others(browser) == ["B: 0.8", "B: 0.01", "B: 60", "B: 0.4"]
    slide_step(browser, 0)
    slide(browser, "reward of arm 2", 0.8)
    slide(browser, "samples", 11)
    a, b = (experiment(browser, panel) for panel in "ab")
    assert a["update"]["step_size"] == 1.0
    assert b["update"]["step_size"] == pytest.approx(0.01 / 0.025, rel=0.01)
    assert (a["problem"]["means"][1], b["problem"]["means"][1]) == pytest.approx((0.8, 0.5))
    # Where the slider ends the setting does not.
    assert (a["estimator"]["samples"], b["estimator"]["samples"]) == (11, 70)
    press(browser, "A", "#controls")
    assert others(browser) == []


def test_what_one_of_them_does_not_have_stays_away(browser: Browser) -> None:
    press(browser, "A", "#controls")
    choose(browser, "draws from", "uniform_mixture")
    choose(browser, "rewards are", "gaussian")
    press(browser, "+ arm", "#controls")
    browser.wait(SETTLED)
    press(browser, "both", "#controls")
    before = experiment(browser, "b")
    assert others(browser) == ["B: 0.5", "B: the policy", "B: certain"]
    slide(browser, "exploration", 0.3)
    slide(browser, "spread", 0.2)
    slide(browser, "reward of arm 4", 0.6)
    slide(browser, "start of arm 4", 1.0)
    assert experiment(browser, "b") == before
    a = experiment(browser)
    assert a["behaviour"] == {"kind": "uniform_mixture", "gamma": 0.3}
    assert a["problem"]["sigma"] == 0.2
    assert a["problem"]["means"][3] == 0.6
    choose(browser, "draws from", "epsilon_greedy")
    assert experiment(browser, "b")["behaviour"] == {"kind": "epsilon_greedy", "epsilon": 0.1}


def test_a_smaller_map_beside_a_larger_one(browser: Browser) -> None:
    press(browser, "Gridworld", "#modes")
    browser.wait(SETTLED)
    press(browser, "A", "#controls")
    press(browser, "+ row", "#controls")
    browser.wait(SETTLED)
    press(browser, "both", "#controls")
    before = experiment(browser, "b")["problem"]
    box = browser.box('[data-panel="a"] canvas.maze-map')
    size = min(box["width"] / 10, box["height"] / 11)
    left = box["x"] + (box["width"] - 10 * size) / 2
    low = (left + 2.5 * size, box["y"] + (box["height"] + 11 * size) / 2 - 0.5 * size)
    browser.drag(low, low)
    browser.wait(SETTLED)
    assert experiment(browser)["problem"]["text"].split("\n")[10] == "##.#######"
    assert experiment(browser, "b")["problem"] == before


def test_maps_side_by_side_have_one_scale(browser: Browser) -> None:
    press(browser, "A", "#controls")
    choose(browser, "draws from", "uniform_mixture")
    press(browser, "variance", "#controls")
    notes = "[...document.querySelectorAll('.note')].map(n => n.textContent)"
    browser.wait(f"{notes}.every(n => n.includes('variance of the'))", 60)
    one, two = browser.run(notes)
    assert one == two
    pixel = (
        "[...document.querySelectorAll('canvas.simplex')].map(c =>"
        "[...c.getContext('2d').getImageData(c.width / 2, 0.6 * c.height, 1, 1).data])"
    )
    light = browser.run(pixel)
    assert light[0] != light[1]
    browser.scheme("dark", still=True)
    browser.run("new Promise(done => setTimeout(done, 200))")
    dark = browser.run(pixel)
    browser.scheme("light", still=True)
    assert sum(dark[1][:3]) < sum(light[1][:3]) - 150
    assert "variance" in text(browser, ".note")
