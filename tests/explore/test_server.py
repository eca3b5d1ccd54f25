"""The server of the page, without a browser: who may ask, how much, and what comes back."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

import committal as cm
from committal.explore import Page, bounds, explore
from committal.explore.packets import unpack
from committal.explore.writing import python_of

EXP = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]),
    cm.Softmax([0, 3, 5]),
    cm.Natural(0.025),
    cm.MinVariance() - 0.5,
    steps=1000,
)
MAZE = cm.Experiment(
    cm.maps.four_rooms(), cm.Softmax(), cm.Natural(0.1), estimator=cm.ExactQ(), steps=40
)
SCRIPT = "<script>alert(1)</script>"


class Reply:
    def __init__(self, reply: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = reply.status, reply.headers, reply.read()

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)["error"]
        return found


def send(
    page: Page, method: str, path: str | None, body: bytes | None = None, **headers: str
) -> Reply:
    server = page._server
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        whole = f"/{server.guard.token}/{path}" if path is not None else "/"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, whole, body, named)
        return Reply(connection.getresponse())
    finally:
        connection.close()


def request(**changes: Any) -> dict[str, Any]:
    base = {"page": "test", "panel": "a", "number": 1, "seed": 0, "below": 0.9, "runs": 200}
    return {**base, "experiment": EXP.to_dict(), **changes}


def ask(page: Page, name: str, /, **changes: Any) -> Reply:
    body = json.dumps(request(**changes)).encode()
    return send(page, "POST", name, body, Content_Type="application/json")


# -- who may ask -----------------------------------------------------------------------------------


def test_the_page_and_its_files_are_there_for_who_has_the_token(page: Page) -> None:
    index = send(page, "GET", "")
    assert index.status == 200
    assert b"main.js" in index.body
    for name in page._server.page:
        reply = send(page, "GET", name)
        assert reply.status == 200
        assert reply.headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert "unsafe" not in reply.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/main.js", "/guess/", "/guess/picture", "//", "/%00/"])
def test_without_the_token_there_is_nothing(page: Page, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", page._server.server_port, timeout=10)
    connection.request("GET", path)
    reply = connection.getresponse()
    assert reply.status == 403
    assert b"script" not in reply.read()
    connection.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"origin": "http://evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_foreign_hosts_and_origins_are_refused(page: Page, headers: dict[str, str]) -> None:
    for method, path in (("GET", ""), ("POST", "picture")):
        given = {name.replace("-", "_"): value for name, value in headers.items()}
        reply = send(page, method, path, b"{}" if method == "POST" else None, **given)
        assert reply.status == 403
        assert reply.error["type"] == "Refused"


def test_its_own_origin_may_ask(page: Page) -> None:
    for host in ("127.0.0.1", "localhost"):
        place = f"{host}:{page._server.server_port}"
        reply = send(
            page, "POST", "picture", json.dumps(request()).encode(),
            Host=place, Origin=f"http://{place}", Content_Type="application/json",
        )  # fmt: skip
        assert reply.status == 200


def test_a_form_of_another_page_cannot_ask(page: Page) -> None:
    reply = send(page, "POST", "picture", json.dumps(request()).encode(), Content_Type="text/plain")
    assert reply.status == 415


def test_only_the_loopback_interface_listens(page: Page) -> None:
    assert page._server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path", ["../server.py", "..%2fserver.py", "/etc/passwd", "page/main.js", "nothing.js"]
)
def test_no_other_file_is_ever_sent(page: Page, path: str) -> None:
    assert send(page, "GET", path).status in (403, 404)


def test_tokens_are_long_and_differ() -> None:
    with explore(show=False) as one, explore(show=False) as two:
        tokens = {one._server.guard.token, two._server.guard.token}
    assert len(tokens) == 2
    assert all(len(token) >= 22 for token in tokens)


# -- how much may be asked -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"runs": 10**9}, "runs"),
        ({"runs": 0}, "runs"),
        ({"runs": 2.5}, "runs"),
        ({"runs": "<b>"}, "runs"),
        ({"seed": -1}, "seed"),
        ({"below": None}, "below"),
        ({"below": float("nan")}, "below"),
        ({"panel": "c"}, "panel"),
        ({"panel": ["a"]}, "panel"),
        ({"page": "x" * 1000}, "page"),
        ({"number": -1}, "number"),
        ({"experiment": None}, "experiment"),
        ({"experiment": [1]}, "experiment"),
        ({"experiment": {}}, "problem.kind"),
        ({"experiment": {"problem": {"kind": "tabular_mdp"}}}, "problem.kind"),
        ({"experiment": EXP.replace(steps=10**9).to_dict()}, "Experiment.steps"),
        ({"experiment": EXP.replace(estimator=cm.OneSample(10**6)).to_dict()}, "OneSample.samples"),
        (
            {"experiment": {**EXP.to_dict(), "problem": {"kind": "bandit", "means": [0.5] * 200},
                            "policy": {"kind": "softmax"}}},
            "Bandit.arms",
        ),
        ({"experiment": {**EXP.to_dict(), "stepz": 3}}, "stepz"),
    ],
)  # fmt: skip
def test_what_is_wrong_or_too_much_gets_a_typed_error(
    page: Page, changes: dict[str, Any], argument: str
) -> None:
    for name in ("picture", "count"):
        if name == "count" and changes.get("runs") == 10**9:
            changes = {"runs": 10**10}
        reply = ask(page, name, **changes)
        assert reply.status == 422, reply.body
        assert reply.error["argument"] == argument
        assert "is not allowed; expected" in reply.error["message"]


def test_mazes_have_limits_too(page: Page) -> None:
    large = cm.gridworld("S" + "." * 500 + "A", goals={"A": 1})
    reply = ask(page, "picture", experiment=MAZE.replace(problem=large).to_dict())
    assert reply.status == 422
    assert reply.error["argument"] == "Gridworld.cells"
    long = MAZE.replace(problem=cm.maps.four_rooms().replace(limit=10**6))
    assert ask(page, "picture", experiment=long.to_dict()).error["argument"] == "Gridworld.limit"


@pytest.mark.parametrize("body", [b"", b"[", b"[1]", b"\xff", b"[" * 60000, b"1" * 60000])
def test_what_is_not_an_object_is_refused(page: Page, body: bytes) -> None:
    reply = send(page, "POST", "picture", body, Content_Type="application/json")
    assert reply.status == 422
    assert reply.error["argument"] == "body"


@pytest.mark.parametrize("length", ["-1", "99999999999", "many", str(bounds.BODY + 1)])
def test_long_bodies_are_not_read(page: Page, length: str) -> None:
    reply = send(
        page, "POST", "picture", b"{}", Content_Type="application/json", Content_Length=length
    )
    assert reply.status == 422
    assert reply.error["argument"] == "Content-Length"


@pytest.mark.parametrize("formula", [SCRIPT, "__import__('os').system('ls')", "sum(pi", "pi"])
def test_a_script_in_a_formula_is_a_typed_error(page: Page, formula: str) -> None:
    hostile = {**EXP.to_dict(), "baseline": {"kind": "formula_baseline", "formula": formula}}
    reply = ask(page, "picture", experiment=hostile)
    assert reply.status == 422
    assert reply.error["type"] == "FormulaError"
    assert reply.headers["Content-Type"] == "application/json"


def test_a_script_in_a_name_stays_a_text(page: Page) -> None:
    named = EXP.replace(problem=cm.Bandit([1.0, 0.7, 0.0], names=[SCRIPT, "b", '"</script>']))
    reply = ask(page, "picture", experiment=named.to_dict(), number=2)
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/octet-stream"
    assert unpack(reply.body)[0]["names"][0] == SCRIPT
    assert cm.Experiment.from_dict(unpack(reply.body)[0]["experiment"]).problem == named.problem


def test_work_that_takes_too_long_is_given_up(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "PICTURE_SECONDS", 0.05)
    slow = EXP.replace(steps=100_000, estimator=cm.OneSample(100))
    start = time.monotonic()
    reply = ask(page, "picture", experiment=slow.to_dict(), number=3)
    assert reply.status == 422
    assert "0.05 s" in reply.error["message"]
    assert time.monotonic() - start < 5.0


JUNK = (
    None, -1, 0, 1, 1e300, 10**400, True, "", SCRIPT, "kind", [], {}, [[]], [1, "a"], "\ud800",
    {"kind": "value"}, {"kind": "softmax"}, {"kind": "linear"}, float("inf"), [0.5] * 30,
)  # fmt: skip


def spoiled(data: Any, random: np.random.Generator) -> Any:
    """Put junk somewhere into plain data, or take something away."""
    if isinstance(data, dict) and data and random.random() < 0.85:
        key = str(random.choice(list(data)))
        if random.random() < 0.15:
            return {name: value for name, value in data.items() if name != key}
        return {**data, key: spoiled(data[key], random)}
    if isinstance(data, list) and data and random.random() < 0.6:
        place = int(random.integers(len(data)))
        return [*data[:place], spoiled(data[place], random), *data[place + 1 :]]
    return JUNK[int(random.integers(len(JUNK)))]


@pytest.mark.parametrize("base", [EXP, MAZE], ids=["bandit", "maze"])
def test_junk_is_refused_by_typed_errors_only(page: Page, base: cm.Experiment) -> None:
    random = np.random.default_rng(0)
    found = set()
    rich = base.replace(steps=30)
    if base is EXP:
        rich = rich.replace(
            baseline=cm.baseline("sum(pi * r) + c", c=0.5), optimiser=cm.Momentum(0.9),
            update=cm.Natural(cm.Decay(0.1, 0.5)), behaviour=cm.UniformMixture(0.1),
        )  # fmt: skip
    for number in range(150):
        whole = request(page=f"junk {number}", number=number, runs=3, experiment=rich.to_dict())
        given = spoiled(whole, random)
        for name in ("picture", "count", "read"):
            body = json.dumps(given).encode()
            reply = send(page, "POST", name, body, Content_Type="application/json")
            assert reply.status in (200, 409, 422), (given, reply.body)
            found.add(reply.status)
    assert {200, 422} <= found


# -- what comes back -------------------------------------------------------------------------------


def test_a_picture_is_what_run_says(page: Page) -> None:
    reply = ask(page, "picture", number=4, seed=3, runs=50)
    head, arrays = unpack(reply.body)
    data = cm.run(EXP.replace(record=cm.Record("policy", at=head["times"])), runs=50, rng=3)
    np.testing.assert_array_equal(arrays["policy"], data["policy"].values.astype(np.float32))
    path = cm.exact.expected_path(EXP, head["times"])
    np.testing.assert_allclose(arrays["path"], path.policy, rtol=1e-5, atol=1e-7)
    assert head["means"] == [1.0, 0.7, 0.0]


def test_a_count_is_what_failure_rate_says(page: Page) -> None:
    reply = ask(page, "count", number=5, runs=5000)
    lines = [json.loads(line) for line in reply.body.splitlines()]
    runs = [line["runs"] for line in lines]
    assert runs == sorted(runs)
    assert lines[-1]["done"]
    rate = cm.failure_rate(cm.run(EXP, runs=5000, rng=0), below=0.9)
    last = lines[-1]
    assert (last["failures"], last["runs"]) == (rate.failures, rate.runs)
    assert (last["low"], last["high"]) == (rate.low, rate.high)
    assert last["always_low"] < last["low"] < last["high"] < last["always_high"]


def test_a_maze_has_its_picture(page: Page) -> None:
    reply = ask(page, "picture", number=6, runs=5, experiment=MAZE.to_dict(), below=0.6)
    head, arrays = unpack(reply.body)
    assert head["mode"] == "gridworld"
    times, states = len(head["times"]), len(head["cells"])
    assert arrays["policy"].shape == (times, states, 4)
    assert arrays["values"].shape == (times, states)
    assert arrays["goal_probability"].shape == (5, times, 3)
    np.testing.assert_allclose(arrays["policy"].sum(axis=-1), 1.0, rtol=1e-5)


@pytest.mark.parametrize(
    "experiment",
    [
        EXP,
        EXP.replace(baseline=cm.baseline("sum(pi * r) + c", c=0.5), optimiser=cm.Adam()),
        EXP.replace(update=cm.Vanilla(cm.Decay(0.5, 0.5)), behaviour=cm.UniformMixture(0.1)),
        EXP.replace(problem=cm.Bandit([1.0, 0.7, 0.0], names=["a\nb", "\r\n'", '"""\n'])),
        MAZE,
    ],
)
def test_the_texts_make_the_experiment(page: Page, experiment: cm.Experiment) -> None:
    head, _ = unpack(ask(page, "picture", experiment=experiment.to_dict(), number=7, runs=3).body)
    names: dict[str, Any] = {"print": lambda *_: None}
    program = head["python"].partition("data = ")[0]
    exec(program, names)
    plain = experiment.replace(record=cm.Record())
    assert names["experiment"] == plain
    assert cm.Experiment.from_dict(head["experiment"]) == plain
    read = unpack(ask(page, "read", toml=head["toml"]).body)[0]["experiment"]
    assert cm.Experiment.from_dict(read) == plain


def test_rows_of_a_map_stand_below_each_other(page: Page) -> None:
    head, _ = unpack(ask(page, "picture", experiment=MAZE.to_dict(), number=8, runs=3).body)
    assert "\n        '#S...#...#\\n'\n        '#....#...#\\n'" in head["python"]
    assert "\n#S...#...#\n#....#...#\n" in head["toml"]


def test_the_program_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    exec(python_of(EXP.replace(steps=10), runs=20, seed=0, below=0.9), {})
    assert "of 20" in capsys.readouterr().out


def test_toml_that_cannot_be_read_is_a_typed_error(page: Page) -> None:
    for toml in ("steps = ", "a.b" * 200, 3, "[experiment]\nsteps = 1"):
        reply = ask(page, "read", toml=toml)
        assert reply.status == 422
        assert reply.error["type"] in ("ConfigError", "ConfigTypeError")


def test_every_figure_is_a_preset_that_can_be_drawn(page: Page) -> None:
    listed = unpack(ask(page, "presets").body)[0]["presets"]
    assert {one["name"] for one in listed} == set(cm.paper.names()) - {"claims"}
    for number, one in enumerate(listed):
        for case in (one["cases"][k] for k in one["pair"]):
            plain = {**case["experiment"], "steps": 3}
            reply = ask(page, "picture", page="figures", number=number, runs=2, experiment=plain)
            assert reply.status == 200, (one["name"], reply.body)


# -- the slider moves on ---------------------------------------------------------------------------


def test_an_old_setting_is_refused(page: Page) -> None:
    assert ask(page, "picture", page="p", number=5).status == 200
    assert ask(page, "picture", page="p", number=4).status == 409
    assert ask(page, "picture", page="p", panel="b", number=4).status == 200
    assert ask(page, "picture", page="q", number=4).status == 200


def test_a_newer_setting_ends_the_count_of_the_older(page: Page) -> None:
    found: list[Reply] = []
    slow = EXP.replace(steps=20_000).to_dict()
    count = threading.Thread(
        target=lambda: found.append(
            ask(page, "count", page="c", number=1, runs=10**6, experiment=slow)
        )
    )
    count.start()
    time.sleep(0.3)
    assert ask(page, "picture", page="c", number=2).status == 200
    count.join(10)
    assert not count.is_alive()
    assert b"SupersededError" in found[0].body or found[0].status == 409


def test_a_newer_setting_ends_an_exact_answer(page: Page) -> None:
    found: list[Reply] = []
    ask_it = threading.Thread(
        target=lambda: found.append(ask(page, "answer", page="e", number=1, what="probability"))
    )
    ask_it.start()
    time.sleep(0.2)
    assert ask(page, "picture", page="e", number=2).status == 200
    ask_it.join(5)
    assert not ask_it.is_alive()
    assert found[0].status == 409


def test_closing_does_not_wait_for_an_exact_answer() -> None:
    page = explore(show=False)
    ask_it = threading.Thread(target=lambda: _quietly(page))
    ask_it.start()
    time.sleep(0.3)
    start = time.monotonic()
    page.close()
    assert time.monotonic() - start < 5.0
    ask_it.join(10)
    assert not ask_it.is_alive()
    assert all(worker._process is None for worker in page._server.desk._workers.values())


def _quietly(page: Page) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        ask(page, "answer", what="probability")


def test_who_goes_away_ends_the_count(page: Page) -> None:
    """Although it has nothing to write yet: its first runs would take minutes."""
    slow = EXP.replace(steps=100_000, estimator=cm.OneSample(1000)).to_dict()
    body = json.dumps(request(page="gone", runs=10**6, experiment=slow)).encode()
    connection = http.client.HTTPConnection("127.0.0.1", page._server.server_port, timeout=10)
    path = f"/{page._server.guard.token}/count"
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    time.sleep(0.5)
    before = threading.active_count()
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    end = time.monotonic() + 10
    while threading.active_count() >= before and time.monotonic() < end:
        time.sleep(0.05)
    assert threading.active_count() < before


# -- the door --------------------------------------------------------------------------------------


def test_explore_is_a_function_whatever_was_imported_first() -> None:
    for first in ("committal", "committal.explore.server"):
        program = (
            f"import {first}\nimport committal as cm\n"
            "with cm.explore(show=False) as page: assert 'the page at' in repr(page)\n"
            "from committal.explore import server\n"
            "with cm.explore(show=False) as page: pass"
        )
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_address_carries_the_experiments() -> None:
    with explore(EXP, MAZE.replace(steps=3), rng=5, below=0.8, show=False) as page:
        fragment = page.address.partition("#")[2]
    given = parse_qs(fragment)
    assert cm.Experiment.from_json(given["a"][0]) == EXP.replace(record=cm.Record())
    assert given["seed"] == ["5"]
    assert given["below"] == ["0.8"]


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(cm.ConfigTypeError, match="experiment = 3"):
        explore(3, show=False)  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match=r"Experiment\.steps"):
        explore(EXP.replace(steps=10**7), show=False)
    with explore(show=False) as page, pytest.raises(cm.ConfigError, match="port"):
        explore(port=page._server.server_port, show=False)


def test_nothing_on_the_page_reads_markup_or_comes_from_outside(page: Page) -> None:
    for name, content in page._server.page.items():
        text = content.decode()
        for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert danger not in text, name
        rest = text.replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in rest, name
        assert "https:" not in rest, name
        assert "//cdn" not in rest, name
        assert not any(f" {event}=" in rest for event in ("onclick", "onload", "style")) or (
            not name.endswith(".html")
        )
