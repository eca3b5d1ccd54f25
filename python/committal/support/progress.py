"""Progress: how far, how fast, how long.

On a terminal it is a bar on the standard error stream, erased at the end, so that nothing is left
between results. In a notebook it is one line of the output that is written over, and that quick
jobs do not show at all. Elsewhere it is nothing, so that logs and pipes stay clean, or, of what
takes long, a line every so often: to Python's `logging` if somebody listens there, else to the
stream.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from committal.support import notebook

#: Where lines of progress go if somebody listens: ``logging.getLogger("committal")``.
LOG = logging.getLogger("committal.progress")

#: How often a long job says how far it is where there is no terminal.
LINE_SECONDS = 30.0

_REDRAW_SECONDS = 0.1
# A notebook is a message per line away, and keeps a place for what was shown and erased.
_NOTEBOOK_SECONDS = 0.25
_QUICK_SECONDS = 0.5
_BAR_CELLS = 24
_BLOCKS = " ▏▎▍▌▋▊▉█"


class Bar:
    """A one-line progress bar, called with what is done and what there is to do.

    Parameters
    ----------
    label : str
        Printed in front of the bar.
    unit : str
        What is counted, for the rate.
    stream : text stream, optional
        Where to draw; by default the output of a notebook, or else the standard error stream.
    every : float, optional
        Where the stream is no terminal, seconds from line to line; None for no lines.
    clock : callable
        Seconds, monotonic.

    Examples
    --------
    It is silent where nobody watches, unless it is asked for lines:

    >>> import io
    >>> stream = io.StringIO()
    >>> with Bar("b*", stream=stream) as bar:
    ...     bar(50, 100)
    >>> stream.getvalue()
    ''
    >>> seconds = iter([0.0, 1.5]).__next__
    >>> with Bar("study", stream=stream, every=1.0, clock=seconds) as bar:
    ...     bar(0, 100)
    ...     bar(50, 100)
    >>> stream.getvalue()
    'study  50 %  33 updates/s  0:02 left\\n'
    """

    def __init__(
        self,
        label: str = "",
        *,
        unit: str = "updates",
        stream: TextIO | None = None,
        every: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start: float | None = None
        self._drawn_at: float | None = None
        in_notebook = stream is None and notebook.shell() is not None
        self._notebook = notebook.Line() if in_notebook else None
        self._visible = self._notebook is not None or self._stream.isatty()
        self._every = every
        self._line_at: float | None = None

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` are finished."""
        if not self._visible:
            if self._every is not None:
                self._note(done, total)
            return
        now = self._clock()
        if self._start is None:
            self._start = now  # several bars may be made long before they are used
        if self._notebook is not None:
            wait = _QUICK_SECONDS if self._drawn_at is None else _NOTEBOOK_SECONDS
            if now - (self._drawn_at or self._start) >= wait:
                self._drawn_at = now
                text = words(done, total, now - self._start, self._label, self._unit)
                self._notebook.show(text, share(done, total))
            return
        if self._drawn_at is not None and now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._drawn_at = now
        line = render(done, total, now - self._start, self._label, self._unit)
        try:
            line.encode(self._stream.encoding or "ascii")
        except UnicodeEncodeError:
            line = line.translate(_ASCII)
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r\x1b[2K" + line[:width])
        self._stream.flush()

    def _note(self, done: int, total: int) -> None:
        """Write a line if it is time for one."""
        now = self._clock()
        if self._start is None or self._line_at is None or self._every is None:
            self._start = self._line_at = now
            return
        if now - self._line_at < self._every:
            return
        self._line_at = now
        line = words(done, total, now - self._start, self._label, self._unit)
        if LOG.hasHandlers() and LOG.isEnabledFor(logging.INFO):
            LOG.info("%s", line)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Erase the line."""
        if self._notebook is not None:
            self._notebook.erase()
        elif self._drawn_at is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._drawn_at = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_ASCII = str.maketrans({"▕": "|", "▏": "|", "█": "#", **dict.fromkeys("▎▍▌▋▊▉", "-")})


def render(done: int, total: int, seconds: float, label: str, unit: str) -> str:
    """Make the line that a :class:`Bar` draws.

    Examples
    --------
    >>> render(3_000_000, 12_000_000, 1.5, "b*", "updates")
    'b* ▕██████                  ▏  25 %  2.0 M updates/s  0:04 left'
    """
    fraction = share(done, total)
    eighths = round(fraction * _BAR_CELLS * 8)
    bar = "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")
    name = f"{label} " if label else ""
    return f"{name}▕{bar:<{_BAR_CELLS}}▏ {words(done, total, seconds, '', unit)}"


def share(done: int, total: int) -> float:
    """Return how much is done, in [0, 1].

    Examples
    --------
    >>> share(1, 4), share(0, 0)
    (0.25, 1.0)
    """
    return min(max(done / total, 0.0), 1.0) if total > 0 else 1.0


def words(done: int, total: int, seconds: float, label: str, unit: str) -> str:
    """Make a line of progress without a bar.

    Examples
    --------
    >>> words(3_000_000, 12_000_000, 1.5, "b*", "updates")
    'b*  25 %  2.0 M updates/s  0:04 left'
    """
    fraction = share(done, total)
    parts = [f"{fraction:4.0%}".replace("%", " %")]
    if done > 0 and seconds > 0:
        parts.append(f"{_si(done / seconds)}{unit}/s")
        parts.append(f"{_clock_time(seconds * (total - done) / done)} left")
    return (f"{label} " if label else "") + "  ".join(parts)


def _si(x: float) -> str:
    for factor, prefix in ((1e9, "G "), (1e6, "M "), (1e3, "k ")):
        if x >= factor:
            return f"{x / factor:.1f} {prefix}"
    return f"{x:.0f} "


def _clock_time(seconds: float) -> str:
    minutes, seconds = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
