"""The laboratory: every number that a figure needs is run, or looked up, here.

A figure asks for two kinds of runs. A *sample* is as large as the paper's and is what pictures
show run by run. An *ensemble* is the same experiment at high precision, reduced while it runs. Both
use the same random numbers: the first runs of the ensemble are the sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from committal import exact
from committal.config import Experiment, Record
from committal.errors import CombinationError, ConfigError
from committal.paper.cache import Arrays, Cache
from committal.paper.verdicts import Estimate
from committal.simulation import dataset as results
from committal.simulation.engine import Engine
from committal.simulation.run import Progress
from committal.simulation.streams import RNGLike, stream_key
from committal.support.check import integer, number
from committal.support.machine import threads_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Lab"]

#: Given a label, whom to tell about the progress of what it names.
Watch = Callable[[str], AbstractContextManager[Progress | None]]

_EXACT = 1  # the key under which numbers without randomness are stored


def _nobody(label: str) -> AbstractContextManager[None]:
    del label
    return nullcontext()


class Lab:
    """Runs experiments for figures and keeps the results.

    Parameters
    ----------
    directory : path
        Where results are kept.
    rng : int and others, optional
        The seed of everything, see :func:`committal.run`.
    runs : int, optional
        Runs of every ensemble, instead of each figure's own number; samples become smaller if
        this is smaller.
    scale : float, optional
        Multiply the number of runs of every ensemble.
    precise : bool, optional
        False measures on the paper's sample sizes only.
    threads : int, optional
        Worker threads; all cores by default.
    watch : callable, optional
        Told about progress.

    Examples
    --------
    >>> import tempfile
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=3)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     lab = Lab(Path(directory), rng=7)
    ...     first, again = lab.sample(exp, 5), Lab(Path(directory), rng=7).sample(exp, 5)
    >>> first.identical(again)
    True
    """

    def __init__(
        self,
        directory: Path,
        *,
        rng: RNGLike = 0,
        runs: int | None = None,
        scale: float = 1.0,
        precise: bool = True,
        threads: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.runs = None if runs is None else integer("runs", runs, 1)
        self.scale = number("scale", scale)
        if not self.scale > 0.0:
            raise ConfigError("scale", scale, "a number > 0")
        self.precise = precise
        self.key, self.entropy = stream_key(rng)
        self.threads = threads_of("threads", threads)
        self._cache = Cache(directory)
        self._watch = _nobody if watch is None else watch
        self._known: dict[tuple[Experiment, int], xr.Dataset] = {}
        self._seconds = 0.0

    # -- asking ---------------------------------------------------------------------------------

    def sample(self, experiment: Experiment, runs: int, label: str = "") -> xr.Dataset:
        """Run as often as the paper did, or fewer times if few runs are wanted."""
        return self._run(experiment, runs if self.runs is None else min(runs, self.runs), label)

    def ensemble(
        self, experiment: Experiment, runs: int, sample: int, label: str = ""
    ) -> xr.Dataset:
        """Run at high precision.

        Parameters
        ----------
        experiment : Experiment
            What to run; its record should reduce.
        runs : int
            How often, before what the user wants is taken into account.
        sample : int
            How often the paper ran it.
        label : str, optional
            For the progress.
        """
        return self._run(experiment, self.ensemble_runs(runs, sample), label)

    def ensemble_runs(self, runs: int, sample: int) -> int:
        """Return the size of an ensemble."""
        if self.runs is not None:
            return self.runs
        return max(1, round(runs * self.scale)) if self.precise else sample

    def committal(self, experiment: Experiment) -> Estimate | None:
        """Return P(the run ends on a suboptimal arm), solved without sampling.

        None where it cannot be solved, or where a quick answer is wanted: three arms take a
        minute.
        """
        if not self.precise:
            return None
        plain = experiment.replace(steps=0, record=Record())
        stored = self._cache.get(plain, _EXACT, 0)
        if stored is None:
            start = time.perf_counter()
            try:
                with self._watch("exact"):
                    p, error = exact.committal_probability(plain, return_error=True)
            except (CombinationError, exact.NotConvergedError):
                return None
            arrays: Arrays = {"committal": np.array([p, error])}
            stored = arrays, time.perf_counter() - start
            self._cache.put(plain, _EXACT, 0, arrays, seconds=stored[1])
        self._seconds += stored[1]
        p, error = map(float, stored[0]["committal"])
        return Estimate(p, max(p - error, 0.0), min(p + error, 1.0))

    def take_seconds(self) -> float:
        """Return how long the results took that were asked for since the last call."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    # -- running --------------------------------------------------------------------------------

    def _run(self, experiment: Experiment, runs: int, label: str) -> xr.Dataset:
        if (experiment, runs) in self._known:
            return self._known[experiment, runs]
        engine = Engine(experiment)
        stored = self._cache.get(experiment, self.key, runs)
        if stored is None:
            start = time.perf_counter()
            total = runs * experiment.steps
            with self._watch(label) as report:
                arrays: Arrays = engine.compute(
                    key=self.key,
                    first_run=0,
                    runs=runs,
                    threads=self.threads,
                    report=None if report is None else (lambda done: report(done, total)),
                )
            stored = arrays, time.perf_counter() - start
            self._cache.put(experiment, self.key, runs, arrays, seconds=stored[1])
        self._seconds += stored[1]
        variables, coordinates = engine.variables(stored[0], runs=runs)
        attributes = results.provenance(experiment, key=self.key, entropy=self.entropy)
        if engine.reduces:
            attributes |= {"runs": runs, "first_run": 0}
        data = results.labelled(experiment, engine.plan, variables, coordinates, attributes)
        self._known[experiment, runs] = data
        return data
