"""Whose turn it is: work for a setting that the slider has left is given up.

Every page numbers its settings, by panel. All work for a setting (picture, count, exact answer)
carries its number; a higher one of the same panel ends the work for the lower ones. Counting a
million runs also waits while any picture is being made, so that a slider never waits for a count.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from committal.errors import CommittalError

#: Panels that are remembered, of all pages together.
_REMEMBERED = 256


class SupersededError(CommittalError):
    """A newer setting of the same panel has arrived.

    Examples
    --------
    >>> issubclass(SupersededError, CommittalError)
    True
    """

    def __str__(self) -> str:
        return "a newer setting of this panel has arrived"


class Turn:
    """The right to work for one setting of one panel."""

    def __init__(
        self, turns: Turns, panel: tuple[str, str], number: int, gone: Callable[[], bool]
    ) -> None:
        self._turns = turns
        self._panel = panel
        self._number = number
        self._gone = gone

    def check(self) -> None:
        """Raise `SupersededError` if a newer setting has arrived, or if nobody listens."""
        if self._turns.latest(self._panel) != self._number or self._gone():
            raise SupersededError


class Turns:
    """The latest setting of every panel.

    Examples
    --------
    >>> turns = Turns()
    >>> first = turns.begin("page", "a", 1)
    >>> first.check()
    >>> second = turns.begin("page", "a", 2)
    >>> first.check()
    Traceback (most recent call last):
        ...
    committal.explore.turns.SupersededError: a newer setting of this panel has arrived
    """

    def __init__(self) -> None:
        self._latest: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._changed = threading.Condition()
        self._pictures = 0

    def begin(
        self, page: str, panel: str, number: int, gone: Callable[[], bool] = lambda: False
    ) -> Turn:
        """Take a turn; `SupersededError` if it came too late."""
        key = (page, panel)
        with self._changed:
            if number < self._latest.get(key, -1):
                raise SupersededError
            self._latest[key] = number
            self._latest.move_to_end(key)
            while len(self._latest) > _REMEMBERED:
                self._latest.popitem(last=False)
        return Turn(self, key, number, gone)

    def latest(self, panel: tuple[str, str]) -> int | None:
        """Return the number of the latest setting of a panel; None if it is forgotten."""
        with self._changed:
            return self._latest.get(panel)

    @contextmanager
    def picture(self) -> Iterator[None]:
        """Make counts wait."""
        with self._changed:
            self._pictures += 1
        try:
            yield
        finally:
            with self._changed:
                self._pictures -= 1
                self._changed.notify_all()

    def wait_for_pictures(self) -> None:
        """Wait while pictures are being made, for a second at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._pictures == 0, timeout=1.0)
