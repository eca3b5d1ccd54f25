"""Tasks in flight: on the cores of this machine, or on any executor of `concurrent.futures`.

The tasks of a study are pure functions, so a task whose worker died is simply given to another
one, and a result that comes twice is the same result. Only a few tasks are in flight at a time:
what is computed is handed over before more is asked for, and memory stays bounded.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from committal.errors import ExecutorError

Task = TypeVar("Task")
Result = TypeVar("Result")

_CONNECT_SECONDS = 20.0
_WATCH_SECONDS = 0.01
_MOST_FETCHES = 32

#: Threads of each of the last tasks, at least, so that those of a finished one are taken over.
_SHARED_BY = 2

#: How often a task is tried again after its worker died.
MOST_RETRIES = 20


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

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as pool:
    ...     tasks = InFlight(pool, lambda n: bytes(n), window=4)
    ...     tasks.submit(3)
    ...     tasks.collect(timeout=10)
    [(3, b'\\x00\\x00\\x00')]
    """

    def __init__(self, executor: Executor, work: Callable[[Task], Result], *, window: int) -> None:
        self._executor = executor
        self._work = Work(work)
        self._window = window
        self._tasks: dict[Future[Result | Exception], Task] = {}
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
            If too many workers died over one task.
        Exception
            Whatever a task raised.
        """
        done, _ = wait(self._tasks, timeout, FIRST_COMPLETED)
        found = []
        for future in done:
            task = self._tasks.pop(future)
            try:
                result = future.result()
            except (Exception, CancelledError) as error:
                self._retry(task, error)
                continue
            if isinstance(result, Exception):
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
            pool.shutdown(wait=True, cancel_futures=True)

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


class DaskExecutor(Executor):
    """The workers of a Dask cluster.

    A worker may die between the end of a task and the transfer of its result. Dask's own executor
    then raises errors about itself or waits for ever. Here every result is fetched by itself, and
    one that does not come in time is given up, as if its worker had died during the task.

    Parameters
    ----------
    client : distributed.Client
        A connection to the scheduler.
    patience : float, optional
        Seconds that the transfer of one result may take.
    """

    def __init__(self, client: Any, *, patience: float = 20.0) -> None:
        self._client = client
        self._patience = patience
        self._lock = threading.Lock()
        self._remote: dict[Future[Any], Any] = {}
        self._watcher: threading.Thread | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand over a call."""
        local: Future[Any] = Future()
        # Not pure: a task that is tried again must not be mistaken for the one that was lost.
        remote = self._client.submit(fn, *args, pure=False, key=_key(), **kwargs)
        with self._lock:
            self._remote[local] = remote
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
        return local

    def _watch(self) -> None:
        """Look after all calls until there are none; one thread for all of them."""
        try:
            self._watch_calls()
        except Exception as error:
            # Such as a client that was closed: nobody may wait for what will never come.
            with self._lock:
                left, self._remote, self._watcher = list(self._remote), {}, None
            for local in left:
                with suppress(InvalidStateError):
                    local.set_exception(ConnectionError(f"{type(error).__name__}: {error}"))

    def _watch_calls(self) -> None:
        fetches: dict[Future[Any], tuple[Future[Any], float]] = {}
        while True:
            with self._lock:
                if not self._remote:
                    self._watcher = None
                    return
                calls = list(self._remote.items())
            for local, remote in calls:
                if local.cancelled():
                    self._end(local, None)
                elif local in fetches:
                    fetch, until = fetches[local]
                    if fetch.done():
                        self._end(local, fetch)
                    elif time.monotonic() > until:
                        fetch.cancel()
                        self._end(local, None)
                elif remote.status in ("finished", "error") and len(fetches) < _MOST_FETCHES:
                    fetches[local] = self._fetch(remote), time.monotonic() + self._patience
                elif remote.status in ("lost", "cancelled"):
                    self._end(local, None)
            fetches = {local: fetch for local, fetch in fetches.items() if not local.done()}
            time.sleep(_WATCH_SECONDS)

    def _fetch(self, remote: Any) -> Future[Any]:
        call = self._client.gather(remote, asynchronous=True)
        return asyncio.run_coroutine_threadsafe(call, self._client.loop.asyncio_loop)

    def _end(self, local: Future[Any], fetch: Future[Any] | None) -> None:
        """Pass on what was fetched; nothing means that it is lost."""
        with self._lock:
            remote = self._remote.pop(local)
        error: BaseException | None
        if fetch is None or fetch.cancelled():
            error, result = ConnectionError("the result of a task was lost"), None
        else:
            error = fetch.exception()
            result = None if error else fetch.result()
        with suppress(Exception):
            # It is not needed any more, wherever it is.
            remote.release() if error is None else remote.cancel()
        # It may have been cancelled in the meantime, which is as good as done.
        with suppress(InvalidStateError):
            if error is None:
                local.set_result(result)
            else:
                local.set_exception(error)


def _key() -> str:
    return f"committal-chunk-{secrets.token_hex(8)}"


def adapted(executor: object) -> Executor | None:
    """Return an executor that survives its workers; None for what is none.

    Parameters
    ----------
    executor : concurrent.futures.Executor, or distributed.Client
        Dask's client and Dask's own executor become a :class:`DaskExecutor`.
    """
    if type(executor).__module__.partition(".")[0] == "distributed":
        client = getattr(executor, "_client", executor)
        return DaskExecutor(client)
    return executor if isinstance(executor, Executor) else None


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
        raise ExecutorError("a scheduler needs Dask: pip install 'committal[cluster]'") from None
    try:
        connect: Any = Client  # it has no type hints
        client = connect(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise ExecutorError(f"no scheduler answers at {address}: {error}") from error
    with client:
        yield DaskExecutor(client)
