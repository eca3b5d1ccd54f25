"""Examples of every kind of configuration, and one whole experiment."""

from __future__ import annotations

import pytest

import committal as cm
from committal.config import Config

TWO_STATES = cm.TabularMDP(
    [(0, 0, 1, 0.5, 1), (0, 0, 2, 0.5, 0), (1, 0, 2, 1, 0)], gamma=0.5, start=0, terminal=[2]
)
EXAMPLES: list[Config] = [
    cm.Bandit([1, 0.5]),
    cm.Bandit([0.5, 0.2], "bernoulli", names=["a", "b"]),
    cm.Bandit([1, 0], "gaussian", sigma=2),
    cm.Bandit([1, 0], "gaussian", sigma=[1, 2]),
    cm.Bandit([1, 0], "uniform", half_width=0.5),
    cm.Bandit.from_table([[(1, 0.5), (0, 0.5)], [(0.25, 1)]]),
    cm.Softmax(),
    cm.Softmax([0, 3, 5]),
    cm.Softmax([[0, 3], [5, 1]]),
    cm.Sigmoid(-1),
    cm.Direct([0.25, 0.75]),
    cm.Natural(step_size=0.1, entropy=0.5),
    cm.Vanilla(step_size=cm.Decay(0.5, 0.6)),
    cm.Projected(step_size=cm.Values([0.1, 0.2])),
    cm.OnPolicy(),
    cm.UniformMixture(0.5),
    cm.EpsilonGreedy(cm.Decay(1, 0.25, 2)),
    cm.Fixed([0.5, 0.5]),
    cm.Snapshot(3),
    cm.OneSample(samples=4, implicit=0.1),
    cm.Expected(),
    cm.ExactQ("iterative", tolerance=1e-6, discounted=True),
    cm.Reinforce(),
    cm.Decay(1, 0.5),
    cm.Values([1, 2]),
    cm.Constant(-1),
    cm.Value(),
    cm.MinVariance(),
    cm.MinVariance("natural", lam=2),
    cm.Maximum(),
    cm.Gap(0.25),
    cm.RunningMean(rate=0.5, initial=1),
    0.5 * cm.Value() - cm.MinVariance() + 2,
    cm.Record("value", "theta", every=10),
    cm.Record(at=[3, 1]),
    cm.Record("value", log=7, reduce=cm.Reduce(below=0.5, quantiles=[0.5])),
    cm.Reduce(bins=3, range={"theta": (-1, 1)}),
    cm.Experiment(
        cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=1), cm.Value() + 1, steps=3
    ),
    TWO_STATES,
    TWO_STATES.replace(start=[0.5, 0.5, 0], actions=["a"], states=["x", "y", "z"]),
    cm.gridworld("S.\n#A", goals={"A": 1}, slip=0.1, step_reward=-0.5),
    cm.Experiment(
        TWO_STATES, cm.Softmax(), cm.Natural(1), cm.Value(), estimator=cm.ExactQ(), steps=3
    ),
    cm.baseline("c * sum(pi**2 * r) / sum(pi**2)", c=0.5),
    cm.baseline("v", state={"v": ("start", "v + rate * (mean(R) - v)")}, start=0.5, rate=0.1),
    cm.baseline("sum(pi**2 * r)") - 0.5 * cm.Value() + 1,
    cm.weight("where(A > 0, 1, minimum(rho, top))", top=2),
    cm.OneSample(weight=cm.weight("minimum(rho, 1)")),
    cm.update("maximum(A, 0) * rho * score")(step_size=cm.Decay(0.5, 0.6)),
    cm.link("abs(theta)**p", p=3)([1, 2]),
    cm.optimiser("b * m + g", state={"m": (0, "b * m + g")}, b=0.5),
    cm.Plain(),
    cm.Momentum(0.5),
    cm.Adam(beta1=0.5),
    cm.Normalised(),
    cm.ClipNorm(5),
    cm.quantity("sum(pi * log(pi * K))", name="kl"),
    cm.Record("value", cm.quantity("pi**p", name="powers", p=2), every=2),
    cm.Experiment(
        cm.Bandit([1, 0]),
        cm.Softmax(),
        cm.Vanilla(1),
        cm.baseline("max(r)"),
        steps=3,
        optimiser=cm.Adam(),
        record=cm.Record(cm.quantity("max(pi)", name="largest")),
    ),
    cm.Precision("failure", half_width=0.01, below=0.9),
    cm.Asymmetric(),
    cm.Tapered(),
    cm.Clip(0.2, 0.28),
    cm.Clip(0.2),
    cm.Truncate(0.5, 2),
    cm.Delightful(0.5),
    cm.Implicit(0.1),
    cm.Group(samples=4, scale="std", ddof=1, eps=1e-6, weight=cm.Clip(0.2, 0.3)),
    cm.Group(centre=None),
    cm.OneSample(samples=2, epochs=3),
    cm.Group(samples=2, centre="weighted_leave_one_out"),
    cm.Expected(weight=cm.Tapered()),
    cm.Entropy(0.1),
    cm.Entropy(cm.Decay(1, 0.5)),
    cm.KL([0.25, 0.75], 0.2, form="k3"),
    cm.KL("start", 0.2),
    cm.ReverseKL("uniform", 0.2),
    cm.LogBarrier(0.1),
    cm.Escort([1, 2], power=3),
    cm.Escort(),
    cm.ScaledSoftmax([0, 1], scale=cm.Decay(2, 0.5)),
    cm.Tsallis(scale=2),
    cm.Critic(0.1, initial=1),
    cm.Value() - 0.5 * cm.Critic(0.1),
    cm.Experiment(
        cm.Bandit([1, 0]),
        cm.Softmax(),
        cm.Vanilla(1),
        steps=3,
        estimator=cm.Group(samples=2, centre="leave_one_out"),
        regulariser=cm.KL([0.5, 0.5], 0.1, form="k2"),
    ),
]


@pytest.fixture(params=EXAMPLES, ids=repr)
def example(request: pytest.FixtureRequest) -> Config:
    """One of every kind, and more where a kind has several forms."""
    found: Config = request.param
    return found


@pytest.fixture(scope="session")
def examples() -> list[Config]:
    return EXAMPLES
