"""Every figure, by its name on the command line."""

from __future__ import annotations

import importlib
from typing import Any

from committal.errors import ConfigError
from committal.paper.figure import PaperFigure
from committal.support.check import one_of

#: Name: module, in the order of the paper; the claims come last.
MODULES = {
    **{f"fig{i}": f"fig{i}" for i in range(1, 5)},
    **{f"figA{i}": f"fig_a{i}" for i in range(1, 16)},
    "claims": "claims",
}


def figure(name: str) -> PaperFigure[Any]:
    """Return a figure.

    Examples
    --------
    >>> figure("figA3").title
    'Natural policy gradient, θ₀ = (0, 0, 0), α = 0.025'
    """
    if name not in MODULES:
        raise ConfigError("figure", name, one_of(name, MODULES, "the names"))
    module = importlib.import_module(f"committal.paper.{MODULES[name]}")
    found: PaperFigure[Any] = module.FIGURE
    return found


def names() -> tuple[str, ...]:
    """Return the names of all figures and of the claims, in the order of the paper.

    Examples
    --------
    >>> names()[:5]
    ('fig1', 'fig2', 'fig3', 'fig4', 'figA1')
    """
    return tuple(MODULES)
