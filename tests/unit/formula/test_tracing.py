"""What Python allows and a formula does not: every case is typed, placed and told what to write."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import FormulaError


def deleted(pi: Any) -> Any:
    del pi[0]
    return pi.sum()


def assigned(pi: Any) -> Any:
    pi[0] = 1
    return pi.sum()


def endless(pi: Any) -> Any:
    return endless(pi) + 1


def helped(pi: Any) -> Any:
    return helper(pi)


def helper(pi: Any) -> Any:
    return np.exp(pi).sum()


def yielding(pi: Any) -> Any:
    yield pi


async def waiting(pi: Any) -> Any:
    return pi.sum()


def silent(pi: Any) -> Any:
    pi.sum()


def several(*pi: Any) -> Any:
    return pi


def anything(pi: Any, **more: Any) -> Any:
    return pi


def looped(pi: Any) -> Any:
    total = 0
    for x in pi:
        total += x
    return total


CASES: dict[str, tuple[Callable[..., Any], str]] = {
    "mean(axis=0)": (lambda pi: pi.mean(axis=0), r'cm\.mean\(x, over="arms"\).*axes have names'),
    "cm.sum(axis=0)": (lambda pi: cm.sum(pi, axis=0), "axes have names"),  # type: ignore[call-arg]
    "sum(0)": (lambda pi: pi.sum(0), "'arms' or 'samples'"),
    "keepdims": (lambda pi: pi.mean(keepdims=True), r"or x\.mean\(\.\.\.\)"),
    "clip(min=)": (lambda pi: pi.clip(min=0).sum(), r"cm\.clip\(x, low, high\)"),
    "where of two": (lambda pi: cm.where(pi > 0, 1), r"cm\.where\(condition, x, y\)"),  # type: ignore[call-arg]
    "exp of two": (lambda pi: cm.exp(pi, 2), r"expected cm\.exp\(x\)"),  # type: ignore[call-arg]
    "max(x, 0)": (lambda pi: cm.max(pi, 0), r"cm\.maximum\(x, y\)"),  # type: ignore[arg-type]
    "del": (deleted, r"none is deleted.*in deleted, line \d+: del pi\[0\]"),
    "assignment": (assigned, r"onehot.*in assigned, line \d+: pi\[0\] = 1"),
    "*args": (several, "arguments with names"),
    "**kwargs": (anything, "arguments with names"),
    "recursion": (endless, "does not call itself"),
    "helper": (helped, r"cm\.exp instead of np\.exp \(in helper, line .*, called by helped\)"),
    "generator": (yielding, "no yield"),
    "async": (waiting, "no async"),
    "None": (silent, "is there a `return`"),
    "tuple": (lambda pi: (pi, pi), "one formula"),
    "list": (lambda pi: [pi.sum()], "one formula"),
    "array": (lambda pi: np.zeros(3), "an array is not"),
    "True": (lambda pi: True, "not True or False"),
    "np.True_": (lambda pi: np.bool_(True), "not True or False"),
    "text": (lambda pi: "pi", "a formula"),
    "len": (lambda pi: len(pi), "K, the number of arms"),
    "shape": (lambda pi: pi.shape[0], "K, the number of arms"),
    "loop": (looped, r"x\.sum\(\).*in looped, line \d+: for x in pi"),
    "star": (lambda pi: list(pi), "no loop"),
    "float": (lambda pi: float(pi.sum()), "float"),
    "int": (lambda t: int(t), "int"),
    "f-string": (lambda pi: f"{pi}", "a formula"),
    "format": (lambda pi: f"{pi:.3f}", r"no format '\.3f'"),
    "np.where": (lambda pi: np.where(pi > 0, 1, 0), r"cm\.where instead of np\.where"),
    "math.exp": (lambda pi: math.exp(pi), r"cm\.exp"),
    "round": (lambda pi: round(pi.sum()), "its value is not known"),
    "//": (lambda pi: pi // 2, "there is no //"),
    "%": (lambda t: t % 2, "no %"),
    "pow(x, y, z)": (lambda pi: pow(pi, 2, 3), "without a remainder"),
    "<<": (lambda t: t << 2, "instead of shifts"),
    "not": (lambda t: not t, "~"),
    "and": (lambda t, K: t > 0 and K > 1, "&"),
    "chain": (lambda t: 0 < t < 1, "chain"),
    "set": (lambda pi: len({pi, pi}), "no set"),
    "in": (lambda pi: 1 in pi, "instead of `in`"),
    "pi[-1]": (lambda pi: pi[-1], "from 0"),
    "pi[1.5]": (lambda pi: pi[1.5], "whole number"),
    "/ 0": (lambda pi: pi.sum() / 0, "a divisor other than 0"),
    "complex": (lambda pi: 1j * pi.sum(), "numbers"),
    "a part": (lambda pi: cm.Value(), "a formula"),
    "np.quantile": (lambda R: np.quantile(R, 0.5), "no sorting"),
    "np.argmax": (lambda pi: np.argmax(pi), r"x == max\(x\)"),
    "an unknown name": (lambda v: v, r"v=\.\.\. behind a \*, a state is declared by state="),
    "A in a baseline": (lambda A: A, "'A' is known in: weight, update, quantity"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_told(case: str) -> None:
    function, words = CASES[case]
    with pytest.raises(FormulaError, match=words):
        cm.baseline(function)


@pytest.mark.parametrize("make", [cm.baseline, cm.weight, cm.update, cm.optimiser, cm.link])
def test_a_text_knows_the_names_of_other_parts(make: Any) -> None:
    with pytest.raises(FormulaError, match=r"'theta0' is known in: quantity .*character 1"):
        make("theta0")


def test_what_works() -> None:
    def bare(pi: Any, /, r: Any) -> Any:
        return (pi * r).sum()

    class Rule:
        def __call__(self, pi: Any) -> Any:
            return pi.max()

    assert cm.baseline(bare) == cm.baseline("sum(pi * r)")
    assert cm.baseline(Rule()) == cm.baseline("max(pi)")
    scaled = functools.partial(lambda pi, c: c * pi.max(), c=2)
    assert cm.baseline(scaled) == cm.baseline("c * max(pi)", c=2)
    assert cm.baseline(lambda pi, r: pi @ r) == cm.baseline("sum(pi * r)")
    # What is the user's own stays the user's own.
    with pytest.raises(NameError):
        cm.baseline(lambda pi: nowhere.sum())  # type: ignore[name-defined]  # noqa: F821


def test_long_lines_are_cut() -> None:
    # fmt: off
    def long(pi: Any) -> Any:
        return pi.sum() + pi.mean() + pi.max() + pi.min() + pi.std() + pi.sum() + pi.mean() + pi[:2]
    # fmt: on
    with pytest.raises(FormulaError, match=r"return pi\.sum\(\).*…\)$"):
        cm.baseline(long)


CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "a number": (lambda: cm.baseline("max(pi)")(2), "baseline = 2 .* it has no parameters"),
    "by name": (lambda: cm.baseline("c * max(pi)", c=1)(2), "parameters by name: c=1"),
    "unknown": (lambda: cm.weight("rho / c", c=1)(d=2), r"weight\.d = 2 .* the parameters 'c'"),
    "none": (lambda: cm.optimiser("g")(c=2), "no parameters: it has none"),
    "no step": (
        lambda: cm.update("A * score")(),
        r"update\.step_size = None .* mine\(step_size=0\.1",
    ),
    "two steps": (lambda: cm.update("A * score")(0.1, 3), "update = 3"),
    "step": (lambda: cm.update("A * score")(-1), r"update\.step_size = -1"),
    "two starts": (lambda: cm.link("exp(theta)")([1, 2], [3]), "link = "),
    "no name": (lambda: cm.quantity("max(pi)"), "name=: a text has no name"),
    "lambda": (lambda: cm.quantity(lambda pi: pi.max()), "name=: a lambda has no name"),
    "state": (lambda: cm.weight(state={"v": 0})(lambda v: v), "no state: only baselines"),  # type: ignore[arg-type]
    "recorded": (lambda: cm.Record("value", max), r"cm\.quantity\(\.\.\.\)"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", CALLS)
def test_parts_are_called_with_parameters(case: str) -> None:
    call, words = CALLS[case]
    with pytest.raises(cm.ConfigError, match=words):
        call()


E = cm.Experiment(cm.Bandit([1, 0.5, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policy": cm.link("exp(theta)")([0, 0, 0]), "update": cm.Natural(0.1)}, "with a link"),
        ({"policy": len}, r"an instance of Softmax, .*cm\.link\(\.\.\.\)"),
        ({"optimiser": len}, r"cm\.optimiser\(\.\.\.\)"),
        ({"baseline": len}, r"cm\.baseline\(\.\.\.\)"),
        ({"update": len}, r"cm\.update\(\.\.\.\)"),
        ({"policy": cm.Direct(), "update": cm.update("score")(0.1)}, "Projected"),
    ],
)
def test_no_internal_name_is_told(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(cm.ConfigError) as caught:
        E.replace(**changes)
    assert "Formula" not in str(caught.value)
    assert re.search(words, str(caught.value))
