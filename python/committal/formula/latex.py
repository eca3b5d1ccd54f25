"""LaTeX of a tree: k counts arms and i samples, and what is summed over has a letter of its own."""

from __future__ import annotations

import re
from typing import NamedTuple

from committal.formula.shapes import axes_of
from committal.formula.text import written
from committal.formula.tree import NUMBER, Node
from committal.formula.vocabulary import ATOM, COMPARE, POWER, PRODUCT, ROWS, SUM

__all__ = ["latex_of"]

_GREEK = {
    name: rf"\{name}"
    for name in (
        *("pi", "theta", "mu", "rho", "alpha", "beta", "gamma", "delta", "eta", "kappa", "lambda"),
        *("nu", "omega", "phi", "sigma", "tau", "xi", "zeta"),
    )
}
_GREEK |= {"lam": r"\lambda", "eps": r"\varepsilon", "epsilon": r"\varepsilon"}
_FIXED = {"theta0": r"\theta^{0}", "score": r"\psi", "natural": r"\psi^{\natural}"}

#: The letters of indices, in the order in which they are taken.
_LETTERS = {"arms": ("k", "j", "l", "m"), "samples": ("i",)}


class _Scope(NamedTuple):
    """The letter (or the arm) that stands for each axis here, and how deep sums are nested."""

    arms: str
    samples: str
    taken: tuple[str, ...]

    def of(self, axis: str) -> str:
        return self.arms if axis == "arms" else self.samples

    def fresh(self, axis: str) -> str:
        """A letter that nothing around uses."""
        letters, primes = _LETTERS[axis], 0
        while True:
            for letter in letters:
                if letter + "'" * primes not in self.taken:
                    return letter + "'" * primes
            primes += 1

    def inside(self, axis: str, letter: str) -> _Scope:
        """Within a reduction that binds a letter."""
        arms, samples = (letter, self.samples) if axis == "arms" else (self.arms, letter)
        return _Scope(arms, samples, (*self.taken, letter))


def latex_of(node: Node) -> str:
    r"""Write a tree as LaTeX.

    Examples
    --------
    >>> from committal.formula.parse import parse
    >>> names = {"pi": "arm", "r": "arm", "R": "sample", "a": "sample"}
    >>> print(latex_of(parse("sum(pi * (r - sum(pi * r))**2)", names)))
    \sum_{k} \pi_{k} \, \left(r_{k} - \sum_{j} \pi_{j} \, r_{j}\right)^{2}
    >>> print(latex_of(parse("others(R, 'mean') * (pi * r)[a]", names)))
    \left(\operatorname{mean}_{i' \ne i} R_{i'}\right) \, \pi_{a_{i}} \, r_{a_{i}}
    """
    axes = axes_of(node.shape)
    taken = tuple(_LETTERS[axis][0] for axis in ("arms", "samples") if axis in axes)
    return _latex(node, _Scope("k", "i", taken))[0]


#: A sum reaches as far as products do: in a product it needs brackets, in a sum none.
_REDUCTION = SUM + 0.5


def _latex(node: Node, scope: _Scope) -> tuple[str, float]:
    """The LaTeX, and how tightly it binds."""
    if node.op == NUMBER:
        return _number(node.value), SUM if node.value < 0.0 else ATOM
    if node.op not in ROWS:
        letters = [scope.of(axis) for axis in ("samples", "arms") if axis in axes_of(node.shape)]
        return _name(node.name, letters), ATOM
    row = ROWS[node.op]
    if node.op == "gather":
        x, index = node.operands
        arm = _latex(index, scope)[0]
        return _latex(x, scope._replace(arms=arm))
    if node.op == "onehot":
        return rf"\mathbf{{1}}\{{{scope.arms} = {_latex(node.operands[0], scope)[0]}\}}", ATOM
    if node.op in ("softmax", "tsallis"):  # of the entry itself
        inner = _latex(node.operands[0], scope)
        return row.latex.format(inner[0], own=scope.of(node.over)), ATOM
    if node.over:
        letter = scope.fresh(node.over)
        inner = _latex(node.operands[0], scope.inside(node.over, letter))
        text = row.latex.format(_bracketed(inner, PRODUCT), i=letter, own=scope.of(node.over))
        return text, _REDUCTION
    operands = [_latex(x, scope) for x in node.operands]
    return row.latex.format(*_placed(node, operands)), _binding(node)


def _binding(node: Node) -> float:
    if node.op == "div":
        return ATOM
    # A sign is a term of a sum, whatever it stands before.
    return SUM if node.op == "neg" else ROWS[node.op].binding


def _placed(node: Node, operands: list[tuple[str, float]]) -> list[str]:
    """The operands of an operation, in brackets where they need some."""
    row = ROWS[node.op]
    if node.op == "neg":
        return [_bracketed(operands[0], _REDUCTION)]
    if row.binding == POWER:
        return [_base(node.operands[0], operands[0]), operands[1][0]]
    if node.op == "log1p":
        return [_bracketed(operands[0], _REDUCTION)]
    if not row.infix or node.op == "div":
        return [text for text, _ in operands]
    if row.arity == 1:
        return [_bracketed(operands[0], row.binding)]
    first: float = row.binding + (row.binding == COMPARE)
    if node.op == "mul" and node.operands[0].op == NUMBER:
        first = SUM  # -2 x
    after: float = row.binding + 1
    if node.op == "mul":
        after = PRODUCT  # in writing, products of products and sums of sums need no brackets
    elif row.binding == SUM:
        after = _REDUCTION if node.op == "sub" else SUM
    if operands[1][0].startswith("-"):
        after = ATOM + 1.0
    return [_bracketed(operands[0], first), _bracketed(operands[1], after)]


def _base(node: Node, operand: tuple[str, float]) -> str:
    """What a power is of: names, numbers, magnitudes and roots go without brackets."""
    plain = node.op not in ROWS or node.op in ("abs", "sqrt", "gather")
    text, binding = operand
    if plain and binding == ATOM and "^" not in text:
        return text
    return rf"\left({text}\right)"


def _bracketed(operand: tuple[str, float], at_least: float) -> str:
    text, binding = operand
    return text if binding >= at_least else rf"\left({text}\right)"


def _number(value: float) -> str:
    digits, _, power = written(value).partition("e")
    if not power:
        return digits
    ten = f"10^{{{int(power)}}}"
    return digits.removesuffix("1") + ten if digits in ("1", "-1") else rf"{digits} \cdot {ten}"


def _name(name: str, letters: list[str]) -> str:
    stem, digits = name, ""
    found = re.fullmatch(r"([A-Za-z]+)_?(\d+)", name)
    if found and name not in _FIXED:
        stem, digits = found[1], found[2]
    text = _FIXED.get(stem) or _GREEK.get(stem)
    if text is None:
        text = stem if len(stem) == 1 else rf"\mathrm{{{stem}}}".replace("_", r"\_")
    index = [*([digits] if digits else []), *letters]
    together = "" if all(len(part) == 1 for part in letters) and not digits else ","
    return f"{text}_{{{together.join(index)}}}" if index else text
