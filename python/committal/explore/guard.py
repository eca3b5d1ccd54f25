"""Who may speak with the server: the page that it gave its token to, and nobody else.

The server listens on the loopback interface only. That keeps out other machines, not other pages of
the same browser, so every request must

* carry the token, 128 random bits, as the first part of its path: a page that cannot guess it gets
  nothing, not even the style sheet;
* name this server as its Host: a foreign name that resolves to 127.0.0.1 (DNS rebinding) does not;
* come from this page, if it says where it comes from (Origin, Sec-Fetch-Site);
* be JSON, if it has a body: no form of another page can send that.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

HOSTS = ("127.0.0.1", "localhost")

#: Sent with every answer. Nothing is loaded from elsewhere, nothing may frame the page, and no
#: script or style stands in the page itself, so a text that got in as markup could do nothing.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """The token of a server, and the rules.

    Examples
    --------
    >>> guard = Guard(8000, token="secret")
    >>> guard.refusal("/secret/", {"Host": "127.0.0.1:8000"})
    >>> guard.refusal("/secret/", {"Host": "evil.example:8000"})
    (403, 'Host is not this server')
    >>> guard.refusal("/guess/", {"Host": "127.0.0.1:8000"})
    (403, 'the token of the address is missing or wrong')
    """

    def __init__(self, port: int, token: str | None = None) -> None:
        self.token = secrets.token_urlsafe(16) if token is None else token
        self._hosts = {f"{host}:{port}" for host in HOSTS}
        if port == 80:
            self._hosts |= set(HOSTS)

    def refusal(self, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return the status and the reason of a refusal, None if the request may pass.

        Headers have their usual names, Sec-Fetch-Site.
        """
        host = headers.get("Host")
        if host not in self._hosts:
            return 403, "Host is not this server"
        origin = headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            return 403, "Origin is not this page"
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return 403, "the request comes from another site"
        try:
            first = urlsplit(path).path.split("/")[1:2]
        except ValueError:  # no address at all
            first = []
        given = first[0] if first else ""
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return 403, "the token of the address is missing or wrong"
        return None

    def rest(self, path: str) -> str:
        """Return a path without its token and query.

        Examples
        --------
        >>> Guard(8000, token="secret").rest("/secret/main.js?x=1")
        'main.js'
        """
        return urlsplit(path).path.removeprefix(f"/{self.token}").removeprefix("/")
