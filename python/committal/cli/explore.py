"""``committal explore``: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from committal.cli.options import Seed
from committal.config import Experiment
from committal.errors import ConfigError
from committal.explore import Page, explore, serve


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("explore")(explore_command)


def explore_command(
    what: Annotated[
        str | None,
        typer.Argument(help="A study file, or a link that the page gave.", metavar="[FILE|LINK]"),
    ] = None,
    rng: Seed = 0,
    below: Annotated[
        float | None, typer.Option(help="A run fails if its value ends below this.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Open a page on which experiments can be changed while they run.

    The page is served on this machine only, to who has its address, until Ctrl-C. Of a study file
    the experiment is shown, without its grid.

    \b
      committal explore
      committal explore examples/two_arms.toml --below 0.5
      committal explore 'http://127.0.0.1:40000/...#a=...'
    """
    page = _opened(what, rng=rng, below=below, port=port, show=browser)
    typer.echo(page.address)
    typer.echo("Ctrl-C ends it.", err=True)
    page.wait()


def _opened(what: str | None, *, rng: int, below: float | None, port: int, show: bool) -> Page:
    if what is None:
        return explore(rng=rng, below=below, port=port, show=show)
    if what.startswith(("http://127.0.0.1:", "http://localhost:")):
        from committal.explore.address import fragment_in

        return serve(fragment_in(what), port=port, show=show)
    file = Path(what)
    if not file.is_file():
        raise ConfigError("FILE", what, "a study file that exists, or a link that the page gave")
    return explore(_experiment_in(file), rng=rng, below=below, port=port, show=show)


def _experiment_in(file: Path) -> Experiment:
    from committal.study.file import read_study

    return read_study(file).study.grid.experiments[0]
