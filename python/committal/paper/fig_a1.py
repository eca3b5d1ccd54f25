"""Figure A1: the learning curves of figure 1."""

from __future__ import annotations

from committal.paper import fig1
from committal.paper.bandits import BanditFigure, late

DRAWN = 40

FIGURE = BanditFigure(
    name="figA1",
    title="Natural policy gradient, θ₀ = (0, 3, 5), α = 0.025",
    says="Many runs with b* − ½ and some with b* settle on the wrong arm; b* + ½ converges "
    "reliably, and so does V, but more slowly.",
    settled=fig1.SETTLED,
    cases=fig1.CASES,
    kind="curves",
    runs=DRAWN,
    kept=fig1.KEPT,
    solve=True,
    rules=(*fig1.RULES, late(3, 2, fig1.STEPS, "V is much slower than b* + ½")),
    companions=fig1.NATURAL_METRIC,
    companion_note=fig1.NOTE,
)
