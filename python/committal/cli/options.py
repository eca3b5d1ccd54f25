"""What commands share: options, exit codes, and how they print."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from committal.errors import StoreWarning

#: What a shell sees of a store that does not hold what it should.
DAMAGED = 1

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Worker threads; all cores by default.")]
StoreArgument = Annotated[Path, typer.Argument(help="The directory of a study.", metavar="STORE")]


def print_json(content: Any, *, indent: int | None = 2) -> None:
    """Print what JSON can hold, and the text of the rest."""
    typer.echo(json.dumps(content, indent=indent, ensure_ascii=False, default=str))


@contextmanager
def warnings_as_lines() -> Iterator[None]:
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
