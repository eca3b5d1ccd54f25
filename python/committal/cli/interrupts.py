"""Ctrl-C: the first one stops, those right after it wait for that, a later one ends at once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from committal.cli.options import INTERRUPTED

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


@contextmanager
def patient_interrupts() -> Iterator[None]:
    """Handle interrupts like this; after one has come, until the process ends."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # somebody else looks after them
        return
    interrupts = Interrupts()
    signal.signal(signal.SIGINT, interrupts)
    try:
        yield
    finally:
        # Python gives its own handler back when it ends, and the next interrupt would kill it.
        after = signal.default_int_handler if interrupts.first is None else signal.SIG_IGN
        signal.signal(signal.SIGINT, after)
