"""Killing the process at any moment loses the chunk in flight and nothing else."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import committal as cm
from committal.study.store.store import Store

SERVER = Path(__file__).with_name("kill_server.py")
CHUNKS = 3 * 10

Contents = Callable[[Path], dict[str, bytes]]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def load_server() -> object:
    spec = importlib.util.spec_from_file_location("kill_server", SERVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Server:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, request: str) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def start(self, store: Path) -> int:
        return self._ask(f"start {store}")

    def wait(self) -> int:
        return self._ask("wait")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def check(store: Path) -> int:
    """Demand that nothing is damaged, and return how many chunks there are."""
    if not (store / "manifest.json").exists():
        return 0
    inventory = Store.open(store).inventory(verify=True)
    assert inventory.damaged == {}
    assert inventory.foreign == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = cm.open(store)
    assert int(data["count"].sum()) == sum(place.runs for place in inventory.chunks)
    return len(inventory.chunks)


def listed(store: Path) -> int:
    try:
        return len(os.listdir(store / "chunks"))
    except FileNotFoundError:
        return 0


def wait_a_while(store: Path, dice: random.Random) -> None:
    """Wait for a random moment: soon after the start, or after a few more chunks.

    Not for a fixed time, so that a slow machine is killed as often in the middle as a fast one.
    """
    if dice.random() < 0.3:
        time.sleep(dice.uniform(0, 0.05))
        return
    enough = listed(store) + dice.randint(1, 6)
    give_up = time.monotonic() + 10
    while listed(store) < min(enough, CHUNKS) and time.monotonic() < give_up:
        time.sleep(0.0005)
    time.sleep(dice.uniform(0, 0.01))


def kill_often(server: Server, tmp_path: Path, kills: int, contents: Contents) -> None:
    dice = random.Random(kills)
    server.start(tmp_path / "whole")
    assert server.wait() == 0
    expected = contents(tmp_path / "whole")
    assert len(expected) == CHUNKS + 2

    done, number, in_between = 0, 0, 0
    store = tmp_path / "killed-0"
    while done < kills:
        child = server.start(store)
        wait_a_while(store, dice)
        os.kill(child, signal.SIGKILL)
        status = server.wait()
        chunks = check(store)
        done += os.WIFSIGNALED(status)
        in_between += 0 < chunks < CHUNKS
        if chunks == CHUNKS:  # compare, and begin another one
            server.start(store)
            assert server.wait() == 0
            assert contents(store) == expected
            number += 1
            store = tmp_path / f"killed-{number}"
    assert in_between > kills / 4
    server.start(store)
    assert server.wait() == 0
    assert contents(store) == expected


def test_killed_ten_times(server: Server, tmp_path: Path, contents: Contents) -> None:
    kill_often(server, tmp_path, 10, contents)


@pytest.mark.slow
def test_killed_two_hundred_times(server: Server, tmp_path: Path, contents: Contents) -> None:
    kill_often(server, tmp_path, 200, contents)


def test_two_processes_on_one_store(server: Server, tmp_path: Path, contents: Contents) -> None:
    store = tmp_path / "both"
    study = load_server().study()  # type: ignore[attr-defined]
    server.start(store)
    data = study.run(store, threads=1, chunk=64, progress=False)
    assert server.wait() == 0
    assert check(store) == CHUNKS
    alone = tmp_path / "alone"
    study.run(alone, threads=1, chunk=64, progress=False)
    assert contents(store) == contents(alone)
    assert data.identical(cm.open(alone))
