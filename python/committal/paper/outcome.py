"""What became of a case, and what can be asked of several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from committal.analysis import FailureRate
from committal.paper.figure import Case
from committal.paper.verdicts import Estimate, Finding, documented

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CaseOutcome:
    """A case that was run twice: as often as the paper did, and much more often.

    Attributes
    ----------
    case : Case
        The case.
    sample : xarray.Dataset
        Each of the paper's number of runs.
    ensemble : xarray.Dataset
        Means and failures of many runs.
    rate : FailureRate
        Of the ensemble.
    """

    case: Case
    sample: xr.Dataset
    ensemble: xr.Dataset
    rate: FailureRate

    def mean(self, name: str, share: float = 1.0) -> Estimate:
        """Return the ensemble's mean of a quantity, after a share of the updates."""
        return mean_at(self.ensemble, name, share)


def mean_at(ensemble: xr.Dataset, name: str, share: float = 1.0) -> Estimate:
    """Return the mean of a quantity after a share of the updates."""
    now = ensemble.isel(time=round(share * (ensemble.sizes["time"] - 1)))
    return Estimate.of_mean(float(now[f"{name}_mean"]), float(now[f"{name}_sem"]))


def is_precise(data: Sequence[CaseOutcome]) -> bool:
    """Say whether there are more runs than can be drawn one by one."""
    return data[0].rate.runs > data[0].sample.sizes["run"]


O = TypeVar("O", bound=CaseOutcome)  # noqa: E741

#: Something that the paper says, as a question to the outcomes.
Rule: TypeAlias = Callable[[Sequence[O]], Finding]


def known_to_differ(rule: Rule[O]) -> Rule[O]:
    """Turn what is known not to come out, and is written down, from a failure into a difference."""

    def known(data: Sequence[O]) -> Finding:
        found = rule(data)
        return replace(found, verdict=documented(found.verdict))

    return known
