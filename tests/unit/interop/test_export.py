"""Files that other programs read."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

import committal as cm

ConfigError = cm.errors.ConfigError

GRID = {"baseline": [cm.Value(), 0.5]}


@pytest.fixture(scope="module")
def base(three_arms: cm.Experiment) -> cm.Experiment:
    return three_arms.replace(steps=60, record=cm.Record("value", "policy", "action", every=20))


@pytest.mark.parametrize("name", ["data.nc", "data.zarr"])
def test_export(base: cm.Experiment, tmp_path: Path, name: str) -> None:
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    study = cm.Study(base, GRID, runs=7, rng=0)
    data = study.run(tmp_path / "store", until=cm.Precision("value", 0.5), progress=False)
    cm.export(data, tmp_path / name)
    engine = "zarr" if name.endswith("zarr") else None
    options = {"consolidated": False} if engine else {}
    with xr.open_dataset(tmp_path / name, engine=engine, **options) as loaded:  # type: ignore[arg-type]
        xr.testing.assert_equal(loaded.load(), data.load())
        assert cm.study_of(loaded) == study
    with pytest.raises(cm.StoreError, match="exists already"):
        cm.export(data, tmp_path / name)


def test_export_in_pieces(
    base: cm.Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask")
    monkeypatch.setattr("committal.interop.export.available_memory", lambda: 10_000)
    data = cm.Study(base, GRID, runs=70, rng=0).run(tmp_path / "store", progress=False)
    cm.export(data, tmp_path / "data.nc")
    with xr.open_dataset(tmp_path / "data.nc") as loaded:
        xr.testing.assert_equal(loaded.load(), data.load())


def test_export_refuses(base: cm.Experiment, tmp_path: Path) -> None:
    data = cm.run(base, runs=2, rng=0)
    with pytest.raises(ConfigError, match=r"\.nc or \.zarr"):
        cm.export(data, tmp_path / "data.csv")
    with pytest.raises(cm.StoreError):
        cm.export(data, tmp_path / "nowhere" / "data.nc")


@pytest.mark.parametrize("name", ["data.nc", "data.zarr"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("HDF")])
def test_an_export_that_fails_leaves_nothing(
    base: cm.Experiment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    error: Exception,
) -> None:
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    data = cm.run(base, runs=2, rng=0)

    def fail(self: xr.Dataset, path: Path, **options: object) -> None:
        path.mkdir() if name.endswith("zarr") else path.write_bytes(b"half of it")
        raise error

    monkeypatch.setattr(xr.Dataset, "to_netcdf", fail)
    monkeypatch.setattr(xr.Dataset, "to_zarr", fail)
    with pytest.raises(cm.StoreError, match=r"No space left|RuntimeError: HDF"):
        cm.export(data, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_export_of_a_damaged_store_leaves_nothing(base: cm.Experiment, tmp_path: Path) -> None:
    store = tmp_path / "store"
    cm.Study(base, GRID, runs=7, rng=0).run(store, progress=False)
    data = cm.open(store)
    for chunk in (store / "chunks").iterdir():
        chunk.write_bytes(chunk.read_bytes()[:-1] + b"x")
    with pytest.raises(cm.StoreError, match="checksum is wrong"):
        cm.export(data, tmp_path / "data.nc")
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


def test_export_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(cm.ConfigError, match="data = 3"):
        cm.export(3, tmp_path / "data.nc")  # type: ignore[arg-type]
