"""What is kept of a figure once it is made: enough to write the report without computing."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from committal.errors import StoreWarning
from committal.paper.figure import Table
from committal.paper.output import write
from committal.paper.verdicts import Finding
from committal.support import limits
from committal.support.files import read_whole
from committal.support.notation import NotationError, sealed, unsealed

__all__ = ["Entry"]

DIRECTORY = "entries"


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure, or the claims, as it was made.

    Attributes
    ----------
    name, title, says, settled, settings, source, own
        Of the figure, see :class:`~committal.paper.figure.PaperFigure`.
    findings : tuple of Finding
        What was measured.
    tables : tuple of Table
        Numbers beside the pictures.
    pictures : tuple of pairs of str
        Name and caption of each picture; its files are beside the entries.
    seconds, drawing : float
        How long computing and drawing took.
    entropy : str
        The seed.
    stamp : str
        Of everything that it depends on.
    stored : bool
        Whether it was found ready, and not made now.
    """

    name: str
    title: str
    says: str
    settled: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...]
    pictures: tuple[tuple[str, str], ...]
    seconds: float
    drawing: float
    entropy: str
    stamp: str
    source: str = ""
    own: str = ""
    stored: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = asdict(self)
        del plain["stored"]
        plain["findings"] = [finding.to_dict() for finding in self.findings]
        plain["tables"] = [table.to_dict() for table in self.tables]
        return plain

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Entry:
        """Build an entry from `to_dict`'s output."""
        made = cls(
            **{
                **data,
                "settled": tuple(data["settled"]),
                "settings": tuple(map(tuple, data["settings"])),
                "findings": tuple(map(Finding.from_dict, data["findings"])),
                "tables": tuple(map(Table.from_dict, data["tables"])),
                "pictures": tuple(map(tuple, data["pictures"])),
                "stored": True,
            }
        )
        _require_shapes(made)
        return made

    def write(self, out: Path) -> None:
        """Keep it."""
        write(_file(out, self.name), sealed(self.to_dict()))


def read(out: Path, name: str) -> Entry | None:
    """Return a kept entry; None if there is none, or if some of its pictures are gone.

    Warns
    -----
    StoreWarning
        If it is not what was written: it is left out then, and can be made again.
    """
    file = _file(out, name)
    try:
        entry = Entry.from_dict(unsealed(read_whole(file, most=limits.TEXT)))
        if entry.name != name:
            raise NotationError(f"it is the entry of {entry.name!r}")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        told = isinstance(error, NotationError | OSError)
        why = getattr(error, "strerror", None) or (str(error) if told else "it makes no sense")
        warnings.warn(
            f"{file}: {why} (it is left out; making the figure again replaces it)",
            StoreWarning,
            stacklevel=2,
        )
        return None
    files = [out / f"{picture}.{kind}" for picture, _ in entry.pictures for kind in ("png", "pdf")]
    return entry if all(file.is_file() for file in files) else None


def _require_shapes(entry: Entry) -> None:
    """Refuse what the report could not print: every text is one, and pairs are pairs."""
    texts = [entry.title, entry.says, entry.entropy, entry.stamp, entry.source, entry.own]
    for pair in (*entry.settings, *entry.pictures):
        first, second = pair
        texts += [first, second]
    for finding in entry.findings:
        texts += [finding.what, finding.paper, finding.measured, finding.rule]
    for table in entry.tables:
        texts += [table.title, *table.header]
        for row in table.rows:
            if len(row) != len(table.header):
                raise TypeError("a row of another length")
            texts += row
    if not all(isinstance(text, str) for text in (*texts, *entry.settled)):
        raise TypeError("no text")
    if not all(isinstance(number, float | int) for number in (entry.seconds, entry.drawing)):
        raise TypeError("no number")


def _file(out: Path, name: str) -> Path:
    return out / DIRECTORY / f"{name}.json"
