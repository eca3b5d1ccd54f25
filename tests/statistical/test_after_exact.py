"""What came after the paper and needs no luck: exact numbers of an independent implementation."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Regulariser

FILE = Path(__file__).parent.parent / "data" / "after_paper.json"
NUMBERS = json.loads(FILE.read_text(encoding="utf-8"))
PAPER = cm.Bandit([1.0, 0.7, 0.0])


def run_once(exp: cm.Experiment, at: list[int]) -> np.ndarray:
    """The policy at some times of a run that draws nothing."""
    record = cm.Record("policy", at=at)
    return np.asarray(cm.run(exp.replace(steps=max(at), record=record), runs=1, rng=0)["policy"][0])


def expected(problem: cm.Bandit, policy: Any, update: Any, **more: Any) -> cm.Experiment:
    estimator = more.pop("estimator", cm.Expected())
    return cm.Experiment(problem, policy, update, steps=1, estimator=estimator, **more)


# -- A2: one arm at every update -------------------------------------------------------------------

FORCED: dict[str, tuple[str, float, Any]] = {
    "sgd_alpha0.5": ("0.7 * (onehot(1) - pi)", 0.5, cm.Plain()),
    "natural_alpha0.025": ("0.7 * onehot(1) / pi", 0.025, cm.Plain()),
    "normalised_alpha0.05": ("0.7 * (onehot(1) - pi)", 0.05, cm.Normalised()),
    "adam_alpha0.05": ("0.7 * (onehot(1) - pi)", 0.05, cm.Adam()),
    "adam_eps1e-08": ("0.7 * (onehot(1) - pi)", 0.05, cm.Adam()),
    "adam_eps0.0001": ("0.7 * (onehot(1) - pi)", 0.05, cm.Adam(eps=1e-4)),
    "adam_eps0.01": ("0.7 * (onehot(1) - pi)", 0.05, cm.Adam(eps=1e-2)),
}


@pytest.mark.parametrize("name", FORCED)
def test_one_arm_at_every_update(name: str) -> None:
    text, alpha, optimiser = FORCED[name]
    want = NUMBERS["A2_optimisers"]["forced"][name]
    # The step does not look at what was drawn.
    exp = cm.Experiment(PAPER, cm.Softmax(), cm.update(text)(alpha), steps=1, optimiser=optimiser)
    pi = run_once(exp, [1000, 2000, 19_999, 20_000])
    rest = pi[:, 0] + pi[:, 2]
    tiny = 1e-15  # theirs is 1 - pi, which is rounded
    assert rest[0] == pytest.approx(want["one_minus_pi_1000"], rel=1e-6, abs=tiny)
    assert rest[2] == pytest.approx(want["one_minus_pi_19999"], rel=1e-6, abs=tiny)


# -- A4: out of a corner ---------------------------------------------------------------------------


def leaves_at(exp: cm.Experiment, steps: int) -> bool:
    """Whether pi(best) rises above one half with update number `steps`."""
    before, after = run_once(exp, [steps - 1, steps])[:, 0]
    return bool(before <= 0.5 < after)


def in_corner(kind: str, pi: list[float]) -> tuple[Any, Any, dict[str, Any]]:
    """Policy, update and the rest of a row, from its name."""
    name, eta = kind.partition("_")[0], float(kind.partition("eta")[2] or 0.4)
    softmax = cm.Softmax(np.log(pi))
    vanilla = cm.Vanilla(eta)
    if kind.startswith("escort"):
        p = float(kind[8] if kind.startswith("escort_p") else kind[6])
        return cm.Escort(np.array(pi) ** (1 / p), p), vanilla, {}
    gate = {"baseline": cm.Value(), "estimator": cm.Expected(weight=cm.Delightful(1))}
    return {
        "pg": (softmax, vanilla, {}),
        "npg": (softmax, cm.Natural(eta), {}),
        "gnpg": (softmax, vanilla, {"optimiser": cm.Normalised()}),
        "dg": (softmax, vanilla, gate),
        "dg0": (softmax, vanilla, gate | {"estimator": cm.Expected(weight=_step())}),
    }[name]


def _step() -> Any:
    """The gate at temperature 0."""
    return cm.weight("where(A > 0, rho, where(A < 0, 0, rho / 2))")


def escapes() -> list[Any]:
    rows = []
    tables = NUMBERS["A4_escape"]
    for kind in ("pg_q0", "escort4"):
        for i, steps in enumerate(tables["two_arms"][kind]["steps"]):
            d = 10.0 ** -(3 + i)
            rows.append((cm.Bandit([1.0, 0.7]), kind, [d, 1 - d], steps))
    for kind, row in tables["three_arms"]["rows"].items():
        q = float(kind.partition("_q")[2].partition("_")[0])
        for i, steps in enumerate(row["steps"]):
            d = 10.0 ** -(2 + i)
            rows.append((PAPER, kind, [d, 1 - d - q, q], steps))
    return [
        pytest.param(
            *row,
            id=f"{row[1]} {row[2][0]:g}",
            marks=[pytest.mark.slow] if row[3] > 1_000_000 else [],
        )
        for row in rows
        if row[3] > 0
    ]


@pytest.mark.parametrize(("problem", "kind", "start", "steps"), escapes())
def test_leaving_a_corner(problem: cm.Bandit, kind: str, start: list[float], steps: int) -> None:
    policy, update, more = in_corner(kind, start)
    assert leaves_at(expected(problem, policy, update, **more), steps)


# -- A5: regularisers ------------------------------------------------------------------------------

FIXED = NUMBERS["A5_regularisers"]["fixed"]
REF = tuple(np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())


@pytest.mark.parametrize("update", [cm.Vanilla(0.5), cm.Natural(0.5)], ids=["vanilla", "natural"])
@pytest.mark.parametrize(
    ("regulariser", "name", "value"),
    [
        (cm.Entropy(0.2), "entropy_tau_0_2", ""),
        (cm.KL(REF, 0.2), "kl_pi_ref_beta_0_2", "value_kl"),
        (cm.KL(REF, 0.2, form="k2"), "kl_pi_ref_beta_0_2", "value_kl"),
        (cm.KL(REF, 0.2, form="reward"), "kl_pi_ref_beta_0_2", "value_kl"),
        (cm.KL(REF, 0.2, form="k3"), "k3_loss_beta_0_2", "value_k3"),
        (cm.ReverseKL(REF, 0.2), "k3_loss_beta_0_2", "value_k3"),
        (cm.LogBarrier(0.1), "log_barrier_uniform_0_1", "value_barrier"),
    ],
    ids=["entropy", "kl", "k2", "reward", "k3", "reverse", "barrier"],
)
def test_where_regularisers_end(
    regulariser: Regulariser, name: str, value: str, update: Any
) -> None:
    exp = expected(PAPER, cm.Softmax(), update, regulariser=regulariser)
    steps = 20_000
    if isinstance(update, cm.Natural):  # its curvature is 1 / pi
        exp, steps = exp.replace(**{"update.step_size": 0.05}), 4000
    pi = run_once(exp, [steps])[-1]
    np.testing.assert_allclose(pi, FIXED[name], atol=1e-6)
    if value:
        assert pi @ [1.0, 0.7, 0.0] == pytest.approx(FIXED[value], abs=1e-6)
    # What the drawn arms do on average is what the exact law of one update says.
    assert pytest.approx(FIXED["ref"], abs=1e-8) == REF


def test_k1_does_nothing_on_average() -> None:
    exp = expected(PAPER, cm.Softmax([0, 1, 2]), cm.Vanilla(0.5))
    with_k1 = exp.replace(regulariser=cm.KL(REF, 0.2, form="k1"))
    np.testing.assert_allclose(run_once(with_k1, [100]), run_once(exp, [100]), rtol=1e-12)


def test_entropy_contracts() -> None:
    want = NUMBERS["A5_regularisers"]["contraction"]
    exp = expected(
        PAPER, cm.Softmax(), cm.Natural(want["eta"]), regulariser=cm.Entropy(want["tau"])
    )
    record = cm.Record("theta", at=[9, 10, 2000])
    theta = cm.run(exp.replace(steps=2000, record=record), runs=1, rng=0)["theta"][0].to_numpy()
    theta = theta - theta.mean(axis=1, keepdims=True)
    errors = np.abs(theta[:2] - theta[2]).max(axis=1)
    assert errors[1] / errors[0] == pytest.approx(want["ratio_last"], abs=1e-9)


# -- A7, A8: one update of a group -----------------------------------------------------------------

GROUPS: dict[str, dict[str, Any]] = {
    "mean": {"centre": "mean"},
    "rloo": {"centre": "leave_one_out"},
    "grpo": {"centre": "mean", "scale": "std"},
    "median": {"centre": "median"},
    "opo": {"centre": "weighted"},
    "oploo": {"centre": "weighted_leave_one_out"},
}


@pytest.mark.parametrize("samples", [2, 4])
@pytest.mark.parametrize("name", GROUPS)
def test_one_update_of_a_group(name: str, samples: int) -> None:
    table = NUMBERS["A7_groups"]["one_step"]
    want = table[f"{name}_N{samples}"]
    group = cm.Group(samples, **GROUPS[name])
    exp = cm.Experiment(PAPER, cm.Softmax([0, 1, 2]), cm.Vanilla(1), steps=1, estimator=group)
    law = cm.exact.one_step_law(exp)
    mean, truth = law.mean(), np.array(table["true_gradient"])
    np.testing.assert_allclose(mean, want["mean"], atol=1e-7)
    lengths = np.linalg.norm(mean), np.linalg.norm(truth)
    assert mean @ truth / lengths[1] ** 2 == pytest.approx(want["ratio"], abs=1e-6)
    assert mean @ truth / math.prod(lengths) == pytest.approx(want["cosine"], abs=1e-6)
    assert np.trace(law.covariance()) == pytest.approx(want["trace_cov"], abs=1e-7)
    if name.endswith("loo"):
        pi = law.policy
        np.testing.assert_allclose(
            mean, pi * (np.array(PAPER.means) - pi @ PAPER.means), atol=1e-12
        )


def slope(problem: cm.Bandit, group: cm.Group) -> float:
    """The mean update of the first parameter, at the uniform policy."""
    exp = cm.Experiment(problem, cm.Softmax(), cm.Vanilla(1), steps=1, estimator=group)
    return float(cm.exact.one_step_law(exp).mean()[0])


RARE = cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]])


@pytest.mark.parametrize("samples", [2, 3, 4, 6])
@pytest.mark.parametrize("name", ["grpo", "rloo"])
def test_a_std_can_prefer_the_worse_arm(name: str, samples: int) -> None:
    want = NUMBERS["A8_group_dynamics"]["flip_exact"][f"N{samples}"][name]
    assert slope(RARE, cm.Group(samples, **GROUPS[name])) == pytest.approx(want, abs=1e-7)


def ratio(p: float, samples: int, **how: Any) -> float:
    """What a scale makes of the gradient of p: one arm always pays 1, the other nothing."""
    theta = [math.log(p / (1 - p)), 0.0]
    group = cm.Group(samples, scale="std", **how)
    exp = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(theta), cm.Vanilla(1), steps=1)
    law = cm.exact.one_step_law(exp.replace(estimator=group))
    return float(law.mean()[0]) / (p * (1 - p))


def test_factors_of_binary_rewards() -> None:
    for table, how in (("weights", {}), ("weights_ddof1", {"ddof": 1, "eps": 1e-4})):
        for key, want in NUMBERS["A7_groups"][table].items():
            p, samples = float(key[1:].partition("_")[0]), int(key.rpartition("N")[2])
            assert ratio(p, samples, **how) == pytest.approx(want, abs=1e-6), (table, key)


# -- A11, A12: where expectations end --------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERS["A11_asymre_topr"]["limits"])
def test_where_old_data_lead(name: str) -> None:
    want = NUMBERS["A11_asymre_topr"]["limits"][name]
    weight = cm.Asymmetric() if name.startswith("asymre") else cm.Tapered()
    for start, key in ((None, "flow_from_uniform"), ([0, 3, 5], "flow_from_0_3_5")):
        exp = expected(
            PAPER,
            cm.Softmax(start),
            cm.Vanilla(1),
            baseline=float(name.rpartition("V")[2]),
            behaviour=cm.Fixed([1 / 3] * 3),
            estimator=cm.Expected(weight=weight),
        )
        pi = run_once(exp, [100_000])[-1]
        # Theirs stops early; the last arms leave like 1 / t.
        np.testing.assert_allclose(pi, want[key], atol=5e-4)
        if want["limit"] is not None:
            np.testing.assert_allclose(pi, want["limit"], atol=5e-4)


def test_delightful_with_unequal_noise() -> None:
    table = NUMBERS["A12_dg"]
    problem = cm.Bandit.from_table([[(0.6, 1)], [(1, 0.5), (0, 0.5)]])
    gate = {"baseline": cm.Value(), "estimator": cm.Expected(weight=cm.Delightful(1))}
    for p, drift in table["drift"].items():
        theta = [math.log(float(p) / (1 - float(p))), 0.0]
        exp = expected(problem, cm.Softmax(theta), cm.Vanilla(1), **gate)
        record = cm.Record("theta", at=[0, 1])
        before, after = cm.run(exp.replace(record=record), runs=1, rng=0)["theta"][0].to_numpy()
        change = (after - before) @ [1.0, -1.0]
        assert change == pytest.approx(drift, abs=1e-8), p
    exp = expected(problem, cm.Softmax(), cm.Vanilla(2), **gate)
    pi = run_once(exp, [20_000])[-1]
    assert pi[0] == pytest.approx(table["noise_equilibrium_temp1"][0], abs=1e-6)
