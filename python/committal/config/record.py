"""Records: which quantities are kept of a run, at which times, and in which form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.base import Config, config, written
from committal.config.formula_quantity import FormulaQuantity
from committal.config.quantities import ALL_NAMES, ANY_QUANTITY, Quantity
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, limits

if TYPE_CHECKING:
    from committal.config.experiment import Experiment
    from committal.config.problem import Problem

__all__ = ["Record", "Reduce"]

#: Bins of a histogram that is kept only for its quantiles.
DEFAULT_BINS = 1024

_Range: TypeAlias = tuple[float, float]


@config
class Reduce(Config):
    """Mean, standard error and count over runs, instead of every run.

    Parameters
    ----------
    below
        Count the failed runs, those with value < `below`, at every recorded time.
    quantiles
        Probabilities in [0, 1] of quantiles over runs. They are read off a histogram: their
        error is at most the width of a bin.
    bins
        The number of cells of the histogram; None for no histogram, or for 1024 cells if
        quantiles are asked for.
    range
        The ends (lo, hi) of the histogram, for all recorded quantities or as a mapping from
        names. Where bounds are known (value, policy, entropies, distance, return, length,
        probabilities of goals) none is needed.

    Examples
    --------
    >>> Reduce(below=0.9, quantiles=[0.5])
    Reduce(below=0.9, quantiles=(0.5,), bins=1024)
    >>> Reduce(bins=10, range={"theta": (-5, 5)}).range
    (('theta', (-5.0, 5.0)),)
    """

    below: float | None
    quantiles: tuple[float, ...]
    bins: int | None
    #: One pair of ends for all quantities, or (name, ends) pairs in one order.
    range: _Range | tuple[tuple[str, _Range], ...] | None

    def __init__(
        self,
        below: check.Number | None = None,
        quantiles: check.Numbers = (),
        bins: check.Integer | None = None,
        range: check.Numbers | Mapping[str, check.Numbers] | None = None,
    ) -> None:
        if below is not None:
            below = check.number("Reduce.below", below)
        quantiles = tuple(sorted(set(check.vector("Reduce.quantiles", quantiles, check.UNIT))))
        if bins is not None:
            bins = check.integer("Reduce.bins", bins, 1, limits.BINS)
        elif quantiles:
            bins = DEFAULT_BINS
        if range is not None and bins is None:
            raise ConfigError("Reduce.range", range, "None unless bins or quantiles are given")
        self._set(below=below, quantiles=quantiles, bins=bins, range=_checked_range(range))

    def _arguments(self) -> dict[str, Any]:
        ends = self.range
        by_name = isinstance(ends, tuple) and isinstance(ends[0], tuple)
        return {
            "below": self.below,
            "quantiles": self.quantiles,
            "bins": self.bins,
            "range": dict(ends) if by_name else ends,  # type: ignore[arg-type]
        }

    def given_range(self, name: str) -> _Range | None:
        """Return the range given for a quantity, None if there is none.

        Examples
        --------
        >>> Reduce(bins=10, range={"theta": (-5, 5)}).given_range("theta")
        (-5.0, 5.0)
        """
        by_name = self._arguments()["range"]
        found: _Range | None = by_name.get(name) if isinstance(by_name, dict) else by_name
        return found

    def range_of(self, name: str, experiment: Experiment) -> _Range:
        """Return the ends of the histogram of a quantity: those given, or the known bounds.

        Examples
        --------
        >>> from committal.config import Bandit, Experiment, Natural, Softmax
        >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=0.1), steps=10)
        >>> Reduce(bins=10, range=(-1, 2)).range_of("value", exp)
        (-1.0, 2.0)
        """
        row = experiment.record.quantity(name, experiment.problem)
        found = self.given_range(name) or row.range_of(experiment.problem)
        if found is None:
            raise ConfigError(
                "Reduce.range", self._arguments()["range"], f"the ends (lo, hi) for {name!r}"
            )
        return found


@config
class Record(Config):
    """What is kept of a run, at which times t (the number of updates done).

    Parameters
    ----------
    *names
        Of bandits some of `RECORDABLE`, ``"value"`` and ``"policy"`` if none is given. All
        describe theta_t: its value J, its policy, the baseline b_t, the entropy of the policy in
        nats, the action and reward drawn from it, regret = sum_(s<t) (r_max - J(theta_s)),
        variance = trace of the covariance of the next update's direction, distance = that of the
        policy to the optimal vertex.

        Of MDPs some of `MDP_RECORDABLE`, ``"return"`` and ``"value"`` if none is given: of the
        episode drawn from theta_t its discounted return, its length, the goal reached (the
        index among the terminal states, -1 for none) and the mean entropy of the policies of its
        states; the entropy of the visits to states so far, this episode included, and the visits
        themselves; and of theta_t itself its exact value J, the exact probability of reaching
        each goal within the limit, and the policy.
    every
        Record at t = 0, n, 2n, ... and after the last update.
    at
        Record at these times, one integer or several.
    log
        Record at about this many times: 0, the last, and logarithmically spaced ones between.
    reduce
        None to keep every run, or a `Reduce` to keep statistics over runs.

    Notes
    -----
    Without `every`, `at` or `log` only the end is recorded.

    Examples
    --------
    >>> Record("value", every=10).times(25)
    array([ 0, 10, 20, 25])
    >>> Record().times(25)
    array([25])
    """

    names: tuple[str, ...]
    #: Those of the names that are formulas, in the order of their names.
    formulas: tuple[FormulaQuantity, ...]
    every: int | None
    at: tuple[int, ...] | None
    log: int | None
    reduce: Reduce | None

    def __init__(
        self,
        *names: str | FormulaQuantity,
        every: check.Integer | None = None,
        at: check.Integer | Sequence[check.Integer] | npt.NDArray[np.integer[Any]] | None = None,
        log: check.Integer | None = None,
        reduce: Reduce | None = None,
    ) -> None:
        formulas = tuple(name for name in names if isinstance(name, FormulaQuantity))
        native = tuple(name for name in names if not isinstance(name, FormulaQuantity))
        for name in native:
            if callable(name):
                allowed = "names, and formulas: cm.quantity(...) makes one of a function"
                raise ConfigTypeError("Record.names", name, allowed)
            check.choice("Record.names", name, ALL_NAMES)
        own = sorted(formulas, key=lambda formula: formula.name)
        if len({*native, *(formula.name for formula in own)}) < len(names):
            raise ConfigError("Record.names", names, "different names")
        given = {"every": every, "at": at, "log": log}
        chosen = [name for name, value in given.items() if value is not None]
        if len(chosen) > 1:
            raise ConfigError(
                f"Record.{chosen[1]}", given[chosen[1]], f"None, for {chosen[0]} is given too"
            )
        if reduce is not None and not isinstance(reduce, Reduce):
            raise ConfigTypeError("Record.reduce", reduce, "a Reduce or None")
        kept = tuple(name for name in ALL_NAMES if name in native)
        kept += tuple(formula.name for formula in own)
        self._set(
            names=kept,
            formulas=tuple(own),
            every=None if every is None else check.integer("Record.every", every, 1),
            at=None if at is None else _checked_times(at),
            log=None if log is None else check.integer("Record.log", log, 2, limits.LOG_TIMES),
            reduce=reduce,
        )
        if reduce is not None and kept:
            _check_reduction(kept, reduce)

    @classmethod
    def _build(cls, arguments: Mapping[str, Any]) -> Self:
        others = dict(arguments)
        names = others.pop("names", ())
        if isinstance(names, str | Mapping) or not isinstance(names, Iterable):
            raise ConfigTypeError("Record.names", names, "a sequence of names")
        return cls(*(_read_name(i, name) for i, name in enumerate(names)), **others)

    def _arguments(self) -> dict[str, Any]:
        own = {formula.name: formula for formula in self.formulas}
        names = tuple(own.get(name, name) for name in self.names)
        return {"names": names} | {n: getattr(self, n) for n in self._parameters if n != "names"}

    def quantity(self, name: str, problem: Problem) -> Quantity:
        """Return how something is recorded: a row of the problem, or that of a formula.

        Examples
        --------
        >>> from committal.config import Bandit
        >>> Record("value").quantity("value", Bandit([1, 0])).units
        'reward'
        """
        own = {formula.name: formula for formula in self.formulas}
        return own[name].row_in(problem) if name in own else problem.quantities[name]

    def named(self, names: Sequence[str]) -> Self:
        """Return the record with these names if it was made without any.

        Examples
        --------
        >>> Record(every=10).named(["value"])
        Record('value', every=10)
        """
        return self if self.names else self.replace(names=tuple(names))

    def __repr__(self) -> str:
        others = self._arguments()
        shown = [repr(name) for name in others.pop("names")]
        shown += [f"{name}={written(v)}" for name, v in others.items() if v is not None]
        return f"Record({', '.join(shown)})"

    def times(self, steps: check.Integer) -> npt.NDArray[np.int64]:
        """Return the recorded times of an experiment of so many steps, in increasing order.

        Examples
        --------
        >>> Record(log=5).times(1000)
        array([   0,    1,   10,  100, 1000])
        """
        steps = check.integer("steps", steps, 0, limits.DRAWS)
        if self.at is not None:
            if self.at[-1] > steps:
                raise ConfigError("Record.at", self.at, f"times in [0, {steps}], up to steps")
            return np.array(self.at, dtype=np.int64)
        if self.every is not None:
            if steps // self.every >= limits.TIMES:
                raise ConfigError(
                    "Record.every", self.every, f"fewer than {limits.TIMES} times in {steps} steps"
                )
            regular = np.arange(0, steps + 1, self.every, dtype=np.int64)
            return regular if regular[-1] == steps else np.append(regular, steps)
        if self.log is not None:
            # log - 2 points between the ends; rounding merges the first of them, where integers
            # are sparser than the logarithm.
            points = np.geomspace(1, max(steps, 1), self.log - 2, endpoint=False)
            between = np.rint(points).astype(np.int64)
            ends = np.array([0, steps], dtype=np.int64)
            return np.unique(np.concatenate((ends, between[between < steps])))
        return np.array([steps], dtype=np.int64)


def _read_name(place: int, name: Any) -> Any:
    """A name, or a formula as a dictionary says it."""
    if not isinstance(name, Mapping):
        return name
    try:
        return FormulaQuantity.from_dict(name)
    except ConfigError as error:
        where = f"Record.names[{place}].{error.argument.removeprefix('quantity.')}"
        raise type(error)(where, error.value, error.allowed) from None


def _checked_times(at: Any) -> tuple[int, ...]:
    # Before NumPy looks: it would warn of a masked number, and go on with NaN.
    for one in (at, *(at if isinstance(at, list | tuple) else ())):
        check.refuse_masked("Record.at", one, "an integer >= 0 or a sequence of them")
    times = at if isinstance(at, (Sequence, np.ndarray)) and check.ndim(at) else (at,)
    if isinstance(times, str) or check.ndim(times) != 1:
        raise ConfigTypeError("Record.at", at, "an integer >= 0 or a sequence of them")
    if len(times) == 0:
        raise ConfigError("Record.at", at, "at least one time")
    return tuple(sorted({check.integer("Record.at", time, 0) for time in times}))


def _checked_range(ends: Any) -> _Range | tuple[tuple[str, _Range], ...] | None:
    if ends is None:
        return None
    if not isinstance(ends, Mapping):
        return _checked_ends("Reduce.range", ends)
    if not ends:
        raise ConfigError("Reduce.range", ends, "at least one name, or None")
    for name in ends:  # what is no name of ours may be that of a formula; the record knows
        if not isinstance(name, str) or not name.isidentifier():
            check.choice("Reduce.range", name, ALL_NAMES)
    order = (*ALL_NAMES, *sorted(name for name in ends if name not in ALL_NAMES))
    return tuple(
        (name, _checked_ends(f"Reduce.range[{name!r}]", ends[name]))
        for name in order
        if name in ends
    )


def _checked_ends(argument: str, ends: object) -> _Range:
    low, high = check.vector(argument, ends, length=2)
    if not low < high:
        raise ConfigError(argument, ends, "(lo, hi) with lo < hi")
    return low, high


def _check_reduction(names: tuple[str, ...], reduce: Reduce) -> None:
    for name in names:
        reduces = ANY_QUANTITY[name].reduces if name in ANY_QUANTITY else "moments"
        if not reduces:
            raise ConfigError(
                "Record.names",
                names,
                f"names without {name!r}: an {name} has no mean; reduce 'policy' instead",
            )
        if reduces == "mean" and reduce.bins is not None:
            raise ConfigError(
                "Record.reduce",
                reduce,
                f"no bins and no quantiles while {name!r} is recorded: {name}s reduce to their "
                "mean",
            )
    ranges = reduce._arguments()["range"]
    for name in ranges if isinstance(ranges, dict) else ():
        if name not in names:
            raise ConfigError("Record.reduce.range", name, check.one_of(name, names))
