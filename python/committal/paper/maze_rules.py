"""What the paper says of several figures of mazes, as questions to their outcomes.

Cases are named by their places, from the lowest baseline on: the first one is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from committal.paper.maze_figure import MazeOutcome, MazeRule
from committal.paper.verdicts import Estimate, Finding, all_positive, within, worst

_ENTROPIES = {"action_entropy": "action entropy", "state_entropy": "state-visit entropy"}
_LOSSES = {
    "action_entropy": "lower baselines lose entropy faster",
    "state_entropy": "lower baselines visit fewer states",
}


def keeps_entropy(low: int, high: int, name: str, share: float, paper: str = "") -> MazeRule:
    """Ask whether the higher of two baselines keeps more entropy."""

    def rule(data: Sequence[MazeOutcome]) -> Finding:
        at = round(share * data[low].case.experiment.steps)
        names, gap = _higher_minus_lower(data, low, high, name, share)
        what = f"{_ENTROPIES[name]} at episode {at}, {names}"
        return all_positive(what, paper or _LOSSES[name], f"{gap} nats", gap)

    return rule


def returns_more(low: int, high: int, paper: str = "larger baselines earn more") -> MazeRule:
    """Ask whether the higher of two baselines ends with the better policy."""

    def rule(data: Sequence[MazeOutcome]) -> Finding:
        names, gap = _higher_minus_lower(data, low, high, "value", 1.0)
        return all_positive(f"final value, {names}", paper, f"{gap}", gap)

    return rule


def _higher_minus_lower(
    data: Sequence[MazeOutcome], low: int, high: int, name: str, share: float
) -> tuple[str, Estimate]:
    one, other = data[low], data[high]
    gap = other.mean(name, share).minus(one.mean(name, share))
    return f"{other.case.label} minus {one.case.label}", gap


def sticks_more(low: int, high: int) -> MazeRule:
    """Ask whether more runs of the lower of two baselines end below the level."""

    def rule(data: Sequence[MazeOutcome]) -> Finding:
        one, other = data[low], data[high]
        gap = Estimate.of_rate(one.rate).minus(Estimate.of_rate(other.rate))
        return all_positive(
            f"runs below {one.rate.below:g}, {one.case.label} minus {other.case.label}",
            "lower baselines get stuck on suboptimal policies",
            f"{gap} ({one.rate.failures} and {other.rate.failures} of {one.rate.runs})",
            gap,
        )

    return rule


def ends_near(which: int, low: float, high: float, paper: str) -> MazeRule:
    """Ask whether a case ends with a value in a range."""

    def rule(data: Sequence[MazeOutcome]) -> Finding:
        value = data[which].mean("value")
        return Finding(
            f"final value, {data[which].case.label}",
            paper,
            str(value),
            within(value.low, value.high, at_least=low, at_most=high),
            f"from {low:g} to {high:g}",
        )

    return rule


def not_converged(which: Sequence[int], optimum: float, paper: str) -> MazeRule:
    """Ask whether cases remain below the optimum, with entropy left."""
    short, left = 0.05, 0.3

    def rule(data: Sequence[MazeOutcome]) -> Finding:
        chosen = [data[i] for i in which]
        values = [one.mean("value") for one in chosen]
        entropies = [one.mean("action_entropy") for one in chosen]
        verdict = worst(
            [
                *(within(v.low, v.high, at_most=optimum - short) for v in values),
                *(within(h.low, h.high, at_least=left) for h in entropies),
            ]
        )
        measured = "; ".join(
            f"{one.case.label}: {v}, entropy {h}"
            for one, v, h in zip(chosen, values, entropies, strict=True)
        )
        return Finding(
            "final value and action entropy of the larger baselines",
            paper,
            measured,
            verdict,
            f"value at least {short:g} below the optimum {optimum:.4f}, entropy above {left:g}",
        )

    return rule


#: Lower baselines lose entropy, sooner or later, whatever the maze.
LOWER_COMMITS = (
    keeps_entropy(0, 2, "action_entropy", 0.1),
    keeps_entropy(0, 4, "action_entropy", 0.1),
    keeps_entropy(1, 3, "action_entropy", 0.1),
    keeps_entropy(0, 4, "state_entropy", 1.0),
)
