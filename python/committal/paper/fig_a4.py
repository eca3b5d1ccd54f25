"""Figure A4: vanilla policy gradient from the uniform policy, on the simplex."""

from __future__ import annotations

from committal.config import Softmax, Vanilla
from committal.paper.bandits import (
    BanditFigure,
    commits_faster,
    fails_more_often,
    four_baselines,
    slower,
)
from committal.paper.verdicts import NONE, SOME

START = Softmax([0.0, 0.0, 0.0])
UPDATE = Vanilla(step_size=0.5)
STEPS = 1000
DRAWN, KEPT = 15, 40

CASES = four_baselines(
    START,
    UPDATE,
    STEPS,
    expect=(None, NONE, NONE, NONE),
    reference=((0.00531, 100_000), (0.0, 100_000), (0.0, 100_000), (0.0, 100_000)),
)
NATURAL_METRIC = four_baselines(
    START, UPDATE, STEPS, metric="natural", expect=(SOME, None, NONE, None)
)[:3]
SETTLED = (
    "The number of updates is not stated: 1000.",
    "With b* of the gradient metric, the one that minimises the variance of this estimate, b* − ½ "
    "fails in about one run of 180 and b* learns fastest, which is not what the paper sees. With "
    "b* of the natural metric b* − ½ fails in one run of twelve and b* is slower than b* + ½ and "
    "V, as in the paper: it seems that its vanilla figures use that one. It is drawn beside them.",
)
NOTE = (
    "The same with the minimum-variance baseline of the natural metric, which agrees better with "
    "what the paper sees."
)
RULES = (
    fails_more_often(
        0, (1, 2, 3), "only the committal baseline leaves runs behind in the given time"
    ),
    commits_faster(0, 2, share=0.02),
    slower(1, 2, "b* is slower than b* + ½", differs=True),
    slower(1, 3, "b* is slower than V", differs=True),
    slower(5, 6, "b* is slower than b* + ½"),
    slower(5, 3, "b* is slower than V"),
)

FIGURE = BanditFigure(
    name="figA4",
    title="Vanilla policy gradient on the simplex, θ₀ = (0, 0, 0), α = 0.5",
    says="No theory says that vanilla policy gradient can stay at a suboptimal arm, but some runs "
    "with b* − ½ do not arrive in time, while all others do; b* is slower than b* + ½ and V.",
    settled=SETTLED,
    cases=CASES,
    kind="simplex",
    runs=DRAWN,
    kept=KEPT,
    rules=RULES,
    companions=NATURAL_METRIC,
    companion_note=NOTE,
)
