"""The cores of this machine: how many threads each chunk gets, and how far they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

#: Threads of each of the last tasks, at least, so that those of a finished one are taken over.
_SHARED_BY = 2


def ended(pool: Executor) -> None:
    """Wait for what runs in a pool, however often one is interrupted; cancel what does not.

    The interpreter must not end while threads are in the core; they return within a quarter second.

    Examples
    --------
    >>> ended(ThreadPoolExecutor(1))
    """
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            pool.shutdown(wait=True, cancel_futures=True)
            break
        except KeyboardInterrupt as again:
            interrupt = again
    if interrupt is not None:
        raise interrupt


class Cancelled(Exception):  # noqa: N818  # it is not an error
    """Raised inside of the core to make it return.

    Examples
    --------
    >>> issubclass(Cancelled, Exception)
    True
    """


class LocalThreads:
    """The cores of this machine: each works on a chunk of its own while there are enough.

    Parameters
    ----------
    threads : int
        How many cores there are to use; while the last tasks share them, up to twice as many
        threads take turns.
    tasks : int
        How many tasks there are. The last ones get several threads each, so that no core is idle
        while the others finish.

    Examples
    --------
    >>> local = LocalThreads(threads=4, tasks=6)
    >>> local.workers, [local.begin() for _ in range(6)]
    (4, [1, 1, 2, 2, 2, 2])
    >>> local = LocalThreads(threads=4, tasks=1)
    >>> local.begin()
    4
    """

    def __init__(self, *, threads: int, tasks: int) -> None:
        self.workers = threads
        self._waiting = tasks
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._done: dict[int, int] = {}
        self._granted: dict[int, int] = {}

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """Start the threads; whatever runs when the context is left is cancelled."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="committal")
        try:
            yield pool
        finally:
            self._cancelled.set()
            ended(pool)

    def expect(self, tasks: int) -> None:
        """Take note that there are more tasks, or fewer."""
        with self._lock:
            self._waiting += tasks

    def begin(self) -> int:
        """Begin a task: return how many threads it gets."""
        with self._lock:
            left = max(self._waiting, 1)
            self._waiting -= 1
            granted = 1
            if left <= self.workers:
                free = self.workers - sum(self._granted.values())
                granted = max(free // left, min(self.workers, _SHARED_BY))
            self._granted[threading.get_ident()] = granted
        return granted

    def report(self, done: int) -> None:
        """Take note of the updates that this thread has done of its task; called by the core."""
        if self._cancelled.is_set():
            raise Cancelled
        self._done[threading.get_ident()] = done

    def finished(self) -> None:
        """Take note that this thread's task is finished."""
        self._done.pop(threading.get_ident(), None)
        with self._lock:
            self._granted.pop(threading.get_ident(), None)

    @property
    def updates_under_way(self) -> int:
        """Updates done of tasks that are not finished."""
        return sum(self._done.copy().values())
