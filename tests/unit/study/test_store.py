"""Stores: what is written, what is refused, and what is left of a damaged one."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import committal as cm
from committal.study.store import chunks as chunkfile
from committal.study.store.place import Place, place_of
from committal.study.store.store import Store
from committal.support import notation

StoreError = cm.StoreError
Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture(scope="module")
def study(three_arms: cm.Experiment) -> cm.Study:
    base = three_arms.replace(steps=30, record=cm.Record("value", "policy", every=10))
    return cm.Study(base, {"baseline": [cm.Value(), 0.5]}, runs=100, rng=0)


@pytest.fixture
def store(study: cm.Study, tmp_path: Path) -> Path:
    study.run(tmp_path / "store", chunk=32, progress=False)
    return tmp_path / "store"


def chunks(store: Path) -> list[Path]:
    return sorted((store / "chunks").iterdir())


# -- the format of chunks --------------------------------------------------------------------------


def test_bytes_are_known() -> None:
    data = chunkfile.encode({"runs": 2}, {"value": np.array([0.5, 1.0])})
    assert data.startswith(b"committal-chunk\n\x01\x00\x00\x00")
    assert len(data) % 64 == 32
    # Written down once: a change of the format must change its version.
    assert data[-32:].hex() == "6cc240a38ae8f2ce2ba9b81c736ce56fb6564f727a8996e97e6164068bd2a41c"


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8),
        st.tuples(st.sampled_from(["<f8", "<i8", "<i4", ">f8"]), st.lists(st.integers(0, 4))),
        max_size=4,
    )
)
@settings(max_examples=40)
def test_what_is_written_is_read(shapes: dict[str, tuple[str, list[int]]]) -> None:
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.integers(-9, 9, size=shape).astype(kind) for name, (kind, shape) in shapes.items()
    }
    about = {"study": "é", "runs": 3}
    data = chunkfile.encode(about, arrays)
    found, again = chunkfile.decode(data)
    assert found == about
    assert list(again) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)
        assert again[name].shape == array.shape
        assert not again[name].flags.writeable
    assert chunkfile.facts(data[: chunkfile.HEAD_BYTES], len(data)) == about


def test_every_truncation_and_every_flip_is_found() -> None:
    data = chunkfile.encode({"runs": 2}, {"value": np.array([0.5, 1.0, 2.0])})
    for end in range(len(data)):
        with pytest.raises(chunkfile.ChunkError):
            chunkfile.decode(data[:end])
    with pytest.raises(chunkfile.ChunkError, match="too long"):
        chunkfile.decode(data + b"x")
    for at in range(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 0x10
        with pytest.raises(chunkfile.ChunkError):
            chunkfile.decode(bytes(flipped))


@pytest.mark.parametrize(
    "header",
    [
        "[]",
        "{}",
        '{"arrays": 3}',
        '{"arrays": [{"name": "x", "dtype": "|O", "shape": [1], "offset": 0}]}',
        '{"arrays": [{"name": "x", "dtype": "<f8", "shape": [-1], "offset": 0}]}',
        '{"arrays": [{"name": "x", "dtype": "<f8", "shape": [1], "offset": 8}]}',
        '{"arrays": [{"name": "x", "dtype": "<f8", "shape": [1.5], "offset": 0}]}',
        "[" * 100_000,
    ],
)
def test_headers_that_make_no_sense(header: str) -> None:
    raw = header.encode()
    prefix = chunkfile.MAGIC + (1).to_bytes(4, "little") + len(raw).to_bytes(4, "little")
    with pytest.raises(chunkfile.ChunkError, match="header"):
        chunkfile.decode(prefix + raw + bytes(1000))


def test_only_numbers_are_stored() -> None:
    with pytest.raises(TypeError, match="object"):
        chunkfile.encode({}, {"x": np.array(["a"], object)})


def test_names_of_chunks() -> None:
    place = Place(3, 0, 10)
    assert place_of(place.name) == place
    for name in ("x", "000003-000000000010-000000000010.chunk", place.name + "~", "3-0-10.chunk"):
        assert place_of(name) is None


# -- damage ----------------------------------------------------------------------------------------


def test_damage_is_reported_left_out_and_repaired(
    study: cm.Study, store: Path, contents: Contents
) -> None:
    expected = contents(store)
    truncated, flipped, foreign, swapped, empty, *_ = chunks(store)
    truncated.write_bytes(truncated.read_bytes()[:-100])
    raw = bytearray(flipped.read_bytes())
    raw[-200] ^= 1
    flipped.write_bytes(raw)
    foreign.write_bytes(b"something else")
    swapped.write_bytes(chunks(store)[-1].read_bytes())
    empty.write_bytes(b"")
    with pytest.warns(cm.StoreWarning) as caught:
        data = cm.open(store, verify=True)
    message = str(caught[0].message)
    for file in (truncated, flipped, foreign, swapped, empty):
        assert file.name in message
    assert "truncated" in message
    assert "checksum" in message
    assert "another study, configuration or range" in message
    assert int(data["count"].sum()) == 200 - 4 * 32 - 4
    with pytest.warns(cm.StoreWarning, match="computed again"):
        study.run(store, progress=False)
    assert contents(store) == expected


def test_a_wrong_checksum_is_an_error_when_it_is_read(store: Path) -> None:
    file = chunks(store)[1]
    raw = bytearray(file.read_bytes())
    raw[-200] ^= 1
    file.write_bytes(raw)
    data = cm.open(store)
    assert np.isfinite(data["value"].isel(baseline=0, run=0).values).all()  # the rest is usable
    with pytest.raises(StoreError, match=f"{file.name}: its checksum is wrong; .*resume"):
        data["value"].load()
    data = cm.open(store)
    chunks(store)[-1].unlink()
    with pytest.raises(StoreError, match="No such file"):
        data["policy"].isel(baseline=1).load()


def test_files_of_others_are_reported_and_left_alone(study: cm.Study, store: Path) -> None:
    (store / "chunks" / "notes.txt").write_text("do not delete")
    with pytest.warns(cm.StoreWarning, match=r"notes\.txt: it does not belong here"):
        cm.open(store)
    with pytest.warns(cm.StoreWarning, match=r"notes\.txt"):
        study.run(store, progress=False)
    assert (store / "chunks" / "notes.txt").read_text() == "do not delete"


def gone() -> int:
    """Return the number of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_files_that_only_look_temporary_are_left_alone(study: cm.Study, store: Path) -> None:
    theirs = [
        store / ".tmp-notes",
        store / "chunks" / f".tmp-{gone()}-notes",
        store / "chunks" / f".tmp-{os.getppid()}-0123456789ab",  # of a process that still works
    ]
    for file in theirs:
        file.write_text("do not delete")
    with pytest.warns(cm.StoreWarning, match=r"\.tmp-\d+-notes: it does not belong here"):
        study.run(store, progress=False)
    assert all(file.read_text() == "do not delete" for file in theirs)
    os.utime(theirs[2], (0, 0))  # or whose number another process has got by now
    with pytest.warns(cm.StoreWarning, match="notes"):
        study.run(store, progress=False)
    assert [file.exists() for file in theirs] == [True, True, False]


def test_leftovers_are_removed_by_who_is_alone(study: cm.Study, store: Path) -> None:
    leftover = store / "chunks" / f".tmp-{gone()}-0123456789ab"
    leftover.write_bytes(b"half a chunk")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cm.open(store)  # reading neither minds nor removes it
    assert leftover.exists()
    with Store.prepare(store, Store.open(store).manifest) as other:
        assert other.alone
        assert not leftover.exists()
        leftover.write_bytes(b"being written")
        with Store.prepare(store, Store.open(store).manifest) as second:
            assert not second.alone
            assert leftover.exists()
    study.run(store, progress=False)
    assert not leftover.exists()


def test_who_comes_second_agrees_or_is_refused(
    study: cm.Study, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = Store.open(store).manifest
    # Both look before either writes.
    monkeypatch.setattr(Path, "exists", lambda self: False)
    with Store.prepare(tmp_path / "race", manifest) as first:
        with Store.prepare(tmp_path / "race", manifest) as second:
            assert second.manifest == first.manifest
        other = manifest | {"hash": "0" * 64, "study": {}}
        with pytest.raises(StoreError, match="another study"):
            Store.prepare(tmp_path / "race", other)
    monkeypatch.undo()
    assert Store.open(tmp_path / "race").manifest == manifest
    assert not list((tmp_path / "race").glob(".tmp-*"))


# -- refusals --------------------------------------------------------------------------------------


def test_another_study_is_refused(study: cm.Study, store: Path, contents: Contents) -> None:
    before = contents(store)
    other = cm.Study(study.base.replace(steps=40), {"baseline": [cm.Value(), 0.5]}, runs=100, rng=0)
    with pytest.raises(StoreError, match=r"another study \(base\.steps: 30 there, 40 here\)"):
        other.run(store, progress=False)
    other = cm.Study(study.base, {"baseline": [cm.Value(), 0.6]}, runs=100, rng=0)
    with pytest.raises(StoreError, match=r"axes\[0\]\.labels\[1\]: \"0\.5\" there"):
        other.run(store, progress=False)
    other = cm.Study(study.base, {"baseline": [cm.Value(), 0.5]}, runs=100, rng=1)
    with pytest.raises(StoreError, match="entropy"):
        other.run(store, progress=False)
    assert contents(store) == before


def change_manifest(store: Path, **changes: Any) -> None:
    manifest = json.loads((store / "manifest.json").read_text())
    del manifest["checksum"]
    (store / "manifest.json").write_bytes(notation.sealed(manifest | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stream_version": 999}, "version 999 of the random streams"),
        ({"format_version": 999}, "format 999"),
        ({"format": "other"}, "not the manifest of a store"),
        ({"runs": "many"}, "'runs' is missing or makes no sense"),
        ({"hash": "0" * 64}, "its hash does not belong to its study"),
        ({"study": {}}, "its study cannot be read"),
    ],
)
def test_other_manifests_are_refused(store: Path, changes: dict[str, Any], message: str) -> None:
    change_manifest(store, **changes)
    with pytest.raises(StoreError, match=message):
        cm.open(store)


def test_a_damaged_manifest(study: cm.Study, store: Path) -> None:
    (store / "manifest.json").write_bytes(b'{"format": "committal-st')
    for use in (lambda: cm.open(store), lambda: study.run(store, progress=False)):
        with pytest.raises(StoreError, match=r"manifest\.json: it is damaged"):
            use()


def test_what_is_no_store(study: cm.Study, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        cm.open(tmp_path / "nothing")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="no store here"):
        cm.open(tmp_path)
    with pytest.raises(StoreError, match=r"other things \(notes\.txt\)"):
        study.run(tmp_path, progress=False)
    with pytest.raises(StoreError, match="not a directory"):
        study.run(tmp_path / "notes.txt", progress=False)
    with pytest.raises(StoreError, match="not a directory"):
        cm.open(tmp_path / "notes.txt")
    assert sorted(os.listdir(tmp_path)) == ["notes.txt"]


def test_an_empty_directory_will_do(study: cm.Study, tmp_path: Path) -> None:
    (tmp_path / "chunks").mkdir()  # as left behind by a process that was killed early
    (tmp_path / "lock").touch()
    leftover = tmp_path / f".tmp-{gone()}-0123456789ab"
    leftover.touch()
    study.run(tmp_path, progress=False)
    assert not leftover.exists()


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "the disk is full; finished chunks are kept"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "it cannot be written to"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_disks_that_fail(
    study: cm.Study,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    message: str,
) -> None:
    written = 0
    original = os.write

    def write(file: int, data: Any) -> int:
        nonlocal written
        written += 1
        if written > 4:
            raise OSError(number, os.strerror(number))
        return original(file, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(StoreError, match=message) as caught:
        study.run(tmp_path, chunk=32, progress=False)
    assert isinstance(caught.value.__cause__, OSError)
    monkeypatch.undo()
    assert not list(tmp_path.rglob(".tmp-*"))
    inventory = Store.open(tmp_path).inventory(verify=True)
    assert len(inventory.chunks) == 3
    assert inventory.damaged == {}
    study.run(tmp_path, progress=False)
    assert len(chunks(tmp_path)) == 8


def test_short_writes_are_continued(
    study: cm.Study,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    contents: Contents,
) -> None:
    original = os.write
    monkeypatch.setattr(os, "write", lambda file, data: original(file, bytes(data[:100])))
    study.run(tmp_path / "slow", chunk=32, progress=False)
    assert contents(tmp_path / "slow") == contents(store)


@contextmanager
def nobody() -> Iterator[None]:
    """Be an ordinary user for a while: permissions mean nothing to the superuser."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users")
def test_a_directory_that_is_read_only(study: cm.Study, store: Path) -> None:
    for directory in (*store.parents[:-2], store, store / "chunks"):
        if directory.stat().st_uid == os.getuid() and directory != Path("/tmp"):
            directory.chmod(0o555)
    longer = study.replace(runs=200)
    with nobody():
        with pytest.raises(StoreError, match="cannot be written to; choose another directory"):
            longer.run(store, progress=False)
        with pytest.raises(StoreError, match="cannot be written to"):
            longer.run(store / "new", progress=False)
        assert int(cm.open(store).load()["count"].sum()) == 200
    for directory in (*store.parents[:-2], store, store / "chunks"):
        if directory.stat().st_uid == os.getuid() and directory != Path("/tmp"):
            directory.chmod(0o755)


def test_reading_executes_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    with pytest.raises(AssertionError, match="unpickled"):
        pickle.loads(b"N.")
    assert int(cm.open(store, verify=True).load()["count"].sum()) == 200


def test_moving_a_store(study: cm.Study, store: Path, tmp_path: Path) -> None:
    shutil.move(store, tmp_path / "elsewhere")
    assert cm.open(tmp_path / "elsewhere").identical(study.run(chunk=32, progress=False))
