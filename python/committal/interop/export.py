"""From a dataset to a file that other programs read."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from committal.errors import ConfigError, StoreError
from committal.support.machine import available_memory

if TYPE_CHECKING:
    import xarray as xr

_FORMATS = {".nc": "netcdf", ".nc4": "netcdf", ".zarr": "zarr"}
_NEEDS = {"netcdf": ("netCDF4", "h5netcdf"), "zarr": ("zarr",)}


def export(data: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as netCDF or Zarr.

    Parameters
    ----------
    data : xarray.Dataset
        A result, also one of :func:`committal.open` that was not read yet: what does not fit into
        memory is copied piece by piece, if Dask is installed.
    path : path
        Ends in ``.nc`` or ``.zarr``.

    Raises
    ------
    ConfigError
        If the format is not known or its library is not installed.
    StoreError
        If the file is there already or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=10)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     export(cm.run(exp, runs=4, rng=0), f"{directory}/runs.nc")
    """
    target = Path(path)
    kind = _FORMATS.get(target.suffix)
    if kind is None:
        raise ConfigError("path", str(path), "a name that ends in .nc or .zarr")
    if not any(map(importlib.util.find_spec, _NEEDS[kind])):
        raise ConfigError("path", str(path), f"{_NEEDS[kind][0]} to be installed for {kind}")
    if target.exists():
        raise StoreError(path, "it exists already", "choose another name")
    data = _in_pieces(data)
    try:
        if kind == "netcdf":
            data.to_netcdf(target, engine=_engine())
        else:
            data.to_zarr(target, mode="w-", consolidated=False)
    except OSError as error:
        raise StoreError(path, error.strerror or str(error), "choose another place") from error


def _engine() -> Any:
    return "netcdf4" if importlib.util.find_spec("netCDF4") else "h5netcdf"


def _in_pieces(data: xr.Dataset) -> xr.Dataset:
    """Make what is too large for memory a sequence of pieces, one per configuration."""
    available = available_memory()
    if available is None or data.nbytes < available / 4 or not importlib.util.find_spec("dask"):
        return data
    axes = data["count"].dims if "count" in data else ()
    return data.chunk({dim: 1 if dim in axes else -1 for dim in data.dims})
