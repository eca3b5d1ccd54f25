"""The gallery: a page for every script and notebook of ``examples/``, with its picture.

A script's picture is what its ``main(out)`` draws. It is drawn while the site is built, unless the
folder of pictures has one that is newer than the script. A notebook is shown as it was stored.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any


def _draw(script: Path, folder: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"example_{script.stem}", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        module.main(folder)
    folder.joinpath(f"{script.stem}.txt").write_text(printed.getvalue(), encoding="utf-8")


def _title(stem: str) -> str:
    words = [word.upper() if word in ("grpo", "exp3") else word for word in stem.split("_")]
    return " ".join(words)[0].upper() + " ".join(words)[1:]


def _fenced(text: str, language: str = "") -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"


def _script(script: Path, pictures: Path, out: Path) -> tuple[str, str]:
    """The page of a script, and its caption in the gallery."""
    picture, printed = (pictures / f"{script.stem}{suffix}" for suffix in (".png", ".txt"))
    if not picture.exists() or picture.stat().st_mtime < script.stat().st_mtime:
        _draw(script, pictures)
    shutil.copy(picture, out / picture.name)
    source = script.read_text(encoding="utf-8")
    match = re.match(r'"""(.*?)"""', source, re.DOTALL)
    words = match[1].strip() if match else script.stem
    first, _, rest = words.partition("\n\n")
    title = _title(script.stem)
    parts = [
        f"# {title}\n",
        " ".join(first.split()) + "\n",
        rest + "\n",
        f"![{title}]({picture.name})\n",
    ]
    if printed.exists() and printed.stat().st_size:
        parts += ["It prints\n", _fenced(printed.read_text(encoding="utf-8"), "text")]
    parts += [f"`examples/{script.name}`\n", _fenced(source, "python")]
    return "\n".join(parts), picture.name


def _output(output: dict[str, Any], name: str, out: Path) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        out.joinpath(name).write_bytes(base64.b64decode("".join(data["image/png"])))
        return f"![what it draws]({name})\n"
    if "text/html" in data:
        return "```{raw} html\n" + "".join(data["text/html"]) + "\n```\n"
    text = "".join(data.get("text/plain", output.get("text", ())))
    return _fenced(text, "text") if text.strip() else ""


def _notebook(notebook: Path, out: Path) -> tuple[str, str]:
    """The page of a notebook with its stored outputs, and its first picture."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    parts, first = [], ""
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source + "\n")
        elif cell["cell_type"] == "code":
            parts.append(_fenced(source, "python"))
            for place, output in enumerate(cell.get("outputs", ())):
                name = f"{notebook.stem}-{number}-{place}.png"
                parts.append(_output(output, name, out))
                first = first or (name if out.joinpath(name).exists() else "")
    text = "\n".join(parts)
    if not text.lstrip().startswith("# "):
        text = f"# {_title(notebook.stem)}\n\n{text}"
    return text + f"\n`examples/{notebook.name}`\n", first


def write(examples: Path, pictures: Path, out: Path) -> list[str]:
    """Write a page for every example and ``index.md``; the names of the pages are returned."""
    pictures.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    cards, names = [], []
    for path in [*sorted(examples.glob("*.py")), *sorted(examples.rglob("*.ipynb"))]:
        if "checkpoint" in path.name:
            continue
        text, picture = (
            _script(path, pictures, out) if path.suffix == ".py" else _notebook(path, out)
        )
        name = path.stem if path.stem not in names else f"{path.stem}_notebook"
        out.joinpath(f"{name}.md").write_text(text, encoding="utf-8")
        names.append(name)
        title = text.lstrip("# ").split("\n", 1)[0]
        image = f"[![{title}]({picture})]({name}.md)" if picture else ""
        cards.append(f":::{{container}} card\n{image}\n\n[{title}]({name}.md)\n:::\n")
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    out.joinpath("index.md").write_text(
        "# Gallery\n\nShort scripts, each with the picture that it drew while this site was built, "
        "and notebooks as they were stored.\n\n"
        f"{toctree}\n\n::::{{container}} gallery\n{chr(10).join(cards)}::::\n",
        encoding="utf-8",
    )
    return names
