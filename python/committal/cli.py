"""The command line: ``committal info``, ``committal demo``, and the commands about studies."""

from __future__ import annotations

import json
import platform
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from committal import _core, commands, demo
from committal._version import __version__
from committal.errors import CommittalError, ExecutorError, StoreError
from committal.progress import Bar
from committal.system import available_threads

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
