"""Where requests and work end: bytes that are no request, counts, pictures, processes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

import committal as cm
from committal.explore import Page, bandits, bounds, counts
from committal.explore.turns import SupersededError

EXP = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025), steps=1000
)


def test_what_is_no_address_is_refused(page: Page, capfd: pytest.CaptureFixture[str]) -> None:
    server = page._server
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        host = f"127.0.0.1:{server.server_port}"
        connection.sendall(f"GET http://[/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 403")
    assert "Traceback" not in capfd.readouterr().err


def test_names_of_headers_have_no_case(page: Page) -> None:
    server = page._server
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        host = f"127.0.0.1:{server.server_port}"
        connection.sendall(f"GET /{server.guard.token}/ HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", ["nothing", "picture"])
def test_a_body_that_was_not_read_is_no_request(page: Page, path: str) -> None:
    """What comes after a refused request on the same connection is not looked at."""
    server = page._server
    inner = f"GET /{server.guard.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n"
    head = (
        f"POST /{server.guard.token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        f"Content-Type: text/plain\r\nContent-Length: {len(inner)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall((head + inner).encode())
        found = b""
        while piece := connection.recv(65536):
            found += piece
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"index" not in found.partition(b"\r\n\r\n")[2].replace(b"request", b"")


def test_a_count_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "COUNT_SECONDS", 0.2)
    paused = []
    found = list(
        counts.counted(
            EXP, key=0, below=0.9, most=10**9, threads=1, still_wanted=lambda: None,
            pause=lambda: paused.append(1),
        )
    )  # fmt: skip
    assert found[-1]["done"]
    assert not any(one["done"] for one in found[:-1])
    assert found[-1]["runs"] < 10**9
    assert len(paused) >= len(found)


def test_a_picture_that_is_given_up_is_no_picture() -> None:
    """Also if that happens while the path of the true gradient is made, which may be missing."""
    seen: list[int] = []
    short = EXP.replace(steps=10)
    bandits.picture(short, key=0, runs=3, threads=1, report=lambda _: seen.append(1))
    left = len(seen) - 1

    def superseded_at_last(_: Any) -> None:
        nonlocal left
        if left == 0:
            raise SupersededError
        left -= 1

    with pytest.raises(SupersededError):
        bandits.picture(short, key=0, runs=3, threads=1, report=superseded_at_last)


def test_a_worker_ends_with_its_server() -> None:
    """Also in the middle of an answer, and however the server ended."""
    command = [sys.executable, "-P", "-m", "committal.explore.workers"]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdin is not None
    hard = EXP.replace(update=cm.Natural(1e-4))
    what = {"what": "ends", "experiment": hard.to_dict()}
    worker.stdin.write(json.dumps(what).encode() + b"\n")
    worker.stdin.flush()
    time.sleep(1.0)
    worker.stdin.close()
    assert worker.wait(timeout=10) == 0
    assert worker.stdout is not None
    worker.stdout.close()
