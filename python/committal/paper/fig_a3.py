"""Figure A3: natural policy gradient from the uniform policy."""

from __future__ import annotations

from collections.abc import Sequence

from committal.config import Natural, Softmax
from committal.paper.bandits import (
    BanditFigure,
    Outcome,
    commits_faster,
    fails_more_often,
    four_baselines,
)
from committal.paper.verdicts import NONE, SOME, Finding, Verdict

STEPS = 1000
DRAWN = 40

CASES = four_baselines(
    Softmax([0.0, 0.0, 0.0]),
    Natural(step_size=0.025),
    STEPS,
    expect=(SOME, NONE, NONE, NONE),
    reference=((0.05243, 100_000), (1e-5, 100_000), (6.2e-4, 100_000), (0.0, 100_000)),
)


def more_spread(data: Sequence[Outcome]) -> Finding:
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


FIGURE = BanditFigure(
    name="figA3",
    title="Natural policy gradient, θ₀ = (0, 0, 0), α = 0.025",
    says="From the uniform policy b* and V perform very well and b* − ½ still loses some runs. "
    "All runs with b* + ½ identify the best arm, but their values spread more.",
    settled=("The number of updates is not stated: 1000.",),
    cases=CASES,
    kind="curves",
    runs=DRAWN,
    kept=DRAWN,
    solve=True,
    rules=(
        commits_faster(0, 2, share=0.2),
        fails_more_often(0, (1, 2, 3), "the lowest baseline gets stuck most often"),
        more_spread,
    ),
)
