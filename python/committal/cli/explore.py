"""``committal explore``: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    rng: Annotated[
        int | None,
        typer.Option(min=0, max=2**32 - 1, help="Seed; that of the file, or 0, by default."),
    ] = None,
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


def _opened(
    what: str | None, *, rng: int | None, below: float | None, port: int, show: bool
) -> Page:
    if what is None:
        return explore(rng=rng or 0, below=below, port=port, show=show)
    if what.startswith(("http://127.0.0.1:", "http://localhost:")):
        from committal.explore.address import fragment_in

        for name, value in (("--rng", rng), ("--below", below)):
            if value is not None:
                raise ConfigError(name, value, "nothing with a link, which has its own")
        return serve(fragment_in(what), port=port, show=show)
    file = Path(what)
    if not file.is_file():
        raise ConfigError("FILE", what, "a study file that exists, or a link that the page gave")
    experiment, seed = _shown_of(file)
    seed = seed if rng is None else rng
    return explore(experiment, rng=seed, below=below, port=port, show=show)


def _shown_of(file: Path) -> tuple[Experiment, int]:
    """The first experiment of a study file, and its seed; 0 if the page cannot have that one."""
    from committal.study.file import read_study

    study = read_study(file).study
    entropy = study.stream.entropy
    fits = entropy.isdigit() and int(entropy) < 2**32
    return study.grid.experiments[0], int(entropy) if fits else 0
