"""Text of the repository as Sphinx wants it: links between its files, and bars in docstrings."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxRole

from _site import api

ROOT = Path(__file__).parents[2]
# Files above docs/ that have a page of their own.
COPIES = {"CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}


def _target(path: str) -> str:
    """The page of a file of the repository, from the root of the site; empty if it has none."""
    if path.startswith("docs/") and path.endswith(".md"):
        return path.removeprefix("docs/")
    if path in COPIES:
        return f"generated/{COPIES[path]}.md"
    if path in ("examples", "examples/README.md"):
        return "generated/gallery/index.md"
    if path.startswith("examples/") and path.endswith((".py", ".ipynb")):
        return f"generated/gallery/{Path(path).stem}.md"
    return ""


def linked(text: str, name: str, file: str) -> str:
    """Links between files become links between pages; what has no page is named instead.

    `name` is the page that the text goes to, `file` the file that it comes from.
    """
    here = posixpath.dirname(name)

    def link(match: re.Match[str]) -> str:
        words, path, anchor = match["words"], match["path"], match["anchor"] or ""
        full = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        target = _target(full)
        if target:
            return f"[{words}]({posixpath.relpath(target, here or '.')}{anchor})"
        if full.startswith("docs/") or not (ROOT / full).exists():
            return match[0]  # a picture, or a mistake that Sphinx finds
        return words if words.strip("`") == full else f"{words} (`{full}`)"

    return re.sub(
        r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)]*)?\)", link, text
    )


def without_bars(lines: list[str]) -> list[str]:
    """|x| is a size in our docstrings, and a substitution in reStructuredText."""
    done, code = [], False
    for line in lines:
        code = bool(line.strip()) and (code or line.lstrip().startswith(">>>"))
        if not code:
            parts = line.split("`")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            line = "`".join(parts)
        done.append(line)
    return done


def docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """What autodoc shows of an object."""
    del app, name, options
    if what == "data" and getattr(value, "__doc__", None) == type(value).__doc__:
        lines[:] = []  # the documentation of its type
    else:
        lines[:] = without_bars(lines)


def is_boring(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Fields of named tuples have nothing to say, and what the core is told is not for users."""
    del app, what, skip, options
    core = name.startswith("core_") or name == "not_in_mdps"
    return True if core or str(value.__doc__).startswith("Alias for field number") else None


class Name(SphinxRole):
    """A word in backquotes: a link if it is a public name and no argument's name, else code."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The link, or the word."""
        word = nodes.literal(self.text, self.text)
        path = "committal." + self.text.removesuffix("()").removeprefix("cm.")
        plain = self.text.islower() and not {"_", "."} & set(self.text)
        if plain or path not in {entry.path for entry in api.entries()}:
            return [word], []
        options = {"refdomain": "py", "reftype": "obj", "reftarget": path, "refexplicit": True}
        link = addnodes.pending_xref("", word, refdoc=self.env.docname, refwarn=False, **options)
        return [link], []
