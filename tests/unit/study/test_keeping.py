"""Where chunks are kept: as arrays in memory, as bytes only on disks and between processes."""

from __future__ import annotations

import copy
import pickle
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.study import keeping
from committal.study.keeping import Memory
from committal.study.reading import Cache
from committal.study.store import chunks
from committal.study.store import store as stores
from committal.study.store.place import Place
from committal.study.store.store import Store
from committal.support import files


@pytest.fixture(params=["per run", "reduced"])
def study(request: pytest.FixtureRequest, three_arms: cm.Experiment) -> cm.Study:
    reduce = cm.Reduce(below=0.9) if request.param == "reduced" else None
    record = cm.Record("value", "regret", every=10, reduce=reduce)
    base = three_arms.replace(steps=30, record=record)
    return cm.Study(base, {"baseline": [cm.Value(), 0.5]}, runs=100, rng=0)


def refuse(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("a chunk was encoded or decoded")


def test_one_process_without_a_store_encodes_nothing(
    study: cm.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = study.run(chunk=32, progress=False)
    for name in ("encode", "decode", "_checksum"):
        monkeypatch.setattr(chunks, name, refuse)
    until = cm.Precision("value", half_width=0.3)
    assert study.run(chunk=32, progress=False).identical(expected)
    assert int(study.run(chunk=32, progress=False, until=until)["count"].sum()) > 0


def test_what_another_process_sends_is_decoded_once(
    study: cm.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = study.run(chunk=32, progress=False)
    decoded: list[int] = []
    original = chunks.decode

    def decode(data: bytes, **options: Any) -> Any:
        decoded.append(len(data))
        return original(data, **options)

    monkeypatch.setattr(chunks, "decode", decode)
    with ProcessPoolExecutor(1) as pool:
        data = study.run(executor=pool, chunk=32, progress=False)
    assert data.identical(expected)
    assert len(decoded) == 8
    with ThreadPoolExecutor(2) as threads:
        assert study.run(executor=threads, chunk=32, progress=False).identical(expected)


def test_memory_keeps_the_arrays_themselves() -> None:
    memory, place, arrays = Memory(), Place(0, 0, 2), {"value": np.array([0.5, 1.0])}
    assert memory.packed(place, "", arrays) is arrays
    memory.write(place, arrays)
    assert memory.read(place) is arrays
    memory.write(place, chunks.encode({}, arrays))
    np.testing.assert_array_equal(memory.read(place)["value"], arrays["value"])
    assert memory.inventory().chunks == {place}
    memory.remove(place)
    memory.remove(place)
    assert not memory.has(place)


def test_removing_what_another_process_has_removed(study: cm.Study, tmp_path: Path) -> None:
    study.run(tmp_path, chunk=64, progress=False)
    with Store.prepare(tmp_path, Store.open(tmp_path).manifest) as store:
        place = min(store.inventory().chunks)
        store.remove(place)
        store.remove(place)
        assert not store.has(place)


def test_names_of_chunks_reach_the_disk_every_second_and_at_the_end(
    study: cm.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.run(tmp_path, chunk=64, progress=False)
    synced: list[Path] = []
    for module in (stores, files):
        monkeypatch.setattr(module, "sync_directory", synced.append)
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with Store.prepare(tmp_path, Store.open(tmp_path).manifest) as store:
        place = min(store.inventory().chunks)
        data = (tmp_path / place.file).read_bytes()
        for clock[0], syncs in ((100.0, 1), (100.5, 1), (101.1, 2), (101.2, 2)):
            store.write(place, data)
            assert synced == syncs * [tmp_path / "chunks"]
    assert len(synced) == 3


def test_a_store_that_was_opened_can_be_sent_elsewhere(study: cm.Study, tmp_path: Path) -> None:
    whole = study.run(tmp_path, chunk=32, progress=False).load()
    unread = pickle.loads(pickle.dumps(cm.open(tmp_path)))
    assert len(pickle.dumps(cm.open(tmp_path))) < 50_000
    assert unread.identical(whole)
    assert copy.deepcopy(cm.open(tmp_path)).identical(whole)


def test_dask_reads_the_pieces_it_needs(study: cm.Study, tmp_path: Path) -> None:
    pytest.importorskip("dask")
    whole = study.run(tmp_path, chunk=32, progress=False).load()
    pieces = cm.open(tmp_path).chunk({"baseline": 1})
    assert pieces.compute(scheduler="threads", num_workers=4).identical(whole)
    assert pieces.compute(scheduler="processes", num_workers=1).identical(whole)


def test_a_cache_is_shared_by_threads() -> None:
    cache = Cache(lambda n: {"x": np.full(100, n)}, limit=5000)

    def look(seed: int) -> bool:
        dice = np.random.default_rng(seed)
        return all((cache(n)["x"] == n).all() for n in dice.integers(0, 20, 300).tolist())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(16)))
    assert cache._bytes == sum(size for size, _ in cache._kept.values()) <= 5000


def test_writing_does_not_run_away() -> None:
    written: list[Place] = []

    def slow(place: Place, data: bytes) -> None:
        time.sleep(0.002)
        written.append(place)

    with keeping.Writer(slow) as writer:
        for i in range(100):
            writer.put(Place(i, 0, 1), b"")
            writer.written(patient=False)
            assert len(writer) <= keeping._MOST_UNWRITTEN + 1
        while len(writer):
            writer.written(patient=True)
    assert sorted(place.configuration for place in written) == list(range(100))
