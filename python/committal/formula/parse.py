"""Reading formulas from text: a small grammar of its own. Nothing is ever executed.

The grammar is that of Python expressions, cut down to numbers, names that are known, operators,
calls of the vocabulary, its methods, and x[a]. Length and nesting are limited before anything is
read, so that a text from anywhere can be given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from committal.errors import FormulaError
from committal.formula.symbol import NOT_THERE, call, symbol
from committal.formula.tree import INPUT, Node, name, number
from committal.formula.vocabulary import COMPARE, POWER, PRODUCT, ROWS, SIGN
from committal.support import check, limits

__all__ = ["FUNCTIONS", "METHODS", "parse"]

#: Functions of texts: the least and the most operands, and the names of options.
FUNCTIONS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    **dict.fromkeys(("abs", "sign", "exp", "log", "sqrt", "onehot"), (1, 1, ())),
    **dict.fromkeys(("sigmoid", "tanh", "softplus", "log1p", "expm1"), (1, 1, ())),
    **dict.fromkeys(("minimum", "maximum"), (2, 2, ())),
    **dict.fromkeys(("where", "clip"), (3, 3, ())),
    **dict.fromkeys(("sum", "mean", "median", "min", "max"), (1, 1, ("over",))),
    **dict.fromkeys(("logsumexp", "softmax", "tsallis"), (1, 1, ("over",))),
    "std": (1, 1, ("over", "ddof")),
    "dot": (2, 2, ("over",)),
    "others": (1, 2, ("how", "over")),
}

#: Those that may be called as methods: x.sum().
METHODS = ("sum", "mean", "median", "min", "max", "std", "dot", "others", "clip")

_INFIX = {
    row.infix: (row.name, row.binding) for row in ROWS.values() if row.arity == 2 and row.infix
}
_INFIX["@"] = ("dot", PRODUCT)

_PLAIN = ("-", "*", "*", "/", "<=", ">=", "!=", "**2")
_INSTEAD = {
    "if": "where(condition, x, y) instead of if",
    "else": "where(condition, x, y) instead of if",
    "and": "(x) & (y) instead of `and`",
    "or": "(x) | (y) instead of `or`",
    "not": "~(x) instead of `not`",
    "lambda": "one expression",
    "//": "/ instead of //",
    "%": "no remainder",
    "^": "** for powers",
    "=": "== to compare; a text is one expression without assignments, a function may have some",
    ";": "one expression",
    "#": "a formula without comments",
    **{
        greek: f"{name!r}" for greek, name in zip("πθμρ", ("pi", "theta", "mu", "rho"), strict=True)
    },
    **{sign: f"{plain!r}" for sign, plain in zip("−×·÷≤≥≠²", _PLAIN, strict=True)},
}
#: Modules, which functions of texts go without.
_MODULES = ("np", "numpy", "cm", "committal", "math")

#: What names are made of.
_NAME = r"[A-Za-z_]\w*"
NAMES = "a name that begins with a letter from a to z: texts have no others"

_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<number>(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>{_NAME})
  | (?P<text>"[^"\n]*"|'[^'\n]*')
  | (?P<sign>\*\*|//|<=|>=|==|!=|[-+*/@<>&|~()\[\],.%^=;])
  | (?P<end>$)
    )""",
    re.VERBOSE,
)


def is_name(text: str) -> bool:
    """Whether a text can stand for a parameter or a state in formulas.

    Examples
    --------
    >>> is_name("top_2"), is_name("ε")
    (True, False)
    """
    return re.fullmatch(_NAME, text) is not None and text.isidentifier()


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse(
    text: str,
    inputs: Mapping[str, str],
    more: Mapping[str, Node] | None = None,
    *,
    argument: str = "formula",
    absent: Mapping[str, str] | None = None,
) -> Node:
    """Read a formula.

    Parameters
    ----------
    text : str
    inputs : dict
        The shape of every name that may be used.
    more : dict, optional
        Nodes of other names: parameters and states.
    argument : str
        What errors call it.
    absent : dict, optional
        Why some names are not known here: what is allowed instead.

    Examples
    --------
    >>> parse("sum(pi * r) - 0.5", {"pi": "arm", "r": "arm"}).shape
    'run'
    >>> parse("sun(pi)", {"pi": "arm"})
    Traceback (most recent call last):
        ...
    committal.errors.FormulaError: formula = 'sun(pi)' is not allowed; expected one of the \
functions 'abs', 'sign', 'exp', 'log', 'sqrt', 'onehot', 'sigmoid', 'tanh', 'softplus', 'log1p', \
'expm1', 'minimum', 'maximum', 'where', 'clip', 'sum', 'mean', 'median', 'min', 'max', \
'logsumexp', 'softmax', 'tsallis', 'std', 'dot', 'others'; did you mean 'sum'? (at 'sun', \
character 1)
    """
    if not isinstance(text, str):
        raise FormulaError(argument, text, "a text")
    if len(text) > limits.FORMULA_TEXT:
        allowed = f"at most {limits.FORMULA_TEXT} characters (there are {len(text)})"
        raise FormulaError(argument, text[:60] + "…", allowed)
    known = {key: name(INPUT, key, shape) for key, shape in inputs.items()}
    return _Parser(text, known | dict(more or {}), argument, absent or {}).whole()


class _Parser:
    def __init__(
        self, text: str, known: Mapping[str, Node], argument: str, absent: Mapping[str, str]
    ) -> None:
        self.text, self.known, self.argument, self.absent = text, known, argument, absent
        self.tokens = self._tokens()
        self.place = 0
        self.depth = 0

    # -- tokens ----------------------------------------------------------------------------------

    def _tokens(self) -> list[_Token]:
        found, at, nested = [], 0, 0
        while True:
            match = _TOKEN.match(self.text, at)
            if match is None:
                start = len(self.text) - len(self.text[at:].lstrip())
                strange = _Token("?", self.text[start : start + 1], start)
                self._fail(strange, _INSTEAD.get(strange.text, "another character"))
            assert match.lastgroup is not None
            kind, at = match.lastgroup, match.end()
            token = _Token(kind, match[kind], match.start(kind))
            found.append(token)
            nested += (token.text in ("(", "[")) - (token.text in (")", "]"))
            if nested > limits.FORMULA_DEPTH:
                self._too_deep(token)
            if kind == "end":
                return found

    def _fail(self, token: _Token, allowed: str) -> NoReturn:
        at = f"at {token.text!r}, character {token.at + 1}" if token.text else "at its end"
        raise FormulaError(self.argument, self._around(token), f"{allowed} ({at})") from None

    def _around(self, token: _Token) -> str:
        """The text, or what is around the token in a long one."""
        if len(self.text) <= 100:
            return self.text
        low, high = max(token.at - 40, 0), token.at + 50
        return "…" * (low > 0) + self.text[low:high] + "…" * (high < len(self.text))

    def _too_deep(self, token: _Token) -> NoReturn:
        self._fail(token, f"nesting of at most {limits.FORMULA_DEPTH} levels")

    @property
    def now(self) -> _Token:
        return self.tokens[self.place]

    def take(self, text: str = "") -> _Token:
        token = self.now
        if text and (token.text != text or token.kind == "text"):
            self._fail(token, self._instead(token) or f"{text!r}")
        self.place += token.kind != "end"
        return token

    def has(self, text: str) -> bool:
        return self.now.text == text and self.now.kind == "sign"

    def _instead(self, token: _Token) -> str:
        return _INSTEAD.get(token.text, "") if token.kind in ("name", "sign") else ""

    # -- grammar ---------------------------------------------------------------------------------

    def whole(self) -> Node:
        made = self.expression(COMPARE)
        if self.now.kind != "end":
            between = "an operator, such as *, or the end of the formula"
            self._fail(self.now, self._instead(self.now) or between)
        return made

    def made(self, token: _Token, op: str, *operands: Any, **options: Any) -> Node:
        """An operation; what is wrong with it is told with the place."""
        given = [symbol(x) if isinstance(x, Node) else x for x in operands]
        try:
            return call(op, *given, **options)._node
        except FormulaError as error:
            self._fail(token, f"{error.allowed} (for {error.value!r})")

    def expression(self, least: int) -> Node:
        """An expression whose operators bind at least as tightly as `least`."""
        self.depth += 1
        if self.depth > 2 * limits.FORMULA_DEPTH + 2:  # a bracket, and what is on its left
            self._too_deep(self.now)
        left = self.prefixed()
        compared = False
        while self.now.kind == "sign" and self.now.text in _INFIX:
            op, binding = _INFIX[self.now.text]
            if binding < least:
                break
            token = self.take()
            if binding == COMPARE and compared:
                self._fail(token, "(x < y) & (y < z) instead of a chain of comparisons")
            compared = compared or binding == COMPARE
            # Powers are read to the right, and a sign may stand in the exponent.
            right = self.expression(SIGN if binding == POWER else binding + 1)
            left = self.made(token, op, left, right)
        self.depth -= 1
        return left

    def prefixed(self) -> Node:
        signs = []
        while self.now.kind == "sign" and self.now.text in "+-~" and self.now.text:
            signs.append(self.take())
            if len(signs) > limits.FORMULA_DEPTH:
                self._too_deep(self.now)
        inner = self.expression(POWER) if signs else self.postfixed()
        for token in reversed(signs):
            if token.text != "+":
                inner = self.made(token, "neg" if token.text == "-" else "not", inner)
        return inner

    def postfixed(self) -> Node:
        made = self.atom()
        while self.now.kind == "sign" and self.now.text in (".", "[", "("):
            token = self.take()
            if token.text == "(":
                self._fail(token, "a function's name before its brackets, or * for a product")
            if token.text == "[":
                index = self.expression(COMPARE)
                self.take("]")
                made = self.made(token, "gather", made, index)
                continue
            method = self.take()
            if method.kind != "name" or method.text not in METHODS:
                self._fail(method, check.one_of(method.text, METHODS, "the methods"))
            made = self.called(method, [made])
        return made

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.text == "(" and token.kind == "sign":
            made = self.expression(COMPARE)
            self.take(")")
            return made
        if token.kind != "name" or token.text in _INSTEAD:
            self._fail(token, self._instead(token) or "a number, a name or a bracket")
        if self.has("="):
            self._fail(self.now, _INSTEAD["="])
        if token.text in _MODULES and self.has("."):
            self._fail(token, f"functions without {token.text}.: they have no module here")
        if self.has("("):
            if token.text not in FUNCTIONS:
                names = check.one_of(token.text, FUNCTIONS, "the functions")
                self._fail(token, NOT_THERE.get(token.text, names))
            return self.called(token, [])
        if token.text not in self.known:
            if token.text in FUNCTIONS:
                self._fail(token, f"brackets after the function {token.text}")
            names = check.one_of(token.text, self.known, "the names")
            names += f", or a parameter with a value ({token.text}=...)"
            self._fail(token, self.absent.get(token.text, names))
        return self.known[token.text]

    def number(self, token: _Token) -> Node:
        try:
            return number(float(token.text))
        except FormulaError as error:
            self._fail(token, error.allowed)

    def called(self, token: _Token, operands: list[Any]) -> Node:
        """A call, from its opening bracket on."""
        least, most, allowed = FUNCTIONS[token.text]
        options: dict[str, Any] = {}
        self.take("(")
        while not self.has(")"):
            self.argument_of(token, operands, options, allowed)
            if len(operands) > most:
                self._fail(token, f"at most {most} operands of {token.text}")
            if not self.has(")") and not self.has(","):
                self._fail(self.now, self._instead(self.now) or "',' or ')'")
            if self.has(","):
                self.take()
        self.take(")")
        if len(operands) < least:
            self._fail(token, f"{least} operands of {token.text} (there are {len(operands)})")
        if token.text == "others":
            operands = [*operands, options.pop("how", "sum")][:2]
        return self.made(token, token.text, *operands, **options)

    def argument_of(
        self, token: _Token, operands: list[Any], options: dict[str, Any], allowed: tuple[str, ...]
    ) -> None:
        """One operand, or one option: over="arms"."""
        following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if self.now.kind == "name" and following.text == "=" and following.kind == "sign":
            key = self.take()
            if key.text not in allowed:
                names = check.one_of(key.text, allowed, "the options") if allowed else "no options"
                self._fail(key, names)
            if key.text in options or (key.text == "how" and len(operands) > 1):
                self._fail(key, f"{key.text} once")
            self.take("=")
            options[key.text] = self.literal(key)
        elif options:
            self._fail(self.now, "operands before options")
        elif self.now.kind == "text":
            if token.text != "others" or len(operands) != 1:
                self._fail(self.now, 'text only in over="arms", over="samples", others(x, "mean")')
            operands.append(self.literal(self.now))
        else:
            operands.append(self.expression(COMPARE))

    def literal(self, key: _Token) -> str | int:
        """The value of an option: a text, or a digit."""
        token = self.take()
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind != "number" or token.text not in ("0", "1") or key.text != "ddof":
            self._fail(token, 'a text, such as "arms" (ddof is 0 or 1)')
        return int(token.text)
