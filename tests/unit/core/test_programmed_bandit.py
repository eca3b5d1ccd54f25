"""Bandits with programs: native parts written as programs, and parts that only programs have."""

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
RUNS = 70
STEPS = 60

SOFTMAX = cm.Experiment(
    problem=cm.Bandit([1.0, 0.7, 0.0], noise="gaussian", sigma=0.3),
    policy=cm.Softmax([0, 1, 2]),
    update=cm.Natural(0.05),
    steps=STEPS,
    record=cm.Record("theta", every=1),
)
MANY = SOFTMAX.replace(
    problem=cm.Bandit(np.linspace(1, 0, 11), noise="gaussian", sigma=0.3),
    policy=cm.Softmax(np.linspace(0, 2, 11)),
)
EXPERIMENTS = {
    "natural": SOFTMAX,
    "vanilla": SOFTMAX.replace(update=cm.Vanilla(0.2)),
    "many": MANY,
    "many vanilla": MANY.replace(update=cm.Vanilla(0.2)),
    "samples": SOFTMAX.replace(estimator=cm.OneSample(samples=3)),
    "off policy": SOFTMAX.replace(behaviour=cm.UniformMixture(0.3)),
    "off policy vanilla": SOFTMAX.replace(
        behaviour=cm.UniformMixture(0.3),
        update=cm.Vanilla(0.2),
        estimator=cm.OneSample(samples=2),
    ),
    "implicit": SOFTMAX.replace(estimator=cm.OneSample(implicit=0.1)),
    "entropy": SOFTMAX.replace(update=cm.Natural(0.05, entropy=0.1)),
    "entropy vanilla": SOFTMAX.replace(update=cm.Vanilla(0.05, entropy=0.1)),
    "direct": SOFTMAX.replace(policy=cm.Direct([0.2, 0.3, 0.5]), update=cm.Projected(0.01)),
}


def simulate(
    experiment: cm.Experiment,
    programs: dict[str, Any] | None = None,
    outputs: tuple[str, ...] = ("theta",),
    *,
    threads: int = 1,
    **options: Any,
) -> dict[str, Floats]:
    arguments = lower(experiment).core_arguments()
    simulator = _core.BanditSimulator(**{**arguments, "programs": programs or {}})
    times = len(arguments["times"])
    found = {}
    for name in outputs:
        dtype, shape = simulator.describe(name)
        found[name] = np.zeros((RUNS, times, *shape), dtype)
    _core.simulate(simulator, found, key=7, first_run=3, runs=RUNS, threads=threads, **options)
    return found


def value_baseline() -> _core.Program:
    f = Builder()
    return f.make(f("sum_arms", f("mul", f.given("pi"), f.given("r"))))


def plain_weight() -> _core.Program:
    f = Builder()
    return f.make(f("copy", f.given("rho")))


def plain_step() -> _core.Program:
    f = Builder()
    return f.make(f("copy", f.given("g")))


def update(direction: str) -> _core.Program:
    f = Builder()
    scale = f("mul", f.given("w"), f.given("A"))
    return f.make(f("mul", scale, f.given(direction)))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_baseline_agrees_with_the_native_one(name: str) -> None:
    native = simulate(EXPERIMENTS[name].replace(baseline=cm.Value() - 0.5))["theta"]
    programs = {"baseline": value_baseline()}
    found = simulate(EXPERIMENTS[name].replace(baseline=-0.5), programs)["theta"]
    np.testing.assert_allclose(found, native, rtol=1e-12, atol=1e-12)
    assert not np.allclose(simulate(EXPERIMENTS[name])["theta"], native)


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("part", ["weight", "optimiser", "both"])
def test_plain_weights_and_steps_change_nothing(name: str, part: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=cm.Value() - 0.5)
    programs = {"weight": plain_weight(), "optimiser": plain_step()}
    if part != "both":
        programs = {part: programs[part]}
    native = simulate(experiment)["theta"]
    found = simulate(experiment, programs)["theta"]
    np.testing.assert_allclose(found, native, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["natural", "many", "samples", "off policy", "implicit"])
def test_a_natural_update_agrees_with_the_native_one(name: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=cm.Value())
    native = simulate(experiment)["theta"]
    found = simulate(experiment, {"update": update("natural")})["theta"]
    np.testing.assert_allclose(found, native, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["vanilla", "many vanilla", "off policy vanilla"])
def test_a_vanilla_update_agrees_with_the_native_one(name: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=cm.Value())
    native = simulate(experiment)["theta"]
    found = simulate(experiment, {"update": update("score")})["theta"]
    np.testing.assert_allclose(found, native, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["vanilla", "many vanilla", "off policy vanilla", "expected"])
def test_a_link_agrees_with_the_softmax(name: str) -> None:
    """exp is its own derivative."""
    if name == "expected":
        experiment = SOFTMAX.replace(update=cm.Vanilla(0.2), estimator=cm.Expected())
    else:
        experiment = EXPERIMENTS[name].replace(baseline=cm.Value())
    f = Builder()
    weight = f("exp", f.given("theta"))
    outputs = ("theta", "policy", "entropy", "value", "distance")
    native = simulate(experiment, outputs=outputs)
    found = simulate(experiment, {"link": f.make(weight, slope=weight)}, outputs)
    for each in outputs:
        np.testing.assert_allclose(found[each], native[each], rtol=1e-11, atol=1e-11)


def test_a_link_gives_its_score_to_updates() -> None:
    """pi = |theta|^2 / sum: an update along the score is vanilla."""
    experiment = SOFTMAX.replace(
        policy=cm.Softmax([1, 2, 3]), update=cm.Vanilla(0.05), baseline=0.2
    )
    f = Builder()
    theta = f.given("theta")
    link = f.make(f("powi", theta, power=2), slope=f("mul", theta, 2.0))
    native = simulate(experiment, {"link": link}, ("theta", "policy"))
    again = simulate(experiment, {"link": link, "update": update("score")})
    np.testing.assert_allclose(native["theta"], again["theta"], rtol=1e-11)
    square = native["theta"] ** 2
    want = square / square.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(native["policy"], want, rtol=1e-12)


def test_a_running_mean_as_a_state() -> None:
    native = simulate(SOFTMAX.replace(baseline=cm.RunningMean(0.1, initial=0.25)))["theta"]
    f = Builder()
    mean = f.state("mean", "run", 0.25)
    batch = f("mean_samples", f.given("R"))
    following = f("add", mean, f("mul", 0.1, f("sub", batch, mean)))
    program = f.make(mean, state_mean=following)
    found = simulate(SOFTMAX, {"baseline": program}, ("theta", "baseline"))
    np.testing.assert_allclose(found["theta"], native, rtol=1e-12, atol=1e-12)
    rewards = simulate(SOFTMAX, {"baseline": program}, ("reward",))["reward"][..., 0]
    mean_of = np.full(RUNS, 0.25)
    for t in range(STEPS):
        np.testing.assert_allclose(found["baseline"][:, t], mean_of, rtol=1e-12)
        mean_of = mean_of + 0.1 * (rewards[:, t] - mean_of)


def test_what_is_recorded_does_not_move_states() -> None:
    f = Builder()
    mean = f.state("mean", "run", 0.0)
    following = f("add", mean, f("mul", 0.1, f("sub", f("mean_samples", f.given("R")), mean)))
    program = f.make(following, state_mean=following)
    every = simulate(SOFTMAX, {"baseline": program}, ("theta", "baseline"))
    rare = simulate(SOFTMAX.replace(record=cm.Record("theta", every=STEPS)), {"baseline": program})
    np.testing.assert_array_equal(every["theta"][:, [0, STEPS]], rare["theta"])


def leave_one_out() -> _core.Program:
    f = Builder()
    return f.make(f("others_mean_samples", f.given("R")))


def test_leave_one_out_by_hand() -> None:
    experiment = SOFTMAX.replace(estimator=cm.OneSample(samples=4))
    outputs = ("theta", "policy", "action", "reward", "baseline")
    found = simulate(experiment, {"baseline": leave_one_out()}, outputs)
    reward = found["reward"]
    b = (reward.sum(axis=-1, keepdims=True) - reward) / 3
    np.testing.assert_allclose(found["baseline"], b.mean(axis=-1), rtol=1e-10, atol=1e-12)
    drawn = np.take_along_axis(found["policy"], found["action"].astype(np.int64), axis=-1)
    move = np.zeros_like(found["theta"])
    for i in range(4):
        amount = 0.05 / 4 * (reward[..., i] - b[..., i]) / drawn[..., i]
        np.put_along_axis(
            move,
            found["action"][..., [i]].astype(np.int64),
            np.take_along_axis(move, found["action"][..., [i]].astype(np.int64), -1)
            + amount[..., np.newaxis],
            -1,
        )
    np.testing.assert_allclose(
        found["theta"][:, 1:], (found["theta"] + move)[:, :-1], rtol=1e-10, atol=1e-10
    )


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


@pytest.mark.parametrize("name", ["natural", "vanilla", "many vanilla"])
def test_adam_by_hand(name: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=0.3)
    outputs = ("theta", "policy", "action", "reward")
    found = simulate(experiment, {"optimiser": adam()}, outputs)
    theta = found["theta"][:, 0].copy()
    m = np.zeros_like(theta)
    v = np.zeros_like(theta)
    alpha = float(lower(experiment).core_arguments()["step_size"][0])
    for t in range(STEPS):
        pi, action = found["policy"][:, t], found["action"][:, t, 0].astype(np.int64)
        e = np.eye(theta.shape[1])[action]
        advantage = found["reward"][:, t] - 0.3
        along = e - pi if "vanilla" in name else e / pi
        g = advantage * along
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        step = (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-8)
        theta = theta + alpha * step
        np.testing.assert_allclose(found["theta"][:, t + 1], theta, rtol=1e-9, atol=1e-9)


def quantities() -> list[tuple[str, _core.Program]]:
    f = Builder()
    collision = f.make(f("sum_arms", f("powi", f.given("pi"), power=2)))
    f = Builder()
    moved = f.make(f("sub", f.given("theta"), f.given("theta0")))
    f = Builder()
    mean_reward = f.make(f("mean_samples", f.given("R")))
    f = Builder()
    scale = f("mul", f.given("w"), f.given("A"))
    gradient = f.make(f("mean_samples", f("mul", scale, f.given("score"))))
    return [
        ("of squares", collision),
        ("moved", moved),
        ("mean reward", mean_reward),
        ("gradient", gradient),
    ]


@pytest.mark.parametrize("name", ["natural", "samples", "many vanilla", "off policy"])
def test_quantities_are_recorded(name: str) -> None:
    experiment = EXPERIMENTS[name].replace(baseline=cm.Value())
    names = ("of squares", "moved", "mean reward", "gradient")
    known = ("theta", "policy", "reward", "action", "value")
    found = simulate(experiment, {"quantities": quantities()}, names + known)
    native = simulate(experiment, outputs=known)
    for each in known:  # looking changes nothing but how a step is computed
        np.testing.assert_allclose(found[each], native[each], rtol=1e-12, atol=1e-12)
    pi = found["policy"]
    np.testing.assert_allclose(found["of squares"], (pi**2).sum(-1), rtol=1e-12)
    np.testing.assert_array_equal(found["moved"], found["theta"] - found["theta"][:, :1])
    np.testing.assert_allclose(found["mean reward"], found["reward"].mean(-1), rtol=1e-12)
    mu = pi if name != "off policy" else 0.7 * pi + 0.1
    action = found["action"].astype(np.int64)
    ratio = np.take_along_axis(pi / mu, action, -1)
    weight = ratio * (found["reward"] - found["value"][..., np.newaxis])
    e = np.eye(pi.shape[-1])[action]
    want = (weight[..., np.newaxis] * (e - pi[..., np.newaxis, :])).mean(-2)
    np.testing.assert_allclose(found["gradient"], want, rtol=1e-9, atol=1e-12)


def tapered() -> _core.Program:
    f = Builder()
    positive = f("gt", f.given("A"), 0.0)
    return f.make(f("where", positive, 1.0, f("min", f.given("rho"), 1.0)))


@pytest.mark.parametrize("name", ["natural", "many vanilla", "samples", "off policy vanilla"])
def test_bits_are_the_same_everywhere(name: str) -> None:
    programs: dict[str, Any] = {
        "baseline": leave_one_out() if "samples" in name else value_baseline(),
        "weight": tapered(),
        "optimiser": adam(),
        "quantities": quantities(),
    }
    sets = [programs, {"baseline": programs["baseline"]}, {"weight": programs["weight"]}]
    for some in sets:
        outputs = ("theta", "baseline", *(n for n, _ in some.get("quantities", [])))
        first = simulate(EXPERIMENTS[name], some, outputs)
        assert all(np.isfinite(x).all() for x in first.values())
        for isa, block in itertools.product(ISAS, (16, 64)):
            again = simulate(EXPERIMENTS[name], some, outputs, isa=isa, block=block, threads=2)
            assert all(np.array_equal(first[n], again[n]) for n in first), (isa, block)


def test_a_number_that_is_none_stops_with_run_and_update() -> None:
    f = Builder()
    # 1 / (12 - t): infinite at t = 12.
    program = f.make(f("div", 1.0, f("sub", 12.0, f.given("t"))))
    with pytest.raises(_core.Diverged) as caught:
        simulate(SOFTMAX, {"baseline": program})
    assert caught.value.args[1:] == (3, 13, False)
    with pytest.raises(_core.Diverged, match="a recorded formula is not finite") as caught:
        simulate(SOFTMAX, {"quantities": [("q", program)]}, ("q",))
    assert caught.value.args[1:] == (3, 12, True)
    simulate(SOFTMAX, {"quantities": [("q", program)]})  # nobody asks for it
    f = Builder()
    # A state that is not used for anything else.
    program = f.make(
        f("copy", f.given("g")),
        state_s=f("add", f.state("s", "run", 0.0), f("log", f("sub", 12.0, f.given("t")))),
    )
    with pytest.raises(_core.Diverged) as caught:
        simulate(SOFTMAX, {"optimiser": program})
    assert caught.value.args[1:] == (3, 13, False)
    f = Builder()
    theta = f.given("theta")
    with pytest.raises(_core.Diverged):  # negative "probabilities"
        simulate(
            SOFTMAX.replace(update=cm.Vanilla(5.0)),
            {"link": f.make(theta, slope=f("add", 1.0, f("mul", theta, 0.0)))},
        )


def test_what_does_not_fit_is_refused() -> None:
    f = Builder()
    arms = f.make(f("copy", f.given("pi")))
    f = Builder()
    reads_g = f.make(f("sum_arms", f.given("g")))
    f = Builder()
    unknown = f.make(f("copy", f.given("x", "run")))
    f = Builder()
    weight = f("exp", f.given("theta"))
    link = f.make(weight, slope=weight)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"baseline": arms}, "gives shape 'arm'"),
        ({"baseline": reads_g}, "the input 'g'"),
        ({"baseline": unknown}, "the input 'x'"),
        ({"weight": arms}, "programs\\['weight'\\]"),
        ({"optimiser": value_baseline()}, "gives shape 'run'"),
        ({"link": value_baseline()}, "the input 'pi'"),
        ({"link": link}, "expected 'vanilla'"),
        ({"quantities": [("theta", value_baseline())]}, "a name of its own"),
        ({"quantities": [("x", value_baseline())] * 2}, "every name once"),
        ({"speed": value_baseline()}, "'speed'"),
        ({"quantities": [("a" * i, value_baseline()) for i in range(70)]}, "number of programs"),
    ]
    for programs, text in refused:
        with pytest.raises(ValueError, match=text):
            simulate(SOFTMAX, programs)
    wrong: list[Any] = [{"baseline": 3}, {"quantities": [3]}, {"quantities": 3}, [1], {3: None}]
    for each in wrong:
        with pytest.raises(TypeError):
            simulate(SOFTMAX, each)
    with pytest.raises(ValueError, match="estimator 'expected'"):
        simulate(SOFTMAX.replace(estimator=cm.Expected()), {"weight": plain_weight()})
    with pytest.raises(ValueError, match="'variance'"):
        simulate(SOFTMAX, {"weight": plain_weight()}, ("variance",))
    simulate(SOFTMAX, {"baseline": None, "quantities": []})
