"""What a formula makes of a run: the error names who left the numbers, when, and from what."""

from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import DivergenceError, NonFiniteError
from committal.reference import replay

BASE = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]),
    cm.Softmax([0, 3, 5]),
    cm.Vanilla(0.1),
    cm.Value(),
    steps=40,
    record=cm.Record("value"),
)
FOUR_ROOMS = BASE.replace(
    problem=cm.maps.four_rooms(), policy=cm.Softmax(), estimator=cm.ExactQ(), baseline=0.0
)


def refused(e: cm.Experiment, runs: int = 3, **options: Any) -> DivergenceError:
    with pytest.raises(DivergenceError) as caught:
        cm.run(e, runs=runs, rng=1, **options)
    return caught.value


# -- recorded formulas -----------------------------------------------------------------------------


POLE = cm.quantity("1 / (t - 20)", name="pole")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"optimiser": cm.Adam()},
        {"baseline": cm.RunningMean()},
        {"baseline": cm.baseline("v", state={"v": (0.0, "v + 0.1 * (mean(R) - v)")})},
        {"baseline": cm.baseline("sum(pi * r) / (t - 40)")},
        {"record.reduce": cm.Reduce(below=0.5)},
        {"behaviour": cm.UniformMixture(cm.Decay(0.5, 0.5))},
    ],
    ids=str,
)
def test_a_recorded_formula_is_named(changes: dict[str, Any]) -> None:
    record = cm.Record("value", POLE, cm.quantity("max(pi)", name="largest"), every=10)
    error = refused(BASE.replace(record=record).replace(**changes), first_run=5)
    assert isinstance(error, NonFiniteError)
    assert (error.run, error.update, error.part) == (5, 20, "quantity pole")
    assert error.expression == "1 / (t - 20)"
    assert error.operands == {"t - 20": 0.0}


def test_times_that_are_not_recorded_are_not_blamed() -> None:
    record = cm.Record(cm.quantity("1 / (t - 3) + log(20.5 - t)", name="two"), every=10)
    assert refused(BASE.replace(record=record)).update == 30


def test_what_is_scheduled_is_what_it_was() -> None:
    # mu is scheduled: the moment that is looked at again is not the last one of a shorter run.
    mu = cm.UniformMixture(cm.Values(np.linspace(1.0, 0.2, 40)))
    seen = cm.run(
        BASE.replace(behaviour=mu, record=cm.Record(cm.quantity("min(mu)", name="m"), every=20)),
        runs=1,
        rng=1,
    )["m"][0, 1]
    record = cm.Record(cm.quantity("log(min(mu) - 2) / (t - 20)", name="m"), at=[20])
    error = refused(BASE.replace(behaviour=mu, record=record))
    assert isinstance(error, NonFiniteError)
    assert error.operands == {"min(mu) - 2": pytest.approx(float(seen) - 2, rel=1e-12)}


def test_a_quantity_of_a_baseline_that_remembers() -> None:
    record = cm.Record(cm.quantity("mean(log(b - 9))", name="far"), at=[30])
    error = refused(BASE.replace(baseline=cm.RunningMean(), record=record))
    assert isinstance(error, NonFiniteError)
    assert (error.part, error.update) == ("quantity far", 30)
    (b,) = error.operands.values()
    assert -9.0 < b[0] < -8.0  # type: ignore[index]
    assert b[0] != -9.0  # type: ignore[index]


def test_what_numpy_rounds_differently_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "quantity_values", lambda *_: np.zeros(()))
    error = refused(BASE.replace(record=cm.Record(POLE, at=[20])))
    assert str(error) == (
        "run 0, update 20: the formula of quantity pole is not finite: 1 / (t - 20) "
        "(by NumPy, which rounds differently, it is finite there)"
    )


# -- long runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [cm.OneSample(), cm.OneSample(samples=300)], ids=str)
def test_late_poles_are_found(estimator: cm.OneSample) -> None:
    late = 300_000 // estimator.samples
    e = BASE.replace(
        baseline=cm.baseline(f"sum(pi * r) + 0.001 / (t - {late})"),
        estimator=estimator,
        steps=2 * late,
    )
    begun = time.perf_counter()
    error = refused(e, runs=1)
    assert isinstance(error, NonFiniteError)
    assert (error.update, error.expression) == (late, f"0.001 / (t - {late})")
    assert time.perf_counter() - begun < 10.0


@pytest.mark.parametrize("estimator", [cm.ExactQ(), cm.Reinforce()], ids=str)
def test_late_poles_of_episodes_are_found(estimator: Any) -> None:
    b = cm.baseline("0.001 / (t - 900) + max(pi)")
    e = FOUR_ROOMS.replace(estimator=estimator, baseline=b, steps=1000)
    begun = time.perf_counter()
    error = refused(e, runs=1)
    assert isinstance(error, NonFiniteError)
    assert (error.part, error.update, error.operands) == ("baseline", 900, {"t - 900": 0.0})
    assert time.perf_counter() - begun < 10.0


def test_a_replay_that_is_given_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    e = BASE.replace(optimiser=cm.optimiser("v", state={"v": (0.0, "v + g / (t - 3000)")}))
    error = refused(e.replace(steps=4000), runs=1)
    assert isinstance(error, NonFiniteError)
    assert error.update == 3000
    found = replay.why_not_finite(e.replace(steps=4000), key=0, run=0, update=3001, patience=0.0)
    assert type(found) is DivergenceError
    assert "given up after 0 s, at update 0 of 3001; all were finite until there" in str(found)


def test_what_is_too_large_to_be_looked_at_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "STATES", 10)
    monkeypatch.setattr(replay, "SAMPLES", 10)
    late = {"baseline": cm.baseline("max(pi) / (t - 3)")}
    assert "not looked for: the oracle replays MDPs of at most 10 states" in str(
        refused(FOUR_ROOMS.replace(**late))
    )
    many = BASE.replace(estimator=cm.OneSample(samples=20))
    words = "not looked for: the oracle replays at most 10 samples per update"
    assert words in str(refused(many.replace(**late)))
    error = refused(many.replace(record=cm.Record(POLE, at=[20])))
    assert words in str(error)
    assert "run 0, update 20: the formula of quantity pole is not finite" in str(error)


def test_formulas_that_were_finite_are_not_blamed() -> None:
    error = refused(BASE.replace(optimiser=cm.optimiser("g * 1e290"), update=cm.Natural(1e40)))
    assert type(error) is DivergenceError
    assert "the formulas of its last update were finite" in str(error) or error.update == 1


# -- what reaches the result -----------------------------------------------------------------------


def test_masked_branches_are_not_blamed() -> None:
    b = cm.baseline("where(t > 5, log(t - 9), log(2 - t) * 0) + 1 / (t - 9)")
    # Until update 5 the second branch is taken: log(2 - t) is -inf at t = 2.
    error = refused(BASE.replace(baseline=b))
    assert isinstance(error, NonFiniteError)
    assert (error.update, error.expression) == (2, "log(2 - t)")
    b = cm.baseline("where(t > 50, log(t - 90), 1) + sum(1 / (pi - pi[0]) * onehot(1)) / (t - 4)")
    error = refused(BASE.replace(baseline=b))
    assert isinstance(error, NonFiniteError)
    assert error.expression == "1 / (pi - pi[0])"  # 1 / 0 at the first arm, times 0, is NaN
    b = cm.baseline("(1 / (pi - pi[0]))[1] / (t - 4)")  # that arm is not looked at
    error = refused(BASE.replace(baseline=b))
    assert isinstance(error, NonFiniteError)
    assert (error.update, error.operands["t - 4"]) == (4, 0.0)


def test_of_many_arms_the_entry_is_named() -> None:
    many = BASE.replace(
        problem=cm.Bandit(np.linspace(0, 1, 50)),
        policy=cm.Softmax(),
        baseline=cm.baseline("sum(pi * log(r - 0.01))"),
    )
    error = refused(many)
    assert isinstance(error, NonFiniteError)
    assert error.operands == {"r - 0.01 (arm 0)": -0.01}


# -- links -----------------------------------------------------------------------------------------


def linked(text: str, theta0: list[float], **changes: Any) -> cm.Experiment:
    return BASE.replace(policy=cm.link(text)(theta0), steps=500).replace(**changes)


@pytest.mark.parametrize(
    ("text", "theta0", "step", "words"),
    [
        ("theta", [0.1, 0.5, 0.5], 3.0, "the formula of policy is negative: theta with theta = "),
        ("theta**3 + 0.1", [0, 0.1, 0.1], 3.0, r"is negative: theta\*\*3 \+ 0.1 with theta = "),
        ("1 + sqrt(theta)", [0.1, 0.2, 0.1], 9.0, r"is not finite: sqrt\(theta\) with theta = "),
    ],
)
def test_links_that_become_none(text: str, theta0: list[float], step: float, words: str) -> None:
    error = refused(linked(text, theta0, update=cm.Vanilla(step)), runs=50)
    assert isinstance(error, NonFiniteError)
    with pytest.raises(NonFiniteError, match=words):
        raise error


def test_links_that_become_zero_or_steep() -> None:
    still = cm.update("0 * score - onehot(0) - onehot(1) - onehot(2)")
    error = refused(linked("maximum(theta, 0)", [1, 2, 2], update=still(step_size=0.5)))
    assert "update 4: the formula of policy is 0 for every arm: maximum(theta, 0)" in str(error)
    error = refused(linked("1 + sqrt(theta)", [1, 2, 2], update=still(step_size=0.5)))
    assert isinstance(error, NonFiniteError)
    assert error.problem == "has a slope that is not finite"
    assert (error.update, error.operands) == (2, {"2 * sqrt(theta)": [0.0, 2.0, 2.0]})
    without = cm.update("-onehot(0)")  # looks at no slope: only sqrt itself is to blame
    error = refused(linked("1 + sqrt(theta)", [1, 2, 2], update=without(step_size=0.5)))
    assert (error.update, str(error).count("slope")) == (3, 0)


@pytest.mark.parametrize(
    ("text", "theta0", "words"),
    [
        ("theta", [1, -1, 1], r"no link is negative .* f is 1.0, -1.0, 1.0 at theta0 = 1, -1, 1"),
        ("abs(theta)", None, r"some are positive: f is 0.0, 0.0, 0.0 at theta0 = 0, 0, 0"),
        ("exp(theta)", [800, 0, 0], "the link is finite: f is inf, 1.0, 1.0 at theta0 = 800, 0, 0"),
        ("1 + sqrt(theta)", [0, 1, 1], "finite slope: f' is inf, 0.5, 0.5 at theta0 = 0, 1, 1"),
    ],
)
def test_starts_that_are_none(text: str, theta0: list[float] | None, words: str) -> None:
    with pytest.raises(cm.CombinationError, match=words):
        BASE.replace(policy=cm.link(text)(theta0))


# -- studies ---------------------------------------------------------------------------------------


def test_a_study_names_the_point() -> None:
    late = BASE.replace(baseline=cm.baseline("sum(pi * r) / (t - c)", c=50))
    study = cm.Study(
        late, {"baseline.c": [50, 60, 7], "update.step_size": [0.1, 0.2]}, runs=4, rng=0
    )
    with pytest.raises(NonFiniteError, match=r"^at c = 7, step_size = 0.[12]: run \d, update 7"):
        study.run(progress=False)
    with pytest.raises(NonFiniteError, match=r"^at c = 7, step_size = 0.[12]: run "):
        study.estimate()


def test_errors_survive_a_process_border() -> None:
    error = NonFiniteError(3, 9, "policy", "theta", {"theta": [1.0]}, "is negative", "all seen")
    error.point = {"c": 7}
    again = pickle.loads(pickle.dumps(error))
    assert (again.run, again.update, again.point) == (3, 9, {"c": 7})
    assert str(again) == str(error)
    plain = pickle.loads(pickle.dumps(DivergenceError(3, 9, "all seen")))
    assert str(plain).endswith("step_size * entropy < 2 (all seen)")
