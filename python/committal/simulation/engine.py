"""One experiment, made ready once and then run in any ranges of runs.

A range of runs becomes plain arrays: what was recorded of every run, or exact sums over them. Both
can be cut and merged at will, by concatenation or by addition of integers, without changing a
bit. :func:`committal.run` merges within one process, a study merges what files and other machines
hold; both go through here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from committal import _core
from committal.config import Experiment, Group, Record
from committal.config.mdp import TabularMDP
from committal.errors import ConfigError, DivergenceError
from committal.inference.exact_sums import Histogram, Integers, Reduction, canonical, exact_sums
from committal.lowering import MdpPlan, lower
from committal.reference.replay import why_not_finite, why_not_recorded
from committal.simulation import dataset as results

Arrays = Mapping[str, npt.NDArray[Any]]
#: Shape and type of an array, before it exists.
Layout = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
Report = Callable[[int], None]

#: Runs that are looked at together where a sum was none.
_AGAIN = 256

_FAILURES = "failures"
_MOMENTS = "moments."
_HISTOGRAM = "histogram."


class Engine:
    """An experiment that is ready to run.

    Parameters
    ----------
    experiment : Experiment
        What to run and what to record of it.

    Examples
    --------
    >>> from committal.config import Bandit, Experiment, Natural, Record, Softmax
    >>> exp = Experiment(
    ...     Bandit([1, 0]), Softmax(), Natural(0.1), steps=9, record=Record("value")
    ... )
    >>> engine = Engine(exp)
    >>> whole = engine.compute(key=1, first_run=0, runs=5)
    >>> parts = [engine.compute(key=1, first_run=i, runs=n) for i, n in ((0, 2), (2, 3))]
    >>> bool((engine.merge(parts)["value"] == whole["value"]).all())
    True
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.plan = lower(experiment)
        make = _core.MdpSimulator if isinstance(self.plan, MdpPlan) else _core.BanditSimulator
        self._simulator = make(**self.plan.core_arguments())

    @property
    def reduces(self) -> bool:
        """Whether runs are summed up instead of kept."""
        return self.experiment.record.reduce is not None

    def layout(self, runs: int) -> Layout:
        """Return the shape and the type of every array that so many runs fill.

        Examples
        --------
        >>> from committal.config import Bandit, Experiment, Natural, Softmax
        >>> engine = Engine(Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=9))
        >>> {name: shape for name, (shape, _) in engine.layout(5).items()}
        {'value': (5, 1), 'policy': (5, 1, 2)}
        """
        plan, record = self.plan, self.experiment.record
        times = len(plan.times)
        layout: Layout = {}
        if record.reduce is None:
            for name in record.names:
                described = plan.quantity(name)
                layout[name] = ((runs, times, *described.shape(plan.sizes)), described.dtype)
            return layout
        integer = np.dtype(np.int64)
        for name in record.names:
            width = plan.quantity(name).width(plan.sizes)
            if self._counts_outcomes(name):
                layout[_HISTOGRAM + name] = ((times, width, self._outcomes + 2), integer)
                continue
            layout[_MOMENTS + name] = ((times, width, 2, _core.ACCUMULATOR_LIMBS), integer)
            if record.reduce.bins:
                layout[_HISTOGRAM + name] = ((times, width, record.reduce.bins + 2), integer)
        if record.reduce.below is not None:
            layout[_FAILURES] = ((times,), integer)
        return layout

    def nbytes(self, runs: int) -> int:
        """Return the size of all arrays of so many runs."""
        return sum(math.prod(shape) * dtype.itemsize for shape, dtype in self.layout(runs).values())

    def compute(
        self,
        *,
        key: int,
        first_run: int,
        runs: int,
        threads: int = 1,
        chunk: int | None = None,
        isa: str = "auto",
        report: Report | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Run the runs first_run, ..., first_run + runs − 1.

        Parameters
        ----------
        key : int
            Key of the random streams.
        first_run, runs : int
            Which runs.
        threads, chunk, isa
            See :func:`committal.run`; they change no bit of the result.
        report : callable, optional
            Gets the number of updates done, about ten times a second, and may raise to cancel.

        Returns
        -------
        dict of array
            As :meth:`layout` says.
        """
        layout = self.layout(runs)
        # Accumulators are added to, outputs are overwritten.
        allocate = np.zeros if self.reduces else np.empty
        calls = _Calls(key, first_run, runs, chunk or max(runs, 1), threads, isa, report)
        try:
            arrays = {name: allocate(shape, dtype) for name, (shape, dtype) in layout.items()}
            if self.reduces:
                return self._reduced(arrays, runs, calls)
            for start, stop, options in calls.of(self.plan.steps):
                outputs = {name: array[start:stop] for name, array in arrays.items()}
                _core.simulate(self._simulator, outputs=outputs, **options)
        except _core.Diverged as error:
            _, run, update, recorded = error.args
            raise self._divergence(key, run, update, recorded=recorded) from None
        except MemoryError as error:
            raise ConfigError(*self._longest(), f"what fits into memory: {error}") from None
        if self.plan.programs:
            self._require_numbers(arrays, key, first_run)
        return arrays

    def _require_numbers(
        self, arrays: dict[str, npt.NDArray[Any]], key: int, first_run: int
    ) -> None:
        """Refuse recorded numbers that are none: a formula may leave the parameters as they are."""
        for name, array in arrays.items():
            if array.dtype.kind != "f" or np.isfinite(array).all():
                continue
            run, time = (int(i) for i in np.argwhere(~np.isfinite(array))[0][:2])
            update = int(self.plan.times[time])
            raise self._divergence(key, first_run + run, update, name, recorded=True)

    def _longest(self) -> tuple[str, int]:
        """Name the longest list that a block of runs is made of, and say its length."""
        plan = self.plan
        if not isinstance(plan, MdpPlan):
            lengths = {"OneSample.samples": plan.samples, "Bandit.arms": plan.arms}
        else:
            lengths = {"limit": plan.limit, "states * actions": plan.states * plan.actions}
            estimator = self.experiment.estimator
            if isinstance(estimator, Group) and isinstance(self.experiment.problem, TabularMDP):
                lengths["Group.samples"] = estimator.episodes(self.experiment.problem)
        return max(lengths.items(), key=lambda item: item[1])

    def _divergence(
        self, key: int, run: int, update: int, name: str = "", *, recorded: bool
    ) -> DivergenceError:
        """Why a run left the numbers: the formula that did it, if one did.

        Parameters
        ----------
        key, run, update : int
            Which run, and after how many updates.
        name : str
            What was recorded of it that is not finite, where that is known.
        recorded : bool
            Whether it is something that was recorded, and no more.
        """
        if not self.plan.programs:
            return DivergenceError(run, update)
        where = {"key": key, "run": run, "update": update}
        theta = self._theta_at(key, run, update)
        # In an MDP what formulas of visits gave is remembered, though it may not reach theta.
        if theta is None or (isinstance(self.plan, MdpPlan) and not recorded):
            return why_not_finite(
                self.experiment, **where, theta_at=lambda time: self._theta_at(key, run, time)
            )
        # The parameters are numbers: it is something that was recorded.
        return why_not_recorded(self.experiment, **where, theta=theta, name=name)

    def _theta_at(self, key: int, run: int, time: int) -> npt.NDArray[np.float64] | None:
        """The parameters of one run after so many updates; None if they are not finite."""
        engine = Engine(self.experiment.replace(record=Record("theta", at=[time])))
        outputs = {name: np.empty(*form) for name, form in engine.layout(1).items()}
        try:
            _core.simulate(engine._simulator, outputs=outputs, key=key, first_run=run, runs=1)
        except _core.Diverged:
            return None
        theta = outputs["theta"][0, 0]
        return theta if np.isfinite(theta).all() else None

    def _reduced(
        self, arrays: dict[str, npt.NDArray[Any]], runs: int, calls: _Calls
    ) -> dict[str, npt.NDArray[Any]]:
        """Make the runs and add them up."""
        reduction = self._reduction(arrays, runs)
        histograms = {
            name: (histogram.counts, histogram.lo, histogram.hi)
            for name, histogram in reduction.histograms.items()
        }
        try:
            for _, _, options in calls.of(self.plan.steps):
                _core.reduce(
                    self._simulator,
                    moments=reduction.moments,
                    histograms=histograms,
                    failures=reduction.failures,
                    below=math.nan if reduction.below is None else reduction.below,
                    **options,
                )
        except OverflowError as error:
            self._look_again(calls)
            raise ConfigError(
                "record.reduce",
                self.experiment.record.reduce,
                f"numbers that can be summed: {error}",
            ) from None
        return self._canonical(arrays)

    def _look_again(self, calls: _Calls) -> None:
        """Make the runs once more, a few at a time: sums do not tell which number was none."""
        if not self.plan.programs:
            return
        whole = self.experiment.record.replace(reduce=None)
        engine = Engine(self.experiment.replace(record=whole))
        for first in range(calls.first_run, calls.first_run + calls.runs, _AGAIN):
            runs = min(_AGAIN, calls.first_run + calls.runs - first)
            engine.compute(key=calls.key, first_run=first, runs=runs)

    def merge(self, pieces: Sequence[Arrays]) -> dict[str, npt.NDArray[Any]]:
        """Merge the arrays of ranges that follow each other.

        Parameters
        ----------
        pieces : sequence of dict of array
            In the order of their runs, although sums do not care; none is like no runs.
        """
        if self.reduces:
            total = {name: np.zeros(*form) for name, form in self.layout(0).items()}
            for piece in pieces:
                for name, array in total.items():
                    array += piece[name]
            return self._canonical(total)
        if not pieces:
            return {name: np.empty(*form) for name, form in self.layout(0).items()}
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

    def variables(
        self, arrays: Arrays, *, runs: int, first_run: int = 0
    ) -> tuple[dict[str, results.Variable], dict[str, results.Variable]]:
        """Turn arrays into variables and coordinates, see :mod:`committal.simulation.dataset`."""
        if self.reduces:
            reduction = self._reduction(arrays, runs)
            return results.reduced_variables(self.experiment, self.plan, reduction)
        return results.per_run_variables(self.plan, arrays, first_run=first_run)

    def failures(self, arrays: Arrays, below: float) -> int | None:
        """Count the runs whose last value is less than a level.

        Returns
        -------
        int or None
            None if these arrays cannot tell.
        """
        reduce = self.experiment.record.reduce
        if reduce is not None:
            return int(arrays[_FAILURES][-1]) if reduce.below == below else None
        if "value" not in arrays:
            return None
        final = arrays["value"][:, -1]
        # Written so that a value that is not a number would count as a failure.
        return final.size - int(np.count_nonzero(final >= below))

    def last_sums(self, arrays: Arrays, name: str) -> tuple[float, float] | None:
        """Return Σx and Σx² of the last recorded x, None if it was not recorded."""
        if self.reduces:
            limbs = arrays.get(_MOMENTS + name)
            if limbs is None or limbs.shape[1] != 1:
                return None
            unit = 1 << -_core.ACCUMULATOR_BASE
            first, second = exact_sums(limbs[-1, 0])
            return first / unit, second / unit
        if name not in arrays or arrays[name].ndim != 2:
            return None
        x = arrays[name][:, -1].tolist()
        return math.fsum(x), math.fsum(v * v for v in x)

    def _counts_outcomes(self, name: str) -> bool:
        """Say whether a quantity reduces to the fraction of runs by outcome."""
        return self.plan.quantity(name).reduces == "outcomes"

    @property
    def _outcomes(self) -> int:
        """In how many ways an episode can end: in each terminal state, or not."""
        return self.plan.sizes["terminal"] + 1

    def _reduction(self, arrays: Arrays, runs: int) -> Reduction:
        """Look at arrays as at a reduction; nothing is copied."""
        record = self.experiment.record
        reduce = record.reduce
        assert reduce is not None
        histograms: dict[str, Histogram] = {}
        for name in record.names:
            if self._counts_outcomes(name):
                # One bin around each of -1, 0, 1, ...
                ends = (-1.5, self._outcomes - 1.5)
            elif reduce.bins:
                ends = reduce.range_of(name, self.experiment)
            else:
                continue
            histograms[name] = Histogram(arrays[_HISTOGRAM + name], *ends)
        return Reduction(
            runs=runs,
            moments={
                name: arrays[_MOMENTS + name]
                for name in record.names
                if not self._counts_outcomes(name)
            },
            histograms=histograms,
            failures=arrays.get(_FAILURES),
            below=reduce.below,
        )

    @staticmethod
    def _canonical(arrays: dict[str, Integers]) -> dict[str, Integers]:
        # Threads and chunks leave carries in different places; equal sums must be equal bytes.
        for name, array in arrays.items():
            if name.startswith(_MOMENTS):
                array[...] = canonical(array)
        return arrays


class _Calls:
    """The calls of the core that together run a range of runs."""

    def __init__(
        self,
        key: int,
        first_run: int,
        runs: int,
        chunk: int,
        threads: int,
        isa: str,
        report: Report | None,
    ) -> None:
        self.key = key
        self.first_run = first_run
        self.runs = runs
        self._chunk = chunk
        self._common = {"key": key, "threads": threads, "isa": isa}
        self._report = report

    def of(self, steps: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield where each call starts and stops, and its options."""
        for start in range(0, self.runs, self._chunk):
            stop = min(start + self._chunk, self.runs)
            options = {
                **self._common,
                "first_run": self.first_run + start,
                "runs": stop - start,
                "progress": self._progress(start * steps),
            }
            yield start, stop, options

    def _progress(self, before: int) -> Report | None:
        report = self._report
        if report is None or before == 0:
            return report
        return lambda done: report(before + done)
