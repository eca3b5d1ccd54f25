"""The command line.

``committal info``, ``committal demo``, ``committal reproduce``, and the commands about studies.
"""

from __future__ import annotations

import json
import platform
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from committal import _core
from committal._version import __version__
from committal.cli import commands, demo
from committal.errors import CommittalError, ExecutorError, StoreError
from committal.support.machine import available_threads
from committal.support.progress import Bar

app = typer.Typer(
    help="A microscope for policy-gradient dynamics.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


commands.register(app)


@app.command()
def info(
    store: Annotated[
        Path | None, typer.Argument(help="The directory of a study.", metavar="[STORE]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show versions, the compiler, the instruction set and the threads; or what a store holds.

    Every chunk of a store is verified; damaged ones are listed and can be computed again with
    'committal resume'.
    """
    facts = _about_the_package() if store is None else commands.describe_store(store)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, default=str))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        typer.echo(f"{name:<{width}}  {text}")


def _about_the_package() -> dict[str, object]:
    build = _core.build_info()
    return {
        "committal": __version__,
        "stream version": build["stream_version"],
        "python": platform.python_version(),
        "compiler": f"{build['compiler']}, C++{build['cxx_standard'] // 100 % 100}",
        "instruction set": build["isa"],
        "also available": [isa for isa in build["isas"] if isa != build["isa"]],
        "threads": available_threads(),
    }


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="Directory for the pictures; made if missing.")],
    runs: Annotated[int, typer.Option(min=1, help="Runs per baseline.")] = 100_000,
    rng: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Worker threads; all cores by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a committal and a non-committal baseline of equal variance."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make {out}: {error.strerror}"
        raise typer.BadParameter(message, param_hint="--out") from None
    found = []
    if not as_json:
        typer.echo(_title(runs))
        typer.echo(_HEADER)
    width = max(len(setting.label) for setting in demo.SETTINGS)
    with ExitStack() as stack:
        bars = {
            setting.label: stack.enter_context(Bar(f"{setting.label:<{width}}"))
            for setting in demo.SETTINGS
        }
        for outcome in demo.outcomes(runs=runs, rng=rng, threads=threads, progress=dict(bars)):
            bars[outcome.setting.label].close()
            found.append(outcome)
            if not as_json:
                typer.echo(_row(outcome))
    pictures = _draw(found, out)
    if as_json:
        typer.echo(json.dumps(_as_data(found, pictures, runs, rng), indent=2))
    else:
        typer.echo("")
        for picture in pictures:
            typer.echo(f"wrote {picture}")


@app.command("claims")
def claims_command(
    ids: Annotated[
        list[int] | None,
        typer.Argument(help="Numbers of claims; all by default.", metavar="[ID]..."),
    ] = None,
    rng: Annotated[int, typer.Option(min=0, help="Seed of the simulations.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Recompute the paper's claims about bandits, exactly where there is an exact answer.

    Exit codes: 0 all of them hold, 1 one does not.
    """
    from committal import theory  # scipy takes a while to import

    table = theory.claims(ids or None, rng=rng)
    if as_json:
        typer.echo(json.dumps([asdict(claim) for claim in table], indent=2))
    else:
        typer.echo(str(table))
    if not table.verdict:
        raise typer.Exit(1)


@app.command("reproduce")
def reproduce_command(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            help="What to make, such as fig1 figA3 claims; everything by default.",
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
    rng: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Only the paper's sample sizes: a minute, but few verdicts."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Judge and draw even what is up to date.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Worker threads; all cores by default.")
    ] = None,
    names_only: Annotated[bool, typer.Option("--list", help="Only list what can be made.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make every figure of the paper, check every claim, and write a report.

    \b
      committal reproduce
      committal reproduce --quick
      committal reproduce fig1 figA3 --runs 1000 --rng 7 --out figures/

    Each figure is drawn from as many runs as the paper's and measured at high precision. Pictures
    are written as PNG and PDF, beside report.html and claims.md. Results are kept: what is there
    is not computed again.

    Exit codes: 0 all claims hold or are undecided, 1 a claim fails, 2 wrong arguments, 3 the
    directory cannot be used, 130 interrupted.
    """
    from committal import paper  # brings matplotlib, which takes a while

    if names_only:
        for name in paper.names():
            typer.echo(f"{name:<7} {paper.figure(name).title}")
        return
    made = []
    try:
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
        raise typer.Exit(commands.INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps([entry.to_dict() for entry in made], indent=2, ensure_ascii=False))
    else:
        typer.echo(f"\n{paper.table(made)}\n\n{paper.verdicts(made)}")
        typer.echo(f"wrote {out / paper.REPORT} and {out / paper.CLAIMS}")
    if paper.counts(made)[paper.Verdict.FAILS]:
        raise typer.Exit(1)


def main() -> None:
    """Run the command line; errors of ours are one line, not a traceback."""
    try:
        app()
    except CommittalError as error:
        sys.stderr.write(f"committal: {error}\n")
        sys.exit(
            3 if isinstance(error, StoreError) else 4 if isinstance(error, ExecutorError) else 2
        )


_HEADER = (
    f"{'baseline':<9} {'updates':>7} {'variance':>9}   {'failed, 95 % interval':<40}"
    f" {'value':>18} {'seconds':>8} {'updates/s':>10}"
)


def _title(runs: int) -> str:
    return (
        "Natural policy gradient on the bandit (1, 0.7, 0) from theta0 = (0, 3, 5), "
        f"step size 0.025, {runs} runs.\n"
        "variance: of the gradient estimate at the start. failed: final value below "
        f"{demo.BELOW}.\n"
    )


def _row(outcome: demo.Outcome) -> str:
    value = f"{outcome.value:.5f} ± {outcome.value_sem:.5f}"
    return (
        f"{outcome.setting.label:<9} {outcome.setting.steps:>7} {outcome.variance:>9.5f}   "
        f"{outcome.rate!s:<40} {value:>18} {outcome.seconds:>8.2f} "
        f"{outcome.updates_per_second / 1e6:>8.0f} M"
    )


def _as_data(
    found: list[demo.Outcome], pictures: list[Path], runs: int, rng: int
) -> dict[str, object]:
    return {
        "committal": __version__,
        "runs": runs,
        "rng": rng,
        "below": demo.BELOW,
        "settings": [
            {
                "baseline": outcome.setting.label,
                "steps": outcome.setting.steps,
                "start_variance": outcome.variance,
                "failures": outcome.rate.failures,
                "failure_rate": outcome.rate.estimate,
                "low": outcome.rate.low,
                "high": outcome.rate.high,
                "value": outcome.value,
                "value_sem": None if runs < 2 else outcome.value_sem,
                "seconds": outcome.seconds,
                "updates_per_second": outcome.updates_per_second,
            }
            for outcome in found
        ],
        "pictures": [str(picture) for picture in pictures],
    }


def _draw(found: list[demo.Outcome], out: Path) -> list[Path]:
    from committal import plot  # matplotlib takes a while, and `info` does not need it

    figure, axes = plot.panels(len(found), "simplex")
    for outcome, ax in zip(found, axes, strict=True):
        plot.simplex(
            outcome.curves,
            ax,
            true_gradient=demo.true_gradient(outcome.setting),
            max_runs=demo.SIMPLEX_RUNS,
        )
        ax.set_title(outcome.setting.latex)
    simplex = out / "simplex.png"
    figure.savefig(simplex, dpi=200)

    figure, axes = plot.panels(len(found), "curves")
    for outcome, ax in zip(found, axes, strict=True):
        plot.learning_curves(outcome.curves, demo.BELOW, ax)
        ax.set_title(f"{outcome.setting.latex}: {_percent(outcome)} failed", fontsize="medium")
        ax.label_outer()
    curves = out / "learning_curves.png"
    figure.savefig(curves, dpi=200)
    return [simplex, curves]


def _percent(outcome: demo.Outcome) -> str:
    # The rate of all runs, not only of those drawn; its interval stands in the table.
    return str(outcome.rate).partition(" %")[0] + " %"
