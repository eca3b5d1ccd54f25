"""Two arms with a negative baseline, which may choose the worse one for ever: figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from committal.analysis import failure_rate, wilson_interval
from committal.config import Bandit, Experiment, Natural, Sigmoid
from committal.paper import bandit_pictures
from committal.paper.bandit_figure import (
    HIGH,
    LOW,
    PRECISE,
    BanditOutcome,
    independent,
    outcome_table,
    percent,
    precise_picture,
    run_case,
)
from committal.paper.figure import Case, PaperFigure, Picture, Table
from committal.paper.lab import Lab
from committal.paper.outcome import is_precise
from committal.paper.verdicts import Estimate, Finding, all_positive, within
from committal.support.text import grouped

TWO_ARMS = Bandit([1.0, 0.0])
BASELINE = -1.0
START, OTHER_START = -1.0, 0.0
STEPS = 200
DRAWN = 100
BELOW = 0.5

#: Step size: stuck runs of the paper's 100, and what an independent implementation found.
STUCK = {0.05: (5, 0.05927), 0.10: (14, 0.12951), 0.15: (22, 0.21742)}
COLOURS = dict(zip(STUCK, (HIGH, "#000000", LOW), strict=True))
# Where curves of different step sizes are compared: the fast ones have settled by then.
_EARLY = 0.25


def experiment(alpha: float, start: float = START) -> Experiment:
    """Return the experiment of one panel."""
    return Experiment(TWO_ARMS, Sigmoid(start), Natural(alpha), BASELINE, steps=STEPS)


CASES = tuple(
    Case(
        f"α = {alpha:g}",
        rf"$\alpha = {alpha:g}$",
        experiment(alpha),
        COLOURS[alpha],
        reference=(rate, 100_000),
    )
    for alpha, (_, rate) in STUCK.items()
)
OTHERS = tuple(
    Case(f"α = {alpha:g}, θ₀ = 0", "", experiment(alpha, OTHER_START)) for alpha in STUCK
)


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """The figure's own start, and the other one that was considered."""

    own: list[BanditOutcome]
    other: list[BanditOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoArms(PaperFigure[Starts]):
    """Learning curves for three step sizes."""

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings."""
        return (
            ("problem", "bandit, rewards (1, 0)"),
            ("start", f"sigmoid policy, θ₀ = {START:g}"),
            ("update", "natural, α = " + ", ".join(f"{alpha:g}" for alpha in STUCK)),
            ("baseline", f"b = {BASELINE:g}"),
            ("updates", str(STEPS)),
            ("runs", f"{DRAWN} drawn, {grouped(PRECISE)} measured"),
            (
                "a run counts as stuck if",
                f"p < {BELOW:g} after the last update; the table says which of them have not "
                "finished",
            ),
        )

    def compute(self, lab: Lab) -> Starts:
        """Run both starts."""
        return Starts(
            [self.run(lab, case) for case in CASES], [self.run(lab, case) for case in OTHERS]
        )

    def run(self, lab: Lab, case: Case, *, label: str = "", solve: bool = True) -> BanditOutcome:
        """Run a case as this figure does; `solve` may ask for less."""
        return run_case(
            lab,
            case,
            runs=DRAWN,
            precise=PRECISE,
            below=BELOW,
            solve=solve,
            label=label or self.name,
        )

    def judge(self, data: Starts) -> list[Finding]:
        """Compare stuck rates with the paper's and with each other."""
        found = []
        for one, (stuck, _) in zip(data.own, STUCK.values(), strict=True):
            low, high = wilson_interval(stuck, DRAWN)
            found.append(
                Finding(
                    f"{one.case.label}: stuck runs",
                    f"{stuck} %",
                    str(one.rate),
                    within(one.rate.low, one.rate.high, at_least=low, at_most=high),
                    f"inside of {100 * low:.1f} to {100 * high:.1f} %, the error of the paper's "
                    f"{DRAWN} runs",
                )
            )
        return [*found, *independent(data.own), more_stuck(data.own), settles(data.own)]

    def tables(self, data: Starts) -> list[Table]:
        """List both starts: only one of them gives the paper's numbers."""
        rows = [
            (
                f"{alpha:g}",
                f"{stuck} %",
                str(own.rate),
                "" if own.exact is None else percent(own.exact),
                str(other.rate),
            )
            for (alpha, (stuck, _)), own, other in zip(
                STUCK.items(), data.own, data.other, strict=True
            )
        ]
        start = Table(
            "Runs below ½ at the end, by start: the paper does not say where it starts",
            ("α", "paper", "θ₀ = −1", "exact, t → ∞", "θ₀ = 0"),
            tuple(rows),
        )
        return [outcome_table(data.own, BELOW, DRAWN), start]

    def pictures(self, data: Starts) -> list[Picture]:
        """Return the paper's picture and the same at high precision."""
        seen = ", ".join(f"{failure_rate(one.sample, BELOW).failures}" for one in data.own)
        rates = "; ".join(f"{one.case.label}: {one.rate}" for one in data.own)
        found = [
            Picture(
                self.name,
                f"{self.title}. {data.own[0].sample.sizes['run']} runs of {STEPS} updates each; "
                f"blue: to the better arm; red and purple: below ½ at the end ({seen}), red "
                "if sure of the worse arm, purple if not finished; black: mean. Below ½ at high "
                f"precision, with 95 % intervals: {rates}.",
                lambda: bandit_pictures.curves_row(data.own, DRAWN, BELOW, what="below ½"),
            )
        ]
        if is_precise(data.own):
            found.append(precise_picture(self.name, data.own, BELOW, solved=True))
        return found


def more_stuck(data: Sequence[BanditOutcome]) -> Finding:
    """Ask whether larger steps leave more runs stuck."""
    rates = [Estimate.of_rate(one.rate) for one in data]
    gaps = [b.minus(a) for a, b in pairwise(rates)]
    least = min(gaps, key=lambda gap: gap.estimate)
    return all_positive(
        "stuck rate, growth from one step size to the next",
        "larger steps get stuck more often",
        f"at least {least}",
        *gaps,
    )


def settles(data: Sequence[BanditOutcome]) -> Finding:
    """Ask whether larger steps become deterministic sooner."""
    left = [one.mean("entropy", _EARLY) for one in data]
    gaps = [a.minus(b) for a, b in pairwise(left)]
    least = min(gaps, key=lambda gap: gap.estimate)
    return all_positive(
        f"entropy after {round(_EARLY * STEPS)} updates, fall from one step size to the next",
        "larger steps settle sooner",
        f"at least {least} nats",
        *gaps,
    )


FIGURE_2 = TwoArms(
    name="fig2",
    title="Two arms, natural policy gradient with b = −1",
    says="With a negative baseline some runs choose the worse arm for ever: 5, 14 and 22 of 100 "
    "for the three step sizes. Larger steps get stuck more often and settle sooner.",
    settled=(
        "The start is not stated. θ₀ = −1 gives the paper's fractions of stuck runs; "
        "θ₀ = 0 does not.",
    ),
)

FIGURES = (FIGURE_2,)
