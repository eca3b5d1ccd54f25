"""The page: an experiment to touch, in a browser, driven by the installed core.

:func:`explore` is the door; docs/explore.md says what can be done there, and how it is kept safe.
"""

from __future__ import annotations

import html
import sys
import threading
import types
import webbrowser
from typing import TYPE_CHECKING

from committal.config import Experiment
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check

if TYPE_CHECKING:
    from committal.explore.server import Server

__all__ = ["Page", "explore"]


class Page:
    """A page that is being served.

    Attributes
    ----------
    address : str
        What to open in a browser on this machine. It carries a token: who has it can use the page.

    Examples
    --------
    >>> with explore(show=False) as page:
    ...     page.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, server: Server, fragment: str) -> None:
        self._server = server
        self.address = server.address + (f"#{fragment}" if fragment else "")
        self._thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving; closing twice is closing once."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def wait(self) -> None:
        """Serve until somebody interrupts."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<the page at {self._server.address}>"

    def _repr_html_(self) -> str:
        address = html.escape(self.address)
        return f'<a href="{address}" target="_blank" rel="noopener">Open the page</a>'


def explore(
    experiment: Experiment | None = None,
    other: Experiment | None = None,
    *,
    rng: int = 0,
    below: float | None = None,
    port: int = 0,
    show: bool = True,
) -> Page:
    """Open a page on which experiments can be changed while they run.

    Parameters
    ----------
    experiment : Experiment, optional
        Of a bandit or a gridworld; the paper's first figure by default.
    other : Experiment, optional
        A second one to stand beside it, with the same random numbers.
    rng : int, optional
        The seed of the random numbers; a link must be able to say it, so it is an integer.
    below : float, optional
        A run fails if its value ends below this.
    port : int, optional
        Of the server; by default one that is free.
    show : bool, optional
        Whether to open the browser.

    Returns
    -------
    Page
        It serves in the background until it is closed, or until Python ends.

    Examples
    --------
    >>> page = explore(show=False)
    >>> page.address.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    from committal.explore import bounds
    from committal.explore.address import fragment_of
    from committal.explore.writing import plain

    for argument, given in (("experiment", experiment), ("other", other)):
        if given is not None:
            check.instance(argument, given, Experiment, "an Experiment")
            bounds.experiment_of(plain(given), argument)
    if other is not None and experiment is None:
        raise ConfigTypeError("experiment", experiment, "an Experiment, as `other` is given")
    if below is not None:
        below = check.number("below", below)
    seed = check.integer("rng", rng, 0, 2**32 - 1)
    more = {"seed": seed or None, "below": below}
    return serve(fragment_of(experiment, other, **more), port=port, show=show)


def serve(fragment: str, *, port: int = 0, show: bool = True) -> Page:
    """Serve the page with this behind the # of its address.

    Examples
    --------
    >>> with serve("seed=3", show=False) as page:
    ...     page.address.endswith("/#seed=3")
    True
    """
    from committal.explore.server import Server

    port = check.integer("port", port, 0, 65535)
    check.boolean("show", show)
    try:
        server = Server(port)
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError("port", port, f"one that can be used on this machine ({why})") from None
    page = Page(server, fragment)
    if show:
        webbrowser.open(page.address)
    return page


class _Callable(types.ModuleType):
    """The folder and the function share a name: whichever was imported can be called."""

    __call__ = staticmethod(explore)


sys.modules[__name__].__class__ = _Callable
