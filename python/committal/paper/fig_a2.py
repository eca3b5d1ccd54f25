"""Figure A2: natural policy gradient from a start that is not as bad."""

from __future__ import annotations

from committal.config import Natural, Softmax
from committal.paper.bandits import BanditFigure, commits_faster, fails_more_often, four_baselines
from committal.paper.verdicts import MANY, NONE, SOME

STEPS = 1000
DRAWN = 40

CASES = four_baselines(
    Softmax([0.0, 3.0, 3.0]),
    Natural(step_size=0.025),
    STEPS,
    expect=(MANY, SOME, NONE, NONE),
    reference=((0.28212, 100_000), (0.03763, 100_000), (5e-5, 100_000), (4e-5, 100_000)),
)

FIGURE = BanditFigure(
    name="figA2",
    title="Natural policy gradient, θ₀ = (0, 3, 3), α = 0.025",
    says="The same as from (0, 3, 5), but weaker: fewer runs settle on the wrong arm.",
    settled=("The number of updates is not stated: 1000.",),
    cases=CASES,
    kind="curves",
    runs=DRAWN,
    kept=DRAWN,
    solve=True,
    rules=(
        commits_faster(0, 2),
        fails_more_often(0, (1, 2, 3), "the lowest baseline gets stuck most often"),
        fails_more_often(1, (2, 3), "b* gets stuck although its variance is least"),
    ),
)
