"""Ctrl-C: the first one stops, those right after it wait for that, a later one ends at once.

Imports nothing that takes time: it is in force before anything else is loaded.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: What a shell sees of a command that was interrupted: what is finished is kept.
INTERRUPTED = 130
#: Stopping takes a quarter second, and as long as a disk takes to write what is finished.
_PATIENCE_SECONDS = 3.0


class Interrupts:
    """What happens at each interrupt.

    Examples
    --------
    >>> interrupts = Interrupts()
    >>> try:
    ...     interrupts(2, None)
    ... except KeyboardInterrupt:
    ...     interrupts(2, None)  # it is stopping already
    """

    def __init__(self) -> None:
        self.first: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take note of an interrupt."""
        if self.first is None:
            self.first = time.monotonic()
            raise KeyboardInterrupt
        if time.monotonic() - self.first > _PATIENCE_SECONDS:
            # A store is whole at every moment, so that nothing is lost but what is in flight.
            os.write(2, b"committal: interrupted again; finished chunks are kept\n")
            os._exit(INTERRUPTED)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"committal: interrupted\n")
    os._exit(INTERRUPTED)


@contextmanager
def interrupted_while_loading() -> Iterator[None]:
    """End at the first interrupt: nothing has begun, and some imports swallow the exception."""
    if not _ours_to_handle():
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _ours_to_handle() -> bool:
    """Say whether nobody else looks after interrupts."""
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def patient_interrupts() -> Iterator[None]:
    """Handle interrupts like this; after one has come, until the process ends."""
    if not _ours_to_handle():
        yield
        return
    interrupts = Interrupts()
    signal.signal(signal.SIGINT, interrupts)
    try:
        yield
    finally:
        # Python gives its own handler back when it ends, and the next interrupt would kill it.
        after = signal.default_int_handler if interrupts.first is None else signal.SIG_IGN
        signal.signal(signal.SIGINT, after)
