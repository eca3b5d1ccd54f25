"""Figure A14: four rooms, REINFORCE with constant baselines."""

from __future__ import annotations

from committal.config import Reinforce, Vanilla
from committal.paper.grids import (
    ROOMS,
    ROOMS_BELOW,
    GridFigure,
    cases_of,
    keeps_entropy,
    returns_more,
    sticks_more,
)

STEP_SIZE = 0.1
EPISODES = 3000
BASELINES = (-1.0, -0.5, 0.0, 0.5, 1.0)
RUNS, PRECISE = 50, 4000

CASES = cases_of(
    ROOMS, Vanilla(step_size=STEP_SIZE), Reinforce(), EPISODES, "b", {b: b for b in BASELINES}
)

FIGURE = GridFigure(
    name="figA14",
    title="Four rooms, REINFORCE with constant baselines",
    says="Lower baselines lose entropy faster and get stuck on suboptimal policies more often, "
    "although their gradient estimates do not have equal variances here.",
    settled=(
        "The numbers of runs and episodes are not stated: 50 and 3000, each cut after 100 moves. "
        "The baselines are read as −1, −½, 0, ½ and 1.",
    ),
    cases=CASES,
    runs=RUNS,
    precise=PRECISE,
    below=ROOMS_BELOW,
    rules=(
        keeps_entropy(0, 2, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(0, 4, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(1, 3, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(0, 4, "state_entropy", 1.0, "lower baselines visit fewer states"),
        sticks_more(0, 4, "lower baselines get stuck on suboptimal policies"),
        sticks_more(1, 3, "lower baselines get stuck on suboptimal policies"),
        returns_more(0, 4, "larger baselines earn more"),
        returns_more(1, 3, "larger baselines earn more"),
    ),
)
