"""Problems, policies, updates, behaviours and estimators: what they hold and what they refuse."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Config, Linear
from committal.config.base import config
from committal.errors import ConfigError, ConfigTypeError

NAN, INF = math.nan, math.inf

# -- refusals --------------------------------------------------------------------------------------

VALUES: list[tuple[str, Callable[[], object]]] = [
    # (argument that the error names, call)
    ("Bandit.means", lambda: cm.Bandit([1.0, NAN])),
    ("Bandit.means", lambda: cm.Bandit([1.0, INF])),
    ("Bandit.means", lambda: cm.Bandit([10**400])),
    ("Bandit.means", lambda: cm.Bandit([])),
    ("Bandit.means", lambda: cm.Bandit([[1.0, 0.0]])),  # type: ignore[list-item]
    ("Bandit.means", lambda: cm.Bandit(np.ones((2, 2)))),
    ("Bandit.means", lambda: cm.Bandit([1.5, 0.0], "bernoulli")),
    ("Bandit.means", lambda: cm.Bandit([-0.5, 0.0], "bernoulli")),
    ("Bandit.means", lambda: cm.Bandit([1.0], "table", table=[[(0.5, 1.0)]])),
    ("Bandit.means", lambda: cm.Bandit([0.5, 0.5], "table", table=[[(0.5, 1.0)]])),
    ("Bandit.means", lambda: cm.Bandit([1.0]).gap),
    ("Bandit.noise", lambda: cm.Bandit([1.0], "normal")),
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "gaussian")),
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "gaussian", sigma=-1)),
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "gaussian", sigma=NAN)),
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "gaussian", sigma=[1.0, 2.0])),
    ("Bandit.sigma", lambda: cm.Bandit([1.0], sigma=1.0)),
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "uniform", sigma=1.0, half_width=1.0)),
    ("Bandit.half_width", lambda: cm.Bandit([1.0], "uniform")),
    ("Bandit.half_width", lambda: cm.Bandit([1.0], "uniform", half_width=-1)),
    ("Bandit.half_width", lambda: cm.Bandit([1.0], "bernoulli", half_width=1)),
    ("Bandit.table", lambda: cm.Bandit(None, "table")),
    ("Bandit.table", lambda: cm.Bandit([1.0], table=[[(1.0, 1.0)]])),
    ("Bandit.table", lambda: cm.Bandit.from_table([])),
    ("Bandit.table[1]", lambda: cm.Bandit.from_table([[(1, 1)], []])),
    ("Bandit.table[0]", lambda: cm.Bandit.from_table([[(1, 0.5, 3)]])),
    ("Bandit.table[1]", lambda: cm.Bandit.from_table([[(1, 1)], [(1, 0.5), (0, 0.4)]])),
    ("Bandit.table[0]", lambda: cm.Bandit.from_table([[(1, 1 - 2e-9)]])),
    ("Bandit.table values", lambda: cm.Bandit.from_table([[(NAN, 1)]])),
    ("Bandit.table probabilities", lambda: cm.Bandit.from_table([[(1, 1.5), (0, -0.5)]])),
    ("Bandit.names", lambda: cm.Bandit([1, 0], names=["a"])),
    ("Bandit.names", lambda: cm.Bandit([1, 0], names=["a", "a"])),
    ("Bandit.names", lambda: cm.Bandit([1, 0], names=["a", ""])),
    ("Softmax.theta0", lambda: cm.Softmax([NAN])),
    ("Softmax.theta0", lambda: cm.Softmax([])),
    ("Sigmoid.theta0", lambda: cm.Sigmoid(INF)),
    ("Direct.probabilities", lambda: cm.Direct([0.5, 0.6])),
    ("Direct.probabilities", lambda: cm.Direct([1.5, -0.5])),
    ("Direct.probabilities", lambda: cm.Direct([])),
    ("Direct.probabilities", lambda: cm.Direct([0.5, 0.5 - 2e-9])),
    ("Natural.step_size", lambda: cm.Natural(0)),
    ("Natural.step_size", lambda: cm.Natural(-1)),
    ("Natural.step_size", lambda: cm.Natural(NAN)),
    ("Natural.step_size", lambda: cm.Natural(cm.Values([1.0, 0.0]))),
    ("Natural.entropy", lambda: cm.Natural(1, entropy=-1)),
    ("Natural.entropy", lambda: cm.Natural(1, entropy=cm.Values([-1.0]))),
    ("Vanilla.step_size", lambda: cm.Vanilla(0)),
    ("Vanilla.entropy", lambda: cm.Vanilla(1, entropy=INF)),
    ("Projected.step_size", lambda: cm.Projected(-0.0)),
    ("UniformMixture.gamma", lambda: cm.UniformMixture(1.5)),
    ("UniformMixture.gamma", lambda: cm.UniformMixture(-0.1)),
    ("UniformMixture.gamma", lambda: cm.UniformMixture(cm.Decay(2, 0.5))),
    ("UniformMixture.gamma", lambda: cm.UniformMixture(cm.Decay(1, 0.5, offset=0.5))),
    ("EpsilonGreedy.epsilon", lambda: cm.EpsilonGreedy(0)),
    ("EpsilonGreedy.epsilon", lambda: cm.EpsilonGreedy(1.5)),
    ("EpsilonGreedy.epsilon", lambda: cm.EpsilonGreedy(cm.Values([0.5, 0.0]))),
    ("Fixed.probabilities", lambda: cm.Fixed([0.5, 0.5, 0.0])),
    ("Fixed.probabilities", lambda: cm.Fixed([0.5, 0.4])),
    ("OneSample.samples", lambda: cm.OneSample(0)),
    ("OneSample.samples", lambda: cm.OneSample(2**31)),
    ("OneSample.implicit", lambda: cm.OneSample(implicit=-1)),
    ("Decay.scale", lambda: cm.Decay(0, 1)),
    ("Decay.power", lambda: cm.Decay(1, -1)),
    ("Decay.offset", lambda: cm.Decay(1, 1, 0)),
    ("Decay.offset", lambda: cm.Decay(1, 2, 1e-200)),
    ("Decay.offset", lambda: cm.Decay(1, 300, 1e10)),
    ("Values.values", lambda: cm.Values([])),
    ("Values.values", lambda: cm.Values([NAN])),
    ("Constant.c", lambda: cm.Constant(NAN)),
    ("MinVariance.metric", lambda: cm.MinVariance("euclidean")),
    ("MinVariance.lam", lambda: cm.MinVariance(lam=1)),
    ("MinVariance.lam", lambda: cm.MinVariance("natural", lam=1e200)),
    ("Gap.fraction", lambda: cm.Gap(0)),
    ("Gap.fraction", lambda: cm.Gap(1)),
    ("RunningMean.rate", lambda: cm.RunningMean(0)),
    ("RunningMean.rate", lambda: cm.RunningMean(1.1)),
    ("RunningMean.initial", lambda: cm.RunningMean(initial=NAN)),
    ("Linear.terms", lambda: Linear([(NAN, cm.Value())])),
    ("Linear.offset", lambda: Linear([], NAN)),
]

ANYTHING: Any = object()

TYPES: list[tuple[str, Callable[[], object]]] = [
    ("Bandit.means", lambda: cm.Bandit()),
    ("Bandit.means", lambda: cm.Bandit("10")),  # type: ignore[arg-type]
    ("Bandit.means", lambda: cm.Bandit(["1", "0"])),  # type: ignore[list-item]
    ("Bandit.means", lambda: cm.Bandit([True, 0.5])),
    ("Bandit.means", lambda: cm.Bandit(np.array([True, False]))),
    ("Bandit.means", lambda: cm.Bandit([1j])),  # type: ignore[list-item]
    ("Bandit.means", lambda: cm.Bandit(np.array([1j]))),
    ("Bandit.means", lambda: cm.Bandit({1.0: 2.0})),  # type: ignore[arg-type]
    ("Bandit.means", lambda: cm.Bandit({1.0, 2.0})),  # type: ignore[arg-type]
    ("Bandit.means", lambda: cm.Bandit(3)),  # type: ignore[arg-type]
    ("Bandit.means", lambda: cm.Bandit([1.0, None])),  # type: ignore[list-item]
    ("Bandit.noise", lambda: cm.Bandit([1.0], 3)),  # type: ignore[arg-type]
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "gaussian", sigma="1")),  # type: ignore[arg-type]
    ("Bandit.sigma", lambda: cm.Bandit([1.0], "gaussian", sigma=True)),
    ("Bandit.table", lambda: cm.Bandit.from_table(3)),  # type: ignore[arg-type]
    ("Bandit.table", lambda: cm.Bandit.from_table([1, 2])),  # type: ignore[list-item]
    ("Bandit.table values", lambda: cm.Bandit.from_table([[("a", 1)]])),  # type: ignore[list-item]
    ("Bandit.names", lambda: cm.Bandit([1, 0], names="ab")),
    ("Bandit.names", lambda: cm.Bandit([1, 0], names=[1, 2])),  # type: ignore[list-item]
    ("Softmax.theta0", lambda: cm.Softmax(0.0)),  # type: ignore[arg-type]
    ("Sigmoid.theta0", lambda: cm.Sigmoid([0.0])),  # type: ignore[arg-type]
    ("Sigmoid.theta0", lambda: cm.Sigmoid(None)),  # type: ignore[arg-type]
    ("Direct.probabilities", lambda: cm.Direct("a")),  # type: ignore[arg-type]
    ("Natural.step_size", lambda: cm.Natural("0.1")),  # type: ignore[arg-type]
    ("Natural.step_size", lambda: cm.Natural(True)),
    ("Natural.step_size", lambda: cm.Natural(np.True_)),  # type: ignore[arg-type]
    ("Natural.step_size", lambda: cm.Natural([0.1])),  # type: ignore[arg-type]
    ("Vanilla.entropy", lambda: cm.Vanilla(1, entropy=None)),  # type: ignore[arg-type]
    ("OneSample.samples", lambda: cm.OneSample(1.0)),  # type: ignore[arg-type]
    ("OneSample.samples", lambda: cm.OneSample(True)),
    ("MinVariance.metric", lambda: cm.MinVariance(None)),  # type: ignore[arg-type]
    ("Linear.terms", lambda: Linear(cm.Value())),  # type: ignore[arg-type]
    ("Linear.terms", lambda: Linear([cm.Value()])),  # type: ignore[list-item]
    ("Linear.terms", lambda: Linear([(1.0, 2.0)])),  # type: ignore[list-item]
    ("Constant.c", lambda: cm.Constant(ANYTHING)),
]


@pytest.mark.parametrize(("argument", "call"), VALUES)
def test_wrong_values_are_refused_by_name(argument: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert caught.value.argument == argument
    assert str(caught.value).startswith(f"{argument} = ")


@pytest.mark.parametrize(("argument", "call"), TYPES)
def test_wrong_types_are_refused_by_name(argument: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigTypeError) as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cm.Bandit([1.0, NAN]),
            "Bandit.means = [1.0, nan] is not allowed; expected finite numbers",
        ),
        (
            lambda: cm.Bandit([0.0] * 50 + [NAN]),
            "Bandit.means = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ...] is not allowed; "
            "expected finite numbers (entry 50 is nan)",
        ),
        (
            lambda: cm.Bandit([1, 0], "benoulli"),
            "Bandit.noise = 'benoulli' is not allowed; expected one of 'bernoulli', 'gaussian', "
            "'uniform', 'table'; did you mean 'bernoulli'?",
        ),
        (
            lambda: cm.Bandit([1, 0], "gaussian", sigma=[1, 2, 3]),
            "Bandit.sigma = [1, 2, 3] is not allowed; "
            "expected 2 finite numbers >= 0, one per arm (there are 3)",
        ),
        (
            lambda: cm.Natural(np.float64(-0.5)),
            "Natural.step_size = -0.5 is not allowed; expected a finite number > 0 or a Schedule",
        ),
        (
            lambda: cm.EpsilonGreedy(cm.Decay(2, 0.5)),
            "EpsilonGreedy.epsilon = Decay(2.0, 0.5) is not allowed; "
            "expected a schedule of numbers in (0, 1]",
        ),
        (
            lambda: cm.Fixed([0.5, 0.25]),
            "Fixed.probabilities = [0.5, 0.25] is not allowed; "
            "expected probabilities that sum to 1 (the sum is 0.75)",
        ),
    ],
)
def test_messages(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert str(caught.value) == message


def test_edges_are_allowed() -> None:
    assert cm.UniformMixture(0).gamma == 0.0
    assert cm.UniformMixture(1).gamma == 1.0
    assert cm.EpsilonGreedy(1).epsilon == 1.0
    assert cm.EpsilonGreedy(cm.Decay(1, 3)).epsilon == cm.Decay(1, 3)
    assert cm.Direct([0, 1]).probabilities == (0.0, 1.0)
    assert cm.Direct([0.1] * 10).probabilities == (0.1,) * 10
    assert cm.Direct([0.5, 0.5 + 5e-10]).probabilities == (0.5, 0.5 + 5e-10)  # not renormalised
    assert cm.Bandit([1, 0], "bernoulli").means == (1.0, 0.0)
    assert cm.Bandit([1], "gaussian", sigma=0).sigma == (0.0,)
    assert cm.Natural(1, entropy=0).entropy == 0.0
    assert cm.RunningMean(1).rate == 1.0
    assert cm.Constant(Fraction(1, 4)).c == 0.25  # type: ignore[arg-type]
    assert cm.Sigmoid(np.array(0.5)).theta0 == 0.5  # type: ignore[arg-type]
    assert cm.Expected() == cm.Expected()


# -- bandits ---------------------------------------------------------------------------------------


def test_arms_best_and_gap() -> None:
    bandit = cm.Bandit([0.5, 2.0, 1.25])
    assert (bandit.arms, bandit.best, bandit.gap) == (3, 1, 0.75)
    assert cm.Bandit([1, 3, 3]).best == 1
    assert cm.Bandit([1, 3, 3]).gap == 0.0
    assert cm.Bandit([4]).best == 0
    assert cm.Bandit([4]).arms == 1


def test_names() -> None:
    assert cm.Bandit([1, 0]).names == ("arm 1", "arm 2")
    assert cm.Bandit([1, 0], names=("x", "y")).names == ("x", "y")
    assert cm.Bandit([1, 0], names=np.array(["x", "y"])).names == ("x", "y")  # type: ignore[arg-type]


def test_spread_is_per_arm() -> None:
    assert cm.Bandit([1, 0], "gaussian", sigma=[1, 2]).sigma == (1.0, 2.0)
    assert cm.Bandit([1, 0], "uniform", half_width=np.float32(0.5)).half_width == (0.5, 0.5)
    same = cm.Bandit([1, 0], "gaussian", sigma=(2, 2))
    assert same == cm.Bandit([1, 0], "gaussian", sigma=2)
    assert same.hash == cm.Bandit([1, 0], "gaussian", sigma=2).hash


def test_reward_variances() -> None:
    assert cm.Bandit([1, 0]).reward_variances == (0.0, 0.0)
    assert cm.Bandit([0.5, 0.25], "bernoulli").reward_variances == (0.25, 0.1875)
    assert cm.Bandit([1, 0], "gaussian", sigma=[1, 3]).reward_variances == (1.0, 9.0)
    assert cm.Bandit([1], "uniform", half_width=3).reward_variances == (3.0,)
    table = cm.Bandit.from_table([[(0, 0.5), (4, 0.5)], [(7, 1)]])
    assert table.reward_variances == (4.0, 0.0)


def test_tables() -> None:
    bandit = cm.Bandit.from_table(
        np.array([[[1, 0.5], [0, 0.5]], [[2, 0.25], [0, 0.75]]]), ["a", "b"]
    )
    assert bandit.means == (0.5, 0.5)
    assert bandit.table == (((1.0, 0.5), (0.0, 0.5)), ((2.0, 0.25), (0.0, 0.75)))
    assert bandit.names == ("a", "b")
    ragged: Any = [[(1, 0.1)] * 10, [(0.3, 1)]]
    given = cm.Bandit([1.0, 0.3], "table", table=ragged)
    assert given == cm.Bandit.from_table(ragged)
    assert given.means == (1.0, 0.3)


def test_known_ranges() -> None:
    bandit = cm.Bandit([3.0, -1.0, 0.0])
    for name, low, high in [
        ("value", -1.0, 3.0),
        ("policy", 0.0, 1.0),
        ("entropy", 0.0, math.log(3)),
        ("distance", 0.0, math.sqrt(2)),
    ]:
        found = bandit.range_of(name)
        assert found is not None
        # Outside of the bounds, for rounding, but only just.
        assert low - 1e-8 < found[0] < low
        assert high < found[1] < high + 1e-8
    assert bandit.range_of("theta") is None
    assert cm.Bandit([2.0]).range_of("value") == (1.5, 2.5)
    assert cm.Bandit([2.0]).range_of("entropy") == (-0.5, 0.5)


def test_a_million_arms() -> None:
    means = np.linspace(0, 1, 10**6)
    start = time.perf_counter()
    bandit = cm.Bandit(means, "gaussian", sigma=1)
    elapsed = time.perf_counter() - start
    assert bandit.arms == 10**6
    assert bandit.best == 10**6 - 1
    assert elapsed < 5.0  # about half a second; the margin is for busy machines
    with pytest.raises(ConfigError, match=r"\(entry 999999 is nan\)"):
        cm.Bandit(np.append(means[:-1], NAN))


# -- adding a kind ---------------------------------------------------------------------------------


def test_two_classes_of_one_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="two configuration classes of kind 'softmax'"):

        @config
        class Softmax(Config):  # a second one
            def __init__(self) -> None:
                self._set()
