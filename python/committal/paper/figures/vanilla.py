"""Vanilla policy gradient on three arms: figures A4 to A7."""

from __future__ import annotations

from committal.config import Softmax, Vanilla
from committal.paper.bandit_figure import BanditFigure, four_baselines, natural_metric
from committal.paper.bandit_rules import commits_faster, fails_more_often, slower
from committal.paper.outcome import known_to_differ
from committal.paper.verdicts import MANY, NONE, SOME

UPDATE = Vanilla(step_size=0.5)
ON_SIMPLEX = 15

#: From the uniform policy, and from a start that favours the other arms.
UNIFORM = four_baselines(
    Softmax([0.0, 0.0, 0.0]),
    UPDATE,
    1000,
    expect=(None, NONE, NONE, NONE),
    reference=(0.00531, 0.0, 0.0, 0.0),
)
BAD = four_baselines(
    Softmax([0.0, 3.0, 3.0]),
    UPDATE,
    10_000,
    expect=(MANY, SOME, None, None),
    reference=(0.2651, 0.05635, 0.01535, 0.0028),
    reference_runs=20_000,
)

# Cases 4 to 6 are the companions: the first three again with b* of the natural metric.
SLOWER_THAN_HIGH = slower(1, 2, "b* is slower than b* + ½")
SLOWER_THAN_VALUE = slower(1, 3, "b* is slower than V")
SLOWER_IN_NATURAL_METRIC = (
    slower(5, 6, "b* is slower than b* + ½"),
    slower(5, 3, "b* is slower than V"),
)

FIGURE_A4 = BanditFigure(
    name="figA4",
    title="Vanilla policy gradient on the simplex, θ₀ = (0, 0, 0), α = 0.5",
    says="No theory says that vanilla policy gradient can stay at a suboptimal arm, but some runs "
    "with b* − ½ do not arrive in time, while all others do; b* is slower than b* + ½ and V.",
    settled=(
        "The number of updates is not stated: 1000.",
        "With b* of the gradient metric, the one that minimises the variance of this estimate, "
        "b* − ½ fails in about one run of 180 and b* learns fastest, which is not what the paper "
        "sees. With b* of the natural metric b* − ½ fails in one run of twelve and b* is slower "
        "than b* + ½ and V, as in the paper: it seems that its vanilla figures use that one. It "
        "is drawn beside them.",
    ),
    cases=UNIFORM,
    kind="simplex",
    runs=ON_SIMPLEX,
    rules=(
        fails_more_often(
            0, (1, 2, 3), "only the committal baseline leaves runs behind in the given time"
        ),
        commits_faster(0, 2, share=0.02),
        known_to_differ(SLOWER_THAN_HIGH),
        known_to_differ(SLOWER_THAN_VALUE),
        *SLOWER_IN_NATURAL_METRIC,
    ),
    companions=natural_metric(UNIFORM, expect=(SOME, None, NONE)),
    companion_note="The same with the minimum-variance baseline of the natural metric, which "
    "agrees better with what the paper sees.",
)
FIGURE_A5 = FIGURE_A4.as_curves(
    "figA5",
    "Vanilla policy gradient, θ₀ = (0, 0, 0), α = 0.5",
    "Runs with b* − ½ may not arrive in time; all others do. The paper sees b* learn more slowly "
    "than b* + ½ and V.",
)
FIGURE_A6 = BanditFigure(
    name="figA6",
    title="Vanilla policy gradient on the simplex, θ₀ = (0, 3, 3), α = 0.5",
    says="As from the uniform policy, but stronger: b* is slower still and a few of its runs do "
    "not identify the best arm. Paths run close to the edges, where the simplex shows little.",
    settled=(
        "The number of updates is not stated: 10 000, as learning from here takes that long.",
        "What the paper says holds with b* of either metric, and more clearly with that of the "
        "natural one, which is drawn beside it.",
    ),
    cases=BAD,
    kind="simplex",
    runs=ON_SIMPLEX,
    rules=(
        fails_more_often(0, (1, 2, 3), "the lowest baseline leaves most runs behind"),
        fails_more_often(1, (2, 3), "with b* a few runs do not identify the best arm"),
        SLOWER_THAN_HIGH,
        SLOWER_THAN_VALUE,
        *SLOWER_IN_NATURAL_METRIC,
        commits_faster(0, 2, share=0.1),
    ),
    companions=natural_metric(BAD, expect=(MANY, SOME, None)),
    companion_note="The same with the minimum-variance baseline of the natural metric.",
)
FIGURE_A7 = FIGURE_A6.as_curves(
    "figA7",
    "Vanilla policy gradient, θ₀ = (0, 3, 3), α = 0.5",
    "Most runs with b* − ½ that fail stay at the second arm; a few with b* do, too; b* is slower "
    "than b* + ½ and V.",
)

FIGURES = (FIGURE_A4, FIGURE_A5, FIGURE_A6, FIGURE_A7)
