"""Policies of MDPs through a link of one's own: against softmax, the oracle and bandits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference
from committal.errors import NonFiniteError

MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9)
START = np.random.default_rng(0).uniform(0.5, 2.0, size=(MAZE.n_states, MAZE.n_actions))
BASE = cm.Experiment(
    MAZE, cm.Escort(START), cm.Vanilla(0.2), cm.Value() - 0.1, estimator=cm.ExactQ(), steps=12,
    record=cm.Record("return", "value", "theta", "policy", "length", "action_entropy", every=2),
)  # fmt: skip
REINFORCE = BASE.replace(baseline=0.25, estimator=cm.Reinforce())
CASES: dict[str, cm.Experiment] = {
    "exact": BASE,
    "fourth power, one start": BASE.replace(policy=cm.Escort([1, 2, 1, 1], power=4)),
    "off the policy": BASE.replace(behaviour=cm.UniformMixture(0.4)),
    "discounted": BASE.replace(estimator=cm.ExactQ(discounted=True)),
    "returns": REINFORCE,
    "returns off the policy": REINFORCE.replace(behaviour=cm.UniformMixture(0.4)),
    "episodes": BASE.replace(baseline=0.0, estimator=cm.Group(samples=3, scale="std")),
    "expected": BASE.replace(estimator=cm.Expected()),
    "expected, adam": BASE.replace(estimator=cm.Expected(), optimiser=cm.Adam()),
    "adam": BASE.replace(optimiser=cm.Adam(), update=cm.Vanilla(0.05)),
    "weight": BASE.replace(
        estimator=cm.ExactQ(weight=cm.Asymmetric()), behaviour=cm.UniformMixture(0.3)
    ),
    "update": BASE.replace(update=cm.update("maximum(A, 0) * rho * score + 0.01 * theta")(0.2)),
    "critic": BASE.replace(baseline=cm.Critic(0.2, 1.0)),
    "baseline": BASE.replace(baseline=cm.baseline("sum(pi**2 * r) / sum(pi**2)")),
    "regularised": BASE.replace(regulariser=cm.KL("uniform", 0.1)),
    "one of one's own": BASE.replace(policy=cm.link("log(1 + exp(theta))")(START)),
}


def runs_of(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str, check_by_oracle: Any) -> None:
    check_by_oracle(CASES[case])


def test_other_mdps(make_mdp: Any, check_by_oracle: Any) -> None:
    mdp = make_mdp(np.random.default_rng(3))
    check_by_oracle(BASE.replace(problem=mdp, policy=cm.Escort(power=3)))


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str, check_bits: Any) -> None:
    check_bits(CASES[case])


EXPONENTIAL = cm.link("exp(theta)")(START)


@pytest.mark.parametrize("estimator", [cm.ExactQ(), cm.Reinforce(), cm.Expected()], ids=repr)
def test_the_exponential_is_softmax(estimator: Any) -> None:
    one = BASE.replace(policy=cm.Softmax(START), estimator=estimator, baseline=0.2)
    if isinstance(estimator, cm.Expected):
        one = one.replace(baseline=cm.Value())
    a, b = runs_of(one), runs_of(one.replace(policy=EXPONENTIAL))
    np.testing.assert_array_equal(a["length"], b["length"])
    for name in ("theta", "value", "policy"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-11, atol=1e-12, err_msg=name)


def test_the_mean_step_is_the_gradient() -> None:
    """Of all episodes of a tiny MDP: E g of ExactQ, discounted, is the slope of J in theta."""
    tiny = cm.gridworld("SA", goals={"A": 1.0}, gamma=0.5).replace(limit=24)
    theta = np.array([[1.0, 2.0, 0.5, 1.5], [1.0, 1.0, 1.0, 1.0]])
    e = BASE.replace(
        problem=tiny, policy=cm.Escort(theta), estimator=cm.Expected(), baseline=cm.Value()
    )
    now = next(reference.run_mdp(e, key=0, run=0))

    def value(at: Any) -> float:
        pi = reference.policy_table(tiny, at, now.experiment.policy)
        return float(tiny.start_distribution @ reference.solve(tiny, pi)[0])

    step = np.zeros_like(theta)
    for i in range(4):
        up, down = theta.copy(), theta.copy()
        up[0, i] += 1e-6
        down[0, i] -= 1e-6
        step[0, i] = (value(up) - value(down)) / 2e-6
    once = e.replace(steps=1, record=cm.Record("theta"), update=cm.Vanilla(1.0))
    moved = runs_of(once, runs=1)["theta"].values[0, -1] - theta
    np.testing.assert_allclose(moved, step, atol=1e-9)


def test_a_bandit_is_an_mdp_of_one_state() -> None:
    """The same draws, so the same runs."""
    once = cm.TabularMDP(
        [(0, a, 1, 1.0, r) for a, r in enumerate([1.0, 0.7, 0.0])], gamma=0.5, start=0, terminal=[1]
    ).replace(limit=1)
    bandit = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Escort([1, 2, 3]), cm.Vanilla(0.2), cm.Value(), steps=30,
        record=cm.Record("theta", every=1),
    )  # fmt: skip
    mdp = bandit.replace(problem=once, estimator=cm.ExactQ())
    want = runs_of(bandit)["theta"].values
    np.testing.assert_allclose(runs_of(mdp)["theta"].values[:, :, 0], want, rtol=1e-11, atol=1e-12)
    mdp = mdp.replace(baseline=0.4, estimator=cm.Reinforce())
    want = runs_of(bandit.replace(baseline=0.4))["theta"].values
    np.testing.assert_allclose(runs_of(mdp)["theta"].values[:, :, 0], want, rtol=1e-11, atol=1e-12)


def test_what_is_no_policy_is_named() -> None:
    falls = BASE.replace(
        policy=cm.link("theta")(START), update=cm.update("-2 * onehot(a)")(0.1), steps=40,
        record=cm.Record("return"),
    )  # fmt: skip
    with pytest.raises(NonFiniteError, match=r"the formula of policy is negative"):
        runs_of(falls)


def test_refusals() -> None:
    with pytest.raises(cm.CombinationError, match=r"update = Natural"):
        BASE.replace(update=cm.Natural(0.1))
    with pytest.raises(cm.CombinationError, match=r"policy.theta0.*some are positive"):
        BASE.replace(policy=cm.link("abs(theta)")())
    with pytest.raises(cm.CombinationError, match=r"policy.theta0.*4 numbers, one per action"):
        BASE.replace(policy=cm.Escort([1, 2]))
    with pytest.raises(cm.CombinationError, match=r"Softmax with an MDP|Softmax, Escort or a link"):
        BASE.replace(policy=cm.Tsallis())
    arms = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=2)
    with pytest.raises(cm.CombinationError, match=r"one number per arm, without states"):
        arms.replace(policy=cm.Escort(START))


def test_text_forms() -> None:
    for e in CASES.values():
        assert cm.Experiment.from_toml(e.to_toml()) == e
