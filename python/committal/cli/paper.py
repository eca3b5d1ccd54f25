"""The commands about the paper: reproduce its figures, recompute its claims."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from committal.cli.interrupts import INTERRUPTED
from committal.cli.options import AsJson, Seed, Threads, print_json, warnings_as_lines
from committal.support.progress import Bar


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("reproduce")(reproduce_command)
    app.command("claims")(claims_command)


def reproduce_command(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to make, such as fig1 figA3 claims A8; 'paper' is all of the paper, "
            "'after' all of what came after it. The paper by default.",
            metavar="[FIGURE]...",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Directory for pictures, data and the report; made if missing.")
    ] = Path("paper"),
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs per setting, instead of each figure's own number."),
    ] = None,
    scale: Annotated[
        float, typer.Option(min=1e-6, help="Multiply each figure's own number of runs.")
    ] = 1.0,
    rng: Seed = 0,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Only the paper's sample sizes, and fewer runs of what came after it: a minute "
            "or two, but fewer verdicts.",
        ),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Judge and draw even what is up to date.")
    ] = False,
    threads: Threads = None,
    names_only: Annotated[bool, typer.Option("--list", help="Only list what can be made.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make the paper's figures, check its claims, write a report.

    \b
      committal reproduce                  the paper
      committal reproduce after            what came after it: A1 to A13
      committal reproduce paper after      both, in one report
      committal reproduce after --quick
      committal reproduce fig1 A8 --runs 1000 --rng 7 --out figures/

    Each figure is drawn from as many runs as the paper's and measured at high precision. Results
    after the paper are compared with an independent implementation. Pictures
    are written as PNG and PDF, beside report.html and claims.md. Results are kept: what is there
    is not computed again.

    Exit codes: 0 all claims hold or are undecided, 1 a claim fails, 2 wrong arguments, 3 the
    directory cannot be used, 130 interrupted.
    """
    from committal import paper  # brings matplotlib, which takes a while

    if names_only:
        for name in paper.names("paper", "after"):
            typer.echo(f"{name:<7} {paper.figure(name).title}")
        return
    made = []
    try:
        with warnings_as_lines():
            for entry in paper.reproduce(
                figures or (),
                out=out,
                rng=rng,
                runs=runs,
                scale=scale,
                precise=not quick,
                threads=threads,
                again=again,
                watch=None if as_json else Bar,
            ):
                made.append(entry)
                if not as_json:
                    seconds = "kept" if entry.stored else f"{entry.seconds + entry.drawing:.1f} s"
                    typer.echo(f"{entry.name:<7} {paper.verdicts([entry])} ({seconds})")
    except KeyboardInterrupt:
        sys.stderr.write("committal: interrupted; finished results are kept\n")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        print_json([entry.to_dict() for entry in made])
    else:
        typer.echo(f"\n{paper.table(made)}\n\n{paper.verdicts(made)}")
        typer.echo(f"wrote {out / paper.REPORT} and {out / paper.CLAIMS}")
    if paper.counts(made)[paper.Verdict.FAILS]:
        raise typer.Exit(1)


def claims_command(
    ids: Annotated[
        list[int] | None,
        typer.Argument(help="Numbers of claims; all by default.", metavar="[ID]..."),
    ] = None,
    rng: Annotated[int, typer.Option(min=0, help="Seed of the simulations.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Recompute the paper's claims about bandits.

    Exactly where there is an exact answer, by simulation elsewhere.

    Exit codes: 0 all of them hold, 1 one does not.
    """
    from committal import theory  # scipy takes a while to import

    table = theory.claims(ids or None, rng=rng)
    if as_json:
        print_json([asdict(claim) for claim in table])
    else:
        typer.echo(str(table))
    if not table.verdict:
        raise typer.Exit(1)
