"""Figure A7: the learning curves of figure A6."""

from __future__ import annotations

from committal.paper import fig_a6
from committal.paper.bandits import BanditFigure

DRAWN = 40

FIGURE = BanditFigure(
    name="figA7",
    title="Vanilla policy gradient, θ₀ = (0, 3, 3), α = 0.5",
    says="Most runs with b* − ½ that fail stay at the second arm; a few with b* do, too; "
    "b* is slower than b* + ½ and V.",
    settled=fig_a6.SETTLED,
    cases=fig_a6.CASES,
    kind="curves",
    runs=DRAWN,
    kept=fig_a6.KEPT,
    rules=fig_a6.RULES,
    companions=fig_a6.NATURAL_METRIC,
    companion_note=fig_a6.NOTE,
)
