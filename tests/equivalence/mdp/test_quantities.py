"""Recorded formulas of MDPs: in every state, and over all of them, against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import NonFiniteError

ENTROPY = cm.quantity("-sum(pi * log(pi))", name="own_entropy")
KL = cm.quantity("sum(pi * (theta - theta0)) - log(sum(exp(theta)) / sum(exp(theta0)))", name="kl")
EVERYTHING = cm.quantity(
    "sum(mu * r) + theta[0] - 0.5 * theta0[1] + median(pi) + t / K", name="everything"
)
SQUARES = cm.quantity("pi**2 * r", name="squares")
ALL = [
    ENTROPY, KL, EVERYTHING, SQUARES,
    cm.quantity("-sum(pi * log(pi))", name="mean_entropy", states="mean"),
    cm.quantity("max(r) - sum(pi * r)", name="gap", states="occupancy"),
    cm.quantity("pi**2 * r", name="mean_squares", states="mean"),
    cm.quantity("c * pi", name="seen", states="occupancy", c=2),
]  # fmt: skip

MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9)
START = np.random.default_rng(0).normal(size=(MAZE.n_states, MAZE.n_actions))
BASE = cm.Experiment(
    MAZE, cm.Softmax(START), cm.Vanilla(0.2), cm.Value() - 0.1, estimator=cm.ExactQ(), steps=7,
    record=cm.Record("theta", *ALL, every=3),
)  # fmt: skip
CASES: dict[str, cm.Experiment] = {
    "exact": BASE,
    "off the policy": BASE.replace(behaviour=cm.UniformMixture(0.3)),
    "swept": BASE.replace(estimator=cm.ExactQ(solver="iterative", tolerance=1e-12)),
    "returns": BASE.replace(baseline=0.25, estimator=cm.Reinforce()),
    "episodes": BASE.replace(baseline=0.0, estimator=cm.Group(samples=3)),
    "expected": BASE.replace(estimator=cm.Expected()),
    "formulas": BASE.replace(
        baseline=cm.baseline("sum(pi * r)"), optimiser=cm.Adam(), update=cm.Natural(0.1)
    ),
    "link": BASE.replace(policy=cm.Escort(START + 4), record=cm.Record("theta", *ALL, every=3)),
}


def runs_of(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str, check_by_oracle: Any) -> None:
    check_by_oracle(CASES[case])


def test_other_mdps(make_mdp: Any, check_by_oracle: Any) -> None:
    mdp = make_mdp(np.random.default_rng(3))
    check_by_oracle(BASE.replace(problem=mdp, policy=cm.Softmax()))


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str, check_bits: Any) -> None:
    check_bits(CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_looking_moves_nothing(case: str) -> None:
    """What is recorded changes no bit of the run."""
    e = CASES[case]
    plain = runs_of(e.replace(record=cm.Record("theta", every=3)))
    np.testing.assert_array_equal(runs_of(e)["theta"], plain["theta"])


def test_axes() -> None:
    data = runs_of(BASE, runs=2)
    assert data["kl"].dims == ("run", "time", "state")
    assert data["squares"].dims == ("run", "time", "state", "action")
    assert data["gap"].dims == ("run", "time")
    assert data["seen"].dims == ("run", "time", "action")
    terminal = list(MAZE.terminal)
    assert (data["own_entropy"].values[..., terminal] == 0.0).all()
    np.testing.assert_array_equal(data["kl"].values[:, 0], 0.0)
    acting = [s for s in range(MAZE.n_states) if s not in terminal]
    np.testing.assert_allclose(
        data["mean_entropy"], data["own_entropy"][..., acting].mean("state"), rtol=1e-14
    )
    np.testing.assert_allclose(data["seen"].sum("action"), 2.0, rtol=1e-14)


def test_reduced() -> None:
    e = BASE.replace(record=cm.Record(KL, SQUARES, ALL[5], reduce=cm.Reduce()))
    whole = runs_of(e.replace(record=cm.Record(KL, SQUARES, ALL[5])))
    data = runs_of(e)
    for name in ("kl", "squares", "gap"):
        np.testing.assert_allclose(data[f"{name}_mean"], whole[name].mean("run"), rtol=1e-13)
    low = cm.Record(ALL[5], reduce=cm.Reduce(bins=4, range={"gap": (0, 1)}))
    assert "gap_histogram" in runs_of(e.replace(record=low))


def test_a_bandit_is_an_mdp_of_one_state() -> None:
    arms = cm.Bandit([1.0, 0.7, 0.0])
    gap = cm.quantity("max(r) - sum(pi * r) + theta[0] - theta0[0]", name="gap")
    one = cm.Experiment(
        arms, cm.Softmax([0, 1, 2]), cm.Vanilla(0.4), cm.Value(), steps=20,
        record=cm.Record(gap, every=5),
    )  # fmt: skip
    many = one.replace(problem=cm.contexts([arms]), estimator=cm.ExactQ())
    a, b = runs_of(one), runs_of(many)
    start = int(np.flatnonzero(many.problem.start_distribution)[0])  # type: ignore[attr-defined]
    np.testing.assert_allclose(a["gap"], b["gap"][..., start], rtol=1e-10, atol=1e-12)


def test_text_forms() -> None:
    assert cm.Experiment.from_toml(BASE.to_toml()) == BASE
    assert cm.Experiment.from_json(BASE.to_json()) == BASE
    assert "states" not in str(KL.to_dict())  # as before
    assert repr(ALL[5]) == "quantity('max(r) - sum(pi * r)', name='gap', states='occupancy')"
    assert ALL[5] != ALL[5].replace(states=None)


def test_the_place_is_named() -> None:
    pole = cm.quantity("sum(pi) / (t - 3)", name="pole")
    for e in (BASE, BASE.replace(baseline=cm.baseline("sum(pi * r)"))):
        with pytest.raises(NonFiniteError, match=r"update 3: .*quantity pole.*t - 3 = 0"):
            runs_of(e.replace(record=cm.Record("return", pole, every=1)))
    reduced = cm.Record(pole, every=1, reduce=cm.Reduce())
    with pytest.raises(NonFiniteError, match=r"update 3: .*quantity pole.*t - 3 = 0"):
        runs_of(BASE.replace(record=reduced))


def test_refusals() -> None:
    drawn = cm.quantity("sum(R)", name="drawn")
    with pytest.raises(cm.CombinationError, match=r"R is of a visit"):
        BASE.replace(record=cm.Record(drawn))
    arms = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Vanilla(0.1), steps=2)
    with pytest.raises(cm.CombinationError, match=r"gap.states.*which has no states"):
        arms.replace(record=cm.Record(ALL[5]))
    with pytest.raises(cm.ConfigError, match=r"quantity.states = 'all'.*'mean', 'occupancy'"):
        cm.quantity("max(pi)", name="x", states="all")
