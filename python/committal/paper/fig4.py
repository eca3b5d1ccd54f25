"""Figure 4: four rooms, natural policy gradient with exact values."""

from __future__ import annotations

from committal.config import ExactQ, MinVariance, Natural
from committal.paper.grids import (
    ROOMS,
    ROOMS_BELOW,
    GridFigure,
    cases_of,
    ends_near,
    keeps_entropy,
    not_converged,
    returns_more,
    sticks_more,
)

STEP_SIZE = 0.1
EPISODES = 1000
PERTURBATIONS = (-1.0, -0.5, 0.0, 0.5, 1.0)
RUNS, PRECISE = 50, 10_000
OPTIMUM = ROOMS.shortest_paths()["C"].value

CASES = cases_of(
    ROOMS,
    Natural(step_size=STEP_SIZE),
    ExactQ(),
    EPISODES,
    "ε",
    {epsilon: MinVariance() + epsilon for epsilon in PERTURBATIONS},
)

FIGURE = GridFigure(
    name="fig4",
    title="Four rooms, natural policy gradient with b* + ε",
    says="The lower the baseline, the faster the entropy of the policy decays, and low baselines "
    "get stuck on suboptimal policies: with ε = −1 no goal is reached in time and the return is "
    "0. Larger baselines earn more and keep more entropy, but do not fully converge.",
    settled=(
        "The map is drawn, not listed, in the paper: it was read off the picture so that the best "
        "goal is 14 moves away and the others 10, which gives the discounted values 0.87, 0.54 "
        "and 0.27 that the paper names.",
        "Step size, number of episodes and their limit are not stated: 0.1, 1000 and 100.",
        "Action values come from an exact solution instead of sweeps with tolerance 0.001.",
        "b* is that of the gradient metric in every state, as for bandits.",
    ),
    cases=CASES,
    runs=RUNS,
    precise=PRECISE,
    below=ROOMS_BELOW,
    draw_map=True,
    rules=(
        ends_near(0, -1e-9, 0.02, "returns of 0: no goal is reached within the limit"),
        keeps_entropy(0, 4, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(1, 3, "action_entropy", 0.1, "lower baselines lose entropy faster"),
        keeps_entropy(0, 4, "state_entropy", 1.0, "lower baselines visit fewer states"),
        keeps_entropy(1, 3, "state_entropy", 1.0, "lower baselines visit fewer states"),
        returns_more(0, 4, "larger baselines earn more"),
        returns_more(1, 3, "larger baselines earn more"),
        sticks_more(1, 3, "lower baselines get stuck on suboptimal policies"),
        not_converged((3, 4), OPTIMUM, "larger baselines do not fully converge"),
    ),
)
