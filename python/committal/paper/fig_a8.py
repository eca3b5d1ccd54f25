"""Figure A8: projected policy gradient on the probabilities themselves, on the simplex."""

from __future__ import annotations

from committal.config import Direct, Experiment, Projected
from committal.paper.bandits import (
    HIGH,
    LOW,
    MIDDLE,
    THREE_ARMS,
    BanditFigure,
    commits_faster,
    fails_more_often,
)
from committal.paper.figure import Case
from committal.paper.verdicts import MANY, NONE

START = Direct()
UPDATE = Projected(step_size=0.1)
STEPS = 400
DRAWN, KEPT = 15, 40

CASES = tuple(
    Case(
        label,
        latex,
        Experiment(THREE_ARMS, START, UPDATE, b, steps=STEPS),
        colour,
        expect,
        reference,
    )
    for label, latex, b, colour, expect, reference in (
        ("b = −½", r"$b = -\frac{1}{2}$", -0.5, LOW, MANY, (0.44422, 100_000)),
        ("b = 0", r"$b = 0$", 0.0, MIDDLE, None, (0.23587, 100_000)),
        ("b = ½", r"$b = \frac{1}{2}$", 0.5, HIGH, NONE, (0.00329, 100_000)),
    )
)
SETTLED = (
    "The number of updates is not stated: 400.",
    "Baselines are constants: the projection leaves no closed form of the minimum-variance one.",
)
RULES = (
    fails_more_often(0, (1, 2), "negative baselines favour convergence to a suboptimal arm"),
    fails_more_often(1, (2,), "positive baselines help"),
    commits_faster(0, 2, share=0.05),
)

FIGURE = BanditFigure(
    name="figA8",
    title="Direct parameterisation on the simplex, from the uniform policy, α = 0.1",
    says="With projected steps, too, a negative baseline favours convergence to a suboptimal arm "
    "and a positive one helps; the projection makes the estimates biased, so that this means "
    "less than with softmax.",
    settled=SETTLED,
    cases=CASES,
    kind="simplex",
    runs=DRAWN,
    kept=KEPT,
    rules=RULES,
)
