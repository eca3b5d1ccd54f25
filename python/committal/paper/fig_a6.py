"""Figure A6: vanilla policy gradient from a bad start, on the simplex."""

from __future__ import annotations

from committal.config import Softmax, Vanilla
from committal.paper.bandits import (
    BanditFigure,
    commits_faster,
    fails_more_often,
    four_baselines,
    slower,
)
from committal.paper.verdicts import MANY, SOME

START = Softmax([0.0, 3.0, 3.0])
UPDATE = Vanilla(step_size=0.5)
STEPS = 10_000
DRAWN, KEPT = 15, 40

CASES = four_baselines(
    START,
    UPDATE,
    STEPS,
    expect=(MANY, SOME, None, None),
    reference=((0.2651, 20_000), (0.05635, 20_000), (0.01535, 20_000), (0.0028, 20_000)),
)
NATURAL_METRIC = four_baselines(
    START, UPDATE, STEPS, metric="natural", expect=(MANY, SOME, None, None)
)[:3]
SETTLED = (
    "The number of updates is not stated: 10 000, as learning from here takes that long.",
    "What the paper says holds with b* of either metric, and more clearly with that of the "
    "natural one, which is drawn beside it.",
)
NOTE = "The same with the minimum-variance baseline of the natural metric."
RULES = (
    fails_more_often(0, (1, 2, 3), "the lowest baseline leaves most runs behind"),
    fails_more_often(1, (2, 3), "with b* a few runs do not identify the best arm"),
    slower(1, 2, "b* is slower than b* + ½"),
    slower(1, 3, "b* is slower than V"),
    slower(5, 6, "b* is slower than b* + ½"),
    slower(5, 3, "b* is slower than V"),
    commits_faster(0, 2, share=0.1),
)

FIGURE = BanditFigure(
    name="figA6",
    title="Vanilla policy gradient on the simplex, θ₀ = (0, 3, 3), α = 0.5",
    says="As from the uniform policy, but stronger: b* is slower still and a few of its runs do "
    "not identify the best arm. Paths run close to the edges, where the simplex shows little.",
    settled=SETTLED,
    cases=CASES,
    kind="simplex",
    runs=DRAWN,
    kept=KEPT,
    rules=RULES,
    companions=NATURAL_METRIC,
    companion_note=NOTE,
)
