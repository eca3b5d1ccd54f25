"""Exact answers for the parts that have names, against the numbers of an independent program."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import CombinationError

FILE = Path(__file__).parents[2] / "data" / "after_paper.json"
NUMBERS = json.loads(FILE.read_text(encoding="utf-8"))
REF = tuple(np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())
BASE = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Vanilla(1), steps=1)


def stable(e: cm.Experiment) -> np.ndarray:
    points = [point.policy for point in cm.exact.stationary(e) if point.stable]
    assert len(points) == 1
    return np.asarray(points[0])


@pytest.mark.parametrize("update", [cm.Vanilla(1), cm.Natural(1)], ids=["vanilla", "natural"])
@pytest.mark.parametrize(
    ("regulariser", "name"),
    [(cm.Entropy(0.2), "entropy_tau_0_2"), (cm.KL(REF, 0.2), "kl_pi_ref_beta_0_2"),
     (cm.KL(REF, 0.2, form="k2"), "kl_pi_ref_beta_0_2"),
     (cm.KL(REF, 0.2, form="reward"), "kl_pi_ref_beta_0_2"),
     (cm.KL(REF, 0.2, form="k3"), "k3_loss_beta_0_2"),
     (cm.ReverseKL(REF, 0.2), "k3_loss_beta_0_2"), (cm.LogBarrier(0.1), "log_barrier_uniform_0_1")],
    ids=["entropy", "kl", "k2", "reward", "k3", "reverse", "barrier"],
)  # fmt: skip
def test_regularisers_have_one_stable_point(update: Any, regulariser: Any, name: str) -> None:
    want = NUMBERS["A5_regularisers"]["fixed"][name]
    e = BASE.replace(update=update, regulariser=regulariser)
    np.testing.assert_allclose(stable(e), want, atol=1e-8)
    kinds = {cm.exact.corner(e, arm).kind for arm in range(3)}
    sampled = getattr(regulariser, "form", "exact") != "exact"
    if sampled and isinstance(update, cm.Natural):
        assert "attracts" in kinds  # see the next test
    else:
        assert kinds <= {"repels", "releases"}


def test_a_sampled_divergence_does_not_keep_natural_gradients_from_committing() -> None:
    """It speaks of a rare arm only when that is drawn."""
    e = BASE.replace(
        update=cm.Natural(0.1), regulariser=cm.KL(REF, 0.2, form="k2"), steps=5000,
        record=cm.Record("policy", at=[5000]),
    )  # fmt: skip
    kinds = [cm.exact.corner(e, arm).kind for arm in range(3)]
    assert kinds == ["attracts", "attracts", "repels"]
    sure = (cm.run(e, runs=500, rng=0)["policy"].values[:, 0] > 0.999999).mean(axis=0)
    assert sure[0] > 0.3
    assert sure[1] > 0.1
    exact = e.replace(regulariser=cm.KL(REF, 0.2))
    assert {cm.exact.corner(exact, arm).kind for arm in range(3)} == {"repels"}
    assert not (cm.run(exact, runs=500, rng=0)["policy"].values > 0.999).any()


@pytest.mark.parametrize("name", NUMBERS["A11_asymre_topr"]["limits"])
def test_old_data(name: str) -> None:
    want = NUMBERS["A11_asymre_topr"]["limits"][name]["limit"]
    kind, value = name.split("_V")
    weight = cm.Asymmetric() if kind == "asymre" else cm.Tapered()
    e = BASE.replace(
        behaviour=cm.Fixed([1 / 3] * 3),
        baseline=float(value),
        estimator=cm.OneSample(weight=weight),
    )
    rule = "asymmetric" if kind == "asymre" else "tapered"
    closed = cm.theory.off_policy_limit([1, 0.7, 0], [1 / 3] * 3, float(value), rule=rule)
    if want is None:
        assert closed is None
        ends = [p.policy.max() for p in cm.exact.stationary(e) if p.stable]
        assert ends == [1.0] * len(ends)
    else:
        np.testing.assert_allclose(stable(e), want, atol=1e-8)
        np.testing.assert_allclose(closed, want, atol=1e-8)


def test_delightful() -> None:
    e = cm.Experiment(
        cm.Bandit.from_table([[(0.6, 1)], [(1, 0.5), (0, 0.5)]]), cm.Softmax(), cm.Vanilla(1),
        cm.Value(), estimator=cm.OneSample(weight=cm.Delightful(1)), steps=1,
    )  # fmt: skip
    table = NUMBERS["A12_dg"]
    assert stable(e)[0] == pytest.approx(table["noise_equilibrium_temp1"][0], abs=1e-8)
    p = np.array([float(key) for key in table["drift"]])
    h = cm.exact.flow(e, policy=np.stack([p, 1 - p], axis=-1))
    np.testing.assert_allclose(h[:, 0] - h[:, 1], list(table["drift"].values()), atol=1e-8)


def test_step_sizes() -> None:
    det = BASE.replace(problem=cm.Bandit([1, 0.5]))
    bern = BASE.replace(problem=cm.Bandit([0.6, 0.5], noise="bernoulli"))
    for name, e in (("det", det), ("bern", bern)):
        want = NUMBERS["A3_sgb"]["theory"][name]
        assert cm.exact.corner(e, 1).root == pytest.approx(want["u"], abs=1e-6)
        assert cm.exact.critical_step_size(e) == pytest.approx(want["eta_c"], abs=1e-6)
    for table in ("det_long", "bern"):
        for key, row in NUMBERS["A3_sgb"][table].items():
            e = det if table == "det_long" else bern
            eta = float(key.rpartition("eta")[2])
            kappa = cm.exact.corner(e.replace(update=cm.Vanilla(eta)), 1).exponent
            assert kappa == pytest.approx(row["kappa"], abs=1e-6)


def test_groups_of_binary_rewards() -> None:
    for table, how in (("weights", {}), ("weights_ddof1", {"ddof": 1, "eps": 1e-4})):
        for key, want in NUMBERS["A7_groups"][table].items():
            p, samples = float(key[1:].partition("_")[0]), int(key.rpartition("N")[2])
            factor = cm.theory.std_factor(p, samples, **how)
            assert float(factor) == pytest.approx(want, abs=1e-6)
            group = cm.Group(samples, scale="std", **how)
            e = BASE.replace(
                problem=cm.Bandit([1.5 * p, p, 0.5 * p], noise="bernoulli"), estimator=group
            )
            gradient = 0.5 * p / 3
            assert cm.exact.flow(e)[0] == pytest.approx(want * gradient, abs=1e-6)
    for key, row in NUMBERS["A7_groups"]["passk"].items():
        p, k = float(key[1:].partition("_")[0]), int(key.rpartition("k")[2])
        assert float(cm.theory.pass_at_k_factor(p, k)) == pytest.approx(row["enumerated"], abs=1e-9)


def test_rounds_with_a_reference() -> None:
    for key, row in NUMBERS["A9_grpo_kl"].items():
        if key == "config":
            continue
        p, beta = (float(x) for x in key.removeprefix("pref").split("_beta"))
        found = cm.theory.kl_fixed_points(p, beta)
        assert found.success[0] == pytest.approx(row["std"], abs=1e-7)
        plain = cm.theory.kl_fixed_points(p, beta, scaled=False)
        assert plain.success == pytest.approx([row["nostd"]], abs=1e-7)


def test_named_groups_at_corners() -> None:
    """Without noise a group of one arm moves nothing: natural groups do not commit."""
    natural = BASE.replace(update=cm.Natural(0.1))
    assert cm.exact.corner(natural, 1).kind == "attracts"
    for rule in ({"centre": "leave_one_out"}, {"centre": "mean", "scale": "std"}):
        e = natural.replace(estimator=cm.Group(2, **rule))
        assert [cm.exact.corner(e, arm).kind for arm in range(3)] == [
            "attracts", "releases", "releases"
        ]  # fmt: skip
        noisy = e.replace(problem=cm.Bandit([0.8, 0.2], noise="bernoulli"))
        assert cm.exact.corner(noisy, 1).kind == "attracts"


@pytest.mark.parametrize("samples", [3, 4, 7])
def test_what_cancels_is_nothing(samples: int) -> None:
    """A group of one arm moves nothing, though its advantages are rounded."""
    e = cm.Experiment(
        cm.Bandit([0.9, 0.6], noise="bernoulli"), cm.Softmax([0, 1]), cm.Vanilla(1), steps=1
    )
    pi = np.array([1.0, np.e]) / (1.0 + np.e)
    kinds = np.array([pi[0] * 0.9, pi[0] * 0.1, pi[1] * 0.6, pi[1] * 0.4])
    want = 0.0
    for drawn in itertools.product(range(4), repeat=samples):
        right = [Fraction(1 - kind % 2) for kind in drawn]
        mean = sum(right) / samples
        up = sum(r - mean for kind, r in zip(drawn, right, strict=True) if kind < 2)
        want += math.prod(kinds[list(drawn)]) * (up < 0)
    for rule in ({"centre": "mean"}, {"centre": "leave_one_out"}, {"scale": "std"}):
        law = cm.exact.one_step_law(e.replace(estimator=cm.Group(samples, **rule)))
        assert float(law.worsening_probability()) == pytest.approx(want, abs=1e-12)


def test_a_jump_into_the_corner_is_never_made_good() -> None:
    """A rare arm that pays much or nothing: one bad draw and a natural gradient is stuck."""
    e = cm.Experiment(
        cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]]), cm.Softmax([-6, 0]),
        cm.Natural(0.01), baseline=cm.Value(), steps=50_000,
        record=cm.Record("policy", at=[10_000, 50_000]),
    )  # fmt: skip
    assert cm.exact.corner(e, 1).kind == "attracts"
    rare = (cm.run(e, runs=500, rng=0)["policy"].values[:, :, 0] < 0.01).mean(axis=0)
    assert rare[0] > 0.7
    assert abs(rare[1] - rare[0]) < 0.05


@pytest.mark.parametrize("sigma", [1.0, 0.06, 0.02])
def test_critical_step_sizes_of_normal_rewards(sigma: float) -> None:
    e = BASE.replace(
        problem=cm.Bandit([1, 0.5], noise="gaussian", sigma=sigma), policy=cm.Softmax(),
        update=cm.Vanilla(1), baseline=cm.Value(),
    )  # fmt: skip
    assert cm.exact.critical_step_size(e) == pytest.approx(0.5 / sigma**2, rel=1e-9)


def test_critical_step_sizes_of_uniform_rewards() -> None:
    """E exp(-u (R - b)) in closed form, where jumps hardly ever lead back."""
    e = BASE.replace(
        problem=cm.Bandit([1, 0.5], noise="uniform", half_width=0.501), policy=cm.Softmax(),
        update=cm.Vanilla(1), baseline=cm.Value(),
    )  # fmt: skip
    u = 2.0 * cm.exact.critical_step_size(e)
    log_of_mean = -0.5 * u + 0.501 * u - math.log(2 * 0.501 * u)
    assert log_of_mean == pytest.approx(0.0, abs=1e-9)


def test_points_with_arms_that_are_nearly_absent() -> None:
    r = np.array([1, 0.833, 0.667, 0.5, 0.333, 0.167, 0])
    e = cm.Experiment(
        cm.Bandit(r), cm.Softmax(), cm.Natural(0.1), regulariser=cm.KL("uniform", 0.05), steps=1
    )
    (point,) = [p for p in cm.exact.stationary(e) if p.stable]
    want = np.exp(r / 0.05)
    np.testing.assert_allclose(point.policy, want / want.sum(), rtol=1e-6)
    two = e.replace(problem=cm.Bandit([1, 0]), regulariser=cm.Entropy(0.03))
    (point,) = [p for p in cm.exact.stationary(two) if p.stable]
    assert point.policy[1] == pytest.approx(np.exp(-1 / 0.03), rel=1e-6)
    rough = e.replace(update=cm.Vanilla(0.5), optimiser=cm.Normalised(), regulariser=None)
    assert cm.exact.stationary(rough.replace(problem=cm.Bandit(r[::-1])))


def test_what_is_remembered_is_refused() -> None:
    for change in ({"baseline": cm.Critic(0.1)}, {"optimiser": cm.Momentum(0.9)}):
        e = BASE.replace(**change)
        for call in (cm.exact.one_step, cm.exact.flow, cm.exact.stationary,
                     cm.exact.critical_step_size):  # fmt: skip
            with pytest.raises(cm.CombinationError, match="experiment"):
                call(e)
    escort = BASE.replace(policy=cm.Escort([1, 1, 1], 2))
    assert cm.exact.flow(escort).shape == (3,)
    with pytest.raises(cm.CombinationError, match="Softmax or Sigmoid"):
        cm.exact.stationary(escort)


def test_refusals_speak_of_what_was_given() -> None:
    two = cm.Experiment(
        cm.Bandit([0.9, 0.6], noise="bernoulli"), cm.Softmax(), cm.Natural(1), steps=1
    )
    for change, named in (
        ({"estimator": cm.Group(3)}, r"experiment\.estimator = Group"),
        ({"baseline": cm.Critic(0.1)}, r"experiment\.baseline = Critic"),
        ({"policy": cm.Escort([1, 2], 2), "update": cm.Vanilla(1)}, r"experiment\.policy = Escort"),
    ):
        with pytest.raises(CombinationError, match=named):
            cm.exact.committal_probability(two.replace(**change))
    of_theta = two.replace(baseline=cm.baseline("theta[0] * 0.01 - 0.5"))
    with pytest.raises(CombinationError, match="by pi"):
        cm.exact.committal_probability(of_theta)
