"""Every figure of the paper and every result after it, by its name on the command line."""

from __future__ import annotations

import importlib
import pkgutil
import re
from types import ModuleType
from typing import Any

from committal.errors import ConfigError
from committal.paper import after, claims, figures
from committal.paper.figure import PaperFigure
from committal.support.check import one_of

__all__ = ["figure", "names"]

#: What a name may stand for besides one figure, in the order of the report: folders.
GROUPS = {"paper": figures, "after": after}


def figure(name: str) -> PaperFigure[Any]:
    """Return a figure, or a result.

    Examples
    --------
    >>> figure("figA3").title
    'Natural policy gradient, θ₀ = (0, 0, 0), α = 0.025'
    """
    known = _known()
    if name not in known:
        raise ConfigError("figure", name, one_of(name, [*known, *GROUPS], "the names"))
    return known[name]


def names(*wanted: str) -> tuple[str, ...]:
    """Return names in the order of the report: the paper's figures and claims, then the results.

    Parameters
    ----------
    *wanted : str
        Names of figures, results and groups. Without any, everything of the paper.

    Examples
    --------
    >>> names()[:5]
    ('fig1', 'fig2', 'fig3', 'fig4', 'figA1')
    >>> names("A1", "fig2")
    ('fig2', 'A1')
    """
    members = {group: tuple(_members(group)) for group in GROUPS}
    chosen: set[str] = set()
    for name in wanted or ("paper",):
        chosen.update(members[name] if name in GROUPS else [figure(name).name])
    return tuple(name for group in GROUPS for name in members[group] if name in chosen)


def _known() -> dict[str, PaperFigure[Any]]:
    found: dict[str, PaperFigure[Any]] = {}
    for group in GROUPS:
        for name, one in _members(group).items():
            if name in found or name in GROUPS:
                raise ConfigError("PaperFigure.name", name, "a name that no other figure has")
            found[name] = one
    return found


def _members(group: str) -> dict[str, PaperFigure[Any]]:
    """Return the figures of a group, in their order; the claims are the last of the paper."""
    found = _in(GROUPS[group])
    if GROUPS[group] is figures:
        found[claims.FIGURE.name] = claims.FIGURE
    return found


def _in(folder: ModuleType) -> dict[str, PaperFigure[Any]]:
    """Ask every module of a folder for its figures."""
    found: dict[str, PaperFigure[Any]] = {}
    for module in pkgutil.iter_modules(folder.__path__):
        for one in importlib.import_module(f"{folder.__name__}.{module.name}").FIGURES:
            if one.name in found:
                raise ConfigError("PaperFigure.name", one.name, "a name that no other figure has")
            found[one.name] = one
    return {name: found[name] for name in sorted(found, key=_place)}


def _place(name: str) -> tuple[str, int, str]:
    """Return where a figure stands: numbers first, then letters with numbers, then the rest."""
    numbered = re.fullmatch(r"(?:fig)?([A-Z]?)(\d+)", name)
    return (numbered[1], int(numbered[2]), "") if numbered else ("~", 0, name)
