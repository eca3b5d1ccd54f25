"""Tasks in flight: on the cores of this machine, or on any executor of `concurrent.futures`.

The tasks of a study are pure functions, so a task whose worker died is simply given to another
one, and a result that comes twice is the same result. Only a few tasks are in flight at a time:
what is computed is handed over before more is asked for, and memory stays bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from committal.errors import ExecutorError

Task = TypeVar("Task")

#: How often a task is tried again after its worker died.
MOST_RETRIES = 20


class InFlight(Generic[Task]):
    """Tasks that an executor works on.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Who computes; it is not shut down.
    work : callable
        From a task to bytes. To reach other processes it must be importable there.
    window : int
        How many tasks may be in flight.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as pool:
    ...     tasks = InFlight(pool, lambda n: bytes(n), window=4)
    ...     tasks.submit(3)
    ...     tasks.collect(timeout=10)
    [(3, b'\\x00\\x00\\x00')]
    """

    def __init__(self, executor: Executor, work: Callable[[Task], bytes], *, window: int) -> None:
        self._executor = executor
        self._work = work
        self._window = window
        self._tasks: dict[Future[bytes], Task] = {}
        self._retries: dict[Task, int] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def has_room(self) -> bool:
        """Whether another task may be submitted."""
        return len(self._tasks) < self._window

    def submit(self, task: Task) -> None:
        """Hand over a task."""
        try:
            future = self._executor.submit(self._work, task)
        except (BrokenExecutor, RuntimeError) as error:
            raise ExecutorError(
                f"the executor takes no more work ({error}); what is finished is kept in the "
                "store: run again with a new executor"
            ) from error
        self._tasks[future] = task

    def collect(self, timeout: float) -> list[tuple[Task, bytes]]:
        """Wait for results, and return those that are there."""
        done, _ = wait(self._tasks, timeout, FIRST_COMPLETED)
        found = []
        for future in done:
            task = self._tasks.pop(future)
            try:
                found.append((task, future.result()))
            except (Exception, CancelledError) as error:
                if not _worker_died(error):
                    raise
                self._retry(task, error)
        return found

    def _retry(self, task: Task, error: BaseException) -> None:
        tries = self._retries.get(task, 0) + 1
        if tries > MOST_RETRIES:
            raise ExecutorError(
                f"a chunk was given up after {tries} workers died over it; the last error was: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._retries[task] = tries
        self.submit(task)

    def drain(self) -> list[tuple[Task, bytes]]:
        """Cancel what has not begun and return what is finished already."""
        for future in self._tasks:
            future.cancel()
        finished = [
            (task, future.result())
            for future, task in self._tasks.items()
            if future.done() and not future.cancelled() and future.exception() is None
        ]
        self._tasks.clear()
        return finished


def _worker_died(error: BaseException) -> bool:
    """Say whether a task failed because of its worker and not because of itself."""
    if isinstance(error, BrokenExecutor | CancelledError | ConnectionError):
        return True
    # Dask's own errors about workers and connections, without importing Dask.
    return type(error).__module__.partition(".")[0] == "distributed"


class Cancelled(Exception):  # noqa: N818  # it is not an error
    """Raised inside of the core to make it return.

    Examples
    --------
    >>> issubclass(Cancelled, Exception)
    True
    """


class LocalThreads:
    """The cores of this machine: each works on a chunk of its own.

    Parameters
    ----------
    threads : int
        How many threads compute at the same time.
    tasks : int
        How many tasks there are; if there are fewer than threads, threads share a task.

    Examples
    --------
    >>> local = LocalThreads(threads=4, tasks=2)
    >>> local.workers, local.threads_per_task
    (2, 2)
    """

    def __init__(self, *, threads: int, tasks: int) -> None:
        self.workers = max(1, min(threads, tasks))
        self.threads_per_task = max(1, threads // self.workers)
        self._cancelled = threading.Event()
        self._done: dict[int, int] = {}

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """Start the threads; whatever runs when the context is left is cancelled."""
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="committal")
        try:
            yield pool
        finally:
            self._cancelled.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def report(self, done: int) -> None:
        """Take note of the updates that this thread has done of its task; called by the core."""
        if self._cancelled.is_set():
            raise Cancelled
        self._done[threading.get_ident()] = done

    def finished(self) -> None:
        """Take note that this thread's task is finished."""
        self._done.pop(threading.get_ident(), None)

    @property
    def updates_under_way(self) -> int:
        """Updates done of tasks that are not finished."""
        return sum(self._done.copy().values())


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Connect to a scheduler of Dask.

    Parameters
    ----------
    address : str
        Such as ``"tcp://host:8786"``.

    Raises
    ------
    ExecutorError
        If Dask is not installed or does not answer.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ExecutorError("a scheduler needs Dask: pip install 'committal[dask]'") from None
    try:
        connect: Any = Client  # it has no type hints
        client = connect(address, timeout="20s")
    except (OSError, ValueError, TimeoutError) as error:
        raise ExecutorError(f"no scheduler answers at {address}: {error}") from error
    with client:
        yield client.get_executor()
