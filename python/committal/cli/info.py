"""``committal info``: what this package and this machine are, or what a store holds."""

from __future__ import annotations

import platform
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from committal.cli.options import DAMAGED, AsJson, print_json
from committal.cli.watching import watch
from committal.errors import StoreWarning
from committal.study.opening import examined, stored_study
from committal.study.opening import open as open_store
from committal.study.store.store import Store
from committal.study.study import Study
from committal.support import provenance, text
from committal.support.machine import available_threads

if TYPE_CHECKING:
    import xarray as xr


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("info")(info_command)


def info_command(
    store: Annotated[
        Path | None, typer.Argument(help="The directory of a study.", metavar="[STORE]")
    ] = None,
    watching: Annotated[
        bool, typer.Option("--watch", help="Show how far each configuration is, until all are.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between looks.")] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Show versions, compiler and machine, or what a store holds.

    Everything in a store is verified; what is damaged is listed and can be computed again with
    'committal resume'.

    \b
      committal info results/
      committal info results/ --watch

    Exit codes: 0 all is well, 1 something is damaged or outside of what is wanted, 3 there is no
    store, or its manifest cannot be used.
    """
    if watching:
        if store is None:
            raise typer.BadParameter("say which store to watch", param_hint="STORE")
        watch(store, every=every, as_json=as_json)
    facts = _about_the_package() if store is None else _about_a_store(store)
    if as_json:
        print_json(facts, indent=None if watching else 2)
    else:
        typer.echo("\n".join(text.facts(facts)))
    if facts.get("damaged") or facts.get("outside"):
        raise typer.Exit(DAMAGED)


def _about_the_package() -> dict[str, object]:
    build = provenance.build()
    return {
        "committal": build["committal_version"],
        "stream version": build["stream_version"],
        "python": platform.python_version(),
        "compiler": f"{build['compiler']}, C++{build['cxx_standard'] // 100 % 100}",
        "instruction set": build["isa"],
        "also available": [isa for isa in build["isas"] if isa != build["isa"]],
        "threads": available_threads(),
    }


def _about_a_store(store: Path) -> dict[str, Any]:
    """Say what a store holds, verifying every chunk."""
    kept = Store.open(store)
    study = stored_study(kept)
    found = examined(kept, study, verify=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # they are listed below
        data = open_store(store, verify=True)
    wanted = study.runs * len(study)
    return {
        **summary(study, data, store),
        "wanted_runs": wanted,
        "until": kept.manifest["until"],
        "chunks": len(found.inventory.chunks),
        "unused_chunks": len(found.inventory.chunks - found.wanted),
        "damaged": found.inventory.damaged,
        "outside": found.inventory.strays,
        "foreign": found.inventory.foreign,
        "committal": kept.manifest["committal_version"],
        "stream version": kept.manifest["stream_version"],
    }


def summary(study: Study, data: xr.Dataset, out: Path) -> dict[str, Any]:
    """Count what there is of a study."""
    count = data["count"].values
    found: dict[str, Any] = {
        "store": str(out),
        "hash": study.hash,
        "axes": {axis.name: len(axis) for axis in study.axes},
        "configurations": len(study),
        "runs": study.runs,
        "total_runs": int(count.sum()),
    }
    if "until_reached" in data:
        reached = data["until_reached"].values.astype(bool)
        found["stopped_early"] = int((reached & (count < study.runs)).sum())
        found["not_precise"] = int((~reached).sum())
    return found
