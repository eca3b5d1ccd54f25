"""From a dataset to a file that other programs read."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from committal.errors import CommittalError, ConfigError, ConfigTypeError, StoreError
from committal.support.files import path_of, temporary_name
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
    target = path_of("path", path)
    kind = _FORMATS.get(target.suffix)
    if kind is None:
        raise ConfigError("path", str(path), "a name that ends in .nc or .zarr")
    if not (hasattr(data, "to_netcdf") and hasattr(data, "to_zarr")):
        raise ConfigTypeError("data", data, "a dataset made by run, Study.run or open")
    if not any(map(importlib.util.find_spec, _NEEDS[kind])):
        raise ConfigError(
            "path",
            str(path),
            f"{_NEEDS[kind][0]} to be installed for {kind}: pip install 'committal[export]'",
        )
    if os.path.lexists(target):
        raise StoreError(path, "it exists already", "choose another name")
    if not target.parent.is_dir():
        raise StoreError(target.parent, "there is no such directory", "make it first")
    data = _in_pieces(data)
    # Written beside its place and moved there: it is there whole, or not at all.
    beside = target.with_name(f"{temporary_name()}{target.suffix}")
    try:
        if kind == "netcdf":
            data.to_netcdf(beside, engine=_engine())
        else:
            data.to_zarr(beside, mode="w-", consolidated=False)
        os.rename(beside, target)
    except CommittalError:
        raise  # such as a damaged chunk that was found only now
    except Exception as error:  # every library has errors of its own
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise StoreError(path, why, "nothing was written; choose another place") from error
    finally:
        _remove(beside)


def _remove(path: Path) -> None:
    """Remove what was not finished, a file or a directory."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _engine() -> Any:
    return "netcdf4" if importlib.util.find_spec("netCDF4") else "h5netcdf"


def _in_pieces(data: xr.Dataset) -> xr.Dataset:
    """Make what is too large for memory a sequence of pieces, one per configuration."""
    available = available_memory()
    if available is None or data.nbytes < available / 4 or not importlib.util.find_spec("dask"):
        return data
    axes = data["count"].dims if "count" in data else ()
    return data.chunk({dim: 1 if dim in axes else -1 for dim in data.dims})
