"""The compiled core: plans in, arrays out. Written by hand; a test compares it with the module."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, SupportsIndex, SupportsInt, TypeAlias

import numpy as np
import numpy.typing as npt

ACCUMULATOR_LIMBS: int
ACCUMULATOR_BASE: int
STREAM_VERSION: int

_Int: TypeAlias = SupportsInt | SupportsIndex
_Array: TypeAlias = npt.NDArray[Any]

class Diverged(ArithmeticError):  # noqa: N818
    # what, the run, after how many updates, whether it is something that was recorded
    args: tuple[str, int, int, bool]

class Simulator:
    def describe(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]: ...

class Program:
    def __init__(
        self,
        *,
        registers: Sequence[str],
        constants: Sequence[tuple[SupportsIndex, float]],
        inputs: Sequence[tuple[str, SupportsIndex]],
        code: Sequence[tuple[Any, ...]],
        outputs: Sequence[tuple[str, SupportsIndex]],
        state: Mapping[str, float] = ...,
    ) -> None: ...

def run_program(
    program: Program,
    inputs: Mapping[str, npt.ArrayLike],
    *,
    arms: _Int,
    samples: _Int = 1,
    isa: str = "auto",
    block: _Int = 0,
) -> dict[str, npt.NDArray[np.float64]]: ...

class BanditSimulator(Simulator):
    FIELDS: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        arms: _Int,
        steps: _Int,
        samples: _Int = 1,
        policy: str = "softmax",
        contrast: bool = False,
        update: str = "natural",
        estimator: str = "sampled",
        behaviour: str = "on_policy",
        noise: str = "deterministic",
        theta0: _Array,
        step_size: _Array,
        entropy: _Array = ...,
        implicit: _Array = ...,
        exploration: _Array = ...,
        baseline_terms: Sequence[tuple[str, float, float]] = ...,
        baseline_offset: float = 0.0,
        running_mean_initial: float = 0.0,
        behaviour_probabilities: _Array = ...,
        means: _Array,
        spread: _Array,
        reward_variance: _Array,
        table_offsets: _Array = ...,
        table_values: _Array = ...,
        table_cumulative: _Array = ...,
        times: _Array,
        programs: Mapping[str, Any] = ...,
    ) -> None: ...

class MdpSimulator(Simulator):
    FIELDS: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        states: _Int,
        actions: _Int,
        terminal: _Array,
        row_offsets: _Array,
        next_state: _Array,
        probability: _Array,
        reward: _Array,
        gamma: float,
        start_states: _Array,
        start_cumulative: _Array,
        limit: _Int,
        steps: _Int,
        theta0: _Array,
        update: str = "natural",
        estimator: str = "exact_q",
        solver: str = "direct",
        tolerance: float = 0.001,
        discounted: bool = False,
        samples: _Int = 1,
        each_start: bool = False,
        epochs: _Int = 1,
        step_size: _Array,
        baseline_terms: Sequence[tuple[str, float, float]] = ...,
        baseline_offset: float = 0.0,
        running_mean_initial: float = 0.0,
        behaviour: str = "on_policy",
        exploration: _Array = ...,
        behaviour_probabilities: _Array = ...,
        times: _Array,
        programs: Mapping[str, Any] = ...,
        quantity_states: _Array = ...,
    ) -> None: ...

class MdpModel:
    FIELDS: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        states: _Int,
        actions: _Int,
        terminal: _Array,
        row_offsets: _Array,
        next_state: _Array,
        probability: _Array,
        reward: _Array,
        gamma: float,
    ) -> None: ...
    @property
    def fill(self) -> int: ...
    def evaluate(
        self, policies: npt.ArrayLike, *, threads: _Int = 1, isa: str = "auto"
    ) -> npt.NDArray[np.float64]: ...
    def evaluate_iterative(
        self, policies: npt.ArrayLike, tolerance: float, *, threads: _Int = 1, isa: str = "auto"
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...
    def q_values(
        self, values: npt.ArrayLike, *, threads: _Int = 1, isa: str = "auto"
    ) -> npt.NDArray[np.float64]: ...
    def state_distribution(
        self,
        policies: npt.ArrayLike,
        start: npt.ArrayLike,
        *,
        threads: _Int = 1,
        isa: str = "auto",
    ) -> npt.NDArray[np.float64]: ...
    def goal_probability(
        self,
        policies: npt.ArrayLike,
        start: npt.ArrayLike,
        limit: _Int,
        *,
        threads: _Int = 1,
        isa: str = "auto",
    ) -> npt.NDArray[np.float64]: ...

def simulate(
    simulator: Simulator,
    outputs: Mapping[str, npt.NDArray[Any]],
    *,
    key: _Int,
    first_run: _Int,
    runs: _Int,
    threads: _Int = 1,
    isa: str = "auto",
    block: _Int = 0,
    progress: Callable[[int], object] | None = None,
) -> None: ...
def reduce(
    simulator: Simulator,
    *,
    key: _Int,
    first_run: _Int,
    runs: _Int,
    moments: Mapping[str, npt.NDArray[np.int64]],
    histograms: Mapping[str, tuple[npt.NDArray[np.int64], float, float]] = ...,
    failures: npt.NDArray[np.int64] | None = None,
    below: float = 0.0,
    threads: _Int = 1,
    isa: str = "auto",
    block: _Int = 0,
    progress: Callable[[int], object] | None = None,
) -> None: ...
def exp(x: npt.ArrayLike, *, isa: str = "auto") -> npt.NDArray[np.float64]: ...
def log(x: npt.ArrayLike, *, isa: str = "auto") -> npt.NDArray[np.float64]: ...
def normal_quantile(u: npt.ArrayLike, *, isa: str = "auto") -> npt.NDArray[np.float64]: ...
def philox4x32(counter: npt.ArrayLike, key: npt.ArrayLike) -> npt.NDArray[np.uint32]: ...
def uniforms(
    key: _Int, run: _Int, slot: _Int, first: _Int, count: _Int, *, isa: str = "auto"
) -> npt.NDArray[np.float64]: ...
def available() -> dict[str, list[str]]: ...
def limits() -> dict[str, int | float]: ...
def build_info() -> dict[str, Any]: ...
