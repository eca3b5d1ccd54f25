"""The command line: every group of commands has a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from committal._version import __version__
from committal.cli import bench, demo, explore, failures, info, paper, results, studies
from committal.cli.interrupts import patient_interrupts

app = typer.Typer(
    help="A microscope for policy-gradient dynamics.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (studies, results, info, bench, demo, explore, paper):
    group.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"committal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """A microscope for policy-gradient dynamics."""


def main() -> None:
    """Run the command line."""
    with patient_interrupts():
        failures.run(app)
