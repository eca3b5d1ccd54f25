"""The compiled core: known answers, accuracy, and malformed calls that must not crash."""

from __future__ import annotations

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
from committal import _core
from committal.lowering import core_names, lower

ISAS = _core.available()["isas"]


def test_philox_known_answers() -> None:
    # Published with Random123 for philox4x32 with ten rounds.
    ones = [0xFFFFFFFF] * 4
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
    for counter, key, expected in [
        ([0] * 4, [0, 0], "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (ones, ones[:2], "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (pi, [0xA4093822, 0x299F31D0], "d16cfe09 94fdcceb 5001e420 24126ea1"),
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
        plan = _core.BanditPlan(**lower(experiment).core_arguments())
        _core.reduce(plan, key=0, first_run=0, runs=1, moments={"theta": limbs})
    found = moments(limbs, len(numbers), _core.ACCUMULATOR_BASE)
    total = math.fsum(x for x in numbers if abs(x) > 1e-90)
    assert found.mean[0, 0] == pytest.approx(total / len(numbers), rel=1e-15, abs=1e-80)


def test_python_offers_what_the_core_has() -> None:
    core = {kind: set(names) for kind, names in _core.available().items() if kind != "isas"}
    offered = {kind: set(names) for kind, names in core_names().items()}
    assert offered == core


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


# --- malformed calls -----------------------------------------------------------------------------


def plan_arguments(**changes: Any) -> dict[str, Any]:
    experiment = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0]),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        steps=10,
    )
    return {**lower(experiment).core_arguments(), **changes}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("means", np.array([1.0, np.nan, 0.0])),
        ("means", np.array([1.0, np.inf, 0.0])),
        ("means", np.zeros(4)),
        ("means", np.zeros((3, 1))),
        ("theta0", np.zeros(2)),
        ("theta0", np.array([0.0, -np.inf, 0.0])),
        ("steps", -1),
        ("steps", 2**62),
        ("arms", 0),
        ("samples", 0),
        ("step_size", np.array([-0.1])),
        ("step_size", np.array([])),
        ("step_size", np.full(3, 0.1)),
        ("exploration", np.array([1.5])),
        ("policy", "hardmax"),
        ("update", "projected"),
        ("noise", "table"),
        ("behaviour", "fixed"),
        ("times", np.array([5, 3])),
        ("times", np.array([11])),
        ("baseline_terms", [("magic", 1.0, 0.0)]),
        ("baseline_terms", [("value", np.nan, 0.0)]),
        ("contrast", True),
    ],
)
def test_a_bad_plan_names_the_field(name: str, value: object) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        _core.BanditPlan(**plan_arguments(**{name: value}))
    blamed = {"noise": "table", "behaviour": "behaviour_probabilities"}.get(name, name)
    assert blamed in str(caught.value)


@pytest.mark.parametrize(
    ("outputs", "complaint"),
    [
        ({"value": np.empty((5, 2))}, "shape"),
        ({"value": np.empty((5, 1), np.float32)}, "dtype"),
        ({"value": np.empty((5, 2))[:, :1]}, "contiguous"),
        ({"value": [0.0]}, "NumPy array"),
        ({"velocity": np.empty((5, 1))}, "velocity"),
    ],
)
def test_bad_outputs(outputs: dict[str, Any], complaint: str) -> None:
    plan = _core.BanditPlan(**plan_arguments())
    with pytest.raises((ValueError, TypeError), match=complaint):
        _core.simulate(plan, outputs, key=0, first_run=0, runs=5)


def test_read_only_output() -> None:
    frozen = np.empty((5, 1))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _core.simulate(
            _core.BanditPlan(**plan_arguments()), {"value": frozen}, key=0, first_run=0, runs=5
        )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"threads": 0}, "threads"),
        ({"threads": 10**6}, "threads"),
        ({"isa": "neon9"}, "isa"),
        ({"block": 5}, "block"),
        ({"first_run": 2**64 - 3}, "first_run"),
        ({"key": 2**64}, "incompatible"),
        ({"key": -1}, "incompatible"),
    ],
)
def test_bad_options(options: dict[str, Any], complaint: str) -> None:
    plan = _core.BanditPlan(**plan_arguments())
    arguments = {"key": 0, "first_run": 0, "runs": 5, **options}
    with pytest.raises((ValueError, TypeError, OverflowError), match=complaint):
        _core.simulate(plan, {"value": np.empty((5, 1))}, **arguments)


def test_a_progress_callback_may_cancel() -> None:
    class EnoughError(Exception):
        pass

    def cancel(updates: int) -> None:
        raise EnoughError

    plan = _core.BanditPlan(**plan_arguments(steps=10**9, times=np.array([10**9])))
    with pytest.raises(EnoughError):
        _core.simulate(
            plan, {"value": np.empty((640, 1))}, key=0, first_run=0, runs=640, progress=cancel
        )
