"""Mathematics as MathML, which browsers draw by themselves: no script, nothing is fetched."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


# What docutils does not know, in what it knows.
SPELLED = {r"\dots": r"\ldots", r"\Big(": r"\left(", r"\Big)": r"\right)", r"\textstyle": ""}


def _mathml(node: nodes.Element, as_block: bool) -> str:
    text = node.astext()
    for word, known in SPELLED.items():
        text = re.sub(re.escape(word) + r"(?![a-zA-Z])", known.replace("\\", r"\\"), text)
    try:
        return str(tex2mathml(text, as_block=as_block))
    except MathError as error:
        logger.warning("%s: %s", error, node.astext(), location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_mathml(node, as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """The renderer, by the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
