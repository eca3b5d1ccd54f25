"""The commands that use what a store holds: plot and export."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from committal.cli.options import AsJson, StoreArgument, warnings_as_lines
from committal.interop.export import export
from committal.study.opening import open as open_store
from committal.support import limits

if TYPE_CHECKING:
    import xarray as xr


# Labels within this of what was asked for are the same number, written with fewer digits.
_ROUNDING = 1e-9
_MOST_LABELS = 20


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("plot")(plot_command)
    app.command("export")(export_command)


class Kind(StrEnum):
    """What can be drawn."""

    auto = "auto"
    heatmap = "heatmap"
    curves = "curves"
    survival = "survival"
    animation = "animation"


# What moves is kept in other files than what does not.
_FILMS = (".gif", ".html")


def plot_command(
    store: StoreArgument,
    out: Annotated[Path, typer.Option(help="The picture: .png, .pdf, .svg; .gif and .html move.")],
    kind: Annotated[
        Kind,
        typer.Option(help="heatmap of failure rates, mean or survival curves, or runs that move."),
    ] = Kind.auto,
    quantity: Annotated[str, typer.Option(help="What curves show.")] = "value",
    below: Annotated[float | None, typer.Option(help="What a failure is.")] = None,
    above: Annotated[
        float | None, typer.Option(help="The level that survival curves are about.")
    ] = None,
    x: Annotated[str | None, typer.Option(help="Axis of the study to draw to the right.")] = None,
    y: Annotated[str | None, typer.Option(help="Axis of the study to draw upwards.")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(help="A point of an axis, as in --select step_size=0.1; may be repeated."),
    ] = None,
    log_time: Annotated[bool, typer.Option(help="Draw time on a logarithmic axis.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw a picture of a study, finished or not.

    \b
      committal plot results/ --out phase.png
      committal plot results/ --out curves.pdf --kind curves --select step_size=0.1
      committal plot results/ --out runs.gif --select step_size=0.1

    By itself it draws curves where several times were recorded, and otherwise a heat map of the
    failure rate over two axes. A .gif or .html shows how the policies of three arms, or of a
    gridworld, moved: they must have been recorded.
    """
    with warnings_as_lines():
        data, selected = _selected(open_store(store), select or [])
    if kind is Kind.survival and above is None:
        raise typer.BadParameter("survival curves need a level", param_hint="--above")
    moves = out.suffix.lower() in _FILMS
    if kind in (Kind.auto, Kind.animation) and moves:
        _save_film(data, selected, out)
        facts = {"picture": str(out), "kind": Kind.animation.value, "selected": selected}
        typer.echo(json.dumps(facts) if as_json else f"wrote {out}")
        return
    if moves or kind is Kind.animation:
        wanted = "a name ending in .gif or .html" if not moves else "--kind animation or auto"
        raise typer.BadParameter(f"{out} with --kind {kind.value}: expected {wanted}")
    from committal import plot  # matplotlib takes a while
    from committal.plot import sheet

    if kind is Kind.auto:
        kind = Kind.curves if data.sizes["time"] > 1 else Kind.heatmap
    figure, (ax,) = plot.panels(1, "curves")
    figure.set_size_inches(5.5, 4.2)
    if kind is Kind.heatmap:
        plot.heatmap(data, x, y, ax, below=below)
    elif kind is Kind.survival:
        plot.survival(data, above, ax, name=quantity, log_time=log_time)
    else:
        plot.bands(data, quantity, ax, log_time=log_time)
    if selected:
        from committal.plot.words import axis_name, literal

        # A picture of a part says which part.
        parts = (f"{axis_name(axis)} = {literal(_text(at))}" for axis, at in selected.items())
        ax.set_title(", ".join(parts), fontsize="medium", wrap=True)
    sheet.save_as(figure, out)
    facts = {"picture": str(out), "kind": kind.value, "selected": selected}
    typer.echo(json.dumps(facts) if as_json else f"wrote {out}")


def _save_film(data: xr.Dataset, selected: dict[str, float | str], out: Path) -> None:
    """Write the film of one configuration, or of a few beside each other."""
    axes = [str(dim) for dim in data["count"].dims]
    if len(axes) > 1 or (axes and data.sizes[axes[0]] > limits.FILM_PANELS):
        raise typer.BadParameter(
            f"a film shows up to {limits.FILM_PANELS} points of one axis; choose points of "
            + ", ".join(map(repr, axes)),
            param_hint="--select",
        )
    from committal import plot

    # A picture of a part says which part.
    title = ", ".join(_point(axis, at) for axis, at in selected.items())
    films = {title: data}
    if axes:
        labels = data[axes[0]].values.tolist()
        films = {
            ", ".join(filter(None, [_point(axes[0], label), title])): data.isel({axes[0]: i})
            for i, label in enumerate(labels)
        }
    plot.animate(films).save(out)


def _selected(data: xr.Dataset, choices: list[str]) -> tuple[xr.Dataset, dict[str, float | str]]:
    """Return the part of a study that was asked for, and the labels that it has there."""
    found: dict[str, float | str] = {}
    for choice in choices:
        axis, equals, text = choice.partition("=")
        if not equals or axis not in data["count"].dims:
            axes = ", ".join(repr(str(dim)) for dim in data["count"].dims) or "none that is left"
            raise typer.BadParameter(
                f"expected axis=label with an axis of {axes}: {choice!r}", param_hint="--select"
            )
        labels = data[axis].values
        if labels.dtype.kind in "if":
            try:
                wanted = float(text)
            except ValueError:
                raise typer.BadParameter(
                    f"expected a number: {choice!r}", param_hint="--select"
                ) from None
            # As near as text and rounding bring it; the nearest of others is another experiment.
            there = np.isclose(labels, wanted, rtol=_ROUNDING, atol=0.0)
        else:
            there = labels == text
        if not there.any():
            known = ", ".join(_text(label) for label in labels[:_MOST_LABELS].tolist())
            more = ", …" if labels.size > _MOST_LABELS else ""
            raise typer.BadParameter(
                f"{choice!r} is not in the study; {axis} is one of {known}{more}",
                param_hint="--select",
            )
        at = int(np.flatnonzero(there)[0])
        found[axis] = labels.tolist()[at]
        data = data.isel({axis: at})
    return data, found


def _point(axis: str, label: object) -> str:
    return f"{axis.replace('_', ' ').strip()} = {_text(label)}"


def _text(label: object) -> str:
    return f"{label:.12g}" if isinstance(label, float | int) else str(label)


def export_command(
    store: StoreArgument,
    out: Annotated[Path, typer.Argument(help="A new file, ending in .nc or .zarr.")],
    as_json: AsJson = False,
) -> None:
    """Write a study, finished or not, as netCDF or Zarr.

    \b
      committal export results/ results.nc
      committal export results/ results.zarr
    """
    with warnings_as_lines():
        data = open_store(store, verify=True)
    export(data, out)
    facts = {"file": str(out), "sizes": {str(k): v for k, v in data.sizes.items()}}
    typer.echo(json.dumps(facts) if as_json else f"wrote {out}")
