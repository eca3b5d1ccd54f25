"""The commands about studies: run, resume, plot, export, schema and what a store holds.

:mod:`committal.cli.app` puts them on the command line.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from committal.config.precision import Precision
from committal.errors import ConfigError, StoreError, StoreWarning
from committal.interop.export import export
from committal.study.executors import dask_executor
from committal.study.file import read_study
from committal.study.opening import open as open_store
from committal.study.opening import stored_study, stored_until
from committal.study.schema import schema_text
from committal.study.store.store import Store
from committal.study.study import Study

if TYPE_CHECKING:
    import xarray as xr

#: What a shell sees: of a study that was interrupted, finished chunks are kept.
INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Threads of this process; all cores by default. Of every task with a scheduler."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler, such as tcp://host:8786, whose workers compute."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no table.")]
StoreArgument = Annotated[Path, typer.Argument(help="The directory of a study.", metavar="STORE")]


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("run")(run_command)
    app.command("resume")(resume_command)
    app.command("plot")(plot_command)
    app.command("export")(export_command)
    app.command("schema")(schema_command)


# -- run and resume --------------------------------------------------------------------------------


def run_command(
    file: Annotated[Path, typer.Argument(help="A study file in TOML.", metavar="STUDY.TOML")],
    out: Annotated[
        Path | None, typer.Option(help="Directory for the results; new, or of the same study.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs per configuration, instead of the file's.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be run, and what it would cost.")
    ] = False,
    threads: Threads = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run a study file.

    \b
      committal run study.toml --dry-run
      committal run study.toml --out results/
      committal run study.toml --out results/ --scheduler tcp://host:8786

    Chunks of runs are written to the directory as they are finished. If the process is stopped,
    killed, or the power fails, run the same command again, or 'committal resume results/': only
    what is missing is computed, and the result is the same to the last bit.

    Exit codes: 0 done, 2 wrong arguments or study file, 3 the directory cannot be used, 4 the
    scheduler or its workers failed, 130 interrupted.
    """
    study, until = read_study(file)
    if runs is not None:
        study = study.replace(runs=runs)
    if dry_run:
        _show_plan(study, until, threads, as_json)
        return
    if out is None:
        raise typer.BadParameter("say where to put the results", param_hint="--out")
    _run(study, until, out, threads, scheduler, quiet, as_json)


def resume_command(
    store: StoreArgument,
    threads: Threads = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compute what is missing in a directory, and what is damaged.

    \b
      committal resume results/

    Nothing is computed twice. Every chunk is verified first; chunks that are truncated, changed
    or of another study are reported and replaced. The exit codes are those of 'run'.
    """
    kept = Store.open(store)
    _run(stored_study(kept), stored_until(kept), store, threads, scheduler, quiet, as_json)


def _run(
    study: Study,
    until: Precision | None,
    out: Path,
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    if not (quiet or as_json):
        typer.echo(str(study) + "\n")
    before = _chunk_count(out)
    start = time.perf_counter()
    with _warnings_as_lines(), ExitStack() as stack:
        executor: Executor | None = None
        if scheduler is not None:
            executor = stack.enter_context(dask_executor(scheduler))
        try:
            data = study.run(out, executor, threads, progress=not (quiet or as_json), until=until)
        except KeyboardInterrupt:
            sys.stderr.write(
                f"committal: interrupted; {_chunk_count(out)} finished chunks are kept: "
                f"committal resume {out}\n"
            )
            raise typer.Exit(INTERRUPTED) from None
    seconds = time.perf_counter() - start
    summary = _summary(study, data, out)
    summary |= {"seconds": seconds, "new_chunks": _chunk_count(out) - before}
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    typer.echo(
        f"{out}: {summary['configurations']} configurations, {summary['total_runs']} runs, "
        f"{summary['new_chunks']} new chunks in {seconds:.1f} s"
    )
    if "stopped_early" in summary:
        typer.echo(
            f"{summary['stopped_early']} of {summary['configurations']} configurations stopped "
            f"early, {summary['not_precise']} are not precise enough"
        )


def _show_plan(study: Study, until: Precision | None, threads: int | None, as_json: bool) -> None:
    cost = study.estimate(threads)
    if not as_json:
        typer.echo(str(study))
        if until is not None:
            typer.echo(f"\n  at most; each configuration stops at {until!r}")
        return
    facts = {
        "hash": study.hash,
        "configurations": len(study),
        "runs": study.runs,
        "axes": {axis.name: list(axis.labels) for axis in study.axes},
        "until": None if until is None else until.to_dict(),
        **cost._asdict(),
    }
    typer.echo(json.dumps(facts, indent=2))


def _summary(study: Study, data: xr.Dataset, out: Path) -> dict[str, Any]:
    count = data["count"].values
    summary: dict[str, Any] = {
        "store": str(out),
        "hash": study.hash,
        "axes": {axis.name: len(axis) for axis in study.axes},
        "configurations": len(study),
        "runs": study.runs,
        "total_runs": int(count.sum()),
    }
    if "until_reached" in data:
        reached = data["until_reached"].values.astype(bool)
        summary["stopped_early"] = int((reached & (count < study.runs)).sum())
        summary["not_precise"] = int((~reached).sum())
    return summary


def _chunk_count(store: Path) -> int:
    try:
        return len(Store.open(store).inventory().chunks)
    except StoreError:
        return 0


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Show warnings about stores like errors: one line each, at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", StoreWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *others: Any, **more: Any) -> None:
            if issubclass(category, StoreWarning):
                sys.stderr.write(f"committal: {message}\n")
            else:
                usual(message, category, *others, **more)

        warnings.showwarning = show
        yield


def describe_store(store: Path) -> dict[str, Any]:
    """Say what a store holds, verifying every chunk."""
    kept = Store.open(store)
    study = stored_study(kept)
    inventory = kept.inventory(verify=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # they are listed below
        data = open_store(store, verify=True)
    wanted = study.runs * len(study)
    return {
        **_summary(study, data, store),
        "wanted_runs": wanted,
        "until": kept.manifest["until"],
        "chunks": len(inventory.chunks),
        "damaged": inventory.damaged,
        "foreign": inventory.foreign,
        "committal": kept.manifest["committal_version"],
        "stream version": kept.manifest["stream_version"],
    }


# -- plot ------------------------------------------------------------------------------------------


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
    with _warnings_as_lines():
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


# -- export and schema -----------------------------------------------------------------------------


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
    with _warnings_as_lines():
        data = open_store(store, verify=True)
    export(data, out)
    facts = {"file": str(out), "sizes": {str(k): v for k, v in data.sizes.items()}}
    typer.echo(json.dumps(facts) if as_json else f"wrote {out}")


def schema_command(
    file: Annotated[
        Path | None, typer.Argument(help="Where to write it; the terminal by default.")
    ] = None,
) -> None:
    """Write the JSON schema of study files, for editors and other programs."""
    text = schema_text()
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError("file", str(file), f"a file to write to ({error.strerror})") from None
