"""Figure A11: the 5×5 gridworld, returns and entropies."""

from __future__ import annotations

from committal.config import Reinforce, Vanilla
from committal.paper.grids import (
    SQUARE,
    SQUARE_BELOW,
    GridFigure,
    cases_of,
    keeps_entropy,
    returns_more,
    sticks_more,
)

STEP_SIZE = 0.1
EPISODES = 4000
BASELINES = (-1.0, -0.5, 0.0, 0.5, 1.0)
RUNS, PRECISE = 100, 4000

CASES = cases_of(
    SQUARE, Vanilla(step_size=STEP_SIZE), Reinforce(), EPISODES, "b", {b: b for b in BASELINES}
)
SETTLED = (
    "Step size and number of episodes are not stated: 0.1 and 4000; episodes are cut after 100 "
    "moves. The baselines of the curves are read as −1, −½, 0, ½ and 1.",
)

FIGURE = GridFigure(
    name="figA11",
    title="5×5 gridworld, REINFORCE with constant baselines",
    says="As in four rooms, lower baselines lose entropy faster and get stuck on suboptimal "
    "policies more often.",
    settled=SETTLED,
    cases=CASES,
    runs=RUNS,
    precise=PRECISE,
    below=SQUARE_BELOW,
    rules=(
        keeps_entropy(0, 2, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(0, 4, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(1, 3, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(0, 4, "state_entropy", 1.0, "lower baselines visit fewer states"),
        sticks_more(0, 2, "lower baselines get stuck on suboptimal policies"),
        sticks_more(0, 4, "lower baselines get stuck on suboptimal policies"),
        sticks_more(1, 3, "lower baselines get stuck on suboptimal policies"),
        returns_more(0, 4, "larger baselines earn more"),
    ),
)
