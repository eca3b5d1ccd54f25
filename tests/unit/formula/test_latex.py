"""LaTeX says what the formula says: indices that are summed over are not those that are free."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from committal.formula.latex import latex_of
from committal.formula.normal import normal
from committal.formula.parse import parse
from committal.formula.tree import Node

sys.path.insert(0, str(Path(__file__).parent))
from random_formulas import INPUTS, formulas

CASES = {
    "others(R, 'mean')": r"\operatorname{mean}_{i' \ne i} R_{i'}",
    "others(pi)": r"\sum_{j \ne k} \pi_{j}",
    "sum(pi * (r - sum(pi * r))**2)": (
        r"\sum_{k} \pi_{k} \, \left(r_{k} - \sum_{j} \pi_{j} \, r_{j}\right)^{2}"
    ),
    "R - mean(R)": r"R_{i} - \operatorname{mean}_{i'} R_{i'}",
    "max(pi) * r": r"\left(\max_{j} \pi_{j}\right) \, r_{k}",
    "sum(pi) * sum(r)": r"\left(\sum_{k} \pi_{k}\right) \, \left(\sum_{k} r_{k}\right)",
    "-sum(pi * log(pi))": r"-\sum_{k} \pi_{k} \, \log\left(\pi_{k}\right)",
    "(pi * r)[a]": r"\pi_{a_{i}} \, r_{a_{i}}",
    "(pi * r)[0]": r"\pi_{0} \, r_{0}",
    "score[a]": r"\psi_{i,a_{i}}",
    "onehot(a) * pi": r"\pi_{k} \, \mathbf{1}\{k = a_{i}\}",
    "(pi / r)**2": r"\left(\frac{\pi_{k}}{r_{k}}\right)^{2}",
    "log(pi)**2": r"\left(\log\left(\pi_{k}\right)\right)^{2}",
    "(1e-8)**pi": r"\left(10^{-8}\right)^{\pi_{k}}",
    "pi * -r": r"\pi_{k} \, \left(-r_{k}\right)",
    "sum(-pi)": r"\sum_{k} \left(-\pi_{k}\right)",
    "pi * (r * mu)": r"\pi_{k} \, r_{k} \, \mu_{k}",
    "pi - (r - mu)": r"\pi_{k} - \left(r_{k} - \mu_{k}\right)",
    "2.5e-8 * pi": r"2.5 \cdot 10^{-8} \, \pi_{k}",
    "R * (-2 * A)": r"R_{i} \, \left(-2 \, A_{i}\right)",
}


@pytest.mark.parametrize("text", CASES)
def test_latex(text: str) -> None:
    assert latex_of(normal(parse(text, INPUTS))) == CASES[text]


def test_names() -> None:
    names = {"theta0": "arm", "beta1": "run", "long_name": "run", "m2": "arm"}
    made = latex_of(parse("beta1 * theta0**2 + long_name * m2", names))
    assert made == r"\beta_{1} \, \left(\theta^{0}_{k}\right)^{2} + \mathrm{long\_name} \, m_{2,k}"


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(formulas())
def test_latex_is_well_formed(tree: Node) -> None:
    made = latex_of(tree)
    assert made.count("{") == made.count("}")
    assert made.count(r"\left") == made.count(r"\right")
    assert not re.search(r"\^\{[^{}]*\}\^", made)  # two exponents in a row cannot be set
    assert not re.search(r"(\\,|\+) -", made)
