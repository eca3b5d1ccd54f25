"""The commands that make studies: run, resume, extend, and the schema of their files."""

from __future__ import annotations

import sys
import time
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from committal.cli.info import summary
from committal.cli.interrupts import INTERRUPTED
from committal.cli.options import (
    AsJson,
    StoreArgument,
    print_json,
    warnings_as_lines,
)
from committal.config.precision import Precision
from committal.errors import ConfigError, StoreError
from committal.study.executors import dask_executor
from committal.study.file import read_study
from committal.study.opening import stored_study, stored_until
from committal.study.schema import schema_text
from committal.study.store.store import Store
from committal.study.study import Study
from committal.support.files import write_whole

TaskThreads = Annotated[
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


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("run")(run_command)
    app.command("resume")(resume_command)
    app.command("extend")(extend_command)
    app.command("schema")(schema_command)


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
    threads: TaskThreads = None,
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
    threads: TaskThreads = None,
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


def extend_command(
    store: StoreArgument,
    file: Annotated[Path, typer.Argument(help="The larger study.", metavar="STUDY.TOML")],
    out: Annotated[Path, typer.Option(help="Directory for the results of the larger study.")],
    threads: TaskThreads = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run a study file, taking over what another directory holds of it.

    \b
      committal extend results/ larger.toml --out larger/

    The larger study may have more values of an axis, more axes or more runs. What has the same
    experiment, the same seed and the same runs is copied and not computed again; the result is
    the same to the last bit. The old directory is only read: a directory is of one study, and every
    chunk says of which, so that one killed halfway through would be of neither. Remove it when the
    new one is finished; for more runs of the same study, 'run' grows a directory in place. The
    exit codes are those of 'run'.
    """
    study, until = read_study(file)
    _run(study, until, out, threads, scheduler, quiet, as_json, reuse=store)


def _run(
    study: Study,
    until: Precision | None,
    out: Path,
    threads: int | None,
    scheduler: str | None,
    quiet: bool,
    as_json: bool,
    *,
    reuse: Path | None = None,
) -> None:
    if not (quiet or as_json):
        typer.echo(str(study) + "\n")
    before = _chunk_count(out)
    start = time.perf_counter()
    with warnings_as_lines(), ExitStack() as stack:
        executor: Executor | None = None
        if scheduler is not None:
            executor = stack.enter_context(dask_executor(scheduler))
        try:
            progress = not (quiet or as_json)
            data = study.run(out, executor, threads, progress, until, reuse=reuse)
        except KeyboardInterrupt:
            sys.stderr.write(
                f"committal: interrupted; {_chunk_count(out)} finished chunks are kept: "
                f"committal resume {out}\n"
            )
            raise typer.Exit(INTERRUPTED) from None
    seconds = time.perf_counter() - start
    found = summary(study, data, out)
    found |= {"seconds": seconds, "new_chunks": _chunk_count(out) - before}
    if as_json:
        print_json(found)
        return
    typer.echo(
        f"{out}: {found['configurations']} configurations, {found['total_runs']} runs, "
        f"{found['new_chunks']} new chunks in {seconds:.1f} s"
    )
    if "stopped_early" in found:
        typer.echo(
            f"{found['stopped_early']} of {found['configurations']} configurations stopped "
            f"early, {found['not_precise']} are not precise enough"
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
    print_json(facts)


def _chunk_count(store: Path) -> int:
    try:
        return len(Store.open(store).inventory().chunks)
    except StoreError:
        return 0


def schema_command(
    file: Annotated[
        Path | None, typer.Argument(help="Where to write it; the terminal by default.")
    ] = None,
) -> None:
    """Print the JSON schema of study files.

    Editors complete and check study files with it.
    """
    text = schema_text()
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        write_whole(file, text.encode("utf-8"))
    except OSError as error:
        raise ConfigError("file", str(file), f"a file to write to ({error.strerror})") from None
