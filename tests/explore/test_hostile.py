"""What else somebody might send to the server, from bytes that are no HTTP to large groups."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import committal as cm
from committal.explore import Page

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from test_server import EXP, MAZE, ask, request, send


def raw(page: Page, text: bytes, *, seconds: float = 10.0) -> bytes:
    """Send bytes as they are; return what comes until the server hangs up."""
    found = b""
    with socket.create_connection(("127.0.0.1", page._server.server_port), seconds) as connection:
        connection.sendall(text)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while piece := connection.recv(65536):
                found += piece
    return found


def head(page: Page, line: str, *lines: str) -> bytes:
    server = page._server
    whole = (line.format(server.guard.token), f"Host: 127.0.0.1:{server.server_port}", *lines)
    return ("\r\n".join(whole) + "\r\n\r\n").encode("latin-1")


def test_bytes_that_are_no_http_are_told_so_or_dropped(
    page: Page, capfd: pytest.CaptureFixture[str]
) -> None:
    close = "Connection: close"
    cases = {
        "a long line": b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        "many headers": head(page, "GET /{}/ HTTP/1.1", *(f"X-{k}: 1" for k in range(200))),
        "a long header": head(page, "GET /{}/ HTTP/1.1", "X: " + "a" * 70_000),
        "another method": head(page, "DELETE /{}/ HTTP/1.1", close),
        "options": head(page, "OPTIONS /{}/picture HTTP/1.1", close),
        "a proxy": head(page, "CONNECT example.org:443 HTTP/1.1", close),
        "another version": head(page, "GET /{}/ HTTP/3.7", close),
        "zeros": b"\0" * 1000 + b"\r\n\r\n",
        "greek": "GET /αβγ HTTP/1.1\r\n\r\n".encode(),
        "tls": bytes.fromhex("1603010200010001fc0303") + b"\r\n\r\n",
    }
    for name, text in cases.items():
        found = raw(page, text)
        line = found.split(b"\r\n")[0]
        refused = not found or b" 4" in line or b" 50" in line or b"<!DOCTYPE" not in found
        assert refused, (name, found[:200])
        assert b"<script" not in found, name
    assert "Traceback" not in capfd.readouterr().err


def test_two_hosts_or_two_lengths_do_not_pass(page: Page) -> None:
    post, kind = "POST /{}/picture HTTP/1.1", "Content-Type: application/json"
    own = f"Host: 127.0.0.1:{page._server.server_port}"
    lengths = (kind, "Content-Length: 2", "Content-Length: 40")
    pieces = (kind, "Content-Length: 2", "Transfer-Encoding: chunked")
    for text, status in {
        head(page, "GET /{}/ HTTP/1.1", "Host: evil.example"): b"400",
        head(page, "GET /{}/ HTTP/1.1", own): b"400",
        head(page, post, *lengths) + b"{}" + b" " * 38: b"400",
        head(page, post, *pieces) + b"2\r\n{}\r\n0\r\n\r\n": b"422",
    }.items():
        found = raw(page, text)
        assert found.startswith(b"HTTP/1.1 " + status), found
        assert found.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"page": "p", "page": "q", "runs": NaN}',
        b'{"runs": 1e999999}',
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b'{"experiment": "' + b"\\u0000" * 8000 + b'"}',
        b'\xef\xbb\xbf{"page": "p"}',
        b'{"__proto__": {"runs": 1}, "constructor": 3}',
        json.dumps({"page": "\ud800", "panel": "a"}).encode(),
    ],
)
def test_strange_json_gets_a_typed_error(page: Page, body: bytes) -> None:
    for name in ("picture", "count", "answer", "read"):
        reply = send(page, "POST", name, body, Content_Type="application/json")
        assert reply.status == 422, (name, reply.body)
        assert reply.error["type"].endswith("Error")


@pytest.mark.parametrize(
    "changes",
    [
        {"update": {"kind": "natural", "step_size": 1e308}},
        {"update": {"kind": "natural", "step_size": {"kind": "decay", "initial": 1e308}}},
        {"policy": {"kind": "softmax", "theta0": [1e308, -1e308, 0]}},
        {"problem": {"kind": "bandit", "means": [1e308, -1e308, 0]}},
        {"problem": {"kind": "bandit", "means": [1, 0], "names": ["x" * 30_000, "y"]}},
        {"baseline": {"kind": "formula_baseline", "formula": "9" * 5000}},
        {"baseline": {"kind": "formula_baseline", "formula": "(" * 5000}},
        {"baseline": {"kind": "formula_baseline", "formula": "exp(" * 60 + "9" + ")" * 60}},
        {"baseline": {"kind": "formula_baseline", "formula": "r ** r ** r ** 1e300"}},
        {"baseline": {"kind": "linear", "terms": [[1, {"kind": "value"}]] * 2000, "offset": 0}},
    ],
)
def test_extreme_numbers_and_texts_are_answered(page: Page, changes: dict[str, Any]) -> None:
    """With a picture or with a typed error: never a fault, never a wait."""
    given = {**EXP.to_dict(), "steps": 50, **changes}
    start = time.monotonic()
    reply = ask(page, "picture", page=f"extreme {start}", experiment=given, runs=5)
    assert reply.status in (200, 422), reply.body
    if reply.status == 422:
        assert reply.error["type"].endswith("Error")
    assert time.monotonic() - start < 20.0


@pytest.mark.parametrize(
    "problem",
    [
        {"kind": "gridworld", "text": "S" + "\n" * 30_000 + "A", "goals": {"A": 1}},
        {"kind": "gridworld", "text": "SA", "goals": {"A": 1}, "limit": 0},
        {"kind": "gridworld", "text": "SA", "goals": {"": 1}},
        {"kind": "gridworld", "text": "S" + "\U0001f600" * 50 + "A", "goals": {"A": 1}},
        {"kind": "gridworld", "text": "SA", "goals": {"A": 1}, "gamma": 1e-300, "slip": 2},
    ],
)
def test_strange_maps_are_refused(page: Page, problem: dict[str, Any]) -> None:
    reply = ask(page, "picture", page="maps", experiment={**MAZE.to_dict(), "problem": problem})
    assert reply.status == 422, reply.body
    assert "is not allowed" in reply.error["message"]


def test_who_sends_slowly_or_opens_many_connections_stops_nobody(page: Page) -> None:
    """Fifty that begin a request and never end it: the next page still gets its picture."""
    slow = [
        socket.create_connection(("127.0.0.1", page._server.server_port), 10) for _ in range(50)
    ]
    try:
        for connection in slow:
            connection.sendall(b"POST /x HTTP/1.1\r\nContent-Le")
        assert ask(page, "picture", page="patient", runs=5).status == 200
    finally:
        for connection in slow:
            connection.close()
    more = [
        socket.create_connection(("127.0.0.1", page._server.server_port), 10) for _ in range(90)
    ]
    for connection in more:
        connection.close()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if ask(page, "picture", page="after", runs=5).status == 200:
                return
        time.sleep(0.05)
    pytest.fail("no answer after many connections")


def test_many_pages_do_not_fill_the_memory(page: Page) -> None:
    for number in range(300):
        body = json.dumps(request(page=f"page {number}", runs=1)).encode()
        short = {**json.loads(body), "experiment": {**EXP.to_dict(), "steps": 2}}
        page._server.desk.picture(short)
    assert len(page._server.desk._turns._latest) <= 256


def test_a_link_of_another_scheme_is_no_link() -> None:
    from committal.cli.explore import _opened

    for what in ("javascript:alert(1)", "http://evil.example/#a=1", "file:///etc/passwd"):
        with pytest.raises(cm.ConfigError, match="a study file that exists"):
            _opened(what, rng=None, below=None, port=0, show=False)


def test_groups_of_many_episodes_are_bounded(page: Page) -> None:
    rooms = cm.gridworld("\n".join(["S" * 20] * 19 + ["S" * 19 + "A"]), goals={"A": 1}, limit=1000)
    many = MAZE.replace(problem=rooms, estimator=cm.Group(100, starts="each"))
    reply = ask(page, "picture", experiment=many.to_dict(), page="groups")
    assert reply.status == 422
    assert reply.error["argument"] == "Group.samples"
    long = MAZE.replace(problem=cm.maps.four_rooms().replace(limit=1000), estimator=cm.Group(100))
    reply = ask(page, "picture", experiment=long.to_dict(), page="groups", number=2)
    assert reply.status == 422
    assert reply.error["argument"] == "Gridworld.limit * samples"
