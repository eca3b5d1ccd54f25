"""What every figure of the paper consists of: settings, compute, judge, draw.

A figure's module puts its settings on top, as data. What is computed from them is asked of a
:class:`~committal.paper.lab.Lab`, which keeps it; judging and drawing only look at what was
computed, so that restyling a picture computes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from committal.config import Experiment
from committal.paper.lab import Lab
from committal.paper.verdicts import Band, Finding
from committal.plot.sheet import Figure

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Case:
    """One panel, or one curve, of a figure.

    Attributes
    ----------
    label, latex : str
        Its name, for text and for pictures.
    experiment : Experiment
        What is run; figures decide themselves what to record.
    colour : str
        Where several cases share axes.
    expect : Band, optional
        How often the paper saw runs fail.
    reference : tuple of float and int, optional
        The rate of failures that an independent implementation found, and on how many runs.
    """

    label: str
    latex: str
    experiment: Experiment
    colour: str = "black"
    expect: Band | None = None
    reference: tuple[float, int] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers beside a figure.

    Attributes
    ----------
    title : str
        What is listed.
    header : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        The cells, as they are printed.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        Examples
        --------
        >>> table = Table("rates", ("b", "failed"), (("0", "1 %"),))
        >>> Table.from_dict(table.to_dict()) == table
        True
        """
        return {
            "title": self.title,
            "header": list(self.header),
            "rows": list(map(list, self.rows)),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Table:
        """Build a table from `to_dict`'s output."""
        return cls(data["title"], tuple(data["header"]), tuple(map(tuple, data["rows"])))


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that can be drawn from what was computed.

    Attributes
    ----------
    name : str
        Of its files, without the ending.
    caption : str
        What it shows, with the numbers.
    draw : callable
        Makes the figure.
    """

    name: str
    caption: str
    draw: Callable[[], Figure] = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure(ABC, Generic[D]):
    """A figure of the paper.

    Attributes
    ----------
    name : str
        Its name on the command line: fig1, figA3.
    title : str
        What it shows, in a few words.
    says : str
        What the paper says of it, in our words.
    settled : tuple of str
        What the paper leaves open, and how it was settled.
    source : str
        Who says it, if it is not the paper: authors, year and number.
    own : str
        What of it is ours and not known to be in a paper, and where it is derived.
    """

    name: str
    title: str
    says: str
    settled: tuple[str, ...] = ()
    source: str = ""
    own: str = ""

    @property
    @abstractmethod
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the settings, for the report."""

    @abstractmethod
    def compute(self, lab: Lab) -> D:
        """Ask for everything that is shown or judged."""

    @abstractmethod
    def judge(self, data: D) -> list[Finding]:
        """Compare what was computed with what the paper says."""

    @abstractmethod
    def pictures(self, data: D) -> list[Picture]:
        """Return the pictures, the paper's own first."""

    def tables(self, data: D) -> list[Table]:
        """Return the numbers beside the pictures."""
        del data
        return []
