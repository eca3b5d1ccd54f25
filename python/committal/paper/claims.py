"""Every claim of the paper, by number.

What can be computed without learning curves comes from :func:`committal.theory.claims`. The claims
about learning, 10, 12 and 13, are asked of the same runs that the figures show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from committal import exact, theory
from committal.config import Bandit, Experiment, Gridworld, MinVariance, Natural, Softmax, Vanilla
from committal.exact.evaluation import evaluate
from committal.paper.bandit_figure import LOW, MIDDLE, THREE_ARMS, BanditOutcome
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.figures import natural, rooms, two_arms
from committal.paper.lab import Lab
from committal.paper.maze_figure import MazeOutcome
from committal.paper.verdicts import (
    Estimate,
    Finding,
    Verdict,
    positive,
    within,
    worst,
)
from committal.plot.levels import share

#: Claims that are recomputed rather than simulated.
COMPUTED = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11)

#: Step sizes of claim 13 with so many updates that each has the same time αt.
STEP_SIZES = (0.05, 0.025, 0.0125)
TIME = 25.0
START = Softmax([0.0, 3.0, 5.0])


def step_cases() -> tuple[Case, ...]:
    """Return b* - 1/2 and b* for each step size."""
    return tuple(
        Case(
            f"{label}, α = {alpha:g}",
            "",
            Experiment(THREE_ARMS, START, Natural(alpha), baseline, steps=round(TIME / alpha)),
            colour,
        )
        for label, baseline, colour in (
            ("b* − ½", MinVariance() - 0.5, LOW),
            ("b*", MinVariance(), MIDDLE),
        )
        for alpha in STEP_SIZES
    )


STEP_CASES = step_cases()
#: From bad to mild, with b* - 1/2 and b*.
START_CASES = {
    "(0, 3, 5)": natural.BAD[:2],
    "(0, 3, 3)": natural.MILD[:2],
    "(0, 0, 0)": natural.UNIFORM[:2],
}


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What the claims are about.

    Attributes
    ----------
    computed : sequence of theory.Claim
        The claims that need no learning curves.
    bandit : list of BanditOutcome
        Figure 1: b* - 1/2, b*, b* + 1/2, V.
    rooms : list of MazeOutcome
        Figure 4.
    starts : dict
        By start, b* - 1/2 and b*.
    steps : list of BanditOutcome
        By step size, b* - 1/2 and then b*.
    two_arms : list of BanditOutcome
        Figure 2.
    """

    computed: Sequence[theory.Claim]
    bandit: list[BanditOutcome]
    rooms: list[MazeOutcome]
    starts: dict[str, list[BanditOutcome]]
    steps: list[BanditOutcome]
    two_arms: list[BanditOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims(PaperFigure[Evidence]):
    """The table of claims."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Claims have no settings of their own."""
        return ()

    def compute(self, lab: Lab) -> Evidence:
        """Recompute, and ask for the runs of figures 1, 2, 4, A2 and A3."""

        def run(case: Case) -> BanditOutcome:
            return natural.FIGURE_1.run(lab, case, label=self.name, solve=False)

        return Evidence(
            computed=theory.claims(COMPUTED, rng=lab.key),
            bandit=[run(case) for case in natural.BAD],
            rooms=[rooms.FIGURE_4.run(lab, case, label=self.name) for case in rooms.NATURAL],
            starts={name: [run(case) for case in cases] for name, cases in START_CASES.items()},
            steps=[run(case) for case in STEP_CASES],
            two_arms=[
                two_arms.FIGURE_2.run(lab, case, label=self.name, solve=False)
                for case in two_arms.CASES
            ],
        )

    def judge(self, data: Evidence) -> list[Finding]:
        """Return the findings in the order of their numbers."""
        found = {claim.id: _recomputed(claim) for claim in data.computed}
        found[10] = committal_at_equal_variance(data.bandit, data.rooms)
        found[12] = four_rooms(data.rooms)
        found[13] = weakened(data)
        return [replace(found[i], what=f"{i}. {found[i].what}") for i in sorted(found)]

    def tables(self, data: Evidence) -> list[Table]:
        """List all numbers behind the claims."""
        numbers = tuple(
            (str(claim.id), name, f"{value:.6g}")
            for claim in data.computed
            for name, value in claim.values.items()
        )
        weaker = tuple((one.case.label, str(one.rate)) for one in data.steps)
        weaker += tuple((f"two arms, {one.case.label}", str(one.rate)) for one in data.two_arms)
        starts = tuple(
            (f"{one.case.label}, θ₀ = {name}", str(one.rate))
            for name, outcomes in data.starts.items()
            for one in outcomes
        )
        return [
            Table("Numbers behind the recomputed claims", ("claim", "quantity", "value"), numbers),
            Table(
                "Claim 13: runs that fail, by start and by step size",
                ("setting", "failed, 95 % interval"),
                starts + weaker,
            ),
        ]

    def pictures(self, data: Evidence) -> list[Picture]:
        """Claims are numbers."""
        del data
        return []


def _recomputed(claim: theory.Claim) -> Finding:
    shown = list(claim.values.items())
    text = "; ".join(f"{name}: {value:.3g}" for name, value in shown[:4])
    more = f"; and {len(shown) - 4} more numbers below" if len(shown) > 4 else ""
    return Finding(
        NAMES[claim.id],
        claim.statement,
        text + more,
        Verdict.HOLDS if claim.verdict else Verdict.FAILS,
        claim.tolerance,
    )


# -- claim 10 --------------------------------------------------------------------------------------


def committal_at_equal_variance(
    bandit: Sequence[BanditOutcome], mazes: Sequence[MazeOutcome]
) -> Finding:
    """Lower baselines of equal variance lose entropy faster and get stuck more often."""
    low, high = bandit[0], bandit[2]
    entropy = high.mean("entropy", 0.5).minus(low.mean("entropy", 0.5))
    stuck = Estimate.of_rate(low.rate).minus(Estimate.of_rate(high.rate))
    variance = max(
        _variance_gap(low.case.experiment, high.case.experiment),
        *(_variance_gap_rooms(mazes[i], mazes[j]) for i, j in ((0, 4), (1, 3))),
    )
    maze_entropy = [
        mazes[j].mean("action_entropy", 0.1).minus(mazes[i].mean("action_entropy", 0.1))
        for i, j in ((0, 4), (1, 3))
    ]
    maze_stuck = Estimate.of_rate(mazes[1].rate).minus(Estimate.of_rate(mazes[3].rate))
    verdict = worst(
        [
            within(variance, variance, at_most=1e-9),
            *map(positive, (entropy, stuck, maze_stuck, *maze_entropy)),
        ]
    )
    return Finding(
        "committal at equal variance",
        "of two baselines of equal (vanilla) variance the lower one loses entropy faster and gets "
        "stuck more often, in bandits and in MDPs",
        f"bandit, b* ± ½: entropy half-way {entropy} nats apart, failure rates {stuck} apart; "
        f"four rooms, ε = ±1 and ±½: action entropy {maze_entropy[0]} and {maze_entropy[1]} nats "
        f"apart, runs below {mazes[1].rate.below:g} with ±½ {maze_stuck} apart; variances equal "
        f"to {variance:.0e}",
        verdict,
        "variances equal to 1e-9, differences positive by 3 standard errors",
    )


def _variance_gap(one: Experiment, other: Experiment) -> float:
    """Return the relative difference of two variances of the vanilla estimate, at any policy."""
    policies = exact.simplex_grid(20)
    x, y = (
        exact.gradient_variance(each.replace(update=Vanilla(step_size=1.0)), policy=policies)
        for each in (one, other)
    )
    return float((np.abs(x - y) / np.maximum(x, y)).max())


def _variance_gap_rooms(one: MazeOutcome, other: MazeOutcome) -> float:
    """Return the same for every state of a gridworld under the uniform policy.

    A state is a bandit whose arms pay Q(s, a).
    """
    problem: Any = one.case.experiment.problem
    assert isinstance(problem, Gridworld)
    q = evaluate(problem).Q[~problem.is_terminal]
    gaps = []
    for row in q:
        x, y = (
            float(
                exact.gradient_variance(
                    Experiment(
                        Bandit(row),
                        Softmax(),
                        Vanilla(step_size=1.0),
                        each.case.experiment.baseline,
                        steps=1,
                    )
                )
            )
            for each in (one, other)
        )
        gaps.append(abs(x - y) / max(x, y))
    return max(gaps)


# -- claim 12 --------------------------------------------------------------------------------------


def four_rooms(data: Sequence[MazeOutcome]) -> Finding:
    """Ask what figure 4 is asked, at once."""
    parts = [rule(data) for rule in rooms.FIGURE_4.rules]
    lost, high, highest = (data[i].mean("value") for i in (0, 3, 4))
    return Finding(
        "four rooms, natural gradient",
        "ε = −1 ends with a return of 0; larger baselines keep more entropy and do not fully "
        "converge",
        f"final values: ε = −1: {lost}; ε = ½: {high}; ε = 1: {highest}; the best policy has "
        f"{rooms.OPTIMUM:.4f}. Action entropy at the end: "
        + "; ".join(f"{one.case.label}: {one.mean('action_entropy')}" for one in data),
        worst(part.verdict for part in parts),
        f"all {len(parts)} findings of figure 4",
    )


# -- claim 13 --------------------------------------------------------------------------------------


def weakened(data: Evidence) -> Finding:
    """Milder starts and smaller steps leave fewer runs behind."""
    starts = list(data.starts.values())
    by_start = [[outcomes[i] for outcomes in starts] for i in (0, 1)]
    count = len(STEP_SIZES)
    by_step = [data.steps[:count], data.steps[count:], data.two_arms[::-1]]
    gaps = [gap for group in (*by_start, *by_step) for gap in _falls(group)]
    return Finding(
        "weaker with smaller steps and milder starts",
        "smaller step sizes and milder starts weaken all of it",
        "runs that fail, by start: "
        + "; ".join(_chain(group) for group in by_start)
        + ". By step size, the time αt being the same: "
        + "; ".join(_chain(group) for group in by_step[:2])
        + f". Two arms: {_chain(by_step[2])}",
        worst(map(positive, gaps)),
        "falling every time, by 3 standard errors",
    )


def _falls(group: Sequence[BanditOutcome]) -> list[Estimate]:
    rates = [Estimate.of_rate(one.rate) for one in group]
    return [a.minus(b) for a, b in pairwise(rates)]


def _chain(group: Sequence[BanditOutcome]) -> str:
    name = group[0].case.label.split(",")[0]
    return f"{name}: " + " > ".join(
        f"{100 * one.rate.estimate:.3g} %" if one.rate.failures else share(one.rate)
        for one in group
    )


NAMES = {
    1: "equal variance of b* ± ε",
    2: "variance of two arms",
    3: "proposition 1",
    4: "proposition 2",
    5: "theorem 1",
    6: "proposition 3",
    7: "vanilla policy gradient converges",
    8: "value and minimum-variance baseline",
    9: "importance sampling and variance",
    11: "no bias",
}

FIGURE = Claims(
    name="claims",
    title="Every claim",
    says="The claims of the paper, by number, each recomputed or simulated and decided by a "
    "number. Claims 1 to 9 and 11 are computed in exact arithmetic where there is an exact "
    "answer; 10, 12 and 13 are asked of the runs that the figures show.",
)
