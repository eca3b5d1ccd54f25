"""One way of writing a file: whole or not at all, and on the disk before it has its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from committal.support.files import TEMPORARY, sync_directory, write_whole


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the operating system, in order."""
    heard: list[str] = []

    def listen(name: str, label: Any) -> None:
        original = getattr(os, name)

        def call(*arguments: Any) -> Any:
            heard.append(label(*arguments) if callable(label) else label)
            return original(*arguments)

        monkeypatch.setattr(os, name, call)

    listen("write", "write")
    listen("replace", lambda old, new: f"rename to {Path(new).name}")
    listen("fsync", lambda fd: "sync directory" if os.path.isdir(f"/proc/self/fd/{fd}") else "sync")
    return heard


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_data_reach_the_disk_before_the_name(tmp_path: Path, calls: list[str]) -> None:
    write_whole(tmp_path / "note", b"text")
    assert calls == ["write", "sync", "rename to note", "sync directory"]
    calls.clear()
    write_whole(tmp_path / "note", b"other", durable=False)
    assert calls == ["write", "sync", "rename to note"]
    sync_directory(tmp_path)
    assert calls[3:] == ["sync directory"]
    assert (tmp_path / "note").read_bytes() == b"other"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_what_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    write_whole(tmp_path / "note", b"old")

    def fail(*arguments: Any) -> Any:
        raise OSError("no")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no"):
        write_whole(tmp_path / "note", b"new")
    monkeypatch.undo()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"note": b"old"}


def test_large_and_empty_files(tmp_path: Path) -> None:
    for data in (b"", bytes(3 * 2**20)):
        write_whole(tmp_path / "file", data)
        assert (tmp_path / "file").read_bytes() == data
    assert not list(tmp_path.glob(f"{TEMPORARY}*"))


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "nowhere" / "file", b"")
    sync_directory(tmp_path / "nowhere")  # nothing to sync is not an error
