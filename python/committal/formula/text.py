"""Text and LaTeX of a tree. The text is read back by :mod:`committal.formula.parse`."""

from __future__ import annotations

from committal.formula.shapes import axes_of
from committal.formula.tree import NUMBER, Node, walk
from committal.formula.vocabulary import ATOM, COMPARE, POWER, PRODUCT, ROWS, SIGN, SUM

__all__ = ["latex_of", "text_of", "written"]


def written(value: float) -> str:
    """Write a number as short as it can be read back.

    Examples
    --------
    >>> written(2.0), written(0.1), written(1e300)
    ('2', '0.1', '1e+300')
    """
    whole = value == int(value) and abs(value) < 1e15 and (value != 0.0 or str(value) == "0.0")
    return str(int(value)) if whole else repr(value)


def text_of(node: Node) -> str:
    """Write a tree as text.

    Examples
    --------
    >>> from committal.formula.vocabulary import apply
    >>> from committal.formula.tree import name, number
    >>> pi, r = name("input", "pi", "arm"), name("input", "r", "arm")
    >>> text_of(apply("sum", apply("mul", apply("pow", pi, number(2)), r)))
    'sum(pi**2 * r)'
    """
    made: dict[Node, tuple[str, int]] = {}
    for below in walk(node):
        made[below] = _text(below, [made[operand] for operand in below.operands])
    return made[node][0]


def _wrapped(text: str, binding: int, at_least: int) -> str:
    return text if binding >= at_least else f"({text})"


def _text(node: Node, operands: list[tuple[str, int]]) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    if node.op == NUMBER:
        text = written(node.value)
        return text, SIGN if text.startswith("-") else ATOM
    if node.op not in ROWS:
        return node.name, ATOM
    row = ROWS[node.op]
    if node.op == "gather":
        return f"{_wrapped(*operands[0], ATOM)}[{operands[1][0]}]", ATOM
    if row.infix and row.arity == 1:
        return f"{row.infix}{_wrapped(*operands[0], SIGN)}", SIGN
    if row.infix:
        left, right = operands
        if row.binding == POWER:  # binds to the right, and a sign may follow
            return f"{_wrapped(*left, ATOM)}**{_wrapped(*right, SIGN)}", POWER
        first = row.binding + (row.binding == COMPARE)  # comparisons do not follow each other
        text = f"{_wrapped(*left, first)} {row.infix} {_wrapped(*right, row.binding + 1)}"
        return text, row.binding
    inner = [text for text, _ in operands]
    name = row.name
    if name.startswith("others_"):
        name, how = "others", name.removeprefix("others_")
        inner += [f'"{how}"'] if how != "sum" else []
    if node.over and len(axes_of(node.operands[0].shape)) > 1:
        inner.append(f'over="{node.over}"')
    return f"{name}({', '.join(inner)})", ATOM


# -- LaTeX -----------------------------------------------------------------------------------------

_GREEK = {
    name: rf"\{name}" for name in ("pi", "theta", "mu", "rho", "alpha", "beta", "gamma", "tau")
}
_GREEK |= {"theta0": r"\theta^0", "eps": r"\varepsilon", "epsilon": r"\varepsilon"}
_GREEK |= {"score": r"\psi", "natural": r"\psi^{\natural}"}
_INDEX = {"run": "", "arm": "k", "sample": "i", "sample_arm": "ik"}
_OVER = {"arms": "k", "samples": "i"}


def latex_of(node: Node) -> str:
    """Write a tree as LaTeX: k counts arms, i samples.

    Examples
    --------
    >>> from committal.formula.vocabulary import apply
    >>> from committal.formula.tree import name
    >>> latex_of(apply("sum", apply("abs", name("input", "theta", "arm"))))
    '\\\\sum_{k} \\\\left|\\\\theta_{k}\\\\right|'
    """
    made: dict[Node, tuple[str, int]] = {}
    for below in walk(node):
        made[below] = _latex(below, [made[operand] for operand in below.operands])
    return made[node][0]


def _latex(node: Node, operands: list[tuple[str, int]]) -> tuple[str, int]:
    if node.op == NUMBER:
        return _latex_number(node.value), ATOM if node.value >= 0 else SIGN
    if node.op not in ROWS:
        return _latex_name(node.name, _INDEX[node.shape]), ATOM
    row = ROWS[node.op]
    inner = [text for text, _ in operands]
    binding = row.binding
    if node.op == "gather":
        x = node.operands[0]
        if x.op not in ROWS:
            return _latex_name(x.name, inner[1]), ATOM
        return rf"\left({inner[0]}\right)_{{{inner[1]}}}", ATOM
    if node.op == "div":
        binding = ATOM
    elif row.infix and row.arity == 1:
        inner = [_bracketed(*operands[0], SIGN)]
    elif row.binding == POWER:
        inner = [_bracketed(*operands[0], ATOM), operands[1][0]]
    elif row.infix:
        first = row.binding + (row.binding == COMPARE)
        inner = [_bracketed(*operands[0], first), _bracketed(*operands[1], row.binding + 1)]
    elif node.over:
        # A sum reaches as far as products do, so that in a product it needs brackets itself.
        inner = [_bracketed(*operands[0], PRODUCT)]
        binding = SUM
    return row.latex.format(*inner, i=_OVER.get(node.over, "")), binding


def _bracketed(text: str, binding: int, at_least: int) -> str:
    return text if binding >= at_least else rf"\left({text}\right)"


def _latex_number(value: float) -> str:
    digits, _, power = written(value).partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def _latex_name(name: str, index: str) -> str:
    known = _GREEK.get(name)
    if known is None:
        known = name if len(name) == 1 else rf"\mathrm{{{name}}}".replace("_", r"\_")
    return f"{known}_{{{index}}}" if index else known
