"""HTML that a notebook shows, read again: is it whole, and does it do nothing but show?"""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "img", "input", "meta", "path", "rect", "progress"}
#: The name of a language of drawings, which nobody opens.
SVG = "http://www.w3.org/2000/svg"


class Page(HTMLParser):
    """The tags, the text and the attributes of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open, f"</{tag}> closes nothing"
            assert self._open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def read(text: str, *, scripts: bool = False) -> Page:
    """Read a piece of HTML; it runs nothing (unless it may) and loads nothing from outside."""
    page = Page(text)
    if not scripts:
        assert "script" not in page.tags
        assert not [name for name, _ in page.attributes if name.startswith("on")]
    outside = [v for name, v in page.attributes if "://" in v and (name, v) != ("xmlns", SVG)]
    assert not outside, outside
    return page
