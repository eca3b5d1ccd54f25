"""Natural policy gradient on three arms: figures 1, A1, A2 and A3."""

from __future__ import annotations

from collections.abc import Sequence

from committal.config import Natural, Softmax
from committal.paper.bandit_figure import (
    CURVES,
    BanditFigure,
    BanditOutcome,
    four_baselines,
    natural_metric,
)
from committal.paper.bandit_rules import commits_faster, fails_more_often, late
from committal.paper.verdicts import MANY, NONE, SOME, Finding, Verdict

UPDATE = Natural(step_size=0.025)
STEPS, VALUE_STEPS = 1000, 2000
ON_SIMPLEX = 15

#: From a start that favours the worst arm, from one that is not as bad, and from no favour.
BAD = four_baselines(
    Softmax([0.0, 3.0, 5.0]),
    UPDATE,
    STEPS,
    value_steps=VALUE_STEPS,
    expect=(MANY, SOME, NONE, NONE),
    reference=(0.48006, 0.0469, 6e-5, 4.5e-4),
)
MILD = four_baselines(
    Softmax([0.0, 3.0, 3.0]),
    UPDATE,
    STEPS,
    expect=(MANY, SOME, NONE, NONE),
    reference=(0.28212, 0.03763, 5e-5, 4e-5),
)
UNIFORM = four_baselines(
    Softmax([0.0, 0.0, 0.0]),
    UPDATE,
    STEPS,
    expect=(SOME, NONE, NONE, NONE),
    reference=(0.05243, 1e-5, 6.2e-4, 0.0),
)
BAD_NATURAL_METRIC = natural_metric(
    BAD, reference=((0.16175, 100_000), (0.03498, 100_000), (0.01173, 100_000))
)

LOWEST_FAILS_MOST = fails_more_often(0, (1, 2, 3), "the lowest baseline gets stuck most often")
RULES = (
    commits_faster(0, 2),
    LOWEST_FAILS_MOST,
    fails_more_often(1, (2, 3), "b* gets stuck although its variance is least"),
)
NOT_STATED = "The number of updates is not stated: 1000."


def more_spread(data: Sequence[BanditOutcome]) -> Finding:
    """Ask whether final values of b* + 1/2 vary more than those of b*."""
    runs = int(data[0].ensemble["count"])
    spread = [float(one.ensemble["value_sem"][-1]) * runs**0.5 for one in data]
    ratio = spread[2] / spread[1] if spread[1] > 0.0 else float("inf")
    # Few runs say little about a variance with such tails.
    sure = Verdict.HOLDS if ratio > 2.0 else Verdict.FAILS
    return Finding(
        "standard deviation of the final value, b* + ½ over b*",
        "larger with b* + ½ than with b*",
        f"{spread[2]:.5f} / {spread[1]:.5f} = {ratio:.1f}",
        sure if runs >= 1000 or ratio > 2.0 else Verdict.UNDECIDED,
        "more than 2",
    )


FIGURE_1 = BanditFigure(
    name="fig1",
    title="Natural policy gradient on the simplex, θ₀ = (0, 3, 5), α = 0.025",
    says="From a start that favours the worst arm, runs with b* − ½ hurry to a corner, often the "
    "wrong one; with b* some still do. With b* + ½, whose vanilla gradient estimate has "
    "the same variance as that of b* − ½, and with V every run finds the best arm.",
    settled=(
        "Equal variance holds for the vanilla gradient estimate, the one that b* minimises. These "
        "runs follow the natural gradient, whose estimates with b* − ½ and b* + ½ do not have "
        "equal variances.",
        "The minimum-variance baseline is the one of the gradient metric although the update is "
        "natural: only with it does b* + ½ always converge. The natural-metric one is drawn "
        "beside it.",
        "The number of updates is not stated: 1000, and 2000 with the value baseline, which the "
        "paper trains twice as long in its learning curves.",
    ),
    cases=BAD,
    kind="simplex",
    runs=ON_SIMPLEX,
    solve=True,
    rules=RULES,
    companions=BAD_NATURAL_METRIC,
    companion_note="Not in the paper: the same with the minimum-variance baseline of the natural "
    "metric, with which b* + ½ does not always converge.",
)
FIGURE_A1 = FIGURE_1.as_curves(
    "figA1",
    "Natural policy gradient, θ₀ = (0, 3, 5), α = 0.025",
    "Many runs with b* − ½ and some with b* settle on the wrong arm; b* + ½ converges reliably, "
    "and so does V, but more slowly.",
    rules=(late(3, 2, STEPS, "V is much slower than b* + ½"),),
)
FIGURE_A2 = BanditFigure(
    name="figA2",
    title="Natural policy gradient, θ₀ = (0, 3, 3), α = 0.025",
    says="The same as from (0, 3, 5), but weaker: fewer runs settle on the wrong arm.",
    settled=(NOT_STATED,),
    cases=MILD,
    kind="curves",
    runs=CURVES,
    solve=True,
    rules=RULES,
)
FIGURE_A3 = BanditFigure(
    name="figA3",
    title="Natural policy gradient, θ₀ = (0, 0, 0), α = 0.025",
    says="From the uniform policy b* and V perform very well and b* − ½ still loses some runs. "
    "All runs with b* + ½ identify the best arm, but their values spread more.",
    settled=(NOT_STATED,),
    cases=UNIFORM,
    kind="curves",
    runs=CURVES,
    solve=True,
    rules=(commits_faster(0, 2, share=0.2), LOWEST_FAILS_MOST, more_spread),
)

FIGURES = (FIGURE_1, FIGURE_A1, FIGURE_A2, FIGURE_A3)
