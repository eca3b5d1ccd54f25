"""What one request may ask of the page: the limits, and the door through which experiments come.

The page draws; it is no substitute for a study. Whatever the address or a script says, an
experiment is read by the same `from_dict` as a study file, and refused by a typed error where a
picture of it would take long or would need much memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from committal.config import Bandit, Experiment, Group
from committal.config.gridworld import Gridworld
from committal.config.mdp import TabularMDP
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check

#: Bytes of a request.
BODY = 2**16
#: Arms of a bandit; the page has sliders for five.
ARMS = 20
#: Updates, or episodes, of a run.
STEPS = 100_000
#: Samples of an update.
SAMPLES = 1000
#: Moves of an episode, of all episodes of an update, and cells of a map that are not walls.
MOVES = 1000
WALKED = 20_000
CELLS = 400
#: Runs of a picture, of which every one is drawn.
DRAWN = 1000
#: Runs that are only counted.
COUNTED = 1_000_000
#: Times at which a picture knows its runs.
TIMES = 200
#: Seconds of work for a picture, for an exact answer and for a count.
PICTURE_SECONDS = 10.0
ANSWER_SECONDS = 30.0
COUNT_SECONDS = 300.0

#: The problems that the page can draw, by kind.
PROBLEMS = ("bandit", "gridworld")


def experiment_of(data: object, argument: str = "experiment") -> Experiment:
    """Read an experiment that somebody sent.

    Raises
    ------
    ConfigError
        As `Experiment.from_dict`, and where it is too large for a picture.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> experiment_of(exp.to_dict()) == exp
    True
    >>> experiment_of(exp.replace(steps=10**9).to_dict())
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: Experiment.steps = 1000000000 is not allowed; expected at most \
100000 on this page; committal.run has no such limit
    """
    if not isinstance(data, Mapping):
        raise ConfigTypeError(argument, data, "an object with the keys of an experiment")
    # What is recorded is the page's affair, and a record of a million times is work.
    plain = {key: value for key, value in data.items() if key != "record"}
    _refuse_problem(plain.get("problem"))
    experiment = Experiment.from_dict(plain)
    _refuse_large(experiment)
    return experiment


def _refuse_problem(problem: object) -> None:
    """Refuse what the page cannot draw before it is built: a process may have 10^9 states."""
    kind = problem.get("kind") if isinstance(problem, Mapping) else problem
    if kind not in PROBLEMS:
        raise ConfigError("problem.kind", kind, f"{PROBLEMS[0]!r} or {PROBLEMS[1]!r} on this page")


def _refuse_large(experiment: Experiment) -> None:
    problem, estimator = experiment.problem, experiment.estimator
    samples = getattr(estimator, "samples", 1)
    if isinstance(estimator, Group) and isinstance(problem, TabularMDP):
        samples = estimator.episodes(problem)
    sizes = {
        "Experiment.steps": (experiment.steps, STEPS),
        f"{type(estimator).__name__}.samples": (samples, SAMPLES),
    }
    if isinstance(problem, Gridworld):
        sizes["Gridworld.limit"] = (problem.limit, MOVES)
        sizes["Gridworld.limit * samples"] = (problem.limit * samples, WALKED)
        sizes["Gridworld.cells"] = (problem.n_states, CELLS)
    elif isinstance(problem, Bandit):
        sizes["Bandit.arms"] = (problem.arms, ARMS)
    for argument, (given, most) in sizes.items():
        if given > most:
            raise ConfigError(
                argument, given, f"at most {most} on this page; committal.run has no such limit"
            )


def runs_of(value: object, most: int) -> int:
    """Read a number of runs.

    Examples
    --------
    >>> runs_of(10**9, DRAWN)
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: runs = 1000000000 is not allowed; expected an integer in \
[1, 1000]
    """
    return check.integer("runs", value, 1, most)


def seed_of(value: object) -> int:
    """Read a seed.

    Examples
    --------
    >>> seed_of(3)
    3
    """
    return check.integer("seed", value, 0, 2**32 - 1)


def times_of(steps: int, most: int = TIMES) -> npt.NDArray[np.int64]:
    """Times at which a picture knows its runs: dense at first, when most happens.

    Examples
    --------
    >>> times_of(100, 5).tolist()
    [0, 6, 25, 56, 100]
    """
    if steps < most:
        return np.arange(steps + 1)
    return np.unique(np.rint(steps * np.linspace(0.0, 1.0, most) ** 2).astype(np.int64))


def within(seconds: float, still_wanted: Callable[[], None]) -> Callable[[Any], None]:
    """Make a report for the engine, which ends work that nobody wants or that takes too long.

    Examples
    --------
    >>> within(60.0, lambda: None)(0)
    """
    end = time.monotonic() + seconds

    def report(_: Any) -> None:
        still_wanted()
        if time.monotonic() > end:
            raise ConfigError(
                "runs * steps", "this experiment", f"work of at most {seconds:g} s on this machine"
            )

    return report


def is_maze(experiment: Experiment) -> bool:
    """Say whether it is a gridworld.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> is_maze(Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10))
    False
    """
    return isinstance(experiment.problem, TabularMDP)
