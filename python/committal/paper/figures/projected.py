"""Projected policy gradient on the probabilities themselves: figures A8 and A9."""

from __future__ import annotations

from committal.config import Direct, Experiment, Projected
from committal.paper.bandit_figure import HIGH, LOW, MIDDLE, THREE_ARMS, BanditFigure
from committal.paper.bandit_rules import commits_faster, fails_more_often
from committal.paper.figure import Case
from committal.paper.verdicts import MANY, NONE

UPDATE = Projected(step_size=0.1)
STEPS = 400
ON_SIMPLEX = 15

CASES = tuple(
    Case(
        label,
        latex,
        Experiment(THREE_ARMS, Direct(), UPDATE, b, steps=STEPS),
        colour,
        expect,
        (reference, 100_000),
    )
    for label, latex, b, colour, expect, reference in (
        ("b = −½", r"$b = -\frac{1}{2}$", -0.5, LOW, MANY, 0.44422),
        ("b = 0", r"$b = 0$", 0.0, MIDDLE, None, 0.23587),
        ("b = ½", r"$b = \frac{1}{2}$", 0.5, HIGH, NONE, 0.00329),
    )
)

FIGURE_A8 = BanditFigure(
    name="figA8",
    title="Direct parameterisation on the simplex, from the uniform policy, α = 0.1",
    says="With projected steps, too, a negative baseline favours convergence to a suboptimal arm "
    "and a positive one helps; the projection makes the estimates biased, so that this means "
    "less than with softmax.",
    settled=(
        "The number of updates is not stated: 400.",
        "Baselines are constants: the projection leaves no closed form of the minimum-variance "
        "one.",
    ),
    cases=CASES,
    kind="simplex",
    runs=ON_SIMPLEX,
    rules=(
        fails_more_often(0, (1, 2), "negative baselines favour convergence to a suboptimal arm"),
        fails_more_often(1, (2,), "positive baselines help"),
        commits_faster(0, 2, share=0.05),
    ),
)
FIGURE_A9 = FIGURE_A8.as_curves(
    "figA9",
    "Direct parameterisation, from the uniform policy, α = 0.1",
    "The lower the baseline, the more runs settle on a suboptimal arm.",
)

FIGURES = (FIGURE_A8, FIGURE_A9)
