"""Findings as text: for the terminal, and as a table in Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from committal.paper.entry import Entry
from committal.paper.output import write
from committal.paper.verdicts import Verdict

__all__ = ["CLAIMS", "counts", "table", "verdicts"]

CLAIMS = "claims.md"

_WIDTHS = {"figure": 7, "verdict": 9, "what": 52, "paper": 36, "measured": 46}


def counts(entries: Iterable[Entry]) -> Counter[Verdict]:
    """Count the verdicts.

    Examples
    --------
    >>> counts([])
    Counter()
    """
    return Counter(finding.verdict for entry in entries for finding in entry.findings)


def table(entries: Sequence[Entry]) -> str:
    """Return the findings as lines of text.

    Parameters
    ----------
    entries : sequence of Entry
        What was made.

    Returns
    -------
    str
        Figure, verdict, quantity, what the paper says, what was measured and, once per figure,
        the seconds that it took.
    """
    lines = [_line(*_WIDTHS, "seconds"), _line(*("-" * w for w in _WIDTHS.values()), "-------")]
    for entry in entries:
        seconds = f"{entry.seconds + entry.drawing:7.1f}"
        rows = entry.findings or ()
        if not rows:
            lines.append(_line(entry.name, "", entry.title, "", "", seconds))
        for i, finding in enumerate(rows):
            lines.append(
                _line(
                    entry.name if i == 0 else "",
                    finding.verdict,
                    finding.what,
                    finding.paper,
                    finding.measured,
                    seconds if i == 0 else "",
                )
            )
    return "\n".join(line.rstrip() for line in lines)


def verdicts(entries: Sequence[Entry]) -> str:
    """Say in one line how many findings agree with the paper.

    Examples
    --------
    >>> verdicts([])
    'no findings'
    """
    found = counts(entries)
    parts = [f"{found[verdict]} {_WORDS[verdict]}" for verdict in Verdict if found[verdict]]
    return f"{found.total()} findings: {', '.join(parts)}" if parts else "no findings"


def write_claims(out: Path, entries: Sequence[Entry]) -> Path:
    """Write all findings as a table in Markdown."""
    paper = [entry for entry in entries if not entry.source]
    after = [entry for entry in entries if entry.source]
    lines = ["# What the paper says, and what was measured", "", verdicts(entries) + "."]
    if paper or not after:
        lines += ["", *_rows("figure", "paper", paper)]
    if after:
        lines += ["", "## After the paper", "", *_rows("result", "claim", after)]
    file = out / CLAIMS
    write(file, ("\n".join(lines) + "\n").encode())
    return file


def _rows(name: str, said: str, entries: Sequence[Entry]) -> list[str]:
    """Return the lines of a table of findings."""
    lines = [
        f"| {name} | quantity | {said} | measured | verdict | decided by |",
        "|---|---|---|---|---|---|",
    ]
    for entry in entries:
        for finding in entry.findings:
            cells = (
                entry.name,
                finding.what,
                finding.paper,
                finding.measured,
                str(finding.verdict),
                finding.rule,
            )
            lines.append("| " + " | ".join(map(_literal, cells)) + " |")
    return lines


def _literal(cell: str) -> str:
    """Return a cell whose letters mean themselves in Markdown: b* is no emphasis, < no tag.

    Examples
    --------
    >>> print(_literal("V = b* - |x_1|, < 2"))
    V = b\\* - \\|x\\_1\\|, \\< 2
    """
    return _SPECIAL.sub(r"\\\1", " ".join(cell.split()))


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "fail",
    Verdict.UNDECIDED: "undecided",
    Verdict.DIFFERS: "differ as documented",
}


def _line(*cells: str) -> str:
    *fixed, last = cells
    shown = [
        _cut(cell, width).ljust(width) for cell, width in zip(fixed, _WIDTHS.values(), strict=True)
    ]
    return "  ".join([*shown, last])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
