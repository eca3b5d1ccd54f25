"""Stores that were changed by hand: a manifest, an outcome and an entry are never just believed."""

from __future__ import annotations

import json
import os
import random
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.paper import entry as entries
from committal.study.file import parse_study
from committal.study.opening import examined, stored_study
from committal.study.store.store import Store
from committal.support import limits, notation

UNTIL = cm.Precision("failure", 0.05, below=0.9)


@pytest.fixture(scope="module")
def study(three_arms: cm.Experiment) -> cm.Study:
    base = three_arms.replace(steps=30, record=cm.Record("value", every=10))
    return cm.Study(base, {"baseline": [cm.Value(), 0.5]}, runs=1000, rng=0)


@pytest.fixture
def store(study: cm.Study, tmp_path: Path) -> Path:
    study.run(tmp_path / "store", chunk=64, progress=False, until=UNTIL)
    return tmp_path / "store"


def edit(file: Path, *, seal: bool, **changes: Any) -> None:
    content = json.loads(file.read_text(encoding="utf-8")) | changes
    if seal:
        del content["checksum"]
        file.write_bytes(notation.sealed(content))
    else:
        file.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("key", ["runs", "chunk", "stream_version", "committal_version", "until"])
def test_an_edited_manifest_is_refused(study: cm.Study, store: Path, key: str) -> None:
    edit(store / "manifest.json", seal=False, **{key: 107})
    for use in (lambda: cm.open(store), lambda: study.run(store, progress=False)):
        with pytest.raises(cm.StoreError, match=r"manifest\.json: it is damaged: its checksum"):
            use()


@pytest.mark.parametrize("key", ["runs", "chunk"])
@pytest.mark.parametrize("value", [0, -1, True, 1.0, 10**30, None, "7", [1]])
def test_numbers_out_of_range_are_refused(store: Path, key: str, value: Any) -> None:
    edit(store / "manifest.json", seal=True, **{key: value})
    with pytest.raises(cm.StoreError, match=f"its key '{key}' is missing or makes no sense"):
        cm.open(store)


def test_stores_without_checksums_are_refused(store: Path) -> None:
    file = store / "manifest.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    del content["checksum"]
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(cm.StoreError, match="it has no checksum"):
        cm.open(store)
    file.write_text(json.dumps(content | {"format_version": 1}), encoding="utf-8")
    with pytest.raises(cm.StoreError, match="has format 1; this package reads format 2"):
        cm.open(store)


def test_chunks_outside_of_what_is_wanted_are_reported(study: cm.Study, store: Path) -> None:
    study.run(store, progress=False)
    edit(store / "manifest.json", seal=True, chunk=107)
    with pytest.warns(cm.StoreWarning, match="outside of what is wanted; .* and 25 more"):
        data = cm.open(store)
    assert data["count"].values.tolist() == [64, 64]


def test_a_store_that_is_being_extended_shows_the_runs_that_there_are(
    study: cm.Study, tmp_path: Path
) -> None:
    study.replace(runs=100).run(tmp_path, progress=False, chunk=64)
    with Store.prepare(tmp_path, Store.open(tmp_path).manifest | {"runs": 1000}):
        data = cm.open(tmp_path)
        assert data["count"].values.tolist() == [100, 100]
        assert np.isfinite(data["value"]).all()


def test_a_huge_number_of_runs_does_not_hang(study: cm.Study, store: Path) -> None:
    edit(store / "manifest.json", seal=True, runs=10**12, until=None)
    start = time.monotonic()
    assert int(cm.open(store)["count"].sum()) > 0
    with pytest.raises(cm.ConfigError, match=r"runs = 1000000000000 .*chunks of"):
        study.replace(runs=10**12).run(store, progress=False)
    assert time.monotonic() - start < 5.0


def test_too_many_chunks_make_no_store(study: cm.Study, tmp_path: Path) -> None:
    with pytest.raises(cm.ConfigError, match="at most 1000000 runs per configuration"):
        study.replace(runs=limits.CHUNKS).run(tmp_path / "new", chunk=1)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("changes", "seal", "why"),
    [
        ({"estimate": [0.5, 0.5]}, False, "its checksum is wrong"),
        ({"estimate": [0.5]}, True, "it makes no sense"),
        ({"estimate": ["x", 0.5]}, True, "it makes no sense"),
        ({"runs": [10**12, 64]}, True, "it makes no sense"),
        ({"runs": [-1, 64]}, True, "it makes no sense"),
        ({"low": [1.0, 1.0], "high": [0.0, 0.0]}, True, "it makes no sense"),
        ({"reached": [2, 0]}, True, "it makes no sense"),
        ({"study": "0" * 64}, True, "it belongs to another study"),
    ],
)
def test_an_edited_outcome_is_left_out_and_made_again(
    study: cm.Study, store: Path, changes: dict[str, Any], seal: bool, why: str
) -> None:
    file = store / "outcome.json"
    before, data = file.read_bytes(), cm.open(store)
    edit(file, seal=seal, **changes)
    with pytest.warns(cm.StoreWarning, match=rf"outcome\.json: {why}"):
        assert "until_estimate" not in cm.open(store)
    found = examined(Store.open(store), stored_study(Store.open(store)), verify=True)
    assert list(found.inventory.damaged) == ["outcome.json"]
    with pytest.warns(cm.StoreWarning, match=rf"outcome\.json: {why}"):
        again = study.run(store, progress=False, until=UNTIL)
    assert file.read_bytes() == before
    np.testing.assert_array_equal(again["until_estimate"], data["until_estimate"])


def test_another_question_to_the_same_study_is_no_damage(study: cm.Study, store: Path) -> None:
    study.run(store, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert int(cm.open(store)["count"].sum()) == 2000
        study.run(store, progress=False, until=UNTIL)
        assert int(cm.open(store)["count"].sum()) < 2000  # more chunks are there than are asked for


def test_an_edited_entry_is_left_out(tmp_path: Path) -> None:
    made = entries.Entry("x", "t", "s", (), (), (), (), (), 1.0, 1.0, "0", "stamp")
    made.write(tmp_path)
    kept = entries.read(tmp_path, "x")
    assert kept is not None
    assert kept.stored
    file = tmp_path / "entries" / "x.json"
    (tmp_path / "entries" / "y.json").write_bytes(file.read_bytes())
    with pytest.warns(cm.StoreWarning, match="it is the entry of 'x'"):
        assert entries.read(tmp_path, "y") is None
    edit(file, seal=False, title="another")
    with pytest.warns(cm.StoreWarning, match=r"x\.json: its checksum is wrong"):
        assert entries.read(tmp_path, "x") is None
    assert entries.read(tmp_path, "z") is None


@pytest.mark.parametrize(
    "change",
    [
        {"findings": 3},
        {"pictures": [["a"]]},  # neither name nor caption
        {"pictures": [["a", 1]]},
        {"settings": [["a", "b", "c"]]},
        {"title": None},
        {"settled": [1]},
        {"seconds": "long"},
        {"tables": [{"title": "t", "header": ["a", "b"], "rows": [["1"]]}]},
    ],
    ids=str,
)
def test_an_entry_that_nobody_could_print_is_left_out(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    # With a right checksum: whoever edits it may know how to make one.
    entries.Entry("x", "t", "s", (), (), (), (), (), 1.0, 1.0, "0", "stamp").write(tmp_path)
    edit(tmp_path / "entries" / "x.json", seal=True, **change)
    with pytest.warns(cm.StoreWarning, match=r"x\.json: it makes no sense"):
        assert entries.read(tmp_path, "x") is None


# -- what is no file -------------------------------------------------------------------------------


def endless(file: Path, kind: str) -> None:
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_hang_nobody(study: cm.Study, store: Path, kind: str) -> None:
    """A pipe waits for its writer and a device never ends: neither is opened."""
    chunk = sorted((store / "chunks").iterdir())[0]
    endless(chunk, kind)
    for verify in (False, True):
        with pytest.warns(cm.StoreWarning, match=f"{chunk.name}: it is not an ordinary file"):
            cm.open(store, verify=verify)
    endless(store / "outcome.json", kind)
    with pytest.warns(cm.StoreWarning, match=r"outcome\.json: it is not an ordinary file"):
        cm.open(store)
    with pytest.warns(cm.StoreWarning, match="computed again"):
        study.run(store, progress=False, until=UNTIL)
    assert chunk.is_file()
    assert (store / "outcome.json").is_file()
    endless(store / "manifest.json", kind)
    for use in (lambda: cm.open(store), lambda: study.run(store, progress=False)):
        with pytest.raises(cm.StoreError, match=r"manifest\.json: it is not an ordinary file"):
            use()


def test_a_chunk_that_becomes_a_pipe_is_an_error_when_it_is_read(store: Path) -> None:
    data = cm.open(store)
    endless(sorted((store / "chunks").iterdir())[0], "pipe")
    with pytest.raises(cm.StoreError, match="it is not an ordinary file"):
        data["value"].load()


# -- text that others wrote ------------------------------------------------------------------------

DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * DEEP + "]" * DEEP,
        "a = " + "{a=" * DEEP + "1" + "}" * DEEP,
        "[" + ".".join("a" * DEEP) + "]",
        ".".join("a" * DEEP) + " = 1",
        "a = {" + " . ".join("a" * DEEP) + " = 1}",
        "runs = " + "9" * 5000,
        "runs = 0x" + "f" * 5000,
    ],
    ids=["array", "table", "header", "key", "inner key", "digits", "hexadecimal"],
)
def test_toml_without_measure(text: str) -> None:
    with pytest.raises(cm.ConfigError) as caught:
        parse_study(text)
    assert len(str(caught.value)) < 700
    with pytest.raises(cm.ConfigError) as caught:
        cm.Experiment.from_toml(text)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP + "]" * DEEP,
        "[" * 500 + "]" * 500,
        '{"kind":' * DEEP + "1" + "}" * DEEP,
        '{"kind": "constant", "c": ' + "9" * 5000 + "}",
    ],
    ids=["array", "less deep", "object", "digits"],
)
def test_json_without_measure(store: Path, text: str) -> None:
    with pytest.raises(cm.ConfigError) as caught:
        cm.Experiment.from_json(text)
    assert len(str(caught.value)) < 700
    (store / "outcome.json").write_text(text)
    with pytest.warns(cm.StoreWarning, match=r"outcome\.json: not valid JSON"):
        cm.open(store)
    (store / "manifest.json").write_text(text)
    with pytest.raises(cm.StoreError, match=r"manifest\.json: it is damaged: not valid JSON"):
        cm.open(store)


def test_data_without_measure() -> None:
    deep: Any = []
    for _ in range(DEEP):
        deep = [deep]
    round_about: list[Any] = []
    round_about += [round_about, round_about]
    for data in (deep, round_about):
        with pytest.raises(cm.ConfigError, match="nested more than 100 deep"):
            cm.Experiment.from_dict({"kind": "experiment", "problem": data})
        with pytest.raises(cm.ConfigError, match="nested more than 100 deep"):
            cm.Study.from_dict({"base": data})


def test_text_is_not_longer_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TEXT", 100)
    with pytest.raises(cm.ConfigError, match="longer than 100 characters"):
        parse_study("# " + "x" * 100)


def test_keys_of_streams_are_checked(study: cm.Study) -> None:
    for key in ("xyz", "1" * 17, 7, "-1"):
        with pytest.raises(cm.ConfigError, match="64 bits in hexadecimal"):
            cm.Study.from_dict(study.to_dict() | {"key": key})


# -- names and paths -------------------------------------------------------------------------------


def test_names_that_no_file_can_hold(three_arms: cm.Experiment) -> None:
    for grid in ({"a\ud800": {"x": {"steps": 3}}}, {"a": {"x\udfff": {"steps": 3}}}):
        with pytest.raises(cm.ConfigError, match="no lone surrogates"):
            cm.Study(three_arms, grid, runs=2)
    with pytest.raises(cm.ConfigError, match=r"Bandit\.names.*no lone surrogates"):
        cm.Bandit([1, 0], names=["x", "\ud800"])


@pytest.mark.parametrize("path", ["a\0b", "a\ud800", "", 3, b"x", None])
def test_paths_that_are_none(study: cm.Study, path: Any) -> None:
    with pytest.raises(cm.ConfigError):
        cm.open(path)
    with pytest.raises(cm.ConfigError):
        cm.read_study(path)
    with pytest.raises(cm.ConfigError):
        cm.export(study.run(progress=False), path)
    if path is not None:
        with pytest.raises(cm.ConfigError):
            study.run(path, progress=False)


# -- at random -------------------------------------------------------------------------------------


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Change a few bytes, cut, repeat or insert."""
    at, length = rng.randrange(len(raw)), rng.choice([1, 1, 1, 2, 5, 50])
    way = rng.randrange(5)
    if way == 0:
        return raw[:at]
    if way == 1:
        return raw[:at] + raw[at + length :]
    if way == 2:
        return raw[:at] + raw[at : at + length] * 2 + raw[at + length :]
    if way == 3:
        return raw[:at] + rng.randbytes(length) + raw[at:]
    digit = bytes([rng.choice(b'0123456789-e.,:"[]{}')])
    return raw[:at] + digit + raw[at + 1 :]


@pytest.mark.parametrize("name", ["manifest.json", "outcome.json", "chunk"])
def test_no_change_passes_for_the_truth(store: Path, name: str) -> None:
    """Whatever is changed is refused, or left out with a warning, or makes no difference."""
    file = store / name if name != "chunk" else sorted((store / "chunks").iterdir())[0]
    raw, expected, rng = file.read_bytes(), cm.open(store).load(), random.Random(0)
    noticed = 0
    for _ in range(100):
        file.write_bytes(mutated(raw, rng))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", cm.StoreWarning)
            try:
                data = cm.open(store, verify=True).load()
            except cm.StoreError:
                noticed += 1
                continue
        if caught:
            noticed += 1
        else:
            assert data.identical(expected)  # such as a space more in JSON
    assert noticed >= 90
