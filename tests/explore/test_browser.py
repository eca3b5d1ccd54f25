"""The page in a real Chromium: what a lecturer does with it, on a screen and on a phone."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import committal as cm
from committal.explore import Page, explore

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from chromium import BROWSER, Browser
from hands import SETTLED, choose, experiment, painted, press, slide, text, visit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on the PATH"),
]

SCRIPT = "<img src=x onerror='document.title=\"owned\"'><script>document.title='owned'</script>"
EXP = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]),
    cm.Softmax([0, 3, 5]),
    cm.Natural(0.025),
    cm.MinVariance() - 0.5,
    steps=1000,
)


# -- what is there ---------------------------------------------------------------------------------


def test_it_opens_with_two_panels_of_the_first_figure(browser: Browser, page: Page) -> None:
    low, high = (painted(browser, f'[data-panel="{p}"] canvas.simplex') for p in "ab")
    assert low["blue"] > 1000
    assert low["orange"] > 300
    assert high["blue"] > 1000
    assert high["orange"] < low["orange"] / 5
    assert "fail only in A, 0 only in B" in text(browser, "#paired")
    place = f"http://127.0.0.1:{page._server.server_port}/"
    asked = [one for one in browser.requests if not one.startswith(("about:", "data:"))]
    assert asked
    assert all(one.startswith(place) for one in asked)


def test_a_slider_changes_the_picture_the_address_and_the_number(browser: Browser) -> None:
    press(browser, "A", "#controls")
    before = painted(browser, '[data-panel="a"] canvas.simplex')
    slide(browser, "#epsilon", 0.5)
    after = painted(browser, '[data-panel="a"] canvas.simplex')
    assert after["orange"] < before["orange"] / 5
    assert experiment(browser)["baseline"]["offset"] == 0.5
    # Common random numbers: the same setting gives the same picture, point by point.
    same = browser.run(
        "(() => { const [a, b] = [...document.querySelectorAll('canvas.simplex')]"
        ".map(c => c.toDataURL()); return a === b; })()"
    )
    assert same
    assert "0 fail only in A, 0 only in B" in text(browser, "#paired")


def test_while_a_slider_is_dragged_the_last_setting_wins(browser: Browser) -> None:
    browser.run(
        "(async () => { const s = document.querySelector('#epsilon');"
        "for (let k = 0; k < 40; k++) { s.value = -1 + k / 40;"
        "s.dispatchEvent(new Event('input', {bubbles: true}));"
        "await new Promise(done => setTimeout(done, 8)); } })()"
    )
    browser.wait(SETTLED)
    assert experiment(browser)["baseline"]["offset"] == pytest.approx(-0.025, abs=0.011)
    assert text(browser, '[data-panel="a"] h2').startswith("b* − 0.0")


@pytest.mark.parametrize("arms", [2, 3, 4, 5])
def test_a_point_and_its_policy_agree(browser: Browser, arms: int) -> None:
    """On a polygon several policies share a point: the point must come back, not the policy."""
    far = browser.run(
        "(async () => { const g = await import('./geometry.js');"
        f"const where = g.corners({arms}); let far = 0;"
        "for (let k = 0; k < 200; k++) {"
        "const raw = where.map(() => 0.02 + Math.random());"
        "const sum = raw.reduce((a, b) => a + b);"
        "const p = raw.map(x => x / sum), [x, y] = g.pointOf(p, where);"
        "const again = g.pointOf(g.policyAt(x, y, where), where);"
        "far = Math.max(far, Math.hypot(again[0] - x, again[1] - y)); } return far; })()"
    )
    assert far < 1e-6


def test_the_start_can_be_dragged(browser: Browser) -> None:
    box = browser.box('[data-panel="a"] canvas.simplex')
    middle = box["x"] + box["width"] / 2
    start = (middle + 0.2 * box["width"], box["y"] + 0.85 * box["height"])
    browser.drag(
        start, (middle, box["y"] + 0.7 * box["height"]), (middle, box["y"] + 0.62 * box["height"])
    )
    browser.wait(SETTLED)
    theta = experiment(browser)["policy"]["theta0"]
    assert max(theta) - min(theta) < 1.5
    assert experiment(browser, "b")["policy"]["theta0"] == theta
    browser.key("ArrowLeft")
    browser.wait(SETTLED)
    assert experiment(browser)["policy"]["theta0"] != theta


def test_runs_are_counted_and_the_interval_closes(browser: Browser) -> None:
    small = '[data-panel="a"] .small'
    counted = "Number(document.querySelector('[data-panel=\"a\"]').dataset.counted)"
    browser.wait(f"{counted} > 300", 30)
    first = text(browser, small)
    runs = browser.run(counted)
    browser.wait(f"{counted} > {20 * runs}", 60)
    last = text(browser, small)

    def width(words: str) -> float:
        low, high = words.partition("]")[0].strip("[").split(", ")
        return float(high) - float(low)

    assert width(last) < width(first) / 2
    assert painted(browser, '[data-panel="a"] canvas.rate')["orange"] > 200


def test_a_formula_is_a_baseline_and_a_wrong_one_says_why(browser: Browser) -> None:
    choose(browser, "baseline", "formula")

    def write(formula: str) -> None:
        browser.run(
            "(() => { const f = document.querySelector('#formula');"
            f"f.value = {json.dumps(formula)}; f.dispatchEvent(new Event('change')); }})()"
        )
        browser.wait(SETTLED)

    write("sum(pi * r) + 0.3")
    assert experiment(browser)["baseline"]["formula"] == "sum(pi * r) + 0.3"
    assert browser.run("document.querySelector('.panel .error').hidden")
    write("sum(pi * q)")
    assert "is not allowed; expected" in text(browser, ".panel .error")
    browser.complaints.clear()  # the browser notes that the server refused


def test_everything_that_can_be_chosen_works(browser: Browser) -> None:
    for label, values in {
        "update": ("vanilla", "projected", "natural"),
        "optimiser": ("momentum", "adam", "plain"),
        "draws from": ("uniform_mixture", "epsilon_greedy", "on_policy"),
        "rewards are": ("bernoulli", "gaussian", "uniform", "none"),
        "baseline": ("natural b*", "value", "constant", "running_mean", "maximum", "b*"),
    }.items():
        for value in values:
            choose(browser, label, value)
            assert browser.run("document.querySelector('.panel .error').hidden"), (label, value)
    for words, arms in (("+ arm", 4), ("+ arm", 5), ("− arm", 4), ("− arm", 3), ("− arm", 2)):
        press(browser, words, "#controls")
        browser.wait(SETTLED)
        assert browser.run("document.querySelector('.panel .error').hidden"), words
        assert len(experiment(browser)["problem"]["means"]) == arms
        assert painted(browser, '[data-panel="a"] canvas.simplex')["any"] > 2000


def test_maps_and_exact_answers_come_on_request(browser: Browser) -> None:
    press(browser, "variance", "#controls")
    browser.wait("document.querySelector('.note').textContent.includes('variance of the')", 40)
    assert painted(browser, '[data-panel="a"] canvas.simplex')["any"] > 20_000
    press(browser, "nothing", "#controls")
    browser.wait("document.querySelector('.exact').textContent.includes('47.')", 60)


def test_the_map_of_ends_is_a_map(browser: Browser) -> None:
    press(browser, "One", "#sides")
    press(browser, "− arm", "#controls")
    press(browser, "ends", "#controls")
    browser.wait("document.querySelector('.note').textContent.includes('probability of')", 60)
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    worse, better = browser.run(
        "(() => { const c = document.querySelector('canvas.simplex'), g = c.getContext('2d');"
        "return [[36, 0.6], [0.8 * c.width, 0.15]].map(([x, y]) =>"
        "g.getImageData(x, y * c.height, 1, 1).data[2]); })()"
    )
    assert worse < better - 20  # a start at the worse arm ends there more often: less blue


# -- texts and the address -------------------------------------------------------------------------


def test_python_is_copied_and_makes_the_experiment(browser: Browser, page: Page) -> None:
    place = page.address.split("/")[2]
    browser.call(
        "Browser.grantPermissions", origin=f"http://{place}",
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
    )  # fmt: skip
    browser.run("document.querySelector('#copy').click()")
    browser.wait("document.querySelector('#copy').textContent === 'Copied'")
    copied = browser.run("navigator.clipboard.readText()")
    names: dict[str, Any] = {}
    exec(copied.partition("data = ")[0], names)
    assert names["experiment"] == EXP
    browser.key("c")
    browser.run("new Promise(done => setTimeout(done, 300))")
    assert browser.run("navigator.clipboard.readText()") == browser.run("location.href")


def test_toml_can_be_written_and_run(browser: Browser) -> None:
    press(browser, "TOML", "#texts")
    browser.run(
        "(() => { const t = document.querySelector('#text');"
        "t.value = t.value.replace('step_size = 0.025', 'step_size = 0.05'); })()"
    )
    browser.run("document.querySelector('#apply').click()")
    browser.wait("document.querySelector('[data-panel=a] h2').textContent.includes('0.05')")
    browser.wait(SETTLED)
    assert experiment(browser)["update"]["step_size"] == 0.05


def test_the_address_is_the_demonstration(browser: Browser) -> None:
    press(browser, "B", "#controls")
    slide(browser, "#epsilon", -0.3)
    press(browser, "time", "#controls")
    choose(browser, "update", "vanilla")
    before = experiment(browser, "b")
    picture = browser.run("document.querySelector('[data-panel=b] canvas.simplex').toDataURL()")
    address = browser.run("location.href")
    visit(browser, address)
    assert experiment(browser, "b") == before
    assert browser.run("location.href") == address
    again = browser.run("document.querySelector('[data-panel=b] canvas.simplex').toDataURL()")
    assert again == picture
    browser.run("location.hash = '#seed=5'")  # another one pasted over it
    browser.wait("document.querySelector('[data-panel=b] h2').textContent.startsWith('b* + 0.5')")
    browser.wait(SETTLED)
    assert experiment(browser)["update"] == {"kind": "natural", "step_size": 0.025}
    assert "seed=5" in browser.run("location.hash")
    assert "colour=fate" in browser.run("location.hash")


def test_python_opens_what_it_is_given(chromium: Browser) -> None:
    chromium.complaints.clear()
    other = EXP.replace(update=cm.Vanilla(0.5), policy=cm.Softmax([0, 0, 0]))
    with explore(EXP, other, rng=7, below=0.8, show=False) as page:
        visit(chromium, page.address)
        assert text(chromium, "[data-panel=b] h2") == "b* − 0.5 · vanilla · α = 0.5"
        assert cm.Experiment.from_dict(experiment(chromium, "b")) == other
        assert "seed=7" in chromium.run("location.hash")
        chromium.open("about:blank")
    assert chromium.complaints == []


@pytest.mark.parametrize("where", ["names", "formula", "kind", "text"])
def test_a_script_in_an_address_is_a_text(browser: Browser, page: Page, where: str) -> None:
    hostile = {k: v for k, v in EXP.to_dict().items() if k not in ("record", "kind")}
    if where == "names":
        hostile["problem"] = {**hostile["problem"], "names": [SCRIPT, "b", "c"]}
    elif where == "formula":
        hostile["baseline"] = {"kind": "formula_baseline", "formula": SCRIPT}
    elif where == "kind":
        hostile["update"] = {"kind": SCRIPT, "step_size": 0.1}
    else:
        hostile["problem"] = {"kind": "gridworld", "text": SCRIPT, "goals": {"<": 1.0}}
    address = f"{page.address}#a={quote(json.dumps(hostile))}&seed={quote(SCRIPT)}"
    visit(browser, address)
    assert browser.run("document.title") == "committal explore"
    assert browser.run("document.querySelectorAll('main img, main script').length") == 0
    if where != "names":
        assert "is not allowed; expected" in text(browser, ".panel .error")
    browser.complaints.clear()  # the browser notes that the server refused


def test_an_address_full_of_nonsense_is_the_first_figure(browser: Browser, page: Page) -> None:
    visit(browser, page.address + "#a=%7B&b=3&seed=-1&runs=1e99&colour=red&below=x")
    assert experiment(browser)["policy"]["theta0"] == [0, 3, 5]
    assert browser.run("document.querySelector('.panel .error').hidden")


# -- time ------------------------------------------------------------------------------------------


def test_time_plays_steps_and_stops(browser: Browser) -> None:
    label = "document.querySelector('.clock').textContent"
    assert browser.run(label) == "t = 1,000"
    browser.run("document.body.focus()")
    slide(browser, ".transport input", 0.5)
    assert browser.run(label) == "t = 278"  # times are dense at first
    browser.key("Home")
    assert browser.run(label) == "t = 0"
    browser.key("ArrowRight")
    assert browser.run(label) == "t = 1"
    browser.key(" ")
    browser.wait(f"{label} !== 't = 1'")
    browser.key(" ")
    stopped = browser.run(label)
    time.sleep(0.3)
    assert browser.run(label) == stopped
    early = painted(browser, '[data-panel="a"] canvas.simplex')
    browser.key("End")
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert painted(browser, '[data-panel="a"] canvas.simplex')["any"] > early["any"]


def test_keys_do_what_the_list_of_keys_says(browser: Browser) -> None:
    speed = "document.querySelector('.transport > button:last-child').textContent"
    pressed = "document.querySelector('.targets [aria-pressed=true]').textContent"
    shown = "[...document.querySelectorAll('.panel')].filter(p => !p.hidden).length"
    browser.run("document.activeElement.blur()")
    assert browser.run(speed) == "1×"
    for key, word in (("]", "2×"), ("]", "4×"), ("]", "4×"), ("[", "2×"), ("[", "1×")):
        browser.key(key)
        assert browser.run(speed) == word
    for key, word in (("a", "A"), ("b", "B"), ("x", "both")):
        browser.key(key)
        assert browser.run(pressed) == word
    for key, panels in (("1", 1), ("2", 2)):
        browser.key(key)
        assert browser.run(shown) == panels
        browser.wait(SETTLED)
    before = browser.run("document.querySelector('canvas.simplex').toDataURL()")
    browser.key("r")
    browser.wait(SETTLED)
    experiment(browser)
    assert "seed=1" in browser.run("location.hash")
    assert browser.run("document.querySelector('canvas.simplex').toDataURL()") != before
    browser.key("?")
    assert browser.run("document.querySelector('#help').open")
    listed = browser.run("[...document.querySelectorAll('#help dt')].map(e => e.textContent)")
    assert listed == ["Space", "← →", "Home End", "[ ]", "1 2", "a b x", "r", "c", "?"]
    browser.run("document.querySelector('#help button').click()")


# -- gridworlds and figures ------------------------------------------------------------------------


def test_a_maze_can_be_drawn(browser: Browser) -> None:
    press(browser, "Gridworld", "#modes")
    browser.wait(SETTLED)
    box = browser.box('[data-panel="a"] canvas.maze-map')
    size = min(box["width"], box["height"]) / 10
    left = box["x"] + (box["width"] - 10 * size) / 2
    top = box["y"] + (box["height"] - 10 * size) / 2

    def at(row: int, column: int) -> tuple[float, float]:
        return left + (column + 0.5) * size, top + (row + 0.5) * size

    browser.drag(at(2, 1), at(2, 2), at(2, 3))
    browser.wait(SETTLED)
    rows = experiment(browser)["problem"]["text"].split("\n")
    assert rows[2] == "####.#...#"
    assert experiment(browser, "b")["problem"]["text"].split("\n") == rows
    press(browser, "C", "#controls .tools")
    browser.drag(at(1, 8), at(1, 8))
    press(browser, "start", "#controls .tools")
    browser.drag(at(3, 2), at(3, 2))
    browser.wait(SETTLED)
    rows = experiment(browser)["problem"]["text"].split("\n")
    assert rows[1][8] == "C"
    assert rows[8][8] == "."
    assert rows[3][2] == "S"
    assert rows[1][1] == "."
    assert browser.run("document.querySelector('.panel .error').hidden")
    assert painted(browser, '[data-panel="a"] canvas.maze-map')["blue"] > 300
    assert painted(browser, '[data-panel="a"] canvas.goals')["any"] > 300
    for curve in ("value", "action_entropy", "state_entropy"):
        choose(browser, "curves of", curve)
        assert painted(browser, '[data-panel="a"] canvas.curves')["any"] > 300
    made = cm.Experiment.from_dict(experiment(browser)).problem
    assert isinstance(made, cm.Gridworld)


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3", "fig4", "figA9", "figA11", "figA14"])
def test_figures_of_the_paper_are_presets(browser: Browser, name: str) -> None:
    browser.wait("document.querySelector('#presets').dataset.ready", 40)
    browser.run(
        "(() => { const p = document.querySelector('#presets');"
        f"p.value = {json.dumps(name)}; p.dispatchEvent(new Event('change')); }})()"
    )
    browser.wait(SETTLED)
    assert len(text(browser, "#says")) > 40
    assert browser.run("document.querySelectorAll('[data-panel=a] .cases button').length") >= 3
    assert browser.run("document.querySelector('.panel .error').hidden")
    browser.run("document.querySelectorAll('[data-panel=a] .cases button')[1].click()")
    browser.wait(SETTLED)
    assert browser.run("document.querySelector('.panel .error').hidden")


# -- where it is looked at -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["Bandit", "Gridworld"])
@pytest.mark.parametrize("width", [360, 390, 820, 1280])
def test_it_fits(browser: Browser, width: int, mode: str) -> None:
    browser.resize(width, 844, phone=width < 600)
    press(browser, mode, "#modes")
    browser.wait(SETTLED)
    assert browser.run("document.documentElement.scrollWidth") == width - browser.run(
        "innerWidth - document.documentElement.clientWidth"
    )
    wide = browser.run(
        "[...document.querySelectorAll('body *')].filter(e => e.getClientRects().length &&"
        "e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)"
        ".map(e => e.tagName + '.' + e.className)"
    )
    assert wide == []
    small = browser.run(
        "Math.min(...[...document.querySelectorAll('p, label, button, output, select, textarea')]"
        ".filter(e => e.textContent && e.getClientRects().length)"
        ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
    )
    assert small >= 12
    if width < 600:
        # The sliders are below the picture that they change, both on the screen.
        picture = browser.box('[data-panel="a"] canvas')
        controls = browser.box("#controls")
        assert picture["y"] < controls["y"] < 844


def test_a_finger_moves_the_start_and_scrolls_elsewhere(browser: Browser) -> None:
    browser.resize(390, 844, phone=True)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        box = browser.box('[data-panel="a"] canvas.simplex')
        theta = experiment(browser)["policy"]["theta0"]
        side = min(box["width"] - 68, (box["height"] - 52) / 0.866)
        # θ = (0, 3, 5) is a little left of the third arm.
        x = box["x"] + box["width"] / 2 + side * (0.88 + 0.003 - 0.5)
        y = box["y"] + 26 + (box["height"] - 52 + 0.866 * side) / 2 - 2
        browser.swipe((x, y), (x - 20, y - 30), (box["x"] + box["width"] / 2, y - 0.25 * side))
        browser.wait(SETTLED)
        moved = experiment(browser)["policy"]["theta0"]
        assert moved != theta
        assert max(moved) - min(moved) < 1.5
        empty = (box["x"] + 20, box["y"] + 120)
        browser.swipe(empty, (empty[0], empty[1] - 40), (empty[0], empty[1] - 100))
        browser.wait("scrollY > 0")
        assert experiment(browser)["policy"]["theta0"] == moved
    finally:
        browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_many_runs_are_darker_than_one_on_fine_screens_too(browser: Browser) -> None:
    browser.resize(390, 844, phone=True)
    browser.run("new Promise(done => setTimeout(done, 200))")
    full, pale = browser.run(
        "(() => { const c = document.querySelector('[data-panel=b] canvas.simplex');"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let full = 0, pale = 0; for (let i = 0; i < d.length; i += 4) {"
        "if (d[i + 2] > d[i] + 60) { if (d[i + 3] > 200) full++; else pale++; } }"
        "return [full, pale]; })()"
    )
    assert full > 2000
    assert pale > 2000


def test_dark_is_dark(browser: Browser) -> None:
    for scheme, bright in (("dark", False), ("light", True)):
        browser.scheme(scheme, still=True)
        browser.run("new Promise(done => setTimeout(done, 200))")
        colour = browser.run("getComputedStyle(document.documentElement).backgroundColor")
        level = sum(map(int, colour.strip("rgb()").split(","))) / 3
        assert (level > 128) is bright


def test_a_server_that_has_gone_is_said(chromium: Browser, tmp_path: Path) -> None:
    with explore(show=False) as page:
        visit(chromium, page.address)
    slide(chromium, "#epsilon", 0.1)
    assert "does not answer" in text(chromium, ".panel .error")
    chromium.open("about:blank")
    chromium.complaints.clear()
