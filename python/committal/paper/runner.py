"""From names to pictures, findings and the report.

What a figure shows depends on the code, on what was asked for and on nothing else. All of that goes
into its stamp; a figure that is there with the same stamp is not made again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from committal.errors import ConfigError
from committal.paper import entry as entries
from committal.paper import registry
from committal.paper.entry import Entry
from committal.paper.fingerprint import fingerprint
from committal.paper.lab import Lab, Watch
from committal.paper.output import writing
from committal.paper.report import COMMAND, write_report
from committal.paper.summary import write_claims
from committal.plot import sheet
from committal.simulation.streams import RNGLike
from committal.support.provenance import key_text, versions

__all__ = ["reproduce"]

DATA = "data"


def reproduce(
    figures: Sequence[str] = (),
    *,
    out: str | Path,
    rng: RNGLike = 0,
    runs: int | None = None,
    scale: float = 1.0,
    precise: bool = True,
    threads: int | None = None,
    again: bool = False,
    watch: Watch | None = None,
) -> Iterator[Entry]:
    """Make figures of the paper, and results after it, one by one; and then the report.

    Parameters
    ----------
    figures : sequence of str, optional
        Names such as ``"fig1"``, ``"figA3"``, ``"claims"`` and ``"A8"``, and those of groups:
        ``"paper"`` is all of the paper, ``"after"`` all of what came after it. The paper by
        default.
    out : path
        Directory for pictures, data and the report; made if missing.
    rng : int and others, optional
        The seed of everything.
    runs : int, optional
        Runs per setting at high precision, instead of each figure's own number. Pictures of
        single runs show as many as the paper's, or fewer if this is fewer.
    scale : float, optional
        Multiply each figure's own number instead.
    precise : bool, optional
        False leaves high precision out: everything is measured on the paper's sample sizes, and
        many claims remain undecided.
    threads : int, optional
        Worker threads; all cores by default.
    again : bool, optional
        Judge and draw even what is there; results of runs are used again in any case.
    watch : callable, optional
        Told about progress.

    Yields
    ------
    Entry
        Each figure as soon as it is made. The report and the table of claims are written when
        all are.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     (entry,) = reproduce(["figA9"], out=directory, runs=5)
    ...     sorted(path.name for path in Path(directory).glob("figA9.*"))
    ['figA9.pdf', 'figA9.png']
    """
    names = registry.names(*figures)
    directory = _made(Path(out))
    lab = Lab(
        directory / DATA,
        rng=rng,
        runs=runs,
        scale=scale,
        precise=precise,
        threads=threads,
        watch=watch,
    )
    for name in names:
        yield _make(name, directory, lab, again)
    finish(directory)


def finish(out: Path) -> None:
    """Write the report, and the table of claims, of everything that is there."""
    found = [
        entry for name in registry.names(*registry.GROUPS) if (entry := entries.read(out, name))
    ]
    write_report(out, found)
    write_claims(out, found)


def _make(name: str, out: Path, lab: Lab, again: bool) -> Entry:
    stamp = _stamp(name, lab)
    kept = entries.read(out, name)
    if kept is not None and kept.stamp == stamp and not again:
        return kept
    figure = registry.figure(name)
    lab.take_seconds()
    start = time.perf_counter()
    data = figure.compute(lab)
    # Results that were there took their time when they were made.
    seconds = max(lab.take_seconds(), time.perf_counter() - start)
    start = time.perf_counter()
    pictures = figure.pictures(data)
    for picture in pictures:
        file = out / picture.name
        with sheet.style():
            drawn = picture.draw()
            with writing(file):
                sheet.save(drawn, file)
    made = Entry(
        name=name,
        title=figure.title,
        says=figure.says,
        settled=figure.settled,
        source=figure.source,
        own=figure.own,
        settings=(*figure.settings, (COMMAND, command(name, lab))),
        findings=tuple(figure.judge(data)),
        tables=tuple(figure.tables(data)),
        pictures=tuple((picture.name, picture.caption) for picture in pictures),
        seconds=round(seconds, 2),
        drawing=round(time.perf_counter() - start, 2),
        entropy=lab.entropy,
        stamp=stamp,
    )
    made.write(out)
    return made


def command(name: str, lab: Lab) -> str:
    """Return the command that makes a figure again, the same one.

    Examples
    --------
    >>> command("fig1", Lab(Path(), rng=7, precise=False))
    'committal reproduce fig1 --quick --rng 7'
    """
    options = [
        "" if lab.runs is None else f"--runs {lab.runs}",
        "" if lab.scale == 1.0 else f"--scale {lab.scale:g}",
        "" if lab.precise else "--quick",
        f"--rng {lab.entropy}" if lab.entropy.isdigit() else "(with the generator that was given)",
    ]
    return " ".join(["committal reproduce", name, *filter(None, options)])


def _made(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError("out", str(out), f"a directory to write to ({error.strerror})") from None
    return out


def _stamp(name: str, lab: Lab) -> str:
    facts = {
        "name": name,
        "key": key_text(lab.key),
        "runs": lab.runs,
        "scale": lab.scale,
        "precise": lab.precise,
        "code": fingerprint("entries"),
        **versions(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
