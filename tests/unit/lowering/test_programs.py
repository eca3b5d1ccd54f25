"""Lowered formulas: what the core's interpreter computes is what NumPy computes of the tree."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import committal as cm
from committal import _core
from committal.errors import FormulaError
from committal.formula.evaluate import evaluate
from committal.formula.formula import Formula, from_text
from committal.formula.normal import normal
from committal.formula.tree import Node
from committal.lowering.programs import lower_formula, lower_programs
from committal.support import limits

sys.path.insert(0, str(Path(__file__).parents[1] / "formula"))
from random_formulas import INPUTS, K, N, formulas, values

ISAS = _core.available()["isas"]
LANES = 5
EXTENT = {"run": (), "arm": (K,), "sample": (N,), "sample_arm": (N, K)}


def lanes(seed: int) -> dict[str, Any]:
    """Values of every input for some lanes, [..., lane]."""
    rng = np.random.default_rng(seed)
    base = values()
    found = {}
    for name, shape in INPUTS.items():
        x = np.asarray(base[name], dtype=float)[..., None] * np.ones(LANES)
        if name not in ("K", "N", "a"):
            x = x * rng.uniform(0.5, 1.5, size=(*EXTENT[shape], LANES))
        found[name] = x
    found["a"] = rng.integers(0, K, size=(N, LANES)).astype(float)
    return found


def interpreted(formula: Formula, given: dict[str, Any], isa: str) -> np.ndarray[Any, Any]:
    program = lower_formula(formula, counts={"arms": K, "samples": N})
    used = {name: np.ascontiguousarray(given[name]) for name, _ in program.inputs}
    # A formula of numbers alone has no lanes to look at.
    assume(used)
    out = _core.run_program(program.core(), used, arms=K, samples=N, isa=isa)
    return out["value"]


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(formulas(), st.integers(0, 100))
def test_the_interpreter_agrees_with_numpy(tree: Node, seed: int) -> None:
    try:
        formula = Formula(normal(tree))
    except FormulaError:
        assume(False)
    given_values = lanes(seed)
    by_run = {name: np.moveaxis(x, -1, 0) for name, x in given_values.items()}
    want = np.moveaxis(np.atleast_1d(evaluate(formula.result, by_run)), 0, -1)
    shape = EXTENT[formula.result.shape]
    want = np.broadcast_to(want.reshape((*shape, -1)), (*shape, LANES))
    first = None
    for isa in ISAS:
        got = interpreted(formula, given_values, isa)
        ok = np.isfinite(want) & (np.abs(want) < 1e200)
        assume(np.abs(want[ok]).max(initial=0.0) < 1e12)
        np.testing.assert_allclose(got[ok], want[ok], rtol=1e-9, atol=1e-9)
        first = got if first is None else first
        np.testing.assert_array_equal(got, first)  # the same bits on every instruction set


def test_common_parts_are_computed_once() -> None:
    program = lower_formula(from_text("exp(pi).sum() / (exp(pi).sum() + 1)", INPUTS))
    assert [op for op, *_ in program.code].count("exp") == 1
    assert [op for op, *_ in program.code].count("sum_arms") == 1


def test_parameters_are_folded() -> None:
    program = lower_formula(from_text("(1 - b1) * 2 * r.sum()", INPUTS, {"b1": 0.75}))
    assert [value for _, value in program.constants] == [0.5]
    assert [op for op, *_ in program.code] == ["sum_arms", "mul"]


@pytest.mark.parametrize(
    ("text", "behaviour", "read"),
    [
        ("rho / (1 + std(R))", cm.OnPolicy(), ["R"]),
        ("where(A > 0, minimum(rho, 1.2), maximum(rho, 0.8))", cm.OnPolicy(), ["A"]),
        ("rho / (1 + std(R))", cm.UniformMixture(0.5), ["R", "rho"]),
        ("rho / sum(rho)", cm.OnPolicy(), ["rho"]),  # there are three of them
    ],
)
def test_a_ratio_that_is_one_is_a_number(
    text: str, behaviour: cm.Behaviour, read: list[str]
) -> None:
    made = lower_programs(
        cm.Experiment(
            cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=9, behaviour=behaviour,
            estimator=cm.OneSample(3, weight=cm.weight(text)),
        )
    )  # fmt: skip
    assert sorted(name for name, _ in made["weight"].inputs) == read


def test_whole_powers_are_products() -> None:
    program = lower_formula(from_text("sum(pi**-3) + sum(pi**p)", INPUTS, {"p": 2}))
    assert {op[3] for op in program.code if op[0] == "powi"} == {2, -3}
    assert not program.constants
    assert "pow" in {op for op, *_ in lower_formula(from_text("sum(pi**1.5)", INPUTS)).code}


def test_states_and_outputs_are_registers_of_their_own() -> None:
    program = lower_formula(cm.Adam().tree)
    assert [key for key, _ in program.outputs] == ["value", "state:m", "state:v"]
    assert len({place for _, place in program.outputs}) == 3
    assert program.state == {"m": 0.0, "v": 0.0}
    given = {"g": np.ones((2, 3)), "t": np.zeros(3)}
    out = _core.run_program(program.core(), given, arms=2)
    np.testing.assert_allclose(out["value"], 1.0, rtol=1e-7)
    again = {**given, "t": np.ones(3), "state:m": out["state:m"], "state:v": out["state:v"]}
    np.testing.assert_allclose(_core.run_program(program.core(), again, arms=2)["value"], 1.0)


def test_terms_of_a_baseline_become_one_program() -> None:
    one = cm.baseline("v", state={"v": (1.0, "mean(R)")})
    other = cm.baseline("2 * v", state={"v": (3.0, "max(R)")})
    e = cm.Experiment(
        cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), one - 0.5 * other + cm.Value() - 7,
        steps=1,
    )  # fmt: skip
    program = lower_programs(e)["baseline"]
    assert sorted(program.state.values()) == [1.0, 3.0]
    out = _core.run_program(program.core(), {"R": np.array([[4.0]])}, arms=2, samples=1)
    np.testing.assert_allclose(out["value"], 1.0 - 0.5 * 2 * 3.0)
    np.testing.assert_allclose(sorted(out[f"state:{k}"][0] for k in program.state), [4.0, 4.0])


def test_links_bring_their_slope() -> None:
    e = cm.Experiment(
        cm.Bandit([1, 0]), cm.link("abs(theta)**p + 1", p=3)([1, 2]), cm.Vanilla(0.1), steps=1
    )
    program = lower_programs(e)["link"]
    out = _core.run_program(program.core(), {"theta": np.array([[-2.0], [1.0]])}, arms=2)
    np.testing.assert_allclose(out["value"][:, 0], [9, 2])
    np.testing.assert_allclose(out["slope"][:, 0], [-12, 3])
    flat = cm.link("theta + 2")([1, 2])
    program = lower_programs(e.replace(policy=flat))["link"]
    out = _core.run_program(program.core(), {"theta": np.array([[-2.0], [1.0]])}, arms=2)
    np.testing.assert_allclose(out["slope"], np.ones((2, 1)))


def test_too_many_operations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OPERATIONS", 2)
    with pytest.raises(FormulaError, match=r"at most 2 operations \(there are 4\)"):
        lower_formula(from_text("exp(log(sqrt(sum(pi))))", INPUTS))


def test_tracing_and_lowering_take_milliseconds() -> None:
    def made() -> None:
        collision = cm.baseline(lambda pi, r: ((w := pi**2) * r).sum() / w.sum())
        lower_formula(collision.tree)
        lower_formula(cm.Adam().tree)

    made()
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        made()
        times.append(time.perf_counter() - begun)
    assert min(times) < 5e-3
