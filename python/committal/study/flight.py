"""Tasks in flight on an executor: only a few at a time, and again if their worker died.

The tasks of a study are pure functions, so a task whose worker died is simply given to another
one, and a result that comes twice is the same result. What is computed is handed over before more
is asked for, and memory stays bounded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from typing import Generic, TypeVar

from committal.errors import ExecutorError
from committal.study.pools import PATIENCE_SECONDS, PoolWatch

Task = TypeVar("Task")
Result = TypeVar("Result")

#: How often a task is tried again after its worker died.
MOST_RETRIES = 20


_LOG = logging.getLogger("committal.study")


def _named(error: BaseException) -> tuple[str, BaseException]:
    return type(error).__name__, error


class Work(Generic[Task, Result]):
    """A function that returns its errors instead of raising them.

    Whatever an executor raises is then about its workers, whatever exception it uses for that,
    and the task can be given to another one.

    Parameters
    ----------
    work : callable
        From a task to its result. To reach other processes it must be importable there.

    Examples
    --------
    >>> Work(int.bit_length)("7")
    TypeError("descriptor 'bit_length' for 'int' objects doesn't apply to a 'str' object")
    """

    def __init__(self, work: Callable[[Task], Result]) -> None:
        self._work = work

    def __call__(self, task: Task) -> Result | Exception:
        try:
            return self._work(task)
        except Exception as error:
            return error


class InFlight(Generic[Task, Result]):
    """Tasks that an executor works on.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Who computes; it is not shut down.
    work : callable
        From a task to its result.
    window : int
        How many tasks may be in flight.
    named : callable, optional
        Gets a task and what it raised, to add what only the caller knows of it.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     tasks = InFlight(pool, lambda n: bytes(n), window=4)
    ...     tasks.submit(3)
    ...     tasks.collect(timeout=10)
    [(3, b'\\x00\\x00\\x00')]
    """

    def __init__(
        self,
        executor: Executor,
        work: Callable[[Task], Result],
        *,
        window: int,
        named: Callable[[Task, Exception], None] | None = None,
    ) -> None:
        self._executor = executor
        self._named = named
        self._work = Work(work)
        self._window = window
        self._tasks: dict[Future[Result | Exception], Task] = {}
        self._retries: dict[Task, int] = {}
        self._watch = PoolWatch(executor)

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
        except Exception as error:
            raise ExecutorError(
                f"the executor takes no more work ({type(error).__name__}: {error}); what is "
                "finished is kept in the store: run again with a new executor"
            ) from error
        self._tasks[future] = task

    def collect(self, timeout: float) -> list[tuple[Task, Result]]:
        """Wait for results, and return those that are there.

        Raises
        ------
        ExecutorError
            If too many workers died over one task, or if a process of a pool died and the pool
            does not notice.
        Exception
            Whatever a task raised.
        """
        done, _ = wait(self._tasks, timeout, FIRST_COMPLETED)
        if done:
            self._watch.heard()
        elif ended := self._watch.silent():
            self._watch.release()
            wait(self._tasks, PATIENCE_SECONDS)  # until the pool has said so of each of them
            raise ExecutorError(
                f"a worker of the pool died while it sent a result (process "
                f"{', '.join(map(str, ended))}), and the pool does not answer any more; what is "
                "finished is kept in the store: run again with a new pool"
            )
        found = []
        for future in done:
            task = self._tasks.pop(future)
            try:
                result = future.result()
            except (Exception, CancelledError) as error:
                self._retry(task, error)
                continue
            if isinstance(result, Exception):
                if self._named is not None:
                    self._named(task, result)
                raise result
            found.append((task, result))
        return found

    def _retry(self, task: Task, error: BaseException) -> None:
        tries = self._retries.get(task, 0) + 1
        if tries > MOST_RETRIES:
            raise ExecutorError(
                f"a chunk was given up after {tries} workers were lost over it; the last error "
                f"was {type(error).__name__}: {error}"
            ) from error
        self._retries[task] = tries
        _LOG.warning("a worker was lost (%s: %s); its chunk is given to another", *_named(error))
        self.submit(task)

    def drain(self) -> list[tuple[Task, Result]]:
        """Cancel what has not begun and return what is finished already."""
        for future in self._tasks:
            future.cancel()
        finished = []
        for future, task in self._tasks.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                result = future.result()
                if not isinstance(result, Exception):
                    finished.append((task, result))
        self._tasks.clear()
        return finished
