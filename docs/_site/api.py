"""The API pages, from the public names: those of ``__init__.pyi`` and of the folders it offers.

A name belongs to the page that claims its module; a name of a module that no page claims goes to
the last page, so nothing that is public is ever left out.
"""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import committal

# The folders whose modules say what is public, as test_public_names.py knows them.
ROOMS = ("analysis", "config", "exact", "paper", "plot", "reference", "theory")


@dataclass(frozen=True)
class Page:
    """A page: its file, its title, its modules below ``committal.``, its room if it shows one."""

    name: str
    title: str
    modules: tuple[str, ...] = ()
    room: str = ""


# The order of the site. A folder claims all of its modules that no page before it has named.
PAGES = (
    Page("experiment", "Experiments and running them", ("config.experiment", "simulation")),
    Page("problems", "Bandits, gridworlds, MDPs",
         ("config.bandit", "config.mdp", "config.gridworld", "config.maps")),
    Page("policies", "Policies and their parameters",
         ("config.policies", "config.escort", "config.links")),
    Page("baselines", "Baselines",
         ("config.baselines", "config.linear", "config.critic", "config.formula_baseline")),
    Page("updates", "Updates, optimisers, regularisers, schedules",
         ("config.updates", "config.formula_update", "config.optimisers", "config.regularisers",
          "config.schedules")),
    Page("estimators", "Estimators, behaviours, groups, weights",
         ("config.estimators", "config.behaviours", "config.snapshot", "config.groups",
          "config.named_weights", "config.weights")),
    Page("record", "What is recorded",
         ("config.record", "config.quantities", "config.formula_quantity")),
    Page("functions", "Functions for formulas", ("formula",)),
    Page("study", "Studies and stores", ("study", "config.precision")),
    Page("analysis", "Analysis", ("analysis", "inference"), room="analysis"),
    Page("plot", "Pictures", ("plot",), room="plot"),
    Page("exact", "Exact answers", ("exact",), room="exact"),
    Page("theory", "Theory", ("theory",), room="theory"),
    Page("paper", "The paper", ("paper",), room="paper"),
    Page("interop", "Export and Gymnasium", ("interop",)),
    Page("reference", "The oracle", ("reference",), room="reference"),
    Page("errors", "Errors", ("errors",), room="errors"),
    Page("config", "What configurations share", ("config",), room="config"),
    Page("other", "Everything else"),
)  # fmt: skip


@dataclass
class Entry:
    """A public name: where it is called from, and where it lives."""

    path: str
    home: str
    value: Any = field(repr=False)


def _homes() -> dict[str, str]:
    """The names at the root with the modules that they come from, as ``__init__.pyi`` says."""
    stub = inspect.getfile(committal).removesuffix(".py") + ".pyi"
    with open(stub, encoding="utf-8") as file:
        found = re.findall(r"^from \.(\S*) import (\w+) as \w+$", file.read(), re.MULTILINE)
    return {name: home for home, name in found}


@cache
def entries() -> tuple[Entry, ...]:
    """Every public name once: at the root if it is there, else in its folder."""
    root = {
        name: Entry(f"committal.{name}", home, getattr(committal, name))
        for name, home in _homes().items()
        if name not in (*ROOMS, "errors")
    }
    found = list(root.values())
    for name, each in root.items():
        if isinstance(each.value, ModuleType):
            each.home = each.value.__name__.removeprefix("committal.")
            if each.home.endswith(f".{name}"):  # else it is another name of a module
                found += [
                    Entry(f"{each.path}.{member}", each.home, getattr(each.value, member))
                    for member in each.value.__all__
                ]
    for room in ROOMS:
        folder = importlib.import_module(f"committal.{room}")
        stars = re.findall(r"^from (\S+) import \*$", inspect.getsource(folder), re.MULTILINE)
        for home in stars:
            for name in importlib.import_module(home).__all__:
                value = getattr(folder, name)
                if name not in root or root[name].value is not value:
                    path = f"committal.{room}.{name}"
                    found.append(Entry(path, home.removeprefix("committal."), value))
    return tuple(found)


def page_of(home: str) -> Page:
    """The page that claims a module: by its full name, then by its folder."""
    for claim in (home, home.split(".")[0]):
        for page in PAGES:
            if claim in page.modules:
                return page
    return PAGES[-1]


def _directive(entry: Entry) -> str:
    value = entry.value
    if isinstance(value, ModuleType):
        return f".. py:module:: {entry.path}\n\n``{entry.path}``: {_first_line(entry.home)}\n"
    if inspect.isclass(value):
        return f".. autoclass:: {entry.path}\n   :members:\n   :show-inheritance:\n"
    if callable(value):
        return f".. autofunction:: {entry.path}\n"
    return f".. autodata:: {entry.path}\n   :no-value:\n"


def _kind(entry: Entry) -> tuple[bool, bool, str]:
    """Modules, then classes, then functions, each by name."""
    value = entry.value
    return not isinstance(value, ModuleType), not inspect.isclass(value), entry.path


def _underlined(text: str, rule: str) -> str:
    return f"{text}\n{rule * len(text)}\n"


def _first_line(home: str) -> str:
    module = importlib.import_module(f"committal.{home}") if home else committal
    return (module.__doc__ or "").strip().split("\n")[0]


def pages() -> dict[str, str]:
    """File name to reStructuredText of every page that has a name, and the index."""
    by_page: dict[str, list[Entry]] = {}
    for entry in entries():
        by_page.setdefault(page_of(entry.home).name, []).append(entry)
    written = {}
    for page in PAGES:
        own = by_page.get(page.name, [])
        if not own:
            continue
        text = [_underlined(page.title, "=")]
        if page.room:
            text.append(f".. automodule:: committal.{page.room}\n   :no-members:\n")
        by_home: dict[str, list[Entry]] = {}
        for entry in own:
            by_home.setdefault(entry.home, []).append(entry)
        if page.modules:  # in the page's own order, then as they were found
            place = {home: at for at, home in enumerate(page.modules)}
            by_home = dict(sorted(by_home.items(), key=lambda item: place.get(item[0], 99)))
        for home, group in by_home.items():
            title = _first_line(home).rstrip(".")
            text.append(_underlined(title, "-"))
            group.sort(key=_kind)
            text.extend(_directive(entry) for entry in group)
        written[page.name] = "\n".join(text)
    listed = "\n".join(f"   {name}" for name in written)
    names = "\n".join(
        f"* :doc:`{name}`: " + ", ".join(
            f":py:obj:`~{entry.path}`" for entry in sorted(own, key=lambda each: each.path.lower())
        )
        for name in written
        for own in [by_page[name]]
    )  # fmt: skip
    written["index"] = (
        _underlined("API reference", "=")
        + "\n``import committal as cm``; every public name, by what it is for.\n\n"
        + f".. toctree::\n   :maxdepth: 1\n   :hidden:\n\n{listed}\n\n{names}\n"
    )
    return written
