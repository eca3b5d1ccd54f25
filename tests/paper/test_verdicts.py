"""Verdicts: intervals against ranges."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from committal.paper import bandit_figure
from committal.paper.figures import natural, projected, two_arms, vanilla
from committal.paper.verdicts import (
    MANY,
    NONE,
    SOME,
    Estimate,
    Finding,
    Verdict,
    documented,
    positive,
    sigmas_between_rates,
    within,
    worst,
)

REFERENCE = Path(__file__).parent.parent / "data" / "bandit_rates.json"


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.2, 0.3), Verdict.HOLDS),
        ((0.0, 0.05), Verdict.FAILS),
        ((0.6, 0.7), Verdict.FAILS),
        ((0.05, 0.2), Verdict.UNDECIDED),
        ((0.0, 1.0), Verdict.UNDECIDED),
        ((math.nan, math.nan), Verdict.FAILS),
    ],
)
def test_an_interval_is_inside_outside_or_between(
    interval: tuple[float, float], expected: Verdict
) -> None:
    assert within(*interval, at_least=0.1, at_most=0.5) is expected


def test_words_cover_all_rates_and_do_not_overlap() -> None:
    assert (NONE.low, NONE.high, SOME.high, MANY.high) == (0.0, SOME.low, MANY.low, 1.0)


def test_a_difference_must_exceed_three_standard_errors() -> None:
    assert positive(Estimate.of_mean(0.31, 0.1)) is Verdict.HOLDS
    assert positive(Estimate.of_mean(0.29, 0.1)) is Verdict.UNDECIDED
    assert positive(Estimate.of_mean(-0.31, 0.1)) is Verdict.FAILS
    assert positive(Estimate.of_mean(1.0, math.nan)) is Verdict.UNDECIDED


def test_one_failure_makes_the_whole_fail() -> None:
    assert worst([Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED]) is Verdict.FAILS
    assert worst([]) is Verdict.HOLDS
    assert documented(Verdict.FAILS) is Verdict.DIFFERS
    assert documented(Verdict.HOLDS) is Verdict.HOLDS


def test_differences_have_the_error_of_both() -> None:
    gap = Estimate.of_mean(1.0, 0.3).minus(Estimate.of_mean(0.5, 0.4))
    assert gap.estimate == pytest.approx(0.5)
    assert gap.sem == pytest.approx(0.5)


def test_findings_survive_json() -> None:
    found = Finding("a", "b", "c", Verdict.DIFFERS, "d")
    assert Finding.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_sigmas_between_rates_are_normal() -> None:
    rng = np.random.default_rng(0)
    n, p = 5000, 0.03
    x, y = rng.binomial(n, p, (2, 4000))
    apart = [sigmas_between_rates(int(a), n, b / n, n) for a, b in zip(x, y, strict=True)]
    assert np.mean(np.square(apart)) == pytest.approx(1.0, abs=0.1)


def test_references_are_those_of_the_independent_implementation() -> None:
    rows = {row["name"]: row for row in json.loads(REFERENCE.read_text())}
    suffixes = ("mv_grad-0.5", "mv_grad+0", "mv_grad+0.5", "value+0")
    expected = {
        "npg (0, 3, 5)": natural.FIGURE_1.cases,
        "npg (0, 3, 3)": natural.FIGURE_A2.cases,
        "npg (0, 0, 0)": natural.FIGURE_A3.cases,
        "vpg (0, 0, 0)": vanilla.FIGURE_A4.cases,
        "vpg (0, 3, 3)": vanilla.FIGURE_A6.cases,
    }
    found = {
        f"{start} {suffix}": case
        for start, cases in expected.items()
        for suffix, case in zip(suffixes, cases, strict=True)
    }
    found |= {
        f"two-arm b=-1 alpha={alpha:g} theta0=-1": case
        for alpha, case in zip(two_arms.STUCK, two_arms.CASES, strict=True)
    }
    found |= {
        f"direct b={b:g}": case for b, case in zip((-0.5, 0, 0.5), projected.CASES, strict=True)
    }
    found |= {
        f"npg (0,3,5) mv_nat{suffix}": case
        for suffix, case in zip(("-0.5", "+0", "+0.5"), natural.FIGURE_1.companions, strict=True)
    }
    assert found.keys() == rows.keys()
    for name, case in found.items():
        config = rows[name]["config"]
        assert case.reference == (rows[name]["result"]["fail"], config.get("n", 100_000)), name
        assert case.experiment.steps == config["T"], name
        assert case.experiment.update.step_size == config["alpha"], name
    assert bandit_figure.BELOW == 0.9
