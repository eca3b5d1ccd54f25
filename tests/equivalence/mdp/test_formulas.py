"""Formulas in MDPs: whole runs against native parts, the oracle, and every way of running."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import _core, reference
from committal.errors import NonFiniteError

MAZE = cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.9)
BASE = cm.Experiment(
    MAZE, cm.Softmax(), cm.Vanilla(0.2), cm.Value() - 0.1, estimator=cm.ExactQ(), steps=12,
    record=cm.Record("return", "value", "theta", "length", every=2),
)  # fmt: skip
REINFORCE = BASE.replace(baseline=0.25, estimator=cm.Reinforce())


def runs_of(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


SAME: dict[str, tuple[cm.Experiment, cm.Experiment]] = {
    "baseline": (BASE, BASE.replace(baseline=cm.baseline("sum(pi * r)") - 0.1)),
    "least variance": (
        BASE.replace(baseline=cm.MinVariance("natural")),
        BASE.replace(baseline=cm.baseline("sum(r / pi) / sum(1 / pi)")),
    ),
    "weight": (BASE, BASE.replace(**{"estimator.weight": cm.weight("rho")})),
    "vanilla": (BASE, BASE.replace(update=cm.update("A * rho * score")(0.2))),
    "natural": (
        BASE.replace(update=cm.Natural(0.1)),
        BASE.replace(update=cm.update("A * rho * natural")(0.1)),
    ),
    "optimiser": (BASE, BASE.replace(optimiser=cm.optimiser("g"))),
    "reinforce": (REINFORCE, REINFORCE.replace(**{"estimator.weight": cm.weight("0 * R + 1")})),
    "reinforce update": (REINFORCE, REINFORCE.replace(update=cm.update("(R - b) * score")(0.2))),
    "reinforce baseline": (REINFORCE, REINFORCE.replace(baseline=cm.baseline("0.25 + 0 * t"))),
}


@pytest.mark.parametrize("case", SAME)
@pytest.mark.parametrize("behaviour", [cm.OnPolicy(), cm.UniformMixture(0.3)], ids=repr)
@pytest.mark.parametrize("discounted", [False, True])
def test_native_parts(case: str, behaviour: Any, discounted: bool) -> None:
    one, other = SAME[case]
    if case.startswith("reinforce"):
        if discounted or not isinstance(behaviour, cm.OnPolicy):
            pytest.skip("on-policy, without discounting of steps")
    else:
        changes = {"behaviour": behaviour, "estimator.discounted": discounted}
        one, other = one.replace(**changes), other.replace(**changes)
    a, b = runs_of(one), runs_of(other)
    np.testing.assert_array_equal(a["length"], b["length"])
    for name in ("theta", "value", "return"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-11, atol=1e-12, err_msg=name)


CASES: dict[str, cm.Experiment] = {
    "collision": BASE.replace(baseline=cm.baseline("sum(pi**2 * r) / sum(pi**2)") - 0.1),
    "everything known": BASE.replace(
        baseline=cm.baseline("sum(mu * r) / (1 + t) + 0.1 * max(theta) - 0.01 * K"),
        behaviour=cm.UniformMixture(0.3),
    ),
    "clipped": BASE.replace(
        behaviour=cm.UniformMixture(0.5),
        estimator=cm.ExactQ(weight=cm.weight("where(A > 0, 1, minimum(rho, top))", top=2)),
    ),
    "positive": BASE.replace(update=cm.update("maximum(A, 0) * rho * score")(0.3)),
    "adam": BASE.replace(optimiser=cm.Adam(), update=cm.Vanilla(0.05)),
    "policy of the state": REINFORCE.replace(baseline=cm.baseline("pi[0]"), steps=6),
    "root mean square": BASE.replace(optimiser=cm.optimiser("g / (sqrt(mean(g**2)) + 1e-8) / K")),
    "momentum": REINFORCE.replace(optimiser=cm.Momentum(0.5)),
    "clipped norm": BASE.replace(optimiser=cm.ClipNorm(0.1), update=cm.Natural(0.1)),
    "expected": BASE.replace(optimiser=cm.Adam(), estimator=cm.Expected()),
    "reinforce": REINFORCE.replace(
        estimator=cm.Reinforce(weight=cm.weight("where(A > 0, 1, 0.5 * pi[a])"))
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_oracle(case: str) -> None:
    e = CASES[case]
    data = runs_of(e, runs=2)
    key = int(data.attrs["key"], 16)
    times = data["time"].values
    for run in range(2):
        want = reference.simulate(e, key=key, run=run)
        for name in data.data_vars:
            np.testing.assert_allclose(
                data[name].values[run], want[str(name)][times], rtol=1e-8, atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str) -> None:
    e = CASES[case]
    first = runs_of(e)
    for options in (
        *({"isa": isa} for isa in _core.available()["isas"]),
        {"threads": 3},
        {"chunk": 7},
    ):
        assert first.equals(runs_of(e, **options)), options


def test_the_place_is_named() -> None:
    e = BASE.replace(baseline=cm.baseline("sum(pi * r) / (t - 3)"))
    with pytest.raises(NonFiniteError, match=r"update 3: .*baseline.* sum\(pi \* r\) / \(t - 3\)"):
        runs_of(e)


# What reaches theta in none of them; at update 3 a formula is not finite.
MASKED: dict[str, cm.Experiment] = {
    "baseline": BASE.replace(
        baseline=cm.baseline("1 / (t - 3)"), update=cm.update("0.1 * score")(0.1)
    ),
    "return": REINFORCE.replace(
        baseline=cm.baseline("pi[0] / (t - 3)"), update=cm.update("0.1 * R * score")(0.1)
    ),
    "weight": BASE.replace(
        estimator=cm.ExactQ(weight=cm.weight("1 / (t - 3)")),
        optimiser=cm.optimiser("where(abs(g) < 1, g, 0)"),
    ),
    "update": BASE.replace(
        update=cm.update("A / (t - 3) * score")(0.1),
        optimiser=cm.optimiser("where(abs(g) < 1, g, 0)"),
    ),
    "optimiser": BASE.replace(optimiser=cm.optimiser("g / (t - 3)")),
}


@pytest.mark.parametrize("case", MASKED)
def test_what_does_not_reach_theta_is_noticed(case: str) -> None:
    part = "baseline" if case == "return" else case
    with pytest.raises(NonFiniteError, match=rf"run 0, update 3: .*{part}.*t - 3 = 0"):
        runs_of(MASKED[case].replace(record=cm.Record("return")), runs=5)


def test_only_visits_that_count_are_looked_at() -> None:
    e = BASE.replace(
        problem=cm.gridworld("S.A\n..B", goals={"A": 1.0, "B": 0.5}, gamma=0.0),
        estimator=cm.ExactQ(discounted=True, weight=cm.weight("1 / maximum(A, 0)")),
    )
    # Only the first visit, where no action is worth anything: A = 0.1 = - b.
    assert np.isfinite(runs_of(e)["theta"]).all()
    with pytest.raises(NonFiniteError, match=r"weight .* maximum\(A, 0\) = \[0"):
        runs_of(e.replace(problem=MAZE))


CORNER = np.zeros((MAZE.n_states, MAZE.n_actions))
CORNER[:, 1] = 60.0
AT_CORNER = {
    "score": BASE.replace(update=cm.update("1e26 * (A + 1) * score")(0.1)),
    "return": REINFORCE.replace(update=cm.update("1e26 * (A + 1) * score")(0.1)),
    "weight": BASE.replace(estimator=cm.ExactQ(weight=cm.weight("1e26 * (1 + A**2) / A"))),
    "signs": BASE.replace(optimiser=cm.optimiser("sign(g)")),
    "scaled": REINFORCE.replace(optimiser=cm.optimiser("g / (abs(g) + 1e-40)")),
}


@pytest.mark.parametrize("case", AT_CORNER)
def test_next_to_a_corner(case: str) -> None:
    e = AT_CORNER[case].replace(policy=cm.Softmax(CORNER), steps=1, record=cm.Record("theta"))
    data = runs_of(e, runs=3)
    for run in range(3):
        want = reference.simulate(e, key=int(data.attrs["key"], 16), run=run)["theta"][1] - CORNER
        assert np.abs(want[:, 1]).max() > 0.01  # 1 - pi(a) is 0
        got = data["theta"].values[run, -1] - CORNER
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
