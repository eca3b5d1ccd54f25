"""Random mixtures of right and wrong arguments: nothing but a typed error may come out of them.

As a program, ``python argument_calls.py SEED CALLS`` makes so many calls and prints what it
counted.
"""

from __future__ import annotations

import dataclasses
import json
import random
import signal
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
from argument_rows import BASE, DATA, GAP, KNOWN, NOT_CALLED, ROWS, SWEEP, TWO, WALK, WRONG

import committal as cm
from committal.errors import short_repr

EXPERIMENTS = [
    BASE, TWO, GAP, WALK, WALK.replace(estimator=cm.Reinforce()),
    WALK.replace(update=cm.Vanilla(0.1), baseline=cm.Value()),
    BASE.replace(problem=cm.Bandit([1e50, -1e50, 0.0]), update=cm.Natural(1e50)),
    BASE.replace(problem=cm.Bandit([1e50, -1e50, 0.0]), baseline=cm.Value() * 1e50),
    BASE.replace(policy=cm.Softmax([1e50, -1e50, 0.0])),
    BASE.replace(policy=cm.Softmax([700.0, -700.0, 0.0]), baseline=cm.MinVariance("natural")),
    BASE.replace(update=cm.Vanilla(0.1, entropy=0.1)), BASE.replace(estimator=cm.Expected()),
    BASE.replace(policy=cm.Direct([1.0, 0.0, 0.0]), update=cm.Projected(0.1)),
    BASE.replace(baseline=cm.RunningMean()), BASE.replace(estimator=cm.OneSample(2)),
    BASE.replace(problem=cm.Bandit([0.5, 0.2, 0.0], noise="bernoulli")),
    BASE.replace(problem=cm.Bandit([0.5, 0.2, 0.0], noise="gaussian", sigma=1e50)),
    BASE.replace(update=cm.Natural(cm.Decay(1.0, 400.0))), BASE.replace(steps=0),
    BASE.replace(update=cm.Natural(cm.Values([0.1] * 8))),
    BASE.replace(behaviour=cm.UniformMixture(0.5)), TWO.replace(baseline=cm.MinVariance() - 1.0),
    TWO.replace(behaviour=cm.EpsilonGreedy(cm.Decay(0.5, 2.0))),
    TWO.replace(problem=cm.Bandit([0.3, 0.3])), TWO.replace(update=cm.Natural(1e50)),
    cm.Experiment(cm.Bandit([1.0]), cm.Softmax(), cm.Natural(0.1), steps=2),
]  # fmt: skip


def datasets() -> list[Any]:
    """Results of all kinds, whole and in pieces, and what is made of them."""
    reduced = BASE.replace(record=cm.Record("value", "policy", every=4,
                                            reduce=cm.Reduce(below=0.5, bins=4)))  # fmt: skip
    few = BASE.replace(record=cm.Record("action", "value"))
    made = [cm.run(e, runs=runs, rng=0) for e in (BASE, reduced, few, WALK) for runs in (0, 1, 5)]
    made += [SWEEP, SWEEP.isel(step_size=0), DATA.isel(time=-1), DATA.isel(run=0), DATA["value"]]
    made += [DATA.isel(time=slice(0)), DATA.where(DATA.run > 1), DATA.drop_vars("value")]
    made += [cm.failure_rates(SWEEP, 0.5), cm.analysis.mean_curves(DATA), DATA.to_array()]
    return [*made, DATA.assign(value=DATA["value"].astype(str)), DATA.rename(value="mine")]


DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]

#: Values that are right for some argument and wrong for most.
MIXED = [0, 1, 2, 0.1, 1e50, -1e50, 1e-300, 5e-324, -0.0, 1 - 2**-53, np.float32(0.3), np.int64(2),
         "value", np.array(0.5), [0.2, 0.3, 0.5], [1e50, -1e50, 0.0], [[0.2, 0.3, 0.5]] * 2,
         (0.0, 1.0), np.zeros((0, 3)), np.zeros((2, 0)), cm.Decay(1.0, 0.5), cm.Values([0.1, 0.2]),
         "policy", [0.0], [0, 1, 2], {"A": 1.0}, np.random.default_rng(0), lambda *_: 0, int,
         np.array([1, "a"], object), np.datetime64("2020-01-01"), bytearray(3), range(3), {1, 2},
         "\ud800", DEEP, "failure", "step_size", [[]], np.ma.masked,
         10**5000, np.array([1 + 1j])]  # fmt: skip


#: Exact answers that are NaN where the documentation says so, or where the given values are.
MAY_BE_NAN = {"exact.log_variance_ratio", "exact.HorizonLaw.expectation"}


def holds_nan(answer: Any) -> bool:
    """Say whether a number in an answer is NaN."""
    if isinstance(answer, cm.exact.CommittalMap):
        # Its lattice has nodes that nobody asks.
        return holds_nan((answer.probabilities(), answer.error()))
    if dataclasses.is_dataclass(answer):
        return any(holds_nan(getattr(answer, f.name)) for f in dataclasses.fields(answer))
    if isinstance(answer, tuple):
        return any(map(holds_nan, answer))
    return isinstance(answer, float | np.ndarray) and bool(np.isnan(answer).any())


class Hang(BaseException):
    """A call took too long."""


def random_calls(seed: int, calls: int, seconds: float = 60.0) -> tuple[Counter[str], list[str]]:
    """Make random calls; count what came out, and describe what should not have."""
    rng = random.Random(seed)
    unsafe = {name for name, _ in KNOWN} | NOT_CALLED
    names = [name for name in ROWS if name not in unsafe and not name.startswith("plot.")]
    anything = [*MIXED, *(value for kind in WRONG.values() for value in kind)]
    by_name = {"experiment": EXPERIMENTS, "first": EXPERIMENTS, "second": EXPERIMENTS,
               "base": EXPERIMENTS, "data": datasets()}  # fmt: skip
    counts: Counter[str] = Counter()
    bad: list[str] = []

    def late(*_: Any) -> None:
        raise Hang

    # Work is counted by the processor's clock, so that a busy machine is no hang; waiting is not.
    timers = {signal.ITIMER_PROF: seconds, signal.ITIMER_REAL: 10 * seconds}
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, late)
    for _ in range(calls):
        name = rng.choice(names)
        call, good, expected = ROWS[name]
        arguments = {}
        for argument, wrong in expected.items():
            u = rng.random()
            if u < 0.5:
                arguments[argument] = good.get(argument, ...)
            elif u < 0.8 and argument in by_name:
                arguments[argument] = rng.choice(by_name[argument])
            else:
                arguments[argument] = rng.choice(wrong if u < 0.7 and wrong else anything)
        arguments = {argument: x for argument, x in arguments.items() if x is not ...}
        for timer, most in timers.items():
            signal.setitimer(timer, most)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                answer = call(**arguments)
            counts["answered"] += 1
            if name.startswith("exact.") and name not in MAY_BE_NAN and holds_nan(answer):
                counts["silent"] += 1
                bad.append(f"{name}({short_repr(arguments)}): NaN in silence")
        except cm.CommittalError as error:
            str(error)
            counts["refused"] += 1
        except Hang:
            counts["hangs"] += 1
            bad.append(f"{name}({short_repr(arguments)}): hangs")
        except Exception as error:
            counts["untyped"] += 1
            bad.append(f"{name}({short_repr(arguments)}): {type(error).__name__}: {error}")
        finally:
            for timer in timers:
                signal.setitimer(timer, 0)
    return counts, bad


if __name__ == "__main__":
    _counts, _bad = random_calls(*map(int, sys.argv[1:3]))
    print(json.dumps({**_counts, "bad": _bad}))
