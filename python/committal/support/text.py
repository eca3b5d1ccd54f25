"""Numbers and tables as text: sizes, durations, counts, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def size(count: float) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> size(0), size(13_696), size(2e12)
    ('0 B', '13.7 kB', '2 TB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def duration(seconds: float) -> str:
    """Write a time that something takes.

    Examples
    --------
    >>> duration(0.25), duration(600), duration(9000)
    ('0.2 s', '10 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{seconds / 3600:.1f} h"


def grouped(count: int) -> str:
    """Write a whole number with a space every three digits.

    Examples
    --------
    >>> grouped(1234567)
    '1 234 567'
    """
    return f"{count:,}".replace(",", " ")


def many(count: int, noun: str) -> str:
    """Write a count and its noun.

    Examples
    --------
    >>> many(1, "run"), many(2000, "run")
    ('1 run', '2 000 runs')
    """
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def columns(rows: Sequence[Sequence[str]], *, align: str = ">", indent: str = "  ") -> list[str]:
    """Write rows in columns as wide as their widest cell.

    Parameters
    ----------
    rows : sequence of sequences of str
        All of one length.
    align : str, optional
        One of ``<`` and ``>`` per column, the last one for the rest.
    indent : str, optional
        In front of every line.

    Examples
    --------
    >>> print("\\n".join(columns([["#", "steps"], ["0", "50 000"]])))
      #   steps
      0  50 000
    """
    if not rows:
        return []
    sides = align + align[-1] * (len(rows[0]) - len(align))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent
        + "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def facts(pairs: Mapping[str, object], *, indent: str = "") -> list[str]:
    """Write names and what they stand for, one to a line.

    Examples
    --------
    >>> print("\\n".join(facts({"isa": "avx2", "threads": 2})))
    isa      avx2
    threads  2
    """
    rows = [
        (name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in pairs.items()
    ]
    return columns(rows, align="<", indent=indent)
