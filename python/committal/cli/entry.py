"""The door of the command line: light, so that Ctrl-C is answered while all the rest is loaded."""

from __future__ import annotations

from committal.cli.interrupts import interrupted_while_loading

__all__ = ["main"]


def main() -> None:
    """Load the commands and run the one that was asked for."""
    with interrupted_while_loading():
        from committal.cli.app import main as run
    run()
