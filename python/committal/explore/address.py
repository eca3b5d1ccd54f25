"""The address of a demonstration: behind the #, every experiment and what is looked at.

::

    #a={"steps":1000,...}&b={...}&seed=0&below=0.9

What stands behind the # is never sent to a server: a link can be given to somebody else, who opens
it with ``committal explore LINK``.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlsplit

from committal.config import Experiment
from committal.explore.writing import plain


def fragment_of(experiment: Experiment | None, other: Experiment | None, **more: Any) -> str:
    """Write what stands behind the #, empty for the page's own beginning.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> fragment_of(exp, None, seed=3)[:24], fragment_of(exp, None, seed=3)[-7:]
    ('a=%7B%22problem%22%3A%7B', '&seed=3')
    """
    parts = {"a": experiment, "b": other}
    given = {name: json.dumps(plain(e), separators=(",", ":")) for name, e in parts.items() if e}
    given |= {name: str(value) for name, value in more.items() if value is not None}
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in given.items())


def fragment_in(link: str) -> str:
    """Return what stands behind the # of somebody's link.

    Examples
    --------
    >>> fragment_in("http://127.0.0.1:8000/token/#seed=3")
    'seed=3'
    """
    return urlsplit(link).fragment
