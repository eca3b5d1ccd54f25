"""The compiled core: plans in, arrays out. Written by hand; a test compares it with the module."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsIndex, SupportsInt, TypeAlias, final

import numpy as np
import numpy.typing as npt

ACCUMULATOR_LIMBS: int
ACCUMULATOR_BASE: int
STREAM_VERSION: int

_Int: TypeAlias = SupportsInt | SupportsIndex

@final
class BanditPlan:
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
        theta0: npt.ArrayLike,
        step_size: npt.ArrayLike,
        entropy: npt.ArrayLike = ...,
        implicit: npt.ArrayLike = ...,
        exploration: npt.ArrayLike = ...,
        baseline_terms: Sequence[tuple[str, float, float]] = ...,
        baseline_offset: float = 0.0,
        running_mean_initial: float = 0.0,
        behaviour_probabilities: npt.ArrayLike = ...,
        means: npt.ArrayLike,
        spread: npt.ArrayLike,
        reward_variance: npt.ArrayLike,
        table_offsets: npt.ArrayLike = ...,
        table_values: npt.ArrayLike = ...,
        table_cumulative: npt.ArrayLike = ...,
        times: npt.ArrayLike,
    ) -> None: ...
    @property
    def arms(self) -> int: ...
    @property
    def steps(self) -> int: ...

def simulate(
    plan: BanditPlan,
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
    plan: BanditPlan,
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
def build_info() -> dict[str, Any]: ...
