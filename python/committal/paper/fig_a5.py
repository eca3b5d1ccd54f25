"""Figure A5: the learning curves of figure A4."""

from __future__ import annotations

from committal.paper import fig_a4
from committal.paper.bandits import BanditFigure

DRAWN = 40

FIGURE = BanditFigure(
    name="figA5",
    title="Vanilla policy gradient, θ₀ = (0, 0, 0), α = 0.5",
    says="Runs with b* − ½ may not arrive in time; all others do. The paper sees b* learn more "
    "slowly than b* + ½ and V.",
    settled=fig_a4.SETTLED,
    cases=fig_a4.CASES,
    kind="curves",
    runs=DRAWN,
    kept=fig_a4.KEPT,
    rules=fig_a4.RULES,
    companions=fig_a4.NATURAL_METRIC,
    companion_note=fig_a4.NOTE,
)
