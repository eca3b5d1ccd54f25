"""A store that grows: chunks of a smaller grid are taken over by a larger one.

A chunk is a pure function of its experiment, the key of its random numbers and the numbers of its
runs. So whatever another store holds of the same three need not be computed again, whatever the
other grid looks like: with fewer values of an axis, with fewer axes, in another order. Only what a
chunk says about itself (its study, the number of its configuration) is written anew.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from committal.errors import ConfigError
from committal.study.keeping import Keeper
from committal.study.opening import stored_study
from committal.study.store.place import Place
from committal.study.store.store import Store

if TYPE_CHECKING:
    from committal.study.study import Study

_LOG = logging.getLogger("committal.study")


class Donor:
    """Another store, some of whose chunks are chunks of a study too.

    Parameters
    ----------
    source : path
        A store of any study; it is only read.
    study : Study
        Whose chunks they are to be.
    chunk : int
        Runs in a chunk.

    Raises
    ------
    ConfigError
        If no experiment of the other study, with its random numbers, is one of this study, or if
        the chunks of the other store have another length.
    """

    def __init__(self, source: str | os.PathLike[str], study: Study, chunk: int) -> None:
        self._old = Store.open(source)
        self._study = study
        self._chunk = chunk
        before = stored_study(self._old)
        index_of = {
            (experiment.hash, study.key_of(i)): i
            for i, experiment in enumerate(study.grid.experiments)
        }
        self._moves = {
            i: index_of[wanted]
            for i, experiment in enumerate(before.grid.experiments)
            if (wanted := (experiment.hash, before.key_of(i))) in index_of
        }
        if not self._moves:
            raise ConfigError(
                "reuse", str(source), "a store with some of the same experiments and the same seed"
            )
        theirs = self._old.manifest["chunk"]
        if theirs != chunk:
            raise ConfigError(
                "reuse", str(source), f"a store with {chunk} runs per chunk, not {theirs}"
            )

    def give(self, keeper: Keeper, runs: int) -> int:
        """Copy what is wanted and not there; every chunk is verified first.

        Parameters
        ----------
        keeper : Keeper
            Where the chunks go.
        runs : int
            How many runs each configuration is to have.

        Returns
        -------
        int
            How many chunks were copied.
        """
        inventory = self._old.inventory(verify=True)
        inventory.warn(self._old.path, "they are not taken over")
        copied = 0
        for place in sorted(inventory.chunks):
            to = Place(self._moves.get(place.configuration, -1), place.first, place.stop)
            cut = min(to.first + self._chunk, runs)
            if to.configuration < 0 or to.first % self._chunk or to.stop != cut or keeper.has(to):
                continue
            experiment = self._study.grid.experiments[to.configuration]
            keeper.write(to, keeper.packed(to, experiment.hash, self._old.read(place)))
            copied += 1
        _LOG.info("%d chunks are taken over from %s", copied, self._old.path)
        return copied
