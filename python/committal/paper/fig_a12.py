"""Figure A12: four rooms, vanilla policy gradient with exact values and b* + ε."""

from __future__ import annotations

from collections.abc import Sequence

from committal.config import ExactQ, MinVariance, Vanilla
from committal.paper import fig4
from committal.paper.grids import ROOMS, ROOMS_BELOW, GridFigure, GridOutcome, cases_of, ends_near
from committal.paper.verdicts import Estimate, Finding, positive

STEP_SIZE = 0.5
EPISODES = 3000
PERTURBATIONS = (-1.0, -0.5, 0.0, 0.5, 1.0)
RUNS, PRECISE = 20, 2500

CASES = cases_of(
    ROOMS,
    Vanilla(step_size=STEP_SIZE),
    ExactQ(),
    EPISODES,
    "ε",
    {epsilon: MinVariance() + epsilon for epsilon in PERTURBATIONS},
)


def smaller_differences(data: Sequence[GridOutcome]) -> Finding:
    """Ask whether +ε and -ε end closer together than with natural policy gradient."""
    here, there = data[: len(CASES)], data[len(CASES) :]

    def apart(low: GridOutcome, high: GridOutcome) -> Estimate:
        gap = high.mean("value").minus(low.mean("value"))
        return Estimate.of_mean(abs(gap.estimate), gap.sem)

    vanilla, natural = (
        [apart(rooms[0], rooms[4]), apart(rooms[1], rooms[3])] for rooms in (here, there)
    )
    total = [_sum(pair) for pair in (vanilla, natural)]
    return Finding(
        "distance of the final values of ±ε, ε = 1 and ½, here and with natural gradient",
        "not a large difference between +ε and −ε, unlike with the natural gradient",
        f"{vanilla[0]} and {vanilla[1]}; natural: {natural[0]} and {natural[1]}",
        positive(total[1].minus(total[0])),
        "their sum is smaller, by 3 standard errors",
    )


def _sum(pair: Sequence[Estimate]) -> Estimate:
    one, other = pair
    negative = Estimate(-other.estimate, -other.high, -other.low)
    return one.minus(negative)


FIGURE = GridFigure(
    name="figA12",
    title="Four rooms, vanilla policy gradient with b* + ε",
    says="With the vanilla gradient +ε and −ε differ less than with the natural one, perhaps "
    "because the perturbation is large compared with Q − b*.",
    settled=(
        "The number of episodes is not stated: 3000, cut after 100 moves; ε is read as −1, −½, 0, "
        "½ and 1. The captions of the two vanilla figures are swapped with respect to how the "
        "text refers to them; this is the one with 20 runs.",
    ),
    cases=CASES,
    runs=RUNS,
    precise=PRECISE,
    below=ROOMS_BELOW,
    rules=(
        smaller_differences,
        ends_near(2, 0.83, 0.8688, "the unperturbed baseline learns well"),
    ),
    beside=fig4.FIGURE,
)
