"""The commands that use what a store holds: plot and export."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from committal.cli.options import AsJson, StoreArgument, warnings_as_lines
from committal.interop.export import export
from committal.study.opening import open as open_store

if TYPE_CHECKING:
    import xarray as xr


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


def plot_command(
    store: StoreArgument,
    out: Annotated[Path, typer.Option(help="The picture: .png, .pdf or .svg.")],
    kind: Annotated[
        Kind, typer.Option(help="heatmap of failure rates, mean curves, or survival curves.")
    ] = Kind.auto,
    quantity: Annotated[str, typer.Option(help="What curves show.")] = "value",
    below: Annotated[float | None, typer.Option(help="What a failure is.")] = None,
    above: Annotated[float, typer.Option(help="The level that survival curves are about.")] = 0.9,
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

    By itself it draws curves where several times were recorded, and otherwise a heat map of the
    failure rate over two axes.
    """
    with warnings_as_lines():
        data = _selected(open_store(store), select or [])
    from committal import plot  # matplotlib takes a while

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
    try:
        figure.savefig(out, dpi=200)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"cannot write {out}: {error}", param_hint="--out") from None
    typer.echo(json.dumps({"picture": str(out), "kind": kind.value}) if as_json else f"wrote {out}")


def _selected(data: xr.Dataset, choices: list[str]) -> xr.Dataset:
    for choice in choices:
        axis, equals, text = choice.partition("=")
        if not equals or axis not in data.dims:
            axes = ", ".join(repr(str(dim)) for dim in data["count"].dims)
            raise typer.BadParameter(f"expected axis=label with an axis of {axes}: {choice!r}")
        labels = data[axis].values
        if labels.dtype.kind in "if":
            try:
                data = data.sel({axis: float(text)}, method="nearest")
            except ValueError:
                raise typer.BadParameter(f"expected a number: {choice!r}") from None
        elif text in labels:
            data = data.sel({axis: text})
        else:
            known = ", ".join(map(repr, labels[:10]))
            raise typer.BadParameter(f"expected one of {known}: {choice!r}")
    return data


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
