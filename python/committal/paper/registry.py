"""Every figure, by its name on the command line."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

from committal.errors import ConfigError
from committal.paper import claims, figures
from committal.paper.figure import PaperFigure
from committal.support.check import one_of

__all__ = ["figure", "names"]


def figure(name: str) -> PaperFigure[Any]:
    """Return a figure.

    Examples
    --------
    >>> figure("figA3").title
    'Natural policy gradient, θ₀ = (0, 0, 0), α = 0.025'
    """
    known = _known()
    if name not in known:
        raise ConfigError("figure", name, one_of(name, known, "the names"))
    return known[name]


def names() -> tuple[str, ...]:
    """Return the names of all figures and of the claims, in the order of the paper.

    Examples
    --------
    >>> names()[:5]
    ('fig1', 'fig2', 'fig3', 'fig4', 'figA1')
    """
    return tuple(_known())


def _known() -> dict[str, PaperFigure[Any]]:
    """Ask every module of the folder for its figures; the claims come last."""
    found: dict[str, PaperFigure[Any]] = {}
    for module in pkgutil.iter_modules(figures.__path__):
        for one in importlib.import_module(f"{figures.__name__}.{module.name}").FIGURES:
            if one.name in found:
                raise ConfigError("PaperFigure.name", one.name, "a name that no other figure has")
            found[one.name] = one
    ordered = {name: found[name] for name in sorted(found, key=_place)}
    return {**ordered, claims.FIGURE.name: claims.FIGURE}


def _place(name: str) -> tuple[str, int, str]:
    """Return where a figure stands: numbers first, then letters with numbers, then the rest."""
    numbered = re.fullmatch(r"fig([A-Z]?)(\d+)", name)
    return (numbered[1], int(numbered[2]), "") if numbered else ("~", 0, name)
