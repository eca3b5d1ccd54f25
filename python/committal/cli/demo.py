"""``committal demo``: baselines of equal variance that do not learn alike, in a table.

The variances that are equal are those of the vanilla gradient estimate, the one that b* minimises.
The runs follow the natural gradient, whose estimates with b* - 1/2 and b* + 1/2 have different
ones: the words say so, and the table has both.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from committal.cli import equal_variance
from committal.cli.options import AsJson, Seed, Threads, print_json
from committal.support.progress import Bar
from committal.support.provenance import versions


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("demo")(demo_command)


def demo_command(
    out: Annotated[Path, typer.Option(help="Directory for the pictures; made if missing.")],
    runs: Annotated[int, typer.Option(min=1, help="Runs per baseline.")] = 100_000,
    rng: Seed = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Compare baselines of equal (vanilla) gradient variance that do not learn alike."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make {out}: {error.strerror}"
        raise typer.BadParameter(message, param_hint="--out") from None
    found = []
    if not as_json:
        typer.echo(_title(runs))
        typer.echo(_HEADER)
    width = max(len(setting.label) for setting in equal_variance.SETTINGS)
    with ExitStack() as stack:
        bars = {
            setting.label: stack.enter_context(Bar(f"{setting.label:<{width}}"))
            for setting in equal_variance.SETTINGS
        }
        for outcome in equal_variance.outcomes(
            runs=runs, rng=rng, threads=threads, progress=dict(bars)
        ):
            bars[outcome.setting.label].close()
            found.append(outcome)
            if not as_json:
                typer.echo(_row(outcome))
    pictures = _draw(found, out)
    if as_json:
        print_json(_as_data(found, pictures, runs, rng))
    else:
        typer.echo("")
        for picture in pictures:
            typer.echo(f"wrote {picture}")


_HEADER = (
    f"{'baseline':<9} {'updates':>7} {'vanilla':>9} {'natural':>9}   {'below, 95 % interval':<40}"
    f" {'value':>18} {'seconds':>8} {'updates/s':>10}"
)


_HEADLINE = (
    r"natural gradient; $b^* \pm 1/2$ have equal variance of the vanilla estimate, not of the "
    "natural one"
)


def _title(runs: int) -> str:
    return (
        "Natural policy gradient on the bandit (1, 0.7, 0) from theta0 = (0, 3, 5), "
        f"step size 0.025, {runs} runs.\n"
        "vanilla, natural: variance of the gradient estimate at the start. b* minimises that of "
        "the vanilla one,\nso b* - 1/2 and b* + 1/2 have it alike; the natural one, which these "
        "runs follow, has not.\nbelow: final value below "
        f"{equal_variance.BELOW}; such a run is stuck on another arm, or has not finished.\n"
    )


def _row(outcome: equal_variance.Outcome) -> str:
    value = f"{outcome.value:.5f} ± {outcome.value_sem:.5f}"
    return (
        f"{outcome.setting.label:<9} {outcome.setting.steps:>7} {outcome.variance:>9.5f} "
        f"{outcome.natural_variance:>9.2f}   "
        f"{outcome.rate!s:<40} {value:>18} {outcome.seconds:>8.2f} "
        f"{outcome.updates_per_second / 1e6:>8.0f} M"
    )


def _as_data(
    found: list[equal_variance.Outcome], pictures: list[Path], runs: int, rng: int
) -> dict[str, object]:
    return {
        "committal": versions()["committal_version"],
        "runs": runs,
        "rng": rng,
        "below": equal_variance.BELOW,
        "settings": [
            {
                "baseline": outcome.setting.label,
                "steps": outcome.setting.steps,
                "start_variance": outcome.variance,
                "start_variance_natural": outcome.natural_variance,
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


def _draw(found: list[equal_variance.Outcome], out: Path) -> list[Path]:
    from committal import plot  # matplotlib takes a while, and `info` does not need it
    from committal.plot import sheet

    figure, axes = plot.panels(len(found), "simplex")
    figure.set_size_inches(10.4, 3.1)  # room for the headline and the key
    power = 1 / 3  # of time: most of the way is made early
    for outcome, ax in zip(found, axes, strict=True):
        plot.simplex(
            outcome.curves,
            ax,
            true_gradient=equal_variance.true_gradient(outcome.setting),
            max_runs=equal_variance.SIMPLEX_RUNS,
            power=power,
        )
        ax.set_title(outcome.setting.latex)
    figure.suptitle(_HEADLINE, fontsize="small")
    sheet.time_bar(figure, axes, power)
    sheet.key(figure, *axes)
    simplex = out / "simplex.png"
    sheet.save_as(figure, simplex)

    figure, axes = plot.panels(len(found), "curves")
    figure.set_size_inches(10.4, 2.9)
    for outcome, ax in zip(found, axes, strict=True):
        plot.learning_curves(outcome.curves, equal_variance.BELOW, ax, legend=False)
        words = f"{_percent(outcome)} below {equal_variance.BELOW:g}"
        ax.set_title(f"{outcome.setting.latex}: {words}", fontsize="medium")
        ax.label_outer()
    figure.suptitle(_HEADLINE, fontsize="small")
    sheet.key(figure, *axes)
    curves = out / "learning_curves.png"
    sheet.save_as(figure, curves)
    return [simplex, curves]


def _percent(outcome: equal_variance.Outcome) -> str:
    # The rate of all runs, not only of those drawn; its interval stands in the table.
    return str(outcome.rate).partition(" %")[0] + " %"
