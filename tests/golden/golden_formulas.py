"""Golden cases of formulas: every part in bandits and MDPs, and every operation of the core.

They have an answers file of their own, so that a change of the interpreter remakes these alone:
python tests/golden/make.py --only formulas --write
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from golden_forms import Run

import committal as cm

THREE = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0], noise="gaussian", sigma=0.3),
    cm.Softmax([0, 1, 2]),
    cm.Vanilla(0.2),
    cm.Value() - 0.1,
    cm.UniformMixture(0.3),
    cm.OneSample(samples=3),
    steps=40,
    record=cm.Record("theta", "value", "baseline", every=10),
)
ONE = THREE.replace(behaviour=cm.OnPolicy(), estimator=cm.OneSample(), update=cm.Natural(0.05))
LEADER = ONE.replace(
    policy=cm.Tsallis(),
    update=cm.Natural(1),
    baseline=1.0,
    record=cm.Record("policy", "regret", every=10),
)
MANY = THREE.replace(
    problem=cm.Bandit(np.arange(70) / 64), policy=cm.Softmax(), steps=20, update=cm.Vanilla(1.0)
)
ROOMS = cm.Experiment(
    cm.gridworld("S..A\n.#.B\n....", goals={"A": 1.0, "B": 0.5}, gamma=0.9),
    cm.Softmax(),
    cm.Vanilla(0.2),
    0.25,
    estimator=cm.ExactQ(),
    steps=12,
    record=cm.Record("return", "value", "theta", every=4),
)
REINFORCE = ROOMS.replace(estimator=cm.Reinforce())

W = "estimator.weight"
COLLISION = cm.baseline("sum(pi**2 * r) / sum(pi**2)") - 0.1
CRITIC = cm.baseline("v", state={"v": ("start", "v + rate * (mean(R) - v)")}, rate=0.1, start=0.5)
CLIPPED = cm.weight("where(A > 0, 1, minimum(rho, top))", top=1.5)
DELIGHT = cm.weight("rho * sigmoid(-A * log(pi[a]) / eta)", eta=0.5)
POSITIVE = cm.update("maximum(A, 0) * rho * score")
RMS = cm.optimiser("g / (sqrt(s) + 1e-3)", state={"s": (1.0, "0.9 * s + 0.1 * sum(g**2)")})

#: Each operation of the core at least once.
OPERATIONS = (
    "exp(theta) - log(pi) + sqrt(pi) * abs(theta) / (1 + theta**2)",
    "pi**1.7 - pi**-3 + (pi + 1)**5",
    "where((theta > 0) & (pi <= 0.5) | ~(theta >= 1), theta, -pi)",
    "minimum(theta, maximum(pi, r)) + sign(theta) * (theta < 1) - (theta != 0) + (r == 1)",
    "others(theta) + others(pi * r, 'mean') + onehot(1) * pi[0]",
    "std(theta) + mean(pi) + min(theta) - max(r) + sum(pi * r)",
    "sum(rho * onehot(a), over='samples') + mean(A) * pi - min(R) + max(b) + std(R)",
    "mean(others(R, 'mean') * pi[a]) + mean(others(A)) * theta0 + t / K - N * mu",
    "softmax(theta / 2) + logsumexp(theta) + tanh(theta) + softplus(theta)",
    "log1p(pi) + expm1(-theta) + sigmoid(3 * theta)",
    "median(theta) * pi - median(R)",
)


def formula_cases() -> Iterator[Run]:
    """The cases, each some runs of one experiment."""
    for name, experiment in _experiments().items():
        yield Run(f"formula {name}", experiment, runs=70)


def _experiments() -> dict[str, cm.Experiment]:
    changed: dict[str, tuple[cm.Experiment, dict[str, Any]]] = {
        "baseline": (THREE, {"baseline": COLLISION}),
        "baseline, one sample": (ONE, {"baseline": COLLISION}),
        "baseline, many arms": (MANY, {"baseline": COLLISION}),
        "baseline of the batch": (THREE, {"baseline": cm.baseline("others(R, 'mean')")}),
        "baseline with a state": (THREE, {"baseline": CRITIC + 0.5 * cm.Value()}),
        "weight": (THREE, {W: CLIPPED}),
        "weight, natural": (THREE, {W: DELIGHT, "update": cm.Natural(0.05)}),
        "weight, many arms": (MANY, {W: CLIPPED}),
        "update": (THREE, {"update": POSITIVE(step_size=0.3)}),
        "update, natural": (ONE, {"update": cm.update("A * rho * natural")(0.05)}),
        "optimiser": (THREE, {"optimiser": cm.Adam(), "update": cm.Vanilla(0.05)}),
        "optimiser, one sample": (ONE, {"optimiser": RMS}),
        "optimiser, many arms": (MANY, {"optimiser": cm.ClipNorm(0.1)}),
        "link": (THREE, {"policy": cm.link("abs(theta)**p", p=2)([0.5, 1, 1.5])}),
        "link, one sample": (
            ONE.replace(update=cm.Vanilla(0.2)),
            {"policy": cm.link("softplus(theta)")([0, 1, 2])},
        ),
        "all at once": (
            THREE,
            {"baseline": CRITIC, W: CLIPPED, "optimiser": cm.Momentum(0.5)},
        ),
        "group": (THREE, {"estimator": cm.Group(3, "leave_one_out")}),
        "group, std and clip": (
            ONE.replace(update=cm.Vanilla(0.2)),
            {"estimator": cm.Group(4, scale="std", eps=1e-6, weight=cm.Clip(0.2, 0.3), epochs=3)},
        ),
        "group, median and KL": (
            ONE,
            {"estimator": cm.Group(4, "median"), "regulariser": cm.KL("start", 0.1, form="k3")},
        ),
        "escort": (THREE, {"policy": cm.Escort([0.5, 1, 1.5], power=3)}),
        "snapshot": (THREE, {"behaviour": cm.Snapshot(7), W: cm.Tapered()}),
        "scaled softmax": (LEADER, {"policy": cm.ScaledSoftmax(scale=cm.Decay(0.5, 0.5))}),
        "tsallis": (LEADER, {"policy": cm.Tsallis([0, 1, 2], scale=cm.Decay(2, 0.5))}),
        "tsallis, many arms": (
            LEADER.replace(problem=MANY.problem),
            {"policy": cm.Tsallis(scale=0.5), "estimator": cm.OneSample(implicit=0.1)},
        ),
        "expectation of a weight": (
            THREE.replace(problem=cm.Bandit([0.9, 0.6, 0.1], noise="bernoulli")),
            {"estimator": cm.Expected(weight=cm.Delightful(0.5))},
        ),
        "mdp baseline": (ROOMS, {"baseline": COLLISION}),
        "mdp weight": (ROOMS, {W: CLIPPED, "behaviour": cm.UniformMixture(0.4)}),
        "mdp update": (ROOMS, {"update": POSITIVE(step_size=0.3)}),
        "mdp optimiser": (ROOMS, {"optimiser": cm.Adam(), "update": cm.Vanilla(0.05)}),
        "mdp link": (
            ROOMS,
            {"policy": cm.Escort([1, 2, 1, 1]), "behaviour": cm.UniformMixture(0.4)},
        ),
        "mdp link, expected": (
            ROOMS,
            {"policy": cm.link("softplus(theta)")(), "estimator": cm.Expected(), "baseline": 0.0},
        ),
        "mdp critic": (ROOMS, {"baseline": cm.Critic(0.1, 0.5), "optimiser": cm.Momentum(0.5)}),
        "mdp group": (ROOMS, {"baseline": 0.0, "estimator": cm.Group(3, "leave_one_out")}),
        "mdp group, std": (
            ROOMS,
            {"baseline": 0.0, "estimator": cm.Group(4, "median", scale="std", eps=1e-6)},
        ),
        "mdp group, critic": (
            ROOMS,
            {"baseline": cm.Critic(0.1), "estimator": cm.Group(2, None, weight=cm.Delightful())},
        ),
        "mdp group, epochs": (
            ROOMS,
            {
                "baseline": 0.0,
                "estimator": cm.Group(4, scale="std", weight=cm.Clip(0.05, 0.1), epochs=3),
            },
        ),
        "mdp group, snapshot": (
            ROOMS,
            {
                "baseline": cm.Critic(0.1),
                "behaviour": cm.Snapshot(3),
                "estimator": cm.Group(2, None, weight=cm.Tapered()),
                "optimiser": cm.Momentum(0.5),
            },
        ),
        "mdp group, weighted": (
            ROOMS,
            {"baseline": 0.0, "estimator": cm.Group(3, "weighted_leave_one_out")},
        ),
        "mdp groups of contexts": (
            ROOMS.replace(
                problem=cm.contexts([cm.Bandit(p, noise="bernoulli") for p in ([0.9, 0.2], [1, 0])])
            ),
            {"baseline": 0.0, "estimator": cm.Group(3, scale="batch_std", starts="each")},
        ),
        "mdp regularised": (ROOMS, {"regulariser": cm.KL("uniform", 0.1, form="k3")}),
        "reinforce link": (REINFORCE, {"policy": cm.Escort(power=3)}),
        "reinforce baseline": (REINFORCE, {"baseline": cm.baseline("max(pi) / (1 + t)")}),
        "reinforce weight": (REINFORCE, {W: cm.weight("where(A > 0, 1, 0.5 * pi[a])")}),
        "reinforce update": (REINFORCE, {"update": cm.update("(R - b) * score")(0.2)}),
    }
    made = {name: base.replace(**changes) for name, (base, changes) in changed.items()}
    quantities = [cm.quantity(text, name=f"q{i}") for i, text in enumerate(OPERATIONS)]
    record = cm.Record("theta", *quantities, every=20)
    made["quantities"] = THREE.replace(record=record)
    made["quantities, many arms"] = MANY.replace(record=record)
    leaders = cm.quantity("tsallis(theta) + max(tsallis(R))", name="leaders")
    made["quantities, tsallis"] = THREE.replace(record=cm.Record("theta", leaders, every=20))
    looked = [
        cm.quantity(text, name=f"q{i}", states=states)
        for i, (text, states) in enumerate(
            (
                ("-sum(pi * log(pi))", None),
                ("pi * (r - sum(mu * r)) + theta - theta0", None),
                ("max(r) - sum(pi * r) + t / K", "occupancy"),
                ("pi**2", "mean"),
            )
        )
    ]
    made["mdp quantities"] = ROOMS.replace(record=cm.Record("theta", *looked, every=4))
    spread = cm.quantity("max(pi) - min(pi)", name="spread")
    reduced = cm.Record(spread, reduce=cm.Reduce(bins=8, range={"spread": (0.0, 1.0)}))
    made["quantity, reduced"] = THREE.replace(record=reduced)
    return made
