"""Arguments for the compiled core at random: good ones, and what can be made of them."""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

import numpy as np

import committal as cm
from committal import _core
from committal.lowering import lower


class OwnError(Exception):
    """Raised by the objects that are handed in."""


class Spiteful:
    """Fails whenever it is asked for anything."""

    def __index__(self) -> int:
        raise OwnError

    __float__ = __int__ = __len__ = __iter__ = __bool__ = __array__ = __index__

    def __repr__(self) -> str:
        raise OwnError


class Huge:
    """A number of many digits."""

    def __index__(self) -> int:
        return 10**400

    __int__ = __index__


def experiments() -> list[cm.Experiment]:
    """Of all kinds, short."""
    three = cm.Bandit([1.0, 0.7, 0.0])
    base = cm.Experiment(three, cm.Softmax(), cm.Natural(0.1), steps=5)
    maze = cm.gridworld("S.A\n.#.\n..B", goals={"A": 1.0, "B": 0.5}, limit=20)
    walk = cm.Experiment(maze, cm.Softmax(), cm.Natural(0.1), estimator=cm.ExactQ(), steps=3)
    slip = walk.replace(
        problem=cm.gridworld("S.A\n...", goals={"A": 1.0}, slip=0.2, limit=9),
        estimator=cm.Reinforce(),
    )
    return [
        base,
        base.replace(baseline=cm.MinVariance("natural"), estimator=cm.OneSample(3)),
        base.replace(policy=cm.Direct(), update=cm.Projected(0.1), behaviour=cm.UniformMixture(1)),
        base.replace(problem=cm.Bandit([1, 0]), policy=cm.Sigmoid()),
        base.replace(problem=cm.Bandit(np.linspace(0, 1, 150), noise="gaussian", sigma=1)),
        base.replace(problem=cm.Bandit.from_table([[(0, 0.5), (1, 0.5)], [(1, 1.0)]])),
        base.replace(update=cm.Vanilla(0.1, entropy=0.1), behaviour=cm.EpsilonGreedy(0.1)),
        base.replace(update=cm.Natural(cm.Values([0.1] * 5)), baseline=cm.RunningMean()),
        walk,
        walk.replace(estimator=cm.ExactQ("iterative", 1e-6), baseline=cm.Value()),
        walk.replace(estimator=cm.Expected(), update=cm.Vanilla(0.1)),
        slip,
        slip.replace(behaviour=cm.UniformMixture(0.5), baseline=cm.RunningMean()),
    ]


GOOD = [lower(experiment).core_arguments() for experiment in experiments()]
MDPS = [{n: a[n] for n in _core.MdpModel.FIELDS} for a in GOOD if "states" in a]
BANDITS = [a for a in GOOD if "arms" in a]
NAMES = [*_core.available()["recorders"], *_core.available()["mdp_recorders"]]

NUMBERS: list[Any] = [
    0, 1, 2, 3, 5, 16, 64, 65, 257, -1, -5, True, False, 2**31 - 1, 2**31, 2**32, 2**53, 2**56,
    2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**31), -(2**63), 10**400, -(10**400), 0.0, -0.0,
    0.5, 1.0, 3.0, 1e50, 1e51, -1e50, 1e308, 5e-324, math.nan, math.inf, -math.inf,
    np.float32(1), np.int8(3), np.uint64(2**64 - 1), np.float64("nan"), np.bool_(True), Huge(),
]  # fmt: skip
ODD: list[Any] = [
    None, "", "x", "auto", "softmax", "value", "a\0b", "\ud800", b"x", [], (), {}, [1, 2],
    (1.0, 2.0, 3.0), {1: 2}, object(), Spiteful(), 1j, range(3), int, lambda *_: 0, "x" * 10**5,
    np.array(3.0), np.array("x"), np.datetime64("2020-01-01"), np.ma.masked, slice(3), Ellipsis,
    bytearray(8), memoryview(bytes(16)), [("value", 1.0, 0.0)], [("value", math.nan, 0.0)],
    [("magic", 1.0, 0.0)], [("value", 1.0)], [None], [[[]]], NotImplemented,
]  # fmt: skip
TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, np.complex128, object,
         "S3", "U2", ">f8", ">i8", "M8[s]", [("a", "f8")], np.float16, np.uint64]  # fmt: skip
LENGTHS = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 31, 64, 1000]


class Maker:
    """Makes arguments at random."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def shape(self) -> tuple[int, ...]:
        return tuple(self.rng.choice(LENGTHS[:9]) for _ in range(self.rng.choice([0, 1, 1, 2, 3])))

    def array(self) -> Any:
        """Of any type, shape and layout."""
        rng = self.rng
        try:
            array = np.zeros(self.shape(), rng.choice(TYPES))
        except (MemoryError, ValueError):
            return np.zeros(3)
        return self.twisted(array)

    def twisted(self, array: Any) -> Any:
        """The same, otherwise laid out, or another with a part of it."""
        rng = self.rng
        match rng.randrange(11):
            case 0:
                return array[..., ::-1] if array.ndim else array
            case 1:
                return array.T
            case 2:
                array = array.copy()
                array.flags.writeable = False
                return array
            case 3:
                return np.broadcast_to(array, (3, *array.shape))
            case 4:
                return array.view(np.ma.MaskedArray) if array.dtype.names is None else array
            case 5:
                return array.astype(rng.choice(TYPES[:8])) if array.dtype.kind in "fiub" else array
            case 6:
                return array[:-1] if array.ndim else array
            case 7:
                return np.concatenate([array, array]) if array.ndim else array
            case 8:
                return array.astype(array.dtype.newbyteorder())
            case 9:
                return np.frombuffer(bytearray(array.nbytes + 1), np.uint8)[1:].view(array.dtype) \
                    if array.dtype.kind in "fiu" and array.size else array  # fmt: skip
        return array

    def poked(self, array: Any) -> Any:
        """With other numbers in some places."""
        array = array.copy()
        for _ in range(self.rng.choice([1, 1, 3])):
            if array.size and array.dtype.kind in "fiu":
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    value = self.rng.choice([math.nan, math.inf, -1, 0, 1, 1e50, 1e308, 7, 2**31])
                    try:
                        array.flat[self.rng.randrange(array.size)] = value
                    except (OverflowError, ValueError):
                        array.flat[self.rng.randrange(array.size)] = 7
        return array

    def anything(self) -> Any:
        rng = self.rng
        match rng.randrange(4):
            case 0:
                return self.array()
            case 1:
                return rng.choice(ODD)
        return rng.choice(NUMBERS)

    def changed(self, good: dict[str, Any]) -> dict[str, Any]:
        """Arguments of a plan with some changes."""
        rng, given = self.rng, dict(good)
        for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 4])):
            name = rng.choice(list(good))
            value = good[name]
            match rng.randrange(6):
                case 0:
                    given.pop(name, None)
                case 1 | 2 if isinstance(value, np.ndarray):
                    given[name] = self.poked(value)
                case 3 if isinstance(value, np.ndarray):
                    given[name] = self.twisted(value)
                case 4 if isinstance(value, int):
                    given[name] = rng.choice(NUMBERS)
                case _:
                    given[name] = self.anything()
        if rng.random() < 0.02:
            given[rng.choice(["x", "", "armz", "self", "\ud800"])] = self.anything()
        return given

    def maybe(self, good: Any, share: float = 0.85) -> Any:
        return good if self.rng.random() < share else self.anything()
