"""Who computes elsewhere: any executor of `concurrent.futures`, and Dask's workers as one."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import Any

from committal.errors import ExecutorError

_CONNECT_SECONDS = 20.0
_WATCH_SECONDS = 0.01
_MOST_FETCHES = 32


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
