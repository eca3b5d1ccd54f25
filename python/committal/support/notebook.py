"""Notebooks: whether this is one, a line that is written over, and how objects are shown there.

IPython is asked only where it is running already: nothing here imports it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from committal.support.html import Html, escaped


def shell() -> Any | None:
    """Return IPython's shell if a notebook is what it talks to, else None.

    Examples
    --------
    >>> shell() is None  # this is not a notebook
    True
    """
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython is not None else None
    # In a terminal IPython has a shell, too, but no kernel.
    return found if getattr(found, "kernel", None) is not None else None


def show_as(cls: type, shown: Callable[[Any], str]) -> None:
    """Show all objects of somebody else's class so, in notebooks; a user's own choice stays.

    Parameters
    ----------
    cls : type
    shown : callable
        From an object to HTML.

    Examples
    --------
    >>> show_as(dict, lambda d: "<b>a dict</b>")  # nothing happens: this is not a notebook
    """
    found = shell()
    if found is None:
        return
    formatter = found.display_formatter.formatters["text/html"]
    if formatter.for_type(cls) is None:
        formatter.for_type(cls, shown)


class Line:
    """A line of a notebook that is written over, so that the output does not grow."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, words: str, share: float) -> None:
        """Show a bar that is filled up to a share, and words."""
        bar = f'<progress value="{share:.4f}" max="1" style="width:16em"></progress> '
        text = f'<span style="white-space:pre">{escaped(words)}</span>'
        self._write(words, Html(bar + text))

    def erase(self) -> None:
        """Leave nothing to be seen."""
        if self._handle is not None:
            self._write("", Html())
            self._handle = None

    def _write(self, plain: str, page: Html) -> None:
        data = {"text/plain": plain, "text/html": str(page)}
        if self._handle is None:
            show = importlib.import_module("IPython.display").display  # it is running already
            self._handle = show(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
