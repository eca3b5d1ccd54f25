"""Symbols: what stands for numbers while a function is traced, and what cannot be done to them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from committal.errors import FormulaError
from committal.formula.text import text_of
from committal.formula.tree import INPUT, Node, name, number
from committal.formula.vocabulary import COUNTS, apply
from committal.support import check

__all__ = ["NOT_THERE", "Symbol", "call", "node_of", "symbol"]

_ARITHMETIC = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "power": "pow",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
    "negative": "neg",
}
_REPLACED = {"absolute": "abs", "fabs": "abs", "matmul": "dot"}
_REPLACED |= {"amax": "max", "amin": "min", "logaddexp": "logsumexp"}
_OWN = frozenset(
    (
        *("abs", "sign", "exp", "log", "sqrt", "where", "minimum", "maximum", "clip"),
        *("sum", "mean", "median", "min", "max", "std", "dot", "others", "onehot"),
        *("logsumexp", "softmax", "tsallis"),
        *("sigmoid", "tanh", "softplus", "log1p", "expm1"),
    )
)


_COUNTED = "K, the number of arms, or N, the number of samples, as an argument of the function"


class Symbol:
    """What stands for a number while a function is traced: it remembers what is done to it.

    Examples
    --------
    >>> x = symbol(number(2)) + 1
    >>> x
    2 + 1
    """

    __slots__ = ("_node",)
    _node: Node

    def __init__(self, node: Node) -> None:
        object.__setattr__(self, "_node", node)

    def __repr__(self) -> str:
        return text_of(self._node)

    # -- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Symbol:
        return call("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return call("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return call("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return call("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return call("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return call("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return call("div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return call("div", other, self)

    def __pow__(self, other: Any, modulo: Any = None) -> Symbol:
        if modulo is not None:
            self._refuse("x**y without a remainder")
        return call("pow", self, other)

    def __rpow__(self, other: Any) -> Symbol:
        return call("pow", other, self)

    def __matmul__(self, other: Any) -> Symbol:
        return self.dot(other)

    def __rmatmul__(self, other: Any) -> Symbol:
        return call("mul", other, self).sum()

    def __neg__(self) -> Symbol:
        return call("neg", self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return call("abs", self)

    # -- truths ----------------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Symbol:
        return call("lt", self, other)

    def __le__(self, other: Any) -> Symbol:
        return call("le", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return call("gt", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return call("ge", self, other)

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return call("eq", self, other)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return call("ne", self, other)

    def __and__(self, other: Any) -> Symbol:
        return call("and", self, other)

    def __rand__(self, other: Any) -> Symbol:
        return call("and", other, self)

    def __or__(self, other: Any) -> Symbol:
        return call("or", self, other)

    def __ror__(self, other: Any) -> Symbol:
        return call("or", other, self)

    def __invert__(self) -> Symbol:
        return call("not", self)

    # -- along an axis ---------------------------------------------------------------------------

    def sum(self, over: str = "") -> Symbol:
        """Sum over arms or samples."""
        return call("sum", self, over=over)

    def mean(self, over: str = "") -> Symbol:
        """Mean over arms or samples."""
        return call("mean", self, over=over)

    def median(self, over: str = "") -> Symbol:
        """Middle entry, or the mean of the two in the middle."""
        return call("median", self, over=over)

    def min(self, over: str = "") -> Symbol:
        """Smallest entry."""
        return call("min", self, over=over)

    def max(self, over: str = "") -> Symbol:
        """Largest entry."""
        return call("max", self, over=over)

    def std(self, over: str = "", ddof: int = 0) -> Symbol:
        """Standard deviation, divided by the count less `ddof`."""
        return call("std", self, over=over, ddof=ddof)

    def dot(self, other: Any, over: str = "") -> Symbol:
        """Sum of products."""
        return call("dot", self, other, over=over)

    def others(self, how: str = "sum", over: str = "") -> Symbol:
        """For every entry, the sum or the mean of all the others."""
        return call("others", self, how, over=over)

    def clip(self, low: Any, high: Any) -> Symbol:
        """Between two numbers."""
        return call("clip", self, low, high)

    def __getitem__(self, index: Any) -> Symbol:
        if isinstance(index, slice | tuple) or index is None or index is Ellipsis:
            raise FormulaError("index", index, "one arm: x[a] for the drawn, x[0] for the first")
        return call("gather", self, index)

    # -- what cannot be done ---------------------------------------------------------------------

    def _refuse(self, use: str) -> NoReturn:
        raise FormulaError("formula", repr(self), use)

    def __bool__(self) -> bool:
        self._refuse(
            "no if, and, or, not, min(), max() or chain of comparisons on it: its value is not "
            "known while the function is traced; write cm.where(condition, x, y), &, |, ~, "
            "cm.minimum, cm.maximum"
        )

    def __iter__(self) -> NoReturn:
        self._refuse(
            "no loop over it: the number of arms and samples is not known while the function is "
            "traced; write x.sum(), x.mean(), x.max(), x.others() or elementwise operations"
        )

    def __len__(self) -> int:
        self._refuse(_COUNTED)

    def __contains__(self, item: object) -> bool:
        self._refuse("(x == value).max() instead of `in`")

    def __setitem__(self, index: object, value: object) -> None:
        self._refuse(
            "no assignment to its entries: a formula never changes; write "
            "cm.where(cm.onehot(a) > 0, new, old)"
        )

    def __delitem__(self, index: object) -> None:
        self._refuse("all its entries: none is deleted; write x.others() for all but each")

    def __hash__(self) -> int:
        self._refuse("no set of it and no key of a dictionary: its value is not known")

    def __format__(self, how: str) -> str:
        if how:
            self._refuse(f"no format {how!r}: its value is not known while the function is traced")
        return repr(self)

    def __setattr__(self, name: str, value: object) -> None:
        self._refuse(f"no attribute {name!r}: a formula never changes")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        methods = ("sum", "mean", "median", "min", "max", "std", "dot", "others", "clip")
        allowed = _COUNTED if name in ("shape", "size") else check.one_of(name, methods, "methods")
        raise FormulaError("formula", f"{self!r}.{name}", allowed)

    def _number(self, *_: object) -> NoReturn:
        self._refuse(
            "no function of math or NumPy, no int() or float() and no range() of it: its value is "
            "not known while the function is traced; write cm.exp, cm.log, cm.sqrt, cm.where, ..."
        )

    __float__ = __int__ = __complex__ = __index__ = _number
    __round__ = __floor__ = __ceil__ = __trunc__ = _number

    def __array__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("no array of it: vectors over arms and samples are vectors already")

    def _no_division(self, other: object) -> NoReturn:
        self._refuse("+, -, *, / and **: there is no // and no %")

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _no_division

    def __xor__(self, other: object) -> NoReturn:
        self._refuse("** for powers, != for one or the other")

    __rxor__ = __xor__

    def __lshift__(self, other: object) -> NoReturn:
        self._refuse("* 2**n instead of shifts")

    __rlshift__ = __rshift__ = __rrshift__ = __lshift__

    def __call__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("a number, which is not called; a product is written with *")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Symbol:
        name = ufunc.__name__
        if name not in _ARITHMETIC or method != "__call__" or options:
            self._refuse(_instead(name, method))
        return call(_ARITHMETIC[name], *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        self._refuse(_instead(function.__name__, "__call__"))


#: What is not there, and what to write instead.
NOT_THERE = {
    **dict.fromkeys(
        ("quantile", "percentile", "sort", "argsort", "partition", "topk", "rank"),
        "what needs no sorting: min, max, mean, std, sums; there is none",
    ),
    "argmax": "x == max(x), which is 1 where it is the largest",
    "argmin": "x == min(x), which is 1 where it is the smallest",
    "var": "std(x)**2",
    "norm": "sqrt(sum(x**2))",
    "prod": "exp(sum(log(x)))",
    "square": "x**2",
    "pow": "x**y",
    "power": "x**y",
    "average": "mean(x)",
    "log2": "log(x) / log(2)",
    "log10": "log(x) / log(10)",
    "reciprocal": "1 / x",
    "relu": "maximum(x, 0)",
}


def _instead(name: str, method: str) -> str:
    own = _REPLACED.get(name, name)
    if method == "__call__" and own in _OWN:
        return f"cm.{own} instead of np.{name}"
    if method == "__call__" and name in NOT_THERE:
        return f"{NOT_THERE[name]} (instead of np.{name})"
    known = ", ".join(sorted(_OWN))
    return f"no NumPy function of it (np.{name}); the vocabulary is {known}"


def symbol(node: Node) -> Symbol:
    """A symbol for a node.

    Examples
    --------
    >>> symbol(number(3))
    3
    """
    return Symbol(node)


def node_of(op: str, value: Any) -> Node:
    if isinstance(value, Symbol):
        return value._node
    if isinstance(value, np.ma.MaskedArray):
        raise FormulaError(op, str(value), "numbers that are there, not masked ones")
    if isinstance(value, bool | np.bool_):
        # `x & (1 < 2)`: a truth that Python has computed.
        return apply("eq", number(float(value)), number(1))
    zero_dimensional = isinstance(value, np.ndarray) and value.ndim == 0
    if (zero_dimensional and value.dtype.kind in "iuf") or check.is_real(value):
        try:
            return number(float(value))
        except (OverflowError, FormulaError):
            raise FormulaError(op, value, "finite numbers") from None
    raise FormulaError(
        op,
        value,
        "numbers and what the function was given (an array is not: vectors over arms are pi, r, "
        "theta, ... and what is made of them)",
    )


def call(op: str, *operands: Any, over: str = "", ddof: int = 0) -> Symbol:
    """Do something of the vocabulary to symbols and numbers.

    Examples
    --------
    >>> call("clip", 3, 0, 1)
    minimum(maximum(3, 0), 1)
    """
    return Symbol(_called(op, operands, over, ddof))


def _called(op: str, operands: tuple[Any, ...], over: str, ddof: int) -> Node:
    if op == "others":
        x, how = operands
        if not isinstance(how, str) or how not in ("sum", "mean"):
            raise FormulaError("others.how", how, "'sum' or 'mean'")
        return apply(f"others_{how}", node_of("others.x", x), over=over)
    names = _ARGUMENTS.get(op, ("x", "y"))
    nodes = [node_of(f"{op}.{names[i]}", operand) for i, operand in enumerate(operands)]
    if op == "clip":
        return apply("minimum", apply("maximum", nodes[0], nodes[1]), nodes[2])
    if op == "dot":
        return apply("sum", apply("mul", *nodes), over=over)
    if isinstance(ddof, bool) or not isinstance(ddof, int) or ddof not in (0, 1):
        raise FormulaError("std.ddof", ddof, "0 or 1")
    if op == "std" and ddof == 1:
        return _corrected(nodes[0], over)
    return apply(op, *nodes, over=over)


#: What functions call their operands, where it is not x and y.
_ARGUMENTS = {
    "where": ("condition", "x", "y"),
    "clip": ("x", "low", "high"),
    "onehot": ("a",),
    "gather": ("x", "index"),
}


def _corrected(x: Node, over: str) -> Node:
    """std * sqrt(n / (n - 1))."""
    plain = apply("std", x, over=over)
    count = name(INPUT, COUNTS[plain.over])
    return apply("mul", plain, apply("sqrt", apply("div", count, apply("sub", count, number(1)))))
