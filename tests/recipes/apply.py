"""Apply the recipes of CONTRIBUTING.md to a tree, so that they cannot rot.

A block of code after a comment ``<!-- recipe: NAME: WHAT -->`` is a piece of the recipe NAME:

- ``new FILE``: the block is the file;
- ``append FILE``: the block is added at its end;
- ``before `TEXT` FILE``: the block is put before the line that contains TEXT;
- ``replace `TEXT` FILE``: the block, without its last newline, takes the place of TEXT.

TEXT must stand in the file exactly once.

    python tests/recipes/apply.py CONTRIBUTING.md DIRECTORY [NAME ...]

prints the files that each recipe touches.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

_PIECE = re.compile(
    r"<!-- recipe: (?P<name>\w+): (?P<verb>new|append|before|replace) "
    r"(?:`(?P<text>[^`]+)` )?(?P<file>\S+) -->\n\n```\w*\n(?P<block>.*?)```\n",
    re.DOTALL,
)


class Piece(NamedTuple):
    """One block of a recipe, and where it goes."""

    name: str
    verb: str
    text: str
    file: str
    block: str


def pieces(markdown: str) -> list[Piece]:
    """Read the pieces of all recipes, in order."""
    found = [Piece(**match.groupdict(default="")) for match in _PIECE.finditer(markdown)]
    announced = markdown.count("<!-- recipe: ")
    if len(found) != announced:
        raise ValueError(f"{announced} pieces are announced, {len(found)} can be read")
    return found


def apply(piece: Piece, root: Path) -> None:
    """Change one file of a tree."""
    file = root / piece.file
    if piece.verb == "new":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(piece.block, encoding="utf-8")
        return
    old = file.read_text(encoding="utf-8")
    if piece.verb == "append":
        file.write_text(old.rstrip("\n") + "\n\n\n" + piece.block, encoding="utf-8")
        return
    if old.count(piece.text) != 1:
        raise ValueError(f"{piece.file} has {piece.text!r} {old.count(piece.text)} times, not once")
    at = old.index(piece.text)
    if piece.verb == "before":
        at = old.rindex("\n", 0, at) + 1
        new = old[:at] + piece.block + "\n" + old[at:]
    else:
        new = old[:at] + piece.block.rstrip("\n") + old[at + len(piece.text) :]
    file.write_text(new, encoding="utf-8")


def main(markdown: str, directory: str, *names: str) -> None:
    """Apply the recipes with these names, or all."""
    touched: dict[str, list[str]] = {}
    for piece in pieces(Path(markdown).read_text(encoding="utf-8")):
        if names and piece.name not in names:
            continue
        apply(piece, Path(directory))
        files = touched.setdefault(piece.name, [])
        if piece.file not in files:
            files.append(piece.file)
    for name, files in touched.items():
        own = [file for file in files if not file.startswith("tests/")]
        print(f"{name}: {len(own)} files ({', '.join(own)})")


if __name__ == "__main__":
    main(*sys.argv[1:])
