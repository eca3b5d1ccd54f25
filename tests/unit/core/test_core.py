"""The compiled core: known answers, accuracy, and agreement with what Python knows of it."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import committal as cm
from committal import _core, reference
from committal.lowering import core_names, lower
from committal.support import limits

ISAS = _core.available()["isas"]


def test_philox_known_answers() -> None:
    # Published with Random123 for philox4x32 with seven rounds.
    ones = [0xFFFFFFFF] * 4
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
    for counter, key, expected in [
        ([0] * 4, [0, 0], "5f6fb709 0d893f64 4f121f81 4f730a48"),
        (ones, ones[:2], "5207ddc2 45165e59 4d8ee751 8c52f662"),
        (pi, [0xA4093822, 0x299F31D0], "4dfccaba 190a87f0 c47362ba b6b5242a"),
    ]:
        words = _core.philox4x32(np.array([counter], np.uint32), np.array(key, np.uint32))
        assert [f"{word:08x}" for word in words[0]] == expected.split()


@pytest.mark.parametrize("isa", ISAS)
def test_streams_are_counters(isa: str) -> None:
    u = _core.uniforms(7, 11, 0, 0, 1000, isa=isa)
    assert ((u >= 0) & (u < 1)).all()
    np.testing.assert_array_equal(_core.uniforms(7, 11, 0, 123, 50, isa=isa), u[123:173])
    for other in (
        _core.uniforms(8, 11, 0, 0, 1000),
        _core.uniforms(7, 12, 0, 0, 1000),
        _core.uniforms(7, 11, 1, 0, 1000),
    ):
        assert abs(np.corrcoef(u, other)[0, 1]) < 0.2
        assert not np.isin(u, other).any()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("bit", [0, 4, 31, 32, 33, 34, 40, 56])
def test_every_bit_of_the_counter_counts(isa: str, bit: int) -> None:
    # The layout is part of the contract: the oracle has it written out again.
    for run, first in ((1 << bit, 2), (3, 1 << bit), ((1 << 63) + 5, (1 << bit) + 6)):
        for slot in (0, 3):
            got = _core.uniforms(0x0123456789ABCDEF, run, slot, first, 20, isa=isa)
            want = reference.uniforms(0x0123456789ABCDEF, run, slot, first, 20)
            np.testing.assert_array_equal(got, want)


def test_uniforms_pass_a_kolmogorov_test() -> None:
    from scipy import stats

    u = np.concatenate([_core.uniforms(1, run, 0, 0, 1000) for run in range(200)])
    assert stats.kstest(u, "uniform").pvalue > 1e-6
    # Neighbouring draws and neighbouring runs fill the unit square evenly.
    pairs, _, _ = np.histogram2d(u[0::2], u[1::2], bins=20)
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-6


@pytest.mark.parametrize("isa", ISAS)
def test_elementary_functions(isa: str) -> None:
    from scipy import special

    x = np.linspace(-700, 700, 20001)
    np.testing.assert_array_max_ulp(_core.exp(x, isa=isa), np.array([math.exp(v) for v in x]), 2)
    y = np.exp(x)
    np.testing.assert_array_max_ulp(_core.log(y, isa=isa), np.array([math.log(v) for v in y]), 2)
    u = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 5001), 10.0 ** -np.arange(1, 16)])
    np.testing.assert_allclose(_core.normal_quantile(u, isa=isa), special.ndtri(u), rtol=2e-14)


@pytest.mark.parametrize("isa", ISAS)
def test_elementary_functions_have_the_same_bits(isa: str) -> None:
    x = np.linspace(-740, 740, 4001)
    u = np.linspace(1e-9, 1 - 1e-9, 4001)
    np.testing.assert_array_equal(_core.exp(x, isa=isa), _core.exp(x, isa="generic"))
    np.testing.assert_array_equal(_core.log(u, isa=isa), _core.log(u, isa="generic"))
    np.testing.assert_array_equal(
        _core.normal_quantile(u, isa=isa), _core.normal_quantile(u, isa="generic")
    )


@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=40))
def test_exact_sums(numbers: list[float]) -> None:
    """The mean of a reduction is the correctly rounded mean, whatever cancels."""
    from committal.inference.exact_sums import moments

    limbs = np.zeros((1, 1, 2, _core.ACCUMULATOR_LIMBS), np.int64)
    # theta_0 of a run that makes no step is the number itself.
    for number in numbers:
        experiment = cm.Experiment(
            problem=cm.Bandit([1.0]),
            policy=cm.Softmax([number]),
            update=cm.Natural(step_size=1.0),
            steps=0,
            record=cm.Record("theta"),
        )
        plan = _core.BanditSimulator(**lower(experiment).core_arguments())
        _core.reduce(plan, key=0, first_run=0, runs=1, moments={"theta": limbs})
    found = moments(limbs, len(numbers), _core.ACCUMULATOR_BASE)
    total = math.fsum(x for x in numbers if abs(x) > 1e-90)
    assert found.mean[0, 0] == pytest.approx(total / len(numbers), rel=1e-15, abs=1e-80)


def test_python_offers_what_the_core_has() -> None:
    core = {kind: set(names) for kind, names in _core.available().items() if kind != "isas"}
    offered = {kind: set(names) for kind, names in core_names().items()}
    assert offered == core


def test_limits_are_the_same() -> None:
    assert _core.limits() == {name: getattr(limits, name.upper()) for name in _core.limits()}
    some = {"threads", "draws", "magnitude", "arms", "states", "episode", "policy_sum"}
    assert some <= set(_core.limits())


@pytest.fixture(scope="module")
def plans() -> dict[str, Any]:
    """One plan of each kind, with axes of different lengths."""
    bandit = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0, 0.2]),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.OneSample(samples=3),
        steps=1,
    )
    sigmoid = bandit.replace(problem=cm.Bandit([1.0, 0.0]), policy=cm.Sigmoid())
    rooms = cm.Experiment(
        problem=cm.gridworld("S.A\n..B", goals={"A": 1, "B": 2}),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(),
        steps=1,
    )
    return {"bandit": lower(bandit), "sigmoid": lower(sigmoid), "mdp": lower(rooms)}


SIMULATORS = {
    "bandit": _core.BanditSimulator,
    "sigmoid": _core.BanditSimulator,
    "mdp": _core.MdpSimulator,
}


@pytest.mark.parametrize("kind", SIMULATORS)
def test_a_plan_is_lowered_to_the_fields_of_the_core(kind: str, plans: dict[str, Any]) -> None:
    assert set(plans[kind].core_arguments()) == set(SIMULATORS[kind].FIELDS)


@pytest.mark.parametrize("kind", SIMULATORS)
def test_quantities_are_what_the_core_says(kind: str, plans: dict[str, Any]) -> None:
    plan = plans[kind]
    simulator = SIMULATORS[kind](**plan.core_arguments())
    for name in cm.MDP_RECORDABLE if kind == "mdp" else cm.RECORDABLE:
        known = plan.quantity(name)
        assert simulator.describe(name) == (known.dtype, known.shape(plan.sizes)), name


def test_the_stub_names_the_fields() -> None:
    tree = ast.parse(Path(_core.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or not hasattr(getattr(_core, node.name), "FIELDS"):
            continue
        (init,) = (f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__")
        assert [a.arg for a in init.args.kwonlyargs] == list(getattr(_core, node.name).FIELDS)


def test_stub_matches_module() -> None:
    pytest.importorskip("mypy", reason="mypy comes with the dev extra")
    allow = Path(__file__).with_name("stubtest-allow.txt")
    outcome = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "committal._core", "--allowlist", str(allow)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
