"""Process pools one of whose processes is gone: they may wait for ever, and we do not.

A process that is killed while it sends a result leaves half a message behind. The pool's own thread
then reads on and on, and notices nothing: neither results nor errors come any more. Whether a
process is gone can be seen from outside.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from contextlib import suppress
from multiprocessing import connection
from typing import Any

#: How long a pool may be silent after one of its processes ended. It needs milliseconds to see it.
PATIENCE_SECONDS = 3.0


class PoolWatch:
    """Tells whether a pool will never answer again.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Anything; only those that have processes on this machine are watched.
    patience : float, optional
        Seconds of silence after a process ended.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as pool:
    ...     PoolWatch(pool).silent()
    []
    """

    def __init__(self, executor: Executor, *, patience: float = PATIENCE_SECONDS) -> None:
        self._executor = executor
        self._patience = patience
        self._since: float | None = None

    def heard(self) -> None:
        """Take note that an answer came."""
        self._since = None

    def silent(self) -> list[int]:
        """Return the processes that ended, if nothing was heard for a while since."""
        ended = _ended(self._executor)
        if not ended:
            self._since = None
            return []
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return ended if now - self._since >= self._patience else []

    def release(self) -> None:
        """End a silent pool, so that nobody who shuts it down waits for ever.

        What Python does itself with a pool that it knows to be broken: its processes are ended.
        Then nobody can send the rest of the message, and the pool's thread is told so.
        """
        for process in _processes(self._executor):
            with suppress(Exception):
                process.kill()
        with suppress(Exception):
            self._executor._result_queue._writer.close()  # type: ignore[attr-defined]


def _processes(executor: Executor) -> list[Any]:
    processes = getattr(executor, "_processes", None)
    return list(processes.values()) if isinstance(processes, Mapping) else []


def _ended(executor: Executor) -> list[int]:
    """Return the numbers of the processes that ended and are still counted upon."""
    with suppress(Exception):  # of a pool that is being shut down
        found = {process.sentinel: process.pid for process in _processes(executor)}
        return sorted(found[one] for one in connection.wait(list(found), 0) if one in found)
    return []
