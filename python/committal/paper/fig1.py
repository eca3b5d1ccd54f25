"""Figure 1: three arms from a bad start, natural policy gradient, on the simplex."""

from __future__ import annotations

from committal.config import Natural, Softmax
from committal.paper.bandits import (
    BanditFigure,
    commits_faster,
    fails_more_often,
    four_baselines,
)
from committal.paper.verdicts import MANY, NONE, SOME

START = Softmax([0.0, 3.0, 5.0])
UPDATE = Natural(step_size=0.025)
STEPS, VALUE_STEPS = 1000, 2000
DRAWN, KEPT = 15, 40

CASES = four_baselines(
    START,
    UPDATE,
    STEPS,
    value_steps=VALUE_STEPS,
    expect=(MANY, SOME, NONE, NONE),
    reference=((0.48006, 100_000), (0.0469, 100_000), (6e-5, 100_000), (4.5e-4, 100_000)),
)
NATURAL_METRIC = four_baselines(
    START,
    UPDATE,
    STEPS,
    metric="natural",
    reference=((0.16175, 100_000), (0.03498, 100_000), (0.01173, 100_000), None),
)[:3]
SETTLED = (
    "The minimum-variance baseline is the one of the gradient metric although the update is "
    "natural: only with it does b* + ½ always converge. The natural-metric one is drawn beside it.",
    "The number of updates is not stated: 1000, and 2000 with the value baseline, which the paper "
    "trains twice as long in its learning curves.",
)
RULES = (
    commits_faster(0, 2),
    fails_more_often(0, (1, 2, 3), "the lowest baseline gets stuck most often"),
    fails_more_often(1, (2, 3), "b* gets stuck although its variance is least"),
)
NOTE = (
    "Not in the paper: the same with the minimum-variance baseline of the natural metric, with "
    "which b* + ½ does not always converge."
)

FIGURE = BanditFigure(
    name="fig1",
    title="Natural policy gradient on the simplex, θ₀ = (0, 3, 5), α = 0.025",
    says="From a start that favours the worst arm, runs with b* − ½ hurry to a corner, often the "
    "wrong one; with b* some still do. With b* + ½, whose gradient estimate has the same "
    "variance as that of b* − ½, and with V every run finds the best arm.",
    settled=SETTLED,
    cases=CASES,
    kind="simplex",
    runs=DRAWN,
    kept=KEPT,
    solve=True,
    rules=RULES,
    companions=NATURAL_METRIC,
    companion_note=NOTE,
)
