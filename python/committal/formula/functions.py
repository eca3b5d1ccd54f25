"""The vocabulary as functions, for functions that are traced."""

from __future__ import annotations

from typing import Any

from committal.formula.symbol import Symbol, call

__all__ = [
    *("abs", "clip", "dot", "exp", "log", "max", "maximum", "mean", "min", "minimum"),
    *("onehot", "others", "sign", "sqrt", "std", "sum", "where"),
    *("expm1", "log1p", "logsumexp", "sigmoid", "softmax", "softplus", "tanh", "tsallis"),
]


def abs(x: Any) -> Symbol:
    """Magnitude.

    Examples
    --------
    >>> abs(-2)
    abs(-2)
    """
    return call("abs", x)


def sign(x: Any) -> Symbol:
    """-1, 0 or 1.

    Examples
    --------
    >>> sign(-2)
    sign(-2)
    """
    return call("sign", x)


def exp(x: Any) -> Symbol:
    """Exponential.

    Examples
    --------
    >>> exp(1)
    exp(1)
    """
    return call("exp", x)


def log(x: Any) -> Symbol:
    """Natural logarithm.

    Examples
    --------
    >>> log(2)
    log(2)
    """
    return call("log", x)


def sqrt(x: Any) -> Symbol:
    """Square root.

    Examples
    --------
    >>> sqrt(2)
    sqrt(2)
    """
    return call("sqrt", x)


def where(condition: Any, x: Any, y: Any) -> Symbol:
    """x where the condition holds, y elsewhere.

    Examples
    --------
    >>> import committal as cm
    >>> cm.weight(lambda A, rho: where(A > 0, 1, rho))
    weight('where(A > 0, 1, rho)')
    """
    return call("where", condition, x, y)


def minimum(x: Any, y: Any) -> Symbol:
    """The smaller of two.

    Examples
    --------
    >>> minimum(1, 2)
    minimum(1, 2)
    """
    return call("minimum", x, y)


def maximum(x: Any, y: Any) -> Symbol:
    """The larger of two.

    Examples
    --------
    >>> maximum(1, 2)
    maximum(1, 2)
    """
    return call("maximum", x, y)


def clip(x: Any, low: Any, high: Any) -> Symbol:
    """x, but at least `low` and at most `high`.

    Examples
    --------
    >>> clip(3, 0, 1)
    minimum(maximum(3, 0), 1)
    """
    return call("clip", x, low, high)


def sum(x: Any, over: str = "") -> Symbol:
    """Sum over arms or samples.

    Parameters
    ----------
    x
        A vector.
    over : {"arms", "samples"}
        Needed where x has both.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda pi, r: sum(pi * r))
    baseline('sum(pi * r)')
    """
    return call("sum", x, over=over)


def mean(x: Any, over: str = "") -> Symbol:
    """Mean over arms or samples.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: mean(r))
    baseline('mean(r)')
    """
    return call("mean", x, over=over)


def median(x: Any, over: str = "") -> Symbol:
    """Middle entry over arms or samples, or the mean of the two in the middle.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda R: median(R))
    baseline('median(R)')
    """
    return call("median", x, over=over)


def min(x: Any, over: str = "") -> Symbol:
    """Smallest entry over arms or samples.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: min(r))
    baseline('min(r)')
    """
    return call("min", x, over=over)


def max(x: Any, over: str = "") -> Symbol:
    """Largest entry over arms or samples.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: max(r))
    baseline('max(r)')
    """
    return call("max", x, over=over)


def std(x: Any, over: str = "", ddof: int = 0) -> Symbol:
    """Standard deviation over arms or samples, divided by the count less `ddof` (0 or 1).

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: std(r))
    baseline('std(r)')
    """
    return call("std", x, over=over, ddof=ddof)


def dot(x: Any, y: Any, over: str = "") -> Symbol:
    """Sum of products over arms or samples.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda pi, r: dot(pi, r))
    baseline('sum(pi * r)')
    """
    return call("dot", x, y, over=over)


def others(x: Any, how: str = "sum", over: str = "") -> Symbol:
    """For every entry the sum, or the mean, of all the others.

    Parameters
    ----------
    x
        A vector.
    how : {"sum", "mean"}
    over : {"arms", "samples"}
        Needed where x has both.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda R: others(R, "mean"))
    baseline('others(R, "mean")')
    """
    return call("others", x, how, over=over)


def onehot(a: Any) -> Symbol:
    """1 for the arm a, 0 for the others.

    Examples
    --------
    >>> import committal as cm
    >>> cm.quantity(lambda pi: (pi * onehot(0)).sum(), name="first")
    quantity('sum(pi * onehot(0))', name='first')
    """
    return call("onehot", a)


def sigmoid(x: Any) -> Symbol:
    """1 / (1 + exp(-x)), which never overflows.

    Examples
    --------
    >>> sigmoid(2)
    sigmoid(2)
    """
    return call("sigmoid", x)


def tanh(x: Any) -> Symbol:
    """Hyperbolic tangent.

    Examples
    --------
    >>> tanh(2)
    tanh(2)
    """
    return call("tanh", x)


def softplus(x: Any) -> Symbol:
    """log(1 + exp(x)), which never overflows.

    Examples
    --------
    >>> softplus(2)
    softplus(2)
    """
    return call("softplus", x)


def log1p(x: Any) -> Symbol:
    """log(1 + x), precise near 0.

    Examples
    --------
    >>> log1p(2)
    log1p(2)
    """
    return call("log1p", x)


def expm1(x: Any) -> Symbol:
    """exp(x) - 1, precise near 0.

    Examples
    --------
    >>> expm1(2)
    expm1(2)
    """
    return call("expm1", x)


def logsumexp(x: Any, over: str = "") -> Symbol:
    """log of the sum of exp(x) over arms or samples, which never overflows.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: logsumexp(r))
    baseline('logsumexp(r)')
    """
    return call("logsumexp", x, over=over)


def softmax(x: Any, over: str = "") -> Symbol:
    """exp(x) over arms or samples, divided by its sum, which never overflows.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: sum(softmax(r) * r))
    baseline('sum(r * softmax(r))')
    """
    return call("softmax", x, over=over)


def tsallis(x: Any, over: str = "") -> Symbol:
    """4 / (z - x)^2 over arms or samples, with the z > max(x) that makes them add up to 1.

    Examples
    --------
    >>> import committal as cm
    >>> cm.baseline(lambda r: sum(tsallis(r) * r))
    baseline('sum(r * tsallis(r))')
    """
    return call("tsallis", x, over=over)
