"""The figures of the paper, as settings to play with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from committal.explore.writing import plain
from committal.paper import registry
from committal.paper.bandit_figure import BELOW
from committal.paper.figure import Case, PaperFigure
from committal.paper.figures import goals, rooms, square, two_arms, variance


def _maps() -> tuple[Case, ...]:
    """The estimates whose variances figure 3 divides; it runs nothing, the page does."""
    (_, _, none, sampled), (_, _, _, best), _ = variance.VANILLA_RATIOS
    cases = (("b = 0", none), ("b*", best), ("importance sampling", sampled))
    return tuple(Case(label, "", experiment.replace(steps=500)) for label, experiment in cases)


#: Cases of figures that do not list them as most do: by name, with the level of failure.
_OTHERS: dict[str, tuple[Sequence[Case], float]] = {
    "fig2": (two_arms.CASES, two_arms.BELOW),
    "fig3": (_maps(), BELOW),
    "figA10": (square.THREE_CASES, square.FIGURE_A11.below),
    "figA13": (rooms.VANILLA_RELATIVE, rooms.BELOW),
    "figA15": (goals.CASES, rooms.BELOW),
}


def presets() -> list[dict[str, Any]]:
    """List every figure of experiments: its cases, and which two stand side by side.

    Examples
    --------
    >>> first = presets()[0]
    >>> first["name"], [case["label"] for case in first["cases"]]
    ('fig1', ['b* − ½', 'b*', 'b* + ½', 'V'])
    """
    return [made for name in registry.names() if (made := _preset(registry.figure(name)))]


def _preset(figure: PaperFigure[Any]) -> dict[str, Any] | None:
    cases, below = _OTHERS.get(
        figure.name, (getattr(figure, "cases", ()), getattr(figure, "below", 0.0))
    )
    if not cases:
        return None
    return {
        "name": figure.name,
        "title": figure.title,
        "says": figure.says,
        "below": below,
        "under": "variance" if figure.name == "fig3" else "none",
        # The extremes of what is compared: b* - 1/2 and b* + 1/2, or the first and the last.
        "pair": [0, 2 if len(cases) == 4 else len(cases) - 1],
        "cases": [{"label": case.label, "experiment": plain(case.experiment)} for case in cases],
    }
