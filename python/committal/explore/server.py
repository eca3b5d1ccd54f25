"""The little server of the page: files and five requests, on the loopback interface only.

It is the standard library's. A page of one person needs no more, every install can open it, and
there is one dependency less whose holes would be ours. What the standard server lacks is short: it
answers whoever asks (:mod:`committal.explore.guard`), it reads whatever is sent (bounded here), and
it writes in pieces that wait for each other (one write per answer, without Nagle's delay).
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from committal.errors import CommittalError, ConfigError, facts_of
from committal.explore import bounds
from committal.explore.desk import Desk, body_of
from committal.explore.guard import HEADERS, Guard
from committal.explore.turns import SupersededError

#: Files of the page, by the ends of their names.
KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
#: Headers by which requests are judged.
ONCE = ("Host", "Origin", "Sec-Fetch-Site", "Content-Type", "Content-Length")
#: Connections at the same time; a browser has six.
CONNECTIONS = 64
_JSON = "application/json"
_PACKET = "application/octet-stream"


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"  # connections are kept: a slider makes many requests
    disable_nagle_algorithm = True
    timeout = 120
    error_message_format = "%(message)s\n"  # of what is not HTTP at all
    error_content_type = "text/plain; charset=utf-8"
    server: Server
    _streams = False  # an answer has begun that is sent in pieces

    def do_GET(self) -> None:
        """Send a file of the page."""
        if self._refused():
            return
        name = self.server.guard.rest(self.path) or "index.html"
        found = self.server.page.get(name)
        if found is None:
            self._send(404, b"there is no such file\n", "text/plain")
        else:
            self._send(200, found, KINDS[name.rpartition(".")[2]])

    def do_POST(self) -> None:
        """Answer a request."""
        if self._refused():
            return
        ask = self.server.requests.get(self.server.guard.rest(self.path))
        if ask is None:
            self.close_connection = True  # the body is not read
            self._fail(404, {"type": "NotFound", "message": "there is no such request"})
            return
        if self.headers.get("Content-Type", "").partition(";")[0] != _JSON:
            self.close_connection = True
            self._fail(415, {"type": "NotJson", "message": f"Content-Type is not {_JSON}"})
            return
        try:
            answer = ask(body_of(self._body()), self._gone)
            if isinstance(answer, bytes):
                self._send(200, answer, _PACKET)
            else:
                self._stream(answer)
        except SupersededError as error:
            self._fail(409, facts_of(error))
        except CommittalError as error:
            self._fail(422, facts_of(error))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the page has gone on
        except Exception as error:  # a fault of ours: the page is told, the terminal sees it all
            self.close_connection = True
            if not self._streams:
                message = f"a fault of the server: {type(error).__name__}; its terminal says more"
                self._fail(500, {"type": "Fault", "message": message})
            raise

    def _refused(self) -> bool:
        headers = {name.title(): value for name, value in self.headers.items()}
        refusal = self.server.guard.refusal(self.path, headers)
        for name in ONCE:  # of two, this server would believe one and somebody else the other
            if len(self.headers.get_all(name, [])) > 1:
                refusal = 400, f"{name} is given twice"
        if refusal is None:
            return False
        status, why = refusal
        self.close_connection = True
        self._fail(status, {"type": "Refused", "message": why})
        return True

    def _body(self) -> bytes:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if "Transfer-Encoding" in self.headers:  # pieces are not read, whatever else is said
            length = -1
        if not 0 <= length <= bounds.BODY:
            self.close_connection = True
            raise ConfigError("Content-Length", length, f"an integer in [0, {bounds.BODY}]")
        return self.rfile.read(length)

    def _gone(self) -> bool:
        """Say whether the page has hung up: a count may have nothing to write for a while."""
        waiting = select.poll()
        waiting.register(self.connection, select.POLLIN)
        if not waiting.poll(0):
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    # -- answers ---------------------------------------------------------------------------------

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self._head(status, kind, {"Content-Length": str(len(body))})
        # Headers and body in one piece: two would wait for each other.
        self._headers_buffer.append(body)  # type: ignore[attr-defined]
        self.flush_headers()

    def _fail(self, status: int, facts: dict[str, Any]) -> None:
        body = json.dumps({"error": facts}, ensure_ascii=True).encode()
        self._send(status, body, _JSON)

    def _stream(self, lines: Iterator[bytes]) -> None:
        first = next(lines)  # what is wrong with the request is said before anything is sent
        self._streams = True
        self._head(200, "application/x-ndjson", {"Transfer-Encoding": "chunked"})
        self.flush_headers()
        self._chunk(first)
        try:
            for line in lines:
                self._chunk(line)
        except CommittalError as error:
            self._chunk(json.dumps({"error": facts_of(error)}).encode() + b"\n")
        self.wfile.write(b"0\r\n\r\n")
        self._streams = False

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _head(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers, **HEADERS}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self._headers_buffer.append(b"\r\n")  # type: ignore[attr-defined]

    def version_string(self) -> str:
        """Say no more than is needed."""
        return "committal"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the one who started it."""


class Server(ThreadingHTTPServer):
    """A server with a token.

    Examples
    --------
    >>> server = Server()
    >>> server.address.startswith("http://127.0.0.1:")
    True
    >>> server.server_close()
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        # Before a port that is taken makes the server close itself.
        self.desk = Desk()
        self._open: set[Any] = set()
        self._changing = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        self.guard = Guard(self.server_port)
        self.page = _page()
        self.requests: dict[str, Any] = {
            "picture": self.desk.picture,
            "count": self.desk.count,
            "answer": self.desk.answer,
            "presets": self.desk.presets,
            "read": self.desk.read,
        }
        self._places = threading.BoundedSemaphore(CONNECTIONS)

    @property
    def address(self) -> str:
        """Where the page is, token included."""
        return f"http://127.0.0.1:{self.server_port}/{self.guard.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, if there are not too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        with self._changing:  # before its thread runs: whoever closes the server must see it
            self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changing:
                self._open.discard(request)
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that broke; the rest is for the terminal."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError | socket.timeout):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stop listening, and end whatever still works."""
        super().server_close()
        with self._changing:
            for connection in self._open:
                with contextlib.suppress(OSError):  # it may have gone by itself
                    connection.shutdown(socket.SHUT_RDWR)
        self.desk.close()


def _page() -> dict[str, bytes]:
    """The files of the page by name; nothing else of the disk is ever sent."""
    folder = files("committal.explore").joinpath("page")
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        if one.name.rpartition(".")[2] in KINDS
    }
