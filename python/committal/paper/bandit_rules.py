"""What the paper says of several figures of bandits, as questions to their outcomes.

Cases are named by their places: the first one is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from committal.analysis import failure_rate
from committal.paper.bandit_figure import BanditOutcome, BanditRule
from committal.paper.verdicts import Estimate, Finding, all_positive


def commits_faster(low: int, high: int, share: float = 0.5) -> BanditRule:
    """Ask whether the lower of two baselines of equal variance loses entropy faster."""

    def rule(data: Sequence[BanditOutcome]) -> Finding:
        one, other = data[low], data[high]
        gap = other.mean("entropy", share).minus(one.mean("entropy", share))
        at = round(share * one.case.experiment.steps)
        return all_positive(
            f"entropy after {at} updates, {other.case.label} minus {one.case.label}",
            "the lower baseline becomes deterministic faster",
            f"{gap} nats",
            gap,
        )

    return rule


def fails_more_often(low: int, others: Sequence[int], paper: str) -> BanditRule:
    """Ask whether one case fails more often than each of some others."""

    def rule(data: Sequence[BanditOutcome]) -> Finding:
        one = Estimate.of_rate(data[low].rate)
        gaps = [one.minus(Estimate.of_rate(data[i].rate)) for i in others]
        least = min(gaps, key=lambda gap: gap.estimate)
        names = ", ".join(data[i].case.label for i in others)
        what = f"failure rate, {data[low].case.label} minus the largest of {names}"
        return all_positive(what, paper, f"{least}", *gaps)

    return rule


def slower(one: int, other: int, paper: str) -> BanditRule:
    """Ask whether one case learns more slowly than another, by its regret."""

    def rule(data: Sequence[BanditOutcome]) -> Finding:
        gap = data[one].mean("regret").minus(data[other].mean("regret"))
        what = f"regret, {data[one].case.label} minus {data[other].case.label}"
        return all_positive(what, paper, f"{gap}", gap)

    return rule


def late(one: int, other: int, time: int, paper: str) -> BanditRule:
    """Ask whether more runs of one case than of another are still below the level at a time."""

    def rule(data: Sequence[BanditOutcome]) -> Finding:
        rates = [Estimate.of_rate(failure_rate(data[i].ensemble, time=time)) for i in (one, other)]
        gap = rates[0].minus(rates[1])
        return all_positive(
            f"runs below the level after {time} updates, {data[one].case.label} minus "
            f"{data[other].case.label}",
            paper,
            f"{gap}",
            gap,
        )

    return rule
