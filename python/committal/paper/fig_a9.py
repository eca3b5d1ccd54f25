"""Figure A9: the learning curves of figure A8."""

from __future__ import annotations

from committal.paper import fig_a8
from committal.paper.bandits import BanditFigure

DRAWN = 40

FIGURE = BanditFigure(
    name="figA9",
    title="Direct parameterisation, from the uniform policy, α = 0.1",
    says="The lower the baseline, the more runs settle on a suboptimal arm.",
    settled=fig_a8.SETTLED,
    cases=fig_a8.CASES,
    kind="curves",
    runs=DRAWN,
    kept=fig_a8.KEPT,
    rules=fig_a8.RULES,
)
