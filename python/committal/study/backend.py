"""Arrays that xarray reads when they are looked at; importing this file imports xarray.

This is xarray's interface for backends, as its documentation describes it under "How to add a new
backend": a `BackendArray` that says how it is indexed, wrapped so that indexing waits, and a
`BackendEntrypoint` through which ``open_dataset`` makes arrays remember what was read of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from committal.study.reading import Array, Positions

#: Writes the numbers of a configuration at some positions into an array.
Fetch: TypeAlias = Callable[[int, Positions, Array], None]
#: Dimensions, array and attributes, by name.
LazyVariables: TypeAlias = "Mapping[str, tuple[tuple[str, ...], Lazy, dict[str, Any]]]"


class Lazy(BackendArray):
    """An array that is fetched configuration by configuration.

    Parameters
    ----------
    grid, inner : sequence of int
        Its shape: the lengths of the axes of the grid, and those within a configuration.
    dtype : numpy.dtype
        Of its numbers.
    fetch : callable
        Writes the numbers of a configuration, at positions along the inner dimensions, into an
        array.

    Examples
    --------
    >>> def fetch(index, positions, found):
    ...     found[...] = 10 * index + positions[0]
    >>> array = Lazy((2, 2), (4,), np.dtype(int), fetch)
    >>> opened({"x": (("row", "column", "run"), array, {})})["x"][1, :, [3, 0]].values
    array([[23, 20],
           [33, 30]])
    """

    def __init__(
        self, grid: Sequence[int], inner: Sequence[int], dtype: np.dtype[Any], fetch: Fetch
    ) -> None:
        self.shape = (*grid, *inner)
        self.dtype = dtype
        self._axes = len(grid)
        self._fetch = fetch

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._get
        )

    def _get(self, key: tuple[Any, ...]) -> Array:
        positions = [np.arange(n)[k] for n, k in zip(self.shape, key, strict=True)]
        # Whole numbers drop their dimension; it is dropped at the end.
        dropped = tuple(i for i, p in enumerate(positions) if p.ndim == 0)
        positions = [np.atleast_1d(p) for p in positions]
        found = np.empty([p.size for p in positions], self.dtype)
        grid, inner = positions[: self._axes], tuple(positions[self._axes :])
        for where in np.ndindex(*(p.size for p in grid)):
            point = [int(p[i]) for p, i in zip(grid, where, strict=True)]
            index = int(np.ravel_multi_index(point, self.shape[: self._axes])) if point else 0
            self._fetch(index, inner, found[(*where, ...)])
        return np.asarray(found.squeeze(axis=dropped))


class _Backend(BackendEntrypoint):
    description = "What a study has computed"
    open_dataset_parameters = ("filename_or_obj", "drop_variables")

    def open_dataset(  # type: ignore[override]  # of what it opens xarray only knows files
        self,
        filename_or_obj: LazyVariables,
        *,
        drop_variables: str | Iterable[str] | None = None,
    ) -> xr.Dataset:
        found = {
            name: xr.Variable(dims, indexing.LazilyIndexedArray(array), attributes)
            for name, (dims, array, attributes) in filename_or_obj.items()
        }
        return xr.Dataset(found).drop_vars(drop_variables or ())


def opened(variables: LazyVariables) -> xr.Dataset:
    """Make a dataset whose arrays are read once, when they are looked at."""
    source: Any = variables
    return xr.open_dataset(source, engine=_Backend, cache=True)
