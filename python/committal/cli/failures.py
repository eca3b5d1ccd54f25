"""How a command fails: one line of text, or JSON if JSON was asked for, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from committal.cli.interrupts import INTERRUPTED
from committal.cli.options import print_json
from committal.errors import CommittalError, ExecutorError, StoreError, facts_of


def code_of(error: CommittalError) -> int:
    """Return the exit code of an error.

    Examples
    --------
    >>> code_of(StoreError("results", "it is read-only", "choose another"))
    3
    """
    return 3 if isinstance(error, StoreError) else 4 if isinstance(error, ExecutorError) else 2


def run(app: Callable[..., Any]) -> None:
    """Run the command line; errors of ours are one line, not a traceback."""
    as_json = "--json" in sys.argv[1:]
    try:
        if as_json:
            _run_for_programs(app)
        else:
            app()
    except CommittalError as error:
        sys.stderr.write(f"committal: {error}\n")
        code = code_of(error)
        if as_json:
            print_json({"error": facts_of(error), "exit_code": code})
        sys.exit(code)


def _run_for_programs(app: Callable[..., Any]) -> None:
    """Run a command that prints JSON: whatever goes wrong is JSON too."""
    try:
        code = app(standalone_mode=False)
    except CommittalError:
        raise
    except Exception as error:
        # Of wrong options; which package has the class depends on the version of typer.
        code = getattr(error, "exit_code", None)
        words = getattr(error, "format_message", None)
        if not isinstance(code, int) or words is None:
            raise
        sys.stderr.write(f"committal: {words()}\n")
        facts = {"type": "UsageError", "message": words()}
        print_json({"error": facts, "exit_code": code})
        sys.exit(code)
    if isinstance(code, int) and code != 0:
        if code == INTERRUPTED:
            facts = {"type": "KeyboardInterrupt", "message": "interrupted"}
            print_json({"error": facts, "exit_code": code})
        sys.exit(code)
