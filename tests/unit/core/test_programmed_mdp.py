"""MDPs with programs: native parts written as programs, and Adam over the whole table."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import committal as cm
from committal import _core
from committal.lowering import lower

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from program_builder import Builder

Floats = npt.NDArray[np.float64]
ISAS = _core.available()["isas"]
RUNS = 20

ROOMS = cm.Experiment(
    problem=cm.gridworld("S..A\n.#..\n...B", goals={"A": 1, "B": 2}, gamma=0.9),
    policy=cm.Softmax(),
    update=cm.Natural(0.05),
    estimator=cm.ExactQ(),
    steps=40,
    record=cm.Record("theta", every=1),
)
EXPERIMENTS = {
    "natural": ROOMS,
    "vanilla": ROOMS.replace(update=cm.Vanilla(0.1)),
    "discounted": ROOMS.replace(estimator=cm.ExactQ(discounted=True), update=cm.Vanilla(0.1)),
    "off policy": ROOMS.replace(behaviour=cm.UniformMixture(0.2)),
    "off policy vanilla": ROOMS.replace(behaviour=cm.UniformMixture(0.2), update=cm.Vanilla(0.1)),
    "reinforce": ROOMS.replace(estimator=cm.Reinforce(), update=cm.Vanilla(0.1)),
    "reinforce natural": ROOMS.replace(estimator=cm.Reinforce(), update=cm.Natural(0.01)),
}
EXACT = [name for name in EXPERIMENTS if "reinforce" not in name]


def simulate(
    experiment: cm.Experiment, programs: dict[str, Any] | None = None, **options: Any
) -> Floats:
    arguments = lower(experiment).core_arguments()
    simulator = _core.MdpSimulator(**{**arguments, "programs": programs or {}})
    _, shape = simulator.describe("theta")
    theta = np.zeros((RUNS, len(arguments["times"]), *shape))
    _core.simulate(simulator, {"theta": theta}, key=7, first_run=3, runs=RUNS, **options)
    return theta


def value_baseline() -> _core.Program:
    f = Builder()
    return f.make(f("sum_arms", f("mul", f.given("pi"), f.given("r"))))


def constant(value: float) -> _core.Program:
    f = Builder()
    zero = f("mul", f("sum_arms", f.given("theta")), 0.0)
    return f.make(f("add", zero, value))


def copied(name: str) -> _core.Program:
    f = Builder()
    return f.make(f("copy", f.given(name)))


def update(direction: str) -> _core.Program:
    f = Builder()
    scale = f("mul", f.given("w"), f.given("A"))
    return f.make(f("mul", scale, f.given(direction)))


def near(found: Floats, native: Floats) -> None:
    np.testing.assert_allclose(found, native, rtol=1e-10, atol=1e-10)
    assert np.isfinite(found).all()
    assert not np.array_equal(found[:, 0], found[:, -1])


@pytest.mark.parametrize("name", EXACT)
def test_a_baseline_per_state(name: str) -> None:
    native = simulate(EXPERIMENTS[name].replace(baseline=cm.Value() - 0.5))
    near(simulate(EXPERIMENTS[name].replace(baseline=-0.5), {"baseline": value_baseline()}), native)


@pytest.mark.parametrize("name", ["reinforce", "reinforce natural"])
@pytest.mark.parametrize("off_policy", [False, True])
def test_a_baseline_of_returns(name: str, off_policy: bool) -> None:
    experiment = EXPERIMENTS[name]
    if off_policy:
        experiment = experiment.replace(behaviour=cm.UniformMixture(0.2))
    near(
        simulate(experiment, {"baseline": constant(0.3)}),
        simulate(experiment.replace(baseline=0.3)),
    )


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("part", ["weight", "optimiser", "both"])
def test_plain_weights_and_steps_change_nothing(name: str, part: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=0.3)
    programs = {"weight": copied("rho"), "optimiser": copied("g")}
    if part != "both":
        programs = {part: programs[part]}
    near(simulate(experiment, programs), simulate(experiment))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_updates_agree_with_the_native_ones(name: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=0.3)
    vanilla = isinstance(experiment.update, cm.Vanilla)
    program = update("score" if vanilla else "natural")
    near(simulate(experiment, {"update": program}), simulate(experiment))


def test_an_optimiser_of_the_expectation() -> None:
    experiment = ROOMS.replace(estimator=cm.Expected())
    near(simulate(experiment, {"optimiser": copied("g")}), simulate(experiment))


def test_weights_see_the_visit() -> None:
    """w = 2 A / A of the arm, by every way to it: theta moves twice as far."""
    f = Builder()
    q = f("gather", f.given("r"), f.given("a"))
    same = f(
        "and",
        f("eq", q, f.given("R")),
        f("lt", f("abs", f("sub", f("sub", q, f.given("b")), f.given("A"))), 1e-9),
    )
    program = f.make(f("where", same, 2.0, 0.0))
    experiment = ROOMS.replace(baseline=cm.Value(), steps=1)
    once = simulate(experiment)
    twice = simulate(experiment, {"weight": program})
    np.testing.assert_allclose(
        twice - twice[:, :1], 2 * (once - once[:, :1]), rtol=1e-9, atol=1e-12
    )


def test_programs_see_the_old_theta() -> None:
    """A state visited twice in an episode: theta has not moved in between."""
    f = Builder()
    program = f.make(f("add", f.given("rho"), f("mul", 0.0, f("sum_arms", f.given("theta")))))
    experiment = EXPERIMENTS["vanilla"].replace(baseline=0.3)
    near(simulate(experiment, {"weight": program}), simulate(experiment))
    f = Builder()
    total = f("sum_arms", f("powi", f.given("theta"), power=2))
    first = f.make(f("where", f("gt", total, 0.0), 0.0, f.given("rho")))
    experiment = experiment.replace(steps=1)
    near(simulate(experiment, {"weight": first}), simulate(experiment))


def adam() -> _core.Program:
    f = Builder()
    g, t = f.given("g"), f.given("t")
    m, v = f.state("m", "arm", 0.0), f.state("v", "arm", 0.0)
    next_m = f("add", f("mul", 0.9, m), f("mul", 0.1, g))
    next_v = f("add", f("mul", 0.999, v), f("mul", 0.001, f("powi", g, power=2)))
    n = f("add", t, 1.0)
    first = f("div", next_m, f("sub", 1.0, f("pow", 0.9, n)))
    second = f("div", next_v, f("sub", 1.0, f("pow", 0.999, n)))
    step = f("div", first, f("add", f("sqrt", second), 1e-8))
    return f.make(step, state_m=next_m, state_v=next_v)


def test_adam_of_the_expectation_by_hand() -> None:
    """The gradient at theta_t is the step of the plain rule from there."""
    experiment = ROOMS.replace(estimator=cm.Expected(), update=cm.Vanilla(0.1), steps=6)
    found = simulate(experiment, {"optimiser": adam()})[0]
    m = v = np.zeros_like(found[0])
    for t in range(6):
        once = experiment.replace(policy=cm.Softmax(found[t]), steps=1)
        there = simulate(once)[0]
        g = (there[1] - there[0]) / 0.1
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        step = m / (1 - 0.9 ** (t + 1)) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
        np.testing.assert_allclose(found[t + 1], found[t] + 0.1 * step, rtol=1e-5, atol=1e-7)


def test_bits_are_the_same_everywhere() -> None:
    f = Builder()
    clipped = f.make(f("min", f.given("rho"), 1.0))
    programs = {"baseline": value_baseline(), "weight": clipped, "optimiser": adam()}
    for some in (programs, {"baseline": programs["baseline"]}, {"update": update("natural")}):
        first = simulate(EXPERIMENTS["off policy"], some)
        for isa, block in itertools.product(ISAS, (8, 16)):
            again = simulate(EXPERIMENTS["off policy"], some, isa=isa, block=block, threads=2)
            assert np.array_equal(first, again), (isa, block)


def test_a_number_that_is_none_stops_with_run_and_update() -> None:
    f = Builder()
    program = f.make(f("div", 1.0, f("sub", 12.0, f.given("t"))))
    with pytest.raises(_core.Diverged) as caught:
        simulate(ROOMS, {"baseline": program})
    assert caught.value.args[1:] == (3, 13, False)


def test_what_does_not_fit_is_refused() -> None:
    f = Builder()
    weight = f("exp", f.given("theta"))
    link = f.make(weight, slope=weight)
    f = Builder()
    s = f.state("s", "run", 0.0)
    keeps = f.make(s, state_s=f("add", s, 1.0))
    refused: list[tuple[dict[str, Any], str]] = [
        ({"link": link}, "a link with update 'natural'"),
        ({"quantities": [("x", copied("a"))]}, "the input 'a'"),
        ({"quantities": [("value", value_baseline())]}, "a name of its own"),
        ({"quantities": [("x", value_baseline())]}, "quantity_states"),
        ({"baseline": copied("R")}, "the input 'R'"),
        ({"baseline": keeps}, "one without"),
        ({"optimiser": copied("pi")}, "the input 'pi'"),
    ]
    for programs, text in refused:
        with pytest.raises(ValueError, match=text):
            simulate(ROOMS, programs)
    with pytest.raises(ValueError, match="the input 'r'"):
        simulate(EXPERIMENTS["reinforce"], {"baseline": value_baseline()})
    with pytest.raises(ValueError, match="estimator 'expected'"):
        simulate(ROOMS.replace(estimator=cm.Expected()), {"weight": copied("rho")})
