"""Random calls of the compiled core, right and wrong: only documented errors may come out.

As a program, ``python core_calls.py SEED CALLS`` makes so many calls and prints what it counted.
A call that takes long is interrupted as by Ctrl-C, which it must answer; one that does not ends the
program with the traceback of where it was.
"""

from __future__ import annotations

import copy
import faulthandler
import json
import math
import pickle
import random
import resource
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from core_arguments import BANDITS, GOOD, MDPS, NAMES, NUMBERS, Maker, OwnError, Spiteful

from committal import _core
from committal.errors import short_repr

#: What a wrong call of the core may raise; an object's own exception may pass through it.
DOCUMENTED = (TypeError, ValueError, OverflowError, MemoryError, _core.Diverged)
MEMORY = 6 << 30  # bytes of address space: more is a MemoryError
PATIENCE = 0.03  # seconds until a call is interrupted
HANGS = 20.0  # seconds until one that does not answer ends the program


class LateError(Exception):
    """What the interruption raises."""


class Unready(_core.BanditSimulator):
    """Does not call the constructor."""

    def __init__(self) -> None:
        pass


class Attack:
    """Calls, and what came out of them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.make = Maker(self.rng)
        self.counts: Counter[str] = Counter()
        self.bad: list[str] = []
        self.simulators: list[_core.Simulator] = []
        self.models: list[_core.MdpModel] = []

    def call(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        """Make one call of the core; None if it failed."""
        self.counts["calls"] += 1
        faulthandler.dump_traceback_later(HANGS, exit=True)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            try:
                answer = function(*args, **named)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except DOCUMENTED as error:
            str(error)
            self.counts[f"refused by {type(error).__name__}"] += 1
        except OwnError:
            self.counts["own error"] += 1
        except LateError:
            self.counts["interrupted"] += 1
        except BaseException as error:
            given = [*map(named_value, args), *(f"{k}={named_value(v)}" for k, v in named.items())]
            name = getattr(function, "__name__", function)
            self.bad.append(f"{name}({', '.join(given)}): {type(error).__name__}: {error}")
        else:
            self.counts["answered"] += 1
            return answer
        return None

    def round(self) -> None:
        """Some calls that belong together."""
        self.rng.choice(
            [self.simulation, self.simulation, self.reduction, self.evaluation, self.functions,
             self.objects, self.threads]
        )()  # fmt: skip

    def simulator(self) -> Any:
        rng = self.rng
        if self.simulators and rng.random() < 0.3:
            return rng.choice(self.simulators)
        kind: Any = rng.choice([_core.BanditSimulator, _core.MdpSimulator])
        good = rng.choice(BANDITS if kind is _core.BanditSimulator else GOOD[len(BANDITS) :])
        made = self.call(kind, **self.make.changed(good))
        if made is not None:
            self.simulators = [*self.simulators[-20:], made]
        return made or rng.choice([*self.simulators, None, Spiteful(), kind.__new__(kind)])

    def quantity(self, simulator: Any, runs: Any) -> tuple[str, Any]:
        """A name and an array for it, mostly the right one."""
        rng = self.rng
        name = rng.choice(NAMES)
        described = None
        if isinstance(simulator, _core.Simulator):
            described = self.call(simulator.describe, self.make.maybe(name, 0.97))
        if described is None or type(runs) is not int or not 0 <= runs <= 100:
            return name, self.make.array()
        dtype, shape = described
        if math.prod(shape) > 10**6:
            return name, self.make.array()
        return name, (dtype, shape)

    def options(self, runs: Any) -> dict[str, Any]:
        maybe, rng = self.make.maybe, self.rng
        given = {
            "key": maybe(rng.randrange(2**64), 0.97),
            "first_run": maybe(rng.choice([0, 7, 2**40, 2**64 - 70]), 0.97),
            "runs": runs,
        }
        for name, values in {
            "threads": [1, 2, 5],
            "isa": ["auto", "generic", *_core.available()["isas"]],
            "block": [0, 8, 16, 64],
            "progress": [None, print_nothing],
        }.items():
            if rng.random() < 0.3:
                given[name] = maybe(rng.choice(values), 0.9)
        return given

    def simulation(self) -> None:
        rng = self.rng
        simulator = self.simulator()
        runs = self.make.maybe(rng.choice([0, 1, 5, 17, 70]), 0.95)
        outputs: Any = {}
        shared = None
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            name, found = self.quantity(simulator, runs)
            if isinstance(found, tuple):
                dtype, shape = found
                times = rng.choice([1, 1, 1, 2, 6])
                array = np.zeros((runs, times, *shape), dtype)
                if shared is not None and shared.nbytes >= array.nbytes and rng.random() < 0.5:
                    array = np.ndarray(array.shape, dtype, shared.data)
                shared = array
                found = self.make.twisted(array) if rng.random() < 0.1 else array
            outputs[rng.choice([3, None, "", "\ud800", b"x"]) if rng.random() < 0.02 else name] = (
                found
            )
        options = self.options(runs)
        if rng.random() < 0.1:
            options["progress"] = sabotage(outputs, simulator, rng)
        if rng.random() < 0.03:
            outputs = self.make.anything()
        self.call(_core.simulate, simulator, outputs, **options)

    def reduction(self) -> None:
        rng = self.rng
        simulator = self.simulator()
        runs = self.make.maybe(rng.choice([0, 1, 5, 17, 70]), 0.95)
        moments: Any = {}
        histograms: Any = {}
        times = rng.choice([1, 1, 1, 2, 6])
        for _ in range(rng.choice([0, 1, 2])):
            name, found = self.quantity(simulator, runs)
            if isinstance(found, tuple):
                width = math.prod(found[1])
                moments[name] = np.zeros((times, width, 2, _core.ACCUMULATOR_LIMBS), np.int64)
                cells = np.zeros((times, width, rng.choice([0, 2, 3, 12])), np.int64)
                low, high = rng.choice([(0.0, 1.0), (0.2, 0.3), (-1e308, 1e308), (1.0, 0.0)])
                histograms[name] = self.make.maybe((cells, low, high), 0.9)
            else:
                moments[name] = found
        options = self.options(runs)
        options["moments"] = self.make.maybe(moments, 0.98)
        if rng.random() < 0.5:
            options["histograms"] = self.make.maybe(histograms, 0.95)
        if rng.random() < 0.5:
            options["failures"] = self.make.maybe(np.zeros(times, np.int64), 0.9)
            options["below"] = rng.choice(NUMBERS)
        self.call(_core.reduce, simulator, **options)

    def evaluation(self) -> None:
        rng, maybe = self.rng, self.make.maybe
        model: Any = rng.choice(self.models) if self.models and rng.random() < 0.6 else None
        if model is None:
            model = self.call(_core.MdpModel, **self.make.changed(rng.choice(MDPS)))
            if model is None:
                return
            self.models = [*self.models[-20:], model]
        good = rng.choice(MDPS)
        states, actions = good["states"], good["actions"]
        count = rng.choice([0, 1, 3, 17, 40])
        policies = np.full((count, states, actions), 1 / actions)
        start = np.eye(1, states)[0]
        odd = rng.random()
        if odd < 0.15:
            policies = self.make.poked(policies)
        elif odd < 0.3:
            policies = self.make.anything()
        options: dict[str, Any] = {}
        if rng.random() < 0.4:
            options["threads"] = maybe(rng.choice([1, 2, 5]))
        if rng.random() < 0.3:
            options["isa"] = maybe(rng.choice(_core.available()["isas"]))
        match rng.randrange(5):
            case 0:
                self.call(model.evaluate, policies, **options)
            case 1:
                self.call(model.evaluate_iterative, policies, rng.choice(NUMBERS), **options)
            case 2:
                values = maybe(np.zeros((count, states)))
                self.call(model.q_values, values, **options)
            case 3:
                self.call(model.state_distribution, policies, maybe(start), **options)
            case _:
                limit = rng.choice([0, 1, 20, *NUMBERS])
                self.call(model.goal_probability, policies, maybe(start), limit, **options)

    def functions(self) -> None:
        rng, make = self.rng, self.make
        match rng.randrange(4):
            case 0:
                function = rng.choice([_core.exp, _core.log, _core.normal_quantile])
                self.call(function, make.anything(), isa=make.maybe("auto"))
            case 1:
                counter = make.maybe(np.zeros((3, 4), np.uint32), 0.5)
                self.call(_core.philox4x32, counter, make.maybe(np.zeros(2, np.uint32), 0.5))
            case 2:
                given = [make.maybe(1, 0.8) for _ in range(5)]
                self.call(_core.uniforms, *given, isa=make.maybe("auto"))
            case _:
                function = rng.choice([_core.available, _core.limits, _core.build_info])
                self.call(function, *([make.anything()] if rng.random() < 0.5 else []))

    def objects(self) -> None:
        """Objects made by __new__ alone, copied, pickled, or made twice."""
        rng = self.rng
        kind: Any = rng.choice(
            [_core.Simulator, _core.BanditSimulator, _core.MdpSimulator, _core.MdpModel]
        )
        empty = kind.__new__(kind)
        whole = rng.choice([empty, *self.simulators, *self.models])
        match rng.randrange(8):
            case 0:
                self.call(Unready)
            case 1:
                self.call(getattr, empty, "fill" if kind is _core.MdpModel else "describe")
            case 2:
                self.call(kind.__init__, empty, **self.make.changed(rng.choice(GOOD)))
            case 3:
                self.call(kind.__init__, whole, **self.make.changed(rng.choice(GOOD)))
            case 4:
                self.call(rng.choice([copy.copy, copy.deepcopy, pickle.dumps]), whole)
            case 5:
                method = rng.choice([_core.Simulator.describe, _core.MdpModel.evaluate])
                self.call(method, self.make.maybe(empty), self.make.anything())
            case 6:
                self.call(kind, *[self.make.anything() for _ in range(rng.choice([0, 1, 2]))])
            case _:
                self.call(_core.simulate, empty, {}, key=0, first_run=0, runs=1)

    def threads(self) -> None:
        """Several threads on one simulator, writing to one array."""
        if not self.simulators or self.rng.random() > 0.1:
            return
        simulator = self.rng.choice(self.simulators)
        out = np.zeros((70, 1))
        self.counts["calls"] += 2

        def work() -> None:
            try:
                # Ends soon, whatever the plan: only the main thread answers signals.
                _core.simulate(simulator, {"value": out}, key=1, first_run=0, runs=70,
                               progress=fail)  # fmt: skip
            except (*DOCUMENTED, OwnError):
                pass
            except BaseException as error:
                self.bad.append(f"in a thread: {type(error).__name__}: {error}")

        faulthandler.dump_traceback_later(HANGS, exit=True)
        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def print_nothing(updates: int) -> None:
    """Progress of somebody who does not look."""


def fail(updates: int) -> None:
    """Progress that stops the run."""
    raise OwnError


def sabotage(outputs: Any, simulator: Any, rng: random.Random) -> Callable[[int], object]:
    """Progress that takes away what the run works on, calls it again, or fails."""
    what = rng.randrange(4)

    def progress(updates: int) -> object:
        if what == 0:
            outputs.clear()
        elif what == 1:
            raise OwnError
        elif what == 2:
            _core.simulate(simulator, {}, key=0, first_run=0, runs=1, progress=fail)
        return object()

    return progress


def named_value(value: Any) -> str:
    """A value as text, whatever it is."""
    try:
        return short_repr(value)
    except OwnError:
        return type(value).__name__


def attack(seed: int, calls: int) -> tuple[Counter[str], list[str]]:
    """Make so many calls; count what came out, and describe what should not have."""

    def late(*_: Any) -> None:
        raise LateError

    signal.signal(signal.SIGALRM, late)
    made = Attack(seed)
    while made.counts["calls"] < calls:
        try:
            made.round()
        except LateError:  # between two calls
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    faulthandler.cancel_dump_traceback_later()
    return made.counts, made.bad


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    _counts, _bad = attack(*map(int, sys.argv[1:3]))
    print(json.dumps({**_counts, "bad": _bad}))
