"""The way back: from a store to its dataset, and from a store or a dataset to its study."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from committal.config.precision import Precision
from committal.errors import ConfigError, ConfigTypeError, StoreError
from committal.study.dataset import stack
from committal.study.reading import Contents
from committal.study.store.manifest import CHANGED, MANIFEST
from committal.study.store.outcome import OUTCOME, Outcome, read_outcome
from committal.study.store.place import Inventory, Place
from committal.study.store.store import Store
from committal.study.study import Study
from committal.study.tasks import Engines
from committal.support.notation import NotationError, json_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["open", "study_of"]


def open(path: str | os.PathLike[str], *, verify: bool = False) -> xr.Dataset:
    """Open a store, finished or not, also while it is being written.

    Parameters
    ----------
    path : path
        The directory that was given to :meth:`Study.run`.
    verify : bool, optional
        Compare the checksums of all chunks now, and leave out those that are damaged. Otherwise
        only what is obviously damaged is left out, and a wrong checksum is an error when the
        chunk is read.

    Returns
    -------
    xarray.Dataset
        As :meth:`Study.run` returns it. Nothing is read before it is looked at. Runs that are not
        there yet are NaN; `count` says how many are.

    Raises
    ------
    StoreError
        If it cannot be read.

    Warns
    -----
    StoreWarning
        If some files are left out.

    Examples
    --------
    >>> import tempfile
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=10)
    >>> study = cm.Study(exp, {"steps": [10, 20]}, runs=4, rng=0)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     made = study.run(store=directory).load()
    ...     cm.open(directory).identical(made)
    True
    """
    kept = Store.open(path)
    study = stored_study(kept)
    found = examined(kept, study, verify=verify)
    found.inventory.warn(kept.path, "they are left out")
    contents = Contents.of(study.grid, Engines(study.grid), found.wanted, kept.read)
    return stack(contents, study.attributes(), found.outcome)


class Examined(NamedTuple):
    """What a store holds of what is wanted.

    Attributes
    ----------
    inventory : Inventory
        All chunks that can be used, and everything that is wrong.
    wanted : set of Place
        The chunks that make up the result.
    outcome : dict or None
        Where each configuration stopped.
    """

    inventory: Inventory
    wanted: set[Place]
    outcome: Outcome | None


def examined(kept: Store, study: Study, *, verify: bool) -> Examined:
    """Look at everything that a store holds."""
    inventory = kept.inventory(verify=verify)
    outcome, problem = read_outcome(kept, len(study))
    if problem:
        inventory.damaged[OUTCOME] = problem
    manifest = kept.manifest
    inventory.find_strays(len(study), manifest["runs"], manifest["chunk"])
    stops = [manifest["runs"]] * len(study) if outcome is None else outcome["runs"]
    # Where the last chunk of fewer runs is not replaced yet, it holds the runs that there are.
    longest: dict[tuple[int, int], Place] = {}
    for place in sorted(inventory.chunks):
        if place.within(stops, manifest["chunk"]):
            longest[place.configuration, place.first] = place
    return Examined(inventory, set(longest.values()), outcome)


def stored_study(kept: Store) -> Study:
    """Return the study that a store was made by."""
    try:
        study = Study.from_dict({**kept.manifest["study"], "runs": kept.manifest["runs"]})
    except ConfigError as error:
        raise StoreError(
            kept.path / MANIFEST, f"its study cannot be read ({error})", CHANGED
        ) from None
    if study.hash != kept.manifest["hash"]:
        raise StoreError(
            kept.path / MANIFEST,
            "its hash does not belong to its study",
            "it was changed by hand, or by a version of the package that reads it differently",
        )
    return study


def stored_until(kept: Store) -> Precision | None:
    """Return the precision that a store was made for."""
    until = kept.manifest["until"]
    try:
        return None if until is None else Precision.from_dict(until)
    except ConfigError as error:
        raise StoreError(
            kept.path / MANIFEST, f"its precision cannot be read ({error})", CHANGED
        ) from None


def study_of(data: xr.Dataset) -> Study:
    """Rebuild the study that made a dataset.

    Parameters
    ----------
    data : xarray.Dataset
        A result of :meth:`Study.run`, possibly after a detour through a file.

    Examples
    --------
    >>> import committal as cm
    >>> exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=10)
    >>> study = cm.Study(exp, {"steps": [10, 20]}, runs=4, rng=0)
    >>> cm.study_of(study.run()) == study
    True
    """
    attributes = getattr(data, "attrs", None)
    if not isinstance(attributes, Mapping):
        raise ConfigTypeError("data", data, "a dataset made by Study.run")
    if "study" not in attributes:
        raise ConfigError("data.attrs", sorted(attributes), "an attribute 'study'")
    try:
        content = json_of(attributes["study"])
    except (NotationError, TypeError) as error:
        raise ConfigError("data.attrs['study']", attributes["study"], f"JSON ({error})") from None
    return Study.from_dict(content)
