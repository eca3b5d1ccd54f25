"""Objects as HTML, for notebooks: text that is escaped unless it says that it is HTML.

Colours and letters are those of the page around, so that light and dark pages are both readable.
Nothing here runs a script or loads anything.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

# What stands between dollars in a user's text is no mathematics, except where we say so.
_TEXT = 'class="tex2jax_ignore mathjax_ignore"'
_MATHS = 'class="tex2jax_process mathjax_process"'

_CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0"
_TABLE = "border-collapse:collapse;margin:0.3em 0;background:none"
_ROW = "background:none"

#: Longer texts are cut: a notebook keeps everything that it shows.
_MOST = 20_000


class Html(str):
    """Text that is HTML already; every other string is escaped where it is shown.

    Examples
    --------
    >>> escaped("a < b"), escaped(Html("<b>a</b>"))
    ('a &lt; b', '<b>a</b>')
    """

    __slots__ = ()


def escaped(thing: object) -> Html:
    """Return what can stand in a page: HTML as it is, anything else as text.

    Examples
    --------
    >>> escaped("<script>alert(1)</script>")
    '&lt;script&gt;alert(1)&lt;/script&gt;'
    """
    return thing if isinstance(thing, Html) else Html(html.escape(str(thing)))


def joined(things: Iterable[object], between: str = "") -> Html:
    """Put things after each other.

    Examples
    --------
    >>> joined(["a", 1, Html("<br>")], ", ")
    'a, 1, <br>'
    """
    return Html(escaped(between).join(escaped(thing) for thing in things))


def page(title: object, *inner: object) -> Html:
    """Return what an object shows: its name and what is in it.

    Examples
    --------
    >>> print(page("A study", "of 3 runs"))
    <div class="tex2jax_ignore mathjax_ignore"><strong>A study</strong>of 3 runs</div>
    """
    return Html(f"<div {_TEXT}><strong>{escaped(title)}</strong>{joined(inner)}</div>")


def table(rows: Iterable[Sequence[object]], header: Sequence[object] = ()) -> Html:
    """Return a table; of a table without a header the first column names the rows.

    Examples
    --------
    >>> made = table([["steps", 100]])
    >>> made.count("<th "), made.count("<td ")
    (1, 1)
    >>> table([["a", 1], ["b", 2]], header=["arm", "mean"]).count("<th ")
    2
    """
    made = []
    if header:
        made.append(_row(["th"] * len(header), header))
    for cells in rows:
        first = "td" if header else "th"
        made.append(_row([first] + ["td"] * (len(cells) - 1), cells))
    return Html(f'<table style="{_TABLE}">{"".join(made)}</table>')


def _row(tags: Sequence[str], cells: Sequence[object]) -> str:
    inside = (
        f'<{tag} style="{_CELL}">{escaped(cell)}</{tag}>'
        for tag, cell in zip(tags, cells, strict=True)
    )
    return f'<tr style="{_ROW}">{"".join(inside)}</tr>'


def facts(pairs: Mapping[str, object]) -> Html:
    """Return names and what they stand for, one to a row.

    Examples
    --------
    >>> facts({"steps": 100}) == table([["steps", 100]])
    True
    """
    return table([(name, value) for name, value in pairs.items()])


def folded(summary: object, *inner: object) -> Html:
    """Return what is shown when its summary is clicked.

    Examples
    --------
    >>> print(folded("as text", "a & b"))
    <details><summary style="cursor:pointer">as text</summary>a &amp; b</details>
    """
    opens = f'<summary style="cursor:pointer">{escaped(summary)}</summary>'
    return Html(f"<details>{opens}{joined(inner)}</details>")


def code(text: str) -> Html:
    """Return a text in the letters of programs, cut where it is very long.

    Examples
    --------
    >>> code("a < b").endswith(">a &lt; b</code>")
    True
    """
    style = "white-space:pre-wrap;color:inherit;background:none;padding:0"
    return Html(f'<code style="{style}">{escaped(_cut(text))}</code>')


def lines(text: str) -> Html:
    """Return a text of several lines as it stands.

    Examples
    --------
    >>> lines("a\\nb").count("<pre ")
    1
    """
    style = "white-space:pre;overflow:auto;color:inherit;background:none;margin:0.3em 0"
    return Html(f'<pre style="{style}">{escaped(_cut(text))}</pre>')


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 100]} … {text[-80:]}"


def maths(latex: str) -> Html:
    """Return LaTeX that a notebook typesets.

    Examples
    --------
    >>> print(maths("a < b"))
    <span class="tex2jax_process mathjax_process">$a &lt; b$</span>
    """
    return Html(f"<span {_MATHS}>${escaped(latex)}$</span>")
