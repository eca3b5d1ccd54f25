"""What happens at the same time: pictures that overlap, hidden panels, and how long it takes."""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from chromium import BROWSER, Browser
from hands import SETTLED, experiment, press
from latency import measured, served, tables

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on the PATH"),
]

#: The first pictures are answered by these statuses after 60 ms, the others truly, but after 350.
REPLIES = """
(() => {
  const real = window.fetch, statuses = %s;
  window.fetch = async (name, options) => {
    if (name !== "picture") return real(name, options);
    const status = statuses.shift();
    await new Promise((done) => setTimeout(done, status ? 60 : 350));
    if (!status) return real(name, options);
    const error = { type: "Planted", message: "planted" };
    return new Response(JSON.stringify({ error }), { status });
  };
})()
"""
MOVE = (
    "(() => {{ const s = document.querySelector('#epsilon'); s.value = {};"
    "s.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
)


def alone(browser: Browser) -> None:
    press(browser, "One", "#sides")
    browser.wait(SETTLED)


def test_impatience_ends_only_the_picture_that_it_was_meant_for(browser: Browser) -> None:
    """A refused picture leaves a timer behind; the next picture, a slow one, must survive it."""
    alone(browser)
    browser.run(REPLIES % "[422]")
    browser.run(MOVE.format(0.1) + ";" + MOVE.format(0.2))
    browser.wait(SETTLED, 5)
    assert browser.run("document.querySelector('.panel .error').hidden")
    assert experiment(browser)["baseline"]["offset"] == 0.2


def test_a_picture_that_takes_long_is_given_up_for_a_newer_one(browser: Browser) -> None:
    alone(browser)
    browser.run(
        "(() => { const real = window.fetch; window.given = [];"
        "window.fetch = (name, options) => {"
        "if (name !== 'picture') return real(name, options);"
        "const signal = options.signal; window.given.push(signal);"
        "if (window.given.length > 1) return real(name, options);"
        "return new Promise((_, fail) => signal.addEventListener('abort',"
        "() => fail(new DOMException('', 'AbortError')))); }; })()"
    )
    browser.run(MOVE.format(0.1) + ";" + MOVE.format(0.2))
    browser.wait(SETTLED, 5)
    assert browser.run("window.given.map((signal) => signal.aborted)") == [True, False]


def test_a_setting_that_was_dropped_asks_again(browser: Browser) -> None:
    """The server may have taken it for an old one, of a page that was open before."""
    alone(browser)
    browser.run(REPLIES % "[409]")
    browser.run(MOVE.format(0.3))
    browser.wait(SETTLED, 5)
    assert browser.run("document.querySelector('.panel .error').hidden")
    assert experiment(browser)["baseline"]["offset"] == 0.3


def test_a_panel_that_is_hidden_stops_counting(browser: Browser) -> None:
    """It would take both cores from the one that is seen."""
    counted = "Number(document.querySelector('[data-panel=b]').dataset.counted ?? 0)"
    browser.wait(f"{counted} > 0", 30)
    press(browser, "One", "#sides")
    before = browser.run(counted)
    time.sleep(1.0)
    assert browser.run(counted) == before
    press(browser, "Two", "#sides")
    browser.wait(SETTLED)
    browser.wait(f"{counted} > 0", 30)


def test_from_slider_to_picture_in_a_tenth_of_a_second(chromium: Browser) -> None:
    """Three arms, 200 runs of 1000 updates: the median of ten, of the best ten of a few.

    Machines have other work. The processor's time says that even one core alone could do it.
    """
    with served() as (server, address):
        chromium.resize(1280, 900)
        chromium.open(address)
        chromium.wait(SETTLED)
        alone(chromium)
        head = experiment(chromium)
        assert head["steps"] == 1000
        assert len(head["problem"]["means"]) == 3
        for _ in range(6):
            found, spent = measured(chromium, server, 10)
            print(tables(found, spent))
            middle = statistics.median(one["all"] for one in found)
            if middle < 100.0:
                break
        assert middle < 100.0
        assert spent["all"] < 150.0
        chromium.open("about:blank")
