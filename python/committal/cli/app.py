"""The command line: every group of commands has a file of its own."""

from __future__ import annotations

import sys

import typer

from committal.cli import demo, info, paper, results, studies
from committal.cli.interrupts import patient_interrupts
from committal.errors import CommittalError, ExecutorError, StoreError

app = typer.Typer(
    help="A microscope for policy-gradient dynamics.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (studies, results, info, demo, paper):
    group.register(app)


def main() -> None:
    """Run the command line; errors of ours are one line, not a traceback."""
    try:
        with patient_interrupts():
            app()
    except CommittalError as error:
        sys.stderr.write(f"committal: {error}\n")
        sys.exit(
            3 if isinstance(error, StoreError) else 4 if isinstance(error, ExecutorError) else 2
        )
