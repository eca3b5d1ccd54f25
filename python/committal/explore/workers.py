"""A process for answers that take seconds: it can be ended when nobody wants them any more.

An exact answer is Python and SciPy; a thread of it can be neither stopped nor bounded, and it would
slow down the pictures. So it is computed by ``python -m committal.explore.workers``, which reads
requests from its input and writes packets. To cancel is to end the process; the next request starts
another one.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from committal.errors import CommittalError, ConfigError, facts_of
from committal.explore.packets import pack

_TICK = 0.03


class Worker:
    """One such process, started when it is first asked.

    Examples
    --------
    >>> worker = Worker()
    >>> worker.close()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def ask(
        self, request: dict[str, Any], *, seconds: float, still_wanted: Callable[[], None]
    ) -> bytes:
        """Return the packet that answers a request.

        Parameters
        ----------
        request : dict
            ``{"what": ..., "experiment": ...}``.
        seconds : float
            When to give up.
        still_wanted : callable
            Raises if nobody wants the answer any more.
        """
        while not self._lock.acquire(timeout=_TICK):
            self._refuse_closed()
            still_wanted()
        try:
            self._refuse_closed()
            process = self._started()
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                code = process.wait()
                found = f"an answer (its process ended with {code})"
                raise ConfigError("what", found, "a process that starts") from None
            end = time.monotonic() + seconds

            def wait() -> None:
                self._refuse_closed()
                still_wanted()
                if time.monotonic() > end:
                    what = request.get("what")
                    raise ConfigError("what", what, f"an answer within {seconds:g} s")

            (length,) = struct.unpack("<Q", self._read(process, 8, wait))
            return self._read(process, length, wait)
        except BaseException:
            self._end()
            raise
        finally:
            self._lock.release()

    def rest(self) -> None:
        """End the process; the next request starts another one."""
        with self._lock:
            self._end()

    def close(self) -> None:
        """End the process, and whoever waits for it."""
        self._closed = True
        with self._lock:
            self._end()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise ConfigError("page", "this one", "a page whose server has not been closed")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            # -P: modules come from where the package does, not from the current directory.
            command = [sys.executable, "-P", "-m", "committal.explore.workers"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C in the terminal is for the server
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        process.wait()

    @staticmethod
    def _read(process: subprocess.Popen[bytes], count: int, wait: Callable[[], None]) -> bytes:
        assert process.stdout is not None
        descriptor, found = process.stdout.fileno(), bytearray()
        while len(found) < count:
            ready, _, _ = select.select([descriptor], [], [], _TICK)
            if not ready:
                wait()
                continue
            piece = os.read(descriptor, min(count - len(found), 2**20))
            if not piece:
                code = process.wait()
                allowed = "one that its process survives; it may not fit into memory"
                raise ConfigError("what", f"an answer (its process ended with {code})", allowed)
            found += piece
        return bytes(found)


def answered(request: dict[str, Any]) -> bytes:
    """Compute a packet: the answer, or what is wrong with the question.

    Examples
    --------
    >>> from committal.explore.packets import unpack
    >>> unpack(answered({"what": "nothing", "experiment": {}}))[0]["error"]["argument"]
    'problem.kind'
    """
    from committal.explore import presets
    from committal.explore.answers import answer
    from committal.explore.bounds import experiment_of

    try:
        if request.get("what") == "presets":
            return pack({"presets": presets.presets()})
        return pack(*answer(request.get("what"), experiment_of(request.get("experiment"))))
    except CommittalError as error:
        return pack({"error": facts_of(error)})


def main() -> None:
    """Answer until the input ends; then end at once, also in the middle of an answer."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever somebody prints must not get into the packets
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            requests.put(line)
        os._exit(0)  # the server is gone, however it ended

    threading.Thread(target=listen, daemon=True).start()
    while True:
        line = requests.get()
        packet = answered(json.loads(line))
        out.write(struct.pack("<Q", len(packet)) + packet)
        out.flush()


if __name__ == "__main__":
    main()
